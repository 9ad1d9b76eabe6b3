(* Soundness of the symbolic execution of loops: whatever order the iterations of parallel loops take, the contents that the
   checker computes are those of the arrays. *)
From Coq Require Import ZArith List String Bool Lia Arith Permutation.
From Lozenge Require Import Syntax Semantics Poly Norm Rep Source Target.
Import ListNotations.

Section Sound.
Variable scalar : Type.
Variable lit : string -> val scalar.
Variable prim : string -> list (val scalar) -> val scalar.
Variable inp : store scalar.
Variable ns : nat.
Variable rs : nat -> Z.
Variable idx : list (nat * (tm * list tm)).
Variable base : facts.
Variable dim : nat -> list tm.
Notation store := (store scalar). Notation value := (value scalar). Notation aenv := (aenv scalar).
Notation aenv0 := (aenv0 scalar).
Notation exec := (exec scalar lit prim).
Notation zvs s := (zv scalar lit prim s).
Notation z := (zv scalar lit prim inp rs aenv0).
Notation ext := (ext scalar).
Notation evz := (evz scalar lit prim inp).
Notation evt := (evt scalar lit prim inp).
Notation evs := (evs scalar lit prim inp).
Notation hold := (hold scalar lit prim inp).
Notation vtab := (vtab scalar lit prim inp).
Notation vval := (vval scalar lit prim inp).
Notation ev := (Semantics.ev scalar lit prim).
Notation evzs := (Semantics.evz scalar lit prim).
Hypothesis Hidx : bounded_ok scalar lit prim inp ns rs idx.
Notation sev := (sev idx).
(* What is known of the sizes holds of them, in any store. *)
Hypothesis Hbase : forall (s : store) r a, agree ns rs r -> holds scalar lit prim s r a base.

(* ---------- terms of sizes, in any store ---------- *)
Lemma closed_any t : closed ns t = true -> forall s r a, agree ns rs r -> zvs s r a t = z t.
Proof.
  intros H s r a A. unfold Inequalities.zv. f_equal. revert H. pattern t. apply tm_ind'; intros; try discriminate; auto.
  - cbn in *. apply Nat.ltb_lt in H. now rewrite A.
  - cbn [closed] in H0. cbn [Semantics.eval].
    assert (forallb (closed ns) ts = true) by (destruct o; auto; discriminate).
    f_equal. apply map_ext_in. intros t' Ht. rewrite Forall_forall in H. rewrite forallb_forall in H1. apply H; auto.
Qed.

(* Bounds of loops, in any store where the variables are the same. *)
Lemma scoped_any cx t : scoped ns cx t = true -> forall s s' r r' a a', agree ns r r' -> (forall yn, List.In yn cx -> r (fst yn) = r' (fst yn)) ->
  zvs s r a t = zvs s' r' a' t.
Proof.
  intros H s s' r r' a a' A E. unfold Inequalities.zv. f_equal. revert H. pattern t. apply tm_ind'; intros; try discriminate; auto.
  - cbn in *. f_equal. apply orb_prop in H as [H|H]; [apply Nat.ltb_lt in H; symmetry; auto|].
    apply existsb_exists in H as (yn & Hy & Ey). apply Nat.eqb_eq in Ey. subst. auto.
  - cbn [scoped] in H0. cbn [Semantics.eval].
    assert (forallb (scoped ns cx) ts = true) by (destruct o; auto; discriminate).
    f_equal. apply map_ext_in. intros t' Ht. rewrite Forall_forall in H. rewrite forallb_forall in H1. apply H; auto.
Qed.
Lemma scoped_store cx t : scoped ns cx t = true -> forall s s' r a a', zvs s r a t = zvs s' r a' t.
Proof. intros H s s' r a a'. apply (scoped_any cx t H); [intros x Hx|intros yn Hy]; reflexivity. Qed.
Lemma scoped_more cx cx' t : (forall y, existsb (fun yn => Nat.eqb (fst yn) y) cx = true -> existsb (fun yn => Nat.eqb (fst yn) y) cx' = true) ->
  scoped ns cx t = true -> scoped ns cx' t = true.
Proof.
  intros M. pattern t. apply tm_ind'; intros; try discriminate; auto.
  - cbn [scoped] in *. destruct (Nat.ltb x ns); [reflexivity|exact (M x H)].
  - cbn [scoped] in *. assert (forallb (scoped ns cx) ts = true) by (destruct o; auto; discriminate).
    assert (forallb (scoped ns cx') ts = true). { rewrite Forall_forall in H. rewrite forallb_forall in *. auto. }
    destruct o; auto; discriminate.
Qed.
Definition bound (io : nat -> Z) (n : tm) : Z := zvs inp io aenv0 n.

(* ---------- slices ---------- *)
Definition optz (f : Z -> Z -> Z) (k : Z) (o : option tm) : Z := match o with Some t => f k (z t) | None => k end.
Definition invz (sl : slice) (v : list Z) : Z :=
  optz Z.div (optz Z.modulo (optz Z.sub (nth (pos sl) v 0%Z) (off sl)) (md sl)) (dv sl).
Lemma inv_any sl is : sclosed ns sl = true -> forall s r a, agree ns rs r -> zvs s r a (inv_t sl is) = invz sl (map (zvs s r a) is).
Proof.
  intros H s r a A. unfold sclosed in H. apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2].
  assert (Z0 : zvs s r a (nth (pos sl) is (Int 0)) = nth (pos sl) (map (zvs s r a) is) 0%Z).
  { change 0%Z with (zvs s r a (Int 0)). now rewrite map_nth. }
  unfold inv_t, invz. rewrite <- Z0. generalize (nth (pos sl) is (Int 0)). intros t.
  assert (S1 : forall o f t k, oclosed ns k = true -> (forall x y, zvs s r a (Op o [x; y]) = f (zvs s r a x) (zvs s r a y)) ->
     zvs s r a (opt2 o t k) = optz f (zvs s r a t) k).
  { intros o f x [k|] Hk Hf; cbn; auto. rewrite Hf. now rewrite (closed_any k Hk s r a A). }
  rewrite (S1 Idiv Z.div), (S1 Imod Z.modulo), (S1 Isub Z.sub); auto.
Qed.
Lemma inv_evz sl N r a is v : sclosed ns sl = true -> ns <= N -> agree ns rs r -> evs N r a is v -> evz N r a (inv_t sl is) (invz sl v).
Proof.
  intros H L A Hs r' a' E. rewrite inv_any; auto. { now rewrite (Hs r' a' E). }
  intros x Hx. rewrite (ext_r _ _ _ _ _ _ E) by lia. auto.
Qed.

(* ---------- loops around ---------- *)
Definition okcx (io : nat -> Z) (cx : ctx) := Forall (fun yn => scoped ns cx (snd yn) = true /\ (0 <= io (fst yn) < bound io (snd yn))%Z) cx.
Lemma sfacts_ok io cx s : agree ns rs io -> okcx io cx -> holds scalar lit prim s io aenv0 (sfacts base cx).
Proof.
  intros A H. unfold sfacts. apply Forall_app. split; [|apply Hbase; auto].
  apply Forall_forall. intros p Hp. apply in_flat_map in Hp as ((y & n) & Hy & Hp).
  unfold okcx in H. rewrite Forall_forall in H. destruct (H _ Hy) as [Hc Hr]. cbn [fst snd] in *.
  assert (K : holds scalar lit prim s io aenv0 (range_facts base (Var y) n)).
  { apply range_facts_at with (z := io y) (d := bound io n); auto. apply (scoped_store cx n Hc). }
  unfold holds in K. rewrite Forall_forall in K. auto.
Qed.
Lemma bound_upd io cx x i n : scoped ns cx n = true -> fresh ns x cx = true -> bound (upd io x i) n = bound io n.
Proof.
  unfold fresh, bound. intros Hn E. apply andb_prop in E as [E1 E]. apply Nat.leb_le in E1. rewrite forallb_forall in E. apply (scoped_any cx n Hn).
  - intros y Hy. unfold upd. destruct (Nat.eqb_spec x y); [lia|auto].
  - intros yn Hy. specialize (E _ Hy). apply negb_true_iff, Nat.eqb_neq in E. unfold upd. destruct (Nat.eqb_spec x (fst yn)); [congruence|auto].
Qed.
Lemma okcx_upd io cx x i : okcx io cx -> fresh ns x cx = true -> okcx (upd io x i) cx.
Proof.
  intros H E. assert (E' := E). apply andb_prop in E' as [_ E']. unfold okcx in *. rewrite Forall_forall in *. rewrite forallb_forall in E'.
  intros yn Hy. destruct (H _ Hy) as [Hc Hr]. split; auto. rewrite bound_upd with (cx := cx); auto. specialize (E' _ Hy). apply negb_true_iff, Nat.eqb_neq in E'.
  unfold upd. destruct (Nat.eqb_spec x (fst yn)); [congruence|auto].
Qed.
Lemma okcx_cons io cx x n i : okcx io cx -> fresh ns x cx = true -> scoped ns cx n = true -> (0 <= i < bound io n)%Z -> okcx (upd io x i) ((x, n) :: cx).
Proof.
  intros H E Hc Hi. assert (M : forall t, scoped ns cx t = true -> scoped ns ((x, n) :: cx) t = true).
  { intros t. apply scoped_more. intros y Hy. cbn. destruct (Nat.eqb x y); [reflexivity|exact Hy]. }
  constructor.
  - cbn [fst snd]. split; [auto|]. rewrite (bound_upd io cx) by auto. unfold upd. rewrite Nat.eqb_refl. exact Hi.
  - assert (K := okcx_upd io cx x i H E). unfold okcx in K. eapply Forall_impl; [|exact K]. intros yn [K1 K2]. auto.
Qed.
Lemma agree_fresh io cx x i : agree ns rs io -> fresh ns x cx = true -> agree ns rs (upd io x i).
Proof.
  unfold fresh. intros A E. apply andb_prop in E as [E _]. apply Nat.leb_le in E. intros y Hy. unfold upd.
  destruct (Nat.eqb_spec x y); [lia|auto].
Qed.

(* ---------- what a command leaves alone ---------- *)
Lemma mem_false w l : mem w l = false -> ~ List.In w l.
Proof. intros H C. assert (mem w l = true); [|congruence]. apply existsb_exists. exists w. split; auto. apply Nat.eqb_refl. Qed.
Lemma wr_array s w cs v x w' : w <> w' -> wr scalar s w cs v x w' = s w'.
Proof.
  intros H. unfold wr. destruct (Nat.eqb_spec w w'); [congruence|]. reflexivity.
Qed.
Lemma iter_inv (P : store -> Prop) (R : nat -> store -> store -> Prop) is s s' : (forall i s s', List.In i is -> R i s s' -> P s -> P s') -> iterR scalar R is s s' -> P s -> P s'.
Proof.
  revert s. induction is as [|i is IH]; cbn; intros s H HR Hs. { now subst. }
  destruct HR as (s1 & H1 & H2). eapply (IH s1); eauto.
Qed.
Lemma unwritten c : forall w, ~ List.In w (written c) -> forall io s s', exec c io s s' -> forall cs v, s' w cs v = s w cs v.
Proof.
  induction c; cbn [written]; intros w0 Hw io s s' H cs0 v.
  - cbn in H. now subst.
  - destruct H as (s1 & H1 & H2). rewrite (IHc2 w0) with (2 := H2), (IHc1 w0) with (2 := H1); auto; intros C; apply Hw, in_or_app; auto.
  - cbn in H. subst. rewrite wr_array; auto. intros ->. apply Hw. now left.
  - destruct H as (junk & H). rewrite (IHc w0) with (2 := H). 2:{ intros C. apply Hw. now right. }
    unfold upd. destruct (Nat.eqb_spec w w0); auto. subst. exfalso. apply Hw. now left.
  - destruct H as (is & _ & H). revert cs0 v.
    refine (iter_inv (fun s1 => forall cs v, s1 w0 cs v = s w0 cs v) _ is s s' _ H _); auto.
    intros i s1 s2 _ H1 IH cs v. rewrite <- IH. apply (IHc w0 Hw _ _ _ H1).
  - cbn in H. destruct (truth _ _).
    + apply (IHc1 w0) with (2 := H). intros C. apply Hw, in_or_app; auto.
    + apply (IHc2 w0) with (2 := H). intros C. apply Hw, in_or_app; auto.
Qed.

(* Iterations write their own slices only. *)
Lemma wcheck_ok c : forall cx x sl w, sclosed ns sl = true -> wcheck ns base cx x sl w c = true -> existsb (fun yn => Nat.eqb (fst yn) x) cx = true ->
  forall io s s', agree ns rs io -> okcx io cx -> exec c io s s' -> forall cs v, invz sl v <> io x -> s' w cs v = s w cs v.
Proof.
  induction c; cbn [wcheck]; intros cx x0 sl w0 Hsl H Hx io s s' A Hcx He cs0 v Hv.
  - cbn in He. now subst.
  - apply andb_prop in H as [H1 H2]. destruct He as (s1 & E1 & E2).
    rewrite (IHc2 cx x0 sl w0) with (6 := E2), (IHc1 cx x0 sl w0) with (6 := E1); auto.
  - cbn in He. subst. destruct (Nat.eqb_spec w0 w); [|rewrite wr_array; auto]. subst.
    apply (peqb_ok scalar lit prim s io aenv0) in H. rewrite patom_ok, poly_of_ok in H by (apply sfacts_ok; auto).
    rewrite inv_any in H by auto. change (zvs s io aenv0 (Var x0)) with (io x0) in H.
    unfold wr. rewrite Nat.eqb_refl. destruct (list_eq_dec bool_dec cs cs0); auto. destruct (list_eq_dec Z.eq_dec _ v); auto.
    exfalso. apply Hv. rewrite <- H, <- e1. reflexivity.
  - apply andb_prop in H as [H1 H2]. destruct He as (junk & E). rewrite (IHc cx x0 sl w0) with (6 := E); auto.
    unfold upd. apply negb_true_iff, Nat.eqb_neq in H1. destruct (Nat.eqb_spec w w0); [congruence|auto].
  - apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2]. destruct He as (is & Hp & He).
    assert (Hfx : x <> x0).
    { intros ->. apply existsb_exists in Hx as (yn & Hy & E). apply Nat.eqb_eq in E. unfold fresh in H2. apply andb_prop in H2 as [_ H2].
      rewrite forallb_forall in H2. specialize (H2 _ Hy). apply negb_true_iff, Nat.eqb_neq in H2. congruence. }
    assert (Hlt : forall i, List.In i is -> (0 <= Z.of_nat i < bound io n)%Z).
    { intros i Hi. assert (L : List.In i (seq 0 (Z.to_nat (evzs s io n)))). { destruct par; [eapply Permutation_in; [apply Permutation_sym|]; eauto|now subst]. }
      apply in_seq in L. unfold Semantics.evz, Semantics.ev in L. change (toZ scalar (eval scalar lit prim s n io aenv0)) with (zvs s io aenv0 n) in L.
      rewrite (scoped_store cx n H1 s inp io aenv0 aenv0) in L. change (zvs inp io aenv0 n) with (bound io n) in L. lia. }
    revert cs0 v Hv. refine (iter_inv (fun s1 => forall cs v, invz sl v <> io x0 -> s1 w0 cs v = s w0 cs v) _ is s s' _ He _); auto.
    intros i s1 s2 Hi E1 IH cs v Hv. rewrite <- IH by auto.
    refine (IHc ((x, n) :: cx) x0 sl w0 Hsl H3 _ (upd io x (Z.of_nat i)) s1 s2 _ _ E1 cs v _).
    + cbn [existsb]. now rewrite Hx, orb_true_r.
    + eapply agree_fresh; eauto.
    + apply okcx_cons; auto.
    + unfold upd. destruct (Nat.eqb_spec x x0); [congruence|auto].
  - apply andb_prop in H as [H1 H2]. cbn in He. destruct (truth _ _).
    + apply (IHc1 cx x0 sl w0) with (6 := He); auto.
    + apply (IHc2 cx x0 sl w0) with (6 := He); auto.
Qed.

(* ---------- expressions ---------- *)
Definition vse N r a (se : nat -> tm) (io : nat -> Z) := forall x, evt N r a (se x) (VZ (io x)).
Definition vst N r a (ss : sstore) (s : store) := forall w, vval N r a (ss w) (s w).
Lemma vst_mono N r a ss s N' r' a' : vst N r a ss s -> N <= N' -> ext N r a r' a' -> vst N' r' a' ss s.
Proof. intros H L E w. eapply vval_mono; eauto. Qed.
Lemma vse_mono N r a ss s N' r' a' : vse N r a ss s -> N <= N' -> ext N r a r' a' -> vse N' r' a' ss s.
Proof. intros H L E w. eapply evt_mono; eauto. Qed.

Lemma sev_ok N0 r0 a0 se ss s io : vse N0 r0 a0 se io -> vst N0 r0 a0 ss s ->
  forall N r a, ns <= N -> agree ns rs r -> N0 <= N -> ext N0 r0 a0 r a ->
  forall t F t', hold N r a F -> sev se ss N F t = Some t' -> evt N r a t' (ev s io t).
Proof.
  intros Hse Hss N r a Lns Ag L E.
  assert (M : forall F, hold N r a F -> forall ts, Forall (fun t => forall F t', hold N r a F -> sev se ss N F t = Some t' -> evt N r a t' (ev s io t)) ts ->
     forall ts', mapM (sev se ss N F) ts = Some ts' -> forall r' a', ext N r a r' a' ->
       map (fun t => eval scalar lit prim inp t r' a') ts' = map (ev s io) ts).
  { intros F HF. induction 1 as [|t ts Ht _ IH]; cbn [mapM]; intros ts' H r' a' E'. { injection H as <-. auto. }
    destruct (sev se ss N F t) as [t0|] eqn:Et; [|discriminate]. destruct (mapM _ ts) as [ts0|]; [|discriminate]. injection H as <-.
    cbn [map]. rewrite (Ht F t0 HF Et r' a' E'), (IH ts0 eq_refl r' a' E'). auto. }
  intros t. pattern t. apply tm_ind'; clear t.
  - intros x F t' HF H. injection H as <-. eapply evt_mono; eauto.
  - intros x F t' HF H. injection H as <-. intros r' a' E'. auto.
  - intros x F t' HF H. injection H as <-. intros r' a' E'. auto.
  - intros o ts IH F t' HF H.
    assert (G : forall ts', mapM (sev se ss N F) ts = Some ts' -> evt N r a (mk (learn idx F ts') o ts') (ev s io (Op o ts))).
    { intros ts' Hm r' a' E'. rewrite mk_ok by (apply (learn_ok scalar lit prim inp ns rs idx Hidx N r a F ts'); auto). exact (f_equal (apply scalar prim o) (M F HF ts IH ts' Hm r' a' E')). }
    assert (D : (exists ts', mapM (sev se ss N F) ts = Some ts' /\ t' = mk (learn idx F ts') o ts') \/
       (o = Select /\ exists c x y tc, ts = [c; x; y] /\ sev se ss N F c = Some tc /\ scond idx F tc (fun F => sev se ss N F x) (fun F => sev se ss N F y) = Some t')).
    { assert (G0 : forall x, bind (mapM (sev se ss N F) ts) (fun ts => Some (mk (learn idx F ts) x ts)) = Some t' ->
        exists ts', mapM (sev se ss N F) ts = Some ts' /\ t' = mk (learn idx F ts') x ts').
      { intros x0 K. destruct (mapM (sev se ss N F) ts) as [ts'|]; [|discriminate]. injection K as <-. eauto. }
      cbn [sev] in H. destruct o; try (left; apply G0; exact H).
      destruct ts as [|c [|x [|y [|w ts]]]]; try (left; apply G0; exact H).
      right. split; auto. destruct (sev se ss N F c) as [tc|] eqn:Ec; [|discriminate]. exists c, x, y, tc. auto. }
    destruct D as [(ts' & Hm & ->)|(-> & c & x & y & tc & -> & Hc & Hs)]; [auto|].
    inversion_clear IH as [|? ? Hc' IH1]; inversion_clear IH1 as [|? ? Hx IH2]; inversion_clear IH2 as [|? ? Hy _].
    change (ev s io (Op Select [c; x; y])) with (if truth scalar (ev s io c) then ev s io x else ev s io y).
    eapply scond_ok; [exact Hidx|exact Lns|exact Ag|exact HF|eapply Hc'; eauto| | |exact Hs]; cbv beta; intros; eauto.
  - intros w cs is IH F t' HF H. cbn [sev] in H. destruct (mapM (sev se ss N F) is) as [js|] eqn:Hm; [|discriminate]. cbn [bind] in H.
    eapply (Hss w cs N r a (learn idx F js) js (map (evzs s io) is)); [exact L|exact E|eapply learn_ok; eauto| |exact H].
    intros r' a' E'. change (map (Inequalities.zv scalar lit prim inp r' a') js) with (map (fun t => toZ scalar (eval scalar lit prim inp t r' a')) js).
    rewrite <- (map_map (fun t => eval scalar lit prim inp t r' a') (toZ scalar)), (M F HF is IH js Hm r' a' E'), map_map. reflexivity.
  - intros; discriminate.
  - intros; discriminate.
Qed.

Lemma mapM_sev N0 r0 a0 se ss s io : vse N0 r0 a0 se io -> vst N0 r0 a0 ss s ->
  forall N r a F, ns <= N -> agree ns rs r -> N0 <= N -> ext N0 r0 a0 r a -> hold N r a F ->
  forall is js, mapM (sev se ss N F) is = Some js -> evs N r a js (map (evzs s io) is).
Proof.
  intros Hse Hss N r a F Lns Ag L E HF. induction is as [|i is IH]; cbn [mapM]; intros js H. { injection H as <-. apply evs_nil. }
  destruct (sev se ss N F i) as [j|] eqn:Ej; [|discriminate]. destruct (mapM _ is) as [js'|]; [|discriminate]. injection H as <-.
  apply evs_cons; auto. apply evt_evz. eapply sev_ok; eauto.
Qed.

Lemma same_ok N r a F : hold N r a F -> forall xs ys v w b, evs N r a xs v -> evs N r a ys w -> same F xs ys = Some b -> if b then v = w else v <> w.
Proof.
  intros HF. induction xs as [|x xs IH]; intros [|y ys] v w b Hv Hw H; try discriminate; cbn [same] in H.
  - injection H as <-. apply evs_nil_inv in Hv, Hw. congruence.
  - apply evs_inv in Hv as (zx & v' & -> & Hx & Hv). apply evs_inv in Hw as (zy & w' & -> & Hy & Hw).
    assert (D : forall d, decide F (Op Ieq [x; y]) = Some d -> (zx =? zy)%Z = d).
    { intros d Hd. assert (K := decide_ok scalar lit prim inp r a F (HF r a (ext_refl _ _ _ _)) _ _ Hd).
      change (VB (Inequalities.zv scalar lit prim inp r a x =? Inequalities.zv scalar lit prim inp r a y)%Z = @VB scalar d) in K.
      rewrite (Hx r a (ext_refl _ _ _ _)), (Hy r a (ext_refl _ _ _ _)) in K. congruence. }
    destruct (decide F (Op Ieq [x; y])) as [[|]|]; try specialize (D _ eq_refl);
      destruct (same F xs ys) as [[|]|] eqn:Es; try discriminate; injection H as <-; try (specialize (IH _ _ _ _ Hv Hw Es); cbn in IH);
      destruct (Z.eqb_spec zx zy); cbv iota; congruence.
Qed.
Lemma meets_ok N r a F : hold N r a F -> forall xs ys v w o, evs N r a xs v -> evs N r a ys w -> meets F xs ys = Some o ->
  match o with None => v = w | Some c => evt N r a c (VB (if list_eq_dec Z.eq_dec v w then true else false)) end.
Proof.
  intros HF. induction xs as [|x xs IH]; intros [|y ys] v w o Hv Hw H; try discriminate; cbn [meets] in H.
  - injection H as <-. apply evs_nil_inv in Hv, Hw. congruence.
  - apply evs_inv in Hv as (zx & v' & -> & Hx & Hv). apply evs_inv in Hw as (zy & w' & -> & Hy & Hw).
    destruct (decide F (Op Ieq [x; y])) as [[|]|] eqn:Ed.
    + assert (K := decide_ok scalar lit prim inp r a F (HF r a (ext_refl _ _ _ _)) _ _ Ed).
      change (VB (Inequalities.zv scalar lit prim inp r a x =? Inequalities.zv scalar lit prim inp r a y)%Z = @VB scalar true) in K.
      rewrite (Hx r a (ext_refl _ _ _ _)), (Hy r a (ext_refl _ _ _ _)) in K. assert (zx = zy) by (apply Z.eqb_eq; congruence). subst zy.
      specialize (IH _ _ _ _ Hv Hw H). destruct o as [c|]; [|congruence].
      destruct (list_eq_dec Z.eq_dec v' w'), (list_eq_dec Z.eq_dec (zx :: v') (zx :: w')); try exact IH; congruence.
    + discriminate.
    + destruct (meets F xs ys) as [[c|]|] eqn:Em; try discriminate. specialize (IH _ _ _ _ Hv Hw Em). cbn in IH. subst w'.
      match type of H with Some ?X = _ => assert (J : o = X) by congruence; clear H; subst o end.
      cbv iota. intros r' a' E'. rewrite mk_ok by auto.
      match goal with |- eval _ _ _ _ (Op Ieq [?x; ?y]) _ _ = _ =>
        change (VB (Inequalities.zv scalar lit prim inp r' a' x =? Inequalities.zv scalar lit prim inp r' a' y)%Z = @VB scalar (if list_eq_dec Z.eq_dec (zx :: v') (zy :: v') then true else false)) end.
      rewrite (Hx r' a' E'), (Hy r' a' E'). f_equal. destruct (Z.eqb_spec zx zy), (list_eq_dec Z.eq_dec (zx :: v') (zy :: v')); congruence.
Qed.
End Sound.
