(* The macros between programs and commands read and write inside arrays only, wherever the parts that they are made of do. *)
From Coq Require Import Arith List Lia Bool Permutation.
From Lozenge Require Import Paths Phrases Overwrite Translation Represent InPlace Macros.
Import ListNotations.

Section Bounds.
Context {K : Scalars} {Keep : Policy}.

Definition safeA {G t} (e : exp G t) (A : tyA G) := forall r g n W D s io a,
  wbelow n W -> envok n W D s io r g -> accok n W D io a t -> safe D (A r n a) io s.
Definition safeC {G t} (e : exp G t) (C : tyC G) := forall r g n W D s io k,
  wbelow n W -> envok n W D s io r g ->
  (forall n1 x s1 D1, n <= n1 -> same n s s1 -> agrees n D D1 -> rep n1 W D1 s1 io x t (ev_exp e g) -> safe D1 (k n1 x) io s1) ->
  safe D (C r n k) io s.

(* ---------- loops ---------- *)
Lemma along_inv (P : nat -> store -> Prop) (R : nat -> store -> store -> Prop) (Q : store -> Prop) is :
  (forall i s, In i is -> Q s -> P i s) -> (forall i s s', In i is -> Q s -> R i s s' -> Q s') -> forall s, Q s -> along P R is s.
Proof. induction is as [|i is IH]; cbn; auto. intros HP HR s Hs. split; auto. intros s1 H1. apply IH; eauto. Qed.
Lemma along_turns (P : nat -> store -> Prop) (R : nat -> store -> store -> Prop) (Q : nat -> store -> Prop) N :
  (forall i s, i < N -> Q i s -> P i s) -> (forall i s s', i < N -> Q i s -> R i s s' -> Q (S i) s') -> forall m k s, k + m = N -> Q k s -> along P R (seq k m) s.
Proof. intros HP HR. induction m as [|m IH]; cbn; auto. intros k s E Hs. split; [apply HP; auto; lia|]. intros s1 H1. apply IH; [lia|]. eapply HR; eauto. lia. Qed.
Lemma loop_safe n W D io a N d (v : nat -> den d) s0 c par : accok n W D io a (ary N d) ->
  (forall i s, i < N -> sagree n W s0 s -> safe D c (upd io n i) s) ->
  (forall i s s', i < N -> sagree n W s0 s -> exec c (upd io n i) s s' -> wrote (S n) (upd io n i) (AAt a n) d (v i) s s') ->
  safe D (For par n N c) io s0.
Proof.
  intros Ha HS HR is Ho. destruct (order_in _ _ _ Ho) as [_ Hin]. apply along_inv with (Q := sagree n W s0); auto using sagree_refl.
  - intros i s Hi. apply HS. now apply Hin.
  - intros i s s' Hi Hs E. apply Hin in Hi.
    apply (loop_map n W D io a N d v s0 (fun i => exec c (upd io n i)) Ha HR [i] s s'); auto.
    + constructor; auto. constructor.
    + intros j [<-|[]]. auto.
    + cbn. eauto.
Qed.
Lemma copy_safe d : forall n W D s io a x v, rep n W D s io x d v -> accok n W D io a d -> safe D (copy d n a x) io s.
Proof.
  assert (FL : forall d n W D s io a x v, flat d = true -> rep n W D s io x d v -> accok n W D io a d -> safe D (Assign a x) io s).
  { intros d0 n W D s io a x v Hf Hx Ha. split; [apply (ao_leaf _ _ _ _ _ _ Ha); now apply flat_leaf|]. apply (rep_now _ _ _ _ _ _ _ _ Hx). now apply flat_leaf. }
  induction d as [|m|N d IH|d1 IH1 d2 IH2]; intros n W D s io a x v Hx Ha; cbn [copy].
  - eapply (FL num); eauto.
  - eapply (FL (idx m)); eauto.
  - apply (loop_safe n W D io a N d v s); auto.
    + intros i s1 Hi Hs. apply (IH (S n) W D s1 (upd io n i) (AAt a n) (IAt x (ILoop n)) (v i)); [|eapply accok_idx; eauto].
      apply (rep_elem n W D s io x N d v i Hi Hx s1 D Hs (agrees_refl _ _)).
    + intros i s1 s2 Hi Hs E. apply (copy_ok d (S n) W D s1 s2 (upd io n i) (AAt a n) (IAt x (ILoop n)) (v i)); [|eapply accok_idx; eauto|exact E].
      apply (rep_elem n W D s io x N d v i Hi Hx s1 D Hs (agrees_refl _ _)).
  - assert (H1 : rep n W D s io (IView (VFst d1 d2) x) d1 (fst v)) by (apply (rep_view _ _ _ _ _ (VFst d1 d2)); auto).
    assert (H2 : rep n W D s io (IView (VSnd d1 d2) x) d2 (snd v)) by (apply (rep_view _ _ _ _ _ (VSnd d1 d2)); auto).
    split; [eapply IH1; eauto; apply (accok_put _ _ _ _ _ (BPair d1 d2) false Ha)|]. intros s1 E.
    eapply IH2; [|apply (accok_put _ _ _ _ _ (BPair d1 d2) true Ha)].
    eapply rep_mono; [exact H2| | | | |]; auto using @agrees_refl.
    apply (wrote_put_sagree n W D io a (BPair d1 d2) false (fst v) s s1 Ha).
    apply (copy_ok d1 n W D s s1 io _ _ (fst v) H1 (accok_put _ _ _ _ _ (BPair d1 d2) false Ha) E).
Qed.

(* ---------- compositions ---------- *)
Lemma fin_safe {G t} (e : exp G t) C : safeC e C -> safeA e (fun r n a => C r n (fun n x => copy t n a x)).
Proof.
  intros HC r g n W D s io a HW Hr Ha. apply (HC r g n W D s io _ HW Hr). intros n1 x s1 D1 Hn Hs HD Hx.
  eapply copy_safe; eauto. eapply accok_mono; eauto using @agrees_refl.
Qed.
Lemma now_safe {G t} (e : exp G t) x : (forall r g n W D s io, envok n W D s io r g -> rep n W D s io (x r n) t (ev_exp e g)) -> safeC e (fun r n k => k n (x r n)).
Proof. intros H r g n W D s io k HW Hr Hk. apply Hk; auto using @agrees_refl. intros l q Hl; auto. Qed.
Lemma C1_safe {G t d} (e : exp G t) (e' : exp G d) C (op : iexp -> iexp) (vop : den t -> den d) : safeC e C ->
  (forall n W D s io x v, rep n W D s io x t v -> rep n W D s io (op x) d (vop v)) -> (forall g, ev_exp e' g = vop (ev_exp e g)) ->
  safeC e' (fun r n k => C r n (fun n x => k n (op x))).
Proof.
  intros HC Hop Hv r g n W D s io k HW Hr Hk. apply (HC r g n W D s io _ HW Hr). intros n1 x s1 D1 Hn Hs HD Hx.
  apply Hk; auto. rewrite Hv. auto.
Qed.
Lemma C2_safe {G t1 t2 d} (e1 : exp G t1) (e2 : exp G t2) (e' : exp G d) C1 C2 (op : iexp -> iexp -> iexp) (vop : den t1 -> den t2 -> den d) :
  safeC e1 C1 -> safeC e2 C2 ->
  (forall n W D s io x y v w, rep n W D s io x t1 v -> rep n W D s io y t2 w -> rep n W D s io (op x y) d (vop v w)) ->
  (forall g, ev_exp e' g = vop (ev_exp e1 g) (ev_exp e2 g)) ->
  safeC e' (fun r n k => C1 r n (fun n x => C2 r n (fun n y => k n (op x y)))).
Proof.
  intros HC1 HC2 Hop Hv r g n W D s io k HW Hr Hk. apply (HC1 r g n W D s io _ HW Hr). intros n1 x s1 D1 Hn Hs HD Hx.
  assert (Hr1 : envok n1 W D1 s1 io r g) by (eapply envok_mono; eauto using same_sagree, @agrees_refl).
  apply (HC2 r g n1 W D1 s1 io _ (wbelow_le _ _ _ HW Hn) Hr1). intros n2 y s2 D2 Hn2 Hs2 HD2 Hy.
  apply Hk; [lia|eapply same_trans; eauto|eapply agrees_trans; eauto|].
  rewrite Hv. apply Hop; auto. eapply rep_mono; eauto using same_sagree, @agrees_refl.
Qed.
Lemma mem_safe {G t} (e : exp G t) A : specA e A -> safeA e A -> safeC e (store_first t A).
Proof.
  intros HA HS r g n W D s io k HW Hr Hk j.
  assert (Hr1 : envok (S n) (only n) (upd D n t) (upd s n j) io r g).
  { eapply envok_mono; eauto using @agrees_refl, @agrees_upd. apply same_sagree. now apply same_upd. unfold only; intros; lia. }
  assert (Ha : accok (S n) (only n) (upd D n t) io (AVar n) t). { apply accok_var; [lia|apply upd_same|right; reflexivity]. }
  split; [eapply HS; eauto using wbelow_only|]. intros s1 E.
  assert (P := HA r g (S n) (only n) (upd D n t) _ _ io (AVar n) (wbelow_only _ _ (le_n _)) Hr1 Ha E).
  apply Hk; auto using @agrees_upd.
  - eapply same_trans; [apply same_upd with (n := n); reflexivity|reflexivity|]. eapply wrote_below; eauto.
  - eapply rep_var; eauto using upd_same.
    + intros p C. apply HW in C. lia.
    + apply ev_ok. intros u x. apply (envok_ok _ _ _ _ _ _ _ Hr).
Qed.

(* ---------- accumulators ---------- *)
Definition bodysafe v n lv W (D : nat -> data) s io t N (body : nat -> iacc -> comm) := forall i b, i < N -> ok t b ->
  forall s0 D0, sagree n W s s0 -> agrees n D D0 -> (forall p, leaf t p -> leaf (D0 v) p) -> (forall p, leaf t p -> s0 v p = sel t b p) ->
  forall k W1 D1 a s1, S lv <= k -> wbelow k W1 -> (forall p, ~ W1 v p) -> (forall l p, l < S lv -> ~ W1 l p) -> agrees (S lv) D0 D1 -> same (S lv) s0 s1 ->
    accok k W1 D1 (upd io lv i) a t -> safe D1 (body k a) (upd io lv i) s1.
Lemma update_safe t v n lv W D s io N body F i b s0 D0 : v <= lv -> bodyok v n lv W D s io t N body F -> bodysafe v n lv W D s io t N body -> i < N -> ok t b ->
  sagree n W s s0 -> agrees n D D0 -> (forall p, leaf t p -> leaf (D0 v) p) -> (forall p, leaf t p -> s0 v p = sel t b p) ->
  safe D0 (update t v (S lv) body) (upd io lv i) s0.
Proof.
  intros Hv HB HS Hi Hb Hs HD HDn Hacc. destruct (HB i b Hi Hb) as [OK B]. set (m := S lv). unfold update. destruct (flat t) eqn:Hf.
  - apply (HS i b Hi Hb s0 D0 Hs HD HDn Hacc m (fun _ _ => False) D0 (AVar v) s0); auto using @agrees_refl.
    + intros l p [].
    + intros l q; auto.
    + apply accok_own; auto. unfold m. lia.
  - assert (Ha : accok (S m) (only m) (upd D0 m t) (upd io lv i) (AVar m) t) by (apply accok_var; [lia|apply upd_same|right; reflexivity]).
    assert (N1 : forall p, ~ only m v p) by (unfold only, m; intros p E; lia).
    assert (N2 : forall l p, l < m -> ~ only m l p) by (unfold only; intros l p Hl E; lia).
    assert (HS' : forall j, safe (upd D0 m t) (body (S m) (AVar m)) (upd io lv i) (upd s0 m j)).
    { intros j. apply (HS i b Hi Hb s0 D0 Hs HD HDn Hacc (S m) (only m) (upd D0 m t)); auto using wbelow_only, @agrees_upd, same_upd. }
    destruct (inplace v m (body (S m) (AVar m))) eqn:HI.
    { unfold inplace in HI. destruct (look v m (body (S m) (AVar m))) as [[R1 W1]|] eqn:HL; [|discriminate].
      apply (redirect_safe v m ltac:(unfold m; lia) _ R1 W1 HL D0 (upd D0 m t) (upd io lv i) s0 (upd s0 m (s0 v)) nothing); auto.
      - split; [intros l Hl; rewrite upd_other; auto|]. rewrite upd_same. exact HDn.
      - apply beside_start. unfold m. lia.
      - intros q _ []. }
    intros j. split; [apply HS'|].
    intros s1 E.
    assert (P : wrote (S m) (upd io lv i) (AVar m) t (F i b) (upd s0 m j) s1).
    { apply (B s0 D0 Hs HD HDn Hacc (S m) (only m) (upd D0 m t)); auto using wbelow_only. now apply agrees_upd. now apply same_upd. }
    apply (copy_safe t (S m) (only v) (upd D0 m t) s1 (upd io lv i) (AVar v) (IVar m) (F i b)).
    + eapply rep_var; eauto using upd_same. unfold only, m. intros p C. lia.
    + apply accok_own; [unfold m; lia|rewrite upd_other by (unfold m; lia); auto|right; reflexivity].
Qed.
(* One update more. *)
Lemma update_step t v n lv W D s io N body F i b s0 s1 D0 : v <= lv -> bodyok v n lv W D s io t N body F -> i < N -> ok t b ->
  sagree n W s s0 -> agrees n D D0 -> (forall p, leaf t p -> leaf (D0 v) p) -> (forall p, leaf t p -> s0 v p = sel t b p) ->
  exec (update t v (S lv) body) (upd io lv i) s0 s1 ->
  ok t (F i b) /\ (forall p, leaf t p -> s1 v p = sel t (F i b) p) /\ (forall l q, l < S lv -> ~ inreg (upd io lv i) (AVar v) t l q -> s1 l q = s0 l q).
Proof.
  intros Hv HB Hi Hb Hs HD HDn Hacc E. destruct (HB i b Hi Hb) as [OK B]. split; auto.
  apply (update_ok t v (S lv) (upd io lv i) D0 s0 (F i b) body ltac:(lia) HDn OK); [|exact E]. apply (B s0 D0); auto.
Qed.
Definition stepsafe e (W : region) (D : nat -> data) s io t N (body : stepper) := forall i b, i < N -> ok t b ->
  forall v j k W1 D1 io1 a s1, e <= k -> sagree e W s s1 -> agrees e D D1 -> agrees e io io1 ->
    (forall p, leaf t p -> leaf (D1 v) p) -> (forall p, leaf t p -> s1 v p = sel t b p) -> v < k -> (forall p, ~ W1 v p) ->
    rep k W1 D1 s1 io1 j (idx N) i -> wbelow k W1 -> (forall l p, l < e -> W1 l p -> W l p) -> accok k W1 D1 io1 a t -> safe D1 (body v j k a) io1 s1.
Lemma step_body_safe e W D s io t N body v lv : e <= lv -> v <= lv -> stepsafe e W D s io t N body -> bodysafe v e lv W D s io t N (body v (ILoop lv)).
Proof.
  intros Hlv Hv HB i b Hi Hb s0 D0 Hs HD HDn Hacc k W1 D1 a s1 Hk HW1 Hn Hlow HD1 Hs1 Ha.
  apply (HB i b Hi Hb v (ILoop lv) k W1 D1 (upd io lv i) a s1); auto; try lia.
  - intros l q Hl Hq. rewrite Hs1 by lia. auto.
  - eapply agrees_trans; [exact HD| |exact HD1]. lia.
  - now apply agrees_upd.
  - intros p Hp. rewrite HD1 by lia. auto.
  - intros p Hp. rewrite Hs1 by lia. auto.
  - eapply rep_mono; [apply (rep_loop lv W1 D1 s1 io N i Hi)| | | | |]; eauto using sagree_refl, @agrees_refl.
  - intros l p Hl C. exfalso. apply (Hlow l p); auto. lia.
Qed.
Section Loop.
Variables (t : data) (N v n e : nat) (W : region) (D : nat -> data) (s : store) (io : ienv) (body : stepper) (v0 : den t) (F : nat -> den t -> den t).
Hypothesis Hv : v < n.
Hypothesis He : e <= n.
Hypothesis HD : forall p, leaf t p -> leaf (D v) p.
Hypothesis Hv0 : ok t v0.
Hypothesis H0 : forall p, leaf t p -> s v p = sel t v0 p.
Hypothesis HW : forall p, leaf t p -> v < e -> W v p.
Hypothesis HB : stepok e W D s io t N body F.
Hypothesis HS : stepsafe e W D s io t N body.
Lemma there_safe i b j s1 io1 k : i < N -> ok t b -> S n <= k -> agrees n io io1 -> wrote n io (AVar v) t b s s1 ->
  rep k (only n) (upd D n t) s1 io1 j (idx N) i -> safe (upd D n t) (body v j k (AVar n)) io1 s1.
Proof.
  intros Hi Hb Hk Hio W1 Hj. apply (HS i b Hi Hb v j k (only n) (upd D n t) io1 (AVar n) s1); auto; try lia.
  - exact (loop_sagree t v n e W s io Hv He HW _ s1 W1).
  - now apply agrees_upd.
  - intros l Hl. apply Hio. lia.
  - intros p Hp. rewrite upd_other by lia. auto.
  - apply W1.
  - unfold only. intros p C. lia.
  - apply wbelow_only. lia.
  - unfold only. intros l p Hl C. lia.
  - apply accok_var; [lia|apply upd_same|right; reflexivity].
Qed.
Lemma back_safe i b c j s1 io1 k : i < N -> ok t b -> S n <= k -> agrees n io io1 -> wrote n io (AVar v) t c s s1 -> (forall p, leaf t p -> s1 n p = sel t b p) ->
  rep k (leaves v t) (upd D n t) s1 io1 j (idx N) i -> safe (upd D n t) (body n j k (AVar v)) io1 s1.
Proof.
  intros Hi Hb Hk Hio W1 Hn Hj. apply (HS i b Hi Hb n j k (leaves v t) (upd D n t) io1 (AVar v) s1); auto; try lia.
  - exact (loop_sagree t v n e W s io Hv He HW _ s1 W1).
  - now apply agrees_upd.
  - intros l Hl. apply Hio. lia.
  - intros p Hp. now apply leaf_upd.
  - intros p [C _]. lia.
  - apply wbelow_leaves. lia.
  - intros l p Hl [-> Hp]. auto.
  - apply accok_leaves; [lia|]. intros p Hp. rewrite upd_other by lia. auto.
Qed.
Lemma in_turns_safe : safe (upd D n t) (in_turns t N v n (S n) body) io s.
Proof.
  assert (BD : forall p, leaf t p -> leaf (upd D n t v) p) by (intros p Hp; rewrite upd_other by lia; auto). split.
  - intros is ->. apply along_turns with (N := N / 2) (Q := fun M s2 =>
      iterR (fun i => exec (Seq (body v (IMove twice (ILoop (S n))) (S (S n)) (AVar n)) (body n (IMove (fun i => S (twice i)) (ILoop (S n))) (S (S n)) (AVar v))) (upd io (S n) i)) (seq 0 M) s s2); auto.
    + intros M s2 HM I1. destruct (pairs_ok t N v n e W D s io body v0 F Hv He HD Hv0 H0 HW HB M s2 (Nat.lt_le_incl _ _ HM) I1) as [F1 F2].
      assert (B2 := twice_below N M HM). assert (Hio : agrees n io (upd io (S n) M)) by (apply agrees_upd; lia).
      assert (R1 : rep (S (S n)) (only n) (upd D n t) s2 (upd io (S n) M) (IMove twice (ILoop (S n))) (idx N) (twice M)).
      { apply rep_twice; auto. intros i Hi. assert (X := twice_below N i Hi). lia. }
      split; [apply (there_safe (twice M) (steps (twice M) F v0)); auto; lia|]. intros s3 E1.
      destruct (half_there t N v n e W D s io body F Hv He HD HW HB (twice M) (steps (twice M) F v0) (IMove twice (ILoop (S n))) s2 s3 (upd io (S n) M) (S (S n))) as [O1 P1]; auto; try lia.
      apply (back_safe (S (twice M)) (F (twice M) (steps (twice M) F v0)) (steps (twice M) F v0)); auto.
      * destruct F2 as [F2 F3], P1 as [_ P1]. split.
        -- intros p Hp. cbn. rewrite P1; [now apply F2|lia|]. apply inreg_other. lia.
        -- intros l q Hl Hq. rewrite P1; [now apply F3|lia|]. apply inreg_other. lia.
      * apply P1.
      * apply (rep_twice n N io (S (S n)) (leaves v t) (upd D n t) s3 M (fun i => S (twice i))); auto. apply twice_below.
    + intros M s2 s3 HM I1 E. rewrite seq_S, iterR_app. exists s2. split; auto. cbn [iterR Nat.add]. eauto.
    + reflexivity.
  - intros s1 (is & -> & H1). destruct (pairs_ok t N v n e W D s io body v0 F Hv He HD Hv0 H0 HW HB (N / 2) s1 (le_n _) H1) as [F1 F2].
    destruct (Nat.odd N) eqn:HN; [|exact I]. assert (EN := odd_last N HN). assert (R1 : rep (S n) (only n) (upd D n t) s1 io (INat (pred N)) (idx N) (pred N)) by (apply rep_nat; lia).
    split; [apply (there_safe (pred N) (steps (twice (N / 2)) F v0)); auto using @agrees_refl; lia|]. intros s2 E.
    destruct (half_there t N v n e W D s io body F Hv He HD HW HB (pred N) (steps (twice (N / 2)) F v0) (INat (pred N)) s1 s2 io (S n)) as [O2 P2]; auto using @agrees_refl; try lia.
    apply (copy_safe t (S n) (leaves v t) (upd D n t) s2 io (AVar v) (IVar n) (F (pred N) (steps (twice (N / 2)) F v0))); [|apply accok_leaves; [lia|exact BD]].
    eapply rep_var; eauto using upd_same. intros p [C _]. lia.
Qed.
End Loop.
Lemma loopI_safe fuse t N v n e (W : region) D s io body v0 F : v < n -> e <= n -> (forall p, leaf t p -> leaf (D v) p) -> ok t v0 -> (forall p, leaf t p -> s v p = sel t v0 p) ->
  (forall p, leaf t p -> v < e -> W v p) -> stepok e W D s io t N body F -> stepsafe e W D s io t N body -> safe D (loopI fuse t N v n body) io s.
Proof.
  intros Hv He HD Hv0 H0 HW HB HS. unfold loopI. destruct (fuse && turns t && _) eqn:T.
  - intros junk. set (s0 := upd s n junk) in *. assert (S0 : same n s s0) by now apply same_upd.
    apply (in_turns_safe t N v n e W D s0 io body v0 F); auto.
    + intros p Hp. unfold s0. rewrite upd_other by lia. auto.
    + intros i b Hi Hb. destruct (HB i b Hi Hb) as [OK B]. split; auto. intros w j k W1 D1 io1 a s2 s3 Hk Hs. intros. eapply B; eauto. intros l q Hl Hq. rewrite Hs by auto. apply S0. lia.
    + intros i b Hi Hb w j k W1 D1 io1 a s2 Hk Hs. intros. eapply HS; eauto. intros l q Hl Hq. rewrite Hs by auto. apply S0. lia.
  - intros is ->. assert (Hle := Nat.lt_le_incl _ _ Hv).
    apply along_turns with (N := N) (Q := fun M s2 => iterR (fun i => exec (update t v (S n) (body v (ILoop n))) (upd io n i)) (seq 0 M) s s2); auto.
    + intros M s2 HM I1. destruct (update_loop_ok t N v n e W D s io body v0 F Hv He HD Hv0 H0 HW HB M s2 (Nat.lt_le_incl _ _ HM) I1) as [OM Q].
      apply (update_safe t v e n W D s io N (body v (ILoop n)) F M (steps M F v0) s2 D); auto using @agrees_refl.
      * now apply step_body.
      * now apply step_body_safe.
      * exact (loop_sagree t v n e W s io Hv He HW _ s2 Q).
      * apply Q.
    + intros M s2 s3 HM I1 E. rewrite seq_S, iterR_app. exists s2. split; auto. cbn [iterR Nat.add]. eauto.
    + reflexivity.
Qed.
Lemma reduceI_safe fuse t N n W D s io init body k v0 F :
  (forall p, ~ W n p) -> ok t v0 ->
  (forall s1, same n s s1 -> safe (upd D n t) (init (S n) (AVar n)) io s1) ->
  (forall s1 s2, same n s s1 -> exec (init (S n) (AVar n)) io s1 s2 -> wrote (S n) io (AVar n) t v0 s1 s2) ->
  stepok n W D s io t N body F -> stepsafe n W D s io t N body ->
  (forall s1, same n s s1 -> rep (S n) W (upd D n t) s1 io (IVar n) t (steps N F v0) -> safe (upd D n t) (k (S n)) io s1) ->
  safe D (reduceI fuse t N n init body k) io s.
Proof.
  intros HW Hv0 HI Hinit HB HS Hk j. split; [apply HI; now apply same_upd|]. intros s1 E1.
  assert (P := Hinit _ _ (same_upd n s n j (le_n n)) E1).
  assert (S1 : same n s s1). { eapply same_trans; [apply same_upd with (n := n); reflexivity|reflexivity|]. eapply wrote_below; eauto. }
  assert (HB1 : stepok n W (upd D n t) s1 io t N body F /\ stepsafe n W (upd D n t) s1 io t N body).
  { split.
    - intros i b Hi Hb. destruct (HB i b Hi Hb) as [OK B]. split; auto. intros w y q W1 D1 io1 a s4 s3 Hq Hs HD1. intros. eapply B; eauto.
      + intros l p Hl Hp. rewrite Hs by auto. now apply S1.
      + intros l Hl. rewrite HD1 by auto. apply upd_other. lia.
    - intros i b Hi Hb w y q W1 D1 io1 a s4 Hq Hs HD1. intros. eapply HS; eauto.
      + intros l p Hl Hp. rewrite Hs by auto. now apply S1.
      + intros l Hl. rewrite HD1 by auto. apply upd_other. lia. }
  destruct HB1 as [B1 B2]. split.
  - apply (loopI_safe fuse t N n (S n) n W (upd D n t) s1 io body v0 F); auto using leaf_upd; try lia. apply P.
  - intros s2 E2. destruct (loopI_ok fuse t N n (S n) n W (upd D n t) s1 s2 io body v0 F) as [O2 P2]; auto using leaf_upd; try lia. { apply P. }
    apply Hk.
    + eapply same_trans; [exact S1|reflexivity|]. eapply wrote_below; eauto.
    + eapply rep_var; eauto using upd_same.
Qed.
Lemma scanI_safe t N n W D s io init body a v0 F :
  wbelow n W -> ok t v0 -> accok n W D io a (ary N t) ->
  (forall s1, same n s s1 -> safe (upd D n t) (init (S n) (AVar n)) io s1) ->
  (forall s1 s2, same n s s1 -> exec (init (S n) (AVar n)) io s1 s2 -> wrote (S n) io (AVar n) t v0 s1 s2) ->
  bodyok n n (S n) W D s io t N body F -> bodysafe n n (S n) W D s io t N body ->
  safe D (scanI t N n init body a) io s.
Proof.
  intros HW Hv0 Ha HI Hinit HB HS j. split; [apply HI; now apply same_upd|]. intros s1 E1.
  assert (P := Hinit _ _ (same_upd n s n j (le_n n)) E1).
  assert (Hin : forall p, leaf (ary N t) p -> W (fst (loc io a p)) (snd (loc io a p))).
  { destruct (ao_in _ _ _ _ _ _ Ha) as [C|C]; [discriminate|exact C]. }
  assert (HWn : forall p, ~ W n p). { intros p C. apply HW in C. lia. }
  set (Q := fun M s2 => sagree n W s s2 /\ ok t (steps M F v0) /\ forall p, leaf t p -> s2 n p = sel t (steps M F v0) p).
  assert (A2 : forall i, i < N -> accok (S (S n)) W (upd D n t) (upd io (S n) i) (AAt a (S n)) t).
  { intros i Hi. apply accok_idx with (N := N); [lia|]. eapply accok_mono; eauto using @agrees_refl, @agrees_upd. }
  assert (R2 : forall i s2, Q i s2 -> i <= N -> forall v, ok t v -> (forall p, leaf t p -> s2 n p = sel t v p) ->
    rep (S (S n)) W (upd D n t) s2 (upd io (S n) (pred i)) (IVar n) t v).
  { intros i s2 _ _ v Hv Hacc. split; auto. intros s7 io7 D7 G1 G2 G3 p Hp. cbn. rewrite G1, G3 by auto. split; auto. now rewrite upd_same. }
  intros is ->. apply along_turns with (Q := Q) (N := N); auto.
  - intros i s2 Hi (Q1 & Q2 & Q3). split.
    + eapply (update_safe t n n (S n)); eauto using leaf_upd. now apply agrees_upd.
    + intros s3 E.
      destruct (update_step t n n (S n) W D s io N body F i _ s2 s3 (upd D n t) (le_S _ _ (le_n n)) HB Hi Q2 Q1 (agrees_upd _ _ _ _ (le_n n)) (leaf_upd _ _ _) Q3 E) as (U0 & U1 & U2).
      apply (copy_safe t (S (S n)) W (upd D n t) s3 (upd io (S n) i) (AAt a (S n)) (IVar n) (F i (steps i F v0))); [|auto].
      apply (R2 (S i) s3); auto. split; [|split; auto]. intros l q Hl Hq. rewrite U2 by (try apply inreg_other; lia). auto.
  - intros i s2 s3 Hi (Q1 & Q2 & Q3) (s4 & E & E2).
    destruct (update_step t n n (S n) W D s io N body F i _ s2 s4 (upd D n t) (le_S _ _ (le_n n)) HB Hi Q2 Q1 (agrees_upd _ _ _ _ (le_n n)) (leaf_upd _ _ _) Q3 E) as (U0 & U1 & U2).
    assert (Q4 : Q (S i) s4). { split; [|split; auto]. intros l q Hl Hq. rewrite U2 by (try apply inreg_other; lia). auto. }
    destruct (copy_ok t (S (S n)) W (upd D n t) s4 s3 (upd io (S n) i) (AAt a (S n)) (IVar n) (F i (steps i F v0)) (R2 (S i) s4 Q4 Hi _ U0 U1) (A2 i Hi) E2) as [_ P3].
    assert (Hreg : forall l q, inreg (upd io (S n) i) (AAt a (S n)) t l q -> W l q /\ l < n).
    { intros l q (p & Hp & El). cbn in El. rewrite upd_same in El.
      rewrite (ao_stable _ _ _ _ _ _ Ha) in El by (try (split; auto); apply agrees_upd; lia).
      assert (C := Hin (Ix i :: p) (conj Hi Hp)). rewrite El in C. split; auto. apply (HW _ _ C). }
    split; [|split; auto].
    + intros l q Hl Hq. rewrite P3; [apply Q4; auto|lia|]. intros C. apply Hreg in C. tauto.
    + intros p Hp. rewrite P3; [apply U1; auto|lia|]. intros C. apply Hreg in C. lia.
  - split; [|split; [exact Hv0|apply P]]. apply same_sagree. eapply same_trans; [apply same_upd with (n := n); reflexivity|reflexivity|]. eapply wrote_below; eauto.
Qed.

Lemma step_red_safe {G t u} (f : exp (t :: u :: G) t) A N n W D s io (r : renv G) g x (ve : den (ary N u)) : safeA f A ->
  envok n W D s io r g -> rep n W D s io x (ary N u) ve ->
  stepsafe n W D s io t N (fun v j => A (bindE (IVar v) (bindE (IAt x j) r))).
Proof.
  intros IA Hr Hx i b Hi Hb v j k W1 D1 io1 a s1 Hk Hs HD Hio HDv Hacc Hv Hn Hj HW1 HW Ha.
  apply (IA (bindE (IVar v) (bindE (IAt x j) r)) (consE b (consE (ve i) g)) k W1 D1 s1 io1 a); auto.
  apply envok_cons; [|apply envok_cons].
  - split; auto. intros s3 io3 D3 G1 G2 G3 p Hp. cbn. rewrite G1, G3 by auto. auto.
  - apply rep_at with (m := N); [|exact Hj]. eapply rep_mono; eauto.
  - eapply envok_mono; eauto.
Qed.
Lemma step_iter_safe {G t} (f : exp (t :: G) t) A N n W D s io (r : renv G) g : safeA f A -> envok n W D s io r g ->
  stepsafe n W D s io t N (fun v _ => A (bindE (IVar v) r)).
Proof.
  intros IA Hr i b Hi Hb v j k W1 D1 io1 a s1 Hk Hs HD Hio HDv Hacc Hv Hn Hj HW1 HW Ha.
  apply (IA (bindE (IVar v) r) (consE b g) k W1 D1 s1 io1 a); auto.
  apply envok_cons; [|eapply envok_mono; eauto].
  split; auto. intros s3 io3 D3 G1 G2 G3 p Hp. cbn. rewrite G1, G3 by auto. auto.
Qed.
Lemma init_safe {G t} (i : exp G t) A n W D s io (r : renv G) g : safeA i A -> envok n W D s io r g ->
  forall s1, same n s s1 -> safe (upd D n t) (A r (S n) (AVar n)) io s1.
Proof.
  intros IA Hr s1 Hs. apply (IA r g (S n) (only n) (upd D n t) s1 io (AVar n)); auto using wbelow_only.
  - eapply envok_mono; eauto using @agrees_refl, @agrees_upd, same_sagree. unfold only. intros; lia.
  - apply accok_var; [lia|apply upd_same|right; reflexivity].
Qed.
Lemma reduceO_safe {G t} fuse (i : exp G t) A N v n W D s io (r : renv G) g body F : specA i A -> safeA i A -> wbelow n W -> envok n W D s io r g ->
  accok n W D io (AVar v) t -> flat t = false -> v < n ->
  (forall s2, sagree n W s s2 -> stepok n W D s2 io t N body F /\ stepsafe n W D s2 io t N body) -> safe D (reduceO fuse t N v n (A r) body) io s.
Proof.
  intros IA IS HW Hr Ha Hf Hv HB. split; [eapply IS; eauto|]. intros s1 H1. assert (P := IA r g n W D s s1 io (AVar v) HW Hr Ha H1).
  assert (S1 : sagree n W s s1) by (eapply wrote_sagree; eauto). destruct (HB s1 S1) as [B1 B2].
  apply (loopI_safe fuse t N v n n W D s1 io body (ev_exp i g) F); auto.
  - exact (ao_leaf _ _ _ _ _ _ Ha).
  - apply ev_ok. intros w y. apply (envok_ok _ _ _ _ _ _ _ Hr).
  - apply P.
  - intros p Hp _. destruct (ao_in _ _ _ _ _ _ Ha) as [C|C]; [congruence|]. exact (C p Hp).
Qed.
Lemma init_copy_safe t y (v : den t) n W D s io : rep n W D s io y t v ->
  forall s1, same n s s1 -> safe (upd D n t) (copy t (S n) (AVar n) y) io s1.
Proof.
  intros Hy s1 Hs. apply (copy_safe t (S n) (only n) (upd D n t) s1 io (AVar n) y v); auto.
  - eapply rep_mono; eauto using @agrees_refl, @agrees_upd, same_sagree. unfold only. intros; lia.
  - apply accok_var; [lia|apply upd_same|right; reflexivity].
Qed.

End Bounds.
