(* Soundness of symbolic execution, continued: loops, and all commands. *)
From Coq Require Import ZArith List String Bool Lia Arith Permutation.
From Lozenge Require Import Syntax Semantics Poly Norm Rep Source Target TargetSound.
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
Notation z := (zv scalar lit prim inp rs aenv0).
Notation ext := (ext scalar).
Notation evz := (evz scalar lit prim inp).
Notation evt := (evt scalar lit prim inp).
Notation evs := (evs scalar lit prim inp).
Notation hold := (hold scalar lit prim inp).
Notation vtab := (vtab scalar lit prim inp).
Notation vval := (vval scalar lit prim inp).
Notation vse := (vse scalar lit prim inp).
Notation vst := (vst scalar lit prim inp).
Notation ev := (Semantics.ev scalar lit prim).
Notation evzs := (Semantics.evz scalar lit prim).
Notation invz := (invz scalar lit prim inp rs).
Notation okcx := (okcx scalar lit prim inp ns).
Notation bound := (bound scalar lit prim inp).
Hypothesis Hbase : forall (s : store) r a, agree ns rs r -> holds scalar lit prim s r a base.
Hypothesis Hidx : bounded_ok scalar lit prim inp ns rs idx.
Notation sev := (sev idx).
Notation scond_ok := (scond_ok scalar lit prim inp ns rs idx Hidx).

Lemma vtab_ext N r a c d d' : vtab N r a c d -> (forall v, d v = d' v) -> vtab N r a c d'.
Proof. intros H E N1 r1 a1 F is v t L E1 HF Hs Hc. rewrite <- E. eapply H; eauto. Qed.

Lemma iterR_seq R is s s' : iterR scalar R is s s' -> exists sg : nat -> store, sg 0 = s /\ sg (List.length is) = s' /\
  forall k, k < List.length is -> R (nth k is 0) (sg k) (sg (S k)).
Proof.
  revert s. induction is as [|i is IH]; cbn; intros s H. { exists (fun _ => s). subst. repeat split; auto. lia. }
  destruct H as (s1 & H1 & H2). destruct (IH _ H2) as (sg & E0 & EL & Hk).
  exists (fun k => match k with O => s | S k => sg k end). repeat split; auto. intros [|k] L. { now rewrite E0. } apply Hk. lia.
Qed.

(* ---------- subscripts that stay ---------- *)
Lemma sub_ok N r a se io : vse N r a se io -> forall t, exists x, evt N r a (sub se t) x.
Proof.
  intros H t. exists (eval scalar lit prim inp (sub se t) r a). intros r' a' E. pattern t. apply tm_ind'; auto.
  - intros x. cbn [sub]. rewrite (H x r' a' E). symmetry. apply H. apply ext_refl.
  - intros o ts IH. cbn [sub Semantics.eval]. f_equal. rewrite !map_map. apply map_ext_in. intros y Hy. rewrite Forall_forall in IH. auto.
Qed.
Lemma sub_bound N r a se io cx n : vse N r a se io -> scoped ns cx n = true -> evz N r a (sub se n) (bound io n).
Proof.
  intros H Hn r' a' E. unfold Inequalities.zv, TargetSound.bound. unfold Inequalities.zv. f_equal. revert Hn. pattern n. apply tm_ind'; try (intros; discriminate); auto.
  - intros x Hts. cbn [sub]. now rewrite (H x r' a' E).
  - intros o ts IH Hts. cbn [scoped] in Hts. cbn [sub Semantics.eval]. assert (K : forallb (scoped ns cx) ts = true) by (destruct o; auto; discriminate).
    f_equal. rewrite map_map. apply map_ext_in. intros t Ht. rewrite Forall_forall in IH. rewrite forallb_forall in K. auto.
Qed.
Definition prel N r a (p : list (option tm)) (pz : list (option Z)) :=
  Forall2 (fun o oz => match o, oz with Some t, Some k => evz N r a t k | None, None => True | _, _ => False end) p pz.
Fixpoint fillz (p : list (option Z)) (ys : list Z) : list Z :=
  match p with [] => [] | Some t :: p => t :: fillz p ys | None :: p => hd 0%Z ys :: fillz p (tl ys) end.
Lemma prel_mono N r a p pz N' r' a' : prel N r a p pz -> N <= N' -> ext N r a r' a' -> prel N' r' a' p pz.
Proof. intros H L E. unfold prel in *. induction H; constructor; auto. destruct x, y; auto. eapply evz_mono; eauto. Qed.
Lemma pat_ok N r a se io k : vse N r a se io -> exists pz, prel N r a (pat se k) pz.
Proof.
  intros H. unfold pat. induction (snd k) as [|o p [pz IH]]. { exists []. constructor. }
  destruct o as [t|]; cbn [map option_map].
  - destruct (sub_ok N r a se io H t) as [x Hx]. exists (Some (toZ scalar x) :: pz). constructor; auto. apply evt_evz. auto.
  - exists (None :: pz). constructor; auto.
Qed.
Lemma fill_ok N r a p pz : prel N r a p pz -> forall ys w, evs N r a ys w -> evs N r a (fill p ys) (fillz pz w).
Proof.
  induction 1 as [|o oz p pz Ho Hp IH]; intros ys w Hw; cbn [fill fillz]. { apply evs_nil. }
  destruct o, oz; try contradiction.
  - cbn. apply evs_cons; auto.
  - destruct ys as [|y ys].
    + apply evs_nil_inv in Hw. subst. cbn. apply evs_cons; [intros ? ? ?; reflexivity|]. apply (IH [] []). apply evs_nil.
    + apply evs_inv in Hw as (zy & w' & -> & Hy & Hw). cbn. apply evs_cons; auto.
Qed.
Lemma unfill_ok N r a F p pz : hold N r a F -> prel N r a p pz -> forall is v js, evs N r a is v -> unfill F p is = Some js ->
  exists w, evs N r a js w /\ v = fillz pz w.
Proof.
  intros HF. induction 1 as [|o oz p pz Ho Hp IH]; intros is v js Hv H.
  - destruct is; [|discriminate]. injection H as <-. apply evs_nil_inv in Hv. subst. exists []. split; auto. apply evs_nil.
  - destruct is as [|i is]; [destruct o; discriminate|]. apply evs_inv in Hv as (zi & v' & -> & Hi & Hv).
    destruct o as [t|], oz as [k|]; try contradiction; cbn [unfill] in H.
    + destruct (peqb _ _) eqn:E; [|discriminate]. destruct (IH _ _ _ Hv H) as (w & Hw & ->). exists w. split; auto. cbn. f_equal.
      assert (HF0 := HF r a (ext_refl _ _ _ _)). apply (peqb_ok scalar lit prim inp r a) in E. rewrite !poly_of_ok in E by auto.
      rewrite (Ho r a (ext_refl _ _ _ _)), (Hi r a (ext_refl _ _ _ _)) in E. auto.
    + destruct (unfill F p is) as [js'|] eqn:E; [|discriminate]. injection H as <-. destruct (IH _ _ _ Hv E) as (w & Hw & ->).
      exists (zi :: w). split; [apply evs_cons; auto|reflexivity].
Qed.
Lemma find_car_ok w cs ks j k d : find_car w cs ks = Some (j, k) -> j < List.length ks /\ nth j ks d = k /\ fst k = (w, cs).
Proof.
  revert j. induction ks as [|k0 ks IH]; cbn; intros j H; [discriminate|]. destruct (slots_eqb (fst k0) (w, cs)) eqn:E.
  - injection H as <- <-. repeat split; [lia|]. unfold slots_eqb in E. cbn in E. apply andb_prop in E as [E1 E2]. apply Nat.eqb_eq in E1.
    assert (snd (fst k0) = cs). { revert E2. apply list_eqb_ok. clear. induction (snd (fst k0)); constructor; auto. intros y. apply eqb_prop. }
    rewrite <- E1, <- H. now destruct (fst k0).
  - destruct (find_car w cs ks) as [[j' k']|]; [|discriminate]. injection H as <- <-. destruct (IH _ eq_refl) as (A & B & C). repeat split; auto. lia.
Qed.
Section Loop.
Variables (cx : ctx) (sl : nat -> option slice) (par : bool) (x : nat) (n : tm) (c : cmd).
Hypothesis slice_of_ok : forall w s, sl w = Some s -> sclosed ns s = true /\ wcheck ns base ((x, n) :: cx) x s w c = true.
Variables (se : nat -> tm) (ss : sstore) (ks : list car).
Variable run : (nat -> tm) -> sstore -> sstore.
Hypothesis Hrun : forall N r a se ss io s s', ns <= N -> agree ns rs r -> agree ns rs io -> okcx io ((x, n) :: cx) -> exec c io s s' ->
  vse N r a se io -> vst N r a ss s -> vst N r a (run se ss) s'.
Hypothesis Hn : scoped ns cx n = true.
Hypothesis Hx : fresh ns x cx = true.
Hypothesis Hcl : forallb (forallb (closed ns)) (map (cext dim) ks) = true.
Variables (N0 : nat) (r0 : nat -> Z) (a0 : aenv) (io : nat -> Z) (s s' : store).
Hypothesis Hns : ns <= N0.
Hypothesis Hr0 : agree ns rs r0.
Hypothesis Hio : agree ns rs io.
Hypothesis Hcx : okcx io cx.
Hypothesis Hse : vse N0 r0 a0 se io.
Hypothesis Hss : vst N0 r0 a0 ss s.
Hypothesis Hex : exec (For par x n c) io s s'.

Lemma loop_ok : vst N0 r0 a0 (after idx dim sl par x (sub se n) c se ss ks run) s'.
Proof.
  destruct Hex as (is & Hp & Hit). destruct (iterR_seq _ _ _ _ Hit) as (sg & E0 & EL & Hk). clear Hit.
  set (L := List.length is) in *. set (iv := fun k => nth k is 0).
  assert (Zn : evzs s io n = bound io n). { apply (scoped_store scalar lit prim ns cx n Hn s inp). }
  rewrite Zn in Hp.
  assert (Hperm : Permutation (seq 0 (Z.to_nat (bound io n))) is). { destruct par; auto. now rewrite Hp. }
  assert (HL : L = Z.to_nat (bound io n)). { unfold L. rewrite <- (Permutation_length Hperm). apply seq_length. }
  assert (Hnd : NoDup is). { eapply Permutation_NoDup; [exact Hperm|apply seq_NoDup]. }
  assert (Hiv : forall k, k < L -> (0 <= Z.of_nat (iv k) < bound io n)%Z).
  { intros k Hk1. assert (K : List.In (iv k) (seq 0 (Z.to_nat (bound io n)))). { eapply Permutation_in; [apply Permutation_sym; exact Hperm|apply nth_In; auto]. }
    apply in_seq in K. lia. }
  assert (Hinj : forall j k, j < L -> k < L -> iv j = iv k -> j = k). { intros j k Hj Hk1 E. eapply NoDup_nth; eauto. }
  assert (Hsur : forall i, (0 <= i < bound io n)%Z -> exists k, k < L /\ Z.of_nat (iv k) = i).
  { intros i Hi. assert (K : List.In (Z.to_nat i) is). { eapply Permutation_in; [exact Hperm|]. apply in_seq. lia. }
    destruct (In_nth _ _ 0 K) as (k & Hk1 & Hk2). exists k. split; auto. unfold iv. rewrite Hk2. lia. }
  assert (Hseq : par = false -> forall k, k < L -> iv k = k).
  { intros Hpar k Hk1. rewrite Hpar in Hp. unfold iv. rewrite Hp, seq_nth; auto. lia. }
  assert (Hag : forall i, agree ns rs (upd io x i)). { intros i. eapply agree_fresh; eauto. }
  assert (Hok : forall k, k < L -> okcx (upd io x (Z.of_nat (iv k))) ((x, n) :: cx)). { intros k Hk1. apply okcx_cons; auto. }
  (* arrays that the loop does not write *)
  assert (Unw : forall w, mem w (written c) = false -> forall k, k <= L -> forall cs v, sg k w cs v = s w cs v).
  { intros w Hw. induction k as [|k IH]; intros Hk1 cs v. { now rewrite E0. }
    rewrite <- IH by lia. apply (unwritten scalar lit prim c w (mem_false _ _ Hw) _ _ _ (Hk k Hk1)). }
  (* slices of other iterations *)
  assert (Fr : forall w sl0, sl w = Some sl0 -> forall j k, j <= k -> k <= L -> forall cs v,
     (forall i, j <= i < k -> invz sl0 v <> Z.of_nat (iv i)) -> sg k w cs v = sg j w cs v).
  { intros w sl0 Hsl. apply slice_of_ok in Hsl as [S1 S2]. intros j k Hjk. induction Hjk as [|k Hjk IH]; intros Hk1 cs v Hne; auto.
    rewrite <- IH by (auto; try lia; intros; apply Hne; lia).
    refine (wcheck_ok scalar lit prim inp ns rs base Hbase c ((x, n) :: cx) x sl0 w S1 S2 _ (upd io x (Z.of_nat (iv k))) _ _ (Hag _) (Hok k Hk1) (Hk k Hk1) cs v _).
    - cbn. now rewrite Nat.eqb_refl.
    - unfold upd. rewrite Nat.eqb_refl. apply Hne. lia. }
  (* subscripts of accumulators that stay *)
  assert (Hpz : exists pz : nat -> list (option Z), forall j, prel N0 r0 a0 (pat se (nthcar ks j)) (pz j)).
  { assert (K : forall m, exists pz : nat -> list (option Z), forall j, j < m -> prel N0 r0 a0 (pat se (nthcar ks j)) (pz j)).
    { induction m as [|m [pz IH]]. { exists (fun _ => []). intros; lia. }
      destruct (pat_ok N0 r0 a0 se io (nthcar ks m) Hse) as [p Hp']. exists (fun j => if Nat.eqb j m then p else pz j).
      intros j Hj. destruct (Nat.eqb_spec j m); [now subst|]. apply IH. lia. }
    destruct (K (List.length ks)) as [pz Hpz]. exists (fun j => if Nat.ltb j (List.length ks) then pz j else []).
    intros j. destruct (Nat.ltb_spec j (List.length ks)); auto. unfold nthcar. rewrite nth_overflow by auto. constructor. }
  destruct Hpz as [pz Hpz].
  set (wj := fun j => fst (fst (nthcar ks j))). set (csj := fun j => snd (fst (nthcar ks j))).
  set (St := fun k j v => sg k (wj j) (csj j) (fillz (pz j) v)).
  (* contents at the start of an iteration *)
  assert (Start : forall k N r a e accs, k < L -> N0 <= N -> ext N0 r0 a0 r a -> evz N r a e (Z.of_nat (iv k)) ->
     (par = false -> forall j, j < List.length ks -> vtab N r a (accs j) (St k j)) ->
     vst N r a (start sl par c se ss ks e accs) (sg k)).
  { intros k N r a e accs Hk1 HN E He Ha w cs. unfold start. destruct (mem w (written c)) eqn:Hw; cbn [negb].
    2:{ eapply vtab_ext; [eapply vtab_mono; [apply Hss|exact HN|exact E]|]. intros v. symmetry. apply Unw; auto. lia. }
    destruct (sl w) as [sl0|] eqn:Hsl.
    - intros N1 r1 a1 F js v t HN1 E1 HF Hv Ht. destruct (peqb _ _) eqn:Eq; [|discriminate].
      assert (Eext : ext N0 r0 a0 r1 a1) by (eapply ext_trans; eauto).
      assert (Hr1 : agree ns rs r1). { intros y Hy. rewrite (ext_r _ _ _ _ _ _ Eext) by lia. auto. }
      assert (Hi : invz sl0 v = Z.of_nat (iv k)).
      { assert (HF0 := HF r1 a1 (ext_refl _ _ _ _)). apply (peqb_ok scalar lit prim inp r1 a1) in Eq. rewrite !poly_of_ok in Eq by auto.
        assert (K1 := inv_evz scalar lit prim inp ns rs sl0 N1 r1 a1 js v (proj1 (slice_of_ok _ _ Hsl)) ltac:(lia) Hr1 Hv r1 a1 (ext_refl _ _ _ _)).
        rewrite K1 in Eq. rewrite Eq. apply (evz_mono _ _ _ _ _ _ _ _ _ _ _ _ He HN1 E1). apply ext_refl. }
      rewrite (Fr w sl0 Hsl 0 k) by (try lia; intros i Hi2; rewrite Hi; intros C; apply Nat2Z.inj, Hinj in C; lia). rewrite E0.
      eapply (Hss w cs N1 r1 a1 F js v t); eauto. lia.
    - destruct par eqn:Hpar. { intros N1 r1 a1 F js v t HN1 E1 HF Hv Ht. discriminate. }
      intros N1 r1 a1 F js v t HN1 E1 HF Hv Ht. destruct (find_car w cs ks) as [[j car]|] eqn:Hc; [|discriminate].
      destruct (find_car_ok _ _ _ _ _ (0, [], []) Hc) as (Hj & Hcar & Hwc).
      destruct (unfill F (pat se car) js) as [js'|] eqn:Hu; [|discriminate]. cbn [bind] in Ht.
      assert (Hp1 : prel N1 r1 a1 (pat se car) (pz j)).
      { rewrite <- Hcar. eapply prel_mono; [apply Hpz|lia|]. eapply ext_trans; eauto. }
      destruct (unfill_ok N1 r1 a1 F _ _ HF Hp1 _ _ _ Hv Hu) as (w' & Hw' & ->).
      assert (K := Ha eq_refl j Hj N1 r1 a1 F js' w' t HN1 E1 HF Hw' Ht). unfold St, wj, csj, nthcar in K. rewrite Hcar, Hwc in K. exact K. }
  (* accumulators after k iterations *)
  assert (Fold : par = false -> forall k e j N r a, k <= L -> N0 <= N -> ext N0 r0 a0 r a -> (exists c, evz N r a e c /\ k = Z.to_nat c) -> j < List.length ks ->
     vtab N r a (folded dim sl par x c se ss ks run e j) (St k j)).
  { intros Hpar k e j N r a Hk1 HN E (ce & He & Hce) Hj N1 r1 a1 F js v t HN1 E1 HF Hv Ht.
    unfold folded in Ht.
    refine (fold_ok scalar lit prim inp ns N0 r0 a0 (map (cext dim) ks) _ _ St k Hns Hcl _ _ e N1 r1 a1 F js v t j _ _ HF Hv _ _ Ht).
    - intros k1 Hk2 N2 r2 a2 F2 is2 v2 t2 HN2 E2 HF2 Hs2 Ht2. unfold St. rewrite E0.
      eapply (Hss _ _ N2 r2 a2 F2 _ _ t2 HN2 E2 HF2); [|exact Ht2]. apply fill_ok; auto. eapply prel_mono; [apply Hpz|auto|auto].
    - intros i N2 r2 a2 k1 Hi HN2 E2 HrN Hk2 accs Hacc N3 r3 a3 F3 is3 v3 t3 HN3 E3 HF3 Hs3 Ht3.
      assert (Hr2 : agree ns rs r2). { intros y Hy. rewrite (ext_r _ _ _ _ _ _ E2) by lia. auto. }
      assert (E2' : ext N2 r2 a2 r2 a2) by apply ext_refl.
      assert (HVar : evz (S N2) r2 a2 (Var N2) (Z.of_nat (iv i))).
      { rewrite (Hseq Hpar) by lia. intros r4 a4 [E4 _]. unfold zv. cbn. rewrite E4 by lia. auto. }
      assert (V : vst (S N2) r2 a2 (run (upd se x (Var N2)) (start sl par c se ss ks (Var N2) accs)) (sg (S i))).
      { eapply Hrun; [lia|exact Hr2|apply (Hag (Z.of_nat (iv i)))|apply Hok; lia|apply Hk; unfold L in *; lia| |].
        - intros y. unfold upd. destruct (Nat.eqb x y).
          + intros r4 a4 E4. assert (K := HVar r4 a4 E4). unfold zv in K. cbn in *. congruence.
          + eapply evt_mono; [apply Hse|lia|exact E2].
        - apply Start; auto; [lia|]. intros _ j' Hj'. apply Hacc. now rewrite map_length. }
      unfold St. eapply (V _ _ N3 r3 a3 F3 _ _ t3 HN3 E3 HF3); [|exact Ht3].
      apply fill_ok; auto. eapply prel_mono; [apply Hpz|lia|]. eapply ext_trans; [exact E2| |exact E3]; lia.
    - lia.
    - eapply ext_trans; eauto.
    - now rewrite map_length.
    - exists ce. split; [eapply evz_mono; eauto|auto]. }
  (* afterwards *)
  intros w cs. unfold after. destruct (mem w (written c)) eqn:Hw; cbn [negb].
  2:{ eapply vtab_ext; [apply Hss|]. intros v. rewrite <- EL. symmetry. apply Unw; auto. }
  destruct (sl w) as [sl0|] eqn:Hsl.
  - intros N r a F js v t HN E HF Hv Ht. cbv zeta in Ht.
    assert (Hr1 : agree ns rs r). { intros y Hy. rewrite (ext_r _ _ _ _ _ _ E) by lia. auto. }
    set (e := nfz F (Op Iadd [inv_t sl0 js; Int 0])) in *.
    assert (Het : evt N r a e (VZ (invz sl0 v))).
    { intros r' a' E'. unfold e. rewrite nfz_ok by (auto; reflexivity).
      assert (K := inv_evz scalar lit prim inp ns rs sl0 N r a js v (proj1 (slice_of_ok _ _ Hsl)) ltac:(lia) Hr1 Hv r' a' E').
      change (VZ (zv scalar lit prim inp r' a' (inv_t sl0 js) + 0)%Z = @VZ scalar (invz sl0 v)). rewrite K. f_equal. lia. }
    assert (He : evz N r a e (invz sl0 v)) by (apply (evt_evz _ _ _ _ _ _ _ _ _ Het)).
    assert (Hen : evz N r a (sub se n) (bound io n)). { eapply evz_mono; [exact (sub_bound N0 r0 a0 se io cx n Hse Hn)|exact HN|exact E]. }
    (* elements that no iteration writes *)
    assert (Out : ~ (0 <= invz sl0 v < bound io n)%Z -> forall F' t', hold N r a F' -> ss w cs N F' js = Some t' -> evt N r a t' (s' w cs v)).
    { intros Ho F' t' HF' Ht'. rewrite <- EL. rewrite (Fr w sl0 Hsl 0 L) by (try lia; intros i Hi2 C; apply Ho; rewrite C; apply Hiv; lia).
      rewrite E0. eapply (Hss w cs N r a F' js v t'); eauto. }
    assert (C1 : evt N r a (mk F Ile [Int 0; e]) (VB (0 <=? invz sl0 v)%Z)).
    { intros r' a' E'. rewrite mk_ok by auto. cbn [Semantics.eval map apply nth]. rewrite (Het r' a' E'). reflexivity. }
    refine (eq_ind _ (evt N r a t) (scond_ok N r a F _ (VB (0 <=? invz sl0 v)%Z) _ _ (s' w cs v) (s' w cs v) t ltac:(lia) Hr1 HF C1 _ _ Ht) _ _).
    3:{ now destruct (truth scalar _). }
    2:{ cbn [truth]. intros F' t' HF' T Ht'. apply (Out ltac:(lia) F' t' HF' Ht'). }
    cbn [truth]. intros F1 t1 HF1 T1 Ht1. clear Ht t.
    assert (C2 : evt N r a (mk F1 Ilt [e; sub se n]) (VB (invz sl0 v <? bound io n)%Z)).
    { intros r' a' E'. rewrite mk_ok by auto. cbn [Semantics.eval map apply nth]. rewrite (Het r' a' E').
      assert (K := Hen r' a' E'). unfold zv in K. rewrite K. reflexivity. }
    refine (eq_ind _ (evt N r a t1) (scond_ok N r a F1 _ (VB (invz sl0 v <? bound io n)%Z) _ _ (s' w cs v) (s' w cs v) t1 ltac:(lia) Hr1 HF1 C2 _ _ Ht1) _ _).
    3:{ now destruct (truth scalar _). }
    2:{ cbn [truth]. intros F' t' HF' T Ht'. apply (Out ltac:(lia) F' t' HF' Ht'). }
    cbn [truth]. intros F2 t HF2 T2 Ht.
    assert (Hrng : (0 <= invz sl0 v < bound io n)%Z) by lia.
    destruct (Hsur _ Hrng) as (k & Hk1 & Hki). rewrite <- Hki in He, Het.
    assert (V : vst N r a (run (upd se x e) (start sl par c se ss ks e (folded dim sl par x c se ss ks run e))) (sg (S k))).
    { eapply Hrun; [lia|exact Hr1|apply (Hag (Z.of_nat (iv k)))|apply Hok; auto|apply Hk; auto| |].
      - intros y. unfold upd. destruct (Nat.eqb x y).
        + exact Het.
        + eapply evt_mono; [apply Hse|lia|exact E].
      - apply Start; auto. intros Hpar j Hj. apply Fold; auto; [lia|]. exists (Z.of_nat k). rewrite (Hseq Hpar) in He by auto. split; auto. lia. }
    rewrite <- EL. rewrite (Fr w sl0 Hsl (S k) L) by (auto; try lia; intros i Hi2; rewrite <- Hki; intros C; apply Nat2Z.inj, Hinj in C; lia).
    eapply (V w cs N r a F2 js v t); eauto. apply ext_refl.
  - destruct par eqn:Hpar. { intros N r a F js v t HN E HF Hv Ht. discriminate. }
    intros N r a F js v t HN E HF Hv Ht. destruct (find_car w cs ks) as [[j car]|] eqn:Hc; [|discriminate].
    destruct (find_car_ok _ _ _ _ _ (0, [], []) Hc) as (Hj & Hcar & Hwc).
    destruct (unfill F (pat se car) js) as [js'|] eqn:Hu; [|discriminate]. cbn [bind] in Ht.
    assert (Hp1 : prel N r a (pat se car) (pz j)). { rewrite <- Hcar. eapply prel_mono; [apply Hpz|auto|auto]. }
    destruct (unfill_ok N r a F _ _ HF Hp1 _ _ _ Hv Hu) as (w' & Hw' & ->).
    assert (Hen : evz N r a (sub se n) (bound io n)). { eapply evz_mono; [exact (sub_bound N0 r0 a0 se io cx n Hse Hn)|exact HN|exact E]. }
    assert (K := Fold eq_refl L (sub se n) j N r a (le_n L) HN E (ex_intro _ (bound io n) (conj Hen HL)) Hj N r a F js' w' t (le_n N) (ext_refl _ _ _ _) HF Hw' Ht).
    unfold St, wj, csj, nthcar in K. rewrite Hcar, Hwc, EL in K. exact K.
Qed.
End Loop.

Lemma vst_upd N r a ss s w c d : vst N r a ss s -> vval N r a c d -> vst N r a (upd ss w c) (upd s w d).
Proof. intros H Hc w1. unfold upd. destruct (Nat.eqb w w1); auto. Qed.
Lemma none_ok N r a d : vval N r a none d.
Proof. intros cs N1 r1 a1 F is v t _ _ _ _ H. discriminate. Qed.

(* Every execution of a command, in whatever order its parallel loops run, ends with what its symbolic execution says. *)
Theorem sx_ok c : forall cx p se ss N r a io s s', plan_ok ns base dim cx p c = true -> ns <= N -> agree ns rs r -> agree ns rs io -> okcx io cx -> exec c io s s' ->
  vse N r a se io -> vst N r a ss s -> vst N r a (sx idx dim p c se ss) s'.
Proof.
  induction c; intros cx p se ss N0 r0 a0 io s s' Hpl Hns Hr Hio Hcx He Hse Hss; cbn [sx]; cbn [plan_ok] in Hpl.
  - cbn in He. now subst.
  - destruct p as [|pa pb|]; try discriminate. apply andb_prop in Hpl as [P1 P2]. destruct He as (s1 & H1 & H2). eapply IHc2; eauto.
  - cbn in He. subst. intros w1. destruct (Nat.eqb_spec w w1) as [<-|Hw]; [|rewrite wr_array; auto].
    intros cs1 N r a F js v t HN E HF Hv Ht. unfold wr. rewrite Nat.eqb_refl.
    destruct (list_eqb Bool.eqb cs cs1) eqn:Ecs.
    + assert (cs = cs1). { revert Ecs. apply list_eqb_ok. clear. induction cs; constructor; auto. intros y. apply eqb_prop. } subst cs1.
      destruct (list_eq_dec bool_dec cs cs) as [_|]; [|congruence].
      destruct (mapM (sev se ss N F) is) as [is'|] eqn:Em; [|discriminate]. cbn [bind] in Ht.
      assert (Hr1 : agree ns rs r). { intros y Hy. rewrite (ext_r _ _ _ _ _ _ E) by lia. auto. }
      assert (Hi : evs N r a is' (map (evzs s io) is)) by (eapply mapM_sev with (N0 := N0); eauto; lia).
      cbv zeta in Ht. assert (HF0 := learn_ok scalar lit prim inp ns rs idx Hidx N r a F is' ltac:(lia) Hr1 HF). set (F0 := learn idx F is') in *. clearbody F0. clear HF Em F. rename F0 into F, HF0 into HF.
      destruct (same F is' js) as [[|]|] eqn:Es; try (assert (K := same_ok _ _ _ _ _ _ _ _ HF _ _ _ _ _ Hi Hv Es); cbv iota in K).
      * destruct (list_eq_dec Z.eq_dec _ v) as [_|]; [|congruence]. eapply sev_ok with (N0 := N0); eauto; lia.
      * destruct (list_eq_dec Z.eq_dec _ v) as [|_]; [congruence|]. eapply (Hss w cs N r a F js v t); eauto.
      * destruct (meets F is' js) as [[c|]|] eqn:Em2; try discriminate.
        assert (K := meets_ok scalar lit prim inp N r a F HF _ _ _ _ _ Hi Hv Em2). cbn in K.
        set (hit := list_eq_dec Z.eq_dec (map (evzs s io) is) v) in *.
        refine (eq_ind _ (evt N r a t) (scond_ok N r a F c (VB (if hit then true else false)) _ _ (ev s io e) (s w cs v) t ltac:(lia) Hr1 HF K _ _ Ht) _ _).
        -- intros F' t0 HF' _ H0. eapply sev_ok with (N0 := N0); eauto; lia.
        -- intros F' t0 HF' _ H0. eapply (Hss w cs N r a F' js v t0); eauto.
        -- destruct hit; reflexivity.
    + destruct (list_eq_dec bool_dec cs cs1) as [->|_].
      * exfalso. assert (list_eqb Bool.eqb cs1 cs1 = true); [|congruence]. clear. induction cs1; cbn; auto. now rewrite eqb_reflx.
      * eapply (Hss w cs1 N r a F js v t); eauto.
  - destruct He as (junk & He). intros w1. unfold upd at 1. destruct (Nat.eqb_spec w w1) as [<-|Hw]; [apply none_ok|].
    apply (IHc cx p se (upd ss w none) N0 r0 a0 io (upd s w junk) s' Hpl Hns Hr Hio Hcx He Hse).
    apply vst_upd; auto. apply none_ok.
  - destruct p as [| |sls ks p]; try discriminate. apply andb_prop in Hpl as [Hpl P5]. apply andb_prop in Hpl as [Hpl P4].
    apply andb_prop in Hpl as [Hpl P3]. apply andb_prop in Hpl as [P1 P2].
    apply loop_ok with (cx := cx) (N0 := N0) (r0 := r0) (a0 := a0) (io := io) (s := s); auto.
    + intros w sl Hs. unfold look_up in Hs. destruct (find _ sls) as [[w' sl']|] eqn:Ef; [|discriminate]. injection Hs as <-.
      apply find_some in Ef as [Hi Ew]. apply Nat.eqb_eq in Ew. cbn in Ew. subst w'. rewrite forallb_forall in P4.
      specialize (P4 _ Hi). now apply andb_prop in P4.
    + intros. eapply IHc; eauto.
  - destruct p as [|p1 p2|]; try discriminate. apply andb_prop in Hpl as [P1 P2]. intros w.
    match goal with |- vval _ _ _ (if ?b then _ else _) _ => destruct b eqn:Ew end.
    2:{ assert (W : ~ List.In w (written (If b c1 c2))).
        { cbn [written]. apply orb_false_elim in Ew as [W1 W2]. intros C. apply in_app_or in C as [C|C]; [apply (mem_false _ _ W1 C)|apply (mem_false _ _ W2 C)]. }
        intros cs. eapply vtab_ext; [apply Hss|]. intros v. symmetry. apply (unwritten scalar lit prim (If b c1 c2) w W io s s' He). }
    intros cs N r a F js v t HN E HF Hv Ht.
    destruct (sev se ss N F b) as [tb|] eqn:Etb; [|discriminate]. cbn [bind] in Ht.
    assert (Hr1 : agree ns rs r). { intros y Hy. rewrite (ext_r _ _ _ _ _ _ E) by lia. auto. }
    assert (Hb : evt N r a tb (ev s io b)) by (eapply sev_ok with (N0 := N0); eauto; lia). cbn in He.
    refine (eq_ind _ (evt N r a t) (scond_ok N r a F _ _ _ _ (s' w cs v) (s' w cs v) t ltac:(lia) Hr1 HF Hb _ _ Ht) _ _).
    3:{ now destruct (truth scalar _). }
    + intros F' t' HF' Tr Ht'. rewrite Tr in He. eapply (IHc1 cx p1 se ss N0 r0 a0 io s s'); eauto.
    + intros F' t' HF' Tr Ht'. rewrite Tr in He. eapply (IHc2 cx p2 se ss N0 r0 a0 io s s'); eauto.
Qed.
End Sound.
