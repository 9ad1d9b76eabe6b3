(* Consequences of the translation theorem: termination and frame for whole programs; that the published rule for reductions is wrong
   for compound accumulators; the dot product of the paper for every length, by computation. *)
From Coq Require Import Arith List Lia Permutation.
Import ListNotations.
From Lozenge Require Import Translation.

(* 1. end-to-end corollary: the program terminates, and in EVERY execution (any parfor order) out = value *)
Section Top.
Variable V : Type. Variable vzero : V. Variable bop : nat -> V -> V -> V.
Notation exp := (exp V). Notation den := (den V). Notation store := (store V).
(* inputs live at levels 1..|G|, output at level 0 *)
Definition compile {G t} (r : renv V G) (n : nat) (e : exp G t) := fst (tr V e) r n (AVar 0).
Corollary compile_correct {G t} (e : exp G t) (r : renv V G) g n s io :
  0 < n ->
  envok V vzero bop n (fun l _ => l = 0) s io r g ->
  (exists s', exec V vzero bop (compile r n e) io s s') /\
  (forall s', exec V vzero bop (compile r n e) io s s' ->
     (forall p, leaf t p -> s' 0 p = sel V vzero t (ev_exp V bop e g) p) /\
     (forall l q, 0 < l -> l < n -> s' l q = s l q)).
Proof.
  intros Hn Hr. split. apply exec_total.
  intros s' H. destruct (tr_correct V vzero bop G t e) as [A _].
  destruct (A r g n (fun l _ => l = 0) s s' io (AVar 0)) as [W1 W2]; auto.
  - intros l p Hl; cbn in Hl; subst; auto.
  - apply accok_var; auto.
  - split; auto. intros l q Hl Hl2. apply W2; auto. intros (p & _ & E). cbn in E. injection E as E1 _. lia.
Qed.
End Top.

(* 2. the in-place accumulator rule of DPIA/Shine/the seed paper is unsound for compound accumulators *)
Definition naive_redI (V : Type) (N : nat) (t : data) (n : nat) (y : iexp V) (body : nat -> iacc -> comm V) (k : nat -> comm V) : comm V :=
  New V n t (Seq V (copy V t (S n) (AVar n) y) (Seq V (For V (S n) N (body (S (S n)) (AVar n))) (k (S n)))).
Definition swapf : exp nat [prd num num; num] (prd num num) := Pair nat (Snd nat (Var nat VZ)) (Fst nat (Var nat VZ)).
(* out := reduceSeq (\x (a,b). (b,a)) (1,2) [_]   ---   must be (2,1) *)
Definition spec := redn 1 (fun x a => ev_exp nat (fun _ => plus) swapf (consE a (consE x nilE))) (1, 2) (fun _ => 0).
Definition naive : comm nat := naive_redI nat 1 (prd num num) 2 (IPair nat (ILit nat 1) (ILit nat 2))
   (fun n a => fst (tr nat swapf) (consE (F := fun _ => iexp nat) (s := prd num num) (IVar nat 2) (consE (F := fun _ => iexp nat) (s := num) (ILit nat 0) nilE)) n a)
   (fun n => copy nat (prd num num) n (AVar 0) (IVar nat 2)).
Theorem naive_red_wrong : forall io s s', exec nat 0 (fun _ => plus) naive io s s' ->
  s' 0 [Lf] = 2 /\ s' 0 [Rg] = 2 /\ spec = (2, 1).
Proof.
  intros io s s'. cbn.
  repeat match goal with |- (exists _, _) -> _ => intros [? H]; revert H | |- _ /\ _ -> _ => intros [? H]; revert H end.
  intros; repeat match goal with H : exists _, _ |- _ => destruct H | H : _ /\ _ |- _ => destruct H end; subst.
  repeat split; reflexivity.
Qed.

(* 3. The dot product of the paper: the translation computes these commands. *)
Section Cert.
Variable V : Type.
Definition F := fun _ : data => iexp V.
Definition dot N (zero : V) : exp V [ary N num; ary N num] num :=
  Red V (Bin V 0 (Var V (VS VZ)) (Var V VZ)) (Lit V zero)
    (Map V true (Bin V 1 (Fst V (Var V VZ)) (Snd V (Var V VZ))) (Zip V (Var V VZ) (Var V (VS VZ)))).
Definition ins N : renv V [ary N num; ary N num] := consE (F := F) (s := ary N num) (IVar V 1) (consE (F := F) (s := ary N num) (IVar V 2) nilE).
Definition emitted N zero : comm V :=
  New V 3 (ary N num) (Seq V
    (ParFor V 4 N (Assign V (AIdx (AVar 3) 4) (IBin V 1 (IFst V (IIdx V (IZip V (IVar V 1) (IVar V 2)) 4)) (ISnd V (IIdx V (IZip V (IVar V 1) (IVar V 2)) 4)))))
    (New V 4 num (Seq V (Assign V (AVar 4) (ILit V zero)) (Seq V
      (For V 5 N (New V 6 num (Seq V (Assign V (AVar 6) (IBin V 0 (IIdx V (IVar V 3) 5) (IVar V 4))) (Assign V (AVar 4) (IVar V 6)))))
      (Assign V (AVar 0) (IVar V 4)))))).
Example dot_cert : forall N zero, compile V (ins N) 3 (dot N zero) = emitted N zero.
Proof. reflexivity. Qed.
End Cert.
