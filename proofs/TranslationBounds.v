(* No translated program reads or writes outside an array: for every well-typed program, all sizes, 0 among them, in both modes, in any order of
   parallel iterations. *)
From Coq Require Import Arith List Lia Bool Permutation.
From Lozenge Require Import Paths Phrases Overwrite Translation Represent InPlace TranslationCorrect.
From Lozenge Require Export MacroBounds.
Import ListNotations.

Section Bounds.
Context {K : Scalars} {Keep : Policy}.

Variable fuse : bool.
Notation tr := (tr fuse).
Lemma red_tail_safe {G t} (i : exp G t) N r g n W D s io k (body : stepper) F :
  lawful i -> safeA i (fst (tr i)) -> safeC i (snd (tr i)) -> wbelow n W -> envok n W D s io r g ->
  (forall n2 s2 D2, n <= n2 -> same n s s2 -> agrees n D D2 -> stepok n2 W D2 s2 io t N body F /\ stepsafe n2 W D2 s2 io t N body) ->
  (forall n1 x s1 D1, n <= n1 -> same n s s1 -> agrees n D D1 -> rep n1 W D1 s1 io x t (steps N F (ev_exp i g)) -> safe D1 (k n1 x) io s1) ->
  safe D (if fuse then reduceI fuse t N n (fst (tr i) r) body (fun n' => k n' (IVar n))
          else snd (tr i) r n (fun n y => reduceI fuse t N n (fun n a => copy t n a y) body (fun n' => k n' (IVar n)))) io s.
Proof.
  intros Li IA IC HW Hr HB Hk.
  assert (HN : forall m, n <= m -> forall p, ~ W m p). { intros m Hm p C. apply HW in C. lia. }
  assert (HO : ok t (ev_exp i g)). { apply ev_ok. intros v y. apply (envok_ok _ _ _ _ _ _ _ Hr). }
  destruct (tr_correct fuse _ _ i Li) as [CA _].
  destruct fuse.
  - destruct (HB n s D (le_n n) (fun l q Hl => eq_refl) (agrees_refl _ _)) as [B1 B2].
    apply (reduceI_safe _ t N n W D s io _ body (fun n' => k n' (IVar n)) (ev_exp i g) F); auto.
    + eapply init_safe; eauto.
    + eapply init_ok; eauto.
    + intros s1 Hs Hx. apply Hk; auto. now apply agrees_upd.
  - apply (IC r g n W D s io _ HW Hr). intros n1 y s1 D1 Hn Hs HD Hy. destruct (HB n1 s1 D1 Hn Hs HD) as [B1 B2].
    apply (reduceI_safe _ t N n1 W D1 s1 io _ body (fun n' => k n' (IVar n1)) (ev_exp i g) F); auto.
    + eapply init_copy_safe; eauto.
    + eapply init_copy_ok; eauto.
    + intros s2 Hs2 Hx. apply Hk; auto; [eapply same_trans; eauto|]. eapply agrees_trans; eauto. now apply agrees_upd.
Qed.

(* ---------- sums in parallel, and scatter ---------- *)
Lemma scatterI_safe t N m n W D s io j x a (vj : nat -> nat) (vx : nat -> den t) (vb : den (ary m t)) :
  accok n W D io a (ary m t) -> rep n W D s io j (ary N (idx m)) vj -> rep n W D s io x (ary N t) vx ->
  (forall p, leaf (ary m t) p -> s (fst (loc io a p)) (snd (loc io a p)) = sel (ary m t) vb p) ->
  safe D (scatterI t N m n j x a) io s.
Proof.
  intros Ha Hj Hx Hb is ->.
  apply along_turns with (N := N) (Q := fun M s1 => iterR (fun i => exec (Index (S n) m (IAt j (ILoop n)) (copy t (S (S n)) (AAt a (S n)) (IAt x (ILoop n)))) (upd io n i)) (seq 0 M) s s1); auto.
  - intros M s1 HM I1. assert (W1 := scatterI_ok t N m n W D s io j x a vj vx vb Ha Hj Hx Hb M s1 (Nat.lt_le_incl _ _ HM) I1).
    assert (S1 : sagree n W s s1) by (eapply wrote_sagree; eauto).
    destruct (scatter_step t N m n W D s s1 io j x a vj vx M Ha Hj Hx HM S1) as ((E1 & E2 & E3) & Rx & A2 & _).
    cbn [safe]. rewrite E1. split; [exact E2|]. split; [exact E3|]. eapply copy_safe; eauto.
  - intros M s1 s2 HM I1 E. rewrite seq_S, iterR_app. exists s1. split; auto. cbn [iterR Nat.add]. eauto.
  - reflexivity.
Qed.
Lemma sum_tail_safe {G u} (f : exp (u :: G) num) (i : exp G num) o z N r g n W D s io x (ve : den (ary N u)) k :
  monoid o z -> lawful i -> lawful f -> safeA i (fst (tr i)) -> safeC f (snd (tr f)) -> wbelow n W -> envok n W D s io r g -> rep n W D s io x (ary N u) ve ->
  (forall n1 y s1 D1, n <= n1 -> same n s s1 -> agrees n D D1 ->
     rep n1 W D1 s1 io y num (steps N (fun k a => op2 o (ev_exp f (consE (ve k) g)) a) (ev_exp i g)) -> safe D1 (k n1 y) io s1) ->
  safe D (sumI o z N n (fst (tr i) r) (fun m a => snd (tr f) (bindE (IAt x (ILoop (S n))) r) m (fun _ y => Assign a y)) (fun n' => k n' (IVar n))) io s.
Proof.
  intros HL Li Lf IAi ICf HW Hr Hx Hk. assert (HN : forall p, ~ W n p) by (intros p C; apply HW in C; lia).
  destruct (tr_correct fuse _ _ i Li) as [CA _]. destruct (tr_correct fuse _ _ f Lf) as [_ CC].
  assert (Hinit := init_ok i _ n W D s io r g CA Hr HN).
  set (body := snd (tr f) (bindE (IAt x (ILoop (S n))) r) (S (S (S n))) (fun _ y => Assign (AVar (S (S n))) y)).
  assert (HB : forall j s2, j < N -> same n s s2 -> safe (upd (upd D n num) (S (S n)) num) body (upd io (S n) j) s2 /\
    forall s3, exec body (upd io (S n) j) s2 s3 -> wrote (S (S (S n))) (upd io (S n) j) (AVar (S (S n))) num (ev_exp f (consE (ve j) g)) s2 s3).
  { intros j s2 Hj Hs2. assert (Q := sum_env n W D s s2 io r g x ve j Hr Hx Hj Hs2).
    assert (A : accok (S (S (S n))) (only (S (S n))) (upd (upd D n num) (S (S n)) num) (upd io (S n) j) (AVar (S (S n))) num) by (apply accok_var; auto; apply upd_same).
    split; [exact (fin_safe f _ ICf _ (consE (ve j) g) _ (only (S (S n))) _ _ _ _ (wbelow_only _ _ (le_n _)) Q A)|].
    intros s3 E. exact (fin_ok f _ CC _ (consE (ve j) g) _ (only (S (S n))) _ _ s3 _ _ (wbelow_only _ _ (le_n _)) Q A E). }
  assert (SJ : forall s2 junk, same n s s2 -> same n s (upd s2 (S (S n)) junk)).
  { intros s2 junk H. eapply same_trans; [exact H|reflexivity|]. apply same_upd. lia. }
  intros junk. split; [eapply init_safe; eauto; now apply same_upd|]. intros s1 H1.
  assert (P := Hinit _ _ (same_upd n s n junk (le_n n)) H1).
  assert (S1 : same n s s1). { eapply same_trans; [apply same_upd with (n := n); reflexivity|reflexivity|]. eapply wrote_below; eauto. }
  split.
  - split; [rewrite upd_same; exact I|]. intros is Hp. apply along_inv with (Q := same n s); auto.
    + intros j s2 Hj Hs2 junk2. apply HB; auto. apply (Permutation_in _ (Permutation_sym Hp)), in_seq in Hj. lia.
    + intros j s2 s3 Hj Hs2 [junk2 E]. apply (Permutation_in _ (Permutation_sym Hp)), in_seq in Hj.
      apply HB in E; auto; [|lia]. eapply same_trans; [exact (SJ s2 junk2 Hs2)|reflexivity|]. eapply wrote_below; eauto.
  - intros s2 H2.
    destruct (sumI_ok o z N n W D s s2 io (fst (tr i) r) (fun _ _ => body) (fun _ => Skip) (ev_exp i g) (fun k => ev_exp f (consE (ve k) g)) HL HN Hinit) as (s3 & Hs3 & Hy & E).
    + intros j s3 s4 Hj Hs3 E. now apply HB.
    + exists junk, s1. split; auto. exists s2. split; auto. reflexivity.
    + cbn in E. subst s3. apply Hk; auto. now apply agrees_upd.
Qed.

(* ---------- every well-typed program ---------- *)
Theorem tr_safe : forall G t (e : exp G t), lawful e -> safeA e (fst (tr e)) /\ safeC e (snd (tr e)).
Proof.
  induction 1 as [G t x|G v|G m i Hi|G o e L [_ IC]|G o e1 e2 L1 [_ IC1] L2 [_ IC2]|G m e L [_ IC]|G m m' f Hf e L [_ IC]|G d t v e L [IA IC]
    |G d1 d2 t j e1 e2 L1 [IA1 IC1] L2 [IA2 IC2]|G N t e i L [_ IC] Li [_ ICi]|G N m t is e Li [_ ICi] L [_ IC]|G m
    |G N s t par f e Lf [IAf _] L [_ IC]|G t N par f Lf [IAf _]|G N s t f i e Lf [IAf _] Li [IAi ICi] L [_ IC]|G N s t f i e Lf [IAf _] Li [IAi ICi] L [_ IC]
    |G t N f i Lf [IAf _] Li [IAi ICi]|G t c e1 e2 Lc [_ ICc] L1 [IA1 IC1] L2 [IA2 IC2]|G s t e1 e2 L1 [_ IC1] L2 [IA2 IC2]|G t e L [IA IC]|G d N t par v e L [_ IC]
    |G N s o z f i e HL Lf [_ ICf] Li [IAi _] L [_ IC]|G N m t is b e Li [_ ICi] Lb [IAb _] L [_ IC]].
  - (* Var *)
    assert (C : safeC (Var x) (fun r n k => k n (r t x))). { apply (now_safe (Var x) (fun r n => r t x)). intros r g n W D s io Hr. apply Hr. }
    split; [exact (fin_safe (Var x) _ C)|exact C].
  - (* Lit *)
    assert (C : safeC (Lit v) (fun (r : renv G) n k => k n (ILit v))). { apply (now_safe (Lit v) (fun _ _ => ILit v)). intros. apply rep_lit. }
    split; [exact (fin_safe (Lit v) _ C)|exact C].
  - (* Nat *)
    assert (C : safeC (Nat i Hi) (fun (r : renv G) n k => k n (INat i))). { apply (now_safe (Nat i Hi) (fun _ _ => INat i)). intros. now apply rep_nat. }
    split; [exact (fin_safe (Nat i Hi) _ C)|exact C].
  - (* Op1 *)
    assert (C := C1_safe e (Op1 o e) _ (IOp1 o) (op1 o) IC (fun n W D s io x v H => rep_op1 n W D s io o x v H) (fun g => eq_refl)).
    split; [exact (fin_safe (Op1 o e) _ C)|exact C].
  - (* Op2 *)
    assert (C := C2_safe e1 e2 (Op2 o e1 e2) _ _ (IOp2 o) (op2 o) IC1 IC2 (fun n W D s io x y v w H => rep_op2 n W D s io o x y v w H) (fun g => eq_refl)).
    split; [exact (fin_safe (Op2 o e1 e2) _ C)|exact C].
  - (* Value *)
    assert (C := C1_safe e (Value e) _ (fun x => x) (of_nat : den (idx m) -> den num) IC (fun n W D s io x v H => rep_value n W D s io m x v H) (fun g => eq_refl)).
    split; [exact (fin_safe (Value e) _ C)|exact C].
  - (* Move *)
    assert (C := C1_safe e (Move f Hf e) _ (IMove f) (f : den (idx m) -> den (idx m')) IC (fun n W D s io x v H => rep_move n W D s io f m m' x v Hf H) (fun g => eq_refl)).
    split; [exact (fin_safe (Move f Hf e) _ C)|exact C].
  - (* View *)
    assert (C := C1_safe e (View v e) _ (IView v) (vsem v) IC (fun n W D s io x y H => rep_view n W D s io v x y H) (fun g => eq_refl)).
    split; [|exact C]. cbn [Translation.tr fst]. destruct (writable v) eqn:Hv; [|exact (fin_safe (View v e) _ C)].
    intros r g n W D s io a HW Hr Ha. apply (IA r g n W D s io (AView v a)); auto. apply accok_out; auto.
  - (* Both *)
    assert (C := C2_safe e1 e2 (Both j e1 e2) _ _ (IBoth j) (bsem j) IC1 IC2 (fun n W D s io x y v w H => rep_both n W D s io j x y v w H) (fun g => eq_refl)).
    split; [|exact C]. intros r g n W D s io a HW Hr Ha. cbn [Translation.tr fst]. destruct (fuse && is_zip j && (pure e1 && pure e2)) eqn:Hp.
    + apply andb_prop in Hp as [_ Hp]. apply andb_prop in Hp as [P1 P2]. apply (copy_safe _ n W D s io a _ (bsem j (ev_exp e1 g) (ev_exp e2 g))); auto. apply rep_both; apply px_ok; auto.
    + assert (A1 := accok_put _ _ _ _ _ j false Ha). assert (A2 := accok_put _ _ _ _ _ j true Ha).
      split; [eapply IA1; eauto|]. intros s1 H1.
      assert (W1 := proj1 (tr_correct fuse _ _ e1 L1) r g n W D s s1 io _ HW Hr A1 H1).
      assert (Hr1 : envok n W D s1 io r g) by (eapply envok_mono; eauto using @agrees_refl, (wrote_put_sagree n W D io a j false)).
      eapply IA2; eauto.
  - (* At *)
    assert (C := C2_safe e i (At e i) _ _ IAt (fun (v : den (ary N t)) (i : den (idx N)) => v i) IC ICi (fun n W D s io x y v w H H' => rep_at n W D s io N x y t v w H H') (fun g => eq_refl)).
    split; [exact (fin_safe (At e i) _ C)|exact C].
  - (* Gather *)
    assert (C := C2_safe is e (Gather is e) _ _ IGather (fun (j : den (ary m (idx N))) (v : den (ary N t)) => (fun i => v (j i)) : den (ary m t)) ICi IC
      (fun n W D s io x y v w H H' => rep_gather n W D s io N m y x t w v H' H) (fun g => eq_refl)).
    split; [exact (fin_safe (Gather is e) _ C)|exact C].
  - (* Iota *)
    assert (C : safeC (Iota m) (fun (r : renv G) n k => k n IIota)). { apply (now_safe (Iota m) (fun _ _ => IIota)). intros. apply rep_iota. }
    split; [exact (fin_safe (Iota m) _ C)|exact C].
  - (* Map *)
    assert (A : safeA (Map par f e) (fst (tr (Map par f e)))).
    { intros r g n W D s0 io a HW Hr Ha. apply (IC r g n W D s0 io _ HW Hr). intros n1 x s1 D1 Hn Hs HD Hx.
      assert (Hr1 : envok n1 W D1 s1 io r g) by (eapply envok_mono; eauto using same_sagree, @agrees_refl).
      assert (Ha1 : accok n1 W D1 io a (ary N t)) by (eapply accok_mono; eauto using @agrees_refl).
      assert (HE : forall i s2, i < N -> sagree n1 W s1 s2 -> envok (S n1) W D1 s2 (upd io n1 i) (bindE (IAt x (ILoop n1)) r) (consE (ev_exp e g i) g)).
      { intros i s2 Hi Hs2. eapply envok_loop; eauto using @agrees_refl. eapply rep_elem; eauto using @agrees_refl. }
      assert (HW1 : wbelow (S n1) W) by (eapply wbelow_le; eauto).
      apply (loop_safe n1 W D1 io a N t (fun i => ev_exp f (consE (ev_exp e g i) g)) s1); auto.
      - intros i s2 Hi Hs2. eapply (IAf _ (consE (ev_exp e g i) g) (S n1) W D1); [exact HW1|apply HE; auto|eapply accok_idx; eauto].
      - intros i s2 s3 Hi Hs2 H2. eapply (proj1 (tr_correct fuse _ _ f Lf) _ (consE (ev_exp e g i) g) (S n1) W D1); [exact HW1|apply HE; auto|eapply accok_idx; eauto|exact H2]. }
    split; [exact A|]. cbn [Translation.tr snd]. destruct (fuse && pure f) eqn:Hp; [|exact (mem_safe (Map par f e) _ (proj1 (tr_correct fuse _ _ (Map par f e) (l_map par f e Lf L))) A)].
    apply andb_prop in Hp as [_ Hp]. intros r g n W D s0 io k HW Hr Hk.
    apply (IC r g n W D s0 io _ HW Hr). intros n1 x s1 D1 Hn Hs HD Hx.
    assert (Hr1 : envok n1 W D1 s1 io r g) by (eapply envok_mono; eauto using same_sagree, @agrees_refl).
    apply Hk; auto. eapply rep_mono; [apply (map_view_ok f n1 W D1 s1 io r g x (ev_exp e g)); auto| | | | |]; eauto using sagree_refl, @agrees_refl.
  - (* Gen *)
    assert (A : safeA (Gen N par f) (fst (tr (Gen N par f)))).
    { intros r g n W D s0 io a HW Hr Ha.
      assert (HE : forall i s2, i < N -> sagree n W s0 s2 -> envok (S n) W D s2 (upd io n i) (bindE (ILoop n) r) (consE (F := den) (s := idx N) i g)).
      { intros i s2 Hi Hs2. eapply (envok_loop (s := idx N)); eauto using @agrees_refl. now apply rep_loop. }
      assert (HW1 : wbelow (S n) W) by (eapply wbelow_le; eauto).
      apply (loop_safe n W D io a N t (fun i => ev_exp f (consE (F := den) (s := idx N) i g)) s0); auto.
      - intros i s2 Hi Hs2. eapply (IAf _ (consE (F := den) (s := idx N) i g) (S n) W D); [exact HW1|apply HE; auto|eapply accok_idx; eauto].
      - intros i s2 s3 Hi Hs2 H2. eapply (proj1 (tr_correct fuse _ _ f Lf) _ (consE (F := den) (s := idx N) i g) (S n) W D); [exact HW1|apply HE; auto|eapply accok_idx; eauto|exact H2]. }
    split; [exact A|]. cbn [Translation.tr snd]. destruct (pure f) eqn:Hp; [|exact (mem_safe (Gen N par f) _ (proj1 (tr_correct fuse _ _ (Gen N par f) (l_gen N par f Lf))) A)].
    intros r g n W D s0 io k HW Hr Hk. apply Hk; auto using @agrees_refl. { intros l q Hl; auto. }
    eapply rep_mono; [apply (gen_view_ok f n W D s0 io r g Hp Hr)| | | | |]; eauto using sagree_refl, @agrees_refl.
  - (* Red *)
    assert (C : safeC (Red f i e) (snd (tr (Red f i e)))).
    { intros r g n W D s0 io k HW Hr Hk. apply (IC r g n W D s0 io _ HW Hr). intros n1 x s1 D1 Hn Hs HD Hx.
      assert (Hr1 : envok n1 W D1 s1 io r g) by (eapply envok_mono; eauto using same_sagree, @agrees_refl).
      apply (red_tail_safe i N r g n1 W D1 s1 io k (fun v j => fst (tr f) (bindE (IVar v) (bindE (IAt x j) r)))
        (fun k a => ev_exp f (consE a (consE (ev_exp e g k) g))) Li IAi ICi (wbelow_le _ _ _ HW Hn) Hr1).
      - intros n2 s2 D2 Hn2 Hs2 HD2.
        assert (Hr2 : envok n2 W D2 s2 io r g) by (eapply envok_mono; eauto using same_sagree, @agrees_refl).
        assert (Hx2 : rep n2 W D2 s2 io x (ary N s) (ev_exp e g)) by (eapply rep_mono; eauto using same_sagree, @agrees_refl).
        split; [apply step_red; auto; apply (tr_correct fuse _ _ f Lf)|eapply step_red_safe; eauto].
      - intros n2 y s2 D2 Hn2 Hs2 HD2 Hy. apply Hk; auto; [lia|eapply same_trans; eauto|eapply agrees_trans; eauto]. }
    split; [|exact C]. assert (A := fin_safe (Red f i e) _ C). intros r g n W D s0 io a HW Hr Ha. cbn [Translation.tr fst].
    destruct (into fuse t n a) as [v|] eqn:Hi; [|exact (A r g n W D s0 io a HW Hr Ha)]. apply into_some in Hi as (_ & Hf & Hv & ->).
    apply (IC r g n W D s0 io _ HW Hr). intros n1 x s1 D1 Hn Hs HD Hx.
    assert (Hr1 : envok n1 W D1 s1 io r g) by (eapply envok_mono; eauto using same_sagree, @agrees_refl).
    assert (Ha1 : accok n1 W D1 io (AVar v) t) by (eapply accok_mono; eauto using @agrees_refl).
    apply (reduceO_safe fuse i (fst (tr i)) N v n1 W D1 s1 io r g _ (fun k a => ev_exp f (consE a (consE (ev_exp e g k) g)))); eauto using wbelow_le; [apply (tr_correct fuse _ _ i Li)|lia|].
    intros s2 Hs2. assert (Hr2 : envok n1 W D1 s2 io r g) by (eapply envok_mono; eauto using @agrees_refl).
    assert (Hx2 : rep n1 W D1 s2 io x (ary N s) (ev_exp e g)) by (eapply rep_mono; eauto using @agrees_refl).
    split; [apply step_red; auto; apply (tr_correct fuse _ _ f Lf)|eapply step_red_safe; eauto].
  - (* Scan *)
    assert (A : safeA (Scan f i e) (fst (tr (Scan f i e)))).
    { intros r g n W D s0 io a HW Hr Ha. apply (IC r g n W D s0 io _ HW Hr). intros n1 x s1 D1 Hn Hs HD Hx.
      assert (Hr1 : envok n1 W D1 s1 io r g) by (eapply envok_mono; eauto using same_sagree, @agrees_refl).
      apply (scanI_safe t N n1 W D1 s1 io _ _ a (ev_exp i g) (fun k a => ev_exp f (consE a (consE (ev_exp e g k) g))) (wbelow_le _ _ _ HW Hn)).
      - apply ev_ok. intros v y. apply (envok_ok _ _ _ _ _ _ _ Hr).
      - eapply accok_mono; eauto using @agrees_refl.
      - eapply init_safe; eauto.
      - apply (init_ok i _ n1 W D1 s1 io r g (proj1 (tr_correct fuse _ _ i Li)) Hr1). intros p C. apply HW in C. lia.
      - exact (step_body n1 W D1 s1 io t N _ _ n1 (S n1) (Nat.le_succ_diag_r n1) (Nat.le_succ_diag_r n1) (step_red f _ N n1 W D1 s1 io r g x (ev_exp e g) (proj1 (tr_correct fuse _ _ f Lf)) Hr1 Hx)).
      - exact (step_body_safe n1 W D1 s1 io t N _ n1 (S n1) (Nat.le_succ_diag_r n1) (Nat.le_succ_diag_r n1) (step_red_safe f _ N n1 W D1 s1 io r g x (ev_exp e g) IAf Hr1 Hx)). }
    split; [exact A|exact (mem_safe (Scan f i e) _ (proj1 (tr_correct fuse _ _ (Scan f i e) (l_scan f i e Lf Li L))) A)].
  - (* Iter *)
    assert (C : safeC (Iter N f i) (snd (tr (Iter N f i)))).
    { intros r g n W D s0 io k HW Hr Hk.
      apply (red_tail_safe i N r g n W D s0 io k (fun v _ => fst (tr f) (bindE (IVar v) r)) (fun _ a => ev_exp f (consE a g)) Li IAi ICi HW Hr); [|exact Hk].
      intros n2 s2 D2 Hn2 Hs2 HD2. assert (Hr2 : envok n2 W D2 s2 io r g) by (eapply envok_mono; eauto using same_sagree, @agrees_refl).
      split; [apply step_iter; auto; apply (tr_correct fuse _ _ f Lf)|eapply step_iter_safe; eauto]. }
    split; [|exact C]. assert (A := fin_safe (Iter N f i) _ C). intros r g n W D s0 io a HW Hr Ha. cbn [Translation.tr fst].
    destruct (into fuse t n a) as [v|] eqn:Hi; [|exact (A r g n W D s0 io a HW Hr Ha)]. apply into_some in Hi as (_ & Hf & Hv & ->).
    apply (reduceO_safe fuse i (fst (tr i)) N v n W D s0 io r g _ (fun _ a => ev_exp f (consE a g))); eauto; [apply (tr_correct fuse _ _ i Li)|].
    intros s2 Hs2. assert (Hr2 : envok n W D s2 io r g) by (eapply envok_mono; eauto using @agrees_refl).
    split; [apply step_iter; auto; apply (tr_correct fuse _ _ f Lf)|eapply step_iter_safe; eauto].
  - (* Select *)
    assert (C : safeC (Select c e1 e2) (fun r n k => snd (tr c) r n (fun n x => snd (tr e1) r n (fun n y => snd (tr e2) r n (fun n z => k n (ISel x y z)))))).
    { intros r g n W D s0 io k HW Hr Hk. apply (ICc r g n W D s0 io _ HW Hr). intros n1 x s1 D1 Hn Hs HD Hx.
      assert (Hr1 : envok n1 W D1 s1 io r g) by (eapply envok_mono; eauto using same_sagree, @agrees_refl).
      apply (IC1 r g n1 W D1 s1 io _ (wbelow_le _ _ _ HW Hn) Hr1). intros n2 y s2 D2 Hn2 Hs2 HD2 Hy.
      assert (Hr2 : envok n2 W D2 s2 io r g) by (eapply envok_mono; eauto using same_sagree, @agrees_refl).
      apply (IC2 r g n2 W D2 s2 io _ (wbelow_le _ _ _ HW (Nat.le_trans _ _ _ Hn Hn2)) Hr2). intros n3 z s3 D3 Hn3 Hs3 HD3 Hz.
      apply Hk; [lia|eapply same_trans; [eapply same_trans; eauto| |eauto]; lia|eapply agrees_trans; [eapply agrees_trans; eauto| |eauto]; lia|].
      apply rep_sel.
      - eapply rep_mono; [eapply rep_mono; [exact Hx| | | | |]| | | | |]; eauto using same_sagree, @agrees_refl.
      - eapply rep_mono; eauto using same_sagree, @agrees_refl.
      - exact Hz. }
    assert (B : safeA (Select c e1 e2) (fun r n a => snd (tr c) r n (fun n x => If x (fst (tr e1) r n a) (fst (tr e2) r n a)))).
    { intros r g n W D s0 io a HW Hr Ha. apply (ICc r g n W D s0 io _ HW Hr). intros n1 x s1 D1 Hn Hs HD Hx.
      assert (Hr1 : envok n1 W D1 s1 io r g) by (eapply envok_mono; eauto using same_sagree, @agrees_refl).
      assert (Ha1 : accok n1 W D1 io a t) by (eapply accok_mono; eauto using @agrees_refl).
      assert (HW1 := wbelow_le _ _ _ HW Hn). destruct (rep_now _ _ _ _ _ _ _ _ Hx [] I) as [_ E]. split; [exact E|].
      destruct (truth _); [eapply IA1|eapply IA2]; eauto. }
    split; cbn [Translation.tr fst snd].
    + destruct fuse; [exact B|exact (fin_safe (Select c e1 e2) _ C)].
    + destruct (fuse && negb (pure e1 && pure e2)) eqn:Hp; [|exact C]. apply andb_prop in Hp as [Hp _].
      assert (T := proj1 (tr_correct fuse _ _ (Select c e1 e2) (l_select c e1 e2 Lc L1 L2))). cbn [Translation.tr fst] in T. rewrite Hp in T.
      rewrite Hp in B |- *. exact (mem_safe (Select c e1 e2) _ T B).
  - (* Let *) split; intros r g n W D s0 io; cbn [Translation.tr fst snd].
    + intros a HW Hr Ha. apply (IC1 r g n W D s0 io _ HW Hr). intros n1 x s1 D1 Hn Hs HD Hx.
      apply (IA2 (bindE x r) (consE (ev_exp e1 g) g) n1 W D1 s1 io a); [eauto using wbelow_le| |].
      * apply envok_cons; auto. eapply envok_mono; eauto using same_sagree, @agrees_refl.
      * eapply accok_mono; eauto using @agrees_refl.
    + intros k HW Hr Hk. apply (IC1 r g n W D s0 io _ HW Hr). intros n1 x s1 D1 Hn Hs HD Hx.
      apply (IC2 (bindE x r) (consE (ev_exp e1 g) g) n1 W D1 s1 io k); [eauto using wbelow_le| |].
      { apply envok_cons; auto. eapply envok_mono; eauto using same_sagree, @agrees_refl. }
      intros n2 y s2 D2 Hn2 Hs2 HD2 Hy. apply Hk; auto; [lia|eapply same_trans; eauto|eapply agrees_trans; eauto].
  - (* Store *) assert (A : safeA (Store e) (fst (tr e))) by exact IA. split; [exact A|exact (mem_safe (Store e) _ (proj1 (tr_correct fuse _ _ (Store e) (l_store e L))) A)].
  - (* Copy *)
    assert (A : safeA (Copy par v e) (fst (tr (Copy par v e)))).
    { intros r g n W D s0 io a HW Hr Ha. apply (IC r g n W D s0 io _ HW Hr). intros n1 x s1 D1 Hn Hs HD Hx.
      assert (Ha1 : accok n1 W D1 io a (ary N t)) by (eapply accok_mono; eauto using @agrees_refl).
      assert (HE : forall i s2, i < N -> sagree n1 W s1 s2 -> rep (S n1) W D1 s2 (upd io n1 i) (IAt (IView v x) (ILoop n1)) t (vsem v (ev_exp e g) i)).
      { intros i s2 Hi Hs2. apply (rep_elem n1 W D1 s1 io (IView v x) N t (vsem v (ev_exp e g)) i Hi); auto using @agrees_refl. now apply rep_view. }
      apply (loop_safe n1 W D1 io a N t (vsem v (ev_exp e g)) s1); auto.
      - intros i s2 Hi Hs2. eapply copy_safe; [apply HE; auto|eapply accok_idx; eauto].
      - intros i s2 s3 Hi Hs2 H2. eapply copy_ok; [apply HE; auto|eapply accok_idx; eauto|exact H2]. }
    split; [exact A|exact (mem_safe (Copy par v e) _ (proj1 (tr_correct fuse _ _ (Copy par v e) (l_copy par v e L))) A)].
  - (* RedPar *)
    assert (C : safeC (RedPar o z f i e) (snd (tr (RedPar o z f i e)))).
    { intros r g n W D s0 io k HW Hr Hk. apply (IC r g n W D s0 io _ HW Hr). intros n1 x s1 D1 Hn Hs HD Hx.
      assert (Hr1 : envok n1 W D1 s1 io r g) by (eapply envok_mono; eauto using same_sagree, @agrees_refl).
      apply (sum_tail_safe f i o z N r g n1 W D1 s1 io x (ev_exp e g) k HL Li Lf IAi ICf (wbelow_le _ _ _ HW Hn) Hr1 Hx).
      intros n2 y s2 D2 Hn2 Hs2 HD2 Hy. apply Hk; auto; [lia|eapply same_trans; eauto|eapply agrees_trans; eauto]. }
    split; [exact (fin_safe (RedPar o z f i e) _ C)|exact C].
  - (* Scatter *)
    assert (A : safeA (Scatter is b e) (fst (tr (Scatter is b e)))).
    { intros r g n W D s0 io a HW Hr Ha. split; [eapply IAb; eauto|]. intros s1 H1. assert (W1 := proj1 (tr_correct fuse _ _ b Lb) r g n W D s0 s1 io a HW Hr Ha H1).
      assert (Hr1 : envok n W D s1 io r g) by (eapply envok_mono; eauto using @agrees_refl, (wrote_sagree n W D io a)).
      apply (ICi r g n W D s1 io _ HW Hr1). intros n2 j s2 D2 Hn2 Hs2 HD2 Hj.
      assert (Hr2 : envok n2 W D2 s2 io r g) by (eapply envok_mono; eauto using same_sagree, @agrees_refl).
      apply (IC r g n2 W D2 s2 io _ (wbelow_le _ _ _ HW Hn2) Hr2). intros n3 x s3 D3 Hn3 Hs3 HD3 Hx.
      assert (HD : agrees n D D3) by (eapply agrees_trans; eauto). assert (Hs : same n s1 s3) by (eapply same_trans; eauto).
      assert (Ha3 : accok n3 W D3 io a (ary m t)) by (eapply accok_mono; eauto using @agrees_refl; lia).
      assert (Hj3 : rep n3 W D3 s3 io j (ary N (idx m)) (ev_exp is g)) by (eapply rep_mono; eauto using same_sagree, @agrees_refl).
      apply (scatterI_safe t N m n3 W D3 s3 io j x a (ev_exp is g) (ev_exp e g) (ev_exp b g) Ha3 Hj3 Hx).
      intros p Hp. rewrite Hs by (apply (ao_below _ _ _ _ _ _ Ha); auto). now apply W1. }
    split; [exact A|exact (mem_safe (Scatter is b e) _ (proj1 (tr_correct fuse _ _ (Scatter is b e) (l_scatter is b e Li Lb L))) A)].
Qed.

(* Whole programs: the output at level 0 and the inputs below level [n] are arrays of types [D]. *)
Theorem compile_safe {G t} (e : exp G t) (r : renv G) g n D s io : lawful e ->
  0 < n -> D 0 = t -> envok n (only 0) D s io r g -> safe D (fst (tr e) r n (AVar 0)) io s.
Proof.
  intros L Hn HD Hr. apply (proj1 (tr_safe G t e L) r g n (only 0) D s io (AVar 0)); auto using wbelow_only.
  apply accok_var; auto. right. reflexivity.
Qed.
End Bounds.
