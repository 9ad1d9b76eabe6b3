(* Sums in parallel: loops that update one number at the end of every iteration, and are run by threads that each combine what they meet, beginning with a constant, and
   combine in the end, in an order and a grouping that are left open. Where the operation has the laws that the certificate lists, the loop in sequence
   does the same, and that one the other checks speak of. *)
From Coq Require Import ZArith List String Bool Lia Arith Permutation.
From Lozenge Require Import Syntax Semantics Poly Norm Rep Source Regroup Target TargetSound Checker Check Lazy.
Import ListNotations.

Definition sum_at (sums : list (nat * tm)) (x : nat) : option tm :=
  match find (fun p => Nat.eqb (fst p) x) sums with Some p => Some (snd p) | None => None end.

Fixpoint occurs (x : nat) (t : tm) : bool :=
  match t with
  | Var y => Nat.eqb x y
  | Op _ ts | In _ _ ts | Acc _ _ ts => existsb (occurs x) ts
  | Fold _ _ _ _ _ => true
  | _ => false
  end.
Fixpoint loads (w : nat) (t : tm) : bool :=
  match t with
  | In a _ ts => Nat.eqb w a || existsb (loads w) ts
  | Op _ ts | Acc _ _ ts => existsb (loads w) ts
  | Fold _ _ _ _ _ => true
  | _ => false
  end.

(* ---------- what it means ---------- *)
(* The update at the end of an iteration: array, components, subscripts, operation. *)
Fixpoint update_of (c : cmd) : option (nat * list bool * list tm * op) :=
  match c with
  | Assign w cs is (Op o [_; e]) => Some (w, cs, is, o)
  | Seq _ c | Local _ c => update_of c
  | _ => None
  end.
(* Whether a command writes no array but its own, and does not read [w]. *)
Fixpoint keeps (w : nat) (own : list nat) (c : cmd) : bool :=
  match c with
  | Skip => true
  | Seq a b => keeps w own a && keeps w own b
  | Assign v _ is e => mem v own && negb (existsb (loads w) (e :: is))
  | Local v c => negb (Nat.eqb w v) && keeps w (v :: own) c
  | For _ _ n c => negb (loads w n) && keeps w own c
  | If b c1 c2 => negb (loads w b) && keeps w own c1 && keeps w own c2
  end.
(* Whether an iteration does so but for the update at its end. *)
Fixpoint apart_from (w : nat) (own : list nat) (c : cmd) : bool :=
  match c with
  | Assign _ _ is (Op _ [_; e]) => negb (existsb (loads w) (e :: is))
  | Seq a c => keeps w own a && apart_from w own c
  | Local v c => negb (Nat.eqb w v) && apart_from w (v :: own) c
  | _ => false
  end.
(* Iterations of sums in parallel have nothing to do with each other but for the number that they update. *)
Fixpoint sums_apart (sums : list (nat * tm)) (c : cmd) : bool :=
  match c with
  | Skip | Assign _ _ _ _ => true
  | Seq a b | If _ a b => sums_apart sums a && sums_apart sums b
  | Local _ c => sums_apart sums c
  | For _ x _ c => sums_apart sums c && match sum_at sums x with
      | None => true
      | Some _ => match update_of c with Some (w, _, is, _) => apart_from w [] c && forallb (fun i => negb (occurs x i)) is | None => false end
      end
  end.

Section Meaning.
Variable scalar : Type.
Variable lit : string -> val scalar.
Variable prim : string -> list (val scalar) -> val scalar.
Variable sums : list (nat * tm).
Notation val := (val scalar). Notation store := (store scalar).
Notation ev := (Semantics.ev scalar lit prim).
Notation evz := (Semantics.evz scalar lit prim).

(* Some way to combine all of these, with the constant as often as one likes. *)
Inductive combined (o : op) (zero : val) : list val -> val -> Prop :=
| one v : combined o zero [v] v
| nothing : combined o zero [] zero
| both l l' v v' : combined o zero l v -> combined o zero l' v' -> combined o zero (l ++ l') (apply scalar prim o [v; v'])
| moved l l' v : Permutation l l' -> combined o zero l v -> combined o zero l' v.

(* A value as an operand: integers and truth values are made such by their operations. *)
Definition operand (o : op) (v : val) : val :=
  match o with Scalar _ => v | Wadd | Wmul => VZ (wrap (toZ scalar v)) | And | Or => VB (truth scalar v) | _ => VZ (toZ scalar v) end.
(* A sum of no integers or truth values leaves what is there. *)
Definition idle (o : op) (n : nat) : bool := match o, n with Scalar _, _ => false | _, O => true | _, _ => false end.

(* As [exec], but for the sums: the number that was there before and those of all iterations are combined somehow. Each iteration
   finds the memory before the loop, and brings the number that it would update with. *)
Fixpoint runs (c : cmd) (io : nat -> Z) (s s' : store) {struct c} : Prop :=
  match c with
  | Skip => s' = s
  | Seq a b => exists s1, runs a io s s1 /\ runs b io s1 s'
  | Assign w cs is e => s' = wr scalar s w cs (map (evz s io) is) (ev s io e)
  | Local w c => exists junk, runs c io (upd s w junk) s'
  | For par x n c =>
      let steps := seq 0 (Z.to_nat (evz s io n)) in
      match sum_at sums x, update_of c with
      | Some zero, Some (w, cs, is, o) => exists vs v,
          Forall2 (fun i => brings c (upd io x (Z.of_nat i)) s) steps vs /\
          combined o (ev s io zero) (map (operand o) (s w cs (map (evz s io) is) :: vs)) v /\
          s' = if idle o (List.length steps) then s else wr scalar s w cs (map (evz s io) is) v
      | _, _ => exists is,
          (if par then Permutation steps is else is = steps) /\ iterR scalar (fun i => runs c (upd io x (Z.of_nat i))) is s s'
      end
  | If b c1 c2 => if truth scalar (ev s io b) then runs c1 io s s' else runs c2 io s s'
  end
with brings (c : cmd) (io : nat -> Z) (s : store) (v : val) {struct c} : Prop :=
  match c with
  | Assign _ _ _ (Op _ [_; e]) => v = ev s io e
  | Local w c => exists junk, brings c io (upd s w junk) v
  | Seq a c => exists s1, runs a io s s1 /\ brings c io s1 v
  | _ => False
  end.
End Meaning.

(* Iterations of sums in parallel keep to themselves; and however their numbers are combined, the loops end, and the result is that of the program. *)
Definition sums_up (ct : certificate) : Prop :=
  sums_apart (sums ct) (target ct) = true /\
  forall (scalar : Type) (lit : string -> val scalar) (prim : string -> list (val scalar) -> val scalar),
  (forall l, List.In l (laws ct) -> law_holds scalar lit prim l) ->
  forall (size : nat -> Z) (before : store scalar),
  (forall x, sizes ct <= x -> size x = 0%Z) ->
  Forall (fun t => (0 <= Semantics.evz scalar lit prim before size t)%Z) (assume ct) ->
  indexed ct scalar lit prim before size ->
  (exists after, runs scalar lit prim (sums ct) (target ct) size before after) /\
  forall after, runs scalar lit prim (sums ct) (target ct) size before after ->
    (forall cs extents, List.In (cs, extents) (result ct) -> forall is,
       Forall2 (fun i n => (0 <= i < Semantics.evz scalar lit prim before size n)%Z) is extents ->
       after (out ct) cs is = den scalar lit prim (Semantics.evz scalar lit prim before size) (source ct) before cs is) /\
    (forall w, ~ List.In w (written (target ct)) -> forall cs is, after w cs is = before w cs is).

(* ---------- what is checked ---------- *)
Section Check.
Variable ls : list law.
Variable sums : list (nat * tm).

(* The laws of the operation; those of integers and truth values need no list. *)
Definition combines (o : op) (zero : tm) : bool :=
  match o, zero with
  | Scalar o, Lit z => monoid ls o z
  | Iadd, Int 0 | Imul, Int 1 | Wadd, Int 0 | Wmul, Int 1 => true
  | And, Op Ieq [Int 0; Int 0] | Or, Op Ine [Int 0; Int 0] => true
  | _, _ => false
  end.
(* What iterations declare differs between the two loops when they have ended: [D] are the arrays that may differ here, of which nothing may be read. *)
Definition clean (D : list nat) (t : tm) : bool := forallb (fun w => negb (loads w t)) D.
Definition without (w : nat) (D : list nat) : list nat := filter (fun v => negb (Nat.eqb w v)) D.
Fixpoint updates (D : list nat) (c : cmd) : bool :=
  match c with
  | Skip => true
  | Assign _ _ is e => forallb (clean D) (e :: is)
  | Seq a b => updates D a && updates D b
  | If t a b => clean D t && updates D a && updates D b
  | Local w c => updates (without w D) c
  | For par x n c => clean D n && match sum_at sums x with
      | None => updates D c
      | Some zero => match update_of c with
          | Some (w, cs, is, o) =>
              negb par && negb (mem w D) && forallb (fun v => mem v D) (locals c) && forallb (clean (w :: D)) is
              && combines o zero && adds (In w cs is) (w :: D) c
          | None => false end
      end
  end
with adds (old : tm) (D : list nat) (c : cmd) : bool :=
  match c with
  | Assign _ _ _ (Op _ [a; e]) => tm_eqb old a && clean D e
  | Seq a c => updates D a && adds old D c
  | Local v c => adds old (without v D) c
  | _ => false
  end.
(* Arrays that iterations of sums declare. *)
Fixpoint sum_locals (c : cmd) : list nat :=
  match c with
  | Skip | Assign _ _ _ _ => []
  | Seq a b | If _ a b => sum_locals a ++ sum_locals b
  | Local _ c => sum_locals c
  | For _ x _ c => match sum_at sums x with Some _ => locals c | None => sum_locals c end
  end.
End Check.
Definition sums_ok (ct : certificate) : bool :=
  let D := sum_locals (sums ct) (target ct) in
  sums_apart (sums ct) (target ct) && updates (laws ct) (sums ct) D (target ct) && negb (mem (out ct) D) && forallb (fun w => mem w (written (target ct))) D.

Section Sound.
Variable scalar : Type.
Variable lit : string -> val scalar.
Variable prim : string -> list (val scalar) -> val scalar.
Variable ls : list law.
Variable sums : list (nat * tm).
Hypothesis Hlaws : forall l, List.In l ls -> law_holds scalar lit prim l.
Notation val := (val scalar). Notation store := (store scalar).
Notation ev := (Semantics.ev scalar lit prim).
Notation evz := (Semantics.evz scalar lit prim).
Notation runs := (runs scalar lit prim sums).
Notation brings := (brings scalar lit prim sums).
Notation exec := (exec scalar lit prim).
Notation apply := (apply scalar prim).
Notation combined := (combined scalar prim).
Notation operand := (operand scalar).

(* Stores that hold the same. *)
Definition aeq (a b : aenv scalar) : Prop := forall l k v, a l k v = b l k v.
Lemma eval_same s t : (forall w cs v, s w cs v = t w cs v) -> forall e r al al', aeq al al' -> eval scalar lit prim s e r al = eval scalar lit prim t e r al'.
Proof.
  intros H e. pattern e. apply tm_ind'; clear e; cbn [eval]; auto.
  - intros o ts IH r al al' E. f_equal. apply map_ext_in. intros x Hx. rewrite Forall_forall in IH. auto.
  - intros a cs is IH r al al' E. rewrite H. f_equal. apply map_ext_in. intros x Hx. rewrite Forall_forall in IH. f_equal. auto.
  - intros l k is IH r al al' E. rewrite E. f_equal. apply map_ext_in. intros x Hx. rewrite Forall_forall in IH. f_equal. auto.
  - intros l n accs k is IHn IHa IHi r al al' E. rewrite (IHn r al al' E).
    replace (map (fun t0 => toZ scalar (eval scalar lit prim s t0 r al)) is) with (map (fun t0 => toZ scalar (eval scalar lit prim t t0 r al')) is).
    2:{ apply map_ext_in. intros x Hx. rewrite Forall_forall in IHi. f_equal. symmetry. auto. }
    generalize (map (fun t0 => toZ scalar (eval scalar lit prim t t0 r al')) is). generalize (Z.to_nat (toZ scalar (eval scalar lit prim t n r al'))).
    set (fs := fun st => map (fun p => (eval scalar lit prim st (fst p), eval scalar lit prim st (snd p))) accs).
    assert (G : forall d j r al al', aeq al al' -> fst (nth j (fs s) (fun _ _ => d, fun _ _ => d)) r al = fst (nth j (fs t) (fun _ _ => d, fun _ _ => d)) r al' /\
      snd (nth j (fs s) (fun _ _ => d, fun _ _ => d)) r al = snd (nth j (fs t) (fun _ _ => d, fun _ _ => d)) r al').
    { intros d. unfold fs. clear -IHa. induction accs as [|p accs IH]; intros [|j] r al al' E; cbn [map nth fst snd]; auto; inversion_clear IHa as [|? ? [A B] C]; auto. }
    fold (fs s). fold (fs t). intros m. revert k. induction m as [|m IHm]; intros k v; cbn [iter].
    + apply (G (VZ 0)). exact E.
    + apply (G (VZ 0)). intros l' k' v'. unfold upd. destruct (Nat.eqb l l'); auto.
Qed.
(* Stores that hold the same but for some arrays. *)
Definition off (D : list nat) (s t : store) : Prop := forall w, ~ List.In w D -> forall cs v, s w cs v = t w cs v.
Lemma off_refl D s : off D s s. Proof. intros w _ cs v. reflexivity. Qed.
Lemma off_trans D s t u : off D s t -> off D t u -> off D s u.
Proof. intros H K w Hw cs v. rewrite (H w Hw). auto. Qed.
Lemma off_sym D s t : off D s t -> off D t s.
Proof. intros H w Hw cs v. symmetry. auto. Qed.
Lemma off_more D D' s t : incl D D' -> off D s t -> off D' s t.
Proof. intros I H w Hw. apply H. auto. Qed.
Lemma off_wr D s t w cs v x : off D s t -> off D (wr scalar s w cs v x) (wr scalar t w cs v x).
Proof. intros H w' Hw cs' v'. unfold wr. destruct (Nat.eqb w w'), (list_eq_dec bool_dec cs cs'), (list_eq_dec Z.eq_dec v v'); auto. Qed.
Lemma mem_in w l : mem w l = true <-> List.In w l.
Proof.
  unfold mem. rewrite existsb_exists. split; [intros (x & Hx & E); apply Nat.eqb_eq in E; now subst|].
  intros H. exists w. split; auto. apply Nat.eqb_refl.
Qed.
Lemma in_without w v D : List.In v (without w D) <-> List.In v D /\ v <> w.
Proof.
  unfold without. rewrite filter_In. split; intros [A B]; split; auto.
  - apply negb_true_iff, Nat.eqb_neq in B. congruence.
  - apply negb_true_iff, Nat.eqb_neq. congruence.
Qed.
Lemma off_without D s t w junk : off D s t -> off (without w D) (upd s w junk) (upd t w junk).
Proof.
  intros H v Hv cs is. unfold upd. destruct (Nat.eqb_spec w v); auto. apply H. intros C. apply Hv. apply in_without. auto.
Qed.
Lemma without_incl w D : incl (without w D) D.
Proof. intros v Hv. apply in_without in Hv. tauto. Qed.

Lemma ev_off D s t io e : off D s t -> clean D e = true -> ev s io e = ev t io e.
Proof.
  intros H C. destruct D as [|d D].
  { apply eval_same. { intros w cs v. apply H. auto. } intros l k v. reflexivity. }
  assert (L : forall w, List.In w (d :: D) -> loads w e = false).
  { intros w Hw. unfold clean in C. rewrite forallb_forall in C. specialize (C w Hw). now apply negb_true_iff in C. }
  clear C. unfold Semantics.ev. generalize (aenv0 scalar). revert L.
  assert (Sub : forall (ts : list tm) y, List.In y ts -> forall w, existsb (loads w) ts = false -> loads w y = false).
  { intros ts y Hy w E. destruct (loads w y) eqn:F; auto. assert (existsb (loads w) ts = true) by (apply existsb_exists; eauto). congruence. }
  pattern e. apply tm_ind'; clear e; cbn [eval loads]; auto; intros.
  - f_equal. apply map_ext_in. intros y Hy. rewrite Forall_forall in H0. apply H0; eauto.
  - rewrite (H a). 2:{ intros K. specialize (L a K). now rewrite Nat.eqb_refl in L. }
    f_equal. apply map_ext_in. intros y Hy. rewrite Forall_forall in H0. f_equal. apply H0; auto.
    intros w Hw. specialize (L w Hw). destruct (Nat.eqb w a); [discriminate|]. cbn in L. eapply Sub; eauto.
  - f_equal. apply map_ext_in. intros y Hy. rewrite Forall_forall in H0. f_equal. apply H0; eauto.
  - specialize (L d (or_introl eq_refl)). discriminate.
Qed.
Lemma evz_off D s t io is : off D s t -> forallb (clean D) is = true -> map (evz s io) is = map (evz t io) is.
Proof.
  intros H C. apply map_ext_in. intros i Hi. rewrite forallb_forall in C. unfold Semantics.evz. now rewrite (ev_off D s t) by auto.
Qed.
Lemma clean_less D D' e : incl D D' -> clean D' e = true -> clean D e = true.
Proof. unfold clean. rewrite !forallb_forall. auto. Qed.
Lemma cleans_less D D' is : incl D D' -> forallb (clean D') is = true -> forallb (clean D) is = true.
Proof. rewrite !forallb_forall. intros I H i Hi. eapply clean_less; eauto. Qed.

Lemma occurs_ok s x i : forall e io, occurs x e = false -> ev s (upd io x i) e = ev s io e.
Proof.
  intros e io. unfold Semantics.ev. generalize (aenv0 scalar). pattern e. apply tm_ind'; clear e; cbn [eval occurs]; auto; intros; try discriminate.
  - unfold upd. now rewrite H.
  - f_equal. apply map_ext_in. intros y Hy. rewrite Forall_forall in H. apply H; auto.
    destruct (occurs x y) eqn:E; auto. assert (existsb (occurs x) ts = true) by (apply existsb_exists; eauto). congruence.
  - f_equal. apply map_ext_in. intros y Hy. rewrite Forall_forall in H. f_equal. apply H; auto.
    destruct (occurs x y) eqn:E; auto. assert (existsb (occurs x) is = true) by (apply existsb_exists; eauto). congruence.
  - f_equal. apply map_ext_in. intros y Hy. rewrite Forall_forall in H. f_equal. apply H; auto.
    destruct (occurs x y) eqn:E; auto. assert (existsb (occurs x) is = true) by (apply existsb_exists; eauto). congruence.
Qed.

(* ---------- sums ---------- *)
Section Sums.
Variables (o : op) (zero : val).
Hypothesis C : forall a b, apply o [a; b] = apply o [b; a].
Hypothesis A : forall a b c, apply o [apply o [a; b]; c] = apply o [a; apply o [b; c]].
Hypothesis U : forall a, apply o [zero; a] = operand o a.
Hypothesis Z0 : operand o zero = zero.
Hypothesis O1 : forall a b, operand o (apply o [a; b]) = apply o [a; b].
Hypothesis O2 : forall a b, apply o [operand o a; b] = apply o [a; b].
Definition total := fold_right (fun a v => apply o [a; v]) zero.
Lemma total_typed l : operand o (total l) = total l.
Proof. destruct l; cbn; auto. Qed.
Lemma total_app l l' : total (l ++ l') = apply o [total l; total l'].
Proof. induction l as [|a l IH]; cbn; [now rewrite U, total_typed|]. unfold total in *. now rewrite IH, A. Qed.
Lemma combined_total l v : combined o zero l v -> (forall a, List.In a l -> operand o a = a) -> v = total l.
Proof.
  induction 1 as [v| |l l' v v' H1 IH1 H2 IH2|l l' v P H IH]; intros T.
  - cbn. rewrite C, U. symmetry. apply T. now left.
  - reflexivity.
  - rewrite total_app, <- IH1, <- IH2; auto; intros a Ha; apply T, in_or_app; auto.
  - rewrite IH by (intros a Ha; apply T; eapply Permutation_in; eauto). clear -C A P. unfold total. induction P; cbn; auto; [now rewrite IHP| |congruence].
    rewrite <- !A, (C y x). reflexivity.
Qed.
Lemma total_operands l : total (map (operand o) l) = total l.
Proof. unfold total. induction l as [|a l IH]; cbn; auto. now rewrite IH, O2. Qed.
Lemma in_turn vs v0 : apply o [fold_left (fun v e => apply o [v; e]) vs v0; zero] = total (v0 :: vs).
Proof.
  revert v0. induction vs as [|e vs IH]; intros v0; [reflexivity|]. cbn [fold_left]. rewrite IH. cbn. apply A.
Qed.
Lemma in_turn_typed vs v0 : (vs = [] -> operand o v0 = v0) -> fold_left (fun v e => apply o [v; e]) vs v0 = total (v0 :: vs).
Proof.
  intros H. rewrite <- in_turn, C, U. symmetry. destruct vs as [|e vs]; [now apply H|]. clear H. cbn [fold_left].
  assert (K : forall vs v, operand o v = v -> operand o (fold_left (fun v e => apply o [v; e]) vs v) = fold_left (fun v e => apply o [v; e]) vs v).
  { induction vs0 as [|e0 vs0 IH]; cbn; auto. }
  apply K. apply O1.
Qed.
End Sums.
Lemma wrap_shift z k : wrap (z + k * 2 ^ 64) = wrap z.
Proof. unfold wrap. replace (z + k * 2 ^ 64 + 2 ^ 63)%Z with (z + 2 ^ 63 + k * 2 ^ 64)%Z by ring. now rewrite Z_mod_plus_full. Qed.
Lemma wrap_is z : exists k, wrap z = (z + k * 2 ^ 64)%Z.
Proof. exists (- ((z + 2 ^ 63) / 2 ^ 64))%Z. unfold wrap. rewrite Z.mod_eq by lia. ring. Qed.
Lemma wrap_add a b : wrap (wrap a + b) = wrap (a + b).
Proof. destruct (wrap_is a) as (k & ->). rewrite <- (wrap_shift (a + b) k). f_equal. ring. Qed.
Lemma wrap_mul a b : wrap (wrap a * b) = wrap (a * b).
Proof. destruct (wrap_is a) as (k & ->). rewrite <- (wrap_shift (a * b) (k * b)). f_equal. ring. Qed.
Lemma wrap_wrap a : wrap (wrap a) = wrap a.
Proof. replace (wrap a) with (wrap a + 0)%Z at 1 by ring. rewrite wrap_add. f_equal. ring. Qed.
Lemma combines_ok o zero s io : combines ls o zero = true ->
  (forall a b, apply o [a; b] = apply o [b; a]) /\ (forall a b c, apply o [apply o [a; b]; c] = apply o [a; apply o [b; c]]) /\
  (forall a, apply o [ev s io zero; a] = operand o a) /\ operand o (ev s io zero) = ev s io zero /\
  (forall a b, operand o (apply o [a; b]) = apply o [a; b]) /\ (forall a b, apply o [operand o a; b] = apply o [a; b]).
Proof.
  intros H. destruct o; try discriminate.
  - destruct zero as [|[| |]| | | | |]; try discriminate. cbn. repeat split; intros; try reflexivity; f_equal; lia.
  - destruct zero as [|[|[| |]|]| | | | |]; try discriminate. cbn. repeat split; intros; try reflexivity; f_equal; try lia. destruct (toZ scalar a); reflexivity.
  - destruct zero as [|[| |]| | | | |]; try discriminate.
    change (ev s io (Int 0)) with (@VZ scalar 0). cbn [Semantics.apply Reorder.operand nth toZ]. repeat split; intros; f_equal.
    + f_equal. ring.
    + rewrite wrap_add. rewrite (Z.add_comm (toZ scalar a) (wrap _)), wrap_add. f_equal. ring.
    + apply wrap_wrap.
    + apply wrap_add.
  - destruct zero as [|[|[| |]|]| | | | |]; try discriminate.
    change (ev s io (Int 1)) with (@VZ scalar 1). cbn [Semantics.apply Reorder.operand nth toZ]. repeat split; intros; f_equal.
    + f_equal. ring.
    + rewrite wrap_mul. rewrite (Z.mul_comm (toZ scalar a) (wrap _)), wrap_mul. f_equal. ring.
    + f_equal. ring.
    + apply wrap_wrap.
    + apply wrap_mul.
  - destruct zero as [| | |o ts| | |]; try discriminate. destruct o; try discriminate.
    destruct ts as [|[|[| |]| | | | |] [|[|[| |]| | | | |] [|? ?]]]; try discriminate.
    cbn. repeat split; intros; try reflexivity; f_equal; [apply andb_comm|symmetry; apply andb_assoc].
  - destruct zero as [| | |o ts| | |]; try discriminate. destruct o; try discriminate.
    destruct ts as [|[|[| |]| | | | |] [|[|[| |]| | | | |] [|? ?]]]; try discriminate.
    cbn. repeat split; intros; try reflexivity; f_equal; [apply orb_comm|symmetry; apply orb_assoc].
  - destruct zero; try discriminate. cbn in H. destruct (monoid_ok scalar lit prim ls Hlaws name s0 H) as (C & A & U). cbn. auto 6.
Qed.

(* ---------- the loop in sequence does the same ---------- *)
Lemma keeps_written w c : forall own, keeps w own c = true -> forall v, List.In v (written c) -> List.In v own \/ List.In v (locals c).
Proof.
  induction c; cbn [keeps written locals]; intros own H v0 Hv; try contradiction.
  - apply andb_prop in H as [H1 H2]. apply in_app_or in Hv as [Hv|Hv]; [destruct (IHc1 own H1 v0 Hv)|destruct (IHc2 own H2 v0 Hv)]; auto; right; apply in_or_app; auto.
  - destruct Hv as [<-|[]]. apply andb_prop in H as [H _]. left. now apply mem_in.
  - apply andb_prop in H as [_ H]. destruct Hv as [<-|Hv]; [right; now left|]. destruct (IHc _ H v0 Hv) as [[->|K]|K]; auto; right; [now left|now right].
  - apply andb_prop in H as [_ H]. eauto.
  - apply andb_prop in H as [H H2]. apply andb_prop in H as [_ H1].
    apply in_app_or in Hv as [Hv|Hv]; [destruct (IHc1 own H1 v0 Hv)|destruct (IHc2 own H2 v0 Hv)]; auto; right; apply in_or_app; auto.
Qed.

(* An iteration that brings a number updates with it, and changes nothing else but what it declares. *)
Definition adds_up (c : cmd) : Prop := forall w cs is o D E own io s t v, update_of c = Some (w, cs, is, o) ->
  adds ls sums (In w cs is) D c = true -> sums_apart sums c = true -> apart_from w own c = true -> List.In w D -> ~ List.In w E -> incl own E -> incl (locals c) E ->
  forallb (clean E) is = true -> brings c io s v -> off D s t ->
  exists t', exec c io t t' /\ off E (wr scalar t w cs (map (evz t io) is) (apply o [t w cs (map (evz t io) is); v])) t'.
Definition simulates (c : cmd) : Prop := forall D io s s' t, updates ls sums D c = true -> sums_apart sums c = true -> runs c io s s' -> off D s t ->
  exists t', exec c io t t' /\ off D s' t'.

Lemma adds_assign w cs is e : adds_up (Assign w cs is e).
Proof.
  intros w0 cs0 is0 o D E own io s t v Hu Ha _ _ Hw HwE _ _ Hc Hb H.
  destruct e as [| | |o' [|a [|e [|? ?]]]| | |]; try discriminate. injection Hu as -> -> -> ->. cbn [adds] in Ha. apply andb_prop in Ha as [Ha Hce].
  apply tm_eqb_ok in Ha. subst a. cbn in Hb. subst v. eexists. split; [reflexivity|].
  rewrite (ev_off D s t io e H Hce). apply off_refl.
Qed.

Lemma adds_loop x c w cs is o D : adds_up c -> update_of c = Some (w, cs, is, o) -> adds ls sums (In w cs is) (w :: D) c = true -> sums_apart sums c = true -> apart_from w [] c = true ->
  forallb (fun i => negb (occurs x i)) is = true -> ~ List.In w D -> incl (locals c) D -> forallb (clean (w :: D)) is = true ->
  forall io s steps vs, Forall2 (fun i => brings c (upd io x (Z.of_nat i)) s) steps vs -> forall a t, off D (wr scalar s w cs (map (evz s io) is) a) t ->
  exists t', iterR scalar (fun i => exec c (upd io x (Z.of_nat i))) steps t t' /\
    off D (wr scalar s w cs (map (evz s io) is) (fold_left (fun v e => apply o [v; e]) vs a)) t'.
Proof.
  intros IH Hu Ha Hs Hf Ho HwD Hl Hc io s steps vs Hb. set (p := map (evz s io) is).
  assert (HcD : forallb (clean D) is = true) by (eapply cleans_less; [|exact Hc]; intros v Hv; now right).
  induction Hb as [|i v steps vs Hb _ IHs]; intros a t H. { exists t. split; [reflexivity|exact H]. }
  assert (Ht : off (w :: D) s t).
  { intros w' Hw' cs' v'. rewrite <- (H w') by (intros K; apply Hw'; now right). rewrite wr_array; auto. intros ->. apply Hw'. now left. }
  assert (Hp : map (evz t (upd io x (Z.of_nat i))) is = p).
  { rewrite <- (evz_off (w :: D) s t) by auto. apply map_ext_in. intros j Hj. rewrite forallb_forall in Ho. specialize (Ho _ Hj). apply negb_true_iff in Ho.
    unfold Semantics.evz. now rewrite occurs_ok. }
  destruct (IH w cs is o (w :: D) D [] (upd io x (Z.of_nat i)) s t v Hu Ha Hs Hf (or_introl eq_refl) HwD (fun v K => match K with end) Hl HcD Hb Ht) as (t1 & E1 & O1).
  rewrite Hp in O1.
  assert (Hold : t w cs p = a). { rewrite <- (H w HwD). unfold wr. rewrite Nat.eqb_refl. destruct (list_eq_dec bool_dec cs cs); [|congruence]. destruct (list_eq_dec Z.eq_dec p p); congruence. }
  rewrite Hold in O1. cbn [fold_left].
  destruct (IHs (apply o [a; v]) t1) as (t' & E' & O').
  { eapply off_trans; [|exact O1]. intros w' Hw' cs' v'. specialize (H w' Hw' cs' v'). revert H. unfold wr.
    destruct (Nat.eqb w w'), (list_eq_dec bool_dec cs cs'), (list_eq_dec Z.eq_dec p v'); auto. }
  exists t'. split; auto. exists t1. auto.
Qed.

Lemma both_ok c : simulates c /\ adds_up c.
Proof.
  assert (Loop : forall (c : cmd) D par x n, simulates c -> updates ls sums D c = true -> sums_apart sums c = true -> clean D n = true ->
    forall io s s' t, (exists is, (if par : bool then Permutation (seq 0 (Z.to_nat (evz s io n))) is else is = seq 0 (Z.to_nat (evz s io n))) /\
      iterR scalar (fun i => runs c (upd io x (Z.of_nat i))) is s s') -> off D s t -> exists t', exec (For par x n c) io t t' /\ off D s' t').
  { intros c0 D par x n IH Hu Ha Hn io s s' t (is & Hp & Hi) H.
    assert (K : exists t', iterR scalar (fun i => exec c0 (upd io x (Z.of_nat i))) is t t' /\ off D s' t').
    { clear Hp. revert s t H Hi. induction is as [|i is IHis]; cbn [iterR]; intros s t H Hi. { subst. eauto. }
      destruct Hi as (s1 & H1 & H2). destruct (IH D _ _ _ _ Hu Ha H1 H) as (t1 & E1 & S1). destruct (IHis _ _ S1 H2) as (t' & E2 & S2). eauto. }
    destruct K as (t' & Kt & S'). exists t'. split; auto. exists is. split; auto.
    unfold Semantics.evz in *. now rewrite <- (ev_off D s t io n H Hn). }
  induction c as [|c1 [IH1 IHa1] c2 [IH2 IHa2]|w cs is e|w c [IH IHa]|par x n c [IH IHa]|b c1 [IH1 _] c2 [IH2 _]]; split.
  - intros D io s s' t _ _ Hr H. cbn in Hr. subst. exists t. split; auto. reflexivity.
  - intros w cs is o D E own io s t v Hu. discriminate.
  - intros D io s s' t Hu Ha (s1 & R1 & R2) H. cbn [updates sums_apart] in Hu, Ha. apply andb_prop in Hu as [U1 U2]. apply andb_prop in Ha as [A1 A2].
    destruct (IH1 D _ _ _ _ U1 A1 R1 H) as (t1 & E1 & S1). destruct (IH2 D _ _ _ _ U2 A2 R2 S1) as (t' & E2 & S2). exists t'. split; auto. exists t1. auto.
  - intros w cs is o D E own io s t v Hu Had Hs Hf Hw HwE Hown Hl Hc (s1 & R1 & Hb) H. cbn [adds sums_apart apart_from locals update_of] in *.
    apply andb_prop in Had as [U1 Had]. apply andb_prop in Hs as [A1 A2]. apply andb_prop in Hf as [K1 K2].
    assert (L1 : incl (locals c1) E) by (intros v1 Hv; apply Hl, in_or_app; auto). assert (L2 : incl (locals c2) E) by (intros v1 Hv; apply Hl, in_or_app; auto).
    destruct (IH1 D _ _ _ _ U1 A1 R1 H) as (t1 & E1 & S1).
    assert (T1 : off E t t1).
    { intros w' Hw' cs' v'. symmetry. eapply unwritten; [|exact E1]. intros C. apply Hw'. destruct (keeps_written w c1 own K1 w' C); auto. }
    destruct (IHa2 w cs is o D E own io s1 t1 v Hu Had A2 K2 Hw HwE Hown L2 Hc Hb S1) as (t' & E2 & S2).
    exists t'. split; [exists t1; auto|]. rewrite (evz_off E t t1 io is T1 Hc). eapply off_trans; [|exact S2].
    rewrite (T1 w HwE). apply off_wr. exact T1.
  - intros D io s s' t Hu _ Hr H. cbn [updates] in Hu. cbn in Hr. subst. eexists. split; [reflexivity|].
    cbn [forallb] in Hu. apply andb_prop in Hu as [H1 H2]. rewrite (ev_off D s t io e H H1), (evz_off D s t io is H H2). apply off_wr. exact H.
  - apply adds_assign.
  - intros D io s s' t Hu Ha (junk & Hr) H. cbn [updates sums_apart] in Hu, Ha.
    destruct (IH (without w D) io (upd s w junk) s' (upd t w junk) Hu Ha Hr (off_without D s t w junk H)) as (t' & E & S').
    exists t'. split; [exists junk; auto|]. eapply off_more; [apply without_incl|exact S'].
  - intros w0 cs is o D E own io s t v Hu Had Hs Hf Hw HwE Hown Hl Hc (junk & Hb) H. cbn [adds sums_apart apart_from locals update_of] in *.
    apply andb_prop in Hf as [K1 K2]. apply negb_true_iff, Nat.eqb_neq in K1.
    assert (HE : List.In w E) by (apply Hl; now left).
    assert (T : off E (upd t w junk) t).
    { intros v1 Hv1 cs1 is1. unfold upd. destruct (Nat.eqb_spec w v1); [now subst|reflexivity]. }
    destruct (IHa w0 cs is o (without w D) E (w :: own) io (upd s w junk) (upd t w junk) v Hu Had Hs K2) as (t' & E' & S'); auto.
    { apply in_without. auto. }
    { intros v1 [<-|Hv1]; auto. }
    { intros v1 Hv1. apply Hl. now right. }
    { apply off_without. exact H. }
    exists t'. split; [exists junk; auto|]. rewrite <- (evz_off E _ _ io is T Hc). eapply off_trans; [|exact S'].
    rewrite (T w0 HwE). apply off_wr. apply off_sym. exact T.
  - intros D io s s' t Hu Ha Hr H. cbn [updates sums_apart] in Hu, Ha. apply andb_prop in Hu as [Un Hu]. apply andb_prop in Ha as [A1 A2].
    cbn [Reorder.runs] in Hr. destruct (sum_at sums x) as [zero|] eqn:Ex.
    2:{ apply (Loop c D par x n) with (s := s); auto. }
    destruct (update_of c) as [[[[w cs] is] o]|] eqn:Eu; [|discriminate].
    apply andb_prop in A2 as [A2 A3].
    apply andb_prop in Hu as [Hu U6]. apply andb_prop in Hu as [Hu U5]. apply andb_prop in Hu as [Hu U4]. apply andb_prop in Hu as [Hu U3]. apply andb_prop in Hu as [U1 U2].
    apply negb_true_iff in U1, U2. subst par.
    assert (HwD : ~ List.In w D) by (intros K; apply mem_in in K; congruence).
    assert (Hl : incl (locals c) D). { intros v Hv. rewrite forallb_forall in U3. apply mem_in. auto. }
    destruct (combines_ok o zero s io U5) as (C & A & U & Z0 & O1 & O2).
    destruct Hr as (vs & v & Hb & Hc & ->).
    set (p := map (evz s io) is) in *.
    destruct (adds_loop x c w cs is o D IHa Eu U6 A1 A2 A3 HwD Hl U4 io s _ vs Hb (s w cs p) t) as (t' & Ht & Hs).
    { intros w' Hw' cs' v'. rewrite <- (H w' Hw'). unfold wr. destruct (Nat.eqb_spec w w'); auto. subst w'.
      destruct (list_eq_dec bool_dec cs cs'); auto. subst cs'. destruct (list_eq_dec Z.eq_dec _ v'); auto. now subst v'. }
    exists t'. split.
    { exists (seq 0 (Z.to_nat (evz t io n))). split; auto. unfold Semantics.evz in *. now rewrite <- (ev_off D s t io n H Un). }
    eapply off_trans; [|exact Hs]. clear Hs Ht.
    assert (Hv : v = total o (ev s io zero) (s w cs p :: vs)).
    { rewrite (combined_total o (ev s io zero) C A U Z0 O1 _ v Hc).
      - apply total_operands; auto.
      - intros a Ha. apply in_map_iff in Ha as (b & <- & _). clear. destruct o; try reflexivity; cbn [Reorder.operand toZ]; now rewrite wrap_wrap. }
    assert (Len : List.length (seq 0 (Z.to_nat (evz s io n))) = List.length vs). { clear -Hb. induction Hb; cbn; congruence. }
    destruct (idle o _) eqn:Ei.
    + assert (vs = []). { destruct vs; auto. rewrite Len in Ei. destruct o; discriminate. } subst vs. cbn [fold_left].
      intros w' Hw' cs' v'. unfold wr. destruct (Nat.eqb_spec w w'); auto. subst w'.
      destruct (list_eq_dec bool_dec cs cs'); auto. subst cs'. destruct (list_eq_dec Z.eq_dec _ v'); auto. now subst v'.
    + rewrite Hv. rewrite (in_turn_typed o (ev s io zero) C A U O1); [apply off_refl|].
      intros ->. rewrite Len in Ei. destruct o; try discriminate. reflexivity.
  - intros w cs is o D E own io s t v Hu. discriminate.
  - intros D io s s' t Hu Ha Hr H. cbn [updates sums_apart] in Hu, Ha. apply andb_prop in Hu as [Hu U2]. apply andb_prop in Hu as [U0 U1]. apply andb_prop in Ha as [A1 A2].
    cbn in Hr |- *. rewrite (ev_off D s t io b H U0) in Hr. destruct (truth scalar (ev t io b)).
    + apply (IH1 D _ _ _ _ U1 A1 Hr H).
    + apply (IH2 D _ _ _ _ U2 A2 Hr H).
  - intros w cs is o D E own io s t v Hu. discriminate.
Qed.

(* There is always a way to combine. *)
Lemma combined_any o zero l : exists v, combined o zero l v.
Proof.
  induction l as [|a l [v Hv]]. { exists zero. constructor. }
  exists (apply o [a; v]). apply (both scalar prim o zero [a] l a v); auto. constructor.
Qed.
Lemma runs_total c : (forall io s, exists s', runs c io s s') /\ (update_of c <> None -> forall io s, exists v, brings c io s v).
Proof.
  assert (L : forall R, (forall i s, exists s', R i s s') -> forall is s, exists s', iterR scalar R is s s').
  { intros R HR is; induction is as [|i is IH]; cbn; intros s; eauto. destruct (HR i s) as [s1 H1]. destruct (IH s1) as [s2 H2]. eauto. }
  induction c as [|c1 [IH1 IHa1] c2 [IH2 IHa2]|w cs is e|w c [IH IHa]|par x n c [IH IHa]|b c1 [IH1 _] c2 [IH2 _]]; split; cbn [update_of]; try congruence;
    intros; cbn [Reorder.runs Reorder.brings]; eauto.
  - destruct (IH1 io s) as [s1 H1]. destruct (IH2 io s1) as [s2 H2]. eauto.
  - destruct (IH1 io s) as [s1 H1]. destruct (IHa2 H io s1) as [v H2]. eauto.
  - destruct e as [| | |o [|a [|e [|? ?]]]| | |]; try congruence. eauto.
  - destruct (IH io (upd s w (s w))); eauto.
  - destruct (IHa H io (upd s w (s w))); eauto.
  - assert (K : exists s', exists is, (if par then Permutation (seq 0 (Z.to_nat (evz s io n))) is else is = seq 0 (Z.to_nat (evz s io n))) /\
        iterR scalar (fun i => runs c (upd io x (Z.of_nat i))) is s s').
    { destruct (L (fun i => runs c (upd io x (Z.of_nat i))) (fun i s => IH _ s) (seq 0 (Z.to_nat (evz s io n))) s) as [s' H].
      exists s', (seq 0 (Z.to_nat (evz s io n))). split; auto. destruct par; auto. }
    cbv zeta. destruct (sum_at sums x) as [zero|]; auto. destruct (update_of c) as [[[[w cs] is] o]|]; auto.
    assert (V : exists vs, Forall2 (fun i => brings c (upd io x (Z.of_nat i)) s) (seq 0 (Z.to_nat (evz s io n))) vs).
    { clear K. induction (seq 0 (Z.to_nat (evz s io n))) as [|i l [vs IHl]]. { exists []. constructor. }
      destruct (IHa ltac:(congruence) (upd io x (Z.of_nat i)) s) as [v Hv]. exists (v :: vs). constructor; auto. }
    destruct V as [vs Hvs]. destruct (combined_any o (ev s io zero) (map (operand o) (s w cs (map (evz s io) is) :: vs))) as [v Hv]. eauto 8.
  - destruct (truth _ _); auto.
Qed.
End Sound.

Theorem sums_up_sound ct : refines ct -> sums_ok ct = true -> sums_up ct.
Proof.
  intros R H. unfold sums_ok in H. cbv zeta in H. apply andb_prop in H as [H Hd]. apply andb_prop in H as [H Ho]. apply andb_prop in H as [Ha U].
  split; auto. intros scalar lit prim Hl size before Hz Has Hidx. destruct (R scalar lit prim Hl size before Hz Has Hidx) as [_ Hafter].
  split; [apply runs_total|]. intros after Hr.
  destruct (proj1 (both_ok scalar lit prim (laws ct) (sums ct) Hl (target ct)) _ size before after before U Ha Hr (off_refl scalar _ before)) as (t & He & Hs).
  destruct (Hafter t He) as [A B]. split.
  - intros cs ds Hin is His. rewrite Hs. { eapply A; eauto. } intros K. apply mem_in in K. now rewrite K in Ho.
  - intros w Hw cs is. rewrite Hs. { apply B. exact Hw. } intros K. rewrite forallb_forall in Hd. specialize (Hd _ K). apply mem_in in Hd. auto.
Qed.

(* Refused: iterations that read the number, that share an array, that leave something for afterwards; an operation whose laws nobody claims. *)
Definition summing (c : cmd) (after : tm) (ls : list law) : certificate :=
  let numbers ds := [([], (Num "f32", ds))] in let array ds := ([([], "f32"%string)], ds) in
  {| sizes := 1; assume := [Var 0]; example := [0%Z]; args := [(0, numbers [Var 0])]; returns := numbers [];
     source := EVar 0; dims := [(0, array [Var 0]); (1, array []); (2, array []); (3, array [])]; out := 1; laws := ls; sums := [(1, Lit "0")];
     target := Local 2 (Seq (Assign 2 [] [] (Lit "0")) (Seq (For false 1 (Var 0) c) (Assign 1 [] [] after))) |}.
Definition plus (e : tm) : cmd := Assign 2 [] [] (Op (Scalar "add") [In 2 [] []; e]).
Definition its_own : cmd := Local 3 (Seq (Assign 3 [] [] (In 0 [] [Var 1])) (plus (In 3 [] []))).
Example some_refused :
  let laws := [Commutes "add"; Associates "add"; Neutral "0" "add"] in
  map (fun p => sums_ok (summing (fst (fst p)) (snd (fst p)) (snd p))) [
    (its_own, In 2 [] [], laws);
    (its_own, In 2 [] [], [Commutes "add"]);
    (its_own, In 3 [] [], laws);
    (Local 3 (Seq (Assign 3 [] [] (In 2 [] [])) (plus (In 3 [] []))), In 2 [] [], laws);
    (Seq (Assign 1 [] [] (In 0 [] [Var 1])) (plus (In 1 [] [])), In 2 [] [], laws);
    (plus (In 2 [] []), In 2 [] [], laws);
    (Seq (plus (Lit "1")) (plus (Lit "1")), In 2 [] [], laws)]
  = [true; false; false; false; false; false; false].
Proof. vm_compute. reflexivity. Qed.
