(* What follows of loops whose iterations keep to themselves (Races.v): no run of them has a race, whatever its reads find; and in each interleaving
   memory ends as in an execution of whole iterations, one after another. *)
From Coq Require Import ZArith List String Bool Lia Arith Permutation.
From Lozenge Require Import Syntax Semantics Poly Norm Rep Source Target TargetSound Interleave Races Lazy.
Import ListNotations.

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
Notation okcx := (okcx scalar lit prim inp ns).
Notation bound := (bound scalar lit prim inp).
Notation good := (good scalar).
Notation finally := (finally scalar).
Notation conflict := (conflict scalar).
Notation shows := (shows scalar).
Notation touches := (touches scalar).
Notation at_ := (at_ scalar). Notation put := (put scalar). Notation what := (what scalar). Notation who := (who scalar).

(* ---------- iterations do not touch each other ---------- *)
Lemma iterations_apart cx sc x n c p rho io trs :
  scoped ns cx n = true -> fresh ns x cx = true -> apart ns base ((x, n) :: cx) sc c = true ->
  forallb (sliced ns base ((x, n) :: cx) x c) (nodup Nat.eq_dec (shared c)) = true ->
  agree ns rs io -> okcx io cx -> inv p rho sc ->
  (forall i t, nth_error trs i = Some t -> (0 <= Z.of_nat i < bound io n)%Z /\ run c (p ++ [Beside i]) rho (upd io x (Z.of_nat i)) t) ->
  forall i j ti tj a b, i <> j -> nth_error trs i = Some ti -> nth_error trs j = Some tj -> List.In a ti -> List.In b tj -> ~ conflict a b.
Proof.
  intros Hn Hx Hap Hsl A Hcx Hinv Hruns i j ti tj a b Hij Ei Ej Ha Hb [Hat Hput].
  destruct (Hruns i ti Ei) as [Li Ri]. destruct (Hruns j tj Ej) as [Lj Rj].
  assert (Ag : forall k, agree ns rs (upd io x k)) by (intros; eapply agree_fresh; eauto).
  assert (Ta := run_touches scalar lit prim inp ns rs base c _ _ _ _ _ _ Hap (Ag _) Ri).
  assert (Tb := run_touches scalar lit prim inp ns rs base c _ _ _ _ _ _ Hap (Ag _) Rj).
  rewrite Forall_forall in Ta, Tb. destruct (Ta a Ha) as [_ Pa]. destruct (Tb b Hb) as [_ Pb]. clear Ta Tb.
  destruct Pa as [(w & cs & v & Ea & Hw & Wa)|(q & w & cs & v & Ea & Qa)], Pb as [(w' & cs' & v' & Eb & Hw' & Wb)|(q' & w' & cs' & v' & Eb & Qb)];
    rewrite Ea, Eb in Hat; injection Hat as E0 E1 E2.
  - apply (inj _ _ _ Hinv) in E0; auto. subst w' cs' v'.
    assert (Hsh : List.In w (nodup Nat.eq_dec (shared c))) by (apply nodup_In; tauto).
    rewrite forallb_forall in Hsl. specialize (Hsl w Hsh). unfold sliced in Hsl.
    destruct (find _ (writes c)) as [[[w0 cs0] is]|]; [|discriminate]. apply existsb_exists in Hsl as (sl & _ & Hsl). apply andb_prop in Hsl as [S1 S2].
    assert (M : forall k t e, (0 <= Z.of_nat k < bound io n)%Z -> run c (p ++ [Beside k]) rho (upd io x (Z.of_nat k)) t -> List.In e t -> at_ e = (rho w, cs, v) ->
      invz scalar lit prim inp rs sl v = Z.of_nat k).
    { intros k t e Hk Rk He Ee.
      assert (K : Forall (mine scalar lit prim inp rs x sl w rho (upd io x (Z.of_nat k))) t).
      { eapply (own_ok scalar lit prim inp ns rs base Hbase x sl w S1 c ((x, n) :: cx)); [exact Hap|exact S2|exact Hw| |apply Ag| |apply inv_in; exact Hinv|exact Rk].
        - cbn. rewrite Nat.eqb_refl. reflexivity.
        - apply okcx_cons; auto. }
      rewrite Forall_forall in K. rewrite (K e He cs v Ee). apply upd_at. }
    assert (D := M i ti a Li Ri Ha Ea). rewrite (M j tj b Lj Rj Hb Eb) in D. lia.
  - apply (old _ _ _ Hinv w q' w' Hw E0). eapply prefix_more; eauto.
  - apply (old _ _ _ Hinv w' q w Hw' (eq_sym E0)). eapply prefix_more; eauto.
  - subst q'. apply Hij. assert (E := prefix_same _ _ _ _ Qa Qb). congruence.
Qed.

(* ---------- no races ---------- *)
Lemma run_who c : forall cx sc p rho io tr, apart ns base cx sc c = true -> agree ns rs io -> run c p rho io tr -> forall a, List.In a tr -> prefix p (who a).
Proof.
  intros cx sc p rho io tr H A R a Ha. assert (K := run_touches scalar lit prim inp ns rs base c _ _ _ _ _ _ H A R).
  rewrite Forall_forall in K. apply (K a Ha).
Qed.
Lemma reads_at p rho sc t a : Forall (reads_of scalar p rho sc) t -> List.In a t -> who a = p.
Proof. intros H Ha. rewrite Forall_forall in H. apply (H a Ha). Qed.
Theorem no_race c : forall cx sc p rho io tr, apart ns base cx sc c = true -> agree ns rs io -> okcx io cx -> inv p rho sc -> run c p rho io tr ->
  ~ race scalar tr.
Proof.
  enough (G : forall cx sc p rho io tr, apart ns base cx sc c = true -> agree ns rs io -> okcx io cx -> inv p rho sc -> run c p rho io tr ->
    forall a b, List.In a tr -> List.In b tr -> concurrent (who a) (who b) -> ~ conflict a b).
  { intros cx sc p rho io tr H A Hcx Hinv R (a & b & Ha & Hb & Hc & Hf). exact (G cx sc p rho io tr H A Hcx Hinv R a b Ha Hb Hc Hf). }
  induction c as [|c1 IHc1 c2 IHc2|w cs is e|w c IHc|par x n c IHc|cond c1 IHc1 c2 IHc2]; cbn [apart]; intros cx sc p rho io tr H A Hcx Hinv Hr a b Ha Hb Hab.
  - cbn in Hr. subst. destruct Ha.
  - apply andb_prop in H as [H1 H2]. destruct Hr as (t1 & t2 & -> & R1 & R2).
    apply in_app_or in Ha. apply in_app_or in Hb. destruct Ha as [Ha|Ha], Hb as [Hb|Hb].
    + eapply (IHc1 cx sc (p ++ [After 0])); eauto using inv_in.
    + exfalso. apply (concurrent_after p 0 (After 1) (who a) (who b)); auto; [eapply (run_who c1); eauto|eapply (run_who c2); eauto|congruence].
    + exfalso. apply (concurrent_after p 1 (After 0) (who a) (who b)); auto; [eapply (run_who c2); eauto|eapply (run_who c1); eauto|congruence].
    + eapply (IHc2 cx sc (p ++ [After 1])); eauto using inv_in.
  - apply andb_prop in H as [H1 H2].
    destruct (assign_inv _ _ _ _ _ _ _ _ _ _ _ _ H1 H2 Hr) as (trs & vs & te & y & t1 & _ & _ & _ & -> & Q). exfalso.
    assert (W : forall f, List.In f (t1 ++ [{| Interleave.who := p; Interleave.put := true; Interleave.at_ := (rho w, cs, map (toZ scalar) vs); Interleave.what := y |}]) -> who f = p).
    { intros f He. apply in_app_or in He as [He|[<-|[]]]; [eapply reads_at; eauto|reflexivity]. }
    rewrite (W a Ha), (W b Hb) in Hab. revert Hab. apply concurrent_prefix, prefix_refl.
  - apply andb_prop in H as [H1 H2]. apply negb_true_iff in H1.
    eapply (IHc cx (w :: sc) (p ++ [After 0])); eauto using inv_local.
  - apply andb_prop in H as [H H4]. apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2].
    destruct (for_inv scalar lit prim inp ns cx par x n c p rho io tr H1 Hr) as (trs & _ & _ & Hin & Hi).
    apply Hin in Ha as (i & ti & Ei & Ha). apply Hin in Hb as (j & tj & Ej & Hb).
    destruct (Nat.eq_dec i j) as [<-|Hij].
    + rewrite Ei in Ej. injection Ej as <-. destruct (Hi i ti Ei) as [Li Ri].
      eapply (IHc ((x, n) :: cx) sc); [exact H3| | | |exact Ri|exact Ha|exact Hb|exact Hab].
      * eapply agree_fresh; eauto.
      * apply okcx_cons; auto.
      * apply inv_in; auto.
    + destruct par.
      * eapply (iterations_apart cx sc x n c p rho io trs); eauto.
      * exfalso. destruct (Hi i ti Ei) as [Li Ri], (Hi j tj Ej) as [Lj Rj].
        apply (concurrent_after p i (After j) (who a) (who b)); auto; [| |congruence].
        -- exact (run_who c _ _ _ _ _ _ H3 (agree_fresh _ _ _ _ _ _ A H2) Ri a Ha).
        -- exact (run_who c _ _ _ _ _ _ H3 (agree_fresh _ _ _ _ _ _ A H2) Rj b Hb).
  - apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2]. destruct Hr as (t0 & v & t1 & -> & Hf & Hr).
    assert (Q := fetch_at scalar lit prim p rho io sc cond H1 t0 v Hf).
    assert (P : forall e, List.In e t1 -> prefix p (who e)).
    { intros e He. destruct (truth _ _); eapply prefix_more; [eapply (run_who c1)|eapply (run_who c2)]; eauto. }
    apply in_app_or in Ha. apply in_app_or in Hb. destruct Ha as [Ha|Ha], Hb as [Hb|Hb].
    + exfalso. rewrite (reads_at _ _ _ _ _ Q Ha), (reads_at _ _ _ _ _ Q Hb) in Hab. revert Hab. apply concurrent_prefix, prefix_refl.
    + exfalso. rewrite (reads_at _ _ _ _ _ Q Ha) in Hab. revert Hab. apply concurrent_prefix. auto.
    + exfalso. rewrite (reads_at _ _ _ _ _ Q Hb) in Hab. apply concurrent_sym in Hab. revert Hab. apply concurrent_prefix. auto.
    + destruct (truth _ _); [eapply (IHc1 cx sc (p ++ [After 0]))|eapply (IHc2 cx sc (p ++ [After 0]))]; eauto using inv_in.
Qed.

(* ---------- every interleaving ends as whole iterations do ---------- *)
Lemma reads_quiet p rho sc tr : Forall (reads_of scalar p rho sc) tr -> quiet scalar tr.
Proof. apply Forall_impl. intros a (_ & H & _). exact H. Qed.
Lemma shows_same rho sc m m' s : same_memory scalar m m' -> shows rho sc m s -> shows rho sc m' s.
Proof. intros E H w Hw cs v. rewrite E. auto. Qed.
Lemma exec_of_run c : forall cx sc p rho io tr m s, apart ns base cx sc c = true -> agree ns rs io -> okcx io cx -> inv p rho sc -> run c p rho io tr ->
  good m tr -> shows rho sc m s -> exists s', exec c io s s' /\ shows rho sc (finally m tr) s'.
Proof.
  induction c; cbn [apart]; intros cx sc p rho io tr m s H A Hcx Hinv Hr Hg Hm.
  - cbn in Hr. subst. exists s. split; [reflexivity|exact Hm].
  - apply andb_prop in H as [H1 H2]. destruct Hr as (t1 & t2 & -> & R1 & R2). apply good_app in Hg as [G1 G2].
    destruct (IHc1 cx sc (p ++ [After 0]) rho io t1 m s) as (s1 & E1 & M1); auto using inv_in.
    destruct (IHc2 cx sc (p ++ [After 1]) rho io t2 (finally m t1) s1) as (s2 & E2 & M2); auto using inv_in.
    exists s2. rewrite finally_app. split; [exists s1; auto|exact M2].
  - apply andb_prop in H as [H1 H2].
    destruct (assign_inv _ _ _ _ _ _ _ _ _ _ _ _ H1 H2 Hr) as (trs & vs & te & x & t1 & Ho & He & Hs & -> & Q).
    apply reads_quiet in Q. apply good_app in Hg as [G1 _]. destruct (quiet_good scalar t1 Q m) as [F1 F2]. apply F2 in G1.
    assert (G := shuffle_forall_inv scalar _ _ _ Hs G1). inversion_clear G as [|? ? Ge Gs].
    cbn [known] in H1. apply andb_prop in H1 as [Hw Hi].
    assert (Ex := fetch_ev scalar lit prim p rho io sc m s e Hm H2 te x He Ge).
    assert (Ei := operands_ev scalar lit prim p rho io sc m s is Hm Hi trs vs Ho Gs). subst x vs.
    eexists. split; [reflexivity|]. rewrite finally_app, F1. intros w' Hw' cs' v'. cbn. unfold step. cbn.
    rewrite map_map. change (map (fun x => toZ scalar (ev s io x)) is) with (map (evz s io) is).
    unfold wr. destruct (location_dec (rho w, cs, map (evz s io) is) (rho w', cs', v')) as [E|E].
    + injection E as E0 E1 E2. apply (inj _ _ _ Hinv) in E0; auto using mem_in. subst. rewrite Nat.eqb_refl.
      destruct (list_eq_dec bool_dec cs' cs'); [|congruence]. destruct (list_eq_dec Z.eq_dec _ _); [reflexivity|congruence].
    + destruct (Nat.eqb_spec w w') as [->|]; [|apply Hm; auto]. destruct (list_eq_dec bool_dec cs cs') as [->|]; [|apply Hm; auto].
      destruct (list_eq_dec Z.eq_dec _ v') as [<-|]; [congruence|apply Hm; auto].
  - apply andb_prop in H as [H1 H2]. apply negb_true_iff in H1. set (junk := fun cs v => m (Made p w, cs, v)).
    destruct (IHc cx (w :: sc) (p ++ [After 0]) (upd rho w (Made p w)) io tr m (upd s w junk)) as (s1 & E1 & M1); auto using inv_local.
    { intros w' Hw' cs v. destruct (Nat.eq_dec w' w) as [->|Hne]; [now rewrite !upd_at|].
      rewrite !upd_out by auto. apply Hm. destruct Hw'; congruence. }
    exists s1. split; [exists junk; exact E1|]. intros w' Hw' cs v. rewrite M1 by now right.
    rewrite upd_out; [reflexivity|]. eapply out_of; eauto.
  - apply andb_prop in H as [H H4]. apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2].
    destruct (for_inv scalar lit prim inp ns cx par x n c p rho io tr H1 Hr) as (trs & HL & Ht & _ & Hi).
    assert (Zn : evz s io n = bound io n) by apply (scoped_store scalar lit prim ns cx n H1 s inp).
    assert (S_ : good m (List.concat trs) /\ same_memory scalar (finally m tr) (finally m (List.concat trs))).
    { destruct par; [|subst tr; split; [exact Hg|intros l; reflexivity]].
      apply shuffle_concat; auto. eapply (iterations_apart cx sc x n c p rho io trs); eauto. }
    destruct S_ as [Gc Sc]. clear Hg Ht Hr.
    assert (L : forall us k m s, shows rho sc m s -> good m (List.concat us) -> (forall i t, nth_error us i = Some t -> nth_error trs (k + i) = Some t) ->
      exists s', iterR scalar (fun i => exec c (upd io x (Z.of_nat i))) (seq k (List.length us)) s s' /\ shows rho sc (finally m (List.concat us)) s').
    { induction us as [|u us IH]; intros k m0 s0 Hm0 Hg0 Hu; cbn [List.concat List.length seq iterR].
      - exists s0. auto.
      - cbn [List.concat] in Hg0. apply good_app in Hg0 as [G1 G2].
        assert (Ek := Hu 0 u eq_refl). rewrite Nat.add_0_r in Ek. destruct (Hi k u Ek) as [Hlt R].
        destruct (IHc ((x, n) :: cx) sc _ rho _ u m0 s0 H3 (agree_fresh _ _ _ _ _ (Z.of_nat k) A H2) (okcx_cons scalar lit prim inp ns io cx x n (Z.of_nat k) Hcx H2 H1 Hlt) (inv_in _ _ _ _ Hinv) R G1 Hm0) as (s1 & E1 & M1).
        destruct (IH (S k) _ s1 M1 G2) as (s2 & E2 & M2). { intros i t Et. rewrite Nat.add_succ_comm. apply Hu. exact Et. }
        exists s2. split; [exists s1; auto|]. rewrite finally_app. exact M2. }
    destruct (L trs 0 m s Hm Gc ltac:(auto)) as (s' & E' & M'). exists s'. split.
    + exists (seq 0 (Z.to_nat (bound io n))). rewrite Zn. split; [destruct par; auto|]. rewrite <- HL. exact E'.
    + eapply shows_same; [|exact M']. intros l. symmetry. apply Sc.
  - apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2]. destruct Hr as (t0 & v & t1 & -> & Hf & Hr).
    apply good_app in Hg as [G1 G2]. assert (Q := reads_quiet _ _ _ _ (fetch_at scalar lit prim p rho io sc b H1 t0 v Hf)).
    destruct (quiet_good scalar t0 Q m) as [F1 F2]. apply F2 in G1. rewrite F1 in G2.
    rewrite (fetch_ev scalar lit prim p rho io sc m s b Hm H1 t0 v Hf G1) in Hr. cbn [exec].
    rewrite finally_app, F1. cbn [Semantics.exec]. destruct (truth _ _).
    + eapply (IHc1 cx sc (p ++ [After 0])); eauto using inv_in.
    + eapply (IHc2 cx sc (p ++ [After 0])); eauto using inv_in.
Qed.
End Sound.
