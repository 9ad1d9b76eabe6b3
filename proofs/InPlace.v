(* Accumulators that are updated in place, and the condition for it: every element is read before it is written (rule cgc.inplace).

   [update v (λo. c)] may then be [c] with [v] for [o], instead of going through a second temporary. Here [o] is at level [m], [v] at level [n]. The condition
   speaks of executions: that the compiler's look at subscripts implies it is no part of this. *)
From Coq Require Import Arith List Lia Bool Permutation.
From Lozenge Require Import Paths Phrases Translation Represent TranslationCorrect.
Import ListNotations.

Section InPlace.
Context {K : Scalars}.

(* All elements that an expression reads satisfy [Q]. *)
Fixpoint reads_only (Q : nat -> path -> Prop) (s : store) (io : ienv) (x : iexp) (p : path) : Prop :=
  match x with
  | IVar l => Q l p
  | ILoop _ | ILit _ | INat _ | IIota => True
  | IOp1 _ a | IMove _ a => reads_only Q s io a []
  | IOp2 _ a b => reads_only Q s io a [] /\ reads_only Q s io b []
  | IAt x j => reads_only Q s io j [] /\ reads_only Q s io x (Ix (to_nat (ev s io j [])) :: p)
  | IView v x => reads_only Q s io x (vin v p)
  | IBoth j x y => let (c, q) := bpick j p in if c : bool then reads_only Q s io y q else reads_only Q s io x q
  | IGather j x => match p with Ix i :: p => reads_only Q s io j [Ix i] /\ reads_only Q s io x (Ix (to_nat (ev s io j [Ix i])) :: p) | _ => True end
  | IGen l x => match p with Ix i :: p => reads_only Q s (upd io l i) x p | _ => True end
  | ISel c x y => reads_only Q s io c [] /\ (if truth (ev s io c []) then reads_only Q s io x p else reads_only Q s io y p)
  end.
Lemma ev_reads (Q : nat -> path -> Prop) (s t : store) x : (forall l q, Q l q -> s l q = t l q) -> forall io p, reads_only Q s io x p -> ev t io x p = ev s io x p.
Proof.
  intros E. induction x; cbn [reads_only ev]; intros io p H; auto.
  - symmetry. auto.
  - now rewrite IHx.
  - destruct H. now rewrite IHx1, IHx2.
  - now rewrite IHx.
  - destruct H as [H1 H2]. rewrite (IHx2 _ _ H1). auto.
  - destruct (bpick j p) as [[|] q]; auto.
  - destruct p as [|[i| |] p]; auto. destruct H as [H1 H2]. rewrite (IHx1 _ _ H1). auto.
  - destruct p as [|[i| |] p]; auto.
  - destruct H as [H1 H2]. rewrite (IHx1 _ _ H1). destruct (truth _); auto.
Qed.

Variables n m : nat.
Hypothesis Hnm : n <> m.
(* c[o := v] *)
Fixpoint to_v (a : iacc) : iacc :=
  match a with AVar l => AVar (if Nat.eqb l m then n else l) | AAt a l => AAt (to_v a) l | AView v a => AView v (to_v a) | APut j c a => APut j c (to_v a) end.
Fixpoint redirect (c : comm) : comm :=
  match c with
  | Skip => Skip | Seq a b => Seq (redirect a) (redirect b) | Assign a x => Assign (to_v a) x | New l d c => New l d (redirect c)
  | For par l k c => For par l k (redirect c) | If x a b => If x (redirect a) (redirect b) | Index l k j c => Index l k j (redirect c)
  | Sum o z v w l k c => Sum o z v w l k (redirect c)
  end.
Definition written := path -> Prop.
Fixpoint iterW (R : nat -> store -> written -> store -> written -> Prop) (is : list nat) (s : store) (P : written) (s' : store) (P' : written) : Prop :=
  match is with [] => s' = s /\ P' = P | i :: is => exists s1 P1, R i s P s1 P1 /\ iterW R is s1 P1 s' P' end.
(* Executions of c[o := v] in which elements of [v] are read before they are written; [P]: those written so far. *)
Fixpoint in_time (c : comm) (io : ienv) (s : store) (P : written) (s' : store) (P' : written) : Prop :=
  let may l q := l <> m /\ (l = n -> ~ P q) in
  match c with
  | Skip => s' = s /\ P' = P
  | Seq a b => exists s1 P1, in_time a io s P s1 P1 /\ in_time b io s1 P1 s' P'
  | Assign a x => reads_only may s io x [] /\
      let '(l, q) := loc io a [] in
      if Nat.eqb l m then s' = wr s (n, q) (ev s io x []) /\ P' = (fun p => P p \/ p = q)
      else l <> n /\ s' = wr s (l, q) (ev s io x []) /\ P' = P
  | New l _ c => l <> m /\ l <> n /\ exists junk, in_time c io (upd s l junk) P s' P'
  | For par l k c => exists is, order par k is /\ iterW (fun i => in_time c (upd io l i)) is s P s' P'
  | If x a b => reads_only may s io x [] /\ (if truth (ev s io x []) then in_time a io s P s' P' else in_time b io s P s' P')
  | Index l k j c => reads_only may s io j [] /\
      (if to_nat (ev s io j []) <? k then in_time c (upd io l (to_nat (ev s io j []))) s P s' P' else s' = s /\ P' = P)
  | Sum _ _ _ _ _ _ _ => False                 (* not looked into *)
  end.

Lemma loc_to_v io a : forall p, loc io (to_v a) p = (if Nat.eqb (fst (loc io a p)) m then n else fst (loc io a p), snd (loc io a p)).
Proof. induction a; cbn [to_v loc]; intros p; auto. Qed.
Lemma in_time_exec c : forall io s P s' P', in_time c io s P s' P' -> exec (redirect c) io s s'.
Proof.
  induction c; cbn [in_time redirect exec]; intros io s P s' P' H.
  - apply H.
  - destruct H as (s1 & P1 & H1 & H2). eauto.
  - destruct H as [_ H]. rewrite loc_to_v. destruct (loc io a []) as [l q]. cbn [fst snd]. destruct (Nat.eqb l m); [apply H|]. apply H.
  - destruct H as (_ & _ & junk & H). eauto.
  - destruct H as (is & Ho & H). exists is. split; auto. clear Ho. revert s P H. induction is as [|i is IH]; cbn; intros s P H; [apply H|].
    destruct H as (s1 & P1 & H1 & H2). exists s1. split; eauto.
  - destruct H as [_ H]. destruct (truth _); eauto.
  - destruct H as [_ H]. destruct (_ <? m0); [eauto|apply H].
  - destruct H.
Qed.

(* The execution in place beside one through the second temporary. *)
Record beside (P : written) (s t : store) : Prop := {
  b_other : forall l q, l <> n -> l <> m -> s l q = t l q;
  b_new : forall q, s n q = t m q;
  b_old : forall q, ~ P q -> s n q = t n q }.
Lemma may_same P s t : beside P s t -> forall l q, l <> m /\ (l = n -> ~ P q) -> s l q = t l q.
Proof. intros [H1 H2 H3] l q [Hm Hq]. destruct (Nat.eq_dec l n) as [->|Hl]; auto. Qed.
Lemma wr_at s l q v k p : wr s (l, q) v k p = if Nat.eqb l k then if path_dec q p then v else s k p else s k p.
Proof. reflexivity. Qed.
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
  - destruct H as (Hm & Hn & junk & H). destruct (IHc _ _ _ _ _ H (upd t0 l junk)) as (t1 & E1 & B1); [|eauto].
    destruct HB as [B1 B2 B3]. split.
    + intros k q Hk Hk'. unfold upd. destruct (Nat.eqb l k); auto.
    + intros q. rewrite !upd_other by auto. auto.
    + intros q Hq. rewrite !upd_other by auto. auto.
  - destruct H as (is & Ho & H).
    assert (L : exists t', iterR (fun i => exec c (upd io l i)) is t0 t' /\ beside P' s' t').
    { clear Ho. revert s P t0 HB H. induction is as [|i is IH]; cbn; intros s P t0 HB H.
      - destruct H as [-> ->]. eauto.
      - destruct H as (s1 & P1 & H1 & H2). destruct (IHc _ _ _ _ _ H1 t0 HB) as (t1 & E1 & B1). destruct (IH s1 P1 t1 B1 H2) as (t2 & E2 & B2). eauto. }
    destruct L as (t' & E & B). eauto.
  - destruct H as [HR H]. rewrite (ev_reads _ s t0 x (may_same P s t0 HB) io [] HR). destruct (truth _); eauto.
  - destruct H as [HR H]. rewrite (ev_reads _ s t0 j (may_same P s t0 HB) io [] HR). destruct (_ <? m0); [eauto|]. destruct H as [-> ->]. eauto.
  - destruct H.
Qed.
End InPlace.

(* ---------- updates ---------- *)
Section Update.
Context {K : Scalars}.
Definition nothing : written := fun _ => False.
(* [c] may write [v] (level [n]) for [o] (level [m]): whatever happens, elements of [v] are read before they are written. *)
Definition may_overwrite (n m : nat) (c : comm) : Prop :=
  forall io s s', exec (redirect n m c) io s s' -> exists P', in_time n m c io s nothing s' P'.

Variables (t : data) (n m : nat) (io : ienv) (D : nat -> data) (s : store) (b v : den t) (body : nat -> iacc -> comm).
Hypothesis Hnm : n < m.
Hypothesis HD : D n = t.
Hypothesis Hv : ok t v.
(* as for [update_ok] *)
Hypothesis Hbody : forall k W D1 a s1 s2, m <= k -> wbelow k W -> (forall p, ~ W n p) -> (forall l p, l < m -> ~ W l p) -> agrees m D D1 -> same m s s1 -> accok k W D1 io a t ->
  exec (body k a) io s1 s2 -> wrote k io a t v s1 s2.
Definition update_in_place : comm := redirect n m (body (S m) (AVar m)).
(* The update in place does what the one through a second temporary does. *)
Theorem inplace_ok s' : may_overwrite n m (body (S m) (AVar m)) -> exec update_in_place io s s' ->
  (forall p, leaf t p -> s' n p = sel t v p) /\ (forall l q, l < m -> l <> n -> s' l q = s l q).
Proof.
  intros HM H. destruct (HM io s s' H) as [P' HT].
  assert (B0 : beside n m nothing s (upd s m (s n))).
  { split.
    - intros l q _ Hl. rewrite upd_other; auto.
    - intros q. now rewrite upd_same.
    - intros q _. rewrite upd_other; auto. lia. }
  destruct (staged_beside n m ltac:(lia) _ _ _ _ _ _ HT _ B0) as (t' & E & [B1 B2 B3]).
  assert (W1 : wrote (S m) io (AVar m) t v (upd s m (s n)) t').
  { apply (Hbody (S m) (only m) (upd D m t)); auto using wbelow_only.
    - unfold only. intros p E1. lia.
    - unfold only. intros l p Hl E1. lia.
    - now apply agrees_upd.
    - now apply same_upd.
    - apply accok_var; [lia|apply upd_same|right; reflexivity]. }
  destruct W1 as [W1 W2]. split.
  - intros p Hp. rewrite B2. apply (W1 p Hp).
  - intros l q Hl Hne. rewrite B1 by lia. rewrite W2; [rewrite upd_other; auto; lia|lia|]. intros (p & _ & E1). cbn in E1. injection E1 as E1 _. lia.
Qed.
End Update.

(* ---------- reductions ---------- *)
Section Reductions.
Context {K : Scalars}.
(* reduceSeqI with its update in place *)
Definition reduceI_in_place (t : data) (N n : nat) (init : nat -> iacc -> comm) (body : nat -> iacc -> comm) (k : nat -> comm) : comm :=
  New n t (Seq (init (S n) (AVar n)) (Seq (For false (S n) N (update_in_place n (S (S n)) body)) (k (S n)))).
Theorem reduceI_in_place_ok t N n W D s s' io init body k v0 F :
  (forall p, ~ W n p) -> ok t v0 ->
  (forall s1 s2, same n s s1 -> exec (init (S n) (AVar n)) io s1 s2 -> wrote (S n) io (AVar n) t v0 s1 s2) ->
  bodyok n W D s io t N body F -> may_overwrite n (S (S n)) (body (S (S (S n))) (AVar (S (S n)))) ->
  exec (reduceI_in_place t N n init body k) io s s' ->
  exists s1, same n s s1 /\ rep (S n) W (upd D n t) s1 io (IVar n) t (steps N F v0) /\ exec (k (S n)) io s1 s'.
Proof.
  intros HW Hv0 Hinit HB HM (j & s1 & H1 & s2 & (is & -> & H2) & H3).
  assert (P := Hinit _ _ (same_upd n s n j (le_n n)) H1).
  assert (L : forall M s2, M <= N -> iterR (fun i => exec (update_in_place n (S (S n)) body) (upd io (S n) i)) (seq 0 M) s1 s2 ->
    same n s s2 /\ ok t (steps M F v0) /\ (forall p, leaf t p -> s2 n p = sel t (steps M F v0) p)).
  { induction M as [|M IH]; intros s3 HL.
    - cbn. intros ->. split; [|split; [exact Hv0|apply P]]. eapply same_trans; [apply same_upd with (n := n); reflexivity|reflexivity|]. eapply wrote_below; eauto.
    - rewrite seq_S, iterR_app. cbn [iterR Nat.add]. intros (s4 & I1 & s5 & E & ->). destruct (IH s4) as (F1 & F2 & F3); auto; [lia|].
      destruct (HB M (steps M F v0)) as [OK B]; auto.
      destruct (inplace_ok t n (S (S n)) (upd io (S n) M) (upd D n t) s4 (F M (steps M F v0)) body) with (s' := s5) as [U1 U2]; auto.
      { apply (B s4 (upd D n t)); auto using same_sagree, @agrees_upd, upd_same. }
      split; [|split; auto]. intros l q Hl. rewrite U2 by lia. auto. }
  destruct (L N s2 (le_n N) H2) as (L1 & L2 & L3). exists s2. split; auto. split; auto. split; auto.
  intros s7 io7 D7 G1 G2 G3 p Hp. cbn. rewrite G1, G3 by auto. split; auto. now rewrite upd_same.
Qed.
End Reductions.

(* An update element by element may overwrite, in any order of its iterations; rule a.9 for pairs (naive_red_wrong in TranslationFacts.v) may not. *)
Section Example.
Context {K : Scalars}.
Example elementwise par l N o n m y : n <> m -> y <> m -> y <> n ->
  may_overwrite n m (For par l N (Assign (AAt (AVar m) l) (IOp2 o (IAt (IVar n) (ILoop l)) (IAt (IVar y) (ILoop l))))).
Proof.
  intros Hnm Hm Hn io s s' (is & Ho & H). destruct (order_in _ _ _ Ho) as [ND _].
  set (c := Assign (AAt (AVar m) l) (IOp2 o (IAt (IVar n) (ILoop l)) (IAt (IVar y) (ILoop l)))) in *.
  assert (L : forall is s (P : written), NoDup is -> (forall i, In i is -> ~ P [Ix i]) ->
    iterR (fun i => exec (redirect n m c) (upd io l i)) is s s' -> exists P', iterW (fun i => in_time n m c (upd io l i)) is s P s' P').
  { clear Ho H ND is s. induction is as [|i is IH]; cbn [iterR iterW]; intros s P ND HP H. { exists P. auto. }
    destruct H as (s1 & H1 & H2). inversion_clear ND as [|? ? Hi ND'].
    destruct (IH s1 (fun p => P p \/ p = [Ix i]) ND') as [P' H3]; [|exact H2|].
    - intros j Hj [C|C]; [apply (HP j); [now right|exact C]|]. injection C as ->. contradiction.
    - exists P', s1, (fun p => P p \/ p = [Ix i]). split; [|exact H3]. unfold c in *. cbn in H1 |- *. rewrite !upd_same, !to_of_nat in *. rewrite Nat.eqb_refl in *.
      split; [|auto]. split; (split; [exact I|split; [auto|]]).
      + intros _. apply HP. now left.
      + intros C. contradiction. }
  destruct (L is s nothing ND (fun i _ C => C) H) as [P' H']. exists P', is. auto.
Qed.
End Example.
