(* Comparison of the two sides: equal terms, up to which accumulator of one fold is which of the other, up to the order of the
   operands of operations that commute, and up to the order in which conditions are asked. *)
From Coq Require Import ZArith List String Bool Lia Arith.
From Lozenge Require Import Syntax Semantics Poly Norm Rep Lazy.
Import ListNotations.

Definition rel := list (nat * nat * nat).               (* level, accumulator of the left side, of the right side *)
Definition triple_eqb (a b : nat * nat * nat) : bool :=
  Nat.eqb (fst (fst a)) (fst (fst b)) && Nat.eqb (snd (fst a)) (snd (fst b)) && Nat.eqb (snd a) (snd b).
Definition member (a : nat * nat * nat) (R : rel) : bool := existsb (triple_eqb a) R.

Section Match.
Variable commutative : list string.
Definition commutes (o : op) : bool := match o with Scalar n => existsb (String.eqb n) commutative | Iadd | Imul | And | Or => true | _ => false end.

Section Lists2.
Context {A : Type} (f : A -> A -> option rel).
Fixpoint all2 (a b : list A) : option rel :=
  match a, b with
  | [], [] => Some []
  | x :: a, y :: b => match f x y, all2 a b with Some p, Some q => Some (p ++ q) | _, _ => None end
  | _, _ => None
  end.
End Lists2.

(* Which accumulators would have to be the same: a guess that [eqv] verifies. *)
Fixpoint close (fuel : nat) (step : nat -> nat -> option rel) (l : nat) (done todo : rel) (outer : rel) : option (rel * rel) :=
  match fuel with
  | O => None
  | S fuel => match todo with
    | [] => Some (done, outer)
    | p :: todo =>
        if member p done then close fuel step l done todo outer else
        match step (snd (fst p)) (snd p) with
        | None => None
        | Some ps =>
            let here := filter (fun q => Nat.eqb (fst (fst q)) l) ps in
            let there := filter (fun q => negb (Nat.eqb (fst (fst q)) l)) ps in
            close fuel step l (p :: done) (here ++ todo) (there ++ outer)
        end
    end
  end.
Definition fuel : nat := 500.
Definition either (p q : option rel) : option rel :=
  match p, q with Some p, Some q => Some (p ++ q) | Some p, None | None, Some p => Some p | None, None => None end.
Fixpoint need (h : nat) (a b : tm) {struct h} : option rel :=
  match h with O => None | S h =>
  match
    match a, b with
    | Op o ts, Op o' ts' =>
        if op_dec o o' then
          match all2 (need h) ts ts' with
          | Some p => Some p
          | None => if commutes o then match ts, ts' with
              | [x; y], [x'; y'] => match need h x y', need h y x' with Some p, Some q => Some (p ++ q) | _, _ => None end
              | _, _ => None end else None
          end
        else None
    | Acc l k is, Acc l' k' is' =>
        if Nat.eqb l l' then option_map (cons (l, k, k')) (all2 (need h) is is') else None
    | In x cs is, In x' cs' is' => if Nat.eqb x x' && list_eqb Bool.eqb cs cs' then all2 (need h) is is' else None
    | Fold l n accs k is, Fold l' n' accs' k' is' =>
        if Nat.eqb l l' then
          let step k1 k2 := match nth_error accs k1, nth_error accs' k2 with
            | Some p, Some q => match need h (fst p) (fst q), need h (snd p) (snd q) with Some p, Some q => Some (p ++ q) | _, _ => None end
            | _, _ => None end in
          match close fuel step l [] [(l, k, k')] [] with
          | Some (_, outer) => option_map (app outer) (all2 (need h) is is')
          | None => None
          end
        else None
    | _, _ => if tm_eqb a b then Some [] else None
    end
  with
  | Some p => Some p
  | None => match a, b with
      | Op Select [_; x; y], _ => either (need h x b) (need h y b)
      | _, Op Select [_; x; y] => either (need h a x) (need h a y)
      | _, _ => None
      end
  end end.
Definition guess (h l : nat) (accs accs' : list (tm * tm)) (k k' : nat) : rel :=
  let step k1 k2 := match nth_error accs k1, nth_error accs' k2 with
    | Some p, Some q => match need h (fst p) (fst q), need h (snd p) (snd q) with Some p, Some q => Some (p ++ q) | _, _ => None end
    | _, _ => None end in
  match close fuel step l [] [(l, k, k')] [] with Some (R, _) => R | None => [] end.

(* A condition whose truth is that of its variables and of the arrays that come in. *)
Fixpoint pure (t : tm) : bool :=
  match t with
  | Var _ | Int _ => true | Op o ts => match o with Scalar _ | Select => false | _ => forallb pure ts end
  | In _ _ is => forallb pure is | _ => false end.
(* The same, of variables below a level. *)
Fixpoint settled (l : nat) (t : tm) : bool :=
  match t with
  | Var x => Nat.ltb x l | Int _ => true | Op o ts => match o with Scalar _ | Select => false | _ => forallb (settled l) ts end
  | In _ _ is => forallb (settled l) is | _ => false end.
(* Facts for each way in which a condition is true or false: a conjunction is false in two. *)
Fixpoint ways (c : tm) (b : bool) : list facts :=
  match c with
  | Op And [x; y] => if b then [when unpoly c true] else ways x false ++ map (app (when unpoly x true)) (ways y false)
  | Op Or [x; y] => if b then ways x true ++ map (app (when unpoly x false)) (ways y true) else [when unpoly c false]
  | Op Ieq [x; y] => if b then [when unpoly c true] else [when unpoly (Op Ilt [x; y]) true; when unpoly (Op Ilt [y; x]) true]
  | Op Ine [x; y] => if b then [when unpoly (Op Ilt [x; y]) true; when unpoly (Op Ilt [y; x]) true] else [when unpoly c false]
  | Op Not [x] => ways x (negb b)
  | _ => [when unpoly c b]
  end.
(* [e] with these facts in each of these ways, where the facts do not contradict each other. *)
Definition each (F : facts) (Gs : list facts) (e : facts -> bool) : bool := forallb (fun G => pr (G ++ F) (pconst (-1)) || e (G ++ F)) Gs.
(* Facts that say nothing of the variables of a loop at this level and inside it. *)
Definition below (l : nat) (F : facts) : facts := filter (fun p => forallb (fun mc => forallb (settled l) (fst mc)) p) F.
(* What is known in a step of a fold. *)
Definition in_step (l : nat) (n : tm) (F : facts) : facts :=
  (if settled l n then [patom (Var l); psub (psub (unpoly n) (pconst 1)) (patom (Var l))] else []) ++ below l F.

(* Integers of variables and arrays that the facts make equal. *)
Definition equal_integers (F : facts) (a b : tm) : bool :=
  integer a && integer b && pure a && pure b && pr F (psub (unpoly a) (unpoly b)) && pr F (psub (unpoly b) (unpoly a)).

(* Depth at most [h] on both sides together. Where the terms are not alike, the choices of the left side are made, then those of the right. *)
Fixpoint eqv (h : nat) (F : facts) (R : rel) (a b : tm) {struct h} : bool :=
  match h with O => false | S h =>
  if match a, b with
    | Op o ts, Op o' ts' =>
        (if op_dec o o' then true else false) &&
        (list_eqb (eqv h F R) ts ts' ||
         match ts, ts' with [x; y], [x'; y'] => commutes o && eqv h F R x y' && eqv h F R y x' | _, _ => false end)
    | Acc l k is, Acc l' k' is' => Nat.eqb l l' && member (l, k, k') R && list_eqb (eqv h F R) is is'
    | In x cs is, In x' cs' is' => Nat.eqb x x' && list_eqb Bool.eqb cs cs' && list_eqb (eqv h F R) is is'
    | Fold l n accs k is, Fold l' n' accs' k' is' =>
        let W := guess h l accs accs' k k' in
        let R' := W ++ filter (fun q => negb (Nat.eqb (fst (fst q)) l)) R in
        Nat.eqb l l' && eqv h F R n n' && list_eqb (eqv h F R) is is' && member (l, k, k') W &&
        forallb (fun q => Nat.eqb (fst (fst q)) l &&
          match nth_error accs (snd (fst q)), nth_error accs' (snd q) with
          | Some p, Some p' => eqv h (below l F) R (fst p) (fst p') && eqv h (in_step l n F) R' (snd p) (snd p')
          | _, _ => false end) W
    | Var _, Var _ | Int _, Int _ | Lit _, Lit _ => tm_eqb a b
    | _, _ => false
    end
  then true
  else match a, b with
    | Op Select [c; x; y], _ =>
        match decide F c with
        | Some true => eqv h F R x b
        | Some false => eqv h F R y b
        | None => pure c && each F (ways c true) (fun F => eqv h F R x b) && each F (ways c false) (fun F => eqv h F R y b)
        end
    | _, Op Select [c; x; y] =>
        match decide F c with
        | Some true => eqv h F R a x
        | Some false => eqv h F R a y
        | None => pure c && each F (ways c true) (fun F => eqv h F R a x) && each F (ways c false) (fun F => eqv h F R a y)
        end
    | _, _ => equal_integers F a b
    end
  end.
Fixpoint height (t : tm) : nat :=
  let most := fold_right (fun t h => Nat.max (height t) h) O in
  match t with
  | Var _ | Int _ | Lit _ => 1%nat
  | Op _ ts | In _ _ ts | Acc _ _ ts => S (most ts)
  | Fold _ n accs _ is => S (Nat.max (height n) (Nat.max (fold_right (fun p h => Nat.max (Nat.max (height (fst p)) (height (snd p))) h) O accs) (most is)))
  end.
Definition equivalent (N : nat) (F : facts) (a b : tm) : bool := eqv (height a + height b) (below N F) [] a b.
End Match.

Local Opaque guess need close.
Section Sound.
Variable scalar : Type.
Variable lit : string -> val scalar.
Variable prim : string -> list (val scalar) -> val scalar.
Variable st : store scalar.
Variable commutative : list string.
Hypothesis commute : forall name, List.In name commutative -> forall a b, prim name [a; b] = prim name [b; a].
Notation eval := (eval scalar lit prim st).

Definition related (R : rel) (a b : aenv scalar) := forall l k k', member (l, k, k') R = true -> forall v, a l k v = b l k' v.

Lemma list_eqb_map {A B} (e : A -> A -> bool) (f g : A -> B) a : Forall (fun x => forall y, e x y = true -> f x = g y) a ->
  forall b, list_eqb e a b = true -> map f a = map g b.
Proof.
  induction 1 as [|x a Hx _ IH]; destruct b; cbn; try easy. intros E. apply andb_prop in E as [E1 E2]. f_equal; auto.
Qed.
Lemma member_app a R S_ : member a (R ++ S_) = member a R || member a S_.
Proof. apply existsb_app. Qed.
Lemma member_filter l k k' l0 R : member (l, k, k') (filter (fun q => negb (Nat.eqb (fst (fst q)) l0)) R) = true -> l <> l0 /\ member (l, k, k') R = true.
Proof.
  unfold member. intros H. apply existsb_exists in H as (q & Hq & E). apply filter_In in Hq as [Hq Hl].
  split; [|apply existsb_exists; eauto]. unfold triple_eqb in E. cbn in E. apply andb_prop in E as [E _]. apply andb_prop in E as [E _].
  apply Nat.eqb_eq in E. apply negb_true_iff, Nat.eqb_neq in Hl. congruence.
Qed.

Lemma pure_any t : pure t = true -> forall r a a', eval t r a = eval t r a'.
Proof.
  pattern t. apply tm_ind'; intros; try discriminate; auto. cbn [pure] in H0. cbn [Semantics.eval].
  assert (forallb pure ts = true) by (destruct o; auto; discriminate).
  f_equal. apply map_ext_in. intros t' Ht. rewrite Forall_forall in H. rewrite forallb_forall in H1. apply H; auto.
  cbn [pure] in H0. cbn [Semantics.eval]. f_equal. apply map_ext_in. intros t' Ht. rewrite Forall_forall in H. rewrite forallb_forall in H0. f_equal. apply H; auto.
Qed.
Lemma settled_ok l t : settled l t = true -> forall r a r' a', agree l r r' -> eval t r' a' = eval t r a.
Proof.
  intros Hs r al r' al' A. revert Hs. pattern t. apply tm_ind'; intros; try discriminate; auto.
  - cbn in Hs. apply Nat.ltb_lt in Hs. cbn [Semantics.eval]. now rewrite A.
  - cbn [settled] in Hs. cbn [Semantics.eval]. assert (forallb (settled l) ts = true) by (destruct o; auto; discriminate).
    f_equal. apply map_ext_in. intros t' Ht. rewrite Forall_forall in H. rewrite forallb_forall in H0. apply H; auto.
  - cbn [settled] in Hs. cbn [Semantics.eval]. f_equal. apply map_ext_in. intros t' Ht. rewrite Forall_forall in H. rewrite forallb_forall in Hs. f_equal. apply H; auto.
Qed.

(* What is known whatever the accumulators hold. *)
Definition known (F : facts) (r : nat -> Z) : Prop := forall a, holds scalar lit prim st r a F.
Lemma known_app F G r : known F r -> known G r -> known (F ++ G) r.
Proof. intros A B a. apply Forall_app. split; [apply A|apply B]. Qed.
Lemma known_when F c b r : known F r -> pure c = true -> (forall a, truth scalar (eval c r a) = b) -> known (when unpoly c b ++ F) r.
Proof. intros HF Hc H. apply known_app; auto. intros a. apply when_ok. { intros; apply unpoly_ok. } apply H. Qed.
Lemma ways_ok r al c : pure c = true -> forall b, truth scalar (eval c r al) = b -> Exists (fun G => known G r) (ways c b).
Proof.
  assert (One : forall c, pure c = true -> forall b, truth scalar (eval c r al) = b -> Exists (fun G => known G r) [when unpoly c b]).
  { intros d Hd b E. constructor. intros a. apply when_ok. { intros; apply unpoly_ok. } rewrite (pure_any d Hd r a al). exact E. }
  assert (Two : forall x y, pure x = true -> pure y = true -> truth scalar (eval (Op Ieq [x; y]) r al) = false ->
    Exists (fun G => known G r) [when unpoly (Op Ilt [x; y]) true; when unpoly (Op Ilt [y; x]) true]).
  { intros x y Hx Hy E. change ((toZ scalar (eval x r al) =? toZ scalar (eval y r al))%Z = false) in E. apply Z.eqb_neq in E.
    destruct (Z.lt_total (toZ scalar (eval x r al)) (toZ scalar (eval y r al))) as [L|[L|L]]; [|easy|].
    - apply Exists_cons_hd. specialize (One (Op Ilt [x; y])). cbn [pure forallb] in One. rewrite Hx, Hy in One. specialize (One eq_refl true).
      assert (One' := One (proj2 (Z.ltb_lt _ _) L)). inversion One' as [? ? H|? ? H]; [exact H|inversion H].
    - apply Exists_cons_tl. apply Exists_cons_hd. specialize (One (Op Ilt [y; x])). cbn [pure forallb] in One. rewrite Hx, Hy in One. specialize (One eq_refl true).
      assert (One' := One (proj2 (Z.ltb_lt _ _) L)). inversion One' as [? ? H|? ? H]; [exact H|inversion H]. }
  assert (Under : forall x b ws, pure x = true -> truth scalar (eval x r al) = b -> Exists (fun G => known G r) ws -> Exists (fun G => known G r) (map (app (when unpoly x b)) ws)).
  { intros x b ws Hx E H. apply Exists_map. eapply Exists_impl; [|exact H]. intros G HG. apply known_when; auto.
    intros a. rewrite (pure_any x Hx r a al). exact E. }
  pattern c. apply tm_ind'; intros; try (now apply One); try discriminate.
  assert (Hp := H0). cbn [pure] in H0.
  destruct o; try discriminate H0; try (now apply One); (destruct ts as [|x [|y [|? ?]]]; try (now apply One)); cbn [ways].
  all: cbn [forallb] in H0; repeat match goal with H : _ && _ = true |- _ => apply andb_prop in H as [? ?] end.
  - destruct b; [now apply One|now apply Two].
  - change (negb (toZ scalar (eval x r al) =? toZ scalar (eval y r al))%Z = b) in H1. destruct b; [|apply One; auto].
    apply Two; auto. apply negb_true_iff in H1. exact H1.
  - change (truth scalar (eval x r al) && truth scalar (eval y r al) = b) in H1. destruct b; [apply One; auto|].
    inversion_clear H as [|? ? Hx H']; inversion_clear H' as [|? ? Hy _]. apply Exists_app.
    destruct (truth scalar (eval x r al)) eqn:Ex; [right; apply Under; auto|left; auto].
  - change (truth scalar (eval x r al) || truth scalar (eval y r al) = b) in H1. destruct b; [|apply One; auto].
    inversion_clear H as [|? ? Hx H']; inversion_clear H' as [|? ? Hy _]. apply Exists_app.
    destruct (truth scalar (eval x r al)) eqn:Ex; [left; auto|right; apply Under; auto].
  - change (negb (truth scalar (eval x r al)) = b) in H1. inversion_clear H as [|? ? Hx _]. apply Hx; auto. subst b. now rewrite negb_involutive.
Qed.
Lemma mval_settled l r r' a a' m : agree l r r' -> forallb (settled l) m = true ->
  mval (zv scalar lit prim st r' a') m = mval (zv scalar lit prim st r a) m.
Proof.
  intros A. induction m as [|t m IH]; [reflexivity|]. cbn [forallb]. destruct (settled l t) eqn:E; [|discriminate]. intros H.
  rewrite !mval_cons, IH by auto. f_equal. unfold zv. f_equal. apply (settled_ok l t E r a r' a' A).
Qed.
Lemma below_ok l F r r' : known F r -> agree l r r' -> known (below l F) r'.
Proof.
  intros HF A a. apply Forall_forall. intros p Hp. apply filter_In in Hp as [Hp Hc]. specialize (HF a). unfold holds in HF. rewrite Forall_forall in HF.
  specialize (HF p Hp). replace (pval (zv scalar lit prim st r' a) p) with (pval (zv scalar lit prim st r a) p); auto.
  clear Hp HF. induction p as [|[m c] p IH]; [reflexivity|]. cbn [forallb fst] in Hc.
  destruct (forallb (settled l) m) eqn:E; [|discriminate]. rewrite !pval_cons, IH by auto. rewrite (mval_settled l r r' a a m A E). reflexivity.
Qed.
Lemma in_step_ok l n F r r' i a0 : known F r -> agree l r r' -> r' l = Z.of_nat i -> (i < Z.to_nat (toZ scalar (eval n r a0)))%nat -> known (in_step l n F) r'.
Proof.
  intros HF A Hi L. unfold in_step. apply known_app; [|eapply below_ok; eauto].
  destruct (settled l n) eqn:E; [|intros a; constructor]. intros a. constructor; [|constructor; [|constructor]].
  - rewrite patom_ok. unfold zv. cbn. lia.
  - rewrite !psub_ok, pconst_ok, patom_ok, unpoly_ok. unfold zv.
    rewrite (settled_ok l n E r a0 r' a A). cbn. lia.
Qed.

Lemma equal_integers_ok F a b r al al' : known F r -> equal_integers F a b = true -> eval a r al = eval b r al'.
Proof.
  intros HF E. unfold equal_integers in E. repeat match goal with H : _ && _ = true |- _ => apply andb_prop in H as [? ?] end.
  rewrite (pure_any b) with (a := al') (a' := al) by auto. rewrite !(integer_ok scalar lit prim st r al) by auto. f_equal.
  repeat match goal with H : pr F _ = true |- _ => apply (pr_ok scalar lit prim st r al) in H; [|apply HF] end.
  rewrite psub_ok, !unpoly_ok in *. lia.
Qed.

Lemma eqv_ok h : forall a b F R, eqv commutative h F R a b = true -> forall r al al', known F r -> related R al al' -> eval a r al = eval b r al'.
Proof.
  induction h as [|h IH]; [discriminate|]. intros a b F R E r al al' HF HR. cbn [eqv] in E.
  assert (IHs : forall ts ts' F R, list_eqb (eqv commutative h F R) ts ts' = true -> forall r al al', known F r -> related R al al' ->
    forall (B : Type) (f : val scalar -> B), map (fun t => f (eval t r al)) ts = map (fun t => f (eval t r al')) ts').
  { intros ts ts' F1 R1 E1 r1 al1 al1' HF1 HR1 B f. eapply list_eqb_map; [|exact E1]. apply Forall_forall. intros x _ y Hy. f_equal. eapply IH; eauto. }
  match type of E with (if ?s then _ else _) = true => destruct s eqn:Es end.
  - clear E. destruct a as [x|z|s|o ts|w cs is|l k is|l n accs k is], b as [x'|z'|s'|o' ts'|w' cs' is'|l' k' is'|l' n' accs' k' is']; try discriminate.
    + cbn in Es. apply Nat.eqb_eq in Es. now subst.
    + cbn in Es. apply Z.eqb_eq in Es. now subst.
    + cbn in Es. apply String.eqb_eq in Es. now subst.
    + apply andb_prop in Es as [E1 E2]. destruct (op_dec o o') as [<-|]; [|discriminate]. apply orb_prop in E2 as [E2|E2].
      * cbn [Semantics.eval]. f_equal. exact (IHs _ _ _ _ E2 r al al' HF HR _ (fun v => v)).
      * destruct ts as [|x [|y [|? ?]]]; try discriminate. destruct ts' as [|x' [|y' [|? ?]]]; try discriminate.
        apply andb_prop in E2 as [E2 E3]. apply andb_prop in E2 as [E0 E2]. cbn [Semantics.eval map].
        rewrite (IH _ _ _ _ E2 r al al' HF HR), (IH _ _ _ _ E3 r al al' HF HR). destruct o; try discriminate; cbn [apply nth].
        -- f_equal. apply Z.add_comm.
        -- f_equal. apply Z.mul_comm.
        -- f_equal. apply andb_comm.
        -- f_equal. apply orb_comm.
        -- cbn in E0. apply existsb_exists in E0 as (nm & Hn & E0). apply String.eqb_eq in E0. subst. apply commute. auto.
    + apply andb_prop in Es as [E1 E3]. apply andb_prop in E1 as [E1 E2].
      apply Nat.eqb_eq in E1. subst. assert (cs = cs'). { revert E2. apply list_eqb_ok. clear. induction cs; constructor; auto. intros y. apply eqb_prop. } subst.
      cbn [Semantics.eval]. f_equal. exact (IHs _ _ _ _ E3 r al al' HF HR _ (toZ scalar)).
    + apply andb_prop in Es as [E1 E3]. apply andb_prop in E1 as [E1 E2].
      apply Nat.eqb_eq in E1. subst. cbn [Semantics.eval]. rewrite (HR _ _ _ E2). f_equal. exact (IHs _ _ _ _ E3 r al al' HF HR _ (toZ scalar)).
    + cbv zeta in Es. set (W := guess commutative h l accs accs' k k') in *. clearbody W.
      apply andb_prop in Es as [E EW]. apply andb_prop in E as [E Ek]. apply andb_prop in E as [E Ei]. apply andb_prop in E as [E1 En].
      apply Nat.eqb_eq in E1. subst l'. cbn [Semantics.eval].
      rewrite <- (IH _ _ _ _ En r al al' HF HR).
      rewrite <- (IHs _ _ _ _ Ei r al al' HF HR _ (toZ scalar)).
      rewrite forallb_forall in EW.
      assert (G : forall k1 k2, member (l, k1, k2) W = true -> exists p q, nth_error accs k1 = Some p /\ nth_error accs' k2 = Some q /\
         eqv commutative h (below l F) R (fst p) (fst q) = true /\
         eqv commutative h (in_step l n F) (W ++ filter (fun q => negb (Nat.eqb (fst (fst q)) l)) R) (snd p) (snd q) = true).
      { intros k1 k2 Hm. unfold member in Hm. apply existsb_exists in Hm as ([[l0 a1] a2] & Hq & Eq). unfold triple_eqb in Eq. cbn in Eq.
        apply andb_prop in Eq as [Eq Eq3]. apply andb_prop in Eq as [Eq1 Eq2]. apply Nat.eqb_eq in Eq1, Eq2, Eq3. subst.
        specialize (EW _ Hq). cbn [fst snd] in EW. apply andb_prop in EW as [_ EW].
        destruct (nth_error accs a1) as [p|]; [|discriminate]. destruct (nth_error accs' a2) as [q|]; [|discriminate].
        apply andb_prop in EW as [? ?]. eauto 8. }
      assert (GF : forall (accs : list (tm * tm)) k p, nth_error accs k = Some p ->
         nth k (map (fun p => (eval (fst p), eval (snd p))) accs) (fun _ _ => VZ 0, fun _ _ => VZ 0) = (eval (fst p), eval (snd p))).
      { intros l1 k1 p Hp. apply nth_error_nth. now rewrite nth_error_map, Hp. }
      remember (Z.to_nat (toZ scalar (eval n r al))) as N eqn:HN.
      match goal with |- iter N ?f1 ?s1 k _ = iter N ?f2 ?s2 k' _ => set (st1 := f1); set (st2 := f2); set (i1 := s1); set (i2 := s2) end.
      assert (K : forall M, M <= N -> forall k1 k2 v, member (l, k1, k2) W = true -> iter M st1 i1 k1 v = iter M st2 i2 k2 v).
      { induction M as [|M IHM]; intros LM k1 k2 v Hm; destruct (G _ _ Hm) as (p & q & Hp & Hq & Ep & Eq); cbn [iter].
        - unfold i1, i2. rewrite (GF _ _ _ Hp), (GF _ _ _ Hq). cbn [fst]. eapply IH; [exact Ep| |exact HR].
          eapply below_ok; [exact HF|]. intros x Hx. rewrite agree_upds by lia. reflexivity.
        - unfold st1 at 1, st2 at 1. rewrite (GF _ _ _ Hp), (GF _ _ _ Hq). cbn [snd]. eapply IH; [exact Eq| |].
          + eapply in_step_ok with (i := M) (a0 := al); [exact HF| | |lia].
            * intros x Hx. rewrite agree_upds by lia. unfold upd. destruct (Nat.eqb_spec l x); [lia|reflexivity].
            * rewrite agree_upds by lia. unfold upd. now rewrite Nat.eqb_refl.
          + intros l1 j1 j2 Hj w. rewrite member_app in Hj. unfold upd. destruct (Nat.eqb_spec l l1) as [<-|Hne].
            * apply IHM; [lia|]. apply orb_prop in Hj as [Hj|Hj]; auto. apply member_filter in Hj as [Hj _]. congruence.
            * apply orb_prop in Hj as [Hj|Hj]; [|apply HR; apply member_filter in Hj; tauto].
              exfalso. unfold member in Hj. apply existsb_exists in Hj as ([[l2 b1] b2] & Hq2 & Eq2). unfold triple_eqb in Eq2. cbn in Eq2.
              apply andb_prop in Eq2 as [Eq2 _]. apply andb_prop in Eq2 as [Eq2 _]. apply Nat.eqb_eq in Eq2.
              specialize (EW _ Hq2). cbn in EW. apply andb_prop in EW as [EW _]. apply Nat.eqb_eq in EW. congruence. }
      apply K; [lia|exact Ek].
  - clear Es IHs.
    assert (Both : forall c (e f : facts -> bool), pure c && each F (ways c true) e && each F (ways c false) f = true ->
      exists F', known F' r /\ if truth scalar (eval c r al) then e F' = true else f F' = true).
    { intros c e f H. apply andb_prop in H as [H H2]. apply andb_prop in H as [Hp H1]. unfold each in H1, H2. rewrite forallb_forall in H1, H2.
      destruct (truth scalar (eval c r al)) eqn:T; assert (W := ways_ok r al c Hp _ T); apply Exists_exists in W as (G & HG & KG);
        exists (G ++ F); (split; [now apply known_app|]); assert (KF := known_app _ _ _ KG HF al);
        [specialize (H1 _ HG)|specialize (H2 _ HG)]; [apply orb_prop in H1 as [N|]|apply orb_prop in H2 as [N|]]; auto;
        apply (pr_ok scalar lit prim st r al _ _ KF) in N; rewrite pconst_ok in N; lia. }
    assert (Left : forall c x y, match decide F c with
        | Some true => eqv commutative h F R x b | Some false => eqv commutative h F R y b
        | None => pure c && each F (ways c true) (fun F => eqv commutative h F R x b) && each F (ways c false) (fun F => eqv commutative h F R y b) end = true ->
      eval (Op Select [c; x; y]) r al = eval b r al').
    { intros c x y H. cbn [Semantics.eval map apply nth]. destruct (decide F c) as [[]|] eqn:D.
      - rewrite (decide_ok scalar lit prim st r al F (HF al) c true D). cbn. eapply IH; eauto.
      - rewrite (decide_ok scalar lit prim st r al F (HF al) c false D). cbn. eapply IH; eauto.
      - apply (Both c (fun F => eqv commutative h F R x b) (fun F => eqv commutative h F R y b)) in H as (F' & KG & E1).
        destruct (truth scalar (eval c r al)); (eapply IH; [exact E1|exact KG|exact HR]). }
    assert (Right : forall c x y, match decide F c with
        | Some true => eqv commutative h F R a x | Some false => eqv commutative h F R a y
        | None => pure c && each F (ways c true) (fun F => eqv commutative h F R a x) && each F (ways c false) (fun F => eqv commutative h F R a y) end = true ->
      eval a r al = eval (Op Select [c; x; y]) r al').
    { intros c x y H. cbn [Semantics.eval map apply nth]. destruct (decide F c) as [[]|] eqn:D.
      - rewrite (decide_ok scalar lit prim st r al' F (HF al') c true D). cbn. eapply IH; eauto.
      - rewrite (decide_ok scalar lit prim st r al' F (HF al') c false D). cbn. eapply IH; eauto.
      - assert (Hp := H). apply andb_prop in Hp as [Hp _]. apply andb_prop in Hp as [Hp _].
        apply (Both c (fun F => eqv commutative h F R a x) (fun F => eqv commutative h F R a y)) in H as (F' & KG & E1). rewrite (pure_any c Hp r al' al).
        destruct (truth scalar (eval c r al)); (eapply IH; [exact E1|exact KG|exact HR]). }
    assert (Right' : match b with Op Select [c; x; y] => match decide F c with
        | Some true => eqv commutative h F R a x | Some false => eqv commutative h F R a y
        | None => pure c && each F (ways c true) (fun F => eqv commutative h F R a x) && each F (ways c false) (fun F => eqv commutative h F R a y) end
        | _ => equal_integers F a b end = true -> eval a r al = eval b r al').
    { intros H. destruct b as [| | |[] [|c [|x [|y [|? ?]]]]| | |]; try (exact (equal_integers_ok F _ _ r al al' HF H)). apply Right. exact H. }
    destruct a as [| | |[] [|c [|x [|y [|? ?]]]]| | |]; try (apply Right'; exact E). apply Left. exact E.
Qed.
Lemma equivalent_ok N F a b r a0 : hold scalar lit prim st N r a0 F -> equivalent commutative N F a b = true -> eval a r a0 = eval b r a0.
Proof.
  intros HF E. eapply eqv_ok; [exact E| |intros l k k' Hm; discriminate].
  intros a1. apply Forall_forall. intros p Hp. assert (Hp' := Hp). apply filter_In in Hp as [Hp Hc].
  specialize (HF r a0 (ext_refl _ _ _ _)). unfold holds in HF. rewrite Forall_forall in HF. specialize (HF p Hp).
  replace (pval (zv scalar lit prim st r a1) p) with (pval (zv scalar lit prim st r a0) p); auto.
  clear Hp Hp' HF E. induction p as [|[m c] p IH]; [reflexivity|]. cbn [forallb fst] in Hc.
  destruct (forallb (settled N) m) eqn:Em; [|discriminate]. rewrite !pval_cons, IH by auto.
  rewrite (mval_settled N r r a0 a1 m); auto. intros x _. reflexivity.
Qed.
End Sound.
