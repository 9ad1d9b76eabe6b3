(* The rules of strategies (docs/strategies.md), each a lemma of its name: both sides have the same value.

   Arrays are functions from subscripts, compared below their lengths. What a rule says of programs is said here of the values that programs denote: a
   function of the program is any function. Rules that regroup sums take the laws that they need as hypotheses, and so do the few that use a law of
   numbers; no other law is used anywhere. *)
From Coq Require Import Arith List Lia Permutation ZArith.
Import ListNotations.
From Lozenge Require Import Paths Phrases.

(* ---------- arrays ---------- *)
Definition arr (A : Type) := nat -> A.
Notation "x =[ n ] y" := (forall i, i < n -> x i = y i) (at level 70, n at level 0).
Notation "x =[ m , n ] y" := (forall i j, i < m -> j < n -> x i j = y i j) (at level 70, m at level 0, n at level 0).

Section Patterns.
Context {A B C : Type}.
Definition map (f : A -> B) (x : arr A) : arr B := fun i => f (x i).
Definition zip (x : arr A) (y : arr B) : arr (A * B) := fun i => (x i, y i).
Definition unzip (x : arr (A * B)) : arr A * arr B := (fun i => fst (x i), fun i => snd (x i)).
Definition split (k : nat) (x : arr A) : arr (arr A) := fun i j => x (i * k + j).
Definition join (k : nat) (x : arr (arr A)) : arr A := fun i => x (i / k) (i mod k).
Definition transpose (x : arr (arr A)) : arr (arr A) := fun i j => x j i.
Definition reverse (n : nat) (x : arr A) : arr A := fun i => x (n - 1 - i).
Definition take (x : arr A) : arr A := x.
Definition drop (k : nat) (x : arr A) : arr A := fun i => x (i + k).
Definition concat (n : nat) (x y : arr A) : arr A := fun i => if i <? n then x i else y (i - n).
Definition slide (s : nat) (x : arr A) : arr (arr A) := fun i j => x (i * s + j).
Definition padClamp (l n : nat) (x : arr A) : arr A := fun i => x (min (i - l) (n - 1)).
Definition generate (g : nat -> A) : arr A := g.
Definition reorder (f : nat -> nat) (x : arr A) : arr A := fun i => x (f i).
Definition reduce (n : nat) (f : A -> B -> B) (a : B) (x : arr A) : B := steps n (fun k acc => f (x k) acc) a.
Definition scan (f : A -> B -> B) (a : B) (x : arr A) : arr B := fun i => reduce (S i) f a x.
Definition copy (x : arr A) : arr A := x.
Definition stored (x : A) : A := x.
End Patterns.

(* The programs of the translation theorem denote these. *)
Section Programs.
Context {K : Scalars}.
Fact map_means G n s t p (f : exp (s :: G) t) (e : exp G (ary n s)) g : ev_exp (Map p f e) g = map (fun x => ev_exp f (consE x g)) (ev_exp e g).
Proof. reflexivity. Qed.
Fact reduce_means G n s t (f : exp (t :: s :: G) t) i (e : exp G (ary n s)) g :
  ev_exp (Red f i e) g = reduce n (fun x a => ev_exp f (consE a (consE x g))) (ev_exp i g) (ev_exp e g).
Proof. reflexivity. Qed.
Fact scan_means G n s t (f : exp (t :: s :: G) t) i (e : exp G (ary n s)) g :
  ev_exp (Scan f i e) g = scan (fun x a => ev_exp f (consE a (consE x g))) (ev_exp i g) (ev_exp e g).
Proof. reflexivity. Qed.
(* A strategy is no part of the value. *)
Lemma useMapSeq G n s t p (f : exp (s :: G) t) (e : exp G (ary n s)) g : ev_exp (Map p f e) g = ev_exp (Map false f e) g. Proof. reflexivity. Qed.
Lemma useMapPar G n s t p (f : exp (s :: G) t) (e : exp G (ary n s)) g : ev_exp (Map p f e) g = ev_exp (Map true f e) g. Proof. reflexivity. Qed.
(* Lanes of a vector are a parallel loop, an unrolled loop is one in sequence. *)
Definition useMapVec := useMapPar.
Definition useMapUnroll := useMapSeq.
End Programs.

(* ---------- splitting and joining ---------- *)
Lemma joinSplit {A} m k (x : arr A) : join k (split k x) =[(m * k)] x.
Proof. intros i Hi. unfold join, split. destruct (dm4 k m i Hi) as (_ & _ & Hk). now rewrite dm3. Qed.
Lemma splitJoinId {A} m k (x : arr (arr A)) : split k (join k x) =[m, k] x.
Proof. intros i j _ Hj. unfold join, split. now rewrite dm1, dm2. Qed.

(* ---------- fusion ---------- *)
Section Rules.
Context {A B C D : Type}.
Implicit Types (n m k : nat).
Lemma mapFusion n (f : B -> C) (g : A -> B) x : map f (map g x) =[n] map (fun y => f (g y)) x. Proof. reflexivity. Qed.
Lemma mapFission n (p : B -> C) (e : A -> B) x : map (fun y => p (e y)) x =[n] map p (map e x). Proof. reflexivity. Qed.
Lemma reduceMapFusion n (f : B -> C -> C) a (g : A -> B) x : reduce n f a (map g x) = reduce n (fun y acc => f (g y) acc) a x. Proof. reflexivity. Qed.
Lemma scanMapFusion n (f : B -> C -> C) a (g : A -> B) x : scan f a (map g x) =[n] scan (fun y acc => f (g y) acc) a x. Proof. reflexivity. Qed.
Lemma mapGenerate n (f : A -> B) g : map f (generate g) =[n] generate (fun i => f (g i)). Proof. reflexivity. Qed.
Lemma zipMap n (f : A -> B) (g : C -> D) x y : zip (map f x) (map g y) =[n] map (fun p => (f (fst p), g (snd p))) (zip x y). Proof. reflexivity. Qed.
Lemma mapIdentity n (x : arr A) : map (fun y => y) x =[n] x. Proof. reflexivity. Qed.
Lemma mapPairIdentity n (x : arr (A * B)) : map (fun p => (fst p, snd p)) x =[n] x. Proof. intros i _. unfold map. now destruct (x i). Qed.
Lemma identityMap n (x : arr A) : x =[n] map (fun y => y) x. Proof. reflexivity. Qed.

(* ---------- layout ---------- *)
Lemma transposeTranspose m n (x : arr (arr A)) : transpose (transpose x) =[m, n] x. Proof. reflexivity. Qed.
Lemma transposeMapMap m n (f : A -> B) x : transpose (map (map f) x) =[m, n] map (map f) (transpose x). Proof. reflexivity. Qed.
Lemma mapMapTranspose m n (f : A -> B) x : map (map f) (transpose x) =[m, n] transpose (map (map f) x). Proof. reflexivity. Qed.
Lemma transposeMapZip m n (a : A -> arr B) (b : A -> arr C) x :
  transpose (map (fun y => zip (a y) (b y)) x) =[m, n] map (fun p => zip (fst p) (snd p)) (zip (transpose (map a x)) (transpose (map b x))).
Proof. reflexivity. Qed.
Lemma reverseReverse n (x : arr A) : reverse n (reverse n x) =[n] x. Proof. intros i Hi. unfold reverse. f_equal. lia. Qed.
Lemma mapReverse n (f : A -> B) x : map f (reverse n x) =[n] reverse n (map f x). Proof. reflexivity. Qed.
Lemma copyId n (x : arr A) : copy x =[n] x. Proof. reflexivity. Qed.
Lemma takeAll n (x : arr A) : take x =[n] x. Proof. reflexivity. Qed.
Lemma dropNone n (x : arr A) : drop 0 x =[n] x. Proof. intros i _. unfold drop. f_equal. lia. Qed.
Lemma takeMap n (f : A -> B) x : take (map f x) =[n] map f (take x). Proof. reflexivity. Qed.
Lemma dropMap n k (f : A -> B) x : drop k (map f x) =[n] map f (drop k x). Proof. reflexivity. Qed.
Lemma takeZip n (x : arr A) (y : arr B) : take (zip x y) =[n] zip (take x) (take y). Proof. reflexivity. Qed.
Lemma dropZip n k (x : arr A) (y : arr B) : drop k (zip x y) =[n] zip (drop k x) (drop k y). Proof. reflexivity. Qed.
Lemma splitZip m k (x : arr A) (y : arr B) : split k (zip x y) =[m, k] map (fun p => zip (fst p) (snd p)) (zip (split k x) (split k y)). Proof. reflexivity. Qed.
Lemma splitMap m k (f : A -> B) x : split k (map f x) =[m, k] map (map f) (split k x). Proof. reflexivity. Qed.
Lemma slideMap m w s (f : A -> B) x : slide s (map f x) =[m, w] map (map f) (slide s x). Proof. reflexivity. Qed.
Lemma joinMapMap n k (f : A -> B) x : join k (map (map f) x) =[n] map f (join k x). Proof. reflexivity. Qed.
Lemma mapConcat n l (f : A -> B) x y : map f (concat l x y) =[n] concat l (map f x) (map f y). Proof. intros i _. unfold map, concat. now destruct (i <? l). Qed.
Lemma unzipZip n (x : arr A) (y : arr B) : fst (unzip (zip x y)) =[n] x /\ snd (unzip (zip x y)) =[n] y. Proof. split; reflexivity. Qed.
Lemma zipUnzip n (p : arr (A * B)) : zip (fst (unzip p)) (snd (unzip p)) =[n] p. Proof. intros i _. unfold zip, unzip. cbn. now destruct (p i). Qed.
Lemma mapUnzip n (a : A -> B) (b : A -> C) x : fst (unzip (map (fun y => (a y, b y)) x)) =[n] map a x /\ snd (unzip (map (fun y => (a y, b y)) x)) =[n] map b x.
Proof. split; reflexivity. Qed.
Lemma reorderIdentity n (x : arr A) : reorder (fun i => i) x =[n] x. Proof. reflexivity. Qed.

(* ---------- tiling ---------- *)
Lemma splitJoin m k (f : A -> B) x : map f x =[(m * k)] join k (map (map f) (split k x)).
Proof. intros i Hi. symmetry. apply (joinSplit m k (map f x) i Hi). Qed.
Lemma blocks n k : k * (n / k) <= n. Proof. destruct k; [cbn; lia|]. apply Nat.mul_div_le. lia. Qed.
Lemma splitJoinRest n k (f : A -> B) x : let q := k * (n / k) in
  map f x =[n] concat q (join k (map (map f) (split k (take x)))) (map f (drop q x)).
Proof.
  intros q i Hi. unfold concat. destruct (Nat.ltb_spec i q) as [H|H].
  - apply (splitJoin (n / k) k). unfold q in H. lia.
  - unfold map, drop. do 2 f_equal. lia.
Qed.
Lemma padMap n (f : A -> B) x : map f x =[n] take (map f (padClamp 0 n x)).
Proof. intros i Hi. unfold take, map, padClamp. do 2 f_equal. lia. Qed.
Lemma steps_app {T} (F : nat -> T -> T) n m a : steps (m + n) F a = steps m (fun k => F (k + n)) (steps n F a).
Proof. induction m as [|m IH]; cbn; auto. now rewrite IH. Qed.
Lemma steps_eq {T} (F G : nat -> T -> T) n a : (forall k b, k < n -> F k b = G k b) -> steps n F a = steps n G a.
Proof. induction n as [|n IH]; cbn; auto. intros H. rewrite IH by auto. apply H. lia. Qed.
Lemma reduceSplit m k (f : A -> B -> B) a x : reduce (m * k) f a x = reduce m (fun ys acc => reduce k f acc ys) a (split k x).
Proof.
  unfold reduce, split. induction m as [|m IH]; [reflexivity|]. cbn [steps]. rewrite <- IH. replace (S m * k) with (k + m * k) by lia. rewrite steps_app.
  apply steps_eq. intros i b _. do 2 f_equal. lia.
Qed.
Lemma reduceCut n k (f : A -> B -> B) a x : let q := k * (n / k) in reduce n f a x = reduce (n - q) f (reduce q f a (take x)) (drop q x).
Proof.
  intros q. assert (H := blocks n k). fold q in H. unfold reduce, drop, take. replace n with ((n - q) + q) at 1 by lia. apply steps_app.
Qed.
Lemma reduceSplitRest n k (f : A -> B -> B) a x : let q := k * (n / k) in
  reduce n f a x = reduce (n - q) f (reduce (n / k) (fun ys acc => reduce k f acc ys) a (split k (take x))) (drop q x).
Proof. intros q. rewrite (reduceCut n k). fold q. f_equal. unfold q, take. rewrite Nat.mul_comm. apply reduceSplit. Qed.
Lemma slideTiling m k w (x : arr A) : slide 1 x =[(m * k), w] join k (map (slide 1) (slide k x)).
Proof.
  intros i j Hi _. unfold slide, join, map. destruct (dm4 k m i Hi) as (_ & _ & Hk). f_equal. rewrite <- (dm3 k i Hk) at 1. lia.
Qed.
Lemma splitSplit m k l (x : arr A) : split (k * l) x =[m, (k * l)] map (join k) (split l (split k x)).
Proof.
  intros i j _ Hj. unfold split, map, join. assert (k <> 0) by (intros ->; lia). f_equal. rewrite <- (dm3 k j) at 1 by auto. lia.
Qed.

(* ---------- interchange ---------- *)
Lemma interchange m n (e : A -> B -> C) x y : map (fun a => map (fun b => e a b) y) x =[m, n] transpose (map (fun b => map (fun a => e a b) x) y).
Proof. reflexivity. Qed.
Lemma liftReduce n m (f : B -> C -> C) (init : A -> C) (ys : A -> arr B) x :
  map (fun a => reduce m f (init a) (ys a)) x =[n]
  reduce m (fun es acc => map (fun p => f (fst p) (snd p)) (zip es acc)) (map init x) (transpose (map ys x)).
Proof. intros i _. unfold reduce, map at 1. induction m as [|m IH]; [reflexivity|]. cbn [steps]. rewrite IH. reflexivity. Qed.
Lemma separate n (c : A -> C -> D) (red : A -> C) x : map (fun a => c a (red a)) x =[n] map (fun q => c (fst q) (snd q)) (zip x (map red x)). Proof. reflexivity. Qed.
Lemma pack m k n (x : arr (arr A)) : x =[(m * k), n] join k (map transpose (stored (map transpose (split k x)))).
Proof. intros i j Hi _. unfold stored, map, transpose, join, split. destruct (dm4 k m i Hi) as (_ & _ & Hk). now rewrite dm3. Qed.

(* ---------- memory, let, pairs, choices ---------- *)
Lemma toMem (e : A) : e = stored e. Proof. reflexivity. Qed.
Lemma dropToMem (e : A) : stored e = e. Proof. reflexivity. Qed.
Lemma hoist (c : A -> B) e : c (stored e) = (let v := stored e in c v). Proof. reflexivity. Qed.
Lemma letInline (e : A) (b : A -> B) : (let v := e in b v) = b e. Proof. reflexivity. Qed.
Lemma letDead (e : A) (b : B) : (let v := e in b) = b. Proof. reflexivity. Qed.
Lemma dropUnused (c : B -> C) (e : A) (b : B) : c (let v := e in b) = c b. Proof. reflexivity. Qed.
Lemma share (d : B -> C) (c : A -> A -> B) (e : A) : d (c e e) = d (let v := e in c v v). Proof. reflexivity. Qed.
Lemma letFloat (p : B -> C) (e : A) (b : A -> B) : p (let v := e in b v) = (let v := e in p (b v)). Proof. reflexivity. Qed.
Lemma letFloatLoop n (e : A) (b : A -> B -> C) x : map (fun y => let v := e in b v y) x =[n] (let v := e in map (fun y => b v y) x). Proof. reflexivity. Qed.
Lemma fstPair (a : A) (b : B) : fst (a, b) = a. Proof. reflexivity. Qed.
Lemma sndPair (a : A) (b : B) : snd (a, b) = b. Proof. reflexivity. Qed.
Lemma pairEta (p : A * B) : (fst p, snd p) = p. Proof. now destruct p. Qed.
Lemma indexMap (f : A -> B) x i : map f x i = f (x i). Proof. reflexivity. Qed.
Lemma indexGenerate (f : nat -> A) i : generate f i = f i. Proof. reflexivity. Qed.
Lemma indexZip (x : arr A) (y : arr B) i : zip x y i = (x i, y i). Proof. reflexivity. Qed.
Lemma mapConstant n (c : B) (x : arr A) : map (fun _ => c) x =[n] generate (fun _ => c). Proof. reflexivity. Qed.
Lemma selectConstant (a b : A) : (if true then a else b) = a /\ (if false then a else b) = b. Proof. auto. Qed.
Lemma mapSelect n (c : bool) (f : A -> B) x y : map f (if c then x else y) =[n] (if c then map f x else map f y). Proof. now destruct c. Qed.
End Rules.

(* ---------- vectors ---------- *)
(* A vector is an array of its lanes; a function on vectors works lane by lane. *)
Notation asVector := split (only parsing).
Notation asScalar := join (only parsing).
Lemma vectorScalar {A} m k (x : arr (arr A)) : asVector k (asScalar k x) =[m, k] x. Proof. apply splitJoinId. Qed.
Lemma scalarVector {A} m k (x : arr A) : asScalar k (asVector k x) =[(m * k)] x. Proof. apply joinSplit. Qed.
Lemma vectorise {A B} m k (f : A -> B) (f' : arr A -> arr B) x : (forall v, f' v =[k] map f v) -> map f x =[(m * k)] asScalar k (map f' (asVector k x)).
Proof.
  intros H i Hi. rewrite (splitJoin m k f x i Hi). unfold join, map at 1 3. destruct (dm4 k m i Hi) as (_ & Hm & _). symmetry. apply H. exact Hm.
Qed.
Lemma vectoriseBlocks {A B} m k (f : A -> B) x : map f x =[(m * k)] join k (map (map f) (split k x)). Proof. apply splitJoin. Qed.

(* ---------- laws of numbers ---------- *)
Lemma mulOne {A} (mul : A -> A -> A) one : (forall x, mul x one = x) -> (forall x, mul one x = x) -> forall x, mul x one = x /\ mul one x = x. Proof. auto. Qed.
Lemma addZero (x : Z) : (x + 0 = x /\ 0 + x = x)%Z. Proof. lia. Qed.
Lemma negNeg {A} (neg : A -> A) : (forall x, neg (neg x) = x) -> forall x, neg (neg x) = x. Proof. auto. Qed.

(* ---------- rules that regroup ---------- *)
Section Sums.
Context {A : Type} (add : A -> A -> A) (zero : A).
Infix "+" := add.
Hypothesis assoc : forall a b c, a + (b + c) = (a + b) + c.
Hypothesis unit_l : forall a, zero + a = a.
Notation sum n a x := (reduce n (fun y acc => y + acc) a x).
Lemma sum_apart n a (x : arr A) : sum n a x = sum n zero x + a.
Proof. unfold reduce. induction n as [|n IH]; cbn; [now rewrite unit_l|]. now rewrite IH, assoc. Qed.
Lemma reduceTree m k a (x : arr A) : sum (m * k) a x = sum m a (map (fun ys => sum k zero ys) (split k x)).
Proof.
  rewrite reduceSplit. unfold reduce at 1 3. apply steps_eq. intros i b _. apply (sum_apart k b (split k x i)).
Qed.
Lemma reduceJoin m k a (x : arr (arr A)) : sum m a (map (fun ys => sum k zero ys) x) = sum (m * k) a (join k x).
Proof.
  rewrite reduceTree. unfold reduce at 1 3. apply steps_eq. intros i b _. f_equal. unfold map, reduce. apply steps_eq. intros j c Hj. f_equal.
  unfold split, join. now rewrite dm1, dm2.
Qed.
(* Any order: with commutativity, too. *)
Hypothesis comm : forall a b, a + b = b + a.
Lemma swap a b c : a + (b + c) = b + (a + c). Proof. now rewrite assoc, (comm a b), assoc. Qed.
Lemma sum_plus n (x y : arr A) : sum n zero (fun i => x i + y i) = sum n zero x + sum n zero y.
Proof. unfold reduce. induction n as [|n IH]; cbn; [now rewrite unit_l|]. rewrite IH, <- !assoc. f_equal. apply swap. Qed.
Lemma sum_zero n : sum n zero (fun _ => zero) = zero. Proof. unfold reduce. induction n as [|n IH]; cbn; auto. now rewrite IH, unit_l. Qed.
Lemma reduceLanes m k a (x : arr A) :
  sum (m * k) a x = sum k a (reduce m (fun ys acc => map (fun p => fst p + snd p) (zip ys acc)) (generate (fun _ => zero)) (split k x)).
Proof.
  rewrite (sum_apart (m * k)), (sum_apart k). f_equal. rewrite reduceTree.
  assert (L : forall j, reduce m (fun ys acc => map (fun p => fst p + snd p) (zip ys acc)) (generate (fun _ => zero)) (split k x) j = sum m zero (fun i => split k x i j)).
  { intros j. unfold reduce. induction m as [|m' IH]; [reflexivity|]. cbn [steps]. rewrite <- IH. reflexivity. }
  transitivity (sum k zero (fun j => sum m zero (fun i => split k x i j))). 2:{ unfold reduce. apply steps_eq. intros j b _. f_equal. symmetry. apply L. }
  clear L. unfold map. induction m as [|m' IH].
  - cbn. symmetry. apply sum_zero.
  - change (sum k zero (split k x m') + sum m' zero (fun i => sum k zero (split k x i)) = sum k zero (fun j => split k x m' j + sum m' zero (fun i => split k x i j))).
    rewrite sum_plus. f_equal. exact IH.
Qed.
(* What a parallel reduction computes: the sum over any order of the elements. *)
Lemma useReducePar n {B} (g : B -> A) a x (is : list nat) : Permutation (seq 0 n) is ->
  fold_right (fun i acc => g (x i) + acc) a is = reduce n (fun y acc => g y + acc) a x.
Proof.
  intros P. transitivity (fold_right (fun i acc => g (x i) + acc) a (seq 0 n)).
  - symmetry. induction P; cbn; auto; [now rewrite IHP|apply swap|congruence].
  - unfold reduce. assert (Q : forall l, fold_right (fun i acc => g (x i) + acc) a (rev l) = fold_right (fun i acc => g (x i) + acc) a l).
    { intros l. assert (R := Permutation_rev l). symmetry in R. induction R; cbn; auto; [now rewrite IHR|apply swap|congruence]. }
    rewrite <- Q. clear Q P is. induction n as [|n IH]; [reflexivity|]. rewrite seq_S, rev_app_distr. cbn. now rewrite IH.
Qed.
End Sums.
(* Reductions in sequence, as loops or written out, are the program itself. *)
Lemma useReduceSeq {A B} n (f : A -> B -> B) a x : reduce n f a x = steps n (fun k acc => f (x k) acc) a. Proof. reflexivity. Qed.
Definition useReduceUnroll := @useReduceSeq.
