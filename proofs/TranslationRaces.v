(* Race freedom of every translated program, in both modes, and that single reads and writes may interleave: the translation keeps to the discipline of
   Threads.v, by its form alone. *)
From Coq Require Import Arith List Lia Bool.
From Lozenge Require Import Paths Phrases Overwrite Translation Represent InPlace TranslationCorrect Threads.
From Lozenge Require Interleave Semantics.
Import ListNotations.

Section Races.
Context {K : Scalars} {Keep : Policy}.

(* Here whole arrays may be read; those that an expression reads are seen in it. *)
Fixpoint arrays (x : iexp) : list nat :=
  match x with
  | IVar l => [l]
  | ILoop _ | ILit _ | INat _ | IIota => []
  | IOp1 _ a | IMove _ a | IView _ a | IGen _ a => arrays a
  | IOp2 _ a b | IAt a b | IBoth _ a b | IGather a b => arrays a ++ arrays b
  | ISel a b c => arrays a ++ arrays b ++ arrays c
  end.
Definition readable (R : levels) (x : iexp) := Forall R (arrays x).
(* What may be written may be read as well: an array that a reduction fills is its accumulator. *)
Definition seen (R : levels) (W : region) : region := fun l q => R l \/ W l q.
Lemma readable_reads (R : levels) W x : forall io p, readable R x -> reads (seen R W) io x p.
Proof.
  unfold readable. induction x; cbn [arrays reads]; intros io p H; repeat match goal with H : Forall _ (_ ++ _) |- _ => apply Forall_app in H as [? ?] end; auto.
  - left. now inversion_clear H.
  - destruct (bpick j p) as [[|] q]; auto.
  - destruct p as [|[i| |] p]; auto.
  - destruct p as [|[i| |] p]; auto.
Qed.
Notation dis io N R W c := (Threads.dis io N (seen R W) W c).
Definition scoped (N R : levels) (W : region) := (forall l, R l -> N l) /\ forall l q, W l q -> N l.
Lemma scoped_more N R W l : scoped N R W -> scoped (more N l) (more R l) (moreW W l).
Proof. intros [H1 H2]. unfold more, moreW. split; [intros k [H| ->]|intros k q [H| ->]]; eauto. Qed.
Lemma dis_more c : forall io N (R R' : levels) (W W' : region), (forall l, R l -> R' l) -> (forall l q, W l q -> W' l q) -> dis io N R W c -> dis io N R' W' c.
Proof. intros io N R R' W W' HR HW. apply dis_mono; auto. intros l q [H|H]; [left|right]; auto. Qed.
Lemma dis_new c io N R W l : dis io N (more R l) (moreW W l) c -> Threads.dis io N (moreW (seen R W) l) (moreW W l) c.
Proof. apply dis_mono; auto. unfold seen, more, moreW. intuition auto. Qed.
Lemma new_dis c io (N R : levels) W l d : ~ N l -> dis io (more N l) (more R l) (moreW W l) c -> dis io N R W (New l d c).
Proof. intros Hl H. split; auto. now apply dis_new. Qed.
Definition low n (N : levels) := forall l, N l -> l < n.
Definition renvR {G} (R : levels) (r : renv G) := forall t (x : var G t), readable R (r t x).
(* [a] may be written as a [d]; what is more than a number lies in arrays that are not read. *)
Record dacc n (R : levels) (W : region) io a d : Prop := {
  d_stable : forall io', agrees n io io' -> forall p, leaf d p -> loc io' a p = loc io a p;
  d_in : forall p, leaf d p -> W (fst (loc io a p)) (snd (loc io a p));
  d_inj : forall p q, leaf d p -> leaf d q -> loc io a p = loc io a q -> p = q;
  d_out : flat d = true \/ forall p, leaf d p -> ~ R (fst (loc io a p));
  d_own : forall v, a = AVar v -> forall p, W v p }.
(* What a continuation gets: more memory, and what was not readable before is not now. *)
Record ext n (N R : levels) (W : region) n1 (N1 R1 : levels) (W1 : region) : Prop := {
  e_n : n <= n1; e_low : low n1 N1; e_scoped : scoped N1 R1 W1;
  e_N : forall l, N l -> N1 l; e_R : forall l, R l -> R1 l; e_W : forall l q, W l q -> W1 l q; e_old : forall l, N l -> R1 l -> R l }.
Definition disA {t} {G} (e : exp G t) (A : tyA G) := forall r n N R W io a,
  low n N -> scoped N R W -> renvR R r -> dacc n R W io a t -> dis io N R W (A r n a).
Definition disC {t} {G} (e : exp G t) (C : tyC G) := forall r n N R W io k, low n N -> scoped N R W -> renvR R r ->
  (forall n1 N1 R1 W1 x, ext n N R W n1 N1 R1 W1 -> readable R1 x -> dis io N1 R1 W1 (k n1 x)) -> dis io N R W (C r n k).

Lemma low_le n m N : low n N -> n <= m -> low m N. Proof. intros H L l Hl. apply H in Hl. lia. Qed.
Lemma low_more n N : low n N -> low (S n) (more N n). Proof. intros H l [Hl| ->]; [apply H in Hl|]; lia. Qed.
Lemma readable_mono (R R' : levels) x : (forall l, R l -> R' l) -> readable R x -> readable R' x. Proof. intros H. apply Forall_impl. exact H. Qed.
Lemma readable_new (R : levels) n : readable (more R n) (IVar n).
Proof. constructor; [now right|constructor]. Qed.
Lemma readable_app (R : levels) a b : Forall R a -> Forall R b -> Forall R (a ++ b). Proof. intros. apply Forall_app. auto. Qed.
Lemma renvR_mono {G} (R R' : levels) (r : renv G) : (forall l, R l -> R' l) -> renvR R r -> renvR R' r.
Proof. intros H Hr t x. eapply readable_mono; eauto. Qed.
Lemma renvR_cons {G s} R x (r : renv G) : readable R x -> renvR R r -> renvR R (bindE (s := s) x r).
Proof.
  intros Hx Hr t y.
  refine (match y as y0 in var G' t' return match G' as G0 return var G0 t' -> Prop with [] => fun _ => True | s0 :: G0 => fun y1 =>
     forall (x : iexp) (r : renv G0), readable R x -> renvR R r -> readable R (bindE (s := s0) x r t' y1) end y0 with VZ => _ | VS y => _ end x r Hx Hr); cbn; auto.
Qed.
Lemma ext_refl n N R W : low n N -> scoped N R W -> ext n N R W n N R W. Proof. split; auto. Qed.
Lemma ext_trans n N R W n1 N1 R1 W1 n2 N2 R2 W2 : ext n N R W n1 N1 R1 W1 -> ext n1 N1 R1 W1 n2 N2 R2 W2 -> ext n N R W n2 N2 R2 W2.
Proof. intros [] []. split; auto. lia. Qed.
Lemma ext_level n N R W m : low n N -> scoped N R W -> n <= m -> ext n N R W m N R W.
Proof. intros H S_ L. split; auto. eapply low_le; eauto. Qed.
Lemma ext_new n N R W : low n N -> scoped N R W -> ext n N R W (S n) (more N n) (more R n) (moreW W n).
Proof.
  intros H S_. split; auto using low_more, scoped_more; try (intros; left; auto; fail). intros l Hl [C| ->]; auto. apply H in Hl. lia.
Qed.
Lemma dacc_ext n N R W io a d n1 N1 R1 W1 : scoped N R W -> dacc n R W io a d -> ext n N R W n1 N1 R1 W1 -> dacc n1 R1 W1 io a d.
Proof.
  intros [_ S_] [H1 H2 H3 H4 H5] E. split; auto.
  - intros io' Hio p Hp. apply H1; auto. intros l Hl. apply Hio. assert (L := e_n _ _ _ _ _ _ _ _ E). lia.
  - intros p Hp. apply (e_W _ _ _ _ _ _ _ _ E). auto.
  - destruct H4 as [F|F]; auto. right. intros p Hp C. apply (F p Hp), (e_old _ _ _ _ _ _ _ _ E); auto. apply (S_ _ _ (H2 p Hp)).
  - intros v Hv p. apply (e_W _ _ _ _ _ _ _ _ E). auto.
Qed.
Lemma dacc_view n R W io a a' d d' (h : path -> path) : dacc n R W io a d -> (flat d = false \/ flat d' = true) ->
  (forall p, leaf d' p -> leaf d (h p)) -> (forall p q, leaf d' p -> leaf d' q -> h p = h q -> p = q) ->
  (forall io' p, leaf d' p -> loc io' a' p = loc io' a (h p)) -> (forall v, a' <> AVar v) -> dacc n R W io a' d'.
Proof.
  intros [H1 H2 H3 H4 _] Hf Hh Hi Hl Hv. split; intros; rewrite ?Hl in *; auto; try (exfalso; eapply Hv; eauto; fail).
  destruct Hf as [Hf|Hf]; auto. destruct H4 as [F|F]; [congruence|]. right. intros p Hp. rewrite Hl; auto.
Qed.
Lemma dacc_out n R W io a {d d'} (v : view d d') : writable v = true -> dacc n R W io a d' -> dacc n R W io (AView v a) d.
Proof.
  intros Hv Ha. apply dacc_view with (a := a) (d := d') (h := vout v); auto.
  - rewrite (writable_flat v Hv). destruct (flat d'); auto.
  - intros p Hp. now apply vout_ok.
  - intros p q Hp Hq E. destruct (vout_ok v Hv p Hp) as [_ <-], (vout_ok v Hv q Hq) as [_ <-]. now rewrite E.
  - discriminate.
Qed.
Lemma dacc_put n R W io x {a b d} (j : both a b d) c : dacc n R W io x d -> dacc n R W io (APut j c x) (side c a b).
Proof.
  intros Ha. apply dacc_view with (a := x) (d := d) (h := bput j c); auto.
  - left. apply (both_flat j).
  - intros p Hp. now apply bput_ok.
  - intros p q Hp Hq E. destruct (bput_ok j c p Hp) as [_ E1], (bput_ok j c q Hq) as [_ E2]. congruence.
  - discriminate.
Qed.
Lemma dacc_var m R (W : region) io n d : (forall p, W n p) -> (flat d = true \/ ~ R n) -> dacc m R W io (AVar n) d.
Proof. intros HW HR. split; cbn; auto; [congruence| |]; [destruct HR; auto|]. intros v E p. injection E as <-. auto. Qed.

(* ---------- loops and copies ---------- *)
Lemma copy_dis d : forall n N R (W : region) io a x, readable R x ->
  (forall io', agrees n io io' -> forall p, leaf d p -> W (fst (loc io' a p)) (snd (loc io' a p))) -> dis io N R W (copy d n a x).
Proof.
  induction d as [|m|M d IH|d1 IH1 d2 IH2]; intros n N R W io a x Hx Ha; cbn [copy dis].
  - split; [|now apply readable_reads]. apply (Ha io (agrees_refl _ _) []). exact I.
  - split; [|now apply readable_reads]. apply (Ha io (agrees_refl _ _) []). exact I.
  - intros i Hi. apply IH; [apply readable_app; [exact Hx|constructor]|].
    intros io' Hio p Hp. cbn [loc]. rewrite Hio, upd_same by lia. apply (Ha io'); [|split; auto].
    intros l Hl. rewrite Hio by lia. apply upd_other. lia.
  - split; [apply IH1|apply IH2]; auto; intros io' Hio p Hp; apply (Ha io' Hio).
    + apply (bput_ok (BPair d1 d2) false p Hp). + apply (bput_ok (BPair d1 d2) true p Hp).
Qed.
Lemma dacc_within n R W io a d : dacc n R W io a d -> forall io', agrees n io io' -> forall p, leaf d p -> W (fst (loc io' a p)) (snd (loc io' a p)).
Proof. intros [H1 H2 _ _ _] io' Hio p Hp. rewrite H1 by auto. auto. Qed.
Lemma loop_dis par n N R W io a M t c : scoped N R W -> dacc n R W io a (ary M t) ->
  (forall i Wi, i < M -> scoped N R Wi -> dacc (S n) R Wi (upd io n i) (AAt a n) t -> dis (upd io n i) N R Wi c) -> dis io N R W (For par n M c).
Proof.
  intros [S1 S2] [H1 H2 H3 H4 _] Hc.
  assert (L : forall i p, i < M -> leaf t p -> loc (upd io n i) (AAt a n) p = loc io a (Ix i :: p)).
  { intros i p Hi Hp. cbn [loc]. rewrite upd_same. apply H1; [now apply agrees_upd|now split]. }
  assert (D : forall i (Wi : region), i < M -> (forall p, leaf t p -> Wi (fst (loc io a (Ix i :: p))) (snd (loc io a (Ix i :: p)))) -> dacc (S n) R Wi (upd io n i) (AAt a n) t).
  { intros i Wi Hi HW. split.
    - intros io' Hio p Hp. rewrite L by auto. cbn [loc]. rewrite Hio, upd_same by lia. apply H1; [|now split].
      intros l Hl. rewrite Hio by lia. apply upd_other. lia.
    - intros p Hp. rewrite L by auto. auto.
    - intros p q Hp Hq E. rewrite !L in E by auto. apply H3 in E; [congruence|now split|now split].
    - right. intros p Hp. rewrite L by auto. destruct H4 as [F|F]; [discriminate|]. apply F. now split.
    - discriminate. }
  cbn [dis]. destruct par.
  - set (Wi := fun i l q => exists p, leaf t p /\ loc io a (Ix i :: p) = (l, q)). exists (fun i => seen R (Wi i)), Wi.
    assert (WW : forall i m q, i < M -> Wi i m q -> W m q). { intros i m q Hi (p & Hp & E). specialize (H2 (Ix i :: p) (conj Hi Hp)). rewrite E in H2. exact H2. }
    assert (WD : forall i j m q, i < M -> j < M -> i <> j -> Wi i m q -> ~ Wi j m q).
    { intros i j m q Hi Hj Hij (p & Hp & E) (p' & Hp' & E'). rewrite <- E' in E. apply H3 in E; [congruence|now split|now split]. }
    split; [split; [|split]|].
    + intros i m q Hi [Hr|Hr]; [now left|right; eauto].
    + exact WW.
    + intros i j m q Hi Hj Hij Hw. split; [exact (WD i j m q Hi Hj Hij Hw)|]. intros [C|C]; [|exact (WD i j m q Hi Hj Hij Hw C)]. destruct Hw as (p & Hp & E).
      destruct H4 as [F|F]; [discriminate|]. specialize (F (Ix i :: p) (conj Hi Hp)). rewrite E in F. exact (F C).
    + intros i Hi. apply Hc; auto.
      * split; auto. intros l q (p & Hp & E). specialize (H2 (Ix i :: p) (conj Hi Hp)). rewrite E in H2. apply (S2 _ _ H2).
      * apply D; auto. intros p Hp. exists p. split; auto. apply pair_eta.
  - intros i Hi. apply Hc; auto. { split; auto. } apply D; auto. intros p Hp. apply H2. now split.
Qed.

(* ---------- compositions ---------- *)
Lemma fin_dis {G t} (e : exp G t) C : disC e C -> disA e (fun r n a => C r n (fun n x => copy t n a x)).
Proof.
  intros HC r n N R W io a HN HS Hr Ha. apply HC; auto. intros n1 N1 R1 W1 x E Hx.
  apply copy_dis; auto. apply (dacc_within n1 R1). eapply dacc_ext; eauto.
Qed.
Lemma mem_dis {G t} (e : exp G t) A : disA e A -> disC e (store_first t A).
Proof.
  intros HA r n N R W io k HN HS Hr Hk. assert (E := ext_new n N R W HN HS). unfold store_first. apply new_dis; [intros C; apply HN in C; lia|]. split.
  - apply (dis_more _ io _ R (more R n) (moreW W n) (moreW W n)); auto. { intros l Hl. now left. }
    apply HA; auto using low_more.
    + destruct HS as [S1 S2]. split; [intros l Hl; left; auto|apply (proj2 (e_scoped _ _ _ _ _ _ _ _ E))].
    + apply dacc_var; [intros p; now right|]. right. intros C. apply (proj1 HS) in C. apply HN in C. lia.
  - apply Hk; auto. apply readable_new.
Qed.
Lemma now_dis {G t} (e : exp G t) x : (forall R (r : renv G) n, renvR R r -> readable R (x r n)) -> disC e (fun r n k => k n (x r n)).
Proof. intros H r n N R W io k HN HS Hr Hk. apply Hk; auto using ext_refl. Qed.
Lemma C1_dis {G t d} (e : exp G t) (e' : exp G d) C (op : iexp -> iexp) : disC e C -> (forall R x, readable R x -> readable R (op x)) ->
  disC e' (fun r n k => C r n (fun n x => k n (op x))).
Proof. intros HC Hop r n N R W io k HN HS Hr Hk. apply HC; auto. Qed.
Lemma C2_dis {G t1 t2 d} (e1 : exp G t1) (e2 : exp G t2) (e' : exp G d) C1 C2 (op : iexp -> iexp -> iexp) : disC e1 C1 -> disC e2 C2 ->
  (forall R x y, readable R x -> readable R y -> readable R (op x y)) -> disC e' (fun r n k => C1 r n (fun n x => C2 r n (fun n y => k n (op x y)))).
Proof.
  intros HC1 HC2 Hop r n N R W io k HN HS Hr Hk. apply HC1; auto. intros n1 N1 R1 W1 x E1 Hx.
  apply HC2; [apply (e_low _ _ _ _ _ _ _ _ E1)|apply (e_scoped _ _ _ _ _ _ _ _ E1)|eapply renvR_mono; [apply (e_R _ _ _ _ _ _ _ _ E1)|auto]|].
  intros n2 N2 R2 W2 y E2 Hy. apply Hk; [eapply ext_trans; eauto|]. apply Hop; auto. eapply readable_mono; [apply (e_R _ _ _ _ _ _ _ _ E2)|auto].
Qed.

(* ---------- accumulators ---------- *)
(* What writes in place of the second temporary keeps to the discipline: each iteration reads and writes elements of the accumulator that no other one does. *)
Theorem redirect_dis n m c : n <> m -> forall A B, look n m c = Some (A, B) -> forall io N (R W : region), (forall q, ~ W n q) -> Threads.dis io N R W c ->
  Threads.dis io N (fun l q => R l q /\ l <> m /\ (l = n -> some io A q)) (fun l q => (l <> m /\ W l q) \/ (l = n /\ W m q /\ some io B q)) (redirect n m c).
Proof.
  intros Hnm.
  assert (RD : forall io (R : region) x L, sreads n m SL x [] = Some L -> reads R io x [] -> reads (fun l q => R l q /\ l <> m /\ (l = n -> some io (map (pair []) L) q)) io x []).
  { intros io R x L E H. assert (H' : reads (spots n m io L) io x []) by (eapply (sreads_ok n m io x SL io [] []); eauto; cbn; auto).
    eapply reads_mono; [|exact (reads_both _ _ x io [] H H')]. intros l q (H1 & H0 & H2). split; auto. split; auto. intros Hl. apply some_pair. auto. }
  induction c as [|c1 IHc1 c2 IHc2|a x|l d c IHc|par l k c IHc|x c1 IHc1 c2 IHc2|l k x c IHc|o z v w l k c IHc]; intros A B E io N R W HW H; cbn [look] in E; cbn [redirect].
  - exact I.
  - destruct (look n m c1) as [[ra wa]|]; [|discriminate]. destruct (look n m c2) as [[rb wb]|]; [|discriminate]. destruct (every rb wa _); [|discriminate]. injection E as <- <-.
    destruct H as [H1 H2]. split; (eapply dis_mono; [| |first [exact (IHc1 _ _ eq_refl _ _ _ _ HW H1)|exact (IHc2 _ _ eq_refl _ _ _ _ HW H2)]]); intros l q; rewrite some_app; intuition auto.
  - destruct (sreads n m SL x []) as [rx|] eqn:Ex; [|discriminate]. destruct (sloc_ok io a [] [] I) as [L1 L2]. destruct (sloc a []) as [l q]. cbn [fst snd] in L1, L2.
    destruct (Nat.eqb_spec l n) as [|Hl]; [discriminate|]. injection E as <- <-. destruct H as [H1 H2]. split; [|now apply RD]. rewrite loc_to_v. cbn [fst snd]. rewrite L1 in *.
    destruct (Nat.eqb_spec l m) as [->|Hm]; [|left; auto]. right. split; auto. split; auto. apply (some_pair io [q]). exists q. cbn. auto.
  - destruct (Nat.eqb_spec l n), (Nat.eqb_spec l m); cbn in E; try discriminate. destruct H as [H1 H2]. split; auto.
    eapply dis_mono; [| |apply (IHc _ _ E io (more N l) (moreW R l) (moreW W l)); auto].
    + unfold moreW. intros k q [[Hk| ->] Hs]; tauto.
    + unfold moreW. intros k q [[Hk [Hw| ->]]|(-> & [Hw|Hw] & Hs)]; auto. congruence.
    + unfold moreW. intros q [C|C]; [now apply (HW q)|congruence].
  - destruct (look n m c) as [[r w]|]; [|discriminate]. destruct (every r w _ && _) eqn:EV; [|discriminate]. injection E as <- <-.
    apply andb_prop in EV as [EV F]. apply andb_prop in F as [FR FW]. cbn [Threads.dis] in H |- *. destruct par.
    + destruct H as (Ri & Wi & (S1 & S2 & S3) & H4).
      exists (fun i l' q => Ri i l' q /\ l' <> m /\ (l' = n -> some (upd io l i) r q)), (fun i l' q => (l' <> m /\ Wi i l' q) \/ (l' = n /\ Wi i m q /\ some (upd io l i) w q)).
      split; [split; [|split]|].
      * intros i l' q Hi (H1 & H0 & H2). split; [eauto|]. split; auto. intros E. eapply some_inside; eauto.
      * intros i l' q Hi [[H1 H2]|(-> & H1 & H2)]; [left; eauto|]. right. split; auto. split; [eauto|]. eapply some_inside; eauto.
      * intros i j l' q Hi Hj Hij [[H1 H2]|(-> & H1 & H2)].
        -- assert (Hn : l' <> n) by (intros ->; apply (HW q); eauto). destruct (S3 i j l' q Hi Hj Hij H2) as [T1 T2]. split; [|tauto]. intros [[_ C]|[C _]]; tauto.
        -- split.
           ++ intros [[_ C]|(_ & C & _)]; [apply (HW q); eauto|]. exact (proj1 (S3 i j m q Hi Hj Hij H1) C).
           ++ intros (_ & _ & C). specialize (C eq_refl). apply Hij. symmetry. eapply (loop_apart io l k j i r w q); eauto.
      * intros i Hi. apply (IHc _ _ eq_refl (upd io l i)); auto. intros q C. apply (HW q). eauto.
    + intros i Hi. eapply dis_mono; [| |exact (IHc _ _ eq_refl (upd io l i) N R W HW (H i Hi))].
      * intros l' q (H1 & H0' & H2). split; auto. split; auto. intros E. eapply some_inside; eauto.
      * intros l' q [H1|(-> & H1 & H2)]; auto. right. split; auto. split; auto. eapply some_inside; eauto.
  - destruct (sreads n m SL x []) as [rx|] eqn:Ex; [|discriminate]. destruct (look n m c1) as [[ra wa]|]; [|discriminate]. destruct (look n m c2) as [[rb wb]|]; [|discriminate]. injection E as <- <-.
    destruct H as (H0 & H1 & H2). split.
    { eapply reads_mono; [|exact (RD io R x rx Ex H0)]. intros l q (G1 & G0 & G2). split; auto. split; auto. intros Hl. apply some_app. auto. }
    split; (eapply dis_mono; [| |first [exact (IHc1 _ _ eq_refl _ _ _ _ HW H1)|exact (IHc2 _ _ eq_refl _ _ _ _ HW H2)]]); intros l q; rewrite !some_app; intuition auto.
  - destruct (sreads n m SL x []) as [rx|] eqn:Ex; [|discriminate]. destruct (look n m c) as [[r w]|]; [|discriminate]. destruct (forallb _ r && _) eqn:F; [|discriminate]. injection E as <- <-.
    apply andb_prop in F as [FR FW]. destruct H as [H0 H]. split.
    { eapply reads_mono; [|exact (RD io R x rx Ex H0)]. intros l' q (G1 & G0 & G2). split; auto. split; auto. intros Hl. apply some_app. auto. }
    intros i Hi. eapply dis_mono; [| |exact (IHc _ _ eq_refl (upd io l i) N R W HW (H i Hi))].
    + intros l' q (H1 & H0' & H2). split; auto. split; auto. intros E. apply some_app. right. eapply some_inside; eauto.
    + intros l' q [H1|(-> & H1 & H2)]; auto. right. split; auto. split; auto. eapply some_inside; eauto.
  - destruct (look n m c) as [[r x]|]; [|discriminate]. destruct (negb _ && _) eqn:EV; [|discriminate]. injection E as <- <-.
    apply andb_prop in EV as [NV EV]. apply andb_prop in EV as [EV F]. apply andb_prop in F as [FR FW].
    destruct (Nat.eqb_spec v n), (Nat.eqb_spec v m), (Nat.eqb_spec w n), (Nat.eqb_spec w m); try discriminate. clear NV.
    destruct H as (H1 & H2 & H3 & Ri & Wi & (S1 & S2 & S3) & H4). split; [split; [exact H1|split; [auto|congruence]]|]. split; [left; auto|]. split; auto.
    exists (fun i l' q => Ri i l' q /\ l' <> m /\ (l' = n -> some (upd io l i) r q)), (fun i l' q => (l' <> m /\ Wi i l' q) \/ (l' = n /\ Wi i m q /\ some (upd io l i) x q)).
    split; [split; [|split]|].
    + intros i l' q Hi (G1 & G0 & G2). split; [eauto|]. split; auto. intros E. eapply some_inside; eauto.
    + intros i l' q Hi [[G1 G2]|(-> & G1 & G2)]; [left; eauto|]. right. split; auto. split; [eauto|]. eapply some_inside; eauto.
    + intros i j l' q Hi Hj Hij [[G1 G2]|(-> & G1 & G2)].
      * assert (Hn : l' <> n) by (intros ->; apply (HW q); eauto). destruct (S3 i j l' q Hi Hj Hij G2) as [T1 T2]. split; [|tauto]. intros [[_ C]|[C _]]; tauto.
      * split.
        -- intros [[_ C]|(_ & C & _)]; [apply (HW q); eauto|]. exact (proj1 (S3 i j m q Hi Hj Hij G1) C).
        -- intros (_ & _ & C). specialize (C eq_refl). apply Hij. symmetry. eapply (loop_apart io l k j i r x q); eauto.
    + intros i Hi. eapply dis_mono; [| |apply (IHc _ _ eq_refl (upd io l i) (more N w) (moreW (Ri i) w) (moreW (Wi i) w)); auto].
      * unfold moreW. intros l' q [[G| ->] G2]; tauto.
      * unfold moreW. intros l' q [[G1 [G2| ->]]|(-> & [G|G] & G2)]; auto. congruence.
      * unfold moreW. intros q [C|C]; [apply (HW q); eauto|congruence].
Qed.
Lemma update_dis t n m io N R (W : region) body : n < m -> low m N -> scoped N R W -> (forall q, W n q) ->
  (forall k N1 W1 a, low k N1 -> scoped N1 R W1 -> dacc k R W1 io a t -> dis io N1 R W1 (body k a)) -> dis io N R W (update t n m body).
Proof.
  intros Hnm HN HS HW Hb. unfold update. destruct (flat t) eqn:Hf.
  - apply Hb; auto. apply dacc_var; auto.
  - destruct (inplace n m (body (S m) (AVar m))) eqn:Hi.
    { unfold inplace in Hi. destruct (look n m (body (S m) (AVar m))) as [[A B]|] eqn:HL; [|discriminate].
      assert (H : dis io (more N m) R (fun l _ => l = m) (body (S m) (AVar m))).
      { apply Hb; auto using low_more.
        - destruct HS as [S1 S2]. split; [intros l Hl; left; auto|intros l q ->; now right].
        - apply dacc_var; auto. right. intros C. apply (proj1 HS) in C. apply HN in C. lia. }
      apply (redirect_dis n m _ ltac:(lia) A B HL) in H; [|intros q C; lia]. apply dis_fewer with (N := more N m); [intros l Hl; now left|].
      eapply dis_mono; [| |exact H]; [intros l q ([G|G] & G0 & _); [now left|congruence]|]. intros l q [[G1 G2]|[-> _]]; [congruence|apply HW]. }
    assert (E := ext_new m N R W HN HS). apply new_dis; [intros C; apply HN in C; lia|]. split.
    + apply (dis_more _ io _ R (more R m) (moreW W m) (moreW W m)); auto. { intros l Hl. now left. }
      apply Hb; auto using low_more.
      * destruct HS as [S1 S2]. split; [intros l Hl; left; auto|apply (proj2 (e_scoped _ _ _ _ _ _ _ _ E))].
      * apply dacc_var; [intros p; now right|]. right. intros C. apply (proj1 HS) in C. apply HN in C. lia.
    + apply copy_dis; [apply readable_new|]. intros io' _ p _. left. apply HW.
Qed.
Definition stepdis (R : levels) t (body : stepper) := forall w j k io N (R2 : levels) W a, (forall l, R l -> R2 l) -> R2 w -> arrays j = [] ->
  low k N -> scoped N R2 W -> dacc k R2 W io a t -> dis io N R2 W (body w j k a).
Lemma loopI_dis fuse t M v n N R (W : region) io body : v < n -> low n N -> scoped N R W -> (forall q, W v q) -> (forall p, leaf t p -> ~ R v) -> stepdis R t body ->
  dis io N (more R v) W (loopI fuse t M v n body).
Proof.
  intros Hv HN HS HW HV Hb. assert (Nv : N v) by apply (proj2 HS v [] (HW [])).
  assert (S1 : scoped N (more R v) W). { destruct HS as [S1 S2]. split; auto. intros l [Hl| ->]; auto. }
  unfold loopI. destruct (fuse && turns t && _).
  2:{ intros j Hj. apply update_dis; auto. { eapply low_le; eauto. } intros k N1 W1 a Hk HS1 Ha. apply Hb; auto; [intros l Hl; now left|now right]. }
  apply new_dis; [intros C; apply HN in C; lia|].
  assert (L1 : forall k, S n <= k -> low k (more N n)) by (intros k Hk; eapply low_le; [apply low_more; eauto|auto]).
  assert (There : forall j k io1, S n <= k -> arrays j = [] -> dis io1 (more N n) (more (more R v) n) (moreW W n) (body v j k (AVar n))).
  { intros j k io1 Hk Hj. apply (dis_more _ io1 _ (more R v) (more (more R v) n) (moreW W n) (moreW W n)); auto. { intros l Hl. now left. }
    apply Hb; auto; [intros l Hl; now left|now right| |].
    - destruct S1 as [S1 S2]. split; [intros l Hl; left; auto|intros l q [Hl| ->]; [left; eauto|now right]].
    - apply dacc_var; [intros p; now right|]. right. intros C. apply (proj1 S1) in C. apply HN in C. lia. }
  assert (Back : forall j k io1, S n <= k -> arrays j = [] -> dis io1 (more N n) (more (more R v) n) (moreW W n) (body n j k (AVar v))).
  { intros j k io1 Hk Hj. apply (dis_more _ io1 _ (more R n) (more (more R v) n) (moreW W n) (moreW W n)); auto. { intros l [Hl|Hl]; [left; now left|now right]. }
    apply Hb; auto; [intros l Hl; now left|now right| |].
    - destruct HS as [S2 S3]. split; [intros l [Hl| ->]; [left; auto|now right]|intros l q [Hl| ->]; [left; eauto|now right]].
    - split; cbn; auto; [intros p Hp; left; apply HW|congruence| |].
      + right. intros p Hp [C|C]; [exact (HV p Hp C)|lia].
      + intros l E p. injection E as <-. left. apply HW. }
  split.
  - intros i Hi. split; [apply There; auto|apply Back; auto].
  - destruct (Nat.odd M); [|exact I]. split; [apply There; auto|]. apply copy_dis; [apply readable_new|]. intros io' _ p _. left. apply HW.
Qed.
Lemma reduceI_dis fuse t M n io N R W init body k : low n N -> scoped N R W ->
  dis io (more N n) (more R n) (moreW W n) (init (S n) (AVar n)) -> stepdis R t body ->
  dis io (more N n) (more R n) (moreW W n) (k (S n)) -> dis io N R W (reduceI fuse t M n init body k).
Proof.
  intros HN HS Hi Hb Hk. unfold reduceI. apply new_dis; [intros C; apply HN in C; lia|]. split; [exact Hi|]. split; [|exact Hk].
  apply loopI_dis; auto using low_more.
  - destruct HS as [S1 S2]. split; [intros l Hl; left; auto|intros l q [Hl| ->]; [left; eauto|now right]].
  - intros q. now right.
  - intros p _ C. apply (proj1 HS) in C. apply HN in C. lia.
Qed.
Lemma reduceO_dis {G t} fuse (i : exp G t) A M v n N R W io (r : renv G) body : disA i A -> low n N -> scoped N R W -> renvR R r -> dacc n R W io (AVar v) t -> flat t = false -> v < n ->
  stepdis R t body -> dis io N R W (reduceO fuse t M v n (A r) body).
Proof.
  intros IA HN HS Hr Ha Hf Hv Hb. assert (HW : forall q, W v q) by (intros q; apply (d_own _ _ _ _ _ _ Ha v eq_refl)). split; [apply IA; auto|].
  apply dis_mono with (R := seen (more R v) W) (W := W); auto. { intros l q [[Hl| ->]|Hl]; [now left|right; auto|now right]. }
  apply loopI_dis; auto. intros p Hp. destruct (d_out _ _ _ _ _ _ Ha) as [C|C]; [congruence|]. exact (C p Hp).
Qed.
Lemma init_dis {G t} (i : exp G t) A n N R W io (r : renv G) : disA i A -> low n N -> scoped N R W -> renvR R r ->
  dis io (more N n) (more R n) (moreW W n) (A r (S n) (AVar n)).
Proof.
  intros IA HN HS Hr. assert (E := ext_new n N R W HN HS).
  apply (dis_more _ io _ R (more R n) (moreW W n) (moreW W n)); auto. { intros l Hl. now left. }
  apply IA; auto using low_more.
  - destruct HS as [S1 S2]. split; [intros l Hl; left; auto|apply (proj2 (e_scoped _ _ _ _ _ _ _ _ E))].
  - apply dacc_var; [intros p; now right|]. right. intros C. apply (proj1 HS) in C. apply HN in C. lia.
Qed.

(* ---------- expressions without commands ---------- *)
Lemma px_readable {G t} (e : exp G t) : forall R (r : renv G) n, renvR R r -> readable R (px e r n).
Proof.
  induction e; intros R r lv Hr; cbn [px]; try (now apply Hr); try (constructor; fail);
    try (unfold readable; cbn [arrays]; apply readable_app; [apply IHe1; auto|apply IHe2; auto]; fail); auto; try (apply IHe; auto; fail).
  - apply IHe1, renvR_cons; auto. apply readable_app; [apply IHe2; auto|constructor].
  - apply IHe, renvR_cons; auto. constructor.
  - apply readable_app; [apply IHe1; auto|apply readable_app; [apply IHe2; auto|apply IHe3; auto]].
  - apply IHe2, renvR_cons; auto.
Qed.

Lemma readable_var (R : levels) w : R w -> readable R (IVar w). Proof. intros H. constructor; [exact H|constructor]. Qed.
Lemma step_red_dis {G t u} (f : exp (t :: u :: G) t) A R x (r : renv G) : disA f A -> readable R x -> renvR R r ->
  stepdis R t (fun v j => A (bindE (IVar v) (bindE (IAt x j) r))).
Proof.
  intros IA Hx Hr w j k io N R2 W a HR Hw Hj HN HS Ha. apply IA; auto. apply renvR_cons; [now apply readable_var|]. apply renvR_cons.
  - unfold readable. cbn [arrays]. rewrite Hj, app_nil_r. eapply readable_mono; eauto.
  - eapply renvR_mono; eauto.
Qed.
Lemma step_iter_dis {G t} (f : exp (t :: G) t) A R (r : renv G) : disA f A -> renvR R r -> stepdis R t (fun v _ => A (bindE (IVar v) r)).
Proof.
  intros IA Hr w j k io N R2 W a HR Hw Hj HN HS Ha. apply IA; auto. apply renvR_cons; [now apply readable_var|]. eapply renvR_mono; eauto.
Qed.

Variable fuse : bool.
Notation tr := (tr fuse).
Lemma red_tail_dis {G t} (i : exp G t) M (r : renv G) n N R W io k (body : stepper) :
  disA i (fst (tr i)) -> disC i (snd (tr i)) -> low n N -> scoped N R W -> renvR R r -> stepdis R t body ->
  (forall n1 N1 R1 W1 x, ext n N R W n1 N1 R1 W1 -> readable R1 x -> dis io N1 R1 W1 (k n1 x)) ->
  dis io N R W (if fuse then reduceI fuse t M n (fst (tr i) r) body (fun n' => k n' (IVar n))
    else snd (tr i) r n (fun n y => reduceI fuse t M n (fun n a => copy t n a y) body (fun n' => k n' (IVar n)))).
Proof.
  intros IA IC HN HS Hr Hb Hk. assert (X : forall f : bool, dis io N R W (if fuse then reduceI f t M n (fst (tr i) r) body (fun n' => k n' (IVar n))
    else snd (tr i) r n (fun n y => reduceI f t M n (fun n a => copy t n a y) body (fun n' => k n' (IVar n))))); [|apply X]. intros f. destruct fuse.
  - apply reduceI_dis; auto.
    + eapply init_dis; eauto.
    + apply Hk; [now apply ext_new|]. apply readable_new.
  - apply IC; auto. intros n1 N1 R1 W1 y E Hy. assert (L1 := e_low _ _ _ _ _ _ _ _ E). assert (S1 := e_scoped _ _ _ _ _ _ _ _ E). apply reduceI_dis; auto.
    + apply copy_dis; [eapply readable_mono; [|exact Hy]; intros l Hl; now left|]. intros io' _ p _. now right.
    + intros w j k0 io1 N2 R2 W2 a HR. apply Hb. intros l Hl. apply HR, (e_R _ _ _ _ _ _ _ _ E). exact Hl.
    + apply Hk; [eapply ext_trans; [exact E|now apply ext_new]|]. apply readable_new.
Qed.

(* ---------- every well-typed program ---------- *)
Theorem tr_dis : forall G t (e : exp G t), disA e (fst (tr e)) /\ disC e (snd (tr e)).
Proof.
  assert (READ1 : forall R x y, readable R x -> readable R y -> Forall R (arrays x ++ arrays y)) by (intros; now apply readable_app).
  induction e as [G t x|G v|G m i Hi|G o e [_ IC]|G o e1 [_ IC1] e2 [_ IC2]|G m e [_ IC]|G m m' f Hf e [_ IC]|G d t v e [IA IC]
    |G d1 d2 t j e1 [IA1 IC1] e2 [IA2 IC2]|G M t e [_ IC] i [_ ICi]|G M m t is [_ ICi] e [_ IC]|G m
    |G M s t par f [IAf _] e [_ IC]|G t M par f [IAf _]|G M s t f [IAf _] i [IAi ICi] e [_ IC]|G M s t f [IAf _] i [IAi ICi] e [_ IC]
    |G t M f [IAf _] i [IAi ICi]|G t c [_ ICc] e1 [IA1 IC1] e2 [IA2 IC2]|G s t e1 [_ IC1] e2 [IA2 IC2]|G t e [IA IC]|G d M t par v e [_ IC]
    |G M s o z f [_ ICf] i [IAi _] e [_ IC]|G M m t is [_ ICi] b [IAb _] e [_ IC]].
  - assert (C : disC (Var x) (fun r n k => k n (r t x))). { apply (now_dis (Var x) (fun r n => r t x)). intros R r n Hr. apply Hr. }
    split; [exact (fin_dis (Var x) _ C)|exact C].
  - assert (C : disC (Lit v) (fun (r : renv G) n k => k n (ILit v))). { apply (now_dis (Lit v) (fun _ _ => ILit v)). constructor. }
    split; [exact (fin_dis (Lit v) _ C)|exact C].
  - assert (C : disC (Nat i Hi) (fun (r : renv G) n k => k n (INat i))). { apply (now_dis (Nat i Hi) (fun _ _ => INat i)). constructor. }
    split; [exact (fin_dis (Nat i Hi) _ C)|exact C].
  - assert (C := C1_dis e (Op1 o e) _ (IOp1 o) IC (fun R x H => H)). split; [exact (fin_dis (Op1 o e) _ C)|exact C].
  - assert (C := C2_dis e1 e2 (Op2 o e1 e2) _ _ (IOp2 o) IC1 IC2 READ1). split; [exact (fin_dis (Op2 o e1 e2) _ C)|exact C].
  - assert (C := C1_dis e (Value e) _ (fun x => x) IC (fun R x H => H)). split; [exact (fin_dis (Value e) _ C)|exact C].
  - assert (C := C1_dis e (Move f Hf e) _ (IMove f) IC (fun R x H => H)). split; [exact (fin_dis (Move f Hf e) _ C)|exact C].
  - (* View *) assert (C := C1_dis e (View v e) _ (IView v) IC (fun R x H => H)).
    split; [|exact C]. cbn [Translation.tr fst]. destruct (writable v) eqn:Hv; [|exact (fin_dis (View v e) _ C)].
    intros r n N R W io a HN HS Hr Ha. apply IA; auto. now apply dacc_out.
  - (* Both *) assert (C := C2_dis e1 e2 (Both j e1 e2) _ _ (IBoth j) IC1 IC2 READ1). split; [|exact C].
    intros r n N R W io a HN HS Hr Ha. cbn [Translation.tr fst]. destruct (fuse && is_zip j && (pure e1 && pure e2)).
    + apply copy_dis; [apply readable_app; now apply px_readable|]. eapply dacc_within; eauto.
    + split; [apply IA1|apply IA2]; auto; [apply (dacc_put _ _ _ _ _ j false Ha)|apply (dacc_put _ _ _ _ _ j true Ha)].
  - (* At *) assert (C := C2_dis e i (At e i) _ _ IAt IC ICi READ1). split; [exact (fin_dis (At e i) _ C)|exact C].
  - (* Gather *) assert (C := C2_dis is e (Gather is e) _ _ IGather ICi IC READ1). split; [exact (fin_dis (Gather is e) _ C)|exact C].
  - (* Iota *) assert (C : disC (Iota m) (fun (r : renv G) n k => k n IIota)). { apply (now_dis (Iota m) (fun _ _ => IIota)). constructor. }
    split; [exact (fin_dis (Iota m) _ C)|exact C].
  - (* Map *)
    assert (A : disA (Map par f e) (fst (tr (Map par f e)))).
    { intros r n N R W io a HN HS Hr Ha. apply IC; auto. intros n1 N1 R1 W1 x E Hx.
      apply (loop_dis par n1 N1 R1 W1 io a M t); [apply (e_scoped _ _ _ _ _ _ _ _ E)|eapply dacc_ext; eauto|].
      intros i Wi Hi Si Hd. apply IAf; auto.
      - eapply low_le; [apply (e_low _ _ _ _ _ _ _ _ E)|lia].
      - apply renvR_cons; [apply readable_app; [exact Hx|constructor]|]. eapply renvR_mono; [apply (e_R _ _ _ _ _ _ _ _ E)|auto]. }
    split; [exact A|]. cbn [Translation.tr snd]. destruct (fuse && pure f); [|exact (mem_dis (Map par f e) _ A)].
    intros r n N R W io k HN HS Hr Hk. apply IC; auto. intros n1 N1 R1 W1 x E Hx.
    assert (L1 := e_low _ _ _ _ _ _ _ _ E). assert (S1 := e_scoped _ _ _ _ _ _ _ _ E).
    apply Hk; [eapply ext_trans; [exact E|apply ext_level; auto]|].
    apply (px_readable f), renvR_cons; [apply readable_app; [exact Hx|constructor]|]. eapply renvR_mono; [apply (e_R _ _ _ _ _ _ _ _ E)|auto].
  - (* Gen *)
    assert (A : disA (Gen M par f) (fst (tr (Gen M par f)))).
    { intros r n N R W io a HN HS Hr Ha. apply (loop_dis par n N R W io a M t); auto. intros i Wi Hi Si Hd. apply IAf; auto.
      - eapply low_le; eauto.
      - apply renvR_cons; [constructor|auto]. }
    split; [exact A|]. cbn [Translation.tr snd]. destruct (pure f); [|exact (mem_dis (Gen M par f) _ A)].
    intros r n N R W io k HN HS Hr Hk. apply Hk; [apply ext_level; auto|]. apply (px_readable f), renvR_cons; [constructor|auto].
  - (* Red *)
    assert (C : disC (Red f i e) (snd (tr (Red f i e)))).
    { intros r n N R W io k HN HS Hr Hk. apply IC; auto. intros n1 N1 R1 W1 x E Hx.
      assert (Hr1 : renvR R1 r) by (eapply renvR_mono; [apply (e_R _ _ _ _ _ _ _ _ E)|auto]).
      apply (red_tail_dis i M r n1 N1 R1 W1 io k (fun v j => fst (tr f) (bindE (IVar v) (bindE (IAt x j) r)))); auto;
        [apply (e_low _ _ _ _ _ _ _ _ E)|apply (e_scoped _ _ _ _ _ _ _ _ E)|exact (step_red_dis f _ R1 x r IAf Hx Hr1)|].
      intros n2 N2 R2 W2 y E2 Hy. apply Hk; auto. eapply ext_trans; eauto. }
    split; [|exact C]. assert (A := fin_dis (Red f i e) _ C). intros r n N R W io a HN HS Hr Ha. cbn [Translation.tr fst].
    destruct (into fuse t n a) as [v|] eqn:Hi; [|exact (A r n N R W io a HN HS Hr Ha)]. apply into_some in Hi as (_ & Hf & Hv & ->).
    apply IC; auto. intros n1 N1 R1 W1 x E Hx. assert (Ha1 := dacc_ext _ _ _ _ _ _ _ _ _ _ _ HS Ha E). assert (En := e_n _ _ _ _ _ _ _ _ E).
    assert (Hr1 : renvR R1 r) by (eapply renvR_mono; [apply (e_R _ _ _ _ _ _ _ _ E)|auto]).
    apply (reduceO_dis fuse i (fst (tr i)) M v n1 N1 R1 W1 io r); auto; [apply (e_low _ _ _ _ _ _ _ _ E)|apply (e_scoped _ _ _ _ _ _ _ _ E)|lia|exact (step_red_dis f _ R1 x r IAf Hx Hr1)].
  - (* Scan *)
    assert (A : disA (Scan f i e) (fst (tr (Scan f i e)))).
    { intros r n N R W io a HN HS Hr Ha. apply IC; auto. intros n1 N1 R1 W1 x E Hx.
      assert (Hr1 : renvR R1 r) by (eapply renvR_mono; [apply (e_R _ _ _ _ _ _ _ _ E)|auto]).
      assert (L1 := e_low _ _ _ _ _ _ _ _ E). assert (S1 := e_scoped _ _ _ _ _ _ _ _ E).
      assert (Ha1 : dacc n1 R1 W1 io a (ary M t)) by (exact (dacc_ext n N R W io a _ n1 N1 R1 W1 HS Ha E)).
      unfold scanI. apply new_dis; [intros C; apply L1 in C; lia|]. split; [eapply init_dis; eauto|]. intros j Hj. split.
      - apply update_dis; auto using scoped_more.
        + eapply low_le; [apply low_more; eauto|lia].
        + intros q. now right.
        + intros k0 N3 W3 a0 L3 S3 Hd. apply IAf; auto. apply renvR_cons; [apply readable_new|]. apply renvR_cons.
          * apply readable_app; [|constructor]. eapply readable_mono; [|exact Hx]. intros l Hl. left. auto.
          * eapply renvR_mono; [|exact Hr1]. intros l Hl. left. auto.
      - apply copy_dis; [apply readable_new|]. intros io' Hio p Hp. left. cbn [loc]. rewrite Hio, upd_same by lia.
        apply (dacc_within _ _ _ _ _ _ Ha1 io'); [|split; auto]. intros l Hl. rewrite Hio by lia. apply upd_other. lia. }
    split; [exact A|exact (mem_dis (Scan f i e) _ A)].
  - (* Iter *)
    assert (C : disC (Iter M f i) (snd (tr (Iter M f i)))).
    { intros r n N R W io k HN HS Hr Hk. apply (red_tail_dis i M r n N R W io k (fun v _ => fst (tr f) (bindE (IVar v) r))); auto. exact (step_iter_dis f _ R r IAf Hr). }
    split; [|exact C]. assert (A := fin_dis (Iter M f i) _ C). intros r n N R W io a HN HS Hr Ha. cbn [Translation.tr fst].
    destruct (into fuse t n a) as [v|] eqn:Hi; [|exact (A r n N R W io a HN HS Hr Ha)]. apply into_some in Hi as (_ & Hf & Hv & ->).
    apply (reduceO_dis fuse i (fst (tr i)) M v n N R W io r); auto. exact (step_iter_dis f _ R r IAf Hr).
  - (* Select *)
    assert (C : disC (Select c e1 e2) (fun r n k => snd (tr c) r n (fun n x => snd (tr e1) r n (fun n y => snd (tr e2) r n (fun n z => k n (ISel x y z)))))).
    { intros r n N R W io k HN HS Hr Hk. apply ICc; auto. intros n1 N1 R1 W1 x E1 Hx.
      assert (Hr1 : renvR R1 r) by (eapply renvR_mono; [apply (e_R _ _ _ _ _ _ _ _ E1)|auto]).
      apply IC1; [apply (e_low _ _ _ _ _ _ _ _ E1)|apply (e_scoped _ _ _ _ _ _ _ _ E1)|auto|]. intros n2 N2 R2 W2 y E2 Hy.
      assert (Hr2 : renvR R2 r) by (eapply renvR_mono; [apply (e_R _ _ _ _ _ _ _ _ E2)|auto]).
      apply IC2; [apply (e_low _ _ _ _ _ _ _ _ E2)|apply (e_scoped _ _ _ _ _ _ _ _ E2)|auto|]. intros n3 N3 R3 W3 z E3 Hz.
      apply Hk; [eapply ext_trans; [|exact E3]; eapply ext_trans; eauto|]. assert (H2 := e_R _ _ _ _ _ _ _ _ E2). assert (H3 := e_R _ _ _ _ _ _ _ _ E3).
      apply readable_app; [eapply readable_mono; [|exact Hx]; auto|]. apply readable_app; [eapply readable_mono; [|exact Hy]; auto|exact Hz]. }
    assert (B : disA (Select c e1 e2) (fun r n a => snd (tr c) r n (fun n x => If x (fst (tr e1) r n a) (fst (tr e2) r n a)))).
    { intros r n N R W io a HN HS Hr Ha. apply ICc; auto. intros n1 N1 R1 W1 x E1 Hx.
      assert (Hr1 : renvR R1 r) by (eapply renvR_mono; [apply (e_R _ _ _ _ _ _ _ _ E1)|auto]).
      assert (Ha1 : dacc n1 R1 W1 io a t) by (exact (dacc_ext n N R W io a _ n1 N1 R1 W1 HS Ha E1)).
      split; [now apply readable_reads|]. split; [apply IA1|apply IA2]; auto; try apply (e_low _ _ _ _ _ _ _ _ E1); apply (e_scoped _ _ _ _ _ _ _ _ E1). }
    split; cbn [Translation.tr fst snd].
    + destruct fuse; [exact B|exact (fin_dis (Select c e1 e2) _ C)].
    + destruct (fuse && negb (pure e1 && pure e2)); [exact (mem_dis (Select c e1 e2) _ B)|exact C].
  - (* Let *) split; intros r n N R W io; cbn [Translation.tr fst snd].
    + intros a HN HS Hr Ha. apply IC1; auto. intros n1 N1 R1 W1 x E1 Hx.
      apply IA2; [apply (e_low _ _ _ _ _ _ _ _ E1)|apply (e_scoped _ _ _ _ _ _ _ _ E1)| |eapply dacc_ext; eauto].
      apply renvR_cons; auto. eapply renvR_mono; [apply (e_R _ _ _ _ _ _ _ _ E1)|auto].
    + intros k HN HS Hr Hk. apply IC1; auto. intros n1 N1 R1 W1 x E1 Hx.
      apply IC2; [apply (e_low _ _ _ _ _ _ _ _ E1)|apply (e_scoped _ _ _ _ _ _ _ _ E1)| |].
      * apply renvR_cons; auto. eapply renvR_mono; [apply (e_R _ _ _ _ _ _ _ _ E1)|auto].
      * intros n2 N2 R2 W2 y E2 Hy. apply Hk; auto. eapply ext_trans; eauto.
  - (* Store *) assert (A : disA (Store e) (fst (tr e))) by exact IA. split; [exact A|exact (mem_dis (Store e) _ A)].
  - (* Copy *)
    assert (A : disA (Copy par v e) (fst (tr (Copy par v e)))).
    { intros r n N R W io a HN HS Hr Ha. apply IC; auto. intros n1 N1 R1 W1 x E Hx.
      apply (loop_dis par n1 N1 R1 W1 io a M t); [apply (e_scoped _ _ _ _ _ _ _ _ E)|eapply dacc_ext; eauto|].
      intros i Wi Hi Si Hd. apply copy_dis; [apply readable_app; [exact Hx|constructor]|]. eapply dacc_within; eauto. }
    split; [exact A|exact (mem_dis (Copy par v e) _ A)].
  - (* RedPar *)
    assert (C : disC (RedPar o z f i e) (snd (tr (RedPar o z f i e)))).
    { intros r n N R W io k HN HS Hr Hk. apply IC; auto. intros n1 N1 R1 W1 x E Hx.
      assert (Hr1 : renvR R1 r) by (eapply renvR_mono; [apply (e_R _ _ _ _ _ _ _ _ E)|auto]).
      assert (L1 := e_low _ _ _ _ _ _ _ _ E). assert (S1 := e_scoped _ _ _ _ _ _ _ _ E).
      unfold sumI. apply new_dis; [intros C; apply L1 in C; lia|]. split; [eapply init_dis; eauto|]. split; [|apply Hk; [eapply ext_trans; [exact E|now apply ext_new]|apply readable_new]].
      split; [left; now right|]. split; [now right|]. split; [intros [C|C]; [apply L1 in C|]; lia|].
      exists (fun _ => seen (more R1 n1) (fun _ _ => False)), (fun _ _ _ => False). split.
      { split; [intros j l q Hj [Hl|[]]; now left|]. split; [contradiction|]. intros j j' l q Hj Hj' Hne []. }
      intros j Hj. apply dis_new.
      set (w := S (S n1)). apply (fin_dis f _ ICf _ (S w) (more (more N1 n1) w) (more (more R1 n1) w) (moreW (fun _ _ => False) w)).
      - apply low_more. eapply low_le; [apply low_more; eauto|]. unfold w. lia.
      - destruct S1 as [S1 _]. split; [intros l [[Hl| ->]| ->]; [left; left; auto|left; now right|now right]|intros l q [[]| ->]; now right].
      - apply renvR_cons; [apply readable_app; [|constructor]|].
        + eapply readable_mono; [|exact Hx]. intros l Hl. left. now left.
        + eapply renvR_mono; [|exact Hr1]. intros l Hl. left. now left.
      - apply dacc_var; auto. intros p. now right. }
    split; [exact (fin_dis (RedPar o z f i e) _ C)|exact C].
  - (* Scatter *)
    assert (A : disA (Scatter is b e) (fst (tr (Scatter is b e)))).
    { intros r n N R W io a HN HS Hr Ha. split; [apply IAb; auto|]. apply ICi; auto. intros n1 N1 R1 W1 j E1 Hj.
      assert (Hr1 : renvR R1 r) by (eapply renvR_mono; [apply (e_R _ _ _ _ _ _ _ _ E1)|auto]).
      apply IC; [apply (e_low _ _ _ _ _ _ _ _ E1)|apply (e_scoped _ _ _ _ _ _ _ _ E1)|auto|]. intros n2 N2 R2 W2 x E2 Hx.
      assert (Ha2 : dacc n2 R2 W2 io a (ary m t)) by (exact (dacc_ext n N R W io a _ n2 N2 R2 W2 HS Ha (ext_trans _ _ _ _ _ _ _ _ _ _ _ _ E1 E2))).
      intros k Hk. split; [apply readable_reads, readable_app; [|constructor]; eapply readable_mono; [apply (e_R _ _ _ _ _ _ _ _ E2)|auto]|].
      intros i Hi. apply copy_dis; [apply readable_app; [exact Hx|constructor]|]. intros io' Hio p Hp. cbn [loc]. rewrite Hio, upd_same by lia.
      apply (dacc_within _ _ _ _ _ _ Ha2 io'); [|split; auto]. intros l Hl. rewrite Hio, !upd_other by lia. reflexivity. }
    split; [exact A|exact (mem_dis (Scatter is b e) _ A)].
Qed.

(* Whole programs: the output at level 0, inputs at levels from 1 and below [n]. However reads and writes interleave, nothing races, the output is in the end
   what the program says, and nothing else of what was there has changed. *)
Section Top.
Context {G : list data} {t : data} (e : exp G t) (r : renv G) (n : nat) (io : ienv).
Hypothesis Hn : 0 < n.
Hypothesis Hr : renvR (fun l => 0 < l < n) r.
Notation code := (fst (tr e) r n (AVar 0)).
Notation runs := (run code [] Interleave.Global io).
Lemma top_dis : dis io (fun l => l < n) (fun l => 0 < l < n) (fun l _ => l = 0) code.
Proof.
  apply (proj1 (tr_dis G t e)); auto.
  - intros l Hl. exact Hl.
  - split; [intros l Hl; lia|intros l q ->; exact Hn].
  - apply dacc_var; auto. right. lia.
Qed.
Lemma top_inv : inv [] Interleave.Global. Proof. split; [congruence|discriminate]. Qed.
Theorem compile_race_free : forall tr rest, runs (tr ++ rest) -> ~ Interleave.race number tr.
Proof.
  intros tr rest H (a & b & Ha & Hb & Hab). apply (no_race code io _ _ _ [] _ _ top_dis top_inv H). exists a, b.
  split; [apply in_or_app; auto|]. split; [apply in_or_app; auto|exact Hab].
Qed.
Theorem compile_interleaves g D s m tr : lawful e -> D 0 = t -> envok n (only 0) D s io r g ->
  (forall l q, l < n -> as_number (m (element (Interleave.Global l) q)) = s l q) ->
  runs tr -> Interleave.good number m tr ->
  (forall p, leaf t p -> as_number (Interleave.finally number m tr (element (Interleave.Global 0) p)) = sel t (ev_exp e g) p) /\
  (forall l cs is, l <> 0 -> Interleave.finally number m tr (Interleave.Global l, cs, is) = m (Interleave.Global l, cs, is)).
Proof.
  intros HL HD Henv Hm H Hg.
  assert (HS : Threads.scoped (fun l => l < n) (seen (fun l => 0 < l < n) (fun l _ => l = 0)) (fun l _ => l = 0)). { split; [intros l q [Hl|Hl]; lia|intros l q ->; exact Hn]. }
  split.
  - destruct (exec_of_run code io _ _ _ [] _ tr m s top_dis HS top_inv H Hg) as (s' & E & M). { intros l Hl q. apply Hm. exact Hl. }
    intros p Hp. rewrite (M 0 Hn). destruct (proj1 (tr_correct fuse G t e HL) r g n (only 0) D s s' io (AVar 0)) as [W1 _]; auto using wbelow_only.
    { apply accok_var; auto. right. reflexivity. }
    apply (W1 p Hp).
  - intros l cs is Hl. apply Interleave.finally_unwritten. assert (T := run_touches code io _ _ _ [] _ tr top_dis H).
    eapply Forall_impl; [|exact T]. intros a [_ [(l' & q & E & Hw)|(q & l' & z & E & _)]] Ha C; rewrite E in C; [|discriminate].
    rewrite Ha in Hw. unfold element in C. injection C as -> _ _. contradiction.
Qed.
End Top.
End Races.
