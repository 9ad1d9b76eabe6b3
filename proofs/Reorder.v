(* Sums in parallel: loops that update one number in every iteration, and are run by threads that each combine what they meet, beginning with a constant, and
   combine in the end, in an order and a grouping that are left open. Where the operation has the laws that the certificate lists, the loop in sequence
   does the same, and that one the other checks speak of. *)
From Coq Require Import ZArith List String Bool Lia Arith Permutation.
From Lozenge Require Import Syntax Semantics Poly Norm Rep Source Regroup Target TargetSound Checker Check Lazy.
Import ListNotations.

Definition sum_at (sums : list (nat * string)) (x : nat) : option string :=
  match find (fun p => Nat.eqb (fst p) x) sums with Some p => Some (snd p) | None => None end.

(* ---------- what is checked ---------- *)
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
Section Check.
Variable ls : list law.
Variable sums : list (nat * string).
Fixpoint updates (c : cmd) : bool :=
  match c with
  | Skip | Assign _ _ _ _ => true
  | Seq a b | If _ a b => updates a && updates b
  | Local _ c => updates c
  | For par x n c => match sum_at sums x with
      | None => updates c
      | Some zero => match c with
          | Assign w cs is (Op (Scalar o) [In w' cs' is'; e]) =>
              negb par && tm_eqb (In w cs is) (In w' cs' is') && negb (loads w e) && forallb (fun i => negb (occurs x i) && negb (loads w i)) is && monoid ls o zero
          | _ => false end
      end
  end.
End Check.

(* ---------- what it means ---------- *)
Section Meaning.
Variable scalar : Type.
Variable lit : string -> val scalar.
Variable prim : string -> list (val scalar) -> val scalar.
Variable sums : list (nat * string).
Notation val := (val scalar). Notation store := (store scalar).
Notation ev := (Semantics.ev scalar lit prim).
Notation evz := (Semantics.evz scalar lit prim).

(* Some way to combine all of these, with the constant as often as one likes. *)
Inductive combined (o : string) (zero : val) : list val -> val -> Prop :=
| one v : combined o zero [v] v
| nothing : combined o zero [] zero
| both l l' v v' : combined o zero l v -> combined o zero l' v' -> combined o zero (l ++ l') (prim o [v; v'])
| moved l l' v : Permutation l l' -> combined o zero l v -> combined o zero l' v.

(* As [exec], but for the sums: the number that was there before and those of all iterations are combined somehow. *)
Fixpoint runs (c : cmd) (io : nat -> Z) (s s' : store) : Prop :=
  match c with
  | Skip => s' = s
  | Seq a b => exists s1, runs a io s s1 /\ runs b io s1 s'
  | Assign w cs is e => s' = wr scalar s w cs (map (evz s io) is) (ev s io e)
  | Local w c => exists junk, runs c io (upd s w junk) s'
  | For par x n c =>
      let steps := seq 0 (Z.to_nat (evz s io n)) in
      match sum_at sums x, c with
      | Some zero, Assign w cs is (Op (Scalar o) [_; e]) => exists v,
          combined o (lit zero) (s w cs (map (evz s io) is) :: map (fun i => ev s (upd io x (Z.of_nat i)) e) steps) v /\
          s' = wr scalar s w cs (map (evz s io) is) v
      | _, _ => exists is,
          (if par then Permutation steps is else is = steps) /\ iterR scalar (fun i => runs c (upd io x (Z.of_nat i))) is s s'
      end
  | If b c1 c2 => if truth scalar (ev s io b) then runs c1 io s s' else runs c2 io s s'
  end.
End Meaning.

(* However sums in parallel are combined, the loops end, and the result is that of the program. *)
Definition sums_up (ct : certificate) : Prop :=
  forall (scalar : Type) (lit : string -> val scalar) (prim : string -> list (val scalar) -> val scalar),
  (forall l, List.In l (laws ct) -> law_holds scalar lit prim l) ->
  forall (size : nat -> Z) (before : store scalar),
  (forall x, sizes ct <= x -> size x = 0%Z) ->
  Forall (fun t => (0 <= Semantics.evz scalar lit prim before size t)%Z) (assume ct) ->
  (exists after, runs scalar lit prim (sums ct) (target ct) size before after) /\
  forall after, runs scalar lit prim (sums ct) (target ct) size before after ->
    (forall cs extents, List.In (cs, extents) (result ct) -> forall is,
       Forall2 (fun i n => (0 <= i < Semantics.evz scalar lit prim before size n)%Z) is extents ->
       after (out ct) cs is = den scalar lit prim (Semantics.evz scalar lit prim before size) (source ct) before cs is) /\
    (forall w, ~ List.In w (written (target ct)) -> forall cs is, after w cs is = before w cs is).

Section Sound.
Variable scalar : Type.
Variable lit : string -> val scalar.
Variable prim : string -> list (val scalar) -> val scalar.
Variable ls : list law.
Variable sums : list (nat * string).
Hypothesis Hlaws : forall l, List.In l ls -> law_holds scalar lit prim l.
Notation val := (val scalar). Notation store := (store scalar).
Notation ev := (Semantics.ev scalar lit prim).
Notation evz := (Semantics.evz scalar lit prim).
Notation runs := (runs scalar lit prim sums).
Notation exec := (exec scalar lit prim).
Notation combined := (combined scalar prim).

(* Stores that hold the same. *)
Definition seq_ (s t : store) : Prop := forall w cs v, s w cs v = t w cs v.
Definition aeq (a b : aenv scalar) : Prop := forall l k v, a l k v = b l k v.
Lemma eval_same s t : seq_ s t -> forall e r al al', aeq al al' -> eval scalar lit prim s e r al = eval scalar lit prim t e r al'.
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
Lemma ev_same s t io e : seq_ s t -> ev s io e = ev t io e.
Proof. intros H. apply eval_same; auto. intros l k v. reflexivity. Qed.
Lemma evz_same s t io : seq_ s t -> forall is, map (evz s io) is = map (evz t io) is.
Proof. intros H is. apply map_ext. intros i. unfold Semantics.evz. now rewrite (ev_same s t). Qed.
Lemma wr_same s t w cs v x : seq_ s t -> seq_ (wr scalar s w cs v x) (wr scalar t w cs v x).
Proof. intros H w' cs' v'. unfold wr. destruct (Nat.eqb w w'), (list_eq_dec bool_dec cs cs'), (list_eq_dec Z.eq_dec v v'); auto. Qed.

(* ---------- sums ---------- *)
Lemma big_app o zero : (forall a b, prim o [a; b] = prim o [b; a]) -> (forall a b c, prim o [prim o [a; b]; c] = prim o [a; prim o [b; c]]) ->
  (forall a, prim o [zero; a] = a) ->
  let f := fold_right (fun a v => prim o [a; v]) zero in
  (forall l l', f (l ++ l') = prim o [f l; f l']) /\ (forall l v, combined o zero l v -> v = f l).
Proof.
  intros C A U f.
  assert (App : forall l l', f (l ++ l') = prim o [f l; f l']).
  { induction l as [|a l IH]; intros l'; cbn [app]; unfold f in *; cbn [fold_right]; [now rewrite U|]. now rewrite IH, A. }
  split; auto. intros l v H. induction H as [v| |l l' v v' H1 IH1 H2 IH2|l l' v P H IH].
  - unfold f. cbn. rewrite C. now rewrite U.
  - reflexivity.
  - rewrite App. now rewrite IH1, IH2.
  - rewrite IH. clear -C A P. unfold f. induction P; cbn; auto; [now rewrite IHP| |congruence].
    rewrite <- !A, (C y x). reflexivity.
Qed.

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
(* Nothing but one array differs. *)
Definition but (w : nat) (s t : store) : Prop := forall w', w' <> w -> forall cs v, s w' cs v = t w' cs v.
Lemma loads_ok w s t : but w s t -> forall e io, loads w e = false -> ev s io e = ev t io e.
Proof.
  intros H e io. unfold Semantics.ev. generalize (aenv0 scalar). pattern e. apply tm_ind'; clear e; cbn [eval loads]; auto; intros; try discriminate.
  - f_equal. apply map_ext_in. intros y Hy. rewrite Forall_forall in H0. apply H0; auto.
    destruct (loads w y) eqn:E; auto. assert (existsb (loads w) ts = true) by (apply existsb_exists; eauto). congruence.
  - destruct (Nat.eqb_spec w a); [discriminate|]. cbn in H1. rewrite H by congruence. f_equal. apply map_ext_in. intros y Hy. rewrite Forall_forall in H0. f_equal. apply H0; auto.
    destruct (loads w y) eqn:E; auto. assert (existsb (loads w) is = true) by (apply existsb_exists; eauto). congruence.
  - f_equal. apply map_ext_in. intros y Hy. rewrite Forall_forall in H0. f_equal. apply H0; auto.
    destruct (loads w y) eqn:E; auto. assert (existsb (loads w) is = true) by (apply existsb_exists; eauto). congruence.
Qed.
Lemma map_loads w s t io is : but w s t -> forallb (fun i => negb (loads w i)) is = true -> map (evz s io) is = map (evz t io) is.
Proof.
  intros H E. apply map_ext_in. intros i Hi. rewrite forallb_forall in E. specialize (E _ Hi). apply negb_true_iff in E.
  unfold Semantics.evz. now rewrite (loads_ok w s t H).
Qed.

(* The loop in sequence leaves the sum from the left. *)
Lemma in_order x w cs is o e io v0 : (forall y, forallb (fun i => negb (occurs x i) && negb (loads w i)) is = y -> y = true) -> loads w e = false ->
  forall l s0 t, but w s0 t -> t w cs (map (evz s0 io) is) = v0 -> (forall w' cs' v', w' <> w \/ cs' <> cs \/ v' <> map (evz s0 io) is -> t w' cs' v' = s0 w' cs' v') ->
  exists t', iterR scalar (fun i => exec (Assign w cs is (Op (Scalar o) [In w cs is; e])) (upd io x (Z.of_nat i))) l t t' /\
    seq_ (wr scalar s0 w cs (map (evz s0 io) is) (fold_left (fun v i => prim o [v; ev s0 (upd io x (Z.of_nat i)) e]) l v0)) t'.
Proof.
  intros His0 He. assert (His := His0 _ eq_refl). clear His0.
  assert (Hl : forallb (fun i => negb (loads w i)) is = true).
  { apply forallb_forall. intros i Hi. rewrite forallb_forall in His. specialize (His _ Hi). apply andb_prop in His. tauto. }
  assert (Ho : forall s i, map (evz s (upd io x i)) is = map (evz s io) is).
  { intros s i. apply map_ext_in. intros j Hj. rewrite forallb_forall in His. specialize (His _ Hj). apply andb_prop in His as [A _]. apply negb_true_iff in A.
    unfold Semantics.evz. now rewrite occurs_ok. }
  intros l. revert v0. induction l as [|i l IH]; intros v0 s0 t Hb Hv Hd.
  - exists t. split; [reflexivity|]. intros w' cs' v'. cbn [fold_left]. unfold wr.
    destruct (Nat.eqb_spec w w') as [<-|Hw]; [|symmetry; apply Hd; auto].
    destruct (list_eq_dec bool_dec cs cs') as [<-|Hc]; [|symmetry; apply Hd; auto].
    destruct (list_eq_dec Z.eq_dec _ v') as [<-|Hv']; [|symmetry; apply Hd; auto]. auto.
  - set (x1 := prim o [v0; ev s0 (upd io x (Z.of_nat i)) e]).
    set (t1 := wr scalar t w cs (map (evz t (upd io x (Z.of_nat i))) is) (ev t (upd io x (Z.of_nat i)) (Op (Scalar o) [In w cs is; e]))).
    assert (P : map (evz t (upd io x (Z.of_nat i))) is = map (evz s0 io) is).
    { rewrite Ho. symmetry. apply (map_loads w); auto. }
    assert (X : ev t (upd io x (Z.of_nat i)) (Op (Scalar o) [In w cs is; e]) = x1).
    { unfold x1. change (prim o [t w cs (map (evz t (upd io x (Z.of_nat i))) is); ev t (upd io x (Z.of_nat i)) e] = prim o [v0; ev s0 (upd io x (Z.of_nat i)) e]).
      rewrite P, Hv. f_equal. f_equal. f_equal. symmetry. apply (loads_ok w); auto. }
    destruct (IH x1 s0 t1) as (t' & Ht & Hs).
    + intros w' Hw cs' v'. unfold t1. rewrite wr_array by congruence. auto.
    + unfold t1. rewrite P, X. unfold wr. rewrite Nat.eqb_refl. destruct (list_eq_dec bool_dec cs cs); [|congruence]. destruct (list_eq_dec Z.eq_dec _ _); congruence.
    + intros w' cs' v' D. unfold t1. rewrite P, X. unfold wr. destruct (Nat.eqb_spec w w') as [<-|]; [|apply Hd; auto].
      destruct (list_eq_dec bool_dec cs cs') as [<-|]; [|apply Hd; auto]. destruct (list_eq_dec Z.eq_dec _ v') as [<-|]; [|apply Hd; auto].
      exfalso. destruct D as [D|[D|D]]; congruence.
    + exists t'. split; auto. cbn [iterR]. exists t1. split; auto. reflexivity.
Qed.

Lemma runs_exec c : forall io s s' t, updates ls sums c = true -> runs c io s s' -> seq_ s t -> exists t', exec c io t t' /\ seq_ s' t'.
Proof.
  assert (Loop : forall (c : cmd) par x n, (forall io s s' t, runs c io s s' -> seq_ s t -> exists t', exec c io t t' /\ seq_ s' t') ->
    forall io s s' t, (exists is, (if par : bool then Permutation (seq 0 (Z.to_nat (evz s io n))) is else is = seq 0 (Z.to_nat (evz s io n))) /\
      iterR scalar (fun i => runs c (upd io x (Z.of_nat i))) is s s') -> seq_ s t -> exists t', exec (For par x n c) io t t' /\ seq_ s' t').
  { intros c0 par x n IH io s s' t (is & Hp & Hi) H.
    assert (K : exists t', iterR scalar (fun i => exec c0 (upd io x (Z.of_nat i))) is t t' /\ seq_ s' t').
    { clear Hp. revert s t H Hi. induction is as [|i is IHis]; cbn [iterR]; intros s t H Hi. { subst. eauto. }
      destruct Hi as (s1 & H1 & H2). destruct (IH _ _ _ _ H1 H) as (t1 & E1 & S1). destruct (IHis _ _ S1 H2) as (t' & E2 & S2). eauto. }
    destruct K as (t' & Kt & S'). exists t'. split; auto. exists is. split; auto.
    unfold Semantics.evz in *. now rewrite <- (ev_same s t io n H). }
  induction c; intros io s s' t Hu Hr H; cbn [updates] in Hu.
  - cbn in Hr. subst. exists t. split; auto. reflexivity.
  - apply andb_prop in Hu as [H1 H2]. destruct Hr as (s1 & R1 & R2). destruct (IHc1 _ _ _ _ H1 R1 H) as (t1 & E1 & S1).
    destruct (IHc2 _ _ _ _ H2 R2 S1) as (t' & E2 & S2). exists t'. split; auto. exists t1. auto.
  - cbn in Hr. subst. eexists. split; [reflexivity|]. rewrite (ev_same s t), (evz_same s t) by auto. apply wr_same; auto.
  - destruct Hr as (junk & Hr). destruct (IHc io (upd s w junk) s' (upd t w junk) Hu Hr) as (t' & E & S').
    { intros w' cs v. unfold upd. destruct (Nat.eqb w w'); auto. }
    exists t'. split; auto. exists junk. auto.
  - cbn [Reorder.runs] in Hr. destruct (sum_at sums x) as [zero|] eqn:Ex.
    2:{ apply (Loop c par x n) with (s := s); auto. intros. eapply IHc; eauto. }
    destruct c as [| |w cs is e| | |]; try discriminate. destruct e as [| | |o ts| | |]; try discriminate. destruct o; try discriminate.
    destruct ts as [|a ts]; [discriminate|]. destruct a as [| | | |w' cs' is'| |]; try discriminate. destruct ts as [|e [|? ?]]; try discriminate.
    apply andb_prop in Hu as [Hu U5]. apply andb_prop in Hu as [Hu U4]. apply andb_prop in Hu as [Hu U3]. apply andb_prop in Hu as [U1 U2].
    apply tm_eqb_ok in U2. injection U2 as <- <- <-. apply negb_true_iff in U1, U3. subst par.
    destruct (monoid_ok scalar lit prim ls Hlaws name zero U5) as (C & A & U).
    destruct Hr as (v & Hc & ->). destruct (big_app name (lit zero) C A U) as [_ Hsum]. apply Hsum in Hc.
    destruct (in_order x w cs is name e io (t w cs (map (evz t io) is)) ltac:(intros; congruence) U3 (seq 0 (Z.to_nat (evz t io n))) t t) as (t' & Ht & Hs); auto.
    { intros w' _ cs' v'. reflexivity. }
    exists t'. split. { exists (seq 0 (Z.to_nat (evz t io n))). split; auto. }
    intros w0 cs0 v0. rewrite <- Hs. rewrite (evz_same s t io H is).
    assert (V : v = fold_left (fun v i => prim name [v; ev t (upd io x (Z.of_nat i)) e]) (seq 0 (Z.to_nat (evz t io n))) (t w cs (map (evz t io) is))).
    { rewrite Hc. cbn [fold_right]. rewrite (evz_same s t io H is). unfold Semantics.evz at 2. rewrite (ev_same s t io n H). fold (evz t io n). rewrite (H w cs).
      generalize (seq 0 (Z.to_nat (evz t io n))) (t w cs (map (evz t io) is)). clear -C A U H. intros l. induction l as [|i l IH]; intros v0; cbn [map fold_right fold_left].
      - rewrite C. apply U.
      - rewrite <- IH. rewrite (ev_same s t _ e H). now rewrite A. }
    rewrite V. apply wr_same; auto.
  - apply andb_prop in Hu as [H1 H2]. cbn in Hr |- *. rewrite (ev_same s t io b H) in Hr. destruct (truth scalar (ev t io b)).
    + apply (IHc1 _ _ _ _ H1 Hr H).
    + apply (IHc2 _ _ _ _ H2 Hr H).
Qed.

(* There is always a way to combine. *)
Lemma combined_any o zero l : exists v, combined o zero l v.
Proof.
  induction l as [|a l [v Hv]]. { exists zero. constructor. }
  exists (prim o [a; v]). apply (both scalar prim o zero [a] l a v); auto. constructor.
Qed.
Lemma runs_total c : forall io s, exists s', runs c io s s'.
Proof.
  assert (L : forall R, (forall i s, exists s', R i s s') -> forall is s, exists s', iterR scalar R is s s').
  { intros R HR is; induction is as [|i is IH]; cbn; intros s; eauto. destruct (HR i s) as [s1 H1]. destruct (IH s1) as [s2 H2]. eauto. }
  induction c; intros io s; cbn [Reorder.runs]; eauto.
  - destruct (IHc1 io s) as [s1 H1]. destruct (IHc2 io s1) as [s2 H2]. eauto.
  - destruct (IHc io (upd s w (s w))); eauto.
  - assert (K : exists s', exists is, (if par then Permutation (seq 0 (Z.to_nat (evz s io n))) is else is = seq 0 (Z.to_nat (evz s io n))) /\
        iterR scalar (fun i => runs c (upd io x (Z.of_nat i))) is s s').
    { destruct (L (fun i => runs c (upd io x (Z.of_nat i))) (fun i s => IHc _ s) (seq 0 (Z.to_nat (evz s io n))) s) as [s' H].
      exists s', (seq 0 (Z.to_nat (evz s io n))). split; auto. destruct par; auto. }
    cbv zeta. destruct (sum_at sums x) as [zero|]; auto. destruct c; auto. destruct e; auto. destruct o; auto. destruct ts as [|a [|e [|? ?]]]; auto.
    match goal with |- context [combined ?o ?z ?l] => destruct (combined_any o z l) as [v Hv] end. eauto.
  - destruct (truth _ _); auto.
Qed.
End Sound.

Theorem sums_up_sound ct : refines ct -> updates (laws ct) (sums ct) (target ct) = true -> sums_up ct.
Proof.
  intros R U scalar lit prim Hl size before Hz Has. destruct (R scalar lit prim Hl size before Hz Has) as [_ Hafter].
  split; [apply runs_total|]. intros after Hr.
  destruct (runs_exec scalar lit prim (laws ct) (sums ct) Hl (target ct) size before after before U Hr ltac:(intros ? ? ?; reflexivity)) as (t & He & Hs).
  destruct (Hafter t He) as [A B]. split.
  - intros cs ds Hin is His. rewrite Hs. eapply A; eauto.
  - intros w Hw cs is. rewrite Hs. apply B. exact Hw.
Qed.
