(* Rules may be applied at any place of a program: what has the same value as a part, in every environment, may stand for it; and the translation of the program
   after all rules computes the value of the one before. *)
From Coq Require Import Arith List Lia Bool.
From Lozenge Require Import Paths Phrases Translation Represent TranslationCorrect TranslationFacts.
Import ListNotations.

Local Arguments Nat.ltb : simpl never.
Section Places.
Context {K : Scalars} {Keep : Policy}.

(* The same elements, within bounds. *)
Fixpoint same_value d : den d -> den d -> Prop :=
  match d with
  | num => fun v w => v = w
  | idx _ => fun v w => v = w
  | ary n d => fun v w => forall i, i < n -> same_value d (v i) (w i)
  | prd a b => fun v w => same_value a (fst v) (fst w) /\ same_value b (snd v) (snd w)
  end.
Lemma same_refl d v : same_value d v v. Proof. induction d; cbn; auto. Qed.
Lemma same_sym d v w : same_value d v w -> same_value d w v. Proof. induction d; cbn; auto. intuition auto. Qed.
Lemma same_trans d u v w : same_value d u v -> same_value d v w -> same_value d u w.
Proof. induction d; cbn; try congruence; eauto. intros [] []. eauto. Qed.
Lemma same_sel d v w : same_value d v w -> forall p, leaf d p -> sel d v p = sel d w p.
Proof.
  induction d; cbn; intros H p Hp; try congruence.
  - destruct p as [|[i| |] p]; try contradiction. destruct Hp. auto.
  - destruct H. destruct p as [|[i| |] p]; try contradiction; auto.
Qed.
Lemma vsem_same {d d'} (v : view d d') : forall x y, same_value d x y -> same_value d' (vsem v x) (vsem v y).
Proof.
  induction v; cbn; intros x y H0; try (intros i Hi); try (intros j Hj); try tauto; try (apply H0; auto; fail).
  - apply H0. now apply dm5.
  - destruct (dm4 n m i Hi) as (? & ? & ?). auto.
  - split; intros i Hi; apply (H0 i Hi).
  - apply H0. now apply H.
  - apply IHv. auto.
Qed.
Lemma bsem_same {a b d} (j : both a b d) x x' y y' : same_value a x x' -> same_value b y y' -> same_value d (bsem j x y) (bsem j x' y').
Proof. destruct j; cbn; auto. intros Hx Hy i Hi. destruct (Nat.ltb_spec i n); auto. apply Hy. lia. Qed.
Definition sameE {G} (g g' : env den G) := forall t (x : var G t), same_value t (g t x) (g' t x).
Lemma sameE_cons {G s} (v w : den s) (g g' : env den G) : same_value s v w -> sameE g g' -> sameE (consE v g) (consE w g').
Proof.
  intros Hv Hg t x.
  refine (match x as x0 in var G' t' return match G' as G0 return var G0 t' -> Prop with [] => fun _ => True | s0 :: G0 => fun x1 =>
     forall (v w : den s0) (g g' : env den G0), same_value s0 v w -> sameE g g' -> same_value t' (consE v g t' x1) (consE w g' t' x1) end x0 with VZ => _ | VS y => _ end v w g g' Hv Hg); cbn; auto.
Qed.
Lemma steps_same d n f f' (b b' : den d) : ok d b -> ok d b' -> same_value d b b' ->
  (forall k a a', k < n -> ok d a -> ok d a' -> same_value d a a' -> same_value d (f k a) (f' k a') /\ ok d (f k a) /\ ok d (f' k a')) ->
  same_value d (steps n f b) (steps n f' b') /\ ok d (steps n f b) /\ ok d (steps n f' b').
Proof. intros O O' S_ H. induction n as [|n IH]; cbn; auto. destruct IH as (I1 & I2 & I3); auto. Qed.

(* Two programs, and places in them: [R] is what a rule does to a term, [into R] what strategies do, here and there at once. *)
Definition equal {G t} (e e' : exp G t) : Prop := forall g g', okE g -> okE g' -> sameE g g' -> same_value t (ev_exp e g) (ev_exp e' g').
Definition rules := forall G t, exp G t -> exp G t -> Prop.
Inductive into (R : rules) : rules :=
| here {G t} (e e' : exp G t) : R G t e e' -> into R G t e e'
| in_var {G t} (x : var G t) : into R G t (Var x) (Var x)
| in_lit {G} v : into R G num (Lit v) (Lit v)
| in_nat {G n} i (H : i < n) : into R G (idx n) (Nat i H) (Nat i H)
| in_iota {G} n : into R G (ary n (idx n)) (Iota n) (Iota n)
| in_op1 {G} o a a' : into R G num a a' -> into R G num (Op1 o a) (Op1 o a')
| in_op2 {G} o a a' b b' : into R G num a a' -> into R G num b b' -> into R G num (Op2 o a b) (Op2 o a' b')
| in_value {G n} i i' : into R G (idx n) i i' -> into R G num (Value i) (Value i')
| in_move {G n m} f (H : forall i, i < n -> f i < m) i i' : into R G (idx n) i i' -> into R G (idx m) (Move f H i) (Move f H i')
| in_view {G d d'} (v : view d d') e e' : into R G d e e' -> into R G d' (View v e) (View v e')
| in_both {G a b d} (j : both a b d) e1 e1' e2 e2' : into R G a e1 e1' -> into R G b e2 e2' -> into R G d (Both j e1 e2) (Both j e1' e2')
| in_at {G n t} e e' i i' : into R G (ary n t) e e' -> into R G (idx n) i i' -> into R G t (At e i) (At e' i')
| in_gather {G n m t} is is' e e' : into R G (ary m (idx n)) is is' -> into R G (ary n t) e e' -> into R G (ary m t) (Gather is e) (Gather is' e')
| in_map {G n s t} p p' f f' e e' : into R (s :: G) t f f' -> into R G (ary n s) e e' -> into R G (ary n t) (Map p f e) (Map p' f' e')
| in_gen {G n t} p p' f f' : into R (idx n :: G) t f f' -> into R G (ary n t) (Gen n p f) (Gen n p' f')
| in_red {G n s t} f f' i i' e e' : into R (t :: s :: G) t f f' -> into R G t i i' -> into R G (ary n s) e e' -> into R G t (Red f i e) (Red f' i' e')
| in_scan {G n s t} f f' i i' e e' : into R (t :: s :: G) t f f' -> into R G t i i' -> into R G (ary n s) e e' -> into R G (ary n t) (Scan f i e) (Scan f' i' e')
| in_iter {G n t} f f' i i' : into R (t :: G) t f f' -> into R G t i i' -> into R G t (Iter n f i) (Iter n f' i')
| in_select {G t} c c' a a' b b' : into R G num c c' -> into R G t a a' -> into R G t b b' -> into R G t (Select c a b) (Select c' a' b')
| in_let {G s t} a a' b b' : into R G s a a' -> into R (s :: G) t b b' -> into R G t (Let a b) (Let a' b')
| in_store {G t} e e' : into R G t e e' -> into R G t (Store e) (Store e')
| in_copy {G d n t} p p' (v : view d (ary n t)) e e' : into R G d e e' -> into R G (ary n t) (Copy p v e) (Copy p' v e')
| in_redpar {G n s} o z f f' i i' e e' : into R (s :: G) num f f' -> into R G num i i' -> into R G (ary n s) e e' -> into R G num (RedPar o z f i e) (RedPar o z f' i' e')
| in_scatter {G n m t} is is' b b' e e' : into R G (ary n (idx m)) is is' -> into R G (ary m t) b b' -> into R G (ary n t) e e' ->
    into R G (ary m t) (Scatter is b e) (Scatter is' b' e').

Theorem into_sound (R : rules) : (forall G t e e', R G t e e' -> equal e e') -> forall G t e e', into R G t e e' -> equal e e'.
Proof.
  intros HR G t e e' H. induction H; intros g g' Hg Hg' Hs; cbn [ev_exp same_value].
  - now apply (HR _ _ _ _ H).
  - apply Hs.
  - reflexivity.
  - reflexivity.
  - intros i Hi. reflexivity.
  - now rewrite (IHinto g g' Hg Hg' Hs).
  - now rewrite (IHinto1 g g' Hg Hg' Hs), (IHinto2 g g' Hg Hg' Hs).
  - f_equal. exact (IHinto g g' Hg Hg' Hs).
  - f_equal. exact (IHinto g g' Hg Hg' Hs).
  - apply vsem_same. auto.
  - apply bsem_same; auto.
  - rewrite <- (IHinto2 g g' Hg Hg' Hs). apply (IHinto1 g g' Hg Hg' Hs). apply (ev_ok i g Hg).
  - intros k Hk. rewrite <- (IHinto1 g g' Hg Hg' Hs k Hk). apply (IHinto2 g g' Hg Hg' Hs). now apply (ev_ok is g Hg).
  - intros k Hk. apply IHinto1; [apply okE_cons; auto; now apply (ev_ok e g Hg)|apply okE_cons; auto; now apply (ev_ok e' g' Hg')|].
    apply sameE_cons; auto. now apply (IHinto2 g g' Hg Hg' Hs).
  - intros k Hk. apply IHinto; [apply okE_cons; auto|apply okE_cons; auto|]. apply sameE_cons; auto. reflexivity.
  - apply steps_same; [now apply ev_ok|now apply ev_ok|now apply IHinto2|]. intros k a a' Hk Oa Oa' Sa.
    assert (E1 : okE (consE a (consE (ev_exp e g k) g))) by (apply okE_cons, okE_cons; auto; now apply (ev_ok e g Hg)).
    assert (E2 : okE (consE a' (consE (ev_exp e' g' k) g'))) by (apply okE_cons, okE_cons; auto; now apply (ev_ok e' g' Hg')).
    split; [|split; now apply ev_ok]. apply IHinto1; auto. apply sameE_cons, sameE_cons; auto. now apply (IHinto3 g g' Hg Hg' Hs).
  - intros j Hj. apply (steps_same t (S j)); [now apply ev_ok|now apply ev_ok|now apply IHinto2|]. intros k a a' Hk Oa Oa' Sa.
    assert (Hk' : k < n) by lia.
    assert (E1 : okE (consE a (consE (ev_exp e g k) g))) by (apply okE_cons, okE_cons; auto; now apply (ev_ok e g Hg)).
    assert (E2 : okE (consE a' (consE (ev_exp e' g' k) g'))) by (apply okE_cons, okE_cons; auto; now apply (ev_ok e' g' Hg')).
    split; [|split; now apply ev_ok]. apply IHinto1; auto. apply sameE_cons, sameE_cons; auto. now apply (IHinto3 g g' Hg Hg' Hs).
  - apply steps_same; [now apply ev_ok|now apply ev_ok|now apply IHinto2|]. intros k a a' Hk Oa Oa' Sa.
    assert (E1 : okE (consE a g)) by (apply okE_cons; auto). assert (E2 : okE (consE a' g')) by (apply okE_cons; auto).
    split; [|split; now apply ev_ok]. apply IHinto1; auto. apply sameE_cons; auto.
  - assert (Ec := IHinto1 g g' Hg Hg' Hs). cbn in Ec. rewrite Ec. destruct (truth _); auto.
  - apply IHinto2; [apply okE_cons; auto; now apply ev_ok|apply okE_cons; auto; now apply ev_ok|]. apply sameE_cons; auto.
  - auto.
  - apply (vsem_same v). auto.
  - apply (steps_same num); [exact I|exact I|now apply IHinto2|]. intros k a a' Hk _ _ Sa. split; [|split; exact I]. cbn in Sa |- *. rewrite Sa. f_equal.
    assert (E1 : okE (consE (ev_exp e g k) g)) by (apply okE_cons; auto; now apply (ev_ok e g Hg)).
    assert (E2 : okE (consE (ev_exp e' g' k) g')) by (apply okE_cons; auto; now apply (ev_ok e' g' Hg')).
    apply IHinto1; auto. apply sameE_cons; auto. now apply (IHinto3 g g' Hg Hg' Hs).
  - apply (steps_same (ary m t)); [now apply (ev_ok b)|now apply (ev_ok b')|now apply IHinto2|]. intros k a a' Hk Oa Oa' Sa.
    assert (E := IHinto1 g g' Hg Hg' Hs k Hk). cbn in E. rewrite <- E. unfold upd. split; [|split]; intros j Hj; destruct (Nat.eqb _ j); auto.
    + now apply (IHinto3 g g' Hg Hg' Hs).
    + now apply (ev_ok e g Hg).
    + now apply (ev_ok e' g' Hg').
Qed.
(* In particular, values depend on the values of variables only. *)
Lemma equal_refl {G t} (e : exp G t) : equal e e.
Proof. apply (into_sound (fun _ _ _ _ => False)); [contradiction|]. induction e;
    first [apply in_var|apply in_lit|apply in_nat|apply in_iota|apply in_op1|apply in_op2|apply in_value|apply in_move|apply in_view|apply in_both|apply in_at|apply in_gather
          |apply in_map|apply in_gen|apply in_red|apply in_scan|apply in_iter|apply in_select|apply in_let|apply in_store|apply in_copy|apply in_redpar|apply in_scatter]; auto.
Qed.

(* A strategy: rules one after another, each anywhere. *)
Inductive strategy (R : rules) {G t} : exp G t -> exp G t -> Prop :=
| finished e : strategy R e e
| rewritten e e1 e2 : into R G t e e1 -> strategy R e1 e2 -> strategy R e e2.
Theorem strategy_sound (R : rules) : (forall G t e e', R G t e e' -> equal e e') -> forall G t (e e' : exp G t), strategy R e e' -> equal e e'.
Proof.
  intros HR G t e e' H. induction H as [e|e e1 e2 H1 _ IH]; [apply equal_refl|]. intros g g' Hg Hg' Hs. eapply same_trans; [|apply (IH g' g' Hg' Hg')].
  - apply (into_sound R HR _ _ _ _ H1 g g' Hg Hg' Hs).
  - intros u x. apply same_refl.
Qed.
(* The program that is translated may be another than the one that was written. *)
Theorem strategy_correct (R : rules) fuse {G t} (e e' : exp G t) (r : renv G) g n D s io :
  (forall G t e e', R G t e e' -> equal e e') -> strategy R e e' -> lawful e' -> 0 < n -> D 0 = t -> envok n (only 0) D s io r g ->
  forall s', exec (compile fuse r n e') io s s' -> forall p, leaf t p -> s' 0 p = sel t (ev_exp e g) p.
Proof.
  intros HR H HL Hn HD Henv s' E p Hp. destruct (compile_correct fuse e' r g n D s io HL Hn HD Henv) as [_ C]. rewrite (proj1 (C s' E) p Hp).
  assert (O : okE g) by (intros u x; apply (envok_ok _ _ _ _ _ _ _ Henv)).
  symmetry. apply same_sel; auto. apply (strategy_sound R HR _ _ _ _ H g g O O). intros u x. apply same_refl.
Qed.

(* Rules on programs; Rewrites.v has all of them, on values. *)
Example joinSplit {G n m t} (e : exp G (ary (m * n) t)) : equal (Join (Split n e)) e.
Proof.
  intros g g' Hg Hg' Hs i Hi. cbn. destruct (dm4 n m i Hi) as (_ & _ & Hn). rewrite dm3 by auto. exact (equal_refl e g g' Hg Hg' Hs i Hi).
Qed.
Example transposeTranspose {G n m t} (e : exp G (ary n (ary m t))) : equal (Transpose (Transpose e)) e.
Proof. exact (equal_refl e). Qed.
Example toMem {G t} (e : exp G t) : equal e (Store e).
Proof. exact (equal_refl e). Qed.
Example useMapPar {G n s t} p (f : exp (s :: G) t) (e : exp G (ary n s)) : equal (Map p f e) (Map true f e).
Proof. exact (equal_refl (Map p f e)). Qed.
End Places.
