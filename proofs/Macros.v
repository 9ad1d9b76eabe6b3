(* What the macros between programs and commands leave in memory: copies, updates of accumulators, loops over them, scans, sums in parallel, scatter. Each is right wherever the parts that it
   is made of are. *)
From Coq Require Import Arith List Lia Bool Permutation.
From Lozenge Require Import Paths Phrases Overwrite Translation Represent InPlace.
Import ListNotations.

Section Correct.
Context {K : Scalars} {Keep : Policy}.

(* ---------- values have their types ---------- *)
Definition okE {G} (g : env den G) := forall t (x : var G t), ok t (g t x).
Lemma okE_cons {G s} (v : den s) (g : env den G) : ok s v -> okE g -> okE (consE v g).
Proof.
  intros Hv Hg t x.
  refine (match x as x0 in var G' t' return match G' as G0 return var G0 t' -> Prop with [] => fun _ => True | s0 :: G0 => fun x1 =>
     forall (v : den s0) (g : env den G0), ok s0 v -> okE g -> ok t' (consE v g t' x1) end x0 with VZ => _ | VS y => _ end v g Hv Hg); cbn; auto.
Qed.
Lemma steps_ok {B} (P : B -> Prop) n f b : P b -> (forall k a, k < n -> P a -> P (f k a)) -> P (steps n f b).
Proof. induction n as [|n IH]; cbn; auto. intros Hb Hf. apply Hf; auto. Qed.
Lemma ev_ok {G t} (e : exp G t) : forall g, okE g -> ok t (ev_exp e g).
Proof.
  induction e; intros g Hg; cbn; auto; try (intros j Hj).
  - apply H. exact (IHe g Hg).
  - apply vsem_ok; auto.
  - apply bsem_ok; auto.
  - apply (IHe1 g Hg). apply (IHe2 g Hg).
  - apply (IHe2 g Hg). now apply (IHe1 g Hg).
  - apply IHe1, okE_cons; auto. now apply (IHe2 g Hg).
  - apply IHe, okE_cons; auto.
  - apply steps_ok; [apply IHe2; auto|]. intros k a Hk Ha. apply IHe1, okE_cons, okE_cons; auto. now apply (IHe3 g Hg).
  - apply (steps_ok (ok t) (S j) (fun k a => ev_exp e1 (consE a (consE (ev_exp e3 g k) g)))); [apply IHe2; auto|]. intros k a Hk Ha. apply IHe1, okE_cons, okE_cons; auto. apply (IHe3 g Hg). lia.
  - apply steps_ok; [apply IHe2; auto|]. intros k0 a Hk Ha. apply IHe1, okE_cons; auto.
  - destruct (truth _); auto.
  - apply IHe2, okE_cons; auto.
  - exact (vsem_ok v _ (IHe g Hg) j Hj).
  - revert j Hj. apply (steps_ok (ok (ary m t))); [exact (IHe2 g Hg)|]. intros k a Hk Ha j Hj. unfold upd. destruct (Nat.eqb _ _); [now apply (IHe3 g Hg)|now apply Ha].
Qed.

(* ---------- expressions without commands ---------- *)
Lemma envok_loop {G s} n W D st io (r : renv G) g x (v : den s) D' st' io' i :
  envok n W D st io r g -> sagree n W st st' -> agrees n io io' -> agrees n D D' ->
  rep (S n) W D' st' (upd io' n i) x s v -> envok (S n) W D' st' (upd io' n i) (bindE x r) (consE v g).
Proof.
  intros Hr Hs Hi HD Hx. apply envok_cons; auto. eapply envok_mono; eauto. eapply agrees_trans; eauto. now apply agrees_upd.
Qed.
Lemma px_ok {G t} (e : exp G t) : pure e = true -> forall r g n W D s io, envok n W D s io r g -> rep n W D s io (px e r n) t (ev_exp e g).
Proof.
  induction e; cbn [pure]; intros Hp r g lv W D st io Hr; try discriminate; cbn [px ev_exp];
    repeat match goal with H : _ && _ = true |- _ => apply andb_prop in H as [? ?] end.
  - apply Hr.
  - apply rep_lit.
  - now apply rep_nat.
  - apply rep_op1; auto.
  - apply rep_op2; auto.
  - eapply rep_value; eauto.
  - eapply rep_move; eauto.
  - apply rep_view; auto.
  - apply rep_both; auto.
  - eapply rep_at; eauto.
  - eapply rep_gather; eauto.
  - apply rep_iota.
  - apply rep_gen. intros i st' io' D' Hi Hs Hio HD. apply IHe1; auto. eapply envok_loop; eauto.
    apply rep_at with (m := n); [|now apply rep_loop]. eapply rep_mono; [apply IHe2; eauto| | | | |]; auto. eapply agrees_trans; eauto. now apply agrees_upd.
  - apply rep_gen. intros i st' io' D' Hi Hs Hio HD. apply IHe; auto. eapply (envok_loop (s := idx n)); eauto. now apply rep_loop.
  - apply rep_sel; auto.
  - apply IHe2; auto. apply envok_cons; auto.
Qed.

(* ---------- copies ---------- *)
Lemma wrote_put_sagree n W D io x {a b d} (j : both a b d) c v s s' : accok n W D io x d -> wrote n io (APut j c x) (side c a b) v s s' -> sagree n W s s'.
Proof.
  intros Ha [_ H] l p Hl Hn. apply H; auto. intros (q & Hq & E). apply Hn. cbn in E. destruct (ao_in _ _ _ _ _ _ Ha) as [F|F]; [rewrite (both_flat j) in F; discriminate|].
  generalize (F _ (proj1 (bput_ok j c q Hq))). now rewrite E.
Qed.
Lemma copy_ok d : forall n W D s s' io a x v, rep n W D s io x d v -> accok n W D io a d -> exec (copy d n a x) io s s' -> wrote n io a d v s s'.
Proof.
  assert (FL : forall d n W D s s' io a x v, flat d = true -> rep n W D s io x d v -> accok n W D io a d -> exec (Assign a x) io s s' -> wrote n io a d v s s').
  { intros d0 n W D s s' io a x v Hf Hx Ha H. cbn in H. subst. split.
    - intros p Hp. rewrite (leaf_flat _ _ Hf Hp). rewrite wr_same. apply (rep_now _ _ _ _ _ _ _ _ Hx). now apply flat_leaf.
    - intros l q Hl Hn. apply wr_other. intros E. apply Hn. exists []. split; [now apply flat_leaf|auto]. }
  induction d as [|m|N d IH|d1 IH1 d2 IH2]; intros n W D s s' io a x v Hx Ha; cbn [copy].
  - apply (FL num n W D); auto.
  - apply (FL (idx m) n W D); auto.
  - intros (is & Ho & H). refine (loop_wrote n W D io a N d v s _ false is s' Ha _ Ho H).
    intros i s1 s2 Hi Hs HR. eapply (IH (S n) W D s1 s2); [apply (rep_elem n W D s io x N d v i Hi Hx s1 D Hs (agrees_refl _ _))|apply (accok_idx n W D io a N d i Hi Ha)|exact HR].
  - intros (s1 & H1 & H2).
    assert (W1 : wrote n io (APut (BPair d1 d2) false a) d1 (fst v) s s1).
    { eapply IH1; [|apply (accok_put _ _ _ _ _ (BPair d1 d2) false Ha)|exact H1]. apply (rep_view _ _ _ _ _ (VFst d1 d2)); auto. }
    assert (W2 : wrote n io (APut (BPair d1 d2) true a) d2 (snd v) s1 s').
    { eapply IH2; [|apply (accok_put _ _ _ _ _ (BPair d1 d2) true Ha)|exact H2]. apply (rep_view _ _ _ _ _ (VSnd d1 d2)).
      eapply rep_mono; eauto using @agrees_refl, (wrote_put_sagree n W D io a (BPair d1 d2) false). }
    rewrite (surjective_pairing v). exact (wrote_both n W D io a (BPair d1 d2) _ _ s s1 s' Ha W1 W2).
Qed.

(* ---------- compositions ---------- *)
(* an acceptor translation that ends in a copy *)
Lemma fin_ok {G t} (e : exp G t) C : specC e C -> specA e (fun r n a => C r n (fun n x => copy t n a x)).
Proof.
  intros HC r g n W D s s' io a HW Hr Ha H. destruct (HC r g n W D s s' io _ HW Hr H) as (n1 & x & s1 & D1 & Hn & Hs & HD & Hx & H1).
  eapply wrote_pre; eauto. eapply wrote_le; eauto. eapply copy_ok; eauto. eapply accok_mono; eauto using @agrees_refl.
Qed.
(* a continuation that goes through memory *)
Lemma mem_ok {G t} (e : exp G t) A : specA e A -> specC e (store_first t A).
Proof.
  intros HA r g n W D s s' io k HW Hr (j & s1 & H1 & H2).
  assert (P : wrote (S n) io (AVar n) t (ev_exp e g) (upd s n j) s1).
  { apply (HA r g (S n) (only n) (upd D n t) _ _ io (AVar n)); auto using wbelow_only.
    - eapply envok_mono; eauto using @agrees_refl, @agrees_upd. apply same_sagree. now apply same_upd. unfold only; intros; lia.
    - apply accok_var; [lia|apply upd_same|right; reflexivity]. }
  exists (S n), (IVar n), s1, (upd D n t). split; [lia|]. split.
  { eapply same_trans; [apply same_upd with (n := n); reflexivity|reflexivity|]. eapply wrote_below; eauto. }
  split; [now apply agrees_upd|]. split; auto. eapply rep_var; eauto using upd_same.
  - intros p C. apply HW in C. lia.
  - apply ev_ok. intros u x. apply (envok_ok _ _ _ _ _ _ _ Hr).
Qed.
Lemma now_ok {G t} (e : exp G t) x : (forall r g n W D s io, envok n W D s io r g -> rep n W D s io (x r n) t (ev_exp e g)) -> specC e (fun r n k => k n (x r n)).
Proof. intros H r g n W D s s' io k HW Hr He. exists n, (x r n), s, D. split; [auto|]. split; [intros l q Hl; auto|]. split; [apply agrees_refl|]. auto. Qed.
Lemma C1_ok {G t d} (e : exp G t) (e' : exp G d) C (op : iexp -> iexp) (vop : den t -> den d) : specC e C ->
  (forall n W D s io x v, rep n W D s io x t v -> rep n W D s io (op x) d (vop v)) -> (forall g, ev_exp e' g = vop (ev_exp e g)) ->
  specC e' (fun r n k => C r n (fun n x => k n (op x))).
Proof.
  intros HC Hop Hv r g n W D s s' io k HW Hr H. destruct (HC r g n W D s s' io _ HW Hr H) as (n1 & x & s1 & D1 & Hn & Hs & HD & Hx & H1).
  exists n1, (op x), s1, D1. rewrite Hv. auto 6.
Qed.
Lemma C2_ok {G t1 t2 d} (e1 : exp G t1) (e2 : exp G t2) (e' : exp G d) C1 C2 (op : iexp -> iexp -> iexp) (vop : den t1 -> den t2 -> den d) :
  specC e1 C1 -> specC e2 C2 ->
  (forall n W D s io x y v w, rep n W D s io x t1 v -> rep n W D s io y t2 w -> rep n W D s io (op x y) d (vop v w)) ->
  (forall g, ev_exp e' g = vop (ev_exp e1 g) (ev_exp e2 g)) ->
  specC e' (fun r n k => C1 r n (fun n x => C2 r n (fun n y => k n (op x y)))).
Proof.
  intros HC1 HC2 Hop Hv r g n W D s s' io k HW Hr H.
  destruct (HC1 r g n W D s s' io _ HW Hr H) as (n1 & x & s1 & D1 & Hn & Hs & HD & Hx & H1).
  assert (Hr1 : envok n1 W D1 s1 io r g) by (eapply envok_mono; eauto using same_sagree, @agrees_refl).
  destruct (HC2 r g n1 W D1 s1 s' io _ (wbelow_le _ _ _ HW Hn) Hr1 H1) as (n2 & y & s2 & D2 & Hn2 & Hs2 & HD2 & Hy & H2).
  exists n2, (op x y), s2, D2. split; [lia|]. split; [eapply same_trans; eauto|]. split; [eapply agrees_trans; eauto|]. split; auto.
  rewrite Hv. apply Hop; auto. eapply rep_mono; eauto using same_sagree, @agrees_refl.
Qed.

(* ---------- accumulators ---------- *)
Section Update.
Variables (t : data) (n m : nat) (io : ienv) (D : nat -> data) (s : store) (b v : den t) (body : nat -> iacc -> comm).
Hypothesis Hnm : n < m.
Hypothesis HD : forall p, leaf t p -> leaf (D n) p.
Hypothesis Hv : ok t v.
Hypothesis Hbody : forall k W D1 a s1 s2, m <= k -> wbelow k W -> (forall p, ~ W n p) -> (forall l p, l < m -> ~ W l p) -> agrees m D D1 -> same m s s1 -> accok k W D1 io a t ->
  exec (body k a) io s1 s2 -> wrote k io a t v s1 s2.
Lemma update_ok s' : exec (update t n m body) io s s' ->
  (forall p, leaf t p -> s' n p = sel t v p) /\ (forall l q, l < m -> ~ inreg io (AVar n) t l q -> s' l q = s l q).
Proof.
  unfold update. destruct (flat t) eqn:Hf.
  - intros H. destruct (Hbody m (fun _ _ => False) D (AVar n) s s') as [W1 W2]; auto using @agrees_refl.
    + intros l p [].
    + intros l q; auto.
    + apply accok_own; auto.
  - destruct (inplace n m (body (S m) (AVar m))) eqn:Hi.
    { intros H. apply (inplace_ok t n m io D s v body Hnm Hbody s'); auto. apply inplace_sound; auto. lia. }
    intros (j & s1 & H1 & H2).
    assert (P1 : wrote (S m) io (AVar m) t v (upd s m j) s1).
    { apply (Hbody (S m) (only m) (upd D m t)); auto using wbelow_only.
      - unfold only. intros p E. lia.
      - unfold only. intros l p Hl E. lia.
      - now apply agrees_upd.
      - now apply same_upd.
      - apply accok_var; [lia|apply upd_same|right; reflexivity]. }
    assert (P2 : wrote (S m) io (AVar n) t v s1 s').
    { apply (copy_ok t (S m) (only n) (upd D m t) s1 s' io (AVar n) (IVar m) v); auto.
      - eapply rep_var; eauto using upd_same. unfold only. intros p E. lia.
      - apply accok_own; [lia|rewrite upd_other by lia; auto|right; reflexivity]. }
    split; [apply P2|]. intros l q Hl Hne. destruct P1 as [_ P1], P2 as [_ P2]. rewrite P2 by (auto; lia).
    rewrite P1; [rewrite upd_other by lia; auto|lia|]. apply inreg_other. lia.
Qed.
End Update.

Lemma iterR_app {A} (R : nat -> A -> A -> Prop) is js s s' : iterR R (is ++ js) s s' <-> exists s1, iterR R is s s1 /\ iterR R js s1 s'.
Proof.
  revert s. induction is as [|i is IH]; cbn; intros s.
  - split; [eauto|]. intros (s1 & -> & H). auto.
  - split.
    + intros (s1 & H1 & H2). apply IH in H2 as (s2 & H2 & H3). eauto.
    + intros (s1 & (s2 & H1 & H2) & H3). exists s2. split; auto. apply IH. eauto.
Qed.
(* What is asked of the body of a reduction: from any store that agrees below [n] and holds [b] in the accumulator [v], it writes [F i b] wherever it is told;
   [lv] is the level of the loop. *)
Definition bodyok v n lv W (D : nat -> data) s io t N (body : nat -> iacc -> comm) (F : nat -> den t -> den t) := forall i b, i < N -> ok t b -> ok t (F i b) /\
  forall s0 D0, sagree n W s s0 -> agrees n D D0 -> (forall p, leaf t p -> leaf (D0 v) p) -> (forall p, leaf t p -> s0 v p = sel t b p) ->
  forall k W1 D1 a s1 s2, S lv <= k -> wbelow k W1 -> (forall p, ~ W1 v p) -> (forall l p, l < S lv -> ~ W1 l p) -> agrees (S lv) D0 D1 -> same (S lv) s0 s1 ->
    accok k W1 D1 (upd io lv i) a t -> exec (body k a) (upd io lv i) s1 s2 -> wrote k (upd io lv i) a t (F i b) s1 s2.

(* The same of a body that is told where the accumulator is, and which element is next. *)
Definition stepok e (W : region) (D : nat -> data) s io t N (body : stepper) (F : nat -> den t -> den t) := forall i b, i < N -> ok t b -> ok t (F i b) /\
  forall v j k W1 D1 io1 a s1 s2, e <= k -> sagree e W s s1 -> agrees e D D1 -> agrees e io io1 ->
    (forall p, leaf t p -> leaf (D1 v) p) -> (forall p, leaf t p -> s1 v p = sel t b p) -> v < k -> (forall p, ~ W1 v p) ->
    rep k W1 D1 s1 io1 j (idx N) i -> wbelow k W1 -> (forall l p, l < e -> W1 l p -> W l p) -> accok k W1 D1 io1 a t -> exec (body v j k a) io1 s1 s2 -> wrote k io1 a t (F i b) s1 s2.
Lemma step_body e W D s io t N body F v lv : e <= lv -> v <= lv -> stepok e W D s io t N body F -> bodyok v e lv W D s io t N (body v (ILoop lv)) F.
Proof.
  intros Hlv Hv HB i b Hi Hb. destruct (HB i b Hi Hb) as [OK B]. split; auto. intros s0 D0 Hs HD HDn Hacc k W1 D1 a s1 s2 Hk HW1 Hn Hlow HD1 Hs1 Ha H.
  apply (B v (ILoop lv) k W1 D1 (upd io lv i) a s1 s2); auto; try lia.
  - intros l q Hl Hq. rewrite Hs1 by lia. auto.
  - eapply agrees_trans; [exact HD| |exact HD1]. lia.
  - now apply agrees_upd.
  - intros p Hp. rewrite HD1 by lia. auto.
  - intros p Hp. rewrite Hs1 by lia. auto.
  - eapply rep_mono; [apply (rep_loop lv W1 D1 s1 io N i Hi)| | | | |]; eauto using sagree_refl, @agrees_refl.
  - intros l p Hl C. exfalso. apply (Hlow l p); auto. lia.
Qed.
Lemma twice_below N i : i < N / 2 -> S (twice i) < N.
Proof. intros H. assert (X := Nat.div_mod N 2 ltac:(lia)). unfold twice. lia. Qed.
Lemma rep_twice n N io k W1 D1 s1 i (f : nat -> nat) : (forall i, i < N / 2 -> f i < N) -> i < N / 2 -> S (S n) <= k -> rep k W1 D1 s1 (upd io (S n) i) (IMove f (ILoop (S n))) (idx N) (f i).
Proof.
  intros Hf Hi Hk. apply rep_move with (m := N / 2); auto. split; auto. intros s' io' D' _ B _ p _. cbn. rewrite B, upd_same by lia. auto.
Qed.
(* The accumulator [v] holds [v0]; what is written there may change for those who go on. [e]: the level of the environment. *)
Section Loop.
Variables (t : data) (N v n e : nat) (W : region) (D : nat -> data) (s : store) (io : ienv) (body : stepper) (v0 : den t) (F : nat -> den t -> den t) (fuse : bool).
Hypothesis Hv : v < n.
Hypothesis He : e <= n.
Hypothesis HD : forall p, leaf t p -> leaf (D v) p.
Hypothesis Hv0 : ok t v0.
Hypothesis H0 : forall p, leaf t p -> s v p = sel t v0 p.
Hypothesis HW : forall p, leaf t p -> v < e -> W v p.
Hypothesis HB : stepok e W D s io t N body F.
Lemma loop_sagree w s' : wrote n io (AVar v) t w s s' -> sagree e W s s'.
Proof.
  intros [_ H] l q Hl Hq. apply H; [lia|]. intros (p & Hp & E). cbn in E. injection E as <- <-. auto.
Qed.
Lemma update_loop_ok : forall M s', M <= N -> iterR (fun i => exec (update t v (S n) (body v (ILoop n))) (upd io n i)) (seq 0 M) s s' ->
  ok t (steps M F v0) /\ wrote n io (AVar v) t (steps M F v0) s s'.
Proof.
  assert (HB' := step_body e W D s io t N body F v n He (Nat.lt_le_incl _ _ Hv) HB).
  induction M as [|M IH]; intros s2 HM.
  - cbn. intros ->. split; auto. split; auto.
  - rewrite seq_S, iterR_app. cbn [iterR Nat.add]. intros (s4 & I1 & s5 & E & ->). destruct (IH s4 ltac:(lia) I1) as [F1 F2].
    assert (S4 := loop_sagree _ _ F2). destruct F2 as [F2 F3]. destruct (HB' M (steps M F v0) HM F1) as [OK B]. split; auto.
    destruct (update_ok t v (S n) (upd io n M) D s4 (F M (steps M F v0)) (body v (ILoop n)) ltac:(lia) HD OK) with (s' := s5) as [U1 U2]; auto.
    { apply (B s4 D); auto using @agrees_refl. }
    split; [exact U1|]. intros l q Hl Hq. rewrite U2 by (auto; lia). now apply F3.
Qed.

(* In turns: [w] is the level of the other buffer, n. *)
Lemma half_there i b j s1 s2 io1 k : i < N -> ok t b -> S n <= k -> agrees n io io1 -> wrote n io (AVar v) t b s s1->
  rep k (only n) (upd D n t) s1 io1 j (idx N) i -> exec (body v j k (AVar n)) io1 s1 s2 -> ok t (F i b) /\ wrote k io1 (AVar n) t (F i b) s1 s2.
Proof.
  intros Hi Hb Hk Hio W1 Hj E. destruct (HB i b Hi Hb) as [OK B]. split; auto.
  apply (B v j k (only n) (upd D n t) io1 (AVar n) s1 s2); auto; try lia.
  - eapply loop_sagree; eauto.
  - now apply agrees_upd.
  - intros l Hl. apply Hio. lia.
  - intros p Hp. rewrite upd_other by lia. auto.
  - apply W1.
  - unfold only. intros p C. lia.
  - apply wbelow_only. lia.
  - unfold only. intros l p Hl C. lia.
  - apply accok_var; [lia|apply upd_same|right; reflexivity].
Qed.
Lemma half_back i b c j s1 s2 io1 k : i < N -> ok t b -> S n <= k -> agrees n io io1 -> wrote n io (AVar v) t c s s1 -> (forall p, leaf t p -> s1 n p = sel t b p) ->
  rep k (leaves v t) (upd D n t) s1 io1 j (idx N) i -> exec (body n j k (AVar v)) io1 s1 s2 -> ok t (F i b) /\ wrote k io1 (AVar v) t (F i b) s1 s2.
Proof.
  intros Hi Hb Hk Hio W1 Hn Hj E. destruct (HB i b Hi Hb) as [OK B]. split; auto.
  apply (B n j k (leaves v t) (upd D n t) io1 (AVar v) s1 s2); auto; try lia.
  - eapply loop_sagree; eauto.
  - now apply agrees_upd.
  - intros l Hl. apply Hio. lia.
  - intros p Hp. now apply leaf_upd.
  - intros p [C _]. lia.
  - apply wbelow_leaves. lia.
  - intros l p Hl [-> Hp]. auto.
  - apply accok_leaves; [lia|]. intros p Hp. rewrite upd_other by lia. auto.
Qed.
Lemma pairs_ok : forall M s', M <= N / 2 -> iterR (fun i => exec (Seq (body v (IMove twice (ILoop (S n))) (S (S n)) (AVar n)) (body n (IMove (fun i => S (twice i)) (ILoop (S n))) (S (S n)) (AVar v))) (upd io (S n) i)) (seq 0 M) s s' ->
  ok t (steps (twice M) F v0) /\ wrote n io (AVar v) t (steps (twice M) F v0) s s'.
Proof.
  induction M as [|M IH]; intros s2 HM.
  - cbn. intros ->. split; auto. split; auto.
  - rewrite seq_S, iterR_app. cbn [iterR Nat.add]. intros (s4 & I1 & s5 & (s6 & E1 & E2) & ->). destruct (IH s4 ltac:(lia) I1) as [F1 F2].
    assert (B2 := twice_below N M ltac:(lia)). assert (Hio : agrees n io (upd io (S n) M)) by (apply agrees_upd; lia).
    destruct (half_there (twice M) (steps (twice M) F v0) (IMove twice (ILoop (S n))) s4 s6 (upd io (S n) M) (S (S n))) as [O1 P1]; auto; try lia.
    { apply rep_twice; auto. intros i Hi. assert (X := twice_below N i Hi). lia. }
    assert (F6 : wrote n io (AVar v) t (steps (twice M) F v0) s s6).
    { destruct F2 as [F2 F3], P1 as [_ P1]. split.
      - intros p Hp. cbn. rewrite P1; [now apply F2|lia|]. apply inreg_other. lia.
      - intros l q Hl Hq. rewrite P1; [now apply F3|lia|]. apply inreg_other. lia. }
    destruct (half_back (S (twice M)) (F (twice M) (steps (twice M) F v0)) (steps (twice M) F v0) (IMove (fun i => S (twice i)) (ILoop (S n))) s6 s5 (upd io (S n) M) (S (S n))) as [O2 P2]; auto; try lia.
    { apply P1. }
    { apply (rep_twice n N io (S (S n)) (leaves v t) (upd D n t) s6 M (fun i => S (twice i))); auto. apply twice_below. }
    split; [exact O2|]. destruct P2 as [P2 P3], F6 as [_ F6]. split; [exact P2|]. intros l q Hl Hq. rewrite P3 by (auto; lia). now apply F6.
Qed.
End Loop.
Lemma odd_last N : Nat.odd N = true -> N = S (twice (N / 2)).
Proof. intros H. assert (X := Nat.div_mod N 2 ltac:(lia)). apply Nat.odd_spec in H as [k ->]. unfold twice. replace (2 * k + 1) with (1 + k * 2) by lia. rewrite Nat.div_add by lia. cbn. lia. Qed.
Lemma even_last N : Nat.odd N = false -> N = twice (N / 2).
Proof. intros H. rewrite <- Nat.negb_even in H. apply negb_false_iff, Nat.even_spec in H as [k ->]. unfold twice. rewrite (Nat.mul_comm 2 k), Nat.div_mul by lia. reflexivity. Qed.

Lemma loopI_ok fuse t N v n e (W : region) D s s' io body v0 F : v < n -> e <= n -> (forall p, leaf t p -> leaf (D v) p) -> ok t v0 -> (forall p, leaf t p -> s v p = sel t v0 p) ->
  (forall p, leaf t p -> v < e -> W v p) -> stepok e W D s io t N body F ->
  exec (loopI fuse t N v n body) io s s' -> ok t (steps N F v0) /\ wrote n io (AVar v) t (steps N F v0) s s'.
Proof.
  intros Hv He HD Hv0 H0 HW HB. unfold loopI. destruct (fuse && turns t && _) eqn:T.
  2:{ intros (is & -> & H). eapply update_loop_ok; eauto. }
  intros (junk & s1 & (is & -> & H1) & H2). set (s0 := upd s n junk) in *.
  assert (S0 : same n s s0) by now apply same_upd.
  assert (HB0 : stepok e W D s0 io t N body F).
  { intros i b Hi Hb. destruct (HB i b Hi Hb) as [OK B]. split; auto. intros w j k W1 D1 io1 a s2 s3 Hk Hs. intros. eapply B; eauto. intros l q Hl Hq. rewrite Hs by auto. apply S0. lia. }
  destruct (pairs_ok t N v n e W D s0 io body v0 F Hv He HD Hv0) with (M := N / 2) (s' := s1) as [O1 P1]; auto.
  { intros p Hp. unfold s0. rewrite upd_other by lia. auto. }
  destruct (Nat.odd N) eqn:HN.
  - assert (EN := odd_last N HN). destruct H2 as (s2 & H2 & H3). 
    destruct (half_there t N v n e W D s0 io body F Hv He HD HW HB0 (pred N) (steps (twice (N / 2)) F v0) (INat (pred N)) s1 s2 io (S n)) as [O2 P2]; auto using @agrees_refl; try lia.
    { apply rep_nat. lia. }
    assert (P3 : wrote (S n) io (AVar v) t (F (pred N) (steps (twice (N / 2)) F v0)) s2 s').
    { apply (copy_ok t (S n) (leaves v t) (upd D n t) s2 s' io (AVar v) (IVar n)); [|apply accok_leaves; [lia|]; intros p Hp; rewrite upd_other by lia; auto|exact H3].
      eapply rep_var; eauto using upd_same. intros p [C _]. lia. }
    assert (EF : steps N F v0 = F (pred N) (steps (twice (N / 2)) F v0)) by (rewrite EN at 1; rewrite EN at 2; reflexivity).
    rewrite EF. split; [exact O2|]. destruct P1 as [_ P1], P2 as [_ P2], P3 as [P3 P4]. split; [exact P3|]. intros l q Hl Hq.
    rewrite P4, P2, P1 by (auto; try apply inreg_other; lia). apply S0. lia.
  - cbn in H2. subst s1. assert (EN := even_last N HN). replace (steps N F v0) with (steps (twice (N / 2)) F v0) by (now rewrite <- EN). split; [exact O1|]. eapply wrote_pre; eauto.
Qed.
Lemma reduceI_ok fuse t N n W D s s' io init body k v0 F :
  (forall p, ~ W n p) -> ok t v0 ->
  (forall s1 s2, same n s s1 -> exec (init (S n) (AVar n)) io s1 s2 -> wrote (S n) io (AVar n) t v0 s1 s2) ->
  stepok n W D s io t N body F ->
  exec (reduceI fuse t N n init body k) io s s' ->
  exists s1, same n s s1 /\ rep (S n) W (upd D n t) s1 io (IVar n) t (steps N F v0) /\ exec (k (S n)) io s1 s'.
Proof.
  intros HW Hv0 Hinit HB (j & s1 & H1 & s2 & H2 & H3).
  assert (P := Hinit _ _ (same_upd n s n j (le_n n)) H1).
  assert (S1 : same n s s1). { eapply same_trans; [apply same_upd with (n := n); reflexivity|reflexivity|]. eapply wrote_below; eauto. }
  assert (HB1 : stepok n W (upd D n t) s1 io t N body F).
  { intros i b Hi Hb. destruct (HB i b Hi Hb) as [OK B]. split; auto. intros w y q W1 D1 io1 a s4 s3 Hk Hs HD1. intros. eapply B; eauto.
    - intros l p Hl Hp. rewrite Hs by auto. now apply S1.
    - intros l Hl. rewrite HD1 by auto. apply upd_other. lia. }
  destruct (loopI_ok fuse t N n (S n) n W (upd D n t) s1 s2 io body v0 F) as [O2 P2]; auto using leaf_upd; try lia. { apply P. }
  exists s2. split; [|split; auto].
  - eapply same_trans; [exact S1|reflexivity|]. eapply wrote_below; eauto.
  - eapply rep_var; eauto using upd_same.
Qed.

Lemma scanI_ok t N n W D s s' io init body a v0 F :
  wbelow n W -> ok t v0 -> accok n W D io a (ary N t) ->
  (forall s1 s2, same n s s1 -> exec (init (S n) (AVar n)) io s1 s2 -> wrote (S n) io (AVar n) t v0 s1 s2) ->
  bodyok n n (S n) W D s io t N body F ->
  exec (scanI t N n init body a) io s s' -> wrote n io a (ary N t) (fun i => steps (S i) F v0) s s'.
Proof.
  intros HW Hv0 Ha Hinit HB (j & s1 & H1 & is & -> & H2).
  assert (P := Hinit _ _ (same_upd n s n j (le_n n)) H1).
  assert (Hin : forall p, leaf (ary N t) p -> W (fst (loc io a p)) (snd (loc io a p))).
  { destruct (ao_in _ _ _ _ _ _ Ha) as [C|C]; [discriminate|exact C]. }
  assert (Hst : forall i p, i < N -> leaf t p -> loc (upd io (S n) i) a (Ix i :: p) = loc io a (Ix i :: p)).
  { intros i p Hi Hp. apply (ao_stable _ _ _ _ _ _ Ha); [apply agrees_upd; lia|now split]. }
  assert (L : forall M s2, M <= N -> iterR (fun i => exec (Seq (update t n (S (S n)) body) (copy t (S (S n)) (AAt a (S n)) (IVar n))) (upd io (S n) i)) (seq 0 M) s1 s2 ->
    ok t (steps M F v0) /\ (forall p, leaf t p -> s2 n p = sel t (steps M F v0) p) /\
    (forall i p, i < M -> leaf t p -> s2 (fst (loc io a (Ix i :: p))) (snd (loc io a (Ix i :: p))) = sel t (steps (S i) F v0) p) /\
    (forall l q, l < n -> (forall i p, i < M -> leaf t p -> loc io a (Ix i :: p) <> (l, q)) -> s2 l q = s l q)).
  { induction M as [|M IH]; intros s3 HM.
    - cbn. intros ->. split; [exact Hv0|]. split; [apply P|]. split; [intros; lia|]. intros l q Hl _. rewrite (wrote_below n _ _ _ _ _ _ _ P) by lia. rewrite upd_other; auto. lia.
    - rewrite seq_S, iterR_app. cbn [iterR Nat.add]. intros (s4 & I1 & s5 & (s6 & E1 & E2) & ->). destruct (IH s4) as (F1 & F2 & F3 & F4); auto; [lia|].
      destruct (HB M (steps M F v0)) as [OK B]; auto.
      assert (S4 : sagree n W s s4). { intros l q Hl Hq. apply F4; auto. intros i p Hi Hp E. apply Hq. specialize (Hin (Ix i :: p)). rewrite E in Hin. apply Hin. split; auto. lia. }
      destruct (update_ok t n (S (S n)) (upd io (S n) M) (upd D n t) s4 (F M (steps M F v0)) body ltac:(lia) (leaf_upd _ _ _) OK) with (s' := s6) as [U1 U2]; auto.
      { apply (B s4 (upd D n t)); auto using @agrees_upd, leaf_upd. }
      assert (A2 : accok (S (S n)) W (upd D n t) (upd io (S n) M) (AAt a (S n)) t).
      { apply accok_idx with (N := N); [lia|]. eapply accok_mono; eauto using @agrees_refl, @agrees_upd. }
      assert (P2 : wrote (S (S n)) (upd io (S n) M) (AAt a (S n)) t (F M (steps M F v0)) s6 s5).
      { eapply copy_ok; [|exact A2|exact E2]. split; auto. intros s7 io7 D7 G1 G2 G3 p Hp. cbn. rewrite G1, G3 by (auto; intros C; apply HW in C; lia).
        split; auto. now rewrite upd_same. }
      assert (Hloc : forall p, leaf t p -> loc (upd io (S n) M) (AAt a (S n)) p = loc io a (Ix M :: p)). { intros p Hp. cbn. rewrite upd_same. apply Hst; auto. }
      destruct P2 as [P2 P3].
      split; [exact OK|]. split; [|split].
      + intros p Hp. rewrite P3; [apply U1; auto|lia|]. intros (q & Hq & E). rewrite Hloc in E by auto.
        assert (C := ao_below _ _ _ _ _ _ Ha (Ix M :: q) (conj HM Hq)). rewrite E in C. cbn in C. lia.
      + intros i p Hi Hp. destruct (Nat.eq_dec i M) as [->|Hne]. { rewrite <- Hloc by auto. apply P2; auto. }
        assert (B1 : fst (loc io a (Ix i :: p)) < n) by (apply (ao_below _ _ _ _ _ _ Ha); split; auto; lia).
        rewrite P3; [|lia|].
        * rewrite U2 by (try apply inreg_other; lia). apply F3; auto. lia.
        * intros (q & Hq & E). rewrite Hloc in E by auto. rewrite <- pair_eta in E. apply (ao_inj _ _ _ _ _ _ Ha) in E; [congruence|split; auto|split; auto; lia].
      + intros l q Hl Hn. rewrite P3; [|lia|].
        * rewrite U2 by (try apply inreg_other; lia). apply F4; auto.
        * intros (p & Hp & E). rewrite Hloc in E by auto. apply (Hn M p); auto. }
  destruct (L N s' (le_n N) H2) as (_ & _ & L3 & L4). split.
  - intros p Hp. apply leaf_ary in Hp as (i & q & -> & Hi & Hq). apply L3; auto.
  - intros l q Hl Hn. apply L4; auto. intros i p Hi Hp E. apply Hn. exists (Ix i :: p). split; auto. split; auto.
Qed.

Lemma step_red {G t u} (f : exp (t :: u :: G) t) A N n W D s io (r : renv G) g x (ve : den (ary N u)) : specA f A ->
  envok n W D s io r g -> rep n W D s io x (ary N u) ve ->
  stepok n W D s io t N (fun v j => A (bindE (IVar v) (bindE (IAt x j) r))) (fun i b => ev_exp f (consE b (consE (ve i) g))).
Proof.
  intros IA Hr Hx i b Hi Hb. split.
  { apply ev_ok, okE_cons; [auto|]. apply okE_cons; [apply Hx; auto|]. intros w y. apply (envok_ok _ _ _ _ _ _ _ Hr). }
  intros v j k W1 D1 io1 a s1 s2 Hk Hs HD Hio HDv Hacc Hv Hn Hj HW1 HW Ha H.
  eapply (IA _ (consE b (consE (ve i) g)) k W1 D1 s1 s2 io1 a); [exact HW1| |exact Ha|exact H].
  apply envok_cons; [|apply envok_cons].
  - split; auto. intros s3 io3 D3 G1 G2 G3 p Hp. cbn. rewrite G1, G3 by auto. auto.
  - apply rep_at with (m := N); [|exact Hj]. eapply rep_mono; eauto.
  - eapply envok_mono; eauto.
Qed.
Lemma step_iter {G t} (f : exp (t :: G) t) A N n W D s io (r : renv G) g : specA f A -> envok n W D s io r g ->
  stepok n W D s io t N (fun v _ => A (bindE (IVar v) r)) (fun _ b => ev_exp f (consE b g)).
Proof.
  intros IA Hr i b Hi Hb. split.
  { apply ev_ok, okE_cons; [auto|]. intros w y. apply (envok_ok _ _ _ _ _ _ _ Hr). }
  intros v j k W1 D1 io1 a s1 s2 Hk Hs HD Hio HDv Hacc Hv Hn Hj HW1 HW Ha H.
  eapply (IA _ (consE b g) k W1 D1 s1 s2 io1 a); [exact HW1| |exact Ha|exact H].
  apply envok_cons; [|eapply envok_mono; eauto].
  split; auto. intros s3 io3 D3 G1 G2 G3 p Hp. cbn. rewrite G1, G3 by auto. auto.
Qed.

(* ---------- sums in parallel, and scatter ---------- *)
Lemma combined_fold o z l : combined o z l (fold_right (op2 o) z l).
Proof. induction l as [|a l IH]; cbn [fold_right]; [constructor|]. apply (combined_both o z [a] l); auto. constructor. Qed.
Lemma sum_steps o z v0 (F : nat -> number) N is r : monoid o z -> Permutation (seq 0 N) is -> combined o z (v0 :: rev (map F is)) r ->
  r = steps N (fun k a => op2 o (F k) a) v0.
Proof.
  intros L P H. assert (Q : Permutation (v0 :: rev (map F is)) (rev (map F (seq 0 N)) ++ [v0])).
  { etransitivity; [|apply Permutation_app_comm]. cbn [app]. constructor.
    etransitivity; [symmetry; apply Permutation_rev|]. etransitivity; [|apply Permutation_rev]. now apply Permutation_map, Permutation_sym. }
  rewrite (combined_sum o z _ _ L (combined_moved o z _ _ _ Q H)). clear -L. induction N as [|N IH].
  - cbn. rewrite (commutes _ _ L). apply (neutral _ _ L).
  - rewrite seq_S, map_app, rev_app_distr. cbn [map rev app Nat.add fold_right steps]. now rewrite IH.
Qed.
Lemma sum_loop o z N v w l c io s (F : nat -> number) : v < w ->
  (forall i s1 s2, i < N -> same w s s1 -> exec c (upd io l i) s1 s2 -> s2 w [] = F i /\ same w s1 s2) ->
  forall s', exec (Sum o z v w l N c) io s s' -> exists is r, Permutation (seq 0 N) is /\ combined o z (s v [] :: rev (map F is)) r /\ s' v [] = r /\
    (forall k q, k < w -> (k, q) <> (v, []) -> s' k q = s k q).
Proof.
  intros Hv HB s' (is & s1 & xs & r & P & H & Hr & ->).
  assert (L : forall is a ys b zs, (forall i, In i is -> i < N) -> same w s a ->
    iterR (fun i a b => (exists junk, exec c (upd io l i) (upd (fst a) w junk) (fst b)) /\ snd b = fst b w [] :: snd a) is (a, ys) (b, zs) ->
    same w s b /\ zs = rev (map F is) ++ ys).
  { clear P H Hr. induction is0 as [|i js IH]; cbn [iterR map rev app]; intros a ys b zs Hi Ha H.
    - injection H as -> ->. auto.
    - destruct H as ([s2 us] & [[junk H1] H2] & H3). cbn [fst snd] in *.
      destruct (HB i (upd a w junk) s2) as [E1 E2]; [apply Hi; now left| |exact H1|].
      { eapply same_trans; [exact Ha|reflexivity|now apply same_upd]. }
      destruct (IH s2 us b zs) as [E3 E4]; [intros; apply Hi; now right| |exact H3|].
      + eapply same_trans; [exact Ha|reflexivity|]. eapply same_trans; [apply (same_upd w a w junk); auto|reflexivity|exact E2].
      + split; auto. rewrite E4, H2, E1, <- app_assoc. reflexivity. }
  destruct (L is s [] s1 xs) as [E ->]; auto.
  { intros i Hi. apply (Permutation_in _ (Permutation_sym P)), in_seq in Hi. lia. }
  { intros k q _. reflexivity. }
  rewrite app_nil_r, (E v []) in Hr by lia. exists is, r. split; auto. split; auto. split; [apply wr_same with (lq := (v, []))|].
  intros k q Hk Hne. rewrite wr_other by auto. now apply E.
Qed.
Lemma sumI_ok o z N n W D s s' io init body k v0 (F : nat -> number) : monoid o z -> (forall p, ~ W n p) ->
  (forall s1 s2, same n s s1 -> exec (init (S n) (AVar n)) io s1 s2 -> wrote (S n) io (AVar n) num v0 s1 s2) ->
  (forall i s1 s2, i < N -> same n s s1 -> exec (body (S (S (S n))) (AVar (S (S n)))) (upd io (S n) i) s1 s2 ->
     wrote (S (S (S n))) (upd io (S n) i) (AVar (S (S n))) num (F i) s1 s2) ->
  exec (sumI o z N n init body k) io s s' ->
  exists s1, same n s s1 /\ rep (S n) W (upd D n num) s1 io (IVar n) num (steps N (fun k a => op2 o (F k) a) v0) /\ exec (k (S n)) io s1 s'.
Proof.
  intros L HW Hinit HB (j & s1 & H1 & s2 & H2 & H3).
  destruct (Hinit _ _ (same_upd n s n j (le_n n)) H1) as [P1 P2].
  assert (S1 : same n s s1). { eapply same_trans; [apply same_upd with (n := n); reflexivity|reflexivity|]. eapply wrote_below; [split; [exact P1|exact P2]|lia|lia]. }
  assert (Hlt : n < S (S n)) by lia.
  destruct (fun HB' => sum_loop o z N n (S (S n)) (S n) (body (S (S (S n))) (AVar (S (S n)))) io s1 F Hlt HB' s2 H2) as (is & r & P & Hr & Hv & Hs).
  { intros i s3 s4 Hi Hs3 E. destruct (HB i s3 s4 Hi) as [B1 B2]; [|exact E|].
    - eapply same_trans; [exact S1|reflexivity|]. intros l q Hl. apply Hs3. lia.
    - split; [apply (B1 [] I)|]. intros l q Hl. apply B2; [lia|]. intros (p & _ & C). cbn in C. injection C as C _. lia. }
  rewrite (P1 [] I : s1 n [] = v0) in Hr. apply (sum_steps o z v0 F N is r L P) in Hr.
  exists s2. split; [|split; auto].
  - eapply same_trans; [exact S1|reflexivity|]. intros l q Hl. apply Hs; [lia|]. intros C. injection C as C _. lia.
  - split; [exact I|]. intros s7 io7 D7 G1 G2 G3 p Hp. destruct p; [|contradiction]. cbn. rewrite G1, G3 by auto. split; [now rewrite Hv, Hr|]. now rewrite upd_same.
Qed.
(* One element of a scatter. *)
Lemma sum_env {G u N} n W D s1 s2 io (r : renv G) g x (ve : den (ary N u)) j :
  envok n W D s1 io r g -> rep n W D s1 io x (ary N u) ve -> j < N -> same n s1 s2 ->
  envok (S (S (S n))) (only (S (S n))) (upd (upd D n num) (S (S n)) num) s2 (upd io (S n) j) (bindE (IAt x (ILoop (S n))) r) (consE (ve j) g).
Proof.
  intros Hr Hx Hj Hs. assert (HS : sagree n W s1 s2) by now apply same_sagree.
  assert (HD : agrees n D (upd (upd D n num) (S (S n)) num)). { intros l Hl. rewrite !upd_other by lia. reflexivity. }
  assert (HI : agrees n io (upd io (S n) j)) by (apply agrees_upd; lia).
  assert (HW : forall l p, l < n -> only (S (S n)) l p -> W l p) by (unfold only; intros; lia).
  apply envok_cons.
  - apply rep_at with (m := N); [eapply rep_mono; eauto; lia|].
    split; auto. intros s' io' D' _ B _ p _. cbn. rewrite B, upd_same by lia. auto.
  - eapply envok_mono; eauto.
Qed.
Lemma scatter_step t N m n W D s0 s io j x a (vj : nat -> nat) (vx : nat -> den t) M :
  accok n W D io a (ary m t) -> rep n W D s0 io j (ary N (idx m)) vj -> rep n W D s0 io x (ary N t) vx -> M < N -> sagree n W s0 s ->
  let io1 := upd io n M in let io2 := upd io1 (S n) (vj M) in
  (to_nat (ev s io1 (IAt j (ILoop n)) []) = vj M /\ inb D s io1 (IAt j (ILoop n)) [] /\ vj M < m) /\
  rep (S (S n)) W D s io2 (IAt x (ILoop n)) t (vx M) /\ accok (S (S n)) W D io2 (AAt a (S n)) t /\
  forall p, leaf t p -> loc io2 (AAt a (S n)) p = loc io a (Ix (vj M) :: p).
Proof.
  intros Ha Hj Hx HM Hs io1 io2.
  assert (Rj := rep_elem n W D s0 io j N (idx m) vj M HM Hj s D Hs (agrees_refl _ _)).
  assert (Rx := rep_elem n W D s0 io x N t vx M HM Hx s D Hs (agrees_refl _ _)).
  destruct (rep_now _ _ _ _ _ _ _ _ Rj [] I) as [E I1]. assert (O : vj M < m) by apply (proj1 Rj).
  split. { split; [|auto]. fold io1 in E. rewrite E. apply to_of_nat. }
  split. { eapply rep_mono; eauto using sagree_refl, @agrees_refl, @agrees_upd. }
  assert (A1 : accok (S n) W D io1 a (ary m t)) by (eapply accok_mono; eauto using @agrees_refl, @agrees_upd).
  split; [now apply accok_idx with (N := m)|].
  intros p Hp. cbn [loc]. unfold io2 at 2. rewrite upd_same. apply (ao_stable _ _ _ _ _ _ Ha); [|now split].
  eapply agrees_trans; [apply agrees_upd; reflexivity| |apply agrees_upd; reflexivity]. auto.
Qed.
Lemma scatterI_ok t N m n W D s io j x a (vj : nat -> nat) (vx : nat -> den t) (vb : den (ary m t)) :
  accok n W D io a (ary m t) -> rep n W D s io j (ary N (idx m)) vj -> rep n W D s io x (ary N t) vx ->
  (forall p, leaf (ary m t) p -> s (fst (loc io a p)) (snd (loc io a p)) = sel (ary m t) vb p) ->
  forall M s', M <= N -> iterR (fun i => exec (Index (S n) m (IAt j (ILoop n)) (copy t (S (S n)) (AAt a (S n)) (IAt x (ILoop n)))) (upd io n i)) (seq 0 M) s s' ->
    wrote n io a (ary m t) (steps M (fun k o => upd o (vj k) (vx k)) vb) s s'.
Proof.
  intros Ha Hj Hx Hb. induction M as [|M IH]; intros s2 HM.
  - cbn. intros ->. split; auto.
  - rewrite seq_S, iterR_app. cbn [iterR Nat.add]. intros (s4 & I1 & s5 & E & ->). specialize (IH s4 ltac:(lia) I1).
    assert (S4 : sagree n W s s4) by (eapply wrote_sagree; eauto).
    destruct (scatter_step t N m n W D s s4 io j x a vj vx M Ha Hj Hx HM S4) as ((E1 & _ & E2) & Rx & A2 & Hl).
    cbn [exec] in E. rewrite E1 in E. destruct (Nat.ltb_spec (vj M) m); [|lia].
    destruct (copy_ok t (S (S n)) W D s4 s5 _ _ _ (vx M) Rx A2 E) as [C1 C2]. destruct IH as [J1 J2]. split.
    + intros p Hp. apply leaf_ary in Hp as (i & q & -> & Hi & Hq). cbn [steps sel]. unfold upd at 1. destruct (Nat.eqb_spec (vj M) i) as [<-|Hne].
      * rewrite <- Hl by auto. now apply C1.
      * assert (B := ao_below _ _ _ _ _ _ Ha (Ix i :: q) (conj Hi Hq)). rewrite C2; [apply (J1 (Ix i :: q)); now split|lia|].
        intros (p & Hp & C). rewrite Hl in C by auto. rewrite <- pair_eta in C. apply (ao_inj _ _ _ _ _ _ Ha) in C; [congruence|now split|now split].
    + intros l q Hlt Hn. rewrite C2; [now apply J2|lia|]. intros (p & Hp & C). rewrite Hl in C by auto. apply Hn. exists (Ix (vj M) :: p). split; auto. now split.
Qed.

End Correct.
