(* Consequences of the translation theorem: whole programs end, with the right result and nothing else changed; the primitives of the language as
   instances of its few forms; that the published rule for reductions is wrong for compound accumulators; the dot product of the paper in both modes. *)
From Coq Require Import Arith List Lia Permutation.
From Lozenge Require Import Paths Phrases Translation Represent TranslationCorrect.
Import ListNotations.

(* ---------- whole programs ---------- *)
Section Top.
Context {K : Scalars} {Keep : Policy}.
(* The output is at level 0, inputs are below level [n]. *)
Definition compile (fuse : bool) {G t} (r : renv G) (n : nat) (e : exp G t) := fst (tr fuse e) r n (AVar 0).
Theorem compile_correct fuse {G t} (e : exp G t) (r : renv G) g n D s io :
  lawful e -> 0 < n -> D 0 = t -> envok n (only 0) D s io r g ->
  (exists s', exec (compile fuse r n e) io s s') /\
  (forall s', exec (compile fuse r n e) io s s' ->
     (forall p, leaf t p -> s' 0 p = sel t (ev_exp e g) p) /\
     (forall l q, 0 < l -> l < n -> s' l q = s l q)).
Proof.
  intros HL Hn HD Hr. split. apply exec_total.
  intros s' H. destruct (tr_correct fuse G t e HL) as [A _].
  destruct (A r g n (only 0) D s s' io (AVar 0)) as [W1 W2]; auto using wbelow_only.
  - apply accok_var; auto. right. reflexivity.
  - split; auto. intros l q Hl Hl2. apply W2; auto. intros (p & _ & E). cbn in E. injection E as E1 _. lia.
Qed.

(* ---------- the primitives of the language ---------- *)
Notation "a ≈ v" := (forall g, ev_exp a g = v g) (at level 70, only parsing).
Section Primitives.
Context {G : list data}.
Fact perm_reverse n : forall i, i < n -> n - 1 - i < n /\ n - 1 - i < n /\ n - 1 - (n - 1 - i) = i /\ n - 1 - (n - 1 - i) = i.
Proof. lia. Qed.
Definition VReverse n t : view (ary n t) (ary n t) := VPerm n t (fun i => n - 1 - i) (fun i => n - 1 - i) (perm_reverse n).
Definition Reverse {n t} (e : exp G (ary n t)) := View (VReverse n t) e.
Fact pick_take n m : forall i, i < n -> i < n + m. Proof. lia. Qed.
Definition Take n {m t} (e : exp G (ary (n + m) t)) : exp G (ary n t) := View (VPick (n + m) n t (fun i => i) (pick_take n m)) e.
Fact pick_drop n m : forall i, i < m -> i + n < n + m. Proof. lia. Qed.
Definition Drop n {m t} (e : exp G (ary (n + m) t)) : exp G (ary m t) := View (VPick (n + m) m t (fun i => i + n) (pick_drop n m)) e.
Fact pick_clamp l r n : forall i, i < l + S n + r -> min (i - l) n < S n. Proof. lia. Qed.
Definition PadClamp l r {n t} (e : exp G (ary (S n) t)) : exp G (ary (l + S n + r) t) := View (VPick (S n) (l + S n + r) t (fun i => min (i - l) n) (pick_clamp l r n)) e.
(* [m] windows of [w] at steps of [s] *)
Fact window_slide m w s n : (m - 1) * s + w <= n -> forall i j, i < m -> j < w -> i * s + j < n. Proof. intros H i j Hi Hj. nia. Qed.
Definition Slide m w s {n t} (H : (m - 1) * s + w <= n) (e : exp G (ary n t)) : exp G (ary m (ary w t)) :=
  View (VWindow n m w t (fun i j => i * s + j) (window_slide m w s n H)) e.
Definition Splat n {t} (e : exp G t) : exp G (ary n t) := View (VSplat n t) e.
Definition Split n {m t} (e : exp G (ary (m * n) t)) := View (VSplit n m t) e.           (* also asVector *)
Definition Join {n m t} (e : exp G (ary m (ary n t))) := View (VJoin n m t) e.            (* also asScalar *)
Definition Transpose {n m t} (e : exp G (ary n (ary m t))) := View (VTrans n m t) e.
Definition Unzip {n s t} (e : exp G (ary n (prd s t))) := View (VUnzip n s t) e.
Definition Fst {s t} (e : exp G (prd s t)) := View (VFst s t) e.
Definition Snd {s t} (e : exp G (prd s t)) := View (VSnd s t) e.
Definition Pair {s t} (a : exp G s) (b : exp G t) := Both (BPair s t) a b.
Definition Zip {n s t} (a : exp G (ary n s)) (b : exp G (ary n t)) := Both (BZip n s t) a b.
Definition Concat {n m t} (a : exp G (ary n t)) (b : exp G (ary m t)) := Both (BConcat n m t) a b.
Definition Pad l r {n t} (v : exp G t) (e : exp G (ary n t)) := Concat (Splat l v) (Concat e (Splat r v)).
Definition Reorder {n m t} (f : exp (idx m :: G) (idx n)) (e : exp G (ary n t)) : exp G (ary m t) := Gather (Gen m false f) e.
Definition CopySeq {n t} (e : exp G (ary n t)) := Copy false (VId (ary n t)) e.
Definition ReverseSeq {n t} (e : exp G (ary n t)) := Copy false (VReverse n t) e.
Definition TransPar {n m t} (e : exp G (ary n (ary m t))) := Copy true (VTrans n m t) e.

(* They mean what they say. *)
Fact reverse_means n t (e : exp G (ary n t)) : Reverse e ≈ (fun g i => ev_exp e g (n - 1 - i)). Proof. reflexivity. Qed.
Fact slide_means m w s n t H (e : exp G (ary n t)) : Slide m w s H e ≈ (fun g i j => ev_exp e g (i * s + j)). Proof. reflexivity. Qed.
Fact pad_means l r n t (v : exp G t) (e : exp G (ary n t)) : forall g i,
  ev_exp (Pad l r v e) g i = if i <? l then ev_exp v g else if i - l <? n then ev_exp e g (i - l) else ev_exp v g.
Proof. reflexivity. Qed.
Fact reorder_means n m t (f : exp (idx m :: G) (idx n)) (e : exp G (ary n t)) : forall g i,
  ev_exp (Reorder f e) g i = ev_exp e g (ev_exp f (consE (F := den) (s := idx m) i g)).
Proof. reflexivity. Qed.
Fact scatter_means n m t (is : exp G (ary n (idx m))) (b : exp G (ary m t)) (e : exp G (ary n t)) : forall g,
  ev_exp (Scatter is b e) g = steps n (fun k a j => if Nat.eqb (ev_exp is g k) j then ev_exp e g k else a j) (ev_exp b g).
Proof. reflexivity. Qed.
(* A sum in parallel is the one in sequence. *)
Fact reducePar_means n s o z (f : exp (s :: G) num) i (e : exp G (ary n s)) (f' : exp (num :: s :: G) num) : (forall a v g, ev_exp f' (consE a (consE v g)) = ev_exp f (consE v g)) ->
  forall g, ev_exp (RedPar o z f i e) g = ev_exp (Red (Op2 o f' (Var VZ)) i e) g.
Proof.
  intros H g. assert (E : forall m f1 f2 (b : number), (forall k a, f1 k a = f2 k a) -> steps m f1 b = steps m f2 b).
  { intros m f1 f2 b Hf. induction m as [|m IH]; cbn; [reflexivity|]. now rewrite IH, Hf. }
  apply E. intros k a. cbn. now rewrite H.
Qed.
End Primitives.
End Top.

(* ---------- rule a.9 as published ---------- *)
(* The accumulator is overwritten part by part while it is read. *)
#[local] Instance naturals : Scalars :=
  {| number := nat; zero := 0; op1 _ a := a; op2 _ := plus; truth n := negb (Nat.eqb n 0); of_nat n := n; to_nat n := n; to_of_nat n := eq_refl |}.
Definition naive_redI (t : data) (N n : nat) (y : iexp) (body : nat -> iacc -> comm) (k : nat -> comm) : comm :=
  New n t (Seq (copy t (S n) (AVar n) y) (Seq (For false (S n) N (body (S (S n)) (AVar n))) (k (S n)))).
Definition swapf : exp [prd num num; num] (prd num num) := Pair (Snd (Var VZ)) (Fst (Var VZ)).
(* out := reduceSeq (\x (a, b). (b, a)) (1, 2) [_]   ---   must be (2, 1) *)
Definition spec := steps 1 (fun x a => ev_exp swapf (consE a (consE (F := den) (s := num) x nilE))) (1, 2).
Definition naive : comm := naive_redI (prd num num) 1 2 (IBoth (BPair num num) (ILit (1 : number)) (ILit (2 : number)))
   (fun n a => fst (tr false swapf) (bindE (IVar 2) (bindE (ILit (0 : number)) nilE)) n a)
   (fun n => copy (prd num num) n (AVar 0) (IVar 2)).
Theorem naive_red_wrong : forall io s s', exec naive io s s' -> s' 0 [Lf] = 2 /\ s' 0 [Rg] = 2 /\ spec = (2, 1).
Proof.
  intros io s s'. cbn.
  repeat match goal with |- (exists _, _) -> _ => intros [? H]; revert H | |- _ /\ _ -> _ => intros [? H]; revert H end.
  intros; repeat match goal with H : exists _, _ |- _ => destruct H | H : _ /\ _ |- _ => destruct H end; subst.
  repeat match goal with H : iterR _ _ _ _ |- _ => cbn in H | H : exists _, _ |- _ => destruct H | H : _ /\ _ |- _ => destruct H end; subst.
  repeat split; reflexivity.
Qed.

(* Here exchanging goes through a second temporary, and what is computed element by element is computed in place: sums of the columns of [xs]. *)
Example swap_staged : update (prd num num) 2 4 (fun n a => fst (tr false swapf) (bindE (IVar 2) (bindE (ILit (0 : number)) nilE)) n a) =
  New 4 (prd num num) (Seq
    (Seq (copy num 5 (APut (BPair num num) false (AVar 4)) (IView (VSnd num num) (IVar 2))) (copy num 5 (APut (BPair num num) true (AVar 4)) (IView (VFst num num) (IVar 2))))
    (copy (prd num num) 5 (AVar 2) (IVar 4))).
Proof. reflexivity. Qed.
Section Columns.
Context {K : Scalars}.
Definition columns N M : exp [ary N (ary M num)] (ary M num) :=
  Red (Map true (Op2 0 (Fst (Var VZ)) (Snd (Var VZ))) (Zip (Var (VS VZ)) (Var VZ))) (Gen M true (Lit zero)) (Var VZ).
Example columns_in_place : forall N M, compile false (bindE (s := ary N (ary M num)) (IVar 1) nilE) 2 (columns N M) =
  let both := IBoth (BZip M num num) (IAt (IVar 1) (ILoop 4)) (IVar 3) in
  New 3 (ary M num) (Seq (For false 4 M (Assign (AAt (AVar 3) 4) (IAt (IGen 2 (ILit zero)) (ILoop 4)))) (Seq
    (For false 4 N (For true 6 M (Assign (AAt (AVar 3) 6) (IOp2 0 (IView (VFst num num) (IAt both (ILoop 6))) (IView (VSnd num num) (IAt both (ILoop 6)))))))
    (For false 4 M (Assign (AAt (AVar 0) 4) (IAt (IVar 3) (ILoop 4)))))).
Proof. reflexivity. Qed.
(* In default mode, where the sums are not kept in local memory, the output is the accumulator. *)
Example columns_output : forall N M, compile (Keep := {| local _ := false; turns _ := false |}) true (bindE (s := ary N (ary M num)) (IVar 1) nilE) 2 (columns N M) =
  let both := IBoth (BZip M num num) (IAt (IVar 1) (ILoop 2)) (IVar 0) in
  Seq (For true 2 M (Assign (AAt (AVar 0) 2) (ILit zero)))
    (For false 2 N (For true 4 M (Assign (AAt (AVar 0) 4) (IOp2 0 (IView (VFst num num) (IAt both (ILoop 4))) (IView (VSnd num num) (IAt both (ILoop 4))))))).
Proof. reflexivity. Qed.
(* Two buffers take turns: an array reversed N times. *)
Definition reversed N M : exp [ary M num] (ary M num) := Iter N (Reverse (Var VZ)) (Var VZ).
Example reversed_in_turns : forall N M, compile (Keep := {| local _ := false; turns _ := true |}) true (bindE (s := ary M num) (IVar 1) nilE) 2 (reversed N M) =
  let step from to l := For false l M (Assign (AAt (AView (VReverse M num) (AVar to)) l) (IAt (IVar from) (ILoop l))) in
  Seq (For false 2 M (Assign (AAt (AVar 0) 2) (IAt (IVar 1) (ILoop 2)))) (New 2 (ary M num) (Seq
    (For false 3 (N / 2) (Seq (step 0 2 4) (step 2 0 4)))
    (if Nat.odd N then Seq (step 0 2 3) (For false 3 M (Assign (AAt (AVar 0) 3) (IAt (IVar 2) (ILoop 3)))) else Skip))).
Proof. reflexivity. Qed.
End Columns.

(* ---------- the dot product of the paper ---------- *)
Section Dot.
Context {K : Scalars}.
Definition dot N : exp [ary N num; ary N num] num :=
  Red (Op2 0 (Var (VS VZ)) (Var VZ)) (Lit zero) (Map true (Op2 1 (Fst (Var VZ)) (Snd (Var VZ))) (Zip (Var VZ) (Var (VS VZ)))).
Definition ins N : renv [ary N num; ary N num] := bindE (s := ary N num) (IVar 1) (bindE (s := ary N num) (IVar 2) nilE).
Definition products N : iexp := IBoth (BZip N num num) (IVar 1) (IVar 2).
(* In paper mode the products are stored first. *)
Example dot_paper : forall N, compile false (ins N) 3 (dot N) =
  New 3 (ary N num) (Seq
    (For true 4 N (Assign (AAt (AVar 3) 4) (IOp2 1 (IView (VFst num num) (IAt (products N) (ILoop 4))) (IView (VSnd num num) (IAt (products N) (ILoop 4))))))
    (New 4 num (Seq (Assign (AVar 4) (ILit zero)) (Seq
      (For false 5 N (Assign (AVar 4) (IOp2 0 (IAt (IVar 3) (ILoop 5)) (IVar 4))))
      (Assign (AVar 0) (IVar 4)))))).
Proof. reflexivity. Qed.
(* In default mode they are computed where they are read. *)
Example dot_default : forall N, compile true (ins N) 3 (dot N) =
  New 4 num (Seq (Assign (AVar 4) (ILit zero)) (Seq
    (For false 5 N (Assign (AVar 4) (IOp2 0
      (IAt (IGen 3 (IOp2 1 (IView (VFst num num) (IAt (products N) (ILoop 3))) (IView (VSnd num num) (IAt (products N) (ILoop 3))))) (ILoop 5)) (IVar 4))))
    (Assign (AVar 0) (IVar 4)))).
Proof. reflexivity. Qed.
End Dot.
