(* Executions that interleave do not get stuck and do not go on for ever: whatever has been read so far, and whatever memory holds now, a run can
   be finished; and there is a bound on the length of runs. *)
From Coq Require Import ZArith List String Bool Lia Arith.
From Lozenge Require Import Syntax Semantics Poly Norm Rep Target TargetSound Interleave Races Lazy.
Import ListNotations.

(* ---------- traces that can always be finished ---------- *)
Section Can.
Variable scalar : Type.
Notation val := (val scalar). Notation trace := (trace scalar). Notation memory := (memory scalar).
Notation good := (good scalar). Notation finally := (finally scalar). Notation shuffle := (shuffle scalar).
Definition runs := trace -> val -> Prop.
Record can (T : runs) : Prop := {
  start : forall m, exists tr x, T tr x /\ good m tr;
  finish : forall t1 t2 x, T (t1 ++ t2) x -> forall m, exists t2' x', T (t1 ++ t2') x' /\ good m t2' }.

Lemma can_ext (T T' : runs) : (forall tr x, T tr x <-> T' tr x) -> can T -> can T'.
Proof.
  intros E [H1 H2]. split.
  - intros m. destruct (H1 m) as (tr & x & H & G). exists tr, x. rewrite <- E. auto.
  - intros t1 t2 x H m. rewrite <- E in H. destruct (H2 t1 t2 x H m) as (t & y & K & G). exists t, y. rewrite <- E. auto.
Qed.
Lemma can_now v : can (fun tr x => tr = [] /\ x = v).
Proof.
  split.
  - intros m. exists [], v. cbn. auto.
  - intros t1 t2 x [H ->] m. exists [], v. apply app_eq_nil in H as [-> _]. cbn. auto.
Qed.
Lemma app_split {A} (a b c d : list A) : a ++ b = c ++ d -> (exists e, c = a ++ e /\ b = e ++ d) \/ (exists e, a = c ++ e /\ d = e ++ b).
Proof.
  revert c. induction a as [|x a IH]; intros [|y c] H; cbn in *.
  - left. exists []. auto.
  - left. exists (y :: c). auto.
  - right. exists (x :: a). auto.
  - injection H as -> H. destruct (IH c H) as [(e & -> & ->)|(e & -> & ->)]; [left|right]; exists e; auto.
Qed.
Lemma can_then (T : runs) (U : val -> runs) : can T -> (forall v, can (U v)) -> can (fun tr x => exists t1 v t2, tr = t1 ++ t2 /\ T t1 v /\ U v t2 x).
Proof.
  intros HT HU. split.
  - intros m. destruct (start T HT m) as (t1 & v & H1 & G1). destruct (start (U v) (HU v) (finally m t1)) as (t2 & x & H2 & G2).
    exists (t1 ++ t2), x. split; [exists t1, v, t2; auto|]. apply good_app. auto.
  - intros t t' x (t1 & v & t2 & E & H1 & H2) m. apply app_split in E as [(e & -> & ->)|(e & -> & ->)].
    + destruct (finish T HT t e v H1 m) as (e' & v' & H1' & G1). destruct (start (U v') (HU v') (finally m e')) as (t2' & x' & H2' & G2).
      exists (e' ++ t2'), x'. rewrite good_app. split; auto. exists (t ++ e'), v', t2'. rewrite app_assoc. auto.
    + destruct (finish (U v) (HU v) e t' x H2 m) as (e' & x' & H2' & G2). exists e', x'. split; auto.
      exists t1, v, (e ++ e'). rewrite app_assoc. auto.
Qed.
Lemma can_read p l : can (fun tr x => tr = [{| who := p; put := false; at_ := l; what := x |}]).
Proof.
  split.
  - intros m. eexists. exists (m l). split; [reflexivity|]. cbn. auto.
  - intros [|a t1] t2 x H m.
    + exists [{| who := p; put := false; at_ := l; what := m l |}], (m l). cbn. auto.
    + exists [], x. cbn in H. injection H as -> H. apply app_eq_nil in H as [-> _]. cbn. auto.
Qed.
Lemma can_write p l v : can (fun tr x => tr = [{| who := p; put := true; at_ := l; what := v |}] /\ x = v).
Proof.
  split.
  - intros m. do 2 eexists. split; [split; reflexivity|]. cbn. split; [discriminate|exact I].
  - intros [|a t1] t2 x [H ->] m.
    + eexists. exists v. split; [split; [|reflexivity]|]; [reflexivity|]. cbn. split; [discriminate|exact I].
    + exists [], v. cbn in H. injection H as -> H. apply app_eq_nil in H as [-> _]. cbn. auto.
Qed.

(* Several, each with its own trace. *)
Fixpoint many (Ps : list runs) (trs : list trace) (vs : list val) : Prop :=
  match Ps, trs, vs with [], [], [] => True | P :: Ps, t :: trs, v :: vs => P t v /\ many Ps trs vs | _, _, _ => False end.
Lemma many_start Ps : Forall can Ps -> forall m, exists trs vs, many Ps trs vs /\ good m (List.concat trs).
Proof.
  induction 1 as [|P Ps HP _ IH]; intros m. { exists [], []. cbn. auto. }
  destruct (start P HP m) as (t & v & H1 & G1). destruct (IH (finally m t)) as (trs & vs & H2 & G2).
  exists (t :: trs), (v :: vs). cbn. rewrite good_app. auto.
Qed.
Lemma shuffle_nil trs : Forall (fun t : trace => t = []) trs -> forall us tr, shuffle us tr -> shuffle (trs ++ us) tr.
Proof.
  intros H us tr S_. induction S_ as [us Hu|before a t behind tr _ IH].
  - constructor. apply Forall_app. auto.
  - rewrite app_assoc. constructor. now rewrite <- app_assoc.
Qed.
Lemma shuffle_in_turn trs : shuffle trs (List.concat trs).
Proof.
  induction trs as [|t trs IH]; [constructor; auto|]. cbn. induction t as [|a t IHt]; cbn.
  - apply (shuffle_nil [[]]); auto.
  - apply (shuffle_step _ [] a t trs). exact IHt.
Qed.
Notation joined ps := (map (fun p : trace * trace => fst p ++ snd p) ps).
Lemma shuffle_split t1 : forall trs t2, shuffle trs (t1 ++ t2) -> exists ps, trs = joined ps /\ shuffle (map fst ps) t1.
Proof.
  induction t1 as [|a t1 IH]; intros trs t2 H.
  - exists (map (fun t => ([], t)) trs). split; [|constructor].
    + rewrite map_map. cbn. symmetry. apply map_id.
    + rewrite map_map, Forall_map. apply Forall_forall. auto.
  - cbn in H. inversion H as [|before a' t behind tr H' E1 E2]. subst. destruct (IH _ _ H') as (ps & E & S_).
    symmetry in E. apply map_eq_app in E as (pb & pe & -> & E1 & E). apply map_eq_cons in E as ([u w] & pe' & -> & E2 & E3). cbn in E2. subst.
    exists (pb ++ (a :: u, w) :: pe'). rewrite !map_app in *. cbn in *. split; auto. constructor. exact S_.
Qed.
Lemma shuffle_join us t1 : shuffle us t1 -> forall ps t2, us = map fst ps -> shuffle (map snd ps) t2 -> shuffle (joined ps) (t1 ++ t2).
Proof.
  induction 1 as [us H|before a t behind tr H IH]; intros ps t2 E S_.
  - replace (joined ps) with (map snd ps); auto. subst. rewrite Forall_map in H. clear S_. induction H as [|p ps Hp _ IHp]; auto.
    cbn. rewrite Hp, IHp. reflexivity.
  - symmetry in E. apply map_eq_app in E as (pb & pe & -> & E1 & E). apply map_eq_cons in E as ([u w] & pe' & -> & E2 & E3). cbn in E2. subst.
    rewrite map_app. cbn. apply shuffle_step. assert (K := IH (pb ++ (t, w) :: pe') t2). rewrite !map_app in K. cbn in K. apply K; auto.
    rewrite map_app in S_. exact S_.
Qed.
Lemma many_finish Ps : Forall can Ps -> forall ps vs, many Ps (joined ps) vs -> forall m, exists qs vs', map fst qs = map fst ps /\
  many Ps (joined qs) vs' /\ good m (List.concat (map snd qs)).
Proof.
  induction 1 as [|P Ps HP _ IH]; intros [|p ps] [|v vs] H m; cbn in H; try contradiction. { exists [], []. cbn. auto. }
  destruct H as [H1 H2]. destruct (finish P HP _ _ _ H1 m) as (w & v' & H1' & G1). destruct (IH ps vs H2 (finally m w)) as (qs & vs' & E & H2' & G2).
  exists ((fst p, w) :: qs), (v' :: vs'). cbn. rewrite E, good_app. auto.
Qed.
(* At the same time, and then what depends on all. *)
Lemma can_many Ps (T : list val -> runs) : Forall can Ps -> (forall vs, can (T vs)) ->
  can (fun tr x => exists trs vs t1 t2, many Ps trs vs /\ shuffle trs t1 /\ tr = t1 ++ t2 /\ T vs t2 x).
Proof.
  intros H HT. split.
  - intros m. destruct (many_start Ps H m) as (trs & vs & K & G). destruct (start (T vs) (HT vs) (finally m (List.concat trs))) as (t2 & x & K2 & G2).
    exists (List.concat trs ++ t2), x. split; [|apply good_app; auto].
    exists trs, vs, (List.concat trs), t2. auto using shuffle_in_turn.
  - intros t1 t2 x (trs & vs & t & u & K & S_ & E & KT) m. apply app_split in E as [(e & -> & ->)|(e & -> & ->)].
    + apply shuffle_split in S_ as (ps & -> & S_). destruct (many_finish Ps H ps vs K m) as (qs & vs' & Eq & K' & G).
      destruct (start (T vs') (HT vs') (finally m (List.concat (map snd qs)))) as (u' & x' & KT' & G').
      exists (List.concat (map snd qs) ++ u'), x'. split; [|apply good_app; auto].
      exists (joined qs), vs', (t1 ++ List.concat (map snd qs)), u'. rewrite <- app_assoc. repeat split; auto.
      eapply shuffle_join; eauto. apply shuffle_in_turn.
    + destruct (finish (T vs) (HT vs) _ _ _ KT m) as (u' & x' & KT' & G'). exists u', x'. split; auto.
      exists trs, vs, t, (e ++ u'). rewrite app_assoc. auto.
Qed.
(* In turn. *)
Lemma can_turns Ps v : Forall can Ps -> can (fun tr x => (exists trs vs, many Ps trs vs /\ tr = List.concat trs) /\ x = v).
Proof.
  induction 1 as [|P Ps HP _ IH].
  - refine (can_ext _ _ _ (can_now v)). intros tr x. split.
    + intros [-> ->]. split; auto. exists [], []. cbn. auto.
    + intros [([|t trs] & [|? ?] & K & ->) ->]; cbn in *; try contradiction. auto.
  - refine (can_ext _ _ _ (can_then _ _ HP (fun _ => IH))). intros tr x. split.
    + intros (t1 & w & t2 & -> & H1 & (trs & vs & K & ->) & ->). split; auto. exists (t1 :: trs), (w :: vs). cbn. auto.
    + intros [([|t trs] & [|w vs] & K & ->) ->]; cbn in K; try contradiction. destruct K as [K1 K2]. cbn.
      exists t, w, (List.concat trs). repeat split; auto. exists trs, vs. auto.
Qed.
End Can.

(* ---------- loops ---------- *)
Section Progress.
Variable scalar : Type.
Variable lit : string -> val scalar.
Variable prim : string -> list (val scalar) -> val scalar.
Variable ns : nat.
Variable base : facts.
Notation fetch := (fetch scalar lit prim).
Notation run := (run scalar lit prim).
Notation can := (can scalar).

Lemma operands_many p rho io ts : forall trs vs, operands scalar (fetch p rho io) ts trs vs <-> many scalar (map (fetch p rho io) ts) trs vs.
Proof. induction ts as [|t ts IH]; intros [|r trs] [|v vs]; cbn; try tauto. rewrite IH. tauto. Qed.
Lemma fetch_can p rho io sc t : known sc t = true -> can (fetch p rho io t).
Proof.
  pattern t. apply tm_ind'; clear t; try discriminate.
  - intros y _. apply can_now.
  - intros y _. apply can_now.
  - intros y _. apply can_now.
  - intros o ts IH H. cbn [known] in H.
    assert (G : Forall can (map (fetch p rho io) ts)).
    { rewrite Forall_map. rewrite forallb_forall in H. rewrite Forall_forall in IH |- *. intros t Ht. apply (IH t Ht (H t Ht)). }
    assert (D : can (fun tr x => exists trs vs, operands scalar (fetch p rho io) ts trs vs /\ shuffle scalar trs tr /\ x = apply scalar prim o vs)).
    { refine (can_ext _ _ _ _ (can_many scalar _ (fun vs tr x => tr = [] /\ x = apply scalar prim o vs) G (fun vs => can_now scalar _))). intros tr x. split.
      - intros (trs & vs & t1 & t2 & K & S_ & -> & -> & ->). exists trs, vs. rewrite app_nil_r. rewrite operands_many. auto.
      - intros (trs & vs & K & S_ & ->). exists trs, vs, tr, []. rewrite app_nil_r, <- operands_many. auto. }
    destruct o; try exact D. destruct ts as [|c [|a [|b [|? ?]]]]; try exact D.
    cbn in G. inversion_clear G as [|? ? Gc G']; inversion_clear G' as [|? ? Ga G'']; inversion_clear G'' as [|? ? Gb _].
    refine (can_ext _ _ _ _ (can_then scalar _ (fun v => if truth scalar v then fetch p rho io a else fetch p rho io b) Gc _)).
    + intros tr x. split; intros (t1 & v & t2 & E & K1 & K2); exists t1, v, t2; (repeat split; auto; destruct (truth _ _); exact K2).
    + intros v. destruct (truth _ _); auto.
  - intros w cs is IH H. cbn [known] in H. apply andb_prop in H as [_ H].
    assert (G : Forall can (map (fetch p rho io) is)).
    { rewrite Forall_map. rewrite forallb_forall in H. rewrite Forall_forall in IH |- *. intros t Ht. apply (IH t Ht (H t Ht)). }
    refine (can_ext _ _ _ _ (can_many scalar _ (fun vs tr x => tr = [{| who := p; put := false; at_ := (rho w, cs, map (toZ scalar) vs); what := x |}]) G
      (fun vs => can_read scalar _ _))). intros tr x. split.
    + intros (trs & vs & t1 & t2 & K & S_ & -> & ->). exists trs, vs, t1. rewrite operands_many. auto.
    + intros (trs & vs & t1 & K & S_ & ->). do 4 eexists. rewrite <- operands_many. eauto.
Qed.

(* A run as one that has a value. *)
Definition done c p rho io : runs scalar := fun tr x => run c p rho io tr /\ x = VZ 0.
Lemma many_each (R : nat -> trace scalar -> Prop) k N trs vs :
  many scalar (map (fun i tr x => R i tr /\ x = VZ 0) (seq k N)) trs vs <->
  List.length trs = N /\ (forall i t, nth_error trs i = Some t -> R (k + i) t) /\ vs = repeat (VZ 0) N.
Proof.
  revert k trs vs. induction N as [|N IH]; intros k [|t trs] [|v vs]; cbn [seq map many repeat List.length]; try (split; [intros []|intros (A & B & C); discriminate]).
  - split; auto. intros _. repeat split; auto. intros [|?]; discriminate.
  - rewrite (IH (S k)). split.
    + intros [[H1 ->] (H2 & H3 & ->)]. repeat split; auto. intros [|i] u E; cbn in E.
      * injection E as <-. now rewrite Nat.add_0_r.
      * rewrite <- Nat.add_succ_comm. auto.
    + intros (H2 & H3 & E). injection E as -> ->. repeat split; auto.
      * specialize (H3 0 t eq_refl). now rewrite Nat.add_0_r in H3.
      * intros i u E. rewrite Nat.add_succ_comm. auto.
Qed.
Theorem run_can c : forall cx sc p rho io, apart ns base cx sc c = true -> can (done c p rho io).
Proof.
  induction c; cbn [apart]; intros cx sc p rho io H.
  - apply can_now.
  - apply andb_prop in H as [H1 H2]. refine (can_ext _ _ _ _ (can_then scalar _ (fun _ => done c2 (p ++ [After 1]) rho io) (IHc1 _ _ (p ++ [After 0]) rho io H1) (fun _ => IHc2 _ _ _ _ _ H2))).
    unfold done. cbn [Interleave.run]. intros tr x. split.
    + intros (t1 & v & t2 & -> & [K1 _] & K2 & ->). split; auto. exists t1, t2. auto.
    + intros [(t1 & t2 & -> & K1 & K2) ->]. exists t1, (VZ 0), t2. auto.
  - apply andb_prop in H as [H1 H2]. cbn [known] in H1. apply andb_prop in H1 as [_ H1].
    assert (G : Forall can (fetch p rho io e :: map (fetch p rho io) is)).
    { constructor; [eapply fetch_can; eauto|]. rewrite Forall_map. rewrite forallb_forall in H1. apply Forall_forall. intros t Ht. eapply fetch_can; eauto. }
    refine (can_ext _ _ _ _ (can_many scalar _ (fun vs tr x => exists t1 v t2, tr = t1 ++ t2 /\
      (t1 = [{| who := p; put := true; at_ := (rho w, cs, map (toZ scalar) (tl vs)); what := hd (VZ 0) vs |}] /\ v = hd (VZ 0) vs) /\ t2 = [] /\ x = VZ 0) G _)).
    2:{ intros vs. apply (can_then scalar _ (fun _ tr x => tr = [] /\ x = VZ 0) (can_write scalar _ _ _) (fun _ => can_now scalar _)). }
    unfold done. cbn [Interleave.run]. intros tr x. split.
    + intros (trs & vs & t1 & t2 & K & S_ & -> & u1 & v & u2 & -> & [-> _] & -> & ->). split; auto. rewrite app_nil_r.
      destruct trs as [|te trs], vs as [|y vs]; cbn in K; try contradiction. destruct K as [K1 K2]. exists trs, vs, te, y, t1. rewrite operands_many. auto.
    + intros [(trs & vs & te & y & t1 & K1 & K2 & S_ & ->) ->]. exists (te :: trs), (y :: vs), t1. eexists. cbn [many hd tl]. rewrite <- operands_many.
      split; [split; [exact K2|exact K1]|]. split; [exact S_|]. split; [reflexivity|]. do 3 eexists. split; [symmetry; apply app_nil_r|]. auto.
  - apply andb_prop in H as [H1 H2]. exact (IHc _ _ (p ++ [After 0]) (upd rho w (Made p w)) io H2).
  - apply andb_prop in H as [H _]. apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 _].
    set (R := fun i t => run c (p ++ [if par : bool then Beside i else After i]) rho (upd io x (Z.of_nat i)) t).
    assert (G : forall N, Forall can (map (fun i tr x => R i tr /\ x = VZ 0) (seq 0 N))).
    { intros N. rewrite Forall_map. apply Forall_forall. intros i _. eapply IHc; eauto. }
    assert (L : forall N, can (fun tr y => (exists trs, List.length trs = N /\ (forall i t, nth_error trs i = Some t -> R i t) /\
        (if par then shuffle scalar trs tr else tr = List.concat trs)) /\ y = VZ 0)).
    { intros N. destruct par.
      - refine (can_ext _ _ _ _ (can_many scalar _ (fun _ tr x => tr = [] /\ x = VZ 0) (G N) (fun _ => can_now scalar _))). intros tr y. split.
        + intros (trs & vs & t1 & t2 & K & S_ & -> & -> & ->). apply (many_each R) in K as (K1 & K2 & _). split; auto. rewrite app_nil_r. exists trs. auto.
        + intros [(trs & K1 & K2 & S_) ->]. exists trs, (repeat (VZ 0) N), tr, []. rewrite app_nil_r, (many_each R). auto.
      - refine (can_ext _ _ _ _ (can_turns scalar _ (VZ 0) (G N))). intros tr y. split.
        + intros [(trs & vs & K & ->) ->]. apply (many_each R) in K as (K1 & K2 & _). split; auto. exists trs. auto.
        + intros [(trs & K1 & K2 & ->) ->]. split; auto. exists trs, (repeat (VZ 0) N). rewrite (many_each R). auto. }
    refine (can_ext _ _ _ _ (can_then scalar _ _ (fetch_can p rho io [] n (scoped_pure ns cx n H1)) (fun v => L (Z.to_nat (toZ scalar v))))).
    unfold done. cbn [Interleave.run]. intros tr y. split.
    + intros (t1 & v & t2 & -> & K & (trs & K1 & K2 & K3) & ->). split; auto. exists t1, v, trs, t2. auto.
    + intros [(t1 & v & trs & t2 & -> & K & K1 & K2 & K3) ->]. exists t1, v, t2. repeat split; auto. exists trs. auto.
  - apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2].
    refine (can_ext _ _ _ _ (can_then scalar _ (fun v => if truth scalar v then done c1 (p ++ [After 0]) rho io else done c2 (p ++ [After 0]) rho io)
      (fetch_can p rho io sc b H1) _)).
    2:{ intros v. destruct (truth _ _); eauto. }
    unfold done. cbn [Interleave.run]. intros tr y. split.
    + intros (t1 & v & t2 & -> & K & R). destruct (truth _ _) eqn:E, R as [R ->]; (split; auto; exists t1, v, t2; rewrite E; auto).
    + intros [(t1 & v & t2 & -> & K & R) ->]. exists t1, v, t2. destruct (truth _ _); auto.
Qed.

(* ---------- runs are bounded ---------- *)
Lemma shuffle_length trs tr : shuffle scalar trs tr -> List.length tr = List.length (List.concat trs).
Proof.
  induction 1 as [trs H|before a t behind tr _ IH].
  - induction H as [|t trs -> _ IH]; cbn; auto.
  - cbn. rewrite IH, !concat_app, !app_length. cbn. rewrite !app_length. lia.
Qed.
Lemma concat_bound (B : nat) (trs : list (trace scalar)) : (forall i t, nth_error trs i = Some t -> List.length t <= B) -> List.length (List.concat trs) <= List.length trs * B.
Proof.
  induction trs as [|t trs IH]; intros H; cbn; auto. rewrite app_length. assert (List.length t <= B) by (apply (H 0); auto).
  assert (List.length (List.concat trs) <= List.length trs * B) by (apply IH; intros i u E; apply (H (S i)); auto). lia.
Qed.
Lemma operands_bound ts : Forall (fun t => exists B, forall p rho io tr x, fetch p rho io t tr x -> List.length tr <= B) ts ->
  exists B, forall p rho io trs vs, operands scalar (fetch p rho io) ts trs vs -> List.length (List.concat trs) <= B.
Proof.
  induction 1 as [|t ts [B HB] _ [C HC]].
  - exists 0. intros p rho io [|? ?] [|? ?]; cbn; try contradiction. auto.
  - exists (B + C). intros p rho io [|r trs] [|v vs]; cbn; try contradiction. intros [H1 H2]. rewrite app_length. apply HB in H1. apply HC in H2. lia.
Qed.
Lemma fetch_bound sc t : known sc t = true -> exists B, forall p rho io tr x, fetch p rho io t tr x -> List.length tr <= B.
Proof.
  pattern t. apply tm_ind'; clear t; try discriminate; try (intros y _; exists 0; intros p rho io tr x [-> _]; auto; fail).
  - intros o ts IH H. cbn [known] in H.
    assert (G : Forall (fun t => exists B, forall p rho io tr x, fetch p rho io t tr x -> List.length tr <= B) ts).
    { rewrite forallb_forall in H. rewrite Forall_forall in IH |- *. intros t Ht. apply (IH t Ht (H t Ht)). }
    destruct (operands_bound ts G) as [B HB].
    assert (D : exists B, forall c a b, ts = [c; a; b] -> forall p rho io t1 v t2 x, fetch p rho io c t1 v ->
      (if truth scalar v then fetch p rho io a t2 x else fetch p rho io b t2 x) -> List.length (t1 ++ t2) <= B).
    { destruct ts as [|c [|a [|b [|? ?]]]]; try (exists 0; discriminate).
      inversion_clear G as [|? ? [B1 G1] G']; inversion_clear G' as [|? ? [B2 G2] G'']; inversion_clear G'' as [|? ? [B3 G3] _].
      exists (B1 + B2 + B3). intros c' a' b' E. injection E as <- <- <-. intros p rho io t1 v t2 y K1 K2. rewrite app_length. apply G1 in K1.
      destruct (truth _ _); [apply G2 in K2|apply G3 in K2]; lia. }
    destruct D as [C HC]. exists (B + C). intros p rho io tr x K.
    apply fetch_op in K as [(c & a & b & t1 & v & t2 & _ & E & -> & K1 & K2)|(trs & vs & K & S_ & _)].
    + specialize (HC c a b E p rho io t1 v t2 x K1 K2). lia.
    + rewrite (shuffle_length _ _ S_). apply HB in K. lia.
  - intros w cs is IH H. cbn [known] in H. apply andb_prop in H as [_ H].
    destruct (operands_bound is) as [B HB]. { rewrite forallb_forall in H. rewrite Forall_forall in IH |- *. intros t Ht. apply (IH t Ht (H t Ht)). }
    exists (S B). intros p rho io tr x (trs & vs & t1 & K & S_ & ->). rewrite app_length, (shuffle_length _ _ S_). cbn. apply HB in K. lia.
Qed.
Theorem run_bound (inp : store scalar) c : forall cx sc io, apart ns base cx sc c = true ->
  exists B, forall p rho tr, run c p rho io tr -> List.length tr <= B.
Proof.
  induction c; cbn [apart]; intros cx sc io H.
  - exists 0. intros p rho tr K. cbn in K. subst. auto.
  - apply andb_prop in H as [H1 H2]. destruct (IHc1 _ _ io H1) as [B HB], (IHc2 _ _ io H2) as [C HC]. exists (B + C).
    intros p rho tr (t1 & t2 & -> & K1 & K2). rewrite app_length. apply HB in K1. apply HC in K2. lia.
  - apply andb_prop in H as [H1 H2]. cbn [known] in H1. apply andb_prop in H1 as [_ H1]. destruct (fetch_bound sc e H2) as [B HB].
    destruct (operands_bound is) as [C HC]. { rewrite forallb_forall in H1. apply Forall_forall. intros t Ht. eapply fetch_bound; eauto. }
    exists (S (B + C)). intros p rho tr (trs & vs & te & y & t1 & K1 & K2 & S_ & ->). rewrite app_length, (shuffle_length _ _ S_). cbn. rewrite app_length.
    apply HC in K1. apply HB in K2. lia.
  - apply andb_prop in H as [H1 H2]. destruct (IHc _ _ io H2) as [B HB]. exists B. intros p rho tr K. eapply HB; eauto.
  - apply andb_prop in H as [H _]. apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2].
    (* each of the iterations has a bound, and there are so many of them *)
    assert (E : forall N, exists B, forall i, i < N -> forall p rho tr, run c p rho (upd io x (Z.of_nat i)) tr -> List.length tr <= B).
    { induction N as [|N [B HB]]. { exists 0. intros; lia. } destruct (IHc _ _ (upd io x (Z.of_nat N)) H3) as [C HC]. exists (B + C).
      intros i Hi p rho tr K. destruct (Nat.eq_dec i N) as [->|]; [apply HC in K|apply HB in K]; lia. }
    set (N := Z.to_nat (bound scalar lit prim inp io n)). destruct (E N) as [B HB]. exists (N * B). intros p rho tr K.
    destruct (for_inv scalar lit prim inp ns cx par x n c p rho io tr H1 K) as (trs & HL & Ht & _ & Hi).
    replace (List.length tr) with (List.length (List.concat trs)). 2:{ destruct par; [symmetry; apply shuffle_length; auto|now subst]. }
    unfold N. rewrite <- HL. apply concat_bound. intros i t Et. destruct (Hi i t Et) as [L R]. eapply HB; [|exact R]. lia.
  - apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2]. destruct (fetch_bound sc b H1) as [B HB], (IHc1 _ _ io H2) as [C HC], (IHc2 _ _ io H3) as [D HD].
    exists (B + C + D). intros p rho tr (t1 & v & t2 & -> & K1 & K2). rewrite app_length. apply HB in K1.
    destruct (truth _ _); [apply HC in K2|apply HD in K2]; lia.
Qed.
End Progress.
