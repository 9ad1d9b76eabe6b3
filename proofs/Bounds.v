(* No subscript of the loops of a certificate leaves its array, for all sizes and all orders: a second checker, and its soundness.
   Subscripts that are themselves data (gather) are beyond it. *)
From Coq Require Import ZArith List String Bool Lia Arith Permutation.
From Lozenge Require Import Syntax Semantics Poly Norm Rep Source Target TargetSound LoopSound Checker.
Import ListNotations.

Section Bounds.
Variable ns : nat.
Variable base : facts.
Variable dim : nat -> list tm.

(* What a condition says where it holds, and where it does not. *)
Fixpoint where_true (F : facts) (c : tm) : facts :=
  match c with
  | Op And [a; b] => where_true F a ++ where_true F b
  | Op Ile [a; b] => [psub (poly_of F b) (poly_of F a)]
  | Op Ilt [a; b] => [psub (psub (poly_of F b) (poly_of F a)) (pconst 1)]
  | _ => []
  end.
Definition where_false (F : facts) (c : tm) : facts :=
  match c with
  | Op Ile [a; b] => [psub (psub (poly_of F a) (poly_of F b)) (pconst 1)]
  | Op Ilt [a; b] => [psub (poly_of F a) (poly_of F b)]
  | _ => []
  end.
Fixpoint bexp (F : facts) (t : tm) {struct t} : bool :=
  match t with
  | Op o ts =>
      match o, ts with
      | Select, [c; a; b] => bexp F c && bexp (where_true F c ++ F) a && bexp (where_false F c ++ F) b
      | _, _ => forallb (bexp F) ts
      end
  | In a cs is => forallb (bexp F) is && in_ranges F is (dim a) && forallb (closed ns) (dim a)
  | Acc _ _ _ | Fold _ _ _ _ _ => false
  | _ => true
  end.
Fixpoint bcmd (cx : ctx) (c : cmd) : bool :=
  match c with
  | Skip => true
  | Seq a b => bcmd cx a && bcmd cx b
  | Assign w cs is e =>
      let F := sfacts base cx in forallb (bexp F) is && bexp F e && in_ranges F is (dim w) && forallb (closed ns) (dim w)
  | Local w c => bcmd cx c
  | For _ x n c => closed ns n && fresh ns x cx && bcmd ((x, n) :: cx) c
  | If b c1 c2 => bexp (sfacts base cx) b && bcmd cx c1 && bcmd cx c2
  end.
End Bounds.

Section Safe.
Variable scalar : Type.
Variable lit : string -> val scalar.
Variable prim : string -> list (val scalar) -> val scalar.
Variable extent : nat -> list Z.
Notation store := (store scalar).
Notation exec := (exec scalar lit prim).
Notation ev := (Semantics.ev scalar lit prim).
Notation evzs := (Semantics.evz scalar lit prim).
Notation within v ds := (Forall2 (fun i n => (0 <= i < n)%Z) v ds).

(* Evaluation of an expression reads inside arrays only; of a selection only one branch is evaluated. *)
Fixpoint safe_exp (s : store) (io : nat -> Z) (t : tm) {struct t} : Prop :=
  match t with
  | Op o ts =>
      match o, ts with
      | Select, [c; a; b] => safe_exp s io c /\ (if truth scalar (ev s io c) then safe_exp s io a else safe_exp s io b)
      | _, _ => fold_right (fun t P => safe_exp s io t /\ P) True ts
      end
  | In a cs is => fold_right (fun t P => safe_exp s io t /\ P) True is /\ within (map (evzs s io) is) (extent a)
  | _ => True
  end.
(* Every command that an execution comes to reads and writes inside arrays. *)
Fixpoint safe (c : cmd) (io : nat -> Z) (s : store) : Prop :=
  match c with
  | Skip => True
  | Seq a b => safe a io s /\ forall s1, exec a io s s1 -> safe b io s1
  | Assign w cs is e => Forall (safe_exp s io) is /\ safe_exp s io e /\ within (map (evzs s io) is) (extent w)
  | Local w c => forall junk, safe c io (upd s w junk)
  | For par x n c => forall is,
      (if par then Permutation (seq 0 (Z.to_nat (evzs s io n))) is else is = seq 0 (Z.to_nat (evzs s io n))) ->
      forall done i rest s1, is = done ++ i :: rest -> iterR scalar (fun i => exec c (upd io x (Z.of_nat i))) done s s1 ->
      safe c (upd io x (Z.of_nat i)) s1
  | If b c1 c2 => safe_exp s io b /\ if truth scalar (ev s io b) then safe c1 io s else safe c2 io s
  end.

Variable inp : store.
Variable ns : nat.
Variable rs : nat -> Z.
Variable base : facts.
Variable dim : nat -> list tm.
Notation aenv0 := (aenv0 scalar).
Notation z := (zv scalar lit prim inp rs aenv0).
Notation okcx := (okcx scalar lit prim inp ns rs).
Notation holds := (holds scalar lit prim).
Hypothesis Hbase : forall (s : store) r a, agree ns rs r -> holds s r a base.
Hypothesis Hext : forall w, extent w = map z (dim w).

Lemma ranges_at s io F : holds s io aenv0 F -> agree ns rs io -> forall is ds, forallb (closed ns) ds = true -> in_ranges F is ds = true ->
  within (map (evzs s io) is) (map z ds).
Proof.
  intros HF A. induction is as [|i is IH]; intros [|d ds] Hc H; try discriminate; [constructor|].
  cbn in H, Hc. apply andb_prop in H as [H1 H2]. apply andb_prop in Hc as [C1 C2]. cbn [map]. constructor; [|apply IH; auto].
  unfold in_range in H1. apply andb_prop in H1 as [H1 H3]. apply (pr_ok scalar lit prim s io aenv0) in H1, H3; auto.
  rewrite !psub_ok, pconst_ok, !poly_of_ok in H3 by auto. rewrite poly_of_ok in H1 by auto.
  rewrite (closed_any scalar lit prim inp ns rs d C1 s io aenv0 A) in H3.
  change (evzs s io i) with (zv scalar lit prim s io aenv0 i). lia.
Qed.
Lemma where_true_ok s io F c : holds s io aenv0 F -> truth scalar (ev s io c) = true -> holds s io aenv0 (where_true F c).
Proof.
  intros HF. pattern c. apply tm_ind'; intros; try solve [constructor]. destruct o; try solve [constructor];
    (destruct ts as [|a [|b [|? ?]]]; try solve [constructor]; inversion_clear H as [|? ? Ha Hb]; inversion_clear Hb as [|? ? Hb' _]); cbn [where_true].
  - constructor; [|constructor]. rewrite !psub_ok, pconst_ok, !poly_of_ok by auto.
    change ((zv scalar lit prim s io aenv0 a <? zv scalar lit prim s io aenv0 b)%Z = true) in H0. apply Z.ltb_lt in H0. lia.
  - constructor; [|constructor]. rewrite !psub_ok, !poly_of_ok by auto.
    change ((zv scalar lit prim s io aenv0 a <=? zv scalar lit prim s io aenv0 b)%Z = true) in H0. apply Z.leb_le in H0. lia.
  - change ((truth scalar (ev s io a) && truth scalar (ev s io b)) = true) in H0. apply andb_prop in H0 as [? ?]. apply Forall_app. split; [apply Ha|apply Hb']; auto.
Qed.
Lemma where_false_ok s io F c : holds s io aenv0 F -> truth scalar (ev s io c) = false -> holds s io aenv0 (where_false F c).
Proof.
  intros HF H. destruct c as [| | |o ts| | |]; try solve [constructor]. destruct o; try solve [constructor]; (destruct ts as [|a [|b [|? ?]]]; try solve [constructor]); cbn [where_false].
  - constructor; [|constructor]. rewrite !psub_ok, !poly_of_ok by auto.
    change ((zv scalar lit prim s io aenv0 a <? zv scalar lit prim s io aenv0 b)%Z = false) in H. apply Z.ltb_ge in H. lia.
  - constructor; [|constructor]. rewrite !psub_ok, pconst_ok, !poly_of_ok by auto.
    change ((zv scalar lit prim s io aenv0 a <=? zv scalar lit prim s io aenv0 b)%Z = false) in H. apply Z.leb_gt in H. lia.
Qed.
Lemma bexp_ok s io : agree ns rs io -> forall t F, holds s io aenv0 F -> bexp ns dim F t = true -> safe_exp s io t.
Proof.
  intros A.
  assert (L : forall F ts, holds s io aenv0 F -> Forall (fun t => forall F, holds s io aenv0 F -> bexp ns dim F t = true -> safe_exp s io t) ts ->
     forallb (bexp ns dim F) ts = true -> fold_right (fun t P => safe_exp s io t /\ P) True ts).
  { intros F ts HF. induction 1 as [|t ts Ht _ IH]; cbn; auto. intros H. apply andb_prop in H as [H1 H2]. split; eauto. }
  intros t. pattern t. apply tm_ind'; intros; cbn [safe_exp]; auto; try discriminate.
  - destruct o; cbn [bexp] in H1; try (apply (L F); auto; fail). destruct ts as [|c [|x [|y [|w ts]]]]; try (apply (L F); auto; fail).
    apply andb_prop in H1 as [H1 H3]. apply andb_prop in H1 as [H1 H2].
    inversion_clear H as [|? ? Hc IH1]; inversion_clear IH1 as [|? ? Hx IH2]; inversion_clear IH2 as [|? ? Hy _]. split; [eauto|].
    destruct (truth scalar (ev s io c)) eqn:E.
    + eapply Hx; [|exact H2]. apply Forall_app. split; auto. apply where_true_ok; auto.
    + eapply Hy; [|exact H3]. apply Forall_app. split; auto. apply where_false_ok; auto.
  - cbn [bexp] in H1. apply andb_prop in H1 as [H1 H3]. apply andb_prop in H1 as [H1 H2]. split; [apply (L F); auto|].
    rewrite Hext. eapply ranges_at; eauto.
Qed.
Theorem bcmd_ok c : forall cx io s, agree ns rs io -> okcx io cx -> bcmd ns base dim cx c = true -> safe c io s.
Proof.
  induction c; cbn [bcmd safe]; intros cx io s A Hcx H; auto.
  - apply andb_prop in H as [H1 H2]. split; eauto.
  - assert (HF := sfacts_ok scalar lit prim inp ns rs base Hbase io cx s A Hcx).
    apply andb_prop in H as [H H4]. apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2]. split; [|split].
    + apply Forall_forall. intros i Hi. rewrite forallb_forall in H1. eapply bexp_ok; eauto.
    + eapply bexp_ok; eauto.
    + rewrite Hext. eapply ranges_at; eauto.
  - intros junk. eauto.
  - apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2]. intros is Hp done i rest s1 -> _.
    assert (L : List.In i (seq 0 (Z.to_nat (evzs s io n)))).
    { assert (K : List.In i (done ++ i :: rest)) by (apply in_or_app; right; now left).
      destruct par; [eapply Permutation_in; [apply Permutation_sym|]; eauto|now rewrite <- Hp]. }
    apply in_seq in L. change (evzs s io n) with (zv scalar lit prim s io aenv0 n) in L.
    rewrite (closed_any scalar lit prim inp ns rs n H1 s io aenv0 A) in L.
    apply (IHc ((x, n) :: cx)); auto; [eapply agree_fresh; eauto|]. apply okcx_cons; auto. lia.
  - assert (HF := sfacts_ok scalar lit prim inp ns rs base Hbase io cx s A Hcx).
    apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2]. split; [eapply bexp_ok; eauto|]. destruct (truth _ _); eauto.
Qed.
End Safe.

(* The checker of a certificate's subscripts. *)
Definition check_bounds (ct : certificate) : bool :=
  forallb (closed (sizes ct)) (assume ct) && bcmd (sizes ct) (base_facts ct) (extents ct) [] (target ct).
Definition in_bounds (ct : certificate) : Prop :=
  forall (scalar : Type) (lit : string -> val scalar) (prim : string -> list (val scalar) -> val scalar) (size : nat -> Z) (before : store scalar),
  Forall (fun t => (0 <= Semantics.evz scalar lit prim before size t)%Z) (assume ct) ->
  safe scalar lit prim (fun w => map (Semantics.evz scalar lit prim before size) (extents ct w)) (target ct) size before.
Theorem check_bounds_sound ct : check_bounds ct = true -> in_bounds ct.
Proof.
  intros H scalar lit prim size before Has. unfold check_bounds in H. apply andb_prop in H as [H1 H].
  eapply (bcmd_ok scalar lit prim _ before (sizes ct) size (base_facts ct) (extents ct)); [|reflexivity|intros x; auto|apply Forall_nil|exact H].
  intros s r a A. unfold base_facts, holds. rewrite Forall_map. rewrite forallb_forall in H1. rewrite Forall_forall in *.
  intros t Ht. rewrite poly_of_ok by constructor. rewrite (closed_any scalar lit prim before (sizes ct) size t (H1 t Ht) s r a A). apply (Has t Ht).
Qed.
