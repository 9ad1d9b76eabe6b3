(* Patterns over blocks (crates/functional/src/blocks.rs): what they are written out to has the value of the pattern in sequence, where the function associates.
   Certificates do not need this: they take the program over blocks as what the definition means. The lemmas say when that is also the value of
   [reduceSeq], [scanSeq] and [reduceByIndex]. *)
From Coq Require Import Arith List Lia ZArith.
Import ListNotations.
From Lozenge Require Import Paths Phrases Rewrites.

Section Blocks.
Context {A : Type}.
Variable f : A -> A -> A.
Hypothesis associates : forall x y z, f (f x y) z = f x (f y z).

(* ---------- reductions ---------- *)
(* Of a block that has an element; its first one begins. *)
Definition total (k : nat) (x : arr A) : A := reduce (k - 1) f (x 0) (drop 1 x).
Definition totals (k : nat) (x : arr A) : arr A := map (total k) (split k (take x)).

Lemma total_after m x a : f (reduce m f (x 0) (drop 1 x)) a = reduce (S m) f a x.
Proof.
  unfold reduce, drop. induction m as [|m IH]; [reflexivity|]. cbn [steps] in *. rewrite associates, IH. now rewrite Nat.add_1_r.
Qed.
Lemma total_reduces k x a : k <> 0 -> f (total k x) a = reduce k f a x.
Proof. intros H. unfold total. rewrite total_after. f_equal. lia. Qed.
Lemma totals_reduce m k x a : k <> 0 -> reduce m f a (totals k x) = reduce (m * k) f a x.
Proof. intros H. rewrite reduceSplit. unfold totals, map, reduce at 1 2. apply steps_eq. intros b c _. now apply total_reduces. Qed.

Theorem reducePar_in_blocks n k a x : k <> 0 -> let q := k * (n / k) in
  reduce n f a x = reduce (n - q) f (reduce (n / k) f a (totals k x)) (drop q x).
Proof. intros H q. rewrite (reduceCut n k). fold q. f_equal. rewrite totals_reduce by auto. unfold q, take. now rewrite Nat.mul_comm. Qed.

(* ---------- scans ---------- *)
Definition starts (k : nat) (a : A) (x : arr A) : arr A := fun b => if b <? 1 then a else scan f a (totals k x) (b - 1).
Lemma starts_reduce k a x b : k <> 0 -> starts k a x b = reduce (b * k) f a x.
Proof.
  intros H. unfold starts. destruct (Nat.ltb_spec b 1) as [L|L]. { now replace b with 0 by lia. }
  unfold scan. rewrite totals_reduce by auto. f_equal. f_equal. lia.
Qed.
Lemma reduce_after b j a x : reduce j f (reduce b f a x) (drop b x) = reduce (b + j) f a x.
Proof. unfold reduce, drop. replace (b + j) with (j + b) by lia. now rewrite steps_app. Qed.

Theorem scanPar_in_blocks n k a x : k <> 0 -> let q := k * (n / k) in
  scan f a x =[n]
  concat q (join k (map (fun p => scan f (fst p) (snd p)) (zip (take (starts k a x)) (split k (take x))))) (scan f (starts k a x (n / k)) (drop q x)).
Proof.
  intros H q i _. unfold concat, join, map, zip, scan at 1 2, take. cbn [fst snd]. destruct (Nat.ltb_spec i q) as [L|L].
  - rewrite starts_reduce by auto. assert (E := Nat.div_mod i k H).
    transitivity (reduce (i / k * k + S (i mod k)) f a x). { f_equal. lia. }
    rewrite <- reduce_after. unfold reduce at 1 3, drop, split. apply steps_eq. intros l b _. do 2 f_equal. lia.
  - unfold scan. rewrite starts_reduce by auto. replace (n / k * k) with q by (unfold q; lia). rewrite reduce_after. f_equal. lia.
Qed.

(* ---------- reductions by index ---------- *)
(* An index that is below [m], or any other integer. *)
Definition byIndex (n : nat) (base : arr A) (js : arr Z) (x : arr A) : arr A := fun j =>
  steps n (fun i acc => if Z.eqb (js i) (Z.of_nat j) then f (x i) acc else acc) (base j).
(* The program: one array, one element of it after another. *)
Definition put (m : nat) (j : Z) (y : A) (d : arr A) : arr A := if (Z.leb 0 j && Z.ltb j (Z.of_nat m))%bool then
  fun i => if Z.eqb j (Z.of_nat i) then f y (d (Z.to_nat j)) else d i else d.
Theorem reduceByIndex_at n m base js x : steps n (fun i d => put m (js i) (x i) d) base =[m] byIndex n base js x.
Proof.
  unfold byIndex. induction n as [|n IH]; intros j Hj; [reflexivity|]. cbn [steps]. unfold put at 1.
  destruct (Z.eqb_spec (js n) (Z.of_nat j)) as [E|E].
  - rewrite E. destruct (Z.leb_spec 0 (Z.of_nat j)), (Z.ltb_spec (Z.of_nat j) (Z.of_nat m)); try lia. cbn [andb].
    rewrite Z.eqb_refl, Nat2Z.id, IH by auto. reflexivity.
  - destruct (_ && _)%bool; auto. destruct (Z.eqb_spec (js n) (Z.of_nat j)); [congruence|auto].
Qed.

Variable zero : A.
Hypothesis neutral : forall x, f zero x = x.
Lemma copy_after n (js : arr Z) x j c a :
  f (steps n (fun i acc => if Z.eqb (js i) (Z.of_nat j) then f (x i) acc else acc) c) a =
  steps n (fun i acc => if Z.eqb (js i) (Z.of_nat j) then f (x i) acc else acc) (f c a).
Proof. induction n as [|n IH]; [reflexivity|]. cbn [steps]. destruct (Z.eqb _ _); rewrite <- IH; auto. Qed.

Theorem reduceByIndexPar_in_blocks n p js x : let q := n / p in let zeros := fun _ => zero in
  let copies := map (fun b => byIndex q zeros (fst (unzip b)) (snd (unzip b))) (split q (take (zip js x))) in
  let sums := map (fun c => reduce p f zero c) (transpose copies) in
  forall j, byIndex n zeros js x j = byIndex (n - p * q) sums (drop (p * q) js) (drop (p * q) x) j.
Proof.
  intros q zeros copies sums j. assert (Hq : p * q <= n) by apply blocks. subst sums copies zeros. clearbody q.
  unfold byIndex at 1. replace n with ((n - p * q) + p * q) at 1 by lia. rewrite steps_app. unfold byIndex, drop.
  f_equal. clear Hq. unfold map, transpose, reduce, unzip, split, take, zip. cbn [fst snd].
  induction p as [|p IH]; [reflexivity|]. cbn [Nat.mul steps]. rewrite steps_app, IH, copy_after, neutral.
  apply steps_eq. intros i b _. now rewrite (Nat.add_comm i).
Qed.
End Blocks.
