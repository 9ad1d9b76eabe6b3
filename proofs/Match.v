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
      | _, _ => if integer a && integer b then Some [] else None
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
  (if settled l n then patom (Var l) :: both_ways (psub (psub (unpoly n) (pconst 1)) (patom (Var l))) else []) ++ below l F.

(* Integers of variables and arrays that the facts make equal. *)
Definition equal_integers (F : facts) (a b : tm) : bool :=
  integer a && integer b && pure a && pure b && pr F (psub (unpoly a) (unpoly b)) && pr F (psub (unpoly b) (unpoly a)).

(* Extents of accumulators, which their subscripts are within: a guess, by the number of subscripts, that is taken where a fold is entered and verified wherever an
   accumulator is read. Each level has its own; levels further in are forgotten. *)
Variable shapes : nat -> option (list tm).
Definition ranged := list (nat * list tm).
Definition range_of (A : ranged) (l : nat) : option (list tm) := option_map snd (find (fun p => Nat.eqb (fst p) l) A).
Fixpoint arity (l m : nat) (t : tm) : bool :=
  match t with
  | Op _ ts | In _ _ ts => forallb (arity l m) ts
  | Acc l' _ ts => (if Nat.eqb l l' then Nat.eqb (List.length ts) m else true) && forallb (arity l m) ts
  | Fold _ n accs _ ts => arity l m n && forallb (fun p => arity l m (fst p) && arity l m (snd p)) accs && forallb (arity l m) ts
  | _ => true
  end.
Definition outer_ranges (l : nat) (A : ranged) : ranged := filter (fun p => Nat.ltb (fst p) l) A.
Definition outer_rel (l : nat) (R : rel) : rel := filter (fun q => Nat.ltb (fst (fst q)) l) R.
Definition enter (l m : nat) (accs accs' : list (tm * tm)) (A : ranged) : ranged :=
  match m with
  | O => outer_ranges l A
  | _ => match shapes m with
    | Some ds => if Nat.eqb (List.length ds) m && forallb (settled l) ds && forallb (fun p => arity l m (snd p)) (accs ++ accs') then (l, ds) :: outer_ranges l A else outer_ranges l A
    | None => outer_ranges l A
    end
  end.
Definition within (F : facts) (A : ranged) (l : nat) (is : list tm) : bool :=
  match range_of A l with Some ds => in_ranges F is ds | None => true end.
Definition subscripts (A : ranged) (l : nat) : facts :=
  match range_of A l with Some ds => ranges [] (levels (S l) (List.length ds)) ds | None => [] end.

(* Depth at most [h] on both sides together. Where the terms are not alike, the choices of the left side are made, then those of the right. *)
Fixpoint eqv (h : nat) (F : facts) (A : ranged) (R : rel) (a b : tm) {struct h} : bool :=
  match h with O => false | S h =>
  if match a, b with
    | Op o ts, Op o' ts' =>
        (if op_dec o o' then true else false) &&
        (list_eqb (eqv h F A R) ts ts' ||
         match ts, ts' with [x; y], [x'; y'] => commutes o && eqv h F A R x y' && eqv h F A R y x' | _, _ => false end)
    | Acc l k is, Acc l' k' is' => Nat.eqb l l' && member (l, k, k') R && list_eqb (eqv h F A R) is is' && within F A l is
    | In x cs is, In x' cs' is' => Nat.eqb x x' && list_eqb Bool.eqb cs cs' && list_eqb (eqv h F A R) is is'
    | Fold l n accs k is, Fold l' n' accs' k' is' =>
        let W := guess h l accs accs' k k' in
        let R0 := outer_rel l R in
        let A0 := outer_ranges l A in
        let A' := enter l (List.length is) accs accs' A in
        Nat.eqb l l' && eqv h F A R n n' && list_eqb (eqv h F A R) is is' && member (l, k, k') W && within F A' l is &&
        forallb (fun q => Nat.eqb (fst (fst q)) l &&
          match nth_error accs (snd (fst q)), nth_error accs' (snd q) with
          | Some p, Some p' => eqv h (subscripts A' l ++ below l F) A0 R0 (fst p) (fst p') && eqv h (subscripts A' l ++ in_step l n F) A' (W ++ R0) (snd p) (snd p')
          | _, _ => false end) W
    | Var _, Var _ | Int _, Int _ | Lit _, Lit _ => tm_eqb a b
    | _, _ => false
    end
  then true
  else match a, b with
    | Op Select [c; x; y], _ =>
        match decide F c with
        | Some true => eqv h F A R x b
        | Some false => eqv h F A R y b
        | None => pure c && each F (ways c true) (fun F => eqv h F A R x b) && each F (ways c false) (fun F => eqv h F A R y b)
        end
    | _, Op Select [c; x; y] =>
        match decide F c with
        | Some true => eqv h F A R a x
        | Some false => eqv h F A R a y
        | None => pure c && each F (ways c true) (fun F => eqv h F A R a x) && each F (ways c false) (fun F => eqv h F A R a y)
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
End Match.
(* With no extents for accumulators, or else with these. *)
Definition equivalent (commutative : list string) (shapes : nat -> option (list tm)) (N : nat) (F : facts) (a b : tm) : bool :=
  let h := (height a + height b)%nat in
  if eqv commutative (fun _ => None) h (below N F) [] [] a b then true else eqv commutative shapes h (below N F) [] [] a b.

Local Opaque guess need close.
Section Sound.
Variable scalar : Type.
Variable lit : string -> val scalar.
Variable prim : string -> list (val scalar) -> val scalar.
Variable st : store scalar.
Variable commutative : list string.
Hypothesis commute : forall name, List.In name commutative -> forall a b, prim name [a; b] = prim name [b; a].
Notation eval := (eval scalar lit prim st).

(* Subscripts within the extents of a level. *)
Definition zr (r : nat -> Z) (t : tm) : Z := zv scalar lit prim st r (aenv0 scalar) t.
Definition allowed (A : ranged) (r : nat -> Z) (l : nat) (v : list Z) : Prop :=
  match range_of A l with Some ds => inr v (map (zr r) ds) | None => True end.
Definition related (A : ranged) (r : nat -> Z) (R : rel) (a b : aenv scalar) :=
  forall l k k', member (l, k, k') R = true -> forall v, allowed A r l v -> a l k v = b l k' v.

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
  destruct (settled l n) eqn:E; [|intros a; constructor]. intros a. constructor.
  - rewrite patom_ok. unfold zv. cbn. lia.
  - apply both_ways_ok. rewrite !psub_ok, pconst_ok, patom_ok, unpoly_ok. unfold zv.
    rewrite (settled_ok l n E r a0 r' a A). cbn. lia.
Qed.

Lemma equal_integers_ok F a b r al al' : known F r -> equal_integers F a b = true -> eval a r al = eval b r al'.
Proof.
  intros HF E. unfold equal_integers in E. repeat match goal with H : _ && _ = true |- _ => apply andb_prop in H as [? ?] end.
  rewrite (pure_any b) with (a := al') (a' := al) by auto. rewrite !(integer_ok scalar lit prim st r al) by auto. f_equal.
  repeat match goal with H : pr F _ = true |- _ => apply (pr_ok scalar lit prim st r al) in H; [|apply HF] end.
  rewrite psub_ok, !unpoly_ok in *. lia.
Qed.

(* Extents are settled where their level begins. *)
Definition settles (A : ranged) : Prop := forall l ds, range_of A l = Some ds -> forallb (settled l) ds = true.
Lemma range_of_outer l A l0 : l0 < l -> range_of (outer_ranges l A) l0 = range_of A l0.
Proof.
  intros L. unfold range_of, outer_ranges. f_equal. induction A as [|[l1 ds] A IH]; [reflexivity|]. cbn [filter fst find].
  destruct (Nat.ltb_spec l1 l); cbn [find fst]; destruct (Nat.eqb_spec l1 l0); auto; lia.
Qed.
Lemma range_of_below l A l0 : l <= l0 -> range_of (outer_ranges l A) l0 = None.
Proof.
  intros L. unfold range_of, outer_ranges. induction A as [|[l1 ds] A IH]; [reflexivity|]. cbn [filter fst].
  destruct (Nat.ltb_spec l1 l); auto. cbn [find fst]. destruct (Nat.eqb_spec l1 l0); auto; lia.
Qed.
Lemma range_of_enter shapes l m accs accs' A l0 : l0 < l -> range_of (enter shapes l m accs accs' A) l0 = range_of A l0.
Proof.
  intros L. rewrite <- (range_of_outer l A l0 L). unfold enter. destruct m; auto. destruct (shapes _) as [ds|]; auto.
  match goal with |- range_of (if ?b then _ else _) _ = _ => destruct b; auto end.
  unfold range_of at 1. cbn [find fst]. destruct (Nat.eqb_spec l l0); [lia|reflexivity].
Qed.
Lemma settles_outer l A : settles A -> settles (outer_ranges l A).
Proof.
  intros H l0 ds E. destruct (Nat.lt_ge_cases l0 l) as [L|L]; [rewrite range_of_outer in E by auto; auto|rewrite range_of_below in E by auto; discriminate].
Qed.
Lemma settles_enter shapes l m accs accs' A : settles A -> settles (enter shapes l m accs accs' A).
Proof.
  intros H. assert (O := settles_outer l A H). unfold enter. destruct m; auto. destruct (shapes _) as [ds|]; auto.
  match goal with |- settles (if ?b then _ else _) => destruct b eqn:E; auto end. apply andb_prop in E as [E _]. apply andb_prop in E as [_ E].
  intros l0 ds0. unfold range_of. cbn [find fst]. destruct (Nat.eqb_spec l l0) as [->|]; [intros [= <-]; exact E|apply O].
Qed.
Lemma zr_settled l ds r r' a : agree l r r' -> forallb (settled l) ds = true -> map (zv scalar lit prim st r' a) ds = map (zr r) ds.
Proof.
  intros A H. apply map_ext_in. intros d Hd. rewrite forallb_forall in H. unfold zr, zv. f_equal. apply (settled_ok l d (H d Hd) r (aenv0 scalar) r' a A).
Qed.
Lemma in_ranges_at F r a : holds scalar lit prim st r a F -> forall ts ds, in_ranges F ts ds = true ->
  inr (map (zv scalar lit prim st r a) ts) (map (zv scalar lit prim st r a) ds).
Proof.
  intros HF. induction ts as [|t ts IH]; intros [|d ds] E; try discriminate; cbn [map]; constructor; cbn [in_ranges] in E; apply andb_prop in E as [E1 E2]; [|apply IH; auto].
  unfold in_range, in_range_p in E1. apply andb_prop in E1 as [E0 E1]. apply (pr_ok scalar lit prim st r a) in E0, E1; auto.
  rewrite !psub_ok, pconst_ok, !poly_of_ok in E1 by auto. rewrite poly_of_ok in E0 by auto. lia.
Qed.
Lemma within_ok F A r al l is : known F r -> settles A -> within F A l is = true -> allowed A r l (map (fun t => toZ scalar (eval t r al)) is).
Proof.
  intros HF HA E. unfold within, allowed in *. destruct (range_of A l) as [ds|] eqn:Er; auto.
  rewrite <- (zr_settled l ds r r al) by (auto; intros x Hx; reflexivity). exact (in_ranges_at F r al (HF al) is ds E).
Qed.
Lemma subscripts_ok A l r r' v : settles A -> agree l r r' -> allowed A r l v -> (forall k, k < List.length v -> r' (S l + k) = nth k v 0%Z) -> known (subscripts A l) r'.
Proof.
  intros HA Ag Hv Hr a. unfold subscripts, allowed in *. destruct (range_of A l) as [ds|] eqn:Er; [|constructor].
  assert (L : List.length v = List.length ds). { rewrite <- (map_length (zr r)). clear -Hv. unfold inr in Hv. induction Hv; cbn; congruence. }
  rewrite <- (zr_settled l ds r r' a Ag (HA l ds Er)) in Hv. rewrite <- L. unfold levels. clear L Er HA Ag. revert ds Hv Hr. generalize (S l) as n.
  induction v as [|z v IH]; intros n ds Hv Hr; [constructor|]. destruct ds as [|d ds]; [inversion Hv|]. inversion_clear Hv as [|? ? ? ? Hz Hv'].
  cbn [List.length seq map ranges]. apply Forall_app. split.
  - apply range_facts_at with (z := z) (d := zv scalar lit prim st r' a d); auto; [constructor|].
    unfold zv. cbn. rewrite <- (Nat.add_0_r n). apply (Hr 0). cbn. lia.
  - apply IH; auto. intros k Hk. replace (S n + k) with (n + S k) by lia. apply (Hr (S k)). cbn. lia.
Qed.
Lemma upds_nth r n v k : k < List.length v -> upds r n v (n + k) = nth k v 0%Z.
Proof.
  revert r n k. induction v as [|z v IH]; intros r n k Hk; [cbn in Hk; lia|]. cbn [upds]. destruct k as [|k].
  - rewrite Nat.add_0_r, agree_upds by lia. unfold upd. now rewrite Nat.eqb_refl.
  - replace (n + S k) with (S n + k) by lia. rewrite IH by (cbn in Hk; lia). reflexivity.
Qed.
Lemma member_outer l k k' l0 R : member (l, k, k') (outer_rel l0 R) = true -> l < l0 /\ member (l, k, k') R = true.
Proof.
  unfold member, outer_rel. intros H. apply existsb_exists in H as (q & Hq & E). apply filter_In in Hq as [Hq Hl].
  split; [|apply existsb_exists; eauto]. unfold triple_eqb in E. cbn in E. apply andb_prop in E as [E _]. apply andb_prop in E as [E _].
  apply Nat.eqb_eq in E. apply Nat.ltb_lt in Hl. now subst.
Qed.
(* Relations of levels further out, where variables from [l] on have changed. *)
Lemma related_outer A B r r' R al al' l : settles A -> agree l r r' -> (forall l0, l0 < l -> range_of B l0 = range_of A l0) ->
  related A r R al al' -> related B r' (outer_rel l R) al al'.
Proof.
  intros HA Ag HB H l0 k k' Hm v Hv. apply member_outer in Hm as [L Hm]. apply (H l0 k k' Hm). unfold allowed in *. rewrite HB in Hv by auto.
  destruct (range_of A l0) as [ds|] eqn:E; auto. rewrite <- (zr_settled l0 ds r r' (aenv0 scalar)); auto. intros x Hx. apply Ag. lia.
Qed.

Lemma eqv_ok shapes h : forall a b F A R, eqv commutative shapes h F A R a b = true -> settles A -> forall r al al', known F r -> related A r R al al' -> eval a r al = eval b r al'.
Proof.
  induction h as [|h IH]; [discriminate|]. intros a b F A R E HA r al al' HF HR. cbn [eqv] in E.
  assert (IHs : forall ts ts' F A R, list_eqb (eqv commutative shapes h F A R) ts ts' = true -> settles A -> forall r al al', known F r -> related A r R al al' ->
    forall (B : Type) (f : val scalar -> B), map (fun t => f (eval t r al)) ts = map (fun t => f (eval t r al')) ts').
  { intros ts ts' F1 A1 R1 E1 HA1 r1 al1 al1' HF1 HR1 B f. eapply list_eqb_map; [|exact E1]. apply Forall_forall. intros x _ y Hy. f_equal. eapply IH; eauto. }
  match type of E with (if ?s then _ else _) = true => destruct s eqn:Es end.
  - clear E. destruct a as [x|z|s|o ts|w cs is|l k is|l n accs k is], b as [x'|z'|s'|o' ts'|w' cs' is'|l' k' is'|l' n' accs' k' is']; try discriminate.
    + cbn in Es. apply Nat.eqb_eq in Es. now subst.
    + cbn in Es. apply Z.eqb_eq in Es. now subst.
    + cbn in Es. apply String.eqb_eq in Es. now subst.
    + apply andb_prop in Es as [E1 E2]. destruct (op_dec o o') as [<-|]; [|discriminate]. apply orb_prop in E2 as [E2|E2].
      * cbn [Semantics.eval]. f_equal. exact (IHs _ _ _ _ _ E2 HA r al al' HF HR _ (fun v => v)).
      * destruct ts as [|x [|y [|? ?]]]; try discriminate. destruct ts' as [|x' [|y' [|? ?]]]; try discriminate.
        apply andb_prop in E2 as [E2 E3]. apply andb_prop in E2 as [E0 E2]. cbn [Semantics.eval map].
        rewrite (IH _ _ _ _ _ E2 HA r al al' HF HR), (IH _ _ _ _ _ E3 HA r al al' HF HR). destruct o; try discriminate; cbn [apply nth].
        -- f_equal. apply Z.add_comm.
        -- f_equal. apply Z.mul_comm.
        -- f_equal. apply andb_comm.
        -- f_equal. apply orb_comm.
        -- cbn in E0. apply existsb_exists in E0 as (nm & Hn & E0). apply String.eqb_eq in E0. subst. apply commute. auto.
    + apply andb_prop in Es as [E1 E3]. apply andb_prop in E1 as [E1 E2].
      apply Nat.eqb_eq in E1. subst. assert (cs = cs'). { revert E2. apply list_eqb_ok. clear. induction cs; constructor; auto. intros y. apply eqb_prop. } subst.
      cbn [Semantics.eval]. f_equal. exact (IHs _ _ _ _ _ E3 HA r al al' HF HR _ (toZ scalar)).
    + apply andb_prop in Es as [E1 Ew]. apply andb_prop in E1 as [E1 E3]. apply andb_prop in E1 as [E1 E2].
      apply Nat.eqb_eq in E1. subst. cbn [Semantics.eval]. rewrite (HR _ _ _ E2) by (eapply within_ok; eauto). f_equal. exact (IHs _ _ _ _ _ E3 HA r al al' HF HR _ (toZ scalar)).
    + cbv zeta in Es. set (W := guess commutative h l accs accs' k k') in *. clearbody W.
      set (A' := enter shapes l (List.length is) accs accs' A) in *. assert (HA' : settles A') by (apply settles_enter; auto).
      assert (HB : forall l0, l0 < l -> range_of A' l0 = range_of A l0) by (intros; apply range_of_enter; auto).
      apply andb_prop in Es as [E EW]. apply andb_prop in E as [E Ew]. apply andb_prop in E as [E Ek]. apply andb_prop in E as [E Ei]. apply andb_prop in E as [E1 En].
      apply Nat.eqb_eq in E1. subst l'. cbn [Semantics.eval].
      rewrite <- (IH _ _ _ _ _ En HA r al al' HF HR).
      rewrite <- (IHs _ _ _ _ _ Ei HA r al al' HF HR _ (toZ scalar)).
      rewrite forallb_forall in EW.
      assert (G : forall k1 k2, member (l, k1, k2) W = true -> exists p q, nth_error accs k1 = Some p /\ nth_error accs' k2 = Some q /\
         eqv commutative shapes h (subscripts A' l ++ below l F) (outer_ranges l A) (outer_rel l R) (fst p) (fst q) = true /\
         eqv commutative shapes h (subscripts A' l ++ in_step l n F) A' (W ++ outer_rel l R) (snd p) (snd q) = true).
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
      assert (K : forall M, M <= N -> forall k1 k2 v, member (l, k1, k2) W = true -> allowed A' r l v -> iter M st1 i1 k1 v = iter M st2 i2 k2 v).
      { induction M as [|M IHM]; intros LM k1 k2 v Hm Hv; destruct (G _ _ Hm) as (p & q & Hp & Hq & Ep & Eq); cbn [iter].
        - unfold i1, i2. rewrite (GF _ _ _ Hp), (GF _ _ _ Hq). cbn [fst].
          assert (Ag : agree l r (upds r (S l) v)) by (intros x Hx; rewrite agree_upds by lia; reflexivity).
          eapply IH; [exact Ep|apply settles_outer; auto| |].
          + apply known_app; [|eapply below_ok; eauto]. apply (subscripts_ok A' l r _ v); auto. intros; now apply upds_nth.
          + apply (related_outer A _ r _ R al al' l HA Ag); auto. intros l0 L0. now apply range_of_outer.
        - unfold st1 at 1, st2 at 1. rewrite (GF _ _ _ Hp), (GF _ _ _ Hq). cbn [snd].
          set (r2 := upds (upd r l (Z.of_nat M)) (S l) v).
          assert (Ag : agree l r r2). { intros x Hx. unfold r2. rewrite agree_upds by lia. unfold upd. destruct (Nat.eqb_spec l x); [lia|reflexivity]. }
          eapply IH; [exact Eq|exact HA'| |].
          + apply known_app. { apply (subscripts_ok A' l r _ v); auto. intros; now apply upds_nth. }
            eapply in_step_ok with (i := M) (a0 := al); [exact HF|exact Ag| |lia].
            unfold r2. rewrite agree_upds by lia. unfold upd. now rewrite Nat.eqb_refl.
          + assert (Out := related_outer A A' r r2 R al al' l HA Ag HB HR).
            intros l1 j1 j2 Hj w Hw. rewrite member_app in Hj. unfold upd. destruct (Nat.eqb_spec l l1) as [<-|Hne].
            * apply IHM; [lia| |].
              -- apply orb_prop in Hj as [Hj|Hj]; auto. apply member_outer in Hj as [Hj _]. lia.
              -- unfold allowed in *. destruct (range_of A' l) as [ds|] eqn:Er; auto. rewrite <- (zr_settled l ds r r2 (aenv0 scalar)); auto.
            * apply orb_prop in Hj as [Hj|Hj]; [|apply (Out l1 j1 j2 Hj w Hw)].
              exfalso. unfold member in Hj. apply existsb_exists in Hj as ([[l2 b1] b2] & Hq2 & Eq2). unfold triple_eqb in Eq2. cbn in Eq2.
              apply andb_prop in Eq2 as [Eq2 _]. apply andb_prop in Eq2 as [Eq2 _]. apply Nat.eqb_eq in Eq2.
              specialize (EW _ Hq2). cbn in EW. apply andb_prop in EW as [EW _]. apply Nat.eqb_eq in EW. congruence. }
      apply K; [lia|exact Ek|]. eapply within_ok; eauto.
  - clear Es IHs.
    assert (Both : forall c (e f : facts -> bool), pure c && each F (ways c true) e && each F (ways c false) f = true ->
      exists F', known F' r /\ if truth scalar (eval c r al) then e F' = true else f F' = true).
    { intros c e f H. apply andb_prop in H as [H H2]. apply andb_prop in H as [Hp H1]. unfold each in H1, H2. rewrite forallb_forall in H1, H2.
      destruct (truth scalar (eval c r al)) eqn:T; assert (W := ways_ok r al c Hp _ T); apply Exists_exists in W as (G & HG & KG);
        exists (G ++ F); (split; [now apply known_app|]); assert (KF := known_app _ _ _ KG HF al);
        [specialize (H1 _ HG)|specialize (H2 _ HG)]; [apply orb_prop in H1 as [N|]|apply orb_prop in H2 as [N|]]; auto;
        apply (pr_ok scalar lit prim st r al _ _ KF) in N; rewrite pconst_ok in N; lia. }
    assert (Left : forall c x y, match decide F c with
        | Some true => eqv commutative shapes h F A R x b | Some false => eqv commutative shapes h F A R y b
        | None => pure c && each F (ways c true) (fun F => eqv commutative shapes h F A R x b) && each F (ways c false) (fun F => eqv commutative shapes h F A R y b) end = true ->
      eval (Op Select [c; x; y]) r al = eval b r al').
    { intros c x y H. cbn [Semantics.eval map apply nth]. destruct (decide F c) as [[]|] eqn:D.
      - rewrite (decide_ok scalar lit prim st r al F (HF al) c true D). cbn. eapply IH; eauto.
      - rewrite (decide_ok scalar lit prim st r al F (HF al) c false D). cbn. eapply IH; eauto.
      - apply (Both c (fun F => eqv commutative shapes h F A R x b) (fun F => eqv commutative shapes h F A R y b)) in H as (F' & KG & E1).
        destruct (truth scalar (eval c r al)); (eapply IH; [exact E1|exact HA|exact KG|exact HR]). }
    assert (Right : forall c x y, match decide F c with
        | Some true => eqv commutative shapes h F A R a x | Some false => eqv commutative shapes h F A R a y
        | None => pure c && each F (ways c true) (fun F => eqv commutative shapes h F A R a x) && each F (ways c false) (fun F => eqv commutative shapes h F A R a y) end = true ->
      eval a r al = eval (Op Select [c; x; y]) r al').
    { intros c x y H. cbn [Semantics.eval map apply nth]. destruct (decide F c) as [[]|] eqn:D.
      - rewrite (decide_ok scalar lit prim st r al' F (HF al') c true D). cbn. eapply IH; eauto.
      - rewrite (decide_ok scalar lit prim st r al' F (HF al') c false D). cbn. eapply IH; eauto.
      - assert (Hp := H). apply andb_prop in Hp as [Hp _]. apply andb_prop in Hp as [Hp _].
        apply (Both c (fun F => eqv commutative shapes h F A R a x) (fun F => eqv commutative shapes h F A R a y)) in H as (F' & KG & E1). rewrite (pure_any c Hp r al' al).
        destruct (truth scalar (eval c r al)); (eapply IH; [exact E1|exact HA|exact KG|exact HR]). }
    assert (Right' : match b with Op Select [c; x; y] => match decide F c with
        | Some true => eqv commutative shapes h F A R a x | Some false => eqv commutative shapes h F A R a y
        | None => pure c && each F (ways c true) (fun F => eqv commutative shapes h F A R a x) && each F (ways c false) (fun F => eqv commutative shapes h F A R a y) end
        | _ => equal_integers F a b end = true -> eval a r al = eval b r al').
    { intros H. destruct b as [| | |[] [|c [|x [|y [|? ?]]]]| | |]; try (exact (equal_integers_ok F _ _ r al al' HF H)). apply Right. exact H. }
    destruct a as [| | |[] [|c [|x [|y [|? ?]]]]| | |]; try (apply Right'; exact E). apply Left. exact E.
Qed.
Lemma equivalent_ok shapes N F a b r a0 : hold scalar lit prim st N r a0 F -> equivalent commutative shapes N F a b = true -> eval a r a0 = eval b r a0.
Proof.
  intros HF E. assert (E' : exists shapes, eqv commutative shapes (height a + height b) (below N F) [] [] a b = true).
  { unfold equivalent in E. cbv zeta in E. match type of E with (if ?b then _ else _) = true => destruct b eqn:E1 end; eauto. }
  clear E. destruct E' as [shapes' E]. eapply eqv_ok; [exact E|intros l ds Hr; discriminate| |intros l k k' Hm; discriminate].
  intros a1. apply Forall_forall. intros p Hp. assert (Hp' := Hp). apply filter_In in Hp as [Hp Hc].
  specialize (HF r a0 (ext_refl _ _ _ _)). unfold holds in HF. rewrite Forall_forall in HF. specialize (HF p Hp).
  replace (pval (zv scalar lit prim st r a1) p) with (pval (zv scalar lit prim st r a0) p); auto.
  clear Hp Hp' HF E. induction p as [|[m c] p IH]; [reflexivity|]. cbn [forallb fst] in Hc.
  destruct (forallb (settled N) m) eqn:Em; [|discriminate]. rewrite !pval_cons, IH by auto.
  rewrite (mval_settled N r r a0 a1 m); auto. intros x _. reflexivity.
Qed.
End Sound.
