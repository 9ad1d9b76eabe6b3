(* Fusion of maps whose functions need commands: the rules v.map, v.generate and c.mapV of default mode, as rewrites of programs before the translation. With
   [strategy_correct] (Places.v) the translation of what they make leaves the value of the program before. *)
From Coq Require Import Arith List Lia Bool.
From Lozenge Require Import Paths Phrases Translation Represent TranslationCorrect TranslationFacts Places.
Import ListNotations.

Section Fusion.
Context {K : Scalars} {Keep : Policy}.

(* ---------- renaming of variables ---------- *)
Definition ren G D := env (var D) G.
Definition up {G D s} (p : ren G D) : ren (s :: G) (s :: D) := consE (F := var (s :: D)) (s := s) VZ (fun t x => VS (p t x)).
Fixpoint rename {G t} (e : exp G t) : forall D, ren G D -> exp D t :=
  match e in exp G t return forall D, ren G D -> exp D t with
  | Var x => fun D p => Var (p _ x)
  | Lit v => fun D _ => Lit v
  | Nat i H => fun D _ => Nat i H
  | Op1 o a => fun D p => Op1 o (rename a D p)
  | Op2 o a b => fun D p => Op2 o (rename a D p) (rename b D p)
  | Value i => fun D p => Value (rename i D p)
  | Move f H i => fun D p => Move f H (rename i D p)
  | View v e => fun D p => View v (rename e D p)
  | Both j a b => fun D p => Both j (rename a D p) (rename b D p)
  | At e i => fun D p => At (rename e D p) (rename i D p)
  | Gather is e => fun D p => Gather (rename is D p) (rename e D p)
  | Iota n => fun D _ => Iota n
  | Map q f e => fun D p => Map q (rename f _ (up p)) (rename e D p)
  | Gen n q f => fun D p => Gen n q (rename f _ (up p))
  | Red f i e => fun D p => Red (rename f _ (up (up p))) (rename i D p) (rename e D p)
  | Scan f i e => fun D p => Scan (rename f _ (up (up p))) (rename i D p) (rename e D p)
  | Iter n f i => fun D p => Iter n (rename f _ (up p)) (rename i D p)
  | Select c a b => fun D p => Select (rename c D p) (rename a D p) (rename b D p)
  | Let a b => fun D p => Let (rename a D p) (rename b _ (up p))
  | Store e => fun D p => Store (rename e D p)
  | Copy q v e => fun D p => Copy q v (rename e D p)
  | RedPar o z f i e => fun D p => RedPar o z (rename f _ (up p)) (rename i D p) (rename e D p)
  | Scatter is b e => fun D p => Scatter (rename is D p) (rename b D p) (rename e D p)
  end.
(* [p] sends variables to variables of the same value. *)
Definition along {G D} (p : ren G D) (g : env den D) (g' : env den G) := forall t (x : var G t), same_value t (g t (p t x)) (g' t x).
Lemma along_cons {G D s} (p : ren G D) (y : var D s) g (v : den s) (g' : env den G) : same_value s (g s y) v -> along p g g' -> along (consE (F := var D) (s := s) y p) g (consE v g').
Proof.
  intros Hv Hp t x.
  refine (match x as x0 in var G' t' return match G' as G0 return var G0 t' -> Prop with [] => fun _ => True | s0 :: G0 => fun x1 =>
     forall (p : ren G0 D) (y : var D s0) (v : den s0) (g' : env den G0), same_value s0 (g s0 y) v -> along p g g' ->
       same_value t' (g t' (consE (F := var D) (s := s0) y p t' x1)) (consE v g' t' x1) end x0 with VZ => _ | VS z => _ end p y v g' Hv Hp); cbn; auto.
Qed.
Lemma along_up {G D s} (p : ren G D) g g' (v w : den s) : along p g g' -> same_value s v w -> along (up p) (consE v g) (consE w g').
Proof. intros Hp Hv. apply along_cons; auto. Qed.
Lemma ev_rename {G t} (e : exp G t) : forall D (p : ren G D) g g', okE g -> okE g' -> along p g g' -> same_value t (ev_exp (rename e D p) g) (ev_exp e g').
Proof.
  induction e; intros D p g g' Hg Hg' Hs; cbn [rename ev_exp same_value].
  - apply Hs.
  - reflexivity.
  - reflexivity.
  - f_equal. exact (IHe D p g g' Hg Hg' Hs).
  - f_equal; [exact (IHe1 D p g g' Hg Hg' Hs)|exact (IHe2 D p g g' Hg Hg' Hs)].
  - f_equal. exact (IHe D p g g' Hg Hg' Hs).
  - f_equal. exact (IHe D p g g' Hg Hg' Hs).
  - apply vsem_same. auto.
  - apply bsem_same; auto.
  - assert (E := IHe2 D p g g' Hg Hg' Hs). cbn in E. rewrite E. apply (IHe1 D p g g' Hg Hg' Hs). apply (ev_ok e2 g' Hg').
  - intros k Hk. assert (E := IHe1 D p g g' Hg Hg' Hs k Hk). cbn in E. rewrite E. apply (IHe2 D p g g' Hg Hg' Hs). now apply (ev_ok e1 g' Hg').
  - intros i Hi. reflexivity.
  - intros k Hk. assert (S_ := IHe2 D p g g' Hg Hg' Hs k Hk).
    apply IHe1; [apply okE_cons; auto; now apply (ev_ok (rename e2 D p) g Hg)|apply okE_cons; auto; now apply (ev_ok e2 g' Hg')|now apply along_up].
  - intros k Hk. apply IHe; [apply okE_cons; auto|apply okE_cons; auto|]. apply along_up; auto. reflexivity.
  - apply steps_same; [now apply ev_ok|now apply ev_ok|now apply IHe2|]. intros k a a' Hk Oa Oa' Sa. assert (S_ := IHe3 D p g g' Hg Hg' Hs k Hk).
    assert (E1 : okE (consE a (consE (ev_exp (rename e3 D p) g k) g))) by (apply okE_cons, okE_cons; auto; now apply (ev_ok (rename e3 D p) g Hg)).
    assert (E2 : okE (consE a' (consE (ev_exp e3 g' k) g'))) by (apply okE_cons, okE_cons; auto; now apply (ev_ok e3 g' Hg')).
    split; [|split; now apply ev_ok]. apply IHe1; auto. apply along_up; [apply along_up; auto|auto].
  - intros j Hj. apply (steps_same t (S j)); [now apply ev_ok|now apply ev_ok|now apply IHe2|]. intros k a a' Hk Oa Oa' Sa.
    assert (Hk' : k < n) by lia. assert (S_ := IHe3 D p g g' Hg Hg' Hs k Hk').
    assert (E1 : okE (consE a (consE (ev_exp (rename e3 D p) g k) g))) by (apply okE_cons, okE_cons; auto; now apply (ev_ok (rename e3 D p) g Hg)).
    assert (E2 : okE (consE a' (consE (ev_exp e3 g' k) g'))) by (apply okE_cons, okE_cons; auto; now apply (ev_ok e3 g' Hg')).
    split; [|split; now apply ev_ok]. apply IHe1; auto. apply along_up; [apply along_up; auto|auto].
  - apply steps_same; [now apply ev_ok|now apply ev_ok|now apply IHe2|]. intros j a a' Hk Oa Oa' Sa.
    assert (E1 : okE (consE a g)) by (apply okE_cons; auto). assert (E2 : okE (consE a' g')) by (apply okE_cons; auto).
    split; [|split; now apply ev_ok]. apply IHe1; auto. now apply along_up.
  - assert (E := IHe1 D p g g' Hg Hg' Hs). cbn in E. rewrite E. destruct (truth _); auto.
  - apply IHe2; [apply okE_cons; auto; now apply ev_ok|apply okE_cons; auto; now apply ev_ok|]. apply along_up; auto.
  - auto.
  - apply (vsem_same v). auto.
  - apply (steps_same num); [exact I|exact I|now apply IHe2|]. intros k a a' Hk _ _ Sa. split; [|split; exact I]. cbn in Sa |- *. rewrite Sa. f_equal.
    assert (E1 : okE (consE (ev_exp (rename e3 D p) g k) g)) by (apply okE_cons; auto; now apply (ev_ok (rename e3 D p) g Hg)).
    assert (E2 : okE (consE (ev_exp e3 g' k) g')) by (apply okE_cons; auto; now apply (ev_ok e3 g' Hg')).
    apply IHe1; auto. apply along_up; auto. now apply (IHe3 D p g g' Hg Hg' Hs).
  - apply (steps_same (ary m t)); [now apply (ev_ok (rename e2 D p))|now apply (ev_ok e2)|now apply IHe2|]. intros k a a' Hk Oa Oa' Sa.
    assert (E := IHe1 D p g g' Hg Hg' Hs k Hk). cbn in E. rewrite E. unfold upd. split; [|split]; intros j Hj; destruct (Nat.eqb _ j); auto.
    + now apply (IHe3 D p g g' Hg Hg' Hs).
    + now apply (ev_ok (rename e3 D p) g Hg).
    + now apply (ev_ok e3 g' Hg').
Qed.

(* ---------- the rules ---------- *)
Definition behind {G s} : ren G (s :: G) := fun t x => VS x.
(* [f], of a variable that is bound outside of another one *)
Definition inner {G s t u} (f : exp (t :: G) u) : exp (t :: s :: G) u := rename f _ (up behind).
Lemma inner_ok {G s t u} (f : exp (t :: G) u) (v : den t) (w : den s) (v' : den t) g g' : okE g -> okE g' -> sameE g g' -> ok t v -> ok s w -> ok t v' -> same_value t v v' ->
  same_value u (ev_exp (inner f) (consE v (consE w g))) (ev_exp f (consE v' g')).
Proof.
  intros Hg Hg' Hs Ov Ow Ov' Sv. apply ev_rename; [apply okE_cons, okE_cons; auto|apply okE_cons; auto|]. apply along_up; auto.
Qed.
(* map f (map g e) = map (λx. let y = g x in f y) e *)
Theorem map_map {G n s t u} p q (f : exp (t :: G) u) (g : exp (s :: G) t) (e : exp G (ary n s)) : equal (Map p f (Map q g e)) (Map p (Let g (inner f)) e).
Proof.
  intros v v' Hv Hv' Hs i Hi. cbn [ev_exp]. apply same_sym.
  assert (O1 : ok s (ev_exp e v i)) by now apply (ev_ok e v Hv). assert (O2 : ok s (ev_exp e v' i)) by now apply (ev_ok e v' Hv').
  assert (S_ : same_value s (ev_exp e v i) (ev_exp e v' i)) by now apply (equal_refl e v v' Hv Hv' Hs).
  assert (E1 : okE (consE (ev_exp e v i) v)) by now apply okE_cons. assert (E2 : okE (consE (ev_exp e v' i) v')) by now apply okE_cons.
  apply inner_ok; auto; try now apply ev_ok.
  - intros t0 x. apply same_sym. apply Hs.
  - apply same_sym. apply (equal_refl g); auto. now apply sameE_cons.
Qed.
(* map f (generate g) = generate (λi. let y = g i in f y) *)
Theorem map_gen {G n t u} p q (f : exp (t :: G) u) (g : exp (idx n :: G) t) : equal (Map p f (Gen n q g)) (Gen n p (Let g (inner f))).
Proof.
  intros v v' Hv Hv' Hs i Hi. cbn [ev_exp]. apply same_sym.
  assert (E1 : okE (consE (F := den) (s := idx n) i v)) by now apply okE_cons. assert (E2 : okE (consE (F := den) (s := idx n) i v')) by now apply okE_cons.
  apply (inner_ok (s := idx n)); auto; try now apply ev_ok.
  - intros t0 x. apply same_sym. apply Hs.
  - apply same_sym. apply (equal_refl g); auto. apply sameE_cons; auto. reflexivity.
Qed.
(* (map f e)[i] = let x = e[i] in f x *)
Theorem at_map {G n s t} q (f : exp (s :: G) t) (e : exp G (ary n s)) (i : exp G (idx n)) : equal (At (Map q f e) i) (Let (At e i) f).
Proof.
  intros v v' Hv Hv' Hs. cbn [ev_exp]. assert (E := equal_refl i v v' Hv Hv' Hs). cbn in E. rewrite <- E. assert (B : ev_exp i v < n) by apply (ev_ok i v Hv).
  apply (equal_refl f); [apply okE_cons; auto; now apply (ev_ok e v Hv)|apply okE_cons; auto; now apply (ev_ok e v' Hv')|]. apply sameE_cons; auto. now apply (equal_refl e v v' Hv Hv' Hs).
Qed.
(* reduce f i (map g e) = reduce (λx a. let y = g x in f y a) i e *)
Definition inner2 {G s t u} (f : exp (u :: t :: G) u) : exp (t :: u :: s :: G) u :=
  rename f (t :: u :: s :: G) (consE (F := var (t :: u :: s :: G)) (s := u) (VS VZ) (consE (F := var (t :: u :: s :: G)) (s := t) VZ (fun _ x => VS (VS (VS x))))).
Theorem reduce_map {G n s t u} q (f : exp (u :: t :: G) u) (g : exp (s :: G) t) i (e : exp G (ary n s)) :
  equal (Red f i (Map q g e)) (Red (Let (rename g _ behind) (inner2 f)) i e).
Proof.
  intros v v' Hv Hv' Hs. cbn [ev_exp]. apply steps_same; [now apply ev_ok|now apply ev_ok|now apply (equal_refl i)|]. intros k a a' Hk Oa Oa' Sa.
  assert (O1 : ok s (ev_exp e v k)) by now apply (ev_ok e v Hv). assert (O2 : ok s (ev_exp e v' k)) by now apply (ev_ok e v' Hv').
  assert (S_ : same_value s (ev_exp e v k) (ev_exp e v' k)) by now apply (equal_refl e v v' Hv Hv' Hs).
  assert (E1 : okE (consE (ev_exp e v k) v)) by now apply okE_cons. assert (E2 : okE (consE (ev_exp e v' k) v')) by now apply okE_cons.
  assert (E3 : okE (consE a' (consE (ev_exp e v' k) v'))) by now apply okE_cons.
  set (y := ev_exp (rename g (u :: s :: G) behind) (consE a' (consE (ev_exp e v' k) v'))).
  assert (Sy : same_value t y (ev_exp g (consE (ev_exp e v k) v))).
  { apply ev_rename; auto. intros t0 x. apply (sameE_cons _ _ v' v); [now apply same_sym|]. intros t1 z. apply same_sym, Hs. }
  assert (Oy : ok t y) by (apply (ev_ok (rename g (u :: s :: G) behind)); auto).
  assert (E4 : okE (consE y (consE a' (consE (ev_exp e v' k) v')))) by now apply okE_cons.
  assert (E5 : okE (consE a (consE (ev_exp g (consE (ev_exp e v k) v)) v))) by (apply okE_cons, okE_cons; auto; now apply ev_ok).
  split; [|split; [now apply ev_ok|]].
  - apply same_sym. apply ev_rename; auto. apply along_cons; [now apply same_sym|]. apply along_cons; [exact Sy|]. intros t0 x. apply same_sym, Hs.
  - apply (ev_ok (inner2 f)). exact E4.
Qed.

(* Any of them, anywhere, before the translation. *)
Inductive fusing : rules :=
| fuse_map G n s t u p q (f : exp (t :: G) u) (g : exp (s :: G) t) (e : exp G (ary n s)) : fusing G (ary n u) (Map p f (Map q g e)) (Map p (Let g (inner f)) e)
| fuse_gen G n t u p q (f : exp (t :: G) u) (g : exp (idx n :: G) t) : fusing G (ary n u) (Map p f (Gen n q g)) (Gen n p (Let g (inner f)))
| fuse_at G n s t q (f : exp (s :: G) t) (e : exp G (ary n s)) (i : exp G (idx n)) : fusing G t (At (Map q f e) i) (Let (At e i) f)
| fuse_reduce G n s t u q (f : exp (u :: t :: G) u) (g : exp (s :: G) t) i (e : exp G (ary n s)) :
    fusing G u (Red f i (Map q g e)) (Red (Let (rename g _ behind) (inner2 f)) i e).
Lemma fusing_sound : forall G t (e e' : exp G t), fusing G t e e' -> equal e e'.
Proof. intros G t e e' []; [apply map_map|apply map_gen|apply at_map|apply reduce_map]. Qed.
Theorem fused_correct fuse {G t} (e e' : exp G t) (r : renv G) g n D s io :
  strategy fusing e e' -> lawful e' -> 0 < n -> D 0 = t -> envok n (only 0) D s io r g ->
  forall s', exec (compile fuse r n e') io s s' -> forall p, leaf t p -> s' 0 p = sel t (ev_exp e g) p.
Proof. apply strategy_correct. exact fusing_sound. Qed.
End Fusion.
