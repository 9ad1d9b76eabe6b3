(* The translation theorem: for EVERY well-typed program, in both modes, every execution of its translation leaves exactly the program's value in
   the output, and everything else in scope as it was. *)
From Coq Require Import Arith List Lia Bool Permutation.
From Lozenge Require Import Paths Phrases Overwrite Translation Represent InPlace.
From Lozenge Require Export Macros.
Import ListNotations.

Section Correct.
Context {K : Scalars} {Keep : Policy}.

Variable fuse : bool.
Notation tr := (tr fuse).
Lemma init_ok {G t} (i : exp G t) A n W D s io (r : renv G) g : specA i A -> envok n W D s io r g -> (forall p, ~ W n p) ->
  forall s1 s2, same n s s1 -> exec (A r (S n) (AVar n)) io s1 s2 -> wrote (S n) io (AVar n) t (ev_exp i g) s1 s2.
Proof.
  intros IA Hr HW s1 s2 Hs H. apply (IA r g (S n) (only n) (upd D n t) s1 s2 io (AVar n)); auto using wbelow_only.
  - eapply envok_mono; eauto using @agrees_refl, @agrees_upd, same_sagree. unfold only. intros; lia.
  - apply accok_var; [lia|apply upd_same|right; reflexivity].
Qed.
Lemma reduceO_start {G t} (i : exp G t) N v n W D s s' io (r : renv G) g body F : specA i (fst (tr i)) -> wbelow n W -> envok n W D s io r g ->
  accok n W D io (AVar v) t -> flat t = false -> v < n -> (forall s2, sagree n W s s2 -> stepok n W D s2 io t N body F) ->
  exec (reduceO fuse t N v n (fst (tr i) r) body) io s s' -> wrote n io (AVar v) t (steps N F (ev_exp i g)) s s'.
Proof.
  intros IA HW Hr Ha Hf Hv HB (s1 & H1 & H2). assert (P := IA r g n W D s s1 io (AVar v) HW Hr Ha H1).
  assert (S1 : sagree n W s s1) by (eapply wrote_sagree; eauto). assert (P' := P). destruct P' as [P1 P2].
  destruct (loopI_ok fuse t N v n n W D s1 s' io body (ev_exp i g) F) as [_ [Q1 Q2]]; auto.
  - exact (ao_leaf _ _ _ _ _ _ Ha).
  - apply ev_ok. intros w y. apply (envok_ok _ _ _ _ _ _ _ Hr).
  - intros p Hp _. destruct (ao_in _ _ _ _ _ _ Ha) as [C|C]; [congruence|]. exact (C p Hp).
  - split; auto. intros l q Hl Hq. rewrite Q2 by auto. now apply P2.
Qed.
Lemma init_copy_ok t y (v : den t) n W D s io : rep n W D s io y t v ->
  forall s1 s2, same n s s1 -> exec (copy t (S n) (AVar n) y) io s1 s2 -> wrote (S n) io (AVar n) t v s1 s2.
Proof.
  intros Hy s1 s2 Hs H. apply (copy_ok t (S n) (only n) (upd D n t) s1 s2 io (AVar n) y v); auto.
  - eapply rep_mono; eauto using @agrees_refl, @agrees_upd, same_sagree. unfold only. intros; lia.
  - apply accok_var; [lia|apply upd_same|right; reflexivity].
Qed.
Lemma red_tail {G t} (i : exp G t) N r g n W D s s' io k (body : stepper) F :
  specA i (fst (tr i)) -> specC i (snd (tr i)) -> wbelow n W -> envok n W D s io r g ->
  (forall n2 s2 D2, n <= n2 -> same n s s2 -> agrees n D D2 -> stepok n2 W D2 s2 io t N body F) ->
  exec (if fuse then reduceI fuse t N n (fst (tr i) r) body (fun n' => k n' (IVar n))
        else snd (tr i) r n (fun n y => reduceI fuse t N n (fun n a => copy t n a y) body (fun n' => k n' (IVar n)))) io s s' ->
  exists n1 x s1 D1, n <= n1 /\ same n s s1 /\ agrees n D D1 /\ rep n1 W D1 s1 io x t (steps N F (ev_exp i g)) /\ exec (k n1 x) io s1 s'.
Proof.
  intros IA IC HW Hr HB H.
  assert (HN : forall m, n <= m -> forall p, ~ W m p). { intros m Hm p C. apply HW in C. lia. }
  assert (HO : ok t (ev_exp i g)). { apply ev_ok. intros v y. apply (envok_ok _ _ _ _ _ _ _ Hr). }
  destruct fuse.
  - destruct (reduceI_ok _ t N n W D s s' io _ body (fun n' => k n' (IVar n)) (ev_exp i g) F (HN n (le_n n)) HO
      (init_ok i _ n W D s io r g IA Hr (HN n (le_n n))) (HB n s D (le_n n) (fun l q Hl => eq_refl) (agrees_refl _ _)) H) as (s1 & Hs & Hx & He).
    exists (S n), (IVar n), s1, (upd D n t). split; [lia|]. split; auto. split; [now apply agrees_upd|]. auto.
  - destruct (IC r g n W D s s' io _ HW Hr H) as (n1 & y & s1 & D1 & Hn & Hs & HD & Hy & H1).
    destruct (reduceI_ok _ t N n1 W D1 s1 s' io _ body (fun n' => k n' (IVar n1)) (ev_exp i g) F (HN n1 Hn) HO
      (init_copy_ok t y _ n1 W D1 s1 io Hy) (HB n1 s1 D1 Hn Hs HD) H1) as (s2 & Hs2 & Hx & He).
    exists (S n1), (IVar n1), s2, (upd D1 n1 t). split; [lia|]. split; [eapply same_trans; eauto|].
    split; [eapply agrees_trans; eauto; now apply agrees_upd|]. auto.
Qed.
Lemma sum_tail {G u} (f : exp (u :: G) num) (i : exp G num) o z N r g n W D s s' io x (ve : den (ary N u)) k :
  monoid o z -> specA i (fst (tr i)) -> specC f (snd (tr f)) -> wbelow n W -> envok n W D s io r g -> rep n W D s io x (ary N u) ve ->
  exec (sumI o z N n (fst (tr i) r) (fun m a => snd (tr f) (bindE (IAt x (ILoop (S n))) r) m (fun _ y => Assign a y)) (fun n' => k n' (IVar n))) io s s' ->
  exists n1 y s1 D1, n <= n1 /\ same n s s1 /\ agrees n D D1 /\
    rep n1 W D1 s1 io y num (steps N (fun k a => op2 o (ev_exp f (consE (ve k) g)) a) (ev_exp i g)) /\ exec (k n1 y) io s1 s'.
Proof.
  intros HL IAi ICf HW Hr Hx H. assert (HN : forall p, ~ W n p) by (intros p C; apply HW in C; lia).
  apply (sumI_ok o z N n W D s s' io _ _ _ (ev_exp i g) (fun k => ev_exp f (consE (ve k) g)) HL HN) in H as (s1 & Hs & Hy & H1).
  - exists (S n), (IVar n), s1, (upd D n num). split; [lia|]. split; auto. split; [now apply agrees_upd|]. auto.
  - exact (init_ok i _ n W D s io r g IAi Hr HN).
  - intros j s2 s3 Hj Hs2 E.
    refine (fin_ok f _ ICf _ (consE (ve j) g) _ (only (S (S n))) (upd (upd D n num) (S (S n)) num) s2 s3 _ _ _ _ _ E); auto using wbelow_only.
    + eapply sum_env; eauto.
    + apply accok_var; auto. apply upd_same.
Qed.

(* ---------- main theorem: every well-typed program ---------- *)
Lemma map_view_ok {G s t N} (f : exp (s :: G) t) n W D st io (r : renv G) g x (ve : den (ary N s)) : pure f = true -> envok n W D st io r g ->
  rep n W D st io x (ary N s) ve -> rep n W D st io (IGen n (px f (bindE (IAt x (ILoop n)) r) (S n))) (ary N t) (fun i => ev_exp f (consE (ve i) g)).
Proof.
  intros Hf Hr Hx. apply rep_gen. intros i st' io' D' Hi Hs Hio HD. apply px_ok; auto. eapply envok_loop; eauto.
  apply rep_at with (m := N); [|now apply rep_loop]. eapply rep_mono; eauto. eapply agrees_trans; eauto. now apply agrees_upd.
Qed.
Lemma gen_view_ok {G t N} (f : exp (idx N :: G) t) n W D st io (r : renv G) g : pure f = true -> envok n W D st io r g ->
  rep n W D st io (IGen n (px f (bindE (ILoop n) r) (S n))) (ary N t) (fun i => ev_exp f (consE (F := den) (s := idx N) i g)).
Proof.
  intros Hf Hr. apply rep_gen. intros i st' io' D' Hi Hs Hio HD. apply px_ok; auto. eapply (envok_loop (s := idx N)); eauto. now apply rep_loop.
Qed.

Theorem tr_correct : forall G t (e : exp G t), lawful e -> specA e (fst (tr e)) /\ specC e (snd (tr e)).
Proof.
  induction 1 as [G t x|G v|G m i Hi|G o e L [_ IC]|G o e1 e2 L1 [_ IC1] L2 [_ IC2]|G m e L [_ IC]|G m m' f Hf e L [_ IC]|G d t v e L [IA IC]
    |G d1 d2 t j e1 e2 L1 [IA1 IC1] L2 [IA2 IC2]|G N t e i L [_ IC] Li [_ ICi]|G N m t is e Li [_ ICi] L [_ IC]|G m
    |G N s t par f e Lf [IAf _] L [_ IC]|G t N par f Lf [IAf _]|G N s t f i e Lf [IAf _] Li [IAi ICi] L [_ IC]|G N s t f i e Lf [IAf _] Li [IAi ICi] L [_ IC]
    |G t N f i Lf [IAf _] Li [IAi ICi]|G t c e1 e2 Lc [_ ICc] L1 [IA1 IC1] L2 [IA2 IC2]|G s t e1 e2 L1 [_ IC1] L2 [IA2 IC2]|G t e L [IA IC]|G d N t par v e L [_ IC]
    |G N s o z f i e HL Lf [_ ICf] Li [IAi _] L [_ IC]|G N m t is b e Li [_ ICi] Lb [IAb _] L [_ IC]].
  - (* Var *)
    assert (C : specC (Var x) (fun r n k => k n (r t x))). { apply (now_ok (Var x) (fun r n => r t x)). intros r g n W D s io Hr. apply Hr. }
    split; [exact (fin_ok (Var x) _ C)|exact C].
  - (* Lit *)
    assert (C : specC (Lit v) (fun (r : renv G) n k => k n (ILit v))). { apply (now_ok (Lit v) (fun _ _ => ILit v)). intros. apply rep_lit. }
    split; [exact (fin_ok (Lit v) _ C)|exact C].
  - (* Nat *)
    assert (C : specC (Nat i Hi) (fun (r : renv G) n k => k n (INat i))). { apply (now_ok (Nat i Hi) (fun _ _ => INat i)). intros. now apply rep_nat. }
    split; [exact (fin_ok (Nat i Hi) _ C)|exact C].
  - (* Op1 *)
    assert (C := C1_ok e (Op1 o e) _ (IOp1 o) (op1 o) IC (fun n W D s io x v H => rep_op1 n W D s io o x v H) (fun g => eq_refl)).
    split; [exact (fin_ok (Op1 o e) _ C)|exact C].
  - (* Op2 *)
    assert (C := C2_ok e1 e2 (Op2 o e1 e2) _ _ (IOp2 o) (op2 o) IC1 IC2 (fun n W D s io x y v w H => rep_op2 n W D s io o x y v w H) (fun g => eq_refl)).
    split; [exact (fin_ok (Op2 o e1 e2) _ C)|exact C].
  - (* Value *)
    assert (C := C1_ok e (Value e) _ (fun x => x) (of_nat : den (idx m) -> den num) IC (fun n W D s io x v H => rep_value n W D s io m x v H) (fun g => eq_refl)).
    split; [exact (fin_ok (Value e) _ C)|exact C].
  - (* Move *)
    assert (C := C1_ok e (Move f Hf e) _ (IMove f) (f : den (idx m) -> den (idx m')) IC (fun n W D s io x v H => rep_move n W D s io f m m' x v Hf H) (fun g => eq_refl)).
    split; [exact (fin_ok (Move f Hf e) _ C)|exact C].
  - (* View *)
    assert (C := C1_ok e (View v e) _ (IView v) (vsem v) IC (fun n W D s io x y H => rep_view n W D s io v x y H) (fun g => eq_refl)).
    split; [|exact C]. cbn [Translation.tr fst]. destruct (writable v) eqn:Hv; [|exact (fin_ok (View v e) _ C)].
    intros r g n W D s s' io a HW Hr Ha H. apply wrote_out; auto. apply (IA r g n W D s s' io (AView v a)); auto. apply accok_out; auto.
  - (* Both *)
    assert (C := C2_ok e1 e2 (Both j e1 e2) _ _ (IBoth j) (bsem j) IC1 IC2 (fun n W D s io x y v w H => rep_both n W D s io j x y v w H) (fun g => eq_refl)).
    split; [|exact C]. intros r g n W D s s' io a HW Hr Ha H. cbn [Translation.tr fst] in H. destruct (fuse && is_zip j && (pure e1 && pure e2)) eqn:Hp.
    + apply andb_prop in Hp as [_ Hp]. apply andb_prop in Hp as [P1 P2]. eapply copy_ok; eauto. apply rep_both; apply px_ok; auto.
    + destruct H as (s1 & H1 & H2).
      assert (W1 := IA1 r g n W D s s1 io _ HW Hr (accok_put _ _ _ _ _ j false Ha) H1).
      assert (Hr1 : envok n W D s1 io r g) by (eapply envok_mono; eauto using @agrees_refl, (wrote_put_sagree n W D io a j false)).
      assert (W2 := IA2 r g n W D s1 s' io _ HW Hr1 (accok_put _ _ _ _ _ j true Ha) H2).
      exact (wrote_both n W D io a j _ _ s s1 s' Ha W1 W2).
  - (* At *)
    assert (C := C2_ok e i (At e i) _ _ IAt (fun (v : den (ary N t)) (i : den (idx N)) => v i) IC ICi (fun n W D s io x y v w H H' => rep_at n W D s io N x y t v w H H') (fun g => eq_refl)).
    split; [exact (fin_ok (At e i) _ C)|exact C].
  - (* Gather *)
    assert (C := C2_ok is e (Gather is e) _ _ IGather (fun (j : den (ary m (idx N))) (v : den (ary N t)) => (fun i => v (j i)) : den (ary m t)) ICi IC
      (fun n W D s io x y v w H H' => rep_gather n W D s io N m y x t w v H' H) (fun g => eq_refl)).
    split; [exact (fin_ok (Gather is e) _ C)|exact C].
  - (* Iota *)
    assert (C : specC (Iota m) (fun (r : renv G) n k => k n IIota)). { apply (now_ok (Iota m) (fun _ _ => IIota)). intros. apply rep_iota. }
    split; [exact (fin_ok (Iota m) _ C)|exact C].
  - (* Map *)
    assert (A : specA (Map par f e) (fst (tr (Map par f e)))).
    { intros r g n W D s0 s' io a HW Hr Ha H. destruct (IC r g n W D s0 s' io _ HW Hr H) as (n1 & x & s1 & D1 & Hn & Hs & HD & Hx & is & Ho & H1).
      assert (Hr1 : envok n1 W D1 s1 io r g) by (eapply envok_mono; eauto using same_sagree, @agrees_refl).
      assert (Ha1 : accok n1 W D1 io a (ary N t)) by (eapply accok_mono; eauto using @agrees_refl).
      eapply wrote_pre; eauto. eapply wrote_le; eauto. refine (loop_wrote n1 W D1 io a N t _ s1 _ par is s' Ha1 _ Ho H1).
      intros i s2 s3 Hi Hs2 H2. apply (IAf (bindE (IAt x (ILoop n1)) r) (consE (ev_exp e g i) g) (S n1) W D1 s2 s3 (upd io n1 i) (AAt a n1)); [| | |exact H2].
      - eapply wbelow_le; eauto.
      - eapply envok_loop; eauto using @agrees_refl. eapply rep_elem; eauto using @agrees_refl.
      - eapply accok_idx; eauto. }
    split; [exact A|]. cbn [Translation.tr snd]. destruct (fuse && pure f) eqn:Hp; [|exact (mem_ok (Map par f e) _ A)].
    apply andb_prop in Hp as [_ Hp]. intros r g n W D s0 s' io k HW Hr H.
    destruct (IC r g n W D s0 s' io _ HW Hr H) as (n1 & x & s1 & D1 & Hn & Hs & HD & Hx & H1).
    assert (Hr1 : envok n1 W D1 s1 io r g) by (eapply envok_mono; eauto using same_sagree, @agrees_refl).
    eexists (S n1), _, s1, D1. split; [lia|]. split; auto. split; auto. split; [|exact H1].
    eapply rep_mono; [apply (map_view_ok f n1 W D1 s1 io r g x (ev_exp e g)); auto| | | | |]; eauto using sagree_refl, @agrees_refl.
  - (* Gen *)
    assert (A : specA (Gen N par f) (fst (tr (Gen N par f)))).
    { intros r g n W D s0 s' io a HW Hr Ha (is & Ho & H1). refine (loop_wrote n W D io a N t _ s0 _ par is s' Ha _ Ho H1).
      intros i s2 s3 Hi Hs2 H2. apply (IAf (bindE (ILoop n) r) (consE (F := den) (s := idx N) i g) (S n) W D s2 s3 (upd io n i) (AAt a n)); [| | |exact H2].
      - eapply wbelow_le; eauto.
      - eapply (envok_loop (s := idx N)); eauto using @agrees_refl. now apply rep_loop.
      - eapply accok_idx; eauto. }
    split; [exact A|]. cbn [Translation.tr snd]. destruct (pure f) eqn:Hp; [|exact (mem_ok (Gen N par f) _ A)].
    intros r g n W D s0 s' io k HW Hr H. eexists (S n), _, s0, D. split; [lia|]. split; [intros l q Hl; auto|]. split; [apply agrees_refl|]. split; [|exact H].
    eapply rep_mono; [apply (gen_view_ok f n W D s0 io r g Hp Hr)| | | | |]; eauto using sagree_refl, @agrees_refl.
  - (* Red *)
    assert (C : specC (Red f i e) (snd (tr (Red f i e)))).
    { intros r g n W D s0 s' io k HW Hr H. destruct (IC r g n W D s0 s' io _ HW Hr H) as (n1 & x & s1 & D1 & Hn & Hs & HD & Hx & H1).
      assert (Hr1 : envok n1 W D1 s1 io r g) by (eapply envok_mono; eauto using same_sagree, @agrees_refl).
      destruct (red_tail i N r g n1 W D1 s1 s' io k (fun v j => fst (tr f) (bindE (IVar v) (bindE (IAt x j) r)))
        (fun k a => ev_exp f (consE a (consE (ev_exp e g k) g))) IAi ICi (wbelow_le _ _ _ HW Hn) Hr1) with (2 := H1) as (n2 & y & s2 & D2 & Hn2 & Hs2 & HD2 & Hy & H2).
      { intros n2 s2 D2 Hn2 Hs2 HD2. apply step_red; auto; try lia.
        - eapply envok_mono; eauto using same_sagree, @agrees_refl.
        - eapply rep_mono; eauto using same_sagree, @agrees_refl. }
      exists n2, y, s2, D2. split; [lia|]. split; [eapply same_trans; eauto|]. split; [eapply agrees_trans; eauto|]. auto. }
    split; [|exact C]. assert (A := fin_ok (Red f i e) _ C). intros r g n W D s0 s' io a HW Hr Ha H. cbn [Translation.tr fst] in H.
    destruct (into fuse t n a) as [v|] eqn:Hi; [|exact (A r g n W D s0 s' io a HW Hr Ha H)]. apply into_some in Hi as (_ & Hf & Hv & ->).
    destruct (IC r g n W D s0 s' io _ HW Hr H) as (n1 & x & s1 & D1 & Hn & Hs & HD & Hx & H1).
    assert (Hr1 : envok n1 W D1 s1 io r g) by (eapply envok_mono; eauto using same_sagree, @agrees_refl).
    eapply wrote_pre; eauto. eapply wrote_le; eauto. assert (Ha1 : accok n1 W D1 io (AVar v) t) by (eapply accok_mono; eauto using @agrees_refl).
    eapply (reduceO_start i N v n1 W D1 s1 s' io r g); eauto using wbelow_le; [lia|]. intros s2 Hs2. apply step_red; auto.
    + eapply envok_mono; eauto using @agrees_refl.
    + eapply rep_mono; eauto using @agrees_refl.
  - (* Scan *)
    assert (A : specA (Scan f i e) (fst (tr (Scan f i e)))).
    { intros r g n W D s0 s' io a HW Hr Ha H. destruct (IC r g n W D s0 s' io _ HW Hr H) as (n1 & x & s1 & D1 & Hn & Hs & HD & Hx & H1).
      assert (Hr1 : envok n1 W D1 s1 io r g) by (eapply envok_mono; eauto using same_sagree, @agrees_refl).
      eapply wrote_pre; eauto. eapply wrote_le; eauto.
      refine (scanI_ok t N n1 W D1 s1 s' io _ _ a (ev_exp i g) (fun k a => ev_exp f (consE a (consE (ev_exp e g k) g))) (wbelow_le _ _ _ HW Hn) _ _ _ _ H1).
      - apply ev_ok. intros v y. apply (envok_ok _ _ _ _ _ _ _ Hr).
      - eapply accok_mono; eauto using @agrees_refl.
      - apply (init_ok i _ n1 W D1 s1 io r g IAi Hr1). intros p C. apply HW in C. lia.
      - exact (step_body n1 W D1 s1 io t N _ _ n1 (S n1) (Nat.le_succ_diag_r n1) (Nat.le_succ_diag_r n1) (step_red f _ N n1 W D1 s1 io r g x (ev_exp e g) IAf Hr1 Hx)). }
    split; [exact A|exact (mem_ok (Scan f i e) _ A)].
  - (* Iter *)
    assert (C : specC (Iter N f i) (snd (tr (Iter N f i)))).
    { intros r g n W D s0 s' io k HW Hr H.
      apply (red_tail i N r g n W D s0 s' io k (fun v _ => fst (tr f) (bindE (IVar v) r)) (fun _ a => ev_exp f (consE a g)) IAi ICi HW Hr) in H; [exact H|].
      intros n2 s2 D2 Hn2 Hs2 HD2. apply step_iter; auto; try lia. eapply envok_mono; eauto using same_sagree, @agrees_refl. }
    split; [|exact C]. assert (A := fin_ok (Iter N f i) _ C). intros r g n W D s0 s' io a HW Hr Ha H. cbn [Translation.tr fst] in H.
    destruct (into fuse t n a) as [v|] eqn:Hi; [|exact (A r g n W D s0 s' io a HW Hr Ha H)]. apply into_some in Hi as (_ & Hf & Hv & ->).
    eapply (reduceO_start i N v n W D s0 s' io r g); eauto. intros s2 Hs2. apply step_iter; auto.
    + eapply envok_mono; eauto using @agrees_refl.
  - (* Select *)
    assert (C : specC (Select c e1 e2) (fun r n k => snd (tr c) r n (fun n x => snd (tr e1) r n (fun n y => snd (tr e2) r n (fun n z => k n (ISel x y z)))))).
    { intros r g n W D s0 s' io k HW Hr H. destruct (ICc r g n W D s0 s' io _ HW Hr H) as (n1 & x & s1 & D1 & Hn & Hs & HD & Hx & H1).
      assert (Hr1 : envok n1 W D1 s1 io r g) by (eapply envok_mono; eauto using same_sagree, @agrees_refl).
      destruct (IC1 r g n1 W D1 s1 s' io _ (wbelow_le _ _ _ HW Hn) Hr1 H1) as (n2 & y & s2 & D2 & Hn2 & Hs2 & HD2 & Hy & H2).
      assert (Hr2 : envok n2 W D2 s2 io r g) by (eapply envok_mono; eauto using same_sagree, @agrees_refl).
      destruct (IC2 r g n2 W D2 s2 s' io _ (wbelow_le _ _ _ HW (Nat.le_trans _ _ _ Hn Hn2)) Hr2 H2) as (n3 & z & s3 & D3 & Hn3 & Hs3 & HD3 & Hz & H3).
      exists n3, (ISel x y z), s3, D3. split; [lia|]. split; [eapply same_trans; [eapply same_trans; eauto| |eauto]; lia|].
      split; [eapply agrees_trans; [eapply agrees_trans; eauto| |eauto]; lia|]. split; auto. apply rep_sel.
      - eapply rep_mono; [eapply rep_mono; [exact Hx| | | | |]| | | | |]; eauto using same_sagree, @agrees_refl.
      - eapply rep_mono; eauto using same_sagree, @agrees_refl.
      - exact Hz. }
    assert (B : specA (Select c e1 e2) (fun r n a => snd (tr c) r n (fun n x => If x (fst (tr e1) r n a) (fst (tr e2) r n a)))).
    { intros r g n W D s0 s' io a HW Hr Ha H. destruct (ICc r g n W D s0 s' io _ HW Hr H) as (n1 & x & s1 & D1 & Hn & Hs & HD & Hx & H1).
      assert (Hr1 : envok n1 W D1 s1 io r g) by (eapply envok_mono; eauto using same_sagree, @agrees_refl).
      assert (Ha1 : accok n1 W D1 io a t) by (eapply accok_mono; eauto using @agrees_refl).
      assert (HW1 := wbelow_le _ _ _ HW Hn). eapply wrote_pre; eauto. eapply wrote_le; eauto.
      cbn [exec] in H1. destruct (rep_now _ _ _ _ _ _ _ _ Hx [] I) as [E _]. cbn [sel] in E. rewrite E in H1. cbn [ev_exp].
      destruct (truth (ev_exp c g)); [eapply IA1|eapply IA2]; eauto. }
    split; cbn [Translation.tr fst snd].
    + destruct fuse; [exact B|exact (fin_ok (Select c e1 e2) _ C)].
    + destruct (fuse && negb (pure e1 && pure e2)); [exact (mem_ok (Select c e1 e2) _ B)|exact C].
  - (* Let *) split; intros r g n W D s0 s' io; cbn [Translation.tr fst snd].
    + intros a HW Hr Ha H. destruct (IC1 r g n W D s0 s' io _ HW Hr H) as (n1 & x & s1 & D1 & Hn & Hs & HD & Hx & H1).
      eapply wrote_pre; eauto. eapply wrote_le; eauto.
      apply (IA2 (bindE x r) (consE (ev_exp e1 g) g) n1 W D1 s1 s' io a); [eauto using wbelow_le| | |exact H1].
      * apply envok_cons; auto. eapply envok_mono; eauto using same_sagree, @agrees_refl.
      * eapply accok_mono; eauto using @agrees_refl.
    + intros k HW Hr H. destruct (IC1 r g n W D s0 s' io _ HW Hr H) as (n1 & x & s1 & D1 & Hn & Hs & HD & Hx & H1).
      destruct (IC2 (bindE x r) (consE (ev_exp e1 g) g) n1 W D1 s1 s' io k) as (n2 & y & s2 & D2 & Hn2 & Hs2 & HD2 & Hy & H2); eauto using wbelow_le.
      { apply envok_cons; auto. eapply envok_mono; eauto using same_sagree, @agrees_refl. }
      exists n2, y, s2, D2. split; [lia|]. split; [eapply same_trans; eauto|]. split; [eapply agrees_trans; eauto|]. auto.
  - (* Store *) assert (A : specA (Store e) (fst (tr e))) by exact IA. split; [exact A|exact (mem_ok (Store e) _ A)].
  - (* Copy *)
    assert (A : specA (Copy par v e) (fst (tr (Copy par v e)))).
    { intros r g n W D s0 s' io a HW Hr Ha H. destruct (IC r g n W D s0 s' io _ HW Hr H) as (n1 & x & s1 & D1 & Hn & Hs & HD & Hx & is & Ho & H1).
      assert (Ha1 : accok n1 W D1 io a (ary N t)) by (eapply accok_mono; eauto using @agrees_refl).
      eapply wrote_pre; eauto. eapply wrote_le; eauto. refine (loop_wrote n1 W D1 io a N t _ s1 _ par is s' Ha1 _ Ho H1).
      intros i s2 s3 Hi Hs2 H2. eapply (copy_ok t (S n1) W D1); [|apply (accok_idx n1 W D1 io a N t i Hi Ha1)|exact H2].
      apply (rep_elem n1 W D1 s1 io (IView v x) N t (vsem v (ev_exp e g)) i Hi); auto using @agrees_refl. now apply rep_view. }
    split; [exact A|exact (mem_ok (Copy par v e) _ A)].
  - (* RedPar *)
    assert (C : specC (RedPar o z f i e) (snd (tr (RedPar o z f i e)))).
    { intros r g n W D s0 s' io k HW Hr H. destruct (IC r g n W D s0 s' io _ HW Hr H) as (n1 & x & s1 & D1 & Hn & Hs & HD & Hx & H1).
      assert (Hr1 : envok n1 W D1 s1 io r g) by (eapply envok_mono; eauto using same_sagree, @agrees_refl).
      destruct (sum_tail f i o z N r g n1 W D1 s1 s' io x (ev_exp e g) k HL IAi ICf (wbelow_le _ _ _ HW Hn) Hr1 Hx H1) as (n2 & y & s2 & D2 & Hn2 & Hs2 & HD2 & Hy & H2).
      exists n2, y, s2, D2. split; [lia|]. split; [eapply same_trans; eauto|]. split; [eapply agrees_trans; eauto|]. auto. }
    split; [exact (fin_ok (RedPar o z f i e) _ C)|exact C].
  - (* Scatter *)
    assert (A : specA (Scatter is b e) (fst (tr (Scatter is b e)))).
    { intros r g n W D s0 s' io a HW Hr Ha (s1 & H1 & H2). assert (W1 := IAb r g n W D s0 s1 io a HW Hr Ha H1).
      assert (Hr1 : envok n W D s1 io r g) by (eapply envok_mono; eauto using @agrees_refl, (wrote_sagree n W D io a)).
      destruct (ICi r g n W D s1 s' io _ HW Hr1 H2) as (n2 & j & s2 & D2 & Hn2 & Hs2 & HD2 & Hj & H3).
      assert (Hr2 : envok n2 W D2 s2 io r g) by (eapply envok_mono; eauto using same_sagree, @agrees_refl).
      destruct (IC r g n2 W D2 s2 s' io _ (wbelow_le _ _ _ HW Hn2) Hr2 H3) as (n3 & x & s3 & D3 & Hn3 & Hs3 & HD3 & Hx & is' & -> & H4).
      assert (HD : agrees n D D3) by (eapply agrees_trans; eauto). assert (Hs : same n s1 s3) by (eapply same_trans; eauto).
      assert (Ha3 : accok n3 W D3 io a (ary m t)) by (eapply accok_mono; eauto using @agrees_refl; lia).
      assert (Hj3 : rep n3 W D3 s3 io j (ary N (idx m)) (ev_exp is g)) by (eapply rep_mono; eauto using same_sagree, @agrees_refl).
      assert (P := scatterI_ok t N m n3 W D3 s3 io j x a (ev_exp is g) (ev_exp e g) (ev_exp b g) Ha3 Hj3 Hx).
      destruct (P ltac:(intros p Hp; rewrite Hs by (apply (ao_below _ _ _ _ _ _ Ha); auto); now apply W1) N s' (le_n N) H4) as [P1 P2].
      split; [exact P1|]. intros l q Hl Hq. rewrite P2, Hs by (auto; lia). now apply W1. }
    split; [exact A|exact (mem_ok (Scatter is b e) _ A)].
Qed.
End Correct.
