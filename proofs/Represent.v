(* What it means that an expression represents a value, that an acceptor may be written, and that commands wrote a value; and that the rules of code
   generation for each keep it so. *)
From Coq Require Import Arith List Lia Permutation.
From Lozenge Require Import Paths Phrases Translation.
Import ListNotations.

Section Represent.
Context {K : Scalars}.

(* ---------- specification ---------- *)
Definition region := nat -> path -> Prop.
Definition sagree n (W : region) (s s' : store) := forall l p, l < n -> ~ W l p -> s' l p = s l p.
Definition agrees {A} n (f f' : nat -> A) := forall l, l < n -> f' l = f l.
Definition wbelow n (W : region) := forall l p, W l p -> l < n.
(* [x] represents [v], robustly: it has that value, and reads in bounds, in every store that agrees with [s] below level [n] and outside [W]. *)
Definition rep n (W : region) (D : nat -> data) s io x d (v : den d) := ok d v /\
  forall s' io' D', sagree n W s s' -> agrees n io io' -> agrees n D D' -> forall p, leaf d p -> ev s' io' x p = sel d v p /\ inb D' s' io' x p.
(* [a] may be written as a [d]; what is more than a number lies inside [W]. *)
Record accok n (W : region) (D : nat -> data) io a d : Prop := {
  ao_stable : forall io', agrees n io io' -> forall p, leaf d p -> loc io' a p = loc io a p;
  ao_below : forall p, leaf d p -> fst (loc io a p) < n;
  ao_in : flat d = true \/ forall p, leaf d p -> W (fst (loc io a p)) (snd (loc io a p));
  ao_leaf : forall p, leaf d p -> leaf (D (fst (loc io a p))) (snd (loc io a p));
  ao_inj : forall p q, leaf d p -> leaf d q -> loc io a p = loc io a q -> p = q }.
Definition envok {G} n W D s io (r : renv G) (g : env den G) := forall t (x : var G t), rep n W D s io (r t x) t (g t x).
Definition inreg io a d l q := exists p, leaf d p /\ loc io a p = (l, q).
Definition wrote n io a d v (s s' : store) :=
  (forall p, leaf d p -> s' (fst (loc io a p)) (snd (loc io a p)) = sel d v p) /\
  (forall l q, l < n -> ~ inreg io a d l q -> s' l q = s l q).
Definition same n (s s' : store) := forall l q, l < n -> s' l q = s l q.

Definition specA {G t} (e : exp G t) (A : tyA G) := forall r g n W D s s' io a,
  wbelow n W -> envok n W D s io r g -> accok n W D io a t -> exec (A r n a) io s s' -> wrote n io a t (ev_exp e g) s s'.
Definition specC {G t} (e : exp G t) (C : tyC G) := forall r g n W D s s' io k,
  wbelow n W -> envok n W D s io r g -> exec (C r n k) io s s' ->
  exists n1 x s1 D1, n <= n1 /\ same n s s1 /\ agrees n D D1 /\ rep n1 W D1 s1 io x t (ev_exp e g) /\ exec (k n1 x) io s1 s'.

(* ---------- agreement ---------- *)
Lemma upd_same {A} (f : nat -> A) l v : upd f l v l = v. Proof. unfold upd. now rewrite Nat.eqb_refl. Qed.
Lemma upd_other {A} (f : nat -> A) l v k : l <> k -> upd f l v k = f k.
Proof. unfold upd. intros. destruct (Nat.eqb_spec l k); congruence. Qed.
Lemma wr_same s lq v : wr s lq v (fst lq) (snd lq) = v.
Proof. unfold wr. rewrite Nat.eqb_refl. destruct (path_dec _ _); congruence. Qed.
Lemma wr_other s lq v l q : lq <> (l, q) -> wr s lq v l q = s l q.
Proof.
  unfold wr. destruct lq as [l0 q0]; cbn [fst snd]. intros H.
  destruct (Nat.eqb_spec l0 l); destruct (path_dec q0 q); congruence.
Qed.
Lemma sagree_refl n W s : sagree n W s s. Proof. intros l p; auto. Qed.
Lemma agrees_refl {A} n (f : nat -> A) : agrees n f f. Proof. intros l; auto. Qed.
Lemma agrees_upd {A} n (f : nat -> A) l v : n <= l -> agrees n f (upd f l v).
Proof. intros H k Hk. apply upd_other. lia. Qed.
Lemma agrees_trans {A} n m (f g h : nat -> A) : agrees n f g -> n <= m -> agrees m g h -> agrees n f h.
Proof. intros H L E l Hl. rewrite E by lia. auto. Qed.
Lemma same_sagree n W s s' : same n s s' -> sagree n W s s'. Proof. intros H l p Hl _. auto. Qed.
Lemma same_upd n s l v : n <= l -> same n s (upd s l v). Proof. intros H k q Hk. rewrite upd_other; auto. lia. Qed.
Lemma same_trans n m s s1 s2 : same n s s1 -> n <= m -> same m s1 s2 -> same n s s2.
Proof. intros H L E l q Hl. rewrite E by lia. auto. Qed.
Lemma pair_eta {A B} (p : A * B) : p = (fst p, snd p). Proof. now destruct p. Qed.
Lemma wbelow_le n m W : wbelow n W -> n <= m -> wbelow m W. Proof. intros H ? l p Hl. apply H in Hl. lia. Qed.
Definition only (n : nat) : region := fun l _ => l = n.
Lemma wbelow_only n m : n < m -> wbelow m (only n). Proof. intros H l p ->. auto. Qed.

Lemma rep_mono n W D s io x d v n' (W' : region) D' s' io' :
  rep n W D s io x d v -> n <= n' -> sagree n W s s' -> agrees n io io' -> agrees n D D' ->
  (forall l p, l < n -> W' l p -> W l p) -> rep n' W' D' s' io' x d v.
Proof.
  intros [O H] Hn Hs Hi HD HW. split; auto. intros s2 io2 D2 H1 H2 H3. apply H.
  - intros l q Hl Hq. rewrite H1; [apply Hs| |]; auto; lia || (intro; apply Hq; auto).
  - eapply agrees_trans; eauto.
  - eapply agrees_trans; eauto.
Qed.
Lemma envok_mono {G} n W D s io (r : renv G) g n' (W' : region) D' s' io' :
  envok n W D s io r g -> n <= n' -> sagree n W s s' -> agrees n io io' -> agrees n D D' ->
  (forall l p, l < n -> W' l p -> W l p) -> envok n' W' D' s' io' r g.
Proof. intros H ? ? ? ? ? t x. eapply rep_mono; eauto. Qed.
Lemma envok_cons {G u} n W D s io (r : renv G) g x v :
  rep n W D s io x u v -> envok n W D s io r g -> envok (G := u :: G) n W D s io (bindE x r) (consE v g).
Proof.
  intros Hx Hr t y.
  refine (match y as y0 in var G' t' return match G' as G0 return var G0 t' -> Prop with [] => fun _ => True | s0 :: G0 => fun y1 =>
     forall (x : iexp) (v : den s0) (r : renv G0) (g : env den G0), rep n W D s io x s0 v -> envok n W D s io r g ->
      rep n W D s io (bindE (s := s0) x r t' y1) t' (consE v g t' y1) end y0 with VZ => _ | VS y => _ end x v r g Hx Hr);
  cbn; auto.
Qed.
Lemma envok_ok {G} n W D s io (r : renv G) g : envok n W D s io r g -> forall t (x : var G t), ok t (g t x).
Proof. intros H t x. apply (H t x). Qed.
Lemma rep_now n W D s io x d v : rep n W D s io x d v -> forall p, leaf d p -> ev s io x p = sel d v p /\ inb D s io x p.
Proof. intros [_ H]. apply H; auto using sagree_refl, @agrees_refl. Qed.

(* ---------- expressions ---------- *)
Section Rep.
Variables (n : nat) (W : region) (D : nat -> data) (s : store) (io : ienv).
Notation rep := (rep n W D s io).
Lemma rep_lit v : rep (ILit v) num v.
Proof. split; [exact I|]. intros s' io' D' _ _ _ p _. cbn. auto. Qed.
Lemma rep_nat m i : i < m -> rep (INat i) (idx m) i.
Proof. split; auto. intros s' io' D' _ _ _ p _. cbn. auto. Qed.
Lemma rep_op1 o x v : rep x num v -> rep (IOp1 o x) num (op1 o v).
Proof. intros [_ H]. split; [exact I|]. intros s' io' D' A B C p _. destruct (H s' io' D' A B C [] I) as [E F]. cbn in *. now rewrite E. Qed.
Lemma rep_op2 o x y v w : rep x num v -> rep y num w -> rep (IOp2 o x y) num (op2 o v w).
Proof.
  intros [_ H] [_ H']. split; [exact I|]. intros s' io' D' A B C p _. destruct (H s' io' D' A B C [] I) as [E F], (H' s' io' D' A B C [] I) as [E' F'].
  cbn in *. now rewrite E, E'.
Qed.
Lemma rep_value m x i : rep x (idx m) i -> rep x num (of_nat i).
Proof. intros [_ H]. split; [exact I|]. intros s' io' D' A B C [|? ?] []. apply (H s' io' D' A B C [] I). Qed.
Lemma rep_move f m m' x i : (forall i, i < m -> f i < m') -> rep x (idx m) i -> rep (IMove f x) (idx m') (f i).
Proof.
  intros Hf [O H]. split; [apply Hf, O|]. intros s' io' D' A B C p _. destruct (H s' io' D' A B C [] I) as [E F]. cbn in *. now rewrite E, to_of_nat.
Qed.
Lemma rep_view {d d'} (v : view d d') x y : rep x d y -> rep (IView v x) d' (vsem v y).
Proof.
  intros [O H]. split; [now apply vsem_ok|]. intros s' io' D' A B C p Hp. destruct (vin_ok v p y Hp) as [L ->]. apply (H s' io' D' A B C _ L).
Qed.
Lemma rep_both {a b d} (j : both a b d) x y v w : rep x a v -> rep y b w -> rep (IBoth j x y) d (bsem j v w).
Proof.
  intros [O H] [O' H']. split; [now apply bsem_ok|]. intros s' io' D' A B C p Hp. assert (L := bpick_ok j p v w Hp). cbn [ev inb].
  destruct (bpick j p) as [[|] q]; destruct L as (L & -> & _); [apply (H' s' io' D' A B C q L)|apply (H s' io' D' A B C q L)].
Qed.
Lemma rep_at m x j t v i : rep x (ary m t) v -> rep j (idx m) i -> rep (IAt x j) t (v i).
Proof.
  intros [O H] [O' H']. split; [now apply O|]. intros s' io' D' A B C p Hp. destruct (H' s' io' D' A B C [] I) as [E F]. cbn [ev inb] in *.
  rewrite E. cbn [sel]. rewrite to_of_nat. destruct (H s' io' D' A B C (Ix i :: p)) as [E' F']; [split; auto|]. auto.
Qed.
Lemma rep_gather m m' x j t v is : rep x (ary m t) v -> rep j (ary m' (idx m)) is -> rep (IGather j x) (ary m' t) (fun i => v (is i)).
Proof.
  intros [O H] [O' H']. split; [intros i Hi; apply O, O', Hi|]. intros s' io' D' A B C p Hp. apply leaf_ary in Hp as (i & q & -> & Hi & Hq).
  destruct (H' s' io' D' A B C [Ix i]) as [E F]; [split; cbn; auto|]. cbn [ev inb] in *. rewrite E. cbn [sel]. rewrite to_of_nat.
  destruct (H s' io' D' A B C (Ix (is i) :: q)) as [E' F']; [split; auto; apply O'; auto|]. auto.
Qed.
Lemma rep_iota m : rep IIota (ary m (idx m)) (fun i => i).
Proof. split; [intros i Hi; exact Hi|]. intros s' io' D' A B C p Hp. apply leaf_ary in Hp as (i & q & -> & Hi & Hq). cbn. auto. Qed.
Lemma rep_sel x y z t c (v w : den t) : rep x num c -> rep y t v -> rep z t w -> rep (ISel x y z) t (if truth c then v else w).
Proof.
  intros [_ Hc] [O H] [O' H']. split; [destruct (truth c); auto|]. intros s' io' D' A B C p Hp. destruct (Hc s' io' D' A B C [] I) as [E F].
  cbn [ev inb] in *. rewrite E. cbn [sel]. destruct (truth c); [destruct (H s' io' D' A B C p Hp)|destruct (H' s' io' D' A B C p Hp)]; auto.
Qed.
Lemma rep_gen m t y (v : nat -> den t) :
  (forall i s' io' D', i < m -> sagree n W s s' -> agrees n io io' -> agrees n D D' -> Represent.rep (S n) W D' s' (upd io' n i) y t (v i)) ->
  rep (IGen n y) (ary m t) v.
Proof.
  intros H. split.
  - intros i Hi. apply (H i s io D Hi); auto using sagree_refl, @agrees_refl.
  - intros s' io' D' A B C p Hp. apply leaf_ary in Hp as (i & q & -> & Hi & Hq). cbn [ev inb sel]. apply (rep_now _ _ _ _ _ _ _ _ (H i s' io' D' Hi A B C) q Hq).
Qed.
End Rep.
Lemma rep_loop n W D s io m i : i < m -> rep (S n) W D s (upd io n i) (ILoop n) (idx m) i.
Proof. intros Hi. split; auto. intros s' io' D' _ B _ p _. cbn. rewrite B, upd_same by lia. auto. Qed.
Lemma rep_elem n W D s io x N t v i : i < N -> rep n W D s io x (ary N t) v ->
  forall s' D', sagree n W s s' -> agrees n D D' -> rep (S n) W D' s' (upd io n i) (IAt x (ILoop n)) t (v i).
Proof.
  intros Hi H s' D' Hs HD. apply rep_at with (m := N); [|now apply rep_loop].
  eapply rep_mono; eauto using @agrees_upd.
Qed.

(* ---------- acceptors ---------- *)
Lemma accok_mono n W D io a d n' (W' : region) D' io' : accok n W D io a d -> n <= n' -> agrees n io io' -> agrees n D D' ->
  (forall l p, W l p -> W' l p) -> accok n' W' D' io' a d.
Proof.
  intros [H1 H2 H3 H4 H5] Hn Hi HD HW. split.
  - intros io2 H p Hp. rewrite H1, (H1 io'); auto. eapply agrees_trans; eauto.
  - intros p Hp. rewrite (H1 io') by auto. specialize (H2 p Hp). lia.
  - destruct H3 as [H3|H3]; auto. right. intros p Hp. apply HW. rewrite (H1 io') by auto. auto.
  - intros p Hp. rewrite (H1 io') by auto. rewrite HD; auto.
  - intros p q Hp Hq. rewrite !(H1 io') by auto. auto.
Qed.
(* views of acceptors *)
Lemma accok_view n W D io a a' d d' (h : path -> path) :
  accok n W D io a d -> (flat d = false \/ flat d' = true) -> (forall p, leaf d' p -> leaf d (h p)) ->
  (forall p q, leaf d' p -> leaf d' q -> h p = h q -> p = q) ->
  (forall io' p, leaf d' p -> loc io' a' p = loc io' a (h p)) -> accok n W D io a' d'.
Proof.
  intros [H1 H2 H3 H4 H5] Hf Hh Hi Hl. split; intros; rewrite ?Hl in *; auto.
  destruct Hf as [Hf|Hf]; auto. destruct H3 as [H3|H3]; [congruence|]. right. intros p Hp. rewrite Hl; auto.
Qed.
Lemma accok_out n W D io a {d d'} (v : view d d') : writable v = true -> accok n W D io a d' -> accok n W D io (AView v a) d.
Proof.
  intros Hv Ha. apply accok_view with (a := a) (d := d') (h := vout v); auto.
  - rewrite (writable_flat v Hv). destruct (flat d'); auto.
  - intros p Hp. now apply vout_ok.
  - intros p q Hp Hq E. destruct (vout_ok v Hv p Hp) as [_ <-], (vout_ok v Hv q Hq) as [_ <-]. now rewrite E.
Qed.
Lemma accok_put n W D io x {a b d} (j : both a b d) c : accok n W D io x d -> accok n W D io (APut j c x) (side c a b).
Proof.
  intros Ha. apply accok_view with (a := x) (d := d) (h := bput j c); auto.
  - left. apply (both_flat j).
  - intros p Hp. now apply bput_ok.
  - intros p q Hp Hq E. destruct (bput_ok j c p Hp) as [_ E1], (bput_ok j c q Hq) as [_ E2]. congruence.
Qed.
Lemma accok_idx n W D io a N d i : i < N -> accok n W D io a (ary N d) -> accok (S n) W D (upd io n i) (AAt a n) d.
Proof.
  intros Hi H. assert (H' := accok_mono _ _ _ _ _ _ (S n) W D (upd io n i) H ltac:(lia) (agrees_upd _ _ _ _ (le_n n)) (agrees_refl _ _) ltac:(auto)).
  split.
  - intros io' Hio p Hp. cbn. rewrite Hio by lia. rewrite upd_same. apply (ao_stable _ _ _ _ _ _ H' io' Hio). now split.
  - intros p Hp. cbn. rewrite upd_same. apply (ao_below _ _ _ _ _ _ H'). now split.
  - right. intros p Hp. cbn. rewrite upd_same. destruct (ao_in _ _ _ _ _ _ H') as [F|F]; [discriminate|]. apply F. now split.
  - intros p Hp. cbn. rewrite upd_same. apply (ao_leaf _ _ _ _ _ _ H'). now split.
  - intros p q Hp Hq. cbn. rewrite upd_same. intros E. apply (ao_inj _ _ _ _ _ _ H') in E; cbn; auto. congruence.
Qed.
Lemma accok_own n m io D d (W : region) : n < m -> (forall p, leaf d p -> leaf (D n) p) -> (flat d = true \/ forall p, W n p) -> accok m W D io (AVar n) d.
Proof. intros H HD HW. split; cbn; intros; auto; try congruence. destruct HW; auto. Qed.
Lemma accok_var n m io D d (W : region) : n < m -> D n = d -> (flat d = true \/ forall p, W n p) -> accok m W D io (AVar n) d.
Proof. intros H <-. now apply accok_own. Qed.
Definition leaves (n : nat) (d : data) : region := fun l p => l = n /\ leaf d p.
Lemma accok_leaves n m io D d : n < m -> (forall p, leaf d p -> leaf (D n) p) -> accok m (leaves n d) D io (AVar n) d.
Proof. intros H HD. split; cbn; intros; auto; try congruence. right. intros p Hp. split; auto. Qed.
Lemma wbelow_leaves n m d : n < m -> wbelow m (leaves n d). Proof. intros H l p [-> _]. auto. Qed.
Lemma leaf_upd D n d : forall p, leaf d p -> leaf (upd D n d n) p. Proof. intros p. now rewrite upd_same. Qed.
Lemma inreg_other io n d l q : l <> n -> ~ inreg io (AVar n) d l q. Proof. intros H (p & _ & E). cbn in E. congruence. Qed.

(* ---------- what was written ---------- *)
Lemma wrote_le n m io a d v s s' : wrote m io a d v s s' -> n <= m -> wrote n io a d v s s'.
Proof. intros [H1 H2] H. split; auto. intros l q Hl. apply H2. lia. Qed.
Lemma wrote_pre n io a d v s s1 s' : same n s s1 -> wrote n io a d v s1 s' -> wrote n io a d v s s'.
Proof. intros H [H1 H2]. split; auto. intros l q Hl Hn. rewrite H2, H; auto. Qed.
Lemma wrote_sagree n W D io a d v s s' : accok n W D io a d -> flat d = false -> wrote n io a d v s s' -> sagree n W s s'.
Proof.
  intros Ha Hf [_ H] l p Hl Hn. apply H; auto. intros (q & Hq & E). apply Hn. destruct (ao_in _ _ _ _ _ _ Ha) as [F|F]; [congruence|].
  generalize (F q Hq). now rewrite E.
Qed.
Lemma wrote_view n io a a' d d' v v' s s' (h : path -> path) :
  wrote n io a' d' v' s s' ->
  (forall p, leaf d' p -> leaf d (h p)) -> (forall p, leaf d' p -> loc io a' p = loc io a (h p)) ->
  (forall q, leaf d q -> exists p, leaf d' p /\ h p = q) -> (forall p, leaf d' p -> sel d' v' p = sel d v (h p)) ->
  wrote n io a d v s s'.
Proof.
  intros [H1 H2] Hh Hl Hs Hv. split.
  - intros q Hq. destruct (Hs q Hq) as (p & Hp & <-). rewrite <- Hl, <- Hv; auto.
  - intros l q Hlt Hn. apply H2; auto. intros (p & Hp & E). apply Hn. exists (h p). rewrite <- Hl; auto.
Qed.
Lemma wrote_out n io a {d d'} (v : view d d') x s s' : writable v = true -> wrote n io (AView v a) d x s s' -> wrote n io a d' (vsem v x) s s'.
Proof.
  intros Hv H. eapply wrote_view with (h := vout v); [exact H| | | |]; auto.
  - intros p Hp. now apply vout_ok.
  - intros q Hq. exists (vin v q). split; [apply (vin_ok v q x Hq)|now apply vout_vin].
  - intros p Hp. destruct (vout_ok v Hv p Hp) as [L E]. destruct (vin_ok v _ x L) as [_ ->]. now rewrite E.
Qed.
(* Two sides, one after the other. *)
Lemma wrote_both n W D io x {a b d} (j : both a b d) v w s s1 s' : accok n W D io x d ->
  wrote n io (APut j false x) a v s s1 -> wrote n io (APut j true x) b w s1 s' -> wrote n io x d (bsem j v w) s s'.
Proof.
  intros Ha [A1 A2] [B1 B2]. split.
  - intros q Hq. assert (L := bpick_ok j q v w Hq). destruct (bpick j q) as [[|] p]; destruct L as (L & -> & E); rewrite <- E.
    + apply (B1 p L).
    + rewrite B2; [apply (A1 p L)| |].
      * apply (ao_below _ _ _ _ _ _ Ha). now apply (bput_ok j false).
      * intros (p' & Hp' & E2). cbn in E2. rewrite <- pair_eta in E2.
        destruct (bput_ok j false p L) as [L1 F1], (bput_ok j true p' Hp') as [L2 F2].
        apply (ao_inj _ _ _ _ _ _ Ha) in E2; auto. congruence.
  - intros l q Hl Hn. rewrite B2, A2; auto; intros (p & Hp & E); apply Hn; cbn in E.
    + exists (bput j false p). split; auto. now apply (bput_ok j false).
    + exists (bput j true p). split; auto. now apply (bput_ok j true).
Qed.
Lemma wrote_below n m io k d v s s' : wrote m io (AVar k) d v s s' -> n <= m -> n <= k -> same n s s'.
Proof. intros [_ H] Hm Hk l q Hl. apply H; [lia|]. intros (p & _ & E). cbn in E. injection E as -> _. lia. Qed.
(* A variable just written represents its value. *)
Lemma rep_var n m W D io d v s s' : n < m -> (forall p, ~ W n p) -> D n = d -> ok d v -> wrote m io (AVar n) d v s s' -> rep m W D s' io (IVar n) d v.
Proof.
  intros Hn HW HD Hok [H1 _]. split; auto. intros s2 io2 D2 G1 G2 G3 p Hp. cbn. rewrite G1, G3; auto. split; [apply (H1 p Hp)|]. now rewrite HD.
Qed.

(* A loop whose i-th iteration writes exactly element i, in any order; [Q] holds on the way. *)
Lemma loop_map n W D io a N d v s0 (R : nat -> store -> store -> Prop) :
  accok n W D io a (ary N d) ->
  (forall i s s', i < N -> sagree n W s0 s -> R i s s' -> wrote (S n) (upd io n i) (AAt a n) d (v i) s s') ->
  forall is s s', NoDup is -> (forall i, In i is -> i < N) -> sagree n W s0 s -> iterR R is s s' ->
  (forall i p, In i is -> leaf d p -> s' (fst (loc io a (Ix i :: p))) (snd (loc io a (Ix i :: p))) = sel d (v i) p) /\
  (forall l q, l < n -> (forall i, In i is -> ~ inreg (upd io n i) (AAt a n) d l q) -> s' l q = s l q) /\ sagree n W s0 s'.
Proof.
  intros Ha HR. assert (Hloc : forall i p, i < N -> leaf d p -> loc (upd io n i) (AAt a n) p = loc io a (Ix i :: p)).
  { intros i p Hi Hp. cbn. rewrite upd_same. apply (ao_stable _ _ _ _ _ _ Ha); [apply agrees_upd; lia|now split]. }
  induction is as [|i is IH]; cbn; intros s s' Hnd Hin Hs.
  - intros ->. split; [contradiction|auto].
  - intros (s1 & H1 & H2). inversion Hnd; subst.
    assert (HN : i < N) by auto.
    assert (Hw := HR i s s1 HN Hs H1).
    assert (Hs1 : sagree n W s0 s1).
    { intros l p Hl Hp. rewrite <- Hs by auto. destruct Hw as [_ Hw]. apply Hw; [lia|]. intros (q & Hq & E). rewrite Hloc in E by auto. apply Hp.
      destruct (ao_in _ _ _ _ _ _ Ha) as [F|F]; [discriminate|]. specialize (F (Ix i :: q) (conj HN Hq)). now rewrite E in F. }
    destruct (IH s1 s') as (I1 & I2 & I3); auto. destruct Hw as [W1 W2]. split; [|split; auto].
    + intros j p [->|Hj] Hp; [|auto]. rewrite I2.
      * rewrite <- Hloc by auto. auto.
      * apply (ao_below _ _ _ _ _ _ Ha). now split.
      * intros k Hk (q & Hq & E). rewrite Hloc in E by auto. rewrite <- pair_eta in E.
        apply (ao_inj _ _ _ _ _ _ Ha) in E; [|split; auto|split; auto]. injection E as -> ->. contradiction.
    + intros l q Hl Hn. rewrite I2 by auto. apply W2; auto.
Qed.
Lemma order_ok par n is : order par n is -> Permutation (seq 0 n) is.
Proof. destruct par; cbn; auto. now intros ->. Qed.
Lemma order_in par n is : order par n is -> NoDup is /\ forall i, In i is <-> i < n.
Proof.
  intros H. apply order_ok in H. split; [eapply Permutation_NoDup; [eassumption|apply seq_NoDup]|]. intros i. split; intros L.
  - apply (Permutation_in _ (Permutation_sym H)), in_seq in L. lia.
  - apply (Permutation_in _ H), in_seq. lia.
Qed.
Lemma loop_wrote n W D io a N d v s0 (R : nat -> store -> store -> Prop) par is s' :
  accok n W D io a (ary N d) ->
  (forall i s s', i < N -> sagree n W s0 s -> R i s s' -> wrote (S n) (upd io n i) (AAt a n) d (v i) s s') ->
  order par N is -> iterR R is s0 s' -> wrote n io a (ary N d) v s0 s'.
Proof.
  intros Ha HR Hp Hi. destruct (order_in _ _ _ Hp) as [Hnd Hin].
  destruct (loop_map n W D io a N d v s0 R Ha HR is s0 s') as (L1 & L2 & _); auto using sagree_refl. { intros; now apply Hin. }
  split.
  - intros p Hlp. apply leaf_ary in Hlp as (i & q & -> & Hi2 & Hq). apply L1; auto. now apply Hin.
  - intros l q Hl Hn. apply L2; auto. intros i Hi2 (p & Hpl & E). apply Hin in Hi2. apply Hn. exists (Ix i :: p). split; [now split|].
    rewrite <- E. cbn. rewrite upd_same. symmetry. apply (ao_stable _ _ _ _ _ _ Ha); [apply agrees_upd; lia|]. now split.
Qed.
End Represent.
