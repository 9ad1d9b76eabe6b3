(* Accumulators that are updated in place, and the condition for it: every element is read before it is written (rule cgc.inplace).

   [update v (λo. c)] may then be [c] with [v] for [o], instead of going through a second temporary. Here [o] is at level [m], [v] at level [n]. The condition
   [may_overwrite] speaks of executions; that the look at subscripts (Overwrite.v) implies it is [look_sound]. What follows of it: the value ([inplace_ok]), bounds
   ([redirect_safe]); the discipline of races is in TranslationRaces.v. *)
From Coq Require Import Arith List Lia Bool Permutation.
From Lozenge Require Import Paths Phrases Overwrite Translation Represent.
Import ListNotations.

Local Arguments Nat.ltb : simpl never.
Section Subscripts.
Context {K : Scalars}.

(* ---------- what subscripts mean ---------- *)
Fixpoint means (rho : nat -> nat) (a : sym) (i : nat) : Prop :=
  match a with
  | SU => True | SL l => i = rho l | SN k => i = k
  | SMA a k b => exists x y, means rho a x /\ means rho b y /\ i = x * k + y
  end.
Fixpoint pmeans (rho : nat -> nat) (sp : spath) (p : path) : Prop :=
  match sp, p with
  | [], [] => True
  | TIx a :: sp, Ix i :: p => means rho a i /\ pmeans rho sp p
  | TLf :: sp, Lf :: p | TRg :: sp, Rg :: p => pmeans rho sp p
  | _, _ => False
  end.
Lemma svin_ok rho {d d'} (v : view d d') : forall sp p, pmeans rho sp p -> pmeans rho (svin v sp) (vin v p).
Proof.
  induction v; intros [|[a| |] sp] [|[i| |] p] Hp; try (destruct Hp; fail); try exact Hp; try (now split; [|apply Hp]);
    try (destruct sp as [|[b| |] sp], p as [|[j| |] p]; try (destruct Hp; fail); try (destruct (proj2 Hp); fail); cbn in *; tauto);
    try (destruct sp as [|[b| |] sp], p as [|[j| |] p]; try (destruct (proj2 Hp); fail); try exact Hp; destruct Hp as (H1 & H2 & H3); split; [exists i, j; auto|exact H3]; fail);
    try (destruct Hp as [H1 H2]; try exact H2; split; [exact H1|apply (IHv _ _ H2)]; fail).
Qed.
Lemma svout_ok rho {d d'} (v : view d d') : forall sp p, pmeans rho sp p -> pmeans rho (svout v sp) (vout v p).
Proof.
  induction v; intros [|[a| |] sp] [|[i| |] p] Hp; try (destruct Hp; fail); try exact Hp; try (now split; [|apply Hp]);
    try (destruct sp as [|[b| |] sp], p as [|[j| |] p]; try (destruct Hp; fail); try (destruct (proj2 Hp); fail); cbn in *; tauto);
    try (destruct sp as [|[b| |] sp], p as [|[j| |] p]; try (destruct (proj2 Hp); fail); try exact Hp; destruct Hp as (H1 & H2 & H3); split; [exists i, j; auto|exact H3]; fail);
    try (destruct Hp as [H1 H2]; try exact H2; split; [exact H1|apply (IHv _ _ H2)]; fail).
Qed.
Lemma spick_ok rho {a b d} (j : both a b d) sp p : pmeans rho sp p -> let (c, q) := bpick j p in exists sq, In (c, sq) (spick j sp) /\ pmeans rho sq q.
Proof.
  destruct j as [s1 t1|k s1 t1|k k' t1]; intros Hp.
  - destruct sp as [|[x| |] sp], p as [|[i| |] p]; cbn in *; try contradiction; (eexists; split; [left; reflexivity|tauto]).
  - destruct sp as [|[x| |] [|[y| |] sp]], p as [|[i| |] [|[i'| |] p]]; cbn in *; try tauto; (eexists; split; [left; reflexivity|cbn; tauto]).
  - destruct sp as [|[x| |] sp], p as [|[i| |] p]; cbn in *; try contradiction; try (eexists; split; [left; reflexivity|cbn; tauto]).
    destruct (i <? k); eexists; (split; [first [left; reflexivity|right; left; reflexivity]|cbn; tauto]).
Qed.
Lemma sput_ok rho {a b d} (j : both a b d) c sp p : pmeans rho sp p -> pmeans rho (sput j c sp) (bput j c p).
Proof. destruct j, c; destruct sp as [|[x| |] sp], p as [|[i| |] p]; cbn; tauto. Qed.

Lemma sloc_ok io a : forall sp p, pmeans io sp p -> fst (loc io a p) = fst (sloc a sp) /\ pmeans io (snd (sloc a sp)) (snd (loc io a p)).
Proof.
  induction a; cbn [loc sloc fst snd]; intros sp p Hp; auto.
  - apply IHa. cbn. auto.
  - apply IHa. now apply svout_ok.
  - apply IHa. now apply sput_ok.
Qed.
Lemma differ_ok test rho rho' (Q : Prop) : (forall a b i, test a b = true -> means rho a i -> means rho' b i -> Q) ->
  forall r w q, differ test r w = true -> pmeans rho r q -> pmeans rho' w q -> Q.
Proof.
  intros H. induction r as [|[a| |] r IH]; intros [|[b| |] w] [|[i| |] q]; cbn; try contradiction; try discriminate; eauto.
  intros E [H1 H2] [H3 H4]. apply orb_prop in E as [E|E]; eauto.
Qed.
Definition within (rho : nat -> nat) (bs : list (nat * nat)) := forall l k, In (l, k) bs -> rho l < k.
Lemma under_bound_ok rho bs a k i : under_bound bs a k = true -> within rho bs -> means rho a i -> i < k.
Proof.
  destruct a; cbn; try discriminate.
  - intros E H ->. apply existsb_exists in E as ([l' k'] & H1 & H2). cbn in H2. apply andb_prop in H2 as [H2 H3]. apply Nat.eqb_eq in H2. subst. apply Nat.leb_le in H3. specialize (H l k' H1). lia.
  - intros E _ ->. now apply Nat.ltb_lt.
Qed.
Lemma determine_ok l rs ws rho rho' : within rho rs -> within rho' ws -> forall a b i, determine l rs ws a b = true -> means rho a i -> means rho' b i -> rho l = rho' l.
Proof.
  intros Hr Hw. induction a as [|x|x|a IHa k y IHy]; intros [|x'|x'|b k' z] i; cbn; try discriminate.
  - intros E -> E'. apply andb_prop in E as [E1 E2]. apply Nat.eqb_eq in E1, E2. congruence.
  - intros E (x1 & y1 & A1 & A2 & ->) (x2 & y2 & B1 & B2 & E'). apply andb_prop in E as [E E3]. apply andb_prop in E as [E1 E2]. apply andb_prop in E2 as [E2 E2'].
    apply Nat.eqb_eq in E1. subst k'. assert (L1 := under_bound_ok _ _ _ _ _ E2 Hr A2). assert (L2 := under_bound_ok _ _ _ _ _ E2' Hw B2).
    assert (X : x1 = x2). { rewrite <- (dm1 k x1 y1 L1), <- (dm1 k x2 y2 L2). congruence. }
    assert (Y : y1 = y2). { rewrite <- (dm2 k x1 y1 L1), <- (dm2 k x2 y2 L2). congruence. }
    subst. apply orb_prop in E3 as [E3|E3]; eauto.
Qed.

(* ---------- accesses ---------- *)
Definition instance (io : ienv) (a : access) (q : path) : Prop :=
  exists rho, (forall l, (forall k, ~ In (l, k) (fst a)) -> rho l = io l) /\ within rho (fst a) /\ pmeans rho (snd a) q.
Definition some (io : ienv) (A : list access) (q : path) : Prop := exists a, In a A /\ instance io a q.
Lemma some_app io A B q : some io (A ++ B) q <-> some io A q \/ some io B q.
Proof. unfold some. split. intros (a & H & I). apply in_app_or in H as [H|H]; eauto. intros [(a & H & I)|(a & H & I)]; exists a; split; auto; apply in_or_app; auto. Qed.
Lemma fresh_in l a : fresh l a = true -> forall k, ~ In (l, k) (fst a).
Proof. unfold fresh. rewrite forallb_forall. intros H k Hi. specialize (H _ Hi). cbn in H. now rewrite Nat.eqb_refl in H. Qed.
Lemma some_inside io l k i A q : forallb (fresh l) A = true -> i < k -> some (upd io l i) A q -> some io (map (inside l k) A) q.
Proof.
  intros F Hi (a & Ha & rho & H1 & H2 & H3). rewrite forallb_forall in F. assert (E := H1 l (fresh_in l a (F a Ha))). rewrite upd_same in E.
  exists (inside l k a). split; [now apply in_map|]. exists rho. split; [|split; auto].
  - intros l' H. rewrite (H1 l'); [|intros k' C; apply (H k'); now right]. apply upd_other. intros <-. apply (H k). now left.
  - intros l' k' [C|C]; [injection C as <- <-; lia|now apply H2].
Qed.
Lemma some_pair io R q : some io (map (pair []) R) q <-> exists sp, In sp R /\ pmeans io sp q.
Proof.
  split.
  - intros (a & Ha & rho & H1 & H2 & H3). apply in_map_iff in Ha as (sp & <- & Hs). exists sp. split; auto. cbn in *.
    assert (E : forall a i, means rho a i -> means io a i).
    { induction a as [|x|x|a IHa k y IHy]; cbn; auto. { intros i ->. apply H1. auto. } intros i (x1 & y1 & A1 & A2 & ->). exists x1, y1. auto. }
    clear H1 H2 Hs. revert q H3. induction sp as [|[a| |] sp IH]; intros [|[i| |] q]; cbn; intuition auto.
  - intros (sp & Hs & Hq). exists ([], sp). split; [now apply in_map|]. exists io. split; auto. split; [intros l k []|exact Hq].
Qed.
(* Of two iterations, one does not write what the other reads. *)
Lemma loop_apart io l k i j R W q :
  every R W (fun r w => differ (determine l (fst (inside l k r)) (fst (inside l k w))) (snd r) (snd w)) = true -> forallb (fresh l) R = true -> forallb (fresh l) W = true ->
  i < k -> j < k -> some (upd io l i) R q -> some (upd io l j) W q -> i = j.
Proof.
  intros E FR FW Hi Hj (r & Hr & rho & R1 & R2 & R3) (w & Hw & rho' & W1 & W2 & W3). unfold every in E. rewrite forallb_forall in E. specialize (E r Hr).
  rewrite forallb_forall in E. specialize (E w Hw). rewrite forallb_forall in FR, FW.
  assert (Er := R1 l (fresh_in l r (FR r Hr))). assert (Ew := W1 l (fresh_in l w (FW w Hw))). rewrite upd_same in Er, Ew.
  rewrite <- Er, <- Ew. revert E R3 W3. apply differ_ok. apply determine_ok.
  - intros l' k' [C|C]; [injection C as <- <-; lia|now apply R2].
  - intros l' k' [C|C]; [injection C as <- <-; lia|now apply W2].
Qed.
Lemma seq_apart io R W q : every R W (fun r w => differ unequal (snd r) (snd w)) = true -> some io R q -> some io W q -> False.
Proof.
  intros E (r & Hr & rho & R1 & R2 & R3) (w & Hw & rho' & W1 & W2 & W3). unfold every in E. rewrite forallb_forall in E. specialize (E r Hr).
  rewrite forallb_forall in E. specialize (E w Hw). revert E R3 W3. apply differ_ok. intros [|?|i|? ? ?] [|?|j|? ? ?] at_; cbn; try discriminate.
  intros E -> ->. now rewrite Nat.eqb_refl in E.
Qed.
End Subscripts.

Section InPlace.
Context {K : Scalars}.

Lemma ev_reads (Q : nat -> path -> Prop) (s t : store) x : (forall l q, Q l q -> s l q = t l q) -> forall io p, reads Q io x p -> ev t io x p = ev s io x p.
Proof.
  intros E. assert (M : forall s io j, may_be io j (to_nat (ev s io j []))) by (intros s0 io [] ; cbn; auto; apply to_of_nat).
  induction x; cbn [reads ev]; intros io p H; auto.
  - symmetry. auto.
  - now rewrite IHx.
  - destruct H. now rewrite IHx1, IHx2.
  - now rewrite IHx.
  - destruct H as [H1 H2]. rewrite (IHx2 _ _ H1). auto.
  - destruct (bpick j p) as [[|] q]; auto.
  - destruct p as [|[i| |] p]; auto. destruct H as [H1 H2]. rewrite (IHx1 _ _ H1). auto.
  - destruct p as [|[i| |] p]; auto.
  - destruct H as (H1 & H2 & H3). rewrite (IHx1 _ _ H1). destruct (truth _); auto.
Qed.
Lemma inb_reads (Q : nat -> path -> Prop) Ds Dt (s t : store) x : (forall l q, Q l q -> s l q = t l q /\ Ds l = Dt l) ->
  forall io p, reads Q io x p -> inb Dt t io x p -> inb Ds s io x p.
Proof.
  intros E. assert (EV : forall x io p, reads Q io x p -> ev t io x p = ev s io x p) by (intros; eapply ev_reads; eauto; intros; now apply E).
  assert (M : forall s io j, may_be io j (to_nat (ev s io j []))) by (intros s0 io []; cbn; auto; apply to_of_nat).
  induction x; cbn [reads inb]; intros io p H I; auto.
  - destruct (E _ _ H) as [_ ->]. auto.
  - destruct H, I. auto.
  - destruct H as [H1 H2], I as [I1 I2]. split; auto. rewrite (EV _ _ _ H1) in I2. auto.
  - destruct (bpick j p) as [[|] q]; auto.
  - destruct p as [|[i| |] p]; auto. destruct H as [H1 H2], I as [I1 I2]. split; auto. rewrite (EV _ _ _ H1) in I2. auto.
  - destruct p as [|[i| |] p]; auto.
  - destruct H as (H1 & H2 & H3), I as [I1 I2]. split; auto. rewrite (EV _ _ _ H1) in I2. destruct (truth _); auto.
Qed.

Variables n m : nat.
Hypothesis Hnm : n <> m.
Notation redirect := (redirect n m). Notation to_v := (to_v n m). Notation look := (look n m). Notation sreads := (sreads n m).
Definition written := path -> Prop.
Fixpoint iterW {A} (R : nat -> A -> written -> A -> written -> Prop) (is : list nat) (s : A) (P : written) (s' : A) (P' : written) : Prop :=
  match is with [] => s' = s /\ P' = P | i :: is => exists s1 P1, R i s P s1 P1 /\ iterW R is s1 P1 s' P' end.
(* Executions of c[o := v] in which elements of [v] are read before they are written; [P]: those written so far. *)
Fixpoint in_time (c : comm) (io : ienv) (s : store) (P : written) (s' : store) (P' : written) : Prop :=
  let may l q := l <> m /\ (l = n -> ~ P q) in
  match c with
  | Skip => s' = s /\ P' = P
  | Seq a b => exists s1 P1, in_time a io s P s1 P1 /\ in_time b io s1 P1 s' P'
  | Assign a x => reads may io x [] /\
      let '(l, q) := loc io a [] in
      if Nat.eqb l m then s' = wr s (n, q) (ev s io x []) /\ P' = (fun p => P p \/ p = q)
      else l <> n /\ s' = wr s (l, q) (ev s io x []) /\ P' = P
  | New l _ c => l <> m /\ l <> n /\ exists junk, in_time c io (upd s l junk) P s' P'
  | For par l k c => exists is, order par k is /\ iterW (fun i => in_time c (upd io l i)) is s P s' P'
  | If x a b => reads may io x [] /\ (if truth (ev s io x []) then in_time a io s P s' P' else in_time b io s P s' P')
  | Index l k j c => reads may io j [] /\
      (if to_nat (ev s io j []) <? k then in_time c (upd io l (to_nat (ev s io j []))) s P s' P' else s' = s /\ P' = P)
  | Sum o z v w l k c => (v <> m /\ v <> n) /\ (w <> m /\ w <> n) /\ exists is s1 xs r, Permutation (seq 0 k) is /\
      iterW (fun i a P b P' => (exists junk, in_time c (upd io l i) (upd (fst a) w junk) P (fst b) P') /\ snd b = fst b w [] :: snd a) is (s, []) P (s1, xs) P' /\
      combined o z (s1 v [] :: xs) r /\ s' = wr s1 (v, []) r
  end.

Lemma loc_to_v io a : forall p, loc io (to_v a) p = (if Nat.eqb (fst (loc io a p)) m then n else fst (loc io a p), snd (loc io a p)).
Proof. induction a; cbn [Overwrite.to_v loc]; intros p; auto. Qed.

(* The execution in place beside one through the second temporary. *)
Record beside (P : written) (s t : store) : Prop := {
  b_other : forall l q, l <> n -> l <> m -> s l q = t l q;
  b_new : forall q, s n q = t m q;
  b_old : forall q, ~ P q -> s n q = t n q }.
Lemma may_same P s t : beside P s t -> forall l q, l <> m /\ (l = n -> ~ P q) -> s l q = t l q.
Proof. intros [H1 H2 H3] l q [Hm Hq]. destruct (Nat.eq_dec l n) as [->|Hl]; auto. Qed.
Lemma wr_at s l q v k p : wr s (l, q) v k p = if Nat.eqb l k then if path_dec q p then v else s k p else s k p.
Proof. reflexivity. Qed.
Lemma beside_new P s t l junk : l <> n -> l <> m -> beside P s t -> beside P (upd s l junk) (upd t l junk).
Proof.
  intros Hn Hm [B1 B2 B3]. split.
  - intros k q Hk Hk'. unfold upd. destruct (Nat.eqb l k); auto.
  - intros q. rewrite !upd_other by auto. auto.
  - intros q Hq. rewrite !upd_other by auto. auto.
Qed.
Lemma staged_beside c : forall io s P s' P', in_time c io s P s' P' -> forall t, beside P s t -> exists t', exec c io t t' /\ beside P' s' t'.
Proof.
  induction c; cbn [in_time exec]; intros io s P s' P' H t0 HB.
  - destruct H as [-> ->]. eauto.
  - destruct H as (s1 & P1 & H1 & H2). destruct (IHc1 _ _ _ _ _ H1 t0 HB) as (t1 & E1 & B1). destruct (IHc2 _ _ _ _ _ H2 t1 B1) as (t2 & E2 & B2). eauto.
  - destruct H as [HR H]. rewrite <- (ev_reads _ s t0 x (may_same P s t0 HB) io [] HR) in H. destruct (loc io a []) as [l q]. eexists. split; [reflexivity|].
    destruct HB as [B1 B2 B3]. destruct (Nat.eqb_spec l m) as [->|Hl].
    + destruct H as [-> ->]. split.
      * intros k p Hk Hk'. rewrite !wr_at. destruct (Nat.eqb_spec n k); [congruence|]. destruct (Nat.eqb_spec m k); [congruence|]. auto.
      * intros p. rewrite !wr_at, !Nat.eqb_refl. destruct (path_dec q p); auto.
      * intros p Hp. rewrite !wr_at, Nat.eqb_refl. destruct (Nat.eqb_spec m n); [congruence|]. destruct (path_dec q p) as [->|]; [exfalso; apply Hp; auto|]. auto.
    + destruct H as (Hn & -> & ->). split.
      * intros k p Hk Hk'. rewrite !wr_at. destruct (Nat.eqb l k); [destruct (path_dec q p)|]; auto.
      * intros p. rewrite !wr_at. destruct (Nat.eqb_spec l n); [congruence|]. destruct (Nat.eqb_spec l m); [congruence|]. auto.
      * intros p Hp. rewrite !wr_at. destruct (Nat.eqb_spec l n); [congruence|]. auto.
  - destruct H as (Hm & Hn & junk & H). destruct (IHc _ _ _ _ _ H (upd t0 l junk)) as (t1 & E1 & B1); [|eauto]. now apply beside_new.
  - destruct H as (is & Ho & H).
    assert (L : exists t', iterR (fun i => exec c (upd io l i)) is t0 t' /\ beside P' s' t').
    { clear Ho. revert s P t0 HB H. induction is as [|i is IH]; cbn; intros s P t0 HB H.
      - destruct H as [-> ->]. eauto.
      - destruct H as (s1 & P1 & H1 & H2). destruct (IHc _ _ _ _ _ H1 t0 HB) as (t1 & E1 & B1). destruct (IH s1 P1 t1 B1 H2) as (t2 & E2 & B2). eauto. }
    destruct L as (t' & E & B). eauto.
  - destruct H as [HR H]. rewrite (ev_reads _ s t0 x (may_same P s t0 HB) io [] HR). destruct (truth _); eauto.
  - destruct H as [HR H]. rewrite (ev_reads _ s t0 j (may_same P s t0 HB) io [] HR). destruct (_ <? m0); [eauto|]. destruct H as [-> ->]. eauto.
  - destruct H as ([Vm Vn] & [Wm Wn] & is & s1 & xs & r & Hp & H & Hc & ->).
    assert (L : exists t1, iterR (fun i a b => (exists junk, exec c (upd io l i) (upd (fst a) w junk) (fst b)) /\ snd b = fst b w [] :: snd a) is (t0, []) (t1, xs) /\ beside P' s1 t1).
    { clear Hp Hc. revert H. generalize (@nil number). revert s P t0 HB. induction is as [|i is IH]; cbn [iterR iterW]; intros s P t0 HB ys H.
      - destruct H as [E ->]. injection E as -> ->. eauto.
      - destruct H as ([s2 us] & P1 & [[junk H1] H2] & H3). cbn [fst snd] in *.
        destruct (IHc _ _ _ _ _ H1 (upd t0 w junk)) as (t1 & E1 & B1); [now apply beside_new|].
        destruct (IH s2 P1 t1 B1 us H3) as (t2 & E2 & B2). exists t2. split; auto. exists (t1, us). split; [|exact E2]. split; [eauto|]. cbn. rewrite H2. f_equal. now apply B1. }
    destruct L as (t1 & E & [B1 B2 B3]). exists (wr t1 (v, []) r). split.
    + exists is, t1, xs, r. rewrite <- (B1 v []) by auto. auto.
    + split.
      * intros k q Hk Hk'. rewrite !wr_at. destruct (Nat.eqb v k); [destruct (path_dec [] q)|]; auto.
      * intros q. rewrite !wr_at. destruct (Nat.eqb_spec v n); [congruence|]. destruct (Nat.eqb_spec v m); [congruence|]. auto.
      * intros q Hq. rewrite !wr_at. destruct (Nat.eqb_spec v n); [congruence|]. auto.
Qed.

(* ---------- the look is right ---------- *)
Definition spots (rho : nat -> nat) (L : list spath) : nat -> path -> Prop := fun l q => l <> m /\ (l = n -> exists sp, In sp L /\ pmeans rho sp q).
Lemma spots_more rho L L' : incl L L' -> forall l q, spots rho L l q -> spots rho L' l q.
Proof. intros H l q [H1 H2]. split; auto. intros E. destruct (H2 E) as (sp & H3 & H4). eauto. Qed.
Lemma oapp_some {A} (a b : option (list A)) L : oapp a b = Some L -> exists x y, a = Some x /\ b = Some y /\ L = x ++ y.
Proof. destruct a, b; cbn; try discriminate. intros E. injection E as <-. eauto. Qed.
Lemma fold_oapp {A B} (f : A -> option (list B)) cs L : fold_right (fun c => oapp (f c)) (Some []) cs = Some L -> forall c, In c cs -> exists L1, f c = Some L1 /\ incl L1 L.
Proof.
  revert L. induction cs as [|c0 cs IH]; cbn; intros L E c []; apply oapp_some in E as (x & y & E1 & E2 & ->).
  - subst. exists x. split; auto. apply incl_appl, incl_refl.
  - destruct (IH y E2 c H) as (L1 & F & I). exists L1. split; auto. now apply incl_appr.
Qed.
Lemma sreads_ok rho x : forall env io sp p L, (forall l, means rho (env l) (io l)) -> pmeans rho sp p -> sreads env x sp = Some L -> reads (spots rho L) io x p.
Proof.
  assert (UL : forall L1 L2 io x p, reads (spots rho L1) io x p -> reads (spots rho (L1 ++ L2)) io x p).
  { intros L1 L2 io y p. apply reads_mono, spots_more, incl_appl, incl_refl. }
  assert (UR : forall L1 L2 io x p, reads (spots rho L2) io x p -> reads (spots rho (L1 ++ L2)) io x p).
  { intros L1 L2 io y p. apply reads_mono, spots_more, incl_appr, incl_refl. }
  assert (IX : forall env io j i, (forall l, means rho (env l) (io l)) -> may_be io j i -> means rho (sindex env j) i).
  { intros env io j i He. destruct j; cbn; auto. intros ->. apply He. }
  induction x; cbn [Overwrite.sreads reads]; intros env io sp p L He Hp E; auto.
  - destruct (Nat.eqb_spec l m); [discriminate|]. injection E as <-. split; auto. intros ->. rewrite Nat.eqb_refl. exists sp. cbn. auto.
  - eapply IHx; eauto. exact I.
  - apply oapp_some in E as (x & y & E1 & E2 & ->). split; [eapply UL, IHx1|eapply UR, IHx2]; eauto; exact I.
  - eapply IHx; eauto. exact I.
  - apply oapp_some in E as (x & y & E1 & E2 & ->). split; [eapply UL, IHx2; eauto; exact I|]. intros i Hi. eapply UR, IHx1; [exact He| |exact E2]. cbn. eauto.
  - eapply IHx; [exact He| |exact E]. now apply svin_ok.
  - assert (S_ := spick_ok rho j sp p Hp). destruct (bpick j p) as [c q]. destruct S_ as (sq & Hin & Hq). destruct (fold_oapp _ _ _ E _ Hin) as (L1 & F & I1). cbn [fst snd] in F.
    destruct c; (eapply reads_mono; [apply spots_more; exact I1|]); eauto.
  - destruct p as [|[i| |] p]; auto. destruct sp as [|[a| |] sp]; cbn in Hp; try contradiction. destruct Hp as [Ha Hp].
    apply oapp_some in E as (x & y & E1 & E2 & ->). split; [eapply UL, IHx1; eauto; cbn; auto|]. intros k. eapply UR, IHx2; [exact He| |exact E2]. cbn. auto.
  - destruct p as [|[i| |] p]; auto. destruct sp as [|[a| |] sp]; cbn in Hp; try contradiction. destruct Hp as [Ha Hp].
    eapply IHx; [|exact Hp|exact E]. intros k. unfold upd. destruct (Nat.eqb l k); auto.
  - apply oapp_some in E as (x & y & E1 & E2 & ->). apply oapp_some in E2 as (y1 & y2 & E2 & E3 & ->).
    split; [eapply UL, IHx1; eauto; exact I|]. split; eapply UR; [eapply UL, IHx2|eapply UR, IHx3]; eauto.
Qed.
Definition clear_of (P : written) io R := forall q, some io R q -> ~ P q.
Definition at_most (P' P : written) io W := forall q, P' q -> P q \/ some io W q.
Lemma assign_may P io x R : sreads SL x [] = Some R -> clear_of P io (map (pair []) R) -> reads (fun l q => l <> m /\ (l = n -> ~ P q)) io x [].
Proof.
  intros E H. eapply reads_mono; [|eapply (sreads_ok io x SL io [] []); eauto; cbn; auto]. intros l q [H1 H2]. split; auto. intros Hl. apply H, some_pair. auto.
Qed.
Theorem look_sound c : forall R W, look c = Some (R, W) -> forall io s s' P, exec (redirect c) io s s' -> clear_of P io R ->
  exists P', in_time c io s P s' P' /\ at_most P' P io W.
Proof.
  induction c as [|c1 IHc1 c2 IHc2|a x|l d c IHc|par l k c IHc|x c1 IHc1 c2 IHc2|l k x c IHc|o z v w l k c IHc]; cbn [Overwrite.look]; intros R W E io s s' P H HC.
  - injection E as <- <-. cbn in H. exists P. split; [split; auto|]. intros q; auto.
  - destruct (look c1) as [[ra wa]|]; [|discriminate]. destruct (look c2) as [[rb wb]|]; [|discriminate].
    destruct (every rb wa _) eqn:EV; [|discriminate]. injection E as <- <-. destruct H as (s1 & H1 & H2).
    destruct (IHc1 _ _ eq_refl io s s1 P H1) as (P1 & T1 & M1). { intros q Hq. apply HC, some_app. auto. }
    destruct (IHc2 _ _ eq_refl io s1 s' P1 H2) as (P2 & T2 & M2).
    { intros q Hq C. apply M1 in C as [C|C]; [revert C; apply HC, some_app; auto|]. eapply seq_apart; eauto. }
    exists P2. split; [exists s1, P1; auto|]. intros q Hq. rewrite some_app. apply M2 in Hq as [Hq|Hq]; auto. apply M1 in Hq as [Hq|Hq]; auto.
  - destruct (sreads SL x []) as [rx|] eqn:Ex; [|discriminate]. destruct (sloc_ok io a [] [] I) as [L1 L2]. destruct (sloc a []) as [l q]. cbn [fst snd] in L1, L2.
    destruct (Nat.eqb_spec l n) as [|Hl]; [discriminate|]. injection E as <- <-. assert (HR := assign_may P io x rx Ex HC).
    cbn [Overwrite.redirect exec] in H. rewrite loc_to_v in H. cbn [in_time]. destruct (loc io a []) as [l' q']. cbn [fst snd] in *. subst l'.
    destruct (Nat.eqb_spec l m) as [->|Hm].
    + exists (fun p => P p \/ p = q'). split; [auto|]. intros p [Hp| ->]; auto. right. apply (some_pair io [q]). exists q. cbn. auto.
    + exists P. split; [auto|]. intros p Hp. auto.
  - destruct (Nat.eqb_spec l n), (Nat.eqb_spec l m); cbn in E; try discriminate. destruct H as [junk H].
    destruct (IHc _ _ E io _ s' P H HC) as (P' & T & M). exists P'. split; auto. split; auto. split; auto. exists junk. exact T.
  - destruct (look c) as [[r w]|]; [|discriminate]. destruct (every r w _ && _) eqn:EV; [|discriminate]. injection E as <- <-.
    apply andb_prop in EV as [EV F]. apply andb_prop in F as [FR FW]. destruct H as (is & Ho & H). destruct (order_in _ _ _ Ho) as [ND Hin].
    assert (L : forall is s P, NoDup is -> (forall i, In i is -> i < k) -> (forall i, In i is -> clear_of P (upd io l i) r) ->
      iterR (fun i => exec (redirect c) (upd io l i)) is s s' -> exists P', iterW (fun i => in_time c (upd io l i)) is s P s' P' /\
      forall q, P' q -> P q \/ some io (map (inside l k) w) q).
    { clear Ho H ND Hin is s P HC. induction is as [|i is IH]; cbn [iterR iterW]; intros s P ND Hk HC H.
      - exists P. auto.
      - destruct H as (s1 & H1 & H2). inversion_clear ND as [|? ? Hi ND'].
        destruct (IHc _ _ eq_refl (upd io l i) s s1 P H1) as (P1 & T1 & M1); [apply HC; now left|].
        destruct (IH s1 P1 ND') as (P2 & T2 & M2); [intros; apply Hk; now right| |exact H2|].
        + intros j Hj q Hq C. apply M1 in C as [C|C]; [revert C; apply (HC j); auto; now right|].
          assert (j = i) by (eapply (loop_apart io l k j i r w q); eauto; apply Hk; [now right|now left]). subst. contradiction.
        + exists P2. split; [exists s1, P1; auto|]. intros q Hq. apply M2 in Hq as [Hq|Hq]; auto. apply M1 in Hq as [Hq|Hq]; auto.
          right. apply (some_inside io l k i); auto. apply Hk. now left. }
    destruct (L is s P ND) as (P' & T & M); auto.
    + intros i Hi. now apply Hin.
    + intros i Hi q Hq. apply HC. apply (some_inside io l k i); auto. now apply Hin.
    + exists P'. split; auto. exists is. auto.
  - destruct (sreads SL x []) as [rx|] eqn:Ex; [|discriminate]. destruct (look c1) as [[ra wa]|]; [|discriminate]. destruct (look c2) as [[rb wb]|]; [|discriminate]. injection E as <- <-.
    assert (HR := assign_may P io x rx Ex (fun q Hq => HC q (proj2 (some_app _ _ _ _) (or_introl Hq)))). cbn [Overwrite.redirect exec in_time] in *. destruct (truth _).
    + destruct (IHc1 _ _ eq_refl io s s' P H) as (P' & T & M). { intros q Hq. apply HC, some_app. right. apply some_app. auto. }
      exists P'. split; auto. intros q Hq. rewrite some_app. apply M in Hq as [Hq|Hq]; auto.
    + destruct (IHc2 _ _ eq_refl io s s' P H) as (P' & T & M). { intros q Hq. apply HC, some_app. right. apply some_app. auto. }
      exists P'. split; auto. intros q Hq. rewrite some_app. apply M in Hq as [Hq|Hq]; auto.
  - destruct (sreads SL x []) as [rx|] eqn:Ex; [|discriminate]. destruct (look c) as [[r w]|]; [|discriminate]. destruct (forallb _ r && _) eqn:F; [|discriminate]. injection E as <- <-.
    apply andb_prop in F as [FR FW]. assert (HR := assign_may P io x rx Ex (fun q Hq => HC q (proj2 (some_app _ _ _ _) (or_introl Hq)))).
    cbn [Overwrite.redirect exec in_time] in *. destruct (Nat.ltb_spec (to_nat (ev s io x [])) k) as [Hi|_].
    + destruct (IHc _ _ eq_refl _ s s' P H) as (P' & T & M). { intros q Hq. apply HC, some_app. right. eapply some_inside; eauto. }
      exists P'. split; auto. intros q Hq. apply M in Hq as [Hq|Hq]; auto. right. eapply some_inside; eauto.
    + subst. exists P. split; auto. intros q; auto.
  - destruct (look c) as [[r x]|]; [|discriminate]. destruct (negb _ && _) eqn:EV; [|discriminate]. injection E as <- <-.
    apply andb_prop in EV as [NV EV]. apply andb_prop in EV as [EV F]. apply andb_prop in F as [FR FW].
    destruct (Nat.eqb_spec v n), (Nat.eqb_spec v m), (Nat.eqb_spec w n), (Nat.eqb_spec w m); try discriminate. clear NV.
    destruct H as (is & s1 & xs & r0 & Hp & H & Hc & ->). destruct (order_in true k is Hp) as [ND Hin].
    assert (L : forall is s ys P, NoDup is -> (forall i, In i is -> i < k) -> (forall i, In i is -> clear_of P (upd io l i) r) ->
      iterR (fun i a b => (exists junk, exec (redirect c) (upd io l i) (upd (fst a) w junk) (fst b)) /\ snd b = fst b w [] :: snd a) is (s, ys) (s1, xs) ->
      exists P', iterW (fun i a P b P' => (exists junk, in_time c (upd io l i) (upd (fst a) w junk) P (fst b) P') /\ snd b = fst b w [] :: snd a) is (s, ys) P (s1, xs) P' /\
      forall q, P' q -> P q \/ some io (map (inside l k) x) q).
    { clear Hp H ND Hin is s P HC Hc. induction is as [|i is IH]; cbn [iterR iterW]; intros s ys P ND Hk HC H.
      - exists P. auto.
      - destruct H as ([s2 us] & [[junk H1] H2] & H3). cbn [fst snd] in *. inversion_clear ND as [|? ? Hi ND'].
        destruct (IHc _ _ eq_refl (upd io l i) _ s2 P H1) as (P1 & T1 & M1); [apply HC; now left|].
        destruct (IH s2 us P1 ND') as (P2 & T2 & M2); [intros; apply Hk; now right| |exact H3|].
        + intros j Hj q Hq C. apply M1 in C as [C|C]; [revert C; apply (HC j); auto; now right|].
          assert (j = i) by (eapply (loop_apart io l k j i r x q); eauto; apply Hk; [now right|now left]). subst. contradiction.
        + exists P2. split; [exists (s2, us), P1; split; [split; [eauto|exact H2]|exact T2]|]. intros q Hq. apply M2 in Hq as [Hq|Hq]; auto. apply M1 in Hq as [Hq|Hq]; auto.
          right. apply (some_inside io l k i); auto. apply Hk. now left. }
    destruct (L is s [] P ND) as (P' & T & M); auto.
    + intros i Hi. now apply Hin.
    + intros i Hi q Hq. apply HC. apply (some_inside io l k i); auto. now apply Hin.
    + exists P'. split; auto. split; auto. split; auto. exists is, s1, xs, r0. auto.
Qed.

(* ---------- bounds ---------- *)
(* [Dt]: types of arrays where there is a second temporary *)
Definition types_beside (Ds Dt : nat -> data) := (forall l, l <> m -> Ds l = Dt l) /\ forall p, leaf (Dt m) p -> leaf (Ds n) p.
Theorem redirect_safe c : forall R W, look c = Some (R, W) -> forall Ds Dt io s t P, types_beside Ds Dt -> beside P s t -> clear_of P io R ->
  safe Dt c io t -> safe Ds (redirect c) io s.
Proof.
  assert (RD : forall P Ds Dt io s t x, types_beside Ds Dt -> beside P s t -> reads (fun l q => l <> m /\ (l = n -> ~ P q)) io x [] ->
    ev t io x [] = ev s io x [] /\ (inb Dt t io x [] -> inb Ds s io x [])).
  { intros P Ds Dt io s t x [HD _] HB HR. split; [exact (ev_reads _ s t x (may_same P s t HB) io [] HR)|].
    apply (inb_reads (fun l q => l <> m /\ (l = n -> ~ P q))); auto. intros l q Hq. split; [exact (may_same P s t HB l q Hq)|]. now apply HD. }
  induction c as [|c1 IHc1 c2 IHc2|a x|l d c IHc|par l k c IHc|x c1 IHc1 c2 IHc2|l k x c IHc|o z v w l k c IHc]; intros R W E Ds Dt io s t P HD HB HC H; assert (E0 := E); cbn [Overwrite.look] in E.
  - exact I.
  - destruct (look c1) as [[ra wa]|] eqn:K1; [|discriminate]. destruct (look c2) as [[rb wb]|] eqn:K2; [|discriminate].
    destruct (every rb wa _) eqn:EV; [|discriminate]. injection E as <- <-. destruct H as [H1 H2].
    assert (C1 : clear_of P io ra) by (intros q Hq; apply HC, some_app; auto). split; [eapply IHc1; eauto|]. intros s1 X.
    destruct (look_sound c1 _ _ K1 io s s1 P X C1) as (P1 & T1 & M1). destruct (staged_beside _ _ _ _ _ _ T1 t HB) as (t1 & X1 & B1).
    eapply IHc2; eauto. intros q Hq C. apply M1 in C as [C|C]; [revert C; apply HC, some_app; auto|]. eapply seq_apart; eauto.
  - destruct (sreads SL x []) as [rx|] eqn:Ex; [|discriminate]. destruct (sloc_ok io a [] [] I) as [L1 L2]. destruct (sloc a []) as [l q]. cbn [fst snd] in L1, L2.
    destruct (Nat.eqb_spec l n) as [|Hl]; [discriminate|]. injection E as <- <-. assert (HR := assign_may P io x rx Ex HC). destruct H as [H1 H2].
    destruct (RD P Ds Dt io s t x HD HB HR) as [_ IB]. cbn [Overwrite.redirect safe]. split; auto. rewrite loc_to_v. cbn [fst snd]. destruct HD as [D1 D2].
    destruct (Nat.eqb_spec (fst (loc io a [])) m) as [Em|Em]; [apply D2; rewrite <- Em; auto|rewrite D1; auto].
  - destruct (Nat.eqb_spec l n), (Nat.eqb_spec l m); cbn in E; try discriminate. intros junk. eapply (IHc _ _ E); [| |exact HC|apply (H junk)]; [|now apply beside_new].
    destruct HD as [D1 D2]. split; [|rewrite !upd_other by auto; exact D2]. intros l' Hl'. unfold upd. destruct (Nat.eqb l l'); auto.
  - destruct (look c) as [[r w]|] eqn:Kc; [|discriminate]. destruct (every r w _ && _) eqn:EV; [|discriminate]. injection E as <- <-.
    apply andb_prop in EV as [EV F]. apply andb_prop in F as [FR FW]. intros is Ho. specialize (H is Ho). destruct (order_in _ _ _ Ho) as [ND Hin].
    assert (Hk : forall i, In i is -> i < k) by (intros; now apply Hin).
    assert (CC : forall i, In i is -> clear_of P (upd io l i) r). { intros i Hi q Hq. apply HC. apply (some_inside io l k i); auto. }
    clear Ho Hin HC E0. revert s t P HB CC H. induction is as [|i is IH]; cbn [along]; intros s t P HB CC H; auto. destruct H as [H1 H2]. inversion_clear ND as [|? ? Hi ND'].
    split; [eapply IHc; eauto; apply CC; now left|]. intros s1 X.
    destruct (look_sound c _ _ Kc _ s s1 P X) as (P1 & T1 & M1); [apply CC; now left|]. destruct (staged_beside _ _ _ _ _ _ T1 t HB) as (t1 & X1 & B1).
    apply (IH ND') with (t := t1) (P := P1); auto; [intros; apply Hk; now right|].
    intros j Hj q Hq C. apply M1 in C as [C|C]; [revert C; apply (CC j); auto; now right|].
    assert (j = i) by (eapply (loop_apart io l k j i r w q); eauto; apply Hk; [now right|now left]). subst. contradiction.
  - destruct (sreads SL x []) as [rx|] eqn:Ex; [|discriminate]. destruct (look c1) as [[ra wa]|]; [|discriminate]. destruct (look c2) as [[rb wb]|]; [|discriminate]. injection E as <- <-.
    assert (HR := assign_may P io x rx Ex (fun q Hq => HC q (proj2 (some_app _ _ _ _) (or_introl Hq)))). destruct (RD P Ds Dt io s t x HD HB HR) as [EV IB].
    destruct H as [H1 H2]. split; auto. rewrite EV in H2. destruct (truth _).
    + eapply IHc1; eauto. intros q Hq. apply HC, some_app. right. apply some_app. auto.
    + eapply IHc2; eauto. intros q Hq. apply HC, some_app. right. apply some_app. auto.
  - destruct (sreads SL x []) as [rx|] eqn:Ex; [|discriminate]. destruct (look c) as [[r w]|] eqn:Kc; [|discriminate]. destruct (forallb _ r && _) eqn:F; [|discriminate]. injection E as <- <-.
    apply andb_prop in F as [FR FW]. assert (HR := assign_may P io x rx Ex (fun q Hq => HC q (proj2 (some_app _ _ _ _) (or_introl Hq)))).
    destruct (RD P Ds Dt io s t x HD HB HR) as [EV IB]. destruct H as (H1 & H2 & H3). rewrite EV in H2, H3. split; auto. split; auto.
    eapply IHc; eauto. intros q Hq. apply HC, some_app. right. eapply some_inside; eauto.
  - destruct (look c) as [[r x]|] eqn:Kc; [|discriminate]. destruct (negb _ && _) eqn:EV; [|discriminate]. injection E as <- <-.
    apply andb_prop in EV as [NV EV]. apply andb_prop in EV as [EV F]. apply andb_prop in F as [FR FW].
    destruct (Nat.eqb_spec v n), (Nat.eqb_spec v m), (Nat.eqb_spec w n), (Nat.eqb_spec w m); try discriminate. clear NV.
    destruct H as [H0 H]. split; [rewrite (proj1 HD) by auto; exact H0|]. intros is Hp. specialize (H is Hp). destruct (order_in true k is Hp) as [ND Hin].
    assert (Hk : forall i, In i is -> i < k) by (intros; now apply Hin).
    assert (CC : forall i, In i is -> clear_of P (upd io l i) r). { intros i Hi q Hq. apply HC. apply (some_inside io l k i); auto. }
    assert (HD' : types_beside (upd Ds w num) (upd Dt w num)).
    { destruct HD as [D1 D2]. split; [|rewrite !upd_other by auto; exact D2]. intros l' Hl'. unfold upd. destruct (Nat.eqb w l'); auto. }
    clear Hp Hin HC E0. revert s t P HB CC H. induction is as [|i is IH]; cbn [along]; intros s t P HB CC H; auto. destruct H as [H1 H2]. inversion_clear ND as [|? ? Hi ND'].
    split. { intros junk. eapply IHc; [reflexivity|exact HD'|apply beside_new; [auto|auto|exact HB]|apply CC; now left|apply H1]. } intros s1 [junk X].
    destruct (look_sound c _ _ Kc _ _ s1 P X) as (P1 & T1 & M1); [apply CC; now left|].
    destruct (staged_beside _ _ _ _ _ _ T1 (upd t w junk)) as (t1 & X1 & B1); [now apply beside_new|].
    apply (IH ND') with (t := t1) (P := P1); auto; [intros; apply Hk; now right| |apply H2; eauto].
    intros j Hj q Hq C. apply M1 in C as [C|C]; [revert C; apply (CC j); auto; now right|].
    assert (j = i) by (eapply (loop_apart io l k j i r x q); eauto; apply Hk; [now right|now left]). subst. contradiction.
Qed.
End InPlace.

(* ---------- updates ---------- *)
Section Update.
Context {K : Scalars}.
Definition nothing : written := fun _ => False.
(* [c] may write [v] (level [n]) for [o] (level [m]): whatever happens, elements of [v] are read before they are written. *)
Definition may_overwrite (n m : nat) (c : comm) : Prop :=
  forall io s s', exec (redirect n m c) io s s' -> exists P', in_time n m c io s nothing s' P'.
Theorem inplace_sound n m c : n <> m -> inplace n m c = true -> may_overwrite n m c.
Proof.
  unfold inplace. intros Hnm E io s s' H. destruct (look n m c) as [[R W]|] eqn:L; [|discriminate].
  destruct (look_sound n m c R W L io s s' nothing H) as (P' & T & _); [intros q _ []|eauto].
Qed.
Lemma beside_start n m s : n <> m -> beside n m nothing s (upd s m (s n)).
Proof.
  intros Hnm. split.
  - intros l q _ Hl. rewrite upd_other; auto.
  - intros q. now rewrite upd_same.
  - intros q _. rewrite upd_other; auto.
Qed.

Variables (t : data) (n m : nat) (io : ienv) (D : nat -> data) (s : store) (v : den t) (body : nat -> iacc -> comm).
Hypothesis Hnm : n < m.
(* as for [update_ok] *)
Hypothesis Hbody : forall k W D1 a s1 s2, m <= k -> wbelow k W -> (forall p, ~ W n p) -> (forall l p, l < m -> ~ W l p) -> agrees m D D1 -> same m s s1 -> accok k W D1 io a t ->
  exec (body k a) io s1 s2 -> wrote k io a t v s1 s2.
(* The update in place does what the one through a second temporary does. *)
Theorem inplace_ok s' : may_overwrite n m (body (S m) (AVar m)) -> exec (redirect n m (body (S m) (AVar m))) io s s' ->
  (forall p, leaf t p -> s' n p = sel t v p) /\ (forall l q, l < m -> ~ inreg io (AVar n) t l q -> s' l q = s l q).
Proof.
  intros HM H. destruct (HM io s s' H) as [P' HT].
  destruct (staged_beside n m ltac:(lia) _ _ _ _ _ _ HT _ (beside_start n m s ltac:(lia))) as (t' & E & [B1 B2 B3]).
  assert (W1 : wrote (S m) io (AVar m) t v (upd s m (s n)) t').
  { apply (Hbody (S m) (only m) (upd D m t)); auto using wbelow_only.
    - unfold only. intros p E1. lia.
    - unfold only. intros l p Hl E1. lia.
    - now apply agrees_upd.
    - now apply same_upd.
    - apply accok_var; [lia|apply upd_same|right; reflexivity]. }
  destruct W1 as [W1 W2]. split.
  - intros p Hp. rewrite B2. apply (W1 p Hp).
  - intros l q Hl Hne. destruct (Nat.eq_dec l n) as [->|Hn].
    + rewrite B2, W2; [now rewrite upd_same|lia|]. intros (p & Hp & E1). cbn in E1. injection E1 as <-. apply Hne. exists p. auto.
    + rewrite B1 by lia. rewrite W2; [rewrite upd_other; auto; lia|lia|]. apply inreg_other. lia.
Qed.
End Update.
