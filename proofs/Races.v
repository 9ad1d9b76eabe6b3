(* Iterations of a parallel loop keep to themselves: each array that a loop writes falls into slices, one to an iteration, and an iteration
   reads and writes nothing of another's. So no two accesses race, and every interleaving of single reads and writes does the same as one
   iteration after another. *)
From Coq Require Import ZArith List String Bool Lia Arith Permutation.
From Lozenge Require Import Syntax Semantics Poly Norm Rep Source Target TargetSound Interleave Lazy.
Import ListNotations.

(* ---------- the check ---------- *)
(* All arrays that a term reads are in scope. *)
Fixpoint known (sc : list nat) (t : tm) : bool :=
  match t with
  | Op _ ts => forallb (known sc) ts
  | In a _ is => mem a sc && forallb (known sc) is
  | Acc _ _ _ | Fold _ _ _ _ _ => false
  | _ => true
  end.
(* Arrays that a command writes, but for its own locals. *)
Fixpoint shared (c : cmd) : list nat :=
  match c with
  | Skip => [] | Seq a b => shared a ++ shared b | Assign w _ _ _ => [w]
  | Local w c => filter (fun w' => negb (Nat.eqb w w')) (shared c)
  | For _ _ _ c => shared c | If _ a b => shared a ++ shared b
  end.

Section Check.
Variable ns : nat.
Variable base : facts.
(* Of array [w], only elements that belong to iteration [x] are touched; that they do does not depend on data. *)
Fixpoint keeps (F : facts) (x : nat) (sl : slice) (w : nat) (t : tm) : bool :=
  match t with
  | Op _ ts => forallb (keeps F x sl w) ts
  | In a _ is => forallb (keeps F x sl w) is &&
      (if Nat.eqb a w then known [] (nth (pos sl) is (Int 0)) && peqb (poly_of F (inv_t sl is)) (patom (Var x)) else true)
  | _ => true
  end.
Fixpoint own (cx : ctx) (x : nat) (sl : slice) (w : nat) (c : cmd) : bool :=
  match c with
  | Skip => true
  | Seq a b => own cx x sl w a && own cx x sl w b
  | Assign w' cs is e => keeps (sfacts base cx) x sl w (In w' cs is) && keeps (sfacts base cx) x sl w e
  | Local _ c => own cx x sl w c
  | For _ y n c => own ((y, n) :: cx) x sl w c
  | If b c1 c2 => keeps (sfacts base cx) x sl w b && own cx x sl w c1 && own cx x sl w c2
  end.
Definition sliced (cx : ctx) (x : nat) (c : cmd) (w : nat) : bool :=
  match find (fun p => Nat.eqb (fst (fst p)) w) (writes c) with
  | Some (_, _, is) => existsb (fun sl => sclosed ns sl && own cx x sl w c) (candidates ns base cx x is)
  | None => false
  end.
Fixpoint apart (cx : ctx) (sc : list nat) (c : cmd) : bool :=
  match c with
  | Skip => true
  | Seq a b => apart cx sc a && apart cx sc b
  | Assign w cs is e => known sc (In w cs is) && known sc e
  | Local w c => negb (mem w sc) && apart cx (w :: sc) c
  | For par x n c => scoped ns cx n && fresh ns x cx && apart ((x, n) :: cx) sc c &&
      (if par : bool then forallb (sliced ((x, n) :: cx) x c) (nodup Nat.eq_dec (shared c)) else true)
  | If b c1 c2 => known sc b && apart cx sc c1 && apart cx sc c2
  end.
End Check.

(* ---------- soundness ---------- *)
Definition prefix (p q : place) : Prop := exists r, q = p ++ r.
Lemma prefix_refl p : prefix p p. Proof. exists []. symmetry. apply app_nil_r. Qed.
Lemma prefix_more p u q : prefix (p ++ [u]) q -> prefix p q.
Proof. intros [r ->]. exists (u :: r). now rewrite <- app_assoc. Qed.
Lemma prefix_not p u : ~ prefix (p ++ [u]) p.
Proof. intros [r H]. apply (f_equal (@List.length turn)) in H. rewrite !app_length in H. cbn in H. lia. Qed.
Lemma prefix_same p u v q : prefix (p ++ [u]) q -> prefix (p ++ [v]) q -> u = v.
Proof. intros [r ->] [r' H]. rewrite <- !app_assoc in H. apply app_inv_head in H. cbn in H. congruence. Qed.
Lemma concurrent_sym p q : concurrent p q -> concurrent q p.
Proof. intros (r & i & j & p' & q' & H & A & B). exists r, j, i, q', p'. auto. Qed.
Lemma concurrent_prefix p q : prefix p q -> ~ concurrent p q.
Proof.
  intros [z ->] (r & i & j & p' & q' & H & -> & B). rewrite <- app_assoc in B. apply app_inv_head in B. cbn in B. congruence.
Qed.
(* The parts of a sequence are not at the same time. *)
Lemma concurrent_after p i v x y : prefix (p ++ [After i]) x -> prefix (p ++ [v]) y -> v <> After i -> ~ concurrent x y.
Proof.
  intros [a ->] [b ->] Hv (r & k & l & p' & q' & Hkl & A & B). rewrite <- !app_assoc in A, B. cbn in A, B.
  revert r A B. induction p as [|u p IH]; intros [|u' r] A B; cbn in *; try congruence.
  injection A as -> A. injection B as B. eauto.
Qed.

Section Sound.
Variable scalar : Type.
Variable lit : string -> val scalar.
Variable prim : string -> list (val scalar) -> val scalar.
Variable inp : store scalar.
Variable ns : nat.
Variable rs : nat -> Z.
Variable base : facts.
Hypothesis Hbase : forall (s : store scalar) r a, agree ns rs r -> holds scalar lit prim s r a base.
Notation val := (val scalar). Notation store := (store scalar).
Notation trace := (trace scalar). Notation memory := (memory scalar).
Notation exec := (exec scalar lit prim).
Notation fetch := (fetch scalar lit prim).
Notation run := (run scalar lit prim).
Notation ev := (Semantics.ev scalar lit prim).
Notation evz := (Semantics.evz scalar lit prim).
Notation z := (zv scalar lit prim inp rs (aenv0 scalar)).
Notation invz := (invz scalar lit prim inp rs).
Notation okcx := (okcx scalar lit prim inp ns).
Notation bound := (bound scalar lit prim inp).
Notation operands := (operands scalar).
Notation shuffle := (shuffle scalar).
Notation action := (action scalar).
Notation at_ := (at_ scalar). Notation put := (put scalar). Notation what := (what scalar). Notation who := (who scalar).

Lemma mem_in w l : mem w l = true -> List.In w l.
Proof. intros H. apply existsb_exists in H as (x & Hx & E). apply Nat.eqb_eq in E. now subst. Qed.

(* ---------- expressions ---------- *)
Lemma operands_each (P : tm -> trace -> val -> Prop) (A : action -> Prop) ts : Forall (fun t => forall tr x, P t tr x -> Forall A tr) ts ->
  forall trs vs, operands P ts trs vs -> Forall (Forall A) trs.
Proof. induction 1 as [|t ts Ht _ IH]; intros [|r trs] [|v vs]; cbn; try contradiction; auto. intros [H1 H2]. constructor; eauto. Qed.
Lemma shuffle_forall (A : action -> Prop) trs tr : shuffle trs tr -> Forall (Forall A) trs -> Forall A tr.
Proof.
  intros H F. apply Forall_forall. intros a Ha. apply (shuffle_in _ _ _ H) in Ha as (t & Ht & Ha).
  rewrite Forall_forall in F. specialize (F _ Ht). rewrite Forall_forall in F. auto.
Qed.
Lemma shuffle_forall_inv (A : action -> Prop) trs tr : shuffle trs tr -> Forall A tr -> Forall (Forall A) trs.
Proof.
  intros H F. apply Forall_forall. intros t Ht. apply Forall_forall. intros a Ha. rewrite Forall_forall in F. apply F.
  apply (shuffle_in _ _ _ H). eauto.
Qed.
Lemma fetch_op p rho io o ts tr x : fetch p rho io (Op o ts) tr x ->
  (exists c a b t1 v t2, o = Select /\ ts = [c; a; b] /\ tr = t1 ++ t2 /\ fetch p rho io c t1 v /\
     (if truth scalar v then fetch p rho io a t2 x else fetch p rho io b t2 x)) \/
  (exists trs vs, operands (fetch p rho io) ts trs vs /\ shuffle trs tr /\ x = apply scalar prim o vs).
Proof.
  destruct o; try (intros H; right; exact H). destruct ts as [|c [|a [|b [|? ?]]]]; try (intros H; right; exact H).
  intros (t1 & v & t2 & H). left. exists c, a, b, t1, v, t2. auto.
Qed.

Definition reads_of (p : place) (rho : nat -> block) (sc : list nat) (a : action) : Prop :=
  who a = p /\ put a = false /\ exists w cs v, at_ a = (rho w, cs, v) /\ List.In w sc.
Lemma fetch_at p rho io sc t : known sc t = true -> forall tr x, fetch p rho io t tr x -> Forall (reads_of p rho sc) tr.
Proof.
  pattern t. apply tm_ind'; clear t.
  - intros y _ tr x [-> _]. constructor.
  - intros y _ tr x [-> _]. constructor.
  - intros y _ tr x [-> _]. constructor.
  - intros o ts IH H tr x Hf. cbn [known] in H.
    assert (G : Forall (fun t => forall tr x, fetch p rho io t tr x -> Forall (reads_of p rho sc) tr) ts).
    { rewrite forallb_forall in H. rewrite Forall_forall in IH |- *. intros t Ht. apply (IH t Ht (H t Ht)). }
    apply fetch_op in Hf as [(c & a & b & t1 & v & t2 & -> & -> & -> & Hc & Hb)|(trs & vs & Ho & Hs & ->)].
    + inversion_clear G as [|? ? Gc G']; inversion_clear G' as [|? ? Ga G'']; inversion_clear G'' as [|? ? Gb _].
      apply Forall_app. split; eauto. destruct (truth _ _); eauto.
    + eapply shuffle_forall; eauto. eapply operands_each; [|exact Ho]. auto.
  - intros w cs is IH H tr x (trs & vs & t1 & Ho & Hs & ->). cbn [known] in H. apply andb_prop in H as [H1 H2].
    apply Forall_app. split.
    + eapply shuffle_forall; eauto. eapply operands_each; [|exact Ho]. rewrite forallb_forall in H2. rewrite Forall_forall in IH |- *. intros t Ht. apply (IH t Ht (H2 t Ht)).
    + constructor; auto. repeat split; auto. cbn. do 3 eexists. split; eauto. now apply mem_in.
  - discriminate.
  - discriminate.
Qed.

(* [m] holds, for the arrays in scope, what [s] holds. *)
Definition shows (rho : nat -> block) (sc : list nat) (m : memory) (s : store) : Prop :=
  forall w, List.In w sc -> forall cs v, s w cs v = m (rho w, cs, v).
Lemma fetch_ev p rho io sc m s t : shows rho sc m s -> known sc t = true -> forall tr x, fetch p rho io t tr x ->
  Forall (fun a => what a = m (at_ a)) tr -> x = ev s io t.
Proof.
  intros Hm.
  assert (L : forall ts, Forall (fun t => known sc t = true -> forall tr x, fetch p rho io t tr x -> Forall (fun a => what a = m (at_ a)) tr -> x = ev s io t) ts ->
    forallb (known sc) ts = true -> forall trs vs, operands (fetch p rho io) ts trs vs -> Forall (Forall (fun a => what a = m (at_ a))) trs -> vs = map (ev s io) ts).
  { induction 1 as [|t0 ts Ht _ IH]; intros Hk [|r trs] [|v vs]; cbn; try contradiction; auto. intros [H1 H2] F.
    cbn in Hk. apply andb_prop in Hk as [K1 K2]. inversion_clear F. f_equal; [eapply Ht; eauto|apply (IH K2 trs vs H2); auto]. }
  pattern t. apply tm_ind'; clear t.
  - intros y _ tr x [_ ->] _. reflexivity.
  - intros y _ tr x [_ ->] _. reflexivity.
  - intros y _ tr x [_ ->] _. reflexivity.
  - intros o ts IH H tr x Hf F. cbn [known] in H.
    apply fetch_op in Hf as [(c & a & b & t1 & v & t2 & -> & -> & -> & Hc & Hb)|(trs & vs & Ho & Hs & ->)].
    + cbn in H. apply andb_prop in H as [K1 H]. apply andb_prop in H as [K2 H]. apply andb_prop in H as [K3 _].
      inversion_clear IH as [|? ? Gc G']; inversion_clear G' as [|? ? Ga G'']; inversion_clear G'' as [|? ? Gb _].
      apply Forall_app in F as [F1 F2]. rewrite (Gc K1 _ _ Hc F1) in Hb.
      change (ev s io (Op Select [c; a; b])) with (if truth scalar (ev s io c) then ev s io a else ev s io b).
      destruct (truth _ _); eauto.
    + rewrite (L ts IH H trs vs Ho); [reflexivity|]. eapply shuffle_forall_inv; eauto.
  - intros w cs is IH H tr x (trs & vs & t1 & Ho & Hs & ->) F. cbn [known] in H. apply andb_prop in H as [H1 H2].
    apply Forall_app in F as [F1 F2]. inversion_clear F2. cbn in H. subst x.
    rewrite (L is IH H2 trs vs Ho). 2:{ eapply shuffle_forall_inv; eauto. }
    rewrite map_map. symmetry. apply (Hm w (mem_in _ _ H1)).
  - discriminate.
  - discriminate.
Qed.
Lemma operands_ev p rho io sc m s ts : shows rho sc m s -> forallb (known sc) ts = true -> forall trs vs, operands (fetch p rho io) ts trs vs ->
  Forall (Forall (fun a => what a = m (at_ a))) trs -> vs = map (ev s io) ts.
Proof.
  intros Hm. induction ts as [|t ts IH]; intros H [|r trs] [|v vs]; cbn; try contradiction; auto. intros [H1 H2] F.
  cbn in H. apply andb_prop in H as [K1 K2]. inversion_clear F. f_equal; [eapply fetch_ev; eauto|eauto].
Qed.
Lemma operands_at p rho io sc ts : forallb (known sc) ts = true -> forall trs vs, operands (fetch p rho io) ts trs vs -> Forall (Forall (reads_of p rho sc)) trs.
Proof.
  intros H trs vs Ho. eapply operands_each; [|exact Ho]. apply Forall_forall. intros t Ht tr x. apply fetch_at. rewrite forallb_forall in H. auto.
Qed.
(* Terms that read nothing. *)
Lemma none_at p rho tr : Forall (reads_of p rho []) tr -> tr = [].
Proof. intros H. destruct H as [|a tr (_ & _ & w & cs & v & _ & [])]; auto. Qed.
Lemma fetch_pure p rho io s t tr x : known [] t = true -> fetch p rho io t tr x -> tr = [] /\ x = ev s io t.
Proof.
  intros K H. assert (E := none_at _ _ _ (fetch_at p rho io [] t K tr x H)). split; auto. subst.
  eapply (fetch_ev p rho io [] (fun _ => VZ 0) s); eauto. intros w [].
Qed.
Lemma operands_nth p rho io s k ts trs vs : known [] (nth k ts (Int 0)) = true -> operands (fetch p rho io) ts trs vs ->
  nth k (map (toZ scalar) vs) 0%Z = evz s io (nth k ts (Int 0)).
Proof.
  revert k trs vs. induction ts as [|t ts IH]; intros k [|r trs] [|v vs] H; cbn; try contradiction; [destruct k; reflexivity|]. intros [H1 H2].
  destruct k as [|k]; cbn in *; eauto. unfold Semantics.evz. f_equal. apply (fetch_pure p rho io s t r v H H1).
Qed.
Lemma scoped_pure cx t : scoped ns cx t = true -> known [] t = true.
Proof.
  pattern t. apply tm_ind'; intros; try discriminate; auto. cbn [scoped] in H0.
  assert (K : forallb (scoped ns cx) ts = true) by (destruct o; auto; discriminate). cbn. clear H0.
  induction H as [|t0 ts Ht _ IH]; auto. cbn in K. apply andb_prop in K as [K1 K2]. cbn. rewrite Ht; auto.
Qed.

(* ---------- arrays and blocks ---------- *)
Record inv (p : place) (rho : nat -> block) (sc : list nat) : Prop := {
  inj : forall w w', List.In w sc -> List.In w' sc -> rho w = rho w' -> w = w';
  old : forall w q w', List.In w sc -> rho w = Made q w' -> ~ prefix p q }.
Lemma inv_in p u rho sc : inv p rho sc -> inv (p ++ [u]) rho sc.
Proof. intros [H1 H2]. split; auto. intros w q w' Hw E C. apply (H2 w q w' Hw E). eapply prefix_more; eauto. Qed.
Lemma upd_out {A} (f : nat -> A) w x w' : w' <> w -> upd f w x w' = f w'.
Proof. intros H. unfold upd. destruct (Nat.eqb_spec w w'); congruence. Qed.
Lemma upd_at {A} (f : nat -> A) w x : upd f w x w = x. Proof. unfold upd. now rewrite Nat.eqb_refl. Qed.
Lemma out_of w sc w' : mem w sc = false -> List.In w' sc -> w' <> w.
Proof. intros H Hw ->. now apply mem_false in H. Qed.
Lemma inv_local p rho sc w : mem w sc = false -> inv p rho sc -> inv (p ++ [After 0]) (upd rho w (Made p w)) (w :: sc).
Proof.
  intros Hw [H1 H2].
  assert (F : forall w', List.In w' sc -> rho w' <> Made p w). { intros w' Hw' E. apply (H2 w' p w Hw' E), prefix_refl. }
  split.
  - intros a b [<-|Ha] [<-|Hb]; auto; rewrite ?upd_at, ?(upd_out _ _ _ _ (out_of _ _ _ Hw Ha)), ?(upd_out _ _ _ _ (out_of _ _ _ Hw Hb)); intros E; auto.
    + exfalso. apply (F b Hb). auto.
    + exfalso. apply (F a Ha). auto.
  - intros a q w' [<-|Ha]; rewrite ?upd_at, ?(upd_out _ _ _ _ (out_of _ _ _ Hw Ha)); intros E.
    + injection E as <- <-. apply prefix_not.
    + intros C. apply (H2 a q w' Ha E). eapply prefix_more; eauto.
Qed.

(* ---------- where a command reads and writes ---------- *)
Lemma for_inv cx par x n c p rho io tr : scoped ns cx n = true -> run (For par x n c) p rho io tr ->
  exists trs, List.length trs = Z.to_nat (bound io n) /\ (if par then shuffle trs tr else tr = List.concat trs) /\
   (forall a, List.In a tr <-> exists i t, nth_error trs i = Some t /\ List.In a t) /\
   (forall i t, nth_error trs i = Some t -> (0 <= Z.of_nat i < bound io n)%Z /\
      run c (p ++ [if par then Beside i else After i]) rho (upd io x (Z.of_nat i)) t).
Proof.
  intros Hn (t0 & v & trs & t1 & -> & Hf & HL & Hr & Ht).
  destruct (fetch_pure p rho io inp n t0 v (scoped_pure cx n Hn) Hf) as [-> ->]. cbn [app].
  change (toZ scalar (ev inp io n)) with (bound io n) in HL.
  exists trs. split; [exact HL|]. split; [exact Ht|]. split.
  - intros a. assert (G : List.In a t1 <-> exists t, List.In t trs /\ List.In a t).
    { destruct par; [apply shuffle_in; auto|]. subst t1. rewrite in_concat. split; intros (t & ? & ?); eauto. }
    rewrite G. split.
    + intros (t & H1 & H2). apply In_nth_error in H1 as [i Hi]. eauto.
    + intros (i & t & H1 & H2). apply nth_error_In in H1. eauto.
  - intros i t Hi. split; [|auto]. assert (i < List.length trs) by (apply nth_error_Some; unfold Interleave.trace in *; congruence). lia.
Qed.

Definition touches (p : place) (rho : nat -> block) (sc ws : list nat) (a : action) : Prop :=
  prefix p (who a) /\
  ((exists w cs v, at_ a = (rho w, cs, v) /\ List.In w sc /\ (put a = true -> List.In w ws)) \/
   (exists q w cs v, at_ a = (Made q w, cs, v) /\ prefix p q)).
Lemma touches_more p u rho sc ws ws' a : (forall w, List.In w ws -> List.In w ws') -> touches (p ++ [u]) rho sc ws a -> touches p rho sc ws' a.
Proof.
  intros Hw [H1 H2]. split; [eapply prefix_more; eauto|]. destruct H2 as [(w & cs & v & E & Hs & Hp)|(q & w & cs & v & E & Hq)].
  - left. exists w, cs, v. auto.
  - right. exists q, w, cs, v. split; auto. eapply prefix_more; eauto.
Qed.
Lemma reads_touch p rho sc ws a : reads_of p rho sc a -> touches p rho sc ws a.
Proof. intros (<- & Hp & w & cs & v & E & Hw). split; [apply prefix_refl|]. left. exists w, cs, v. repeat split; auto. congruence. Qed.
Lemma assign_inv sc w cs is e p rho io tr : known sc (In w cs is) = true -> known sc e = true -> run (Assign w cs is e) p rho io tr ->
  exists trs vs te x t1, operands (fetch p rho io) is trs vs /\ fetch p rho io e te x /\ shuffle (te :: trs) t1 /\
   tr = t1 ++ [{| Interleave.who := p; Interleave.put := true; Interleave.at_ := (rho w, cs, map (toZ scalar) vs); Interleave.what := x |}] /\
   Forall (reads_of p rho sc) t1.
Proof.
  intros H1 H2 (trs & vs & te & x & t1 & Ho & He & Hs & ->). exists trs, vs, te, x, t1. repeat split; auto.
  cbn in H1. apply andb_prop in H1 as [_ H1]. eapply shuffle_forall; eauto. constructor; [eapply fetch_at; eauto|eapply operands_at; eauto].
Qed.
Lemma run_touches c : forall cx sc p rho io tr, apart ns base cx sc c = true -> agree ns rs io -> run c p rho io tr -> Forall (touches p rho sc (shared c)) tr.
Proof.
  induction c; cbn [apart]; intros cx sc p rho io tr H A Hr.
  - cbn in Hr. subst. constructor.
  - apply andb_prop in H as [H1 H2]. destruct Hr as (t1 & t2 & -> & R1 & R2). apply Forall_app. split.
    + eapply Forall_impl; [|eapply IHc1; eauto]. intros a. apply touches_more. intros w Hw. apply in_or_app. auto.
    + eapply Forall_impl; [|eapply IHc2; eauto]. intros a. apply touches_more. intros w Hw. apply in_or_app. auto.
  - apply andb_prop in H as [H1 H2]. destruct (assign_inv _ _ _ _ _ _ _ _ _ H1 H2 Hr) as (trs & vs & te & x & t1 & _ & _ & _ & -> & Q).
    apply Forall_app. split. { eapply Forall_impl; [|exact Q]. intros a. apply reads_touch. }
    constructor; auto. split; [apply prefix_refl|]. left. do 3 eexists. split; [reflexivity|]. cbn in H1. apply andb_prop in H1 as [H1 _].
    split; [now apply mem_in|]. now left.
  - apply andb_prop in H as [H1 H2]. apply negb_true_iff in H1. eapply Forall_impl; [|eapply IHc; eauto]. intros a [P Q].
    split; [eapply prefix_more; eauto|]. destruct Q as [(w0 & cs & v & E & Hs & Hp)|(q & w0 & cs & v & E & Hq)].
    + destruct (Nat.eq_dec w0 w) as [->|Hne].
      * right. rewrite upd_at in E. exists p, w, cs, v. split; auto. apply prefix_refl.
      * left. rewrite upd_out in E by auto. exists w0, cs, v. split; auto. split; [destruct Hs; congruence|]. intros Hput. cbn [shared]. apply filter_In.
        split; auto. apply negb_true_iff, Nat.eqb_neq. auto.
    + right. exists q, w0, cs, v. split; auto. eapply prefix_more; eauto.
  - apply andb_prop in H as [H H4]. apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2].
    destruct (for_inv _ _ _ _ _ _ _ _ _ H1 Hr) as (trs & _ & _ & Hin & Hi). apply Forall_forall. intros a Ha.
    apply Hin in Ha as (i & t & Et & Ha). destruct (Hi i t Et) as [_ R].
    assert (K := IHc _ _ _ _ _ _ H3 (agree_fresh _ _ _ _ _ _ A H2) R). rewrite Forall_forall in K. specialize (K a Ha).
    eapply touches_more; eauto.
  - apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2]. destruct Hr as (t0 & v & t1 & -> & Hf & Hr).
    apply Forall_app. split. { eapply Forall_impl; [|eapply fetch_at; eauto]. intros a. apply reads_touch. }
    destruct (truth _ _).
    + eapply Forall_impl; [|eapply IHc1; eauto]. intros a. apply touches_more. intros w Hw. apply in_or_app. auto.
    + eapply Forall_impl; [|eapply IHc2; eauto]. intros a. apply touches_more. intros w Hw. apply in_or_app. auto.
Qed.

(* ---------- slices ---------- *)
Section Own.
Variables (x : nat) (sl : slice) (w : nat).
Hypothesis Hsl : sclosed ns sl = true.
Definition mine (rho : nat -> block) (io : nat -> Z) (a : action) : Prop := forall cs v, at_ a = (rho w, cs, v) -> invz sl v = io x.
(* Whose an element is, one subscript says. *)
Lemma operands_slice p rho io ts trs vs : known [] (nth (pos sl) ts (Int 0)) = true -> operands (fetch p rho io) ts trs vs ->
  invz sl (map (toZ scalar) vs) = invz sl (map (evz inp io) ts).
Proof.
  intros H Ho. unfold TargetSound.invz. rewrite (operands_nth p rho io inp (pos sl) ts trs vs H Ho).
  change 0%Z with (evz inp io (Int 0)) at 2. now rewrite map_nth.
Qed.
Lemma keeps_ok p rho io sc F : inv p rho sc -> List.In w sc -> agree ns rs io -> (forall s, holds scalar lit prim s io (aenv0 scalar) F) ->
  forall t, known sc t = true -> keeps F x sl w t = true -> forall tr y, fetch p rho io t tr y -> Forall (mine rho io) tr.
Proof.
  intros Hinv Hw A HF t. pattern t. apply tm_ind'; clear t; try discriminate.
  - intros y _ _ tr v [-> _]. constructor.
  - intros y _ _ tr v [-> _]. constructor.
  - intros y _ _ tr v [-> _]. constructor.
  - intros o ts IH Hk H tr y Hf. cbn [known keeps] in *.
    assert (G : Forall (fun t => forall tr x, fetch p rho io t tr x -> Forall (mine rho io) tr) ts).
    { rewrite forallb_forall in H, Hk. rewrite Forall_forall in IH |- *. intros t Ht. apply (IH t Ht (Hk t Ht) (H t Ht)). }
    apply fetch_op in Hf as [(c & a & b & t1 & v & t2 & -> & -> & -> & Hc & Hb)|(trs & vs & Ho & Hs & ->)].
    + inversion_clear G as [|? ? Gc G']; inversion_clear G' as [|? ? Ga G'']; inversion_clear G'' as [|? ? Gb _].
      apply Forall_app. split; eauto. destruct (truth _ _); eauto.
    + eapply shuffle_forall; eauto. eapply operands_each; [|exact Ho]. auto.
  - intros a cs is IH Hk H tr y (trs & vs & t1 & Ho & Hs & ->). cbn [known keeps] in *.
    apply andb_prop in H as [H1 H2]. apply andb_prop in Hk as [K1 K2]. apply Forall_app. split.
    + eapply shuffle_forall; eauto. eapply operands_each; [|exact Ho]. rewrite forallb_forall in H1, K2. rewrite Forall_forall in IH |- *. intros t Ht. apply (IH t Ht (K2 t Ht) (H1 t Ht)).
    + constructor; auto. intros cs0 v E. cbn in E. injection E as E <- <-.
      assert (a = w) by (apply (inj _ _ _ Hinv); auto using mem_in). subst a. rewrite Nat.eqb_refl in H2. apply andb_prop in H2 as [P1 P2].
      rewrite (operands_slice p rho io is trs vs P1 Ho).
      apply (peqb_ok scalar lit prim inp io (aenv0 scalar)) in P2. rewrite patom_ok, poly_of_ok in P2 by auto.
      rewrite (inv_any scalar lit prim inp ns rs) in P2 by auto. exact P2.
Qed.
Lemma own_ok c : forall cx sc p rho io tr, apart ns base cx sc c = true -> own base cx x sl w c = true -> List.In w sc ->
  existsb (fun yn => Nat.eqb (fst yn) x) cx = true -> agree ns rs io -> okcx io cx -> inv p rho sc -> run c p rho io tr -> Forall (mine rho io) tr.
Proof.
  induction c; cbn [apart own]; intros cx sc p rho io tr H O Hw Hx A Hcx Hinv Hr.
  - cbn in Hr. subst. constructor.
  - apply andb_prop in H as [H1 H2]. apply andb_prop in O as [O1 O2]. destruct Hr as (t1 & t2 & -> & R1 & R2).
    apply Forall_app. split; [eapply (IHc1 cx sc (p ++ [After 0]))|eapply (IHc2 cx sc (p ++ [After 1]))]; eauto using inv_in.
  - apply andb_prop in H as [H1 H2]. apply andb_prop in O as [O1 O2]. destruct Hr as (trs & vs & te & y & t1 & Ho & He & Hs & ->).
    assert (HF : forall s, holds scalar lit prim s io (aenv0 scalar) (sfacts base cx)) by (intros; eapply sfacts_ok; eauto).
    assert (K : Forall (mine rho io) (t1 ++ [{| Interleave.who := p; Interleave.put := true; Interleave.at_ := (rho w0, cs, map (toZ scalar) vs); Interleave.what := y |}])).
    2:{ exact K. }
    cbn [known keeps] in *. apply andb_prop in O1 as [O1 O3]. apply andb_prop in H1 as [H1 H3]. apply Forall_app. split.
    + eapply shuffle_forall; eauto. constructor. { eapply keeps_ok; eauto. }
      eapply operands_each; [|exact Ho]. rewrite forallb_forall in H3, O1. apply Forall_forall. intros t Ht tr v. eapply keeps_ok; eauto.
    + constructor; auto. intros cs0 v E. cbn in E. injection E as E <- <-.
      assert (w0 = w) by (apply (inj _ _ _ Hinv); auto using mem_in). subst w0. rewrite Nat.eqb_refl in O3. apply andb_prop in O3 as [P1 P2].
      rewrite (operands_slice p rho io is trs vs P1 Ho).
      apply (peqb_ok scalar lit prim inp io (aenv0 scalar)) in P2. rewrite patom_ok, poly_of_ok in P2 by auto.
      rewrite (inv_any scalar lit prim inp ns rs) in P2 by auto. exact P2.
  - apply andb_prop in H as [H1 H2]. apply negb_true_iff in H1.
    assert (K := IHc cx (w0 :: sc) (p ++ [After 0]) (upd rho w0 (Made p w0)) io tr H2 O (or_intror Hw) Hx A Hcx (inv_local _ _ _ _ H1 Hinv) Hr).
    eapply Forall_impl; [|exact K]. intros a Ha cs v E. apply (Ha cs v). now rewrite upd_out by (eapply out_of; eauto).
  - apply andb_prop in H as [H H4]. apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2].
    destruct (for_inv _ _ _ _ _ _ _ _ _ H1 Hr) as (trs & _ & _ & Hin & Hi). apply Forall_forall. intros a Ha.
    apply Hin in Ha as (i & t & Et & Ha). destruct (Hi i t Et) as [Hlt R].
    assert (K : Forall (mine rho (upd io x0 (Z.of_nat i))) t).
    { eapply (IHc ((x0, n) :: cx)); [exact H3|exact O|exact Hw| | | | |exact R].
      - cbn [existsb List.existsb]. destruct (Nat.eqb (fst (x0, n)) x); auto.
      - eapply agree_fresh; eauto.
      - apply okcx_cons; auto.
      - apply inv_in; auto. }
    rewrite Forall_forall in K. specialize (K a Ha). intros cs v E. rewrite (K cs v E). apply upd_out.
    intros <-. apply existsb_exists in Hx as (yn & Hy & E1). apply Nat.eqb_eq in E1. unfold fresh in H2. apply andb_prop in H2 as [_ H2].
    rewrite forallb_forall in H2. specialize (H2 _ Hy). apply negb_true_iff, Nat.eqb_neq in H2. congruence.
  - apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2]. apply andb_prop in O as [O O3]. apply andb_prop in O as [O1 O2].
    destruct Hr as (t0 & v & t1 & -> & Hf & Hr).
    assert (HF : forall s, holds scalar lit prim s io (aenv0 scalar) (sfacts base cx)) by (intros; eapply sfacts_ok; eauto).
    apply Forall_app. split; [eapply keeps_ok; eauto|]. destruct (truth _ _);
      [eapply (IHc1 cx sc (p ++ [After 0]))|eapply (IHc2 cx sc (p ++ [After 0]))]; eauto using inv_in.
Qed.
End Own.
End Sound.
