(* Comparison of the two sides: equal terms, up to which accumulator of one fold is which of the other, and up to the order of the
   operands of operations that commute. *)
From Coq Require Import ZArith List String Bool Lia Arith.
From Lozenge Require Import Syntax Semantics Poly Norm Lazy.
Import ListNotations.

Definition rel := list (nat * nat * nat).               (* level, accumulator of the left side, of the right side *)
Definition triple_eqb (a b : nat * nat * nat) : bool :=
  Nat.eqb (fst (fst a)) (fst (fst b)) && Nat.eqb (snd (fst a)) (snd (fst b)) && Nat.eqb (snd a) (snd b).
Definition member (a : nat * nat * nat) (R : rel) : bool := existsb (triple_eqb a) R.

Section Match.
Variable commutative : list string.
Definition commutes (o : op) : bool := match o with Scalar n => existsb (String.eqb n) commutative | _ => false end.

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
Fixpoint need (a b : tm) {struct a} : option rel :=
  match a, b with
  | Op o ts, Op o' ts' =>
      if op_dec o o' then
        match all2 need ts ts' with
        | Some p => Some p
        | None => if commutes o then match ts, ts' with
            | [x; y], [x'; y'] => match need x y', need y x' with Some p, Some q => Some (p ++ q) | _, _ => None end
            | _, _ => None end else None
        end
      else None
  | Acc l k is, Acc l' k' is' =>
      if Nat.eqb l l' then option_map (cons (l, k, k')) (all2 need is is') else None
  | In x cs is, In x' cs' is' => if Nat.eqb x x' && list_eqb Bool.eqb cs cs' then all2 need is is' else None
  | Fold l n accs k is, Fold l' n' accs' k' is' =>
      if Nat.eqb l l' then
        let fs := map (fun p => (need (fst p), need (snd p))) accs in
        let step k1 k2 := match nth_error fs k1, nth_error accs' k2 with
          | Some f, Some a => match fst f (fst a), snd f (snd a) with Some p, Some q => Some (p ++ q) | _, _ => None end
          | _, _ => None end in
        match close fuel step l [] [(l, k, k')] [] with
        | Some (_, outer) => option_map (app outer) (all2 need is is')
        | None => None
        end
      else None
  | _, _ => if tm_eqb a b then Some [] else None
  end.
Definition guess (l : nat) (accs accs' : list (tm * tm)) (k k' : nat) : rel :=
  let step k1 k2 := match nth_error accs k1, nth_error accs' k2 with
    | Some f, Some a => match need (fst f) (fst a), need (snd f) (snd a) with Some p, Some q => Some (p ++ q) | _, _ => None end
    | _, _ => None end in
  match close fuel step l [] [(l, k, k')] [] with Some (R, _) => R | None => [] end.

Fixpoint eqv (R : rel) (a b : tm) {struct a} : bool :=
  match a, b with
  | Op o ts, Op o' ts' =>
      (if op_dec o o' then true else false) &&
      (list_eqb (eqv R) ts ts' ||
       match ts, ts' with [x; y], [x'; y'] => commutes o && eqv R x y' && eqv R y x' | _, _ => false end)
  | Acc l k is, Acc l' k' is' => Nat.eqb l l' && member (l, k, k') R && list_eqb (eqv R) is is'
  | In x cs is, In x' cs' is' => Nat.eqb x x' && list_eqb Bool.eqb cs cs' && list_eqb (eqv R) is is'
  | Fold l n accs k is, Fold l' n' accs' k' is' =>
      let W := guess l accs accs' k k' in
      let R' := W ++ filter (fun q => negb (Nat.eqb (fst (fst q)) l)) R in
      let fs := map (fun p => (eqv R (fst p), eqv R' (snd p))) accs in
      Nat.eqb l l' && eqv R n n' && list_eqb (eqv R) is is' && member (l, k, k') W &&
      forallb (fun q => Nat.eqb (fst (fst q)) l &&
        match nth_error fs (snd (fst q)), nth_error accs' (snd q) with
        | Some f, Some a => fst f (fst a) && snd f (snd a)
        | _, _ => false end) W
  | Var _, Var _ | Int _, Int _ | Lit _, Lit _ => tm_eqb a b
  | _, _ => false
  end.
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

Lemma eqv_ok : forall a b R, eqv commutative R a b = true -> forall r al al', related R al al' -> eval a r al = eval b r al'.
Proof.
  intros a. pattern a. apply tm_ind'; clear a.
  - intros x [] R E; try discriminate; intros; cbn in E; apply Nat.eqb_eq in E; subst; auto.
  - intros x [] R E; try discriminate; intros; cbn in E; apply Z.eqb_eq in E; subst; auto.
  - intros x [] R E; try discriminate; intros; cbn in E; apply String.eqb_eq in E; subst; auto.
  - intros o ts IH [] R E r al al' HR; try discriminate. cbn [eqv] in E. apply andb_prop in E as [E1 E2].
    destruct (op_dec o o0) as [<-|]; [|discriminate]. apply orb_prop in E2 as [E2|E2].
    + cbn [Semantics.eval]. f_equal. eapply list_eqb_map; [|exact E2]. eapply Forall_impl; [|exact IH]. intros t Ht y Hy. eapply Ht; eauto.
    + destruct ts as [|x [|y [|? ?]]]; try discriminate. destruct ts0 as [|x' [|y' [|? ?]]]; try discriminate.
      apply andb_prop in E2 as [E2 E3]. apply andb_prop in E2 as [E0 E2]. destruct o; try discriminate. cbn in E0.
      apply existsb_exists in E0 as (nm & Hn & E0). apply String.eqb_eq in E0. subst.
      inversion_clear IH as [|? ? Hx IH']; inversion_clear IH' as [|? ? Hy _].
      cbn [Semantics.eval map apply]. rewrite (Hx _ _ E2 r al al' HR), (Hy _ _ E3 r al al' HR). apply commute. auto.
  - intros x cs is IH [] R E r al al' HR; try discriminate. cbn [eqv] in E. apply andb_prop in E as [E E3]. apply andb_prop in E as [E1 E2].
    apply Nat.eqb_eq in E1. subst. assert (cs = cs0). { revert E2. apply list_eqb_ok. clear. induction cs; constructor; auto. intros y. apply eqb_prop. } subst.
    cbn [Semantics.eval]. f_equal. eapply list_eqb_map; [|exact E3]. eapply Forall_impl; [|exact IH]. intros t Ht y Hy. f_equal. eapply Ht; eauto.
  - intros l k is IH [] R E r al al' HR; try discriminate. cbn [eqv] in E. apply andb_prop in E as [E E3]. apply andb_prop in E as [E1 E2].
    apply Nat.eqb_eq in E1. subst. cbn [Semantics.eval]. rewrite (HR _ _ _ E2). f_equal.
    eapply list_eqb_map; [|exact E3]. eapply Forall_impl; [|exact IH]. intros t Ht y Hy. f_equal. eapply Ht; eauto.
  - intros l n accs k is IHn IHa IH [] R E r al al' HR; try discriminate. cbn [eqv] in E. cbv zeta in E.
    set (W := guess commutative l accs accs0 k k0) in *. clearbody W.
    apply andb_prop in E as [E EW]. apply andb_prop in E as [E Ek]. apply andb_prop in E as [E Ei]. apply andb_prop in E as [E1 En].
    apply Nat.eqb_eq in E1. subst l0. cbn [Semantics.eval].
    rewrite <- (IHn _ _ En r al al' HR).
    replace (map (fun t => toZ scalar (eval t r al')) is0) with (map (fun t => toZ scalar (eval t r al)) is).
    2:{ eapply list_eqb_map; [|exact Ei]. eapply Forall_impl; [|exact IH]. intros t Ht y Hy. f_equal. eapply Ht; eauto. }
    rewrite forallb_forall in EW.
    assert (G : forall k1 k2, member (l, k1, k2) W = true -> exists p q, nth_error accs k1 = Some p /\ nth_error accs0 k2 = Some q /\
       eqv commutative R (fst p) (fst q) = true /\
       eqv commutative (W ++ filter (fun q => negb (Nat.eqb (fst (fst q)) l)) R) (snd p) (snd q) = true).
    { intros k1 k2 Hm. unfold member in Hm. apply existsb_exists in Hm as ([[l0 a1] a2] & Hq & Eq). unfold triple_eqb in Eq. cbn in Eq.
      apply andb_prop in Eq as [Eq Eq3]. apply andb_prop in Eq as [Eq1 Eq2]. apply Nat.eqb_eq in Eq1, Eq2, Eq3. subst.
      specialize (EW _ Hq). cbn [fst snd] in EW. apply andb_prop in EW as [_ EW]. rewrite nth_error_map in EW.
      destruct (nth_error accs a1) as [p|]; [|discriminate]. cbn [option_map] in EW. destruct (nth_error accs0 a2) as [q|]; [|discriminate].
      cbn [fst snd] in EW. apply andb_prop in EW as [? ?]. eauto 8. }
    assert (GF : forall (accs : list (tm * tm)) k p, nth_error accs k = Some p ->
       nth k (map (fun p => (eval (fst p), eval (snd p))) accs) (fun _ _ => VZ 0, fun _ _ => VZ 0) = (eval (fst p), eval (snd p))).
    { intros l1 k1 p Hp. apply nth_error_nth. now rewrite nth_error_map, Hp. }
    generalize (Z.to_nat (toZ scalar (eval n r al))). intros N.
    match goal with |- iter N ?f1 ?s1 k _ = iter N ?f2 ?s2 k0 _ => set (st1 := f1); set (st2 := f2); set (i1 := s1); set (i2 := s2) end.
    assert (K : forall N k1 k2 v, member (l, k1, k2) W = true -> iter N st1 i1 k1 v = iter N st2 i2 k2 v).
    { clear N. induction N as [|N IHN]; intros k1 k2 v Hm; destruct (G _ _ Hm) as (p & q & Hp & Hq & Ep & Eq);
        assert (Hin := proj1 (Forall_forall _ _) IHa p (nth_error_In _ _ Hp)); cbn [iter].
      - unfold i1, i2. rewrite (GF _ _ _ Hp), (GF _ _ _ Hq). cbn [fst]. apply (proj1 Hin _ _ Ep). auto.
      - unfold st1 at 1, st2 at 1. rewrite (GF _ _ _ Hp), (GF _ _ _ Hq). cbn [snd]. apply (proj2 Hin _ _ Eq).
        intros l1 j1 j2 Hj w. rewrite member_app in Hj. unfold upd. destruct (Nat.eqb_spec l l1) as [<-|Hne].
        + apply IHN. apply orb_prop in Hj as [Hj|Hj]; auto. apply member_filter in Hj as [Hj _]. congruence.
        + apply orb_prop in Hj as [Hj|Hj]; [|apply HR; apply member_filter in Hj; tauto].
          exfalso. unfold member in Hj. apply existsb_exists in Hj as ([[l2 b1] b2] & Hq2 & Eq2). unfold triple_eqb in Eq2. cbn in Eq2.
          apply andb_prop in Eq2 as [Eq2 _]. apply andb_prop in Eq2 as [Eq2 _]. apply Nat.eqb_eq in Eq2.
          specialize (EW _ Hq2). cbn in EW. apply andb_prop in EW as [EW _]. apply Nat.eqb_eq in EW. congruence. }
    apply K. exact Ek.
Qed.
End Sound.
