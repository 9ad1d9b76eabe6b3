(* Certificates and interleaving: the check that parallel iterations keep to themselves, and what it means for a whole program. *)
From Coq Require Import ZArith List String Bool Lia Arith.
From Lozenge Require Import Syntax Semantics Poly Norm Rep Source Target TargetSound Checker Check Interleave Races RaceFree Progress Lazy.
Import ListNotations.

Definition apart_all (ct : certificate) : bool :=
  apart (sizes ct) (base_facts ct) [] (out ct :: params ct) (target ct) && forallb (Nat.eqb (out ct)) (shared (target ct)).

(* Sizes as the certificate allows them. *)
Definition allowed (ct : certificate) (scalar : Type) lit prim (before : store scalar) (size : nat -> Z) : Prop :=
  Forall (fun t => (0 <= Semantics.evz scalar lit prim before size t)%Z) (assume ct).

(* No execution, and no part of one, has a race; not even if its reads found something else. *)
Definition race_free (ct : certificate) : Prop :=
  forall (scalar : Type) (lit : string -> val scalar) (prim : string -> list (val scalar) -> val scalar) (size : nat -> Z) (before : store scalar),
  allowed ct scalar lit prim before size ->
  forall tr rest, run scalar lit prim (target ct) [] Global size (tr ++ rest) -> ~ race scalar tr.

(* Executions in which single reads and writes interleave end: none is longer than a bound, and whatever has happened, there is a way to go on to
   the end. The end is always the result that the program denotes, with all else that was in memory unchanged. The assumptions are those of [refines]. *)
Definition interleaves (ct : certificate) : Prop :=
  forall (scalar : Type) (lit : string -> val scalar) (prim : string -> list (val scalar) -> val scalar),
  (forall l, List.In l (laws ct) -> law_holds scalar lit prim l) ->
  forall (size : nat -> Z) (before : store scalar),
  (forall x, sizes ct <= x -> size x = 0%Z) ->
  allowed ct scalar lit prim before size ->
  indexed ct scalar lit prim before size ->
  let runs := run scalar lit prim (target ct) [] Global size in
  (exists bound, forall tr rest, runs (tr ++ rest) -> List.length tr <= bound) /\
  forall m, (forall w cs is, m (Global w, cs, is) = before w cs is) ->
  (exists tr, runs tr /\ good scalar m tr) /\
  (forall tr rest, runs (tr ++ rest) -> good scalar m tr -> exists rest', runs (tr ++ rest') /\ good scalar m (tr ++ rest')) /\
  (forall tr, runs tr -> good scalar m tr ->
    (forall cs extents, List.In (cs, extents) (result ct) -> forall is,
       Forall2 (fun i n => (0 <= i < Semantics.evz scalar lit prim before size n)%Z) is extents ->
       finally scalar m tr (Global (out ct), cs, is) = den scalar lit prim (Semantics.evz scalar lit prim before size) (source ct) before cs is) /\
    (forall w, w <> out ct -> forall cs is, finally scalar m tr (Global w, cs, is) = before w cs is)).

Lemma base_holds ct scalar lit prim (before : store scalar) size : forallb (closed (sizes ct)) (assume ct) = true ->
  allowed ct scalar lit prim before size ->
  forall (s : store scalar) r a, agree (sizes ct) size r -> holds scalar lit prim s r a (base_facts ct).
Proof.
  intros H Has s r a A. unfold base_facts, holds. rewrite Forall_map. rewrite forallb_forall in H. unfold allowed in Has. rewrite Forall_forall in *.
  intros t Ht. rewrite poly_of_ok by constructor. rewrite (closed_any scalar lit prim before (sizes ct) size t (H t Ht) s r a A). apply (Has t Ht).
Qed.
Lemma inv_global sc : inv [] Global sc.
Proof. split; [congruence|discriminate]. Qed.

Theorem apart_race_free ct : forallb (closed (sizes ct)) (assume ct) = true -> apart_all ct = true -> race_free ct.
Proof.
  intros H0 H scalar lit prim size before Has tr rest R (a & b & Ha & Hb & Hab). apply andb_prop in H as [H _].
  apply (no_race scalar lit prim before (sizes ct) size (base_facts ct) (base_holds ct scalar lit prim before size H0 Has)
    (target ct) [] _ [] Global size _ H (fun _ _ => eq_refl) (Forall_nil _) (inv_global _) R).
  exists a, b. split; [apply in_or_app; auto|]. split; [apply in_or_app; auto|exact Hab].
Qed.

Theorem apart_interleaves ct : forallb (closed (sizes ct)) (assume ct) = true -> apart_all ct = true -> refines ct -> interleaves ct.
Proof.
  intros H0 H Href scalar lit prim Hcom size before Hz Has Hidx runs. unfold runs. clear runs. apply andb_prop in H as [H Hout].
  assert (C := run_can scalar lit prim (sizes ct) (base_facts ct) (target ct) [] _ [] Global size H).
  split.
  { destruct (run_bound scalar lit prim (sizes ct) (base_facts ct) before (target ct) [] _ size H) as [B HB]. exists B.
    intros tr rest R. apply HB in R. rewrite app_length in R. lia. }
  intros m Hm. split; [|split].
  { destruct (start scalar _ C m) as (tr & x & [R _] & G). eauto. }
  { intros tr rest R G. destruct (finish scalar _ C tr rest (VZ 0) (conj R eq_refl) (finally scalar m tr)) as (t & x & [R' _] & G').
    exists t. split; auto. apply good_app. auto. }
  intros tr R G.
  assert (Hb := base_holds ct scalar lit prim before size H0 Has).
  destruct (Href scalar lit prim Hcom size before Hz Has Hidx) as [_ Hafter]. split.
  - intros cs ds Hin is His.
    destruct (exec_of_run scalar lit prim before (sizes ct) size (base_facts ct) Hb (target ct) [] _ [] Global size tr m before
      H (fun _ _ => eq_refl) (Forall_nil _) (inv_global _) R G) as (s & He & Hs).
    { intros w _ cs' v. symmetry. apply Hm. }
    rewrite <- (Hs (out ct)) by now left. apply (proj1 (Hafter s He) cs ds Hin is His).
  - intros w Hw cs is. rewrite finally_unwritten, Hm; auto.
    assert (T := run_touches scalar lit prim before (sizes ct) size (base_facts ct) (target ct) [] _ [] Global size tr H (fun _ _ => eq_refl) R).
    eapply Forall_impl; [|exact T]. intros a [_ [(w' & cs' & v & E & Hw' & Hput)|(q & w' & cs' & v & E & _)]] Ha F; rewrite E in F; [|discriminate].
    injection F as -> _ _. rewrite forallb_forall in Hout. specialize (Hout w (Hput Ha)). apply Nat.eqb_eq in Hout. congruence.
Qed.

(* ---------- that all this says something ---------- *)
(* Two iterations that write one element do race. *)
Example a_race scalar lit prim : exists tr, run scalar lit prim (For true 0 (Int 2) (Assign 0 [] [] (Lit "x"))) [] Global (fun _ => 0%Z) tr /\ race scalar tr.
Proof.
  set (w i := {| who := [Beside i]; put := true; at_ := (Global 0, [], []); what := lit "x"%string |}).
  assert (E : forall i, shuffle scalar [[]] [] /\ run scalar lit prim (Assign 0 [] [] (Lit "x")) [Beside i] Global (upd (fun _ => 0%Z) 0 (Z.of_nat i)) [w i]).
  { intros i. assert (S_ : shuffle scalar [[]] []) by (constructor; auto). split; auto. exists [], [], [], (lit "x"%string), []. cbn. auto. }
  exists [w 0; w 1]. split.
  - exists [], (VZ 2), [[w 0]; [w 1]], [w 0; w 1]. cbn [fetch app List.length]. repeat split; auto.
    + intros [|[|[|?]]] t Ht; cbn in Ht; try discriminate; injection Ht as <-; apply E.
    + apply (shuffle_step scalar [] (w 0) [] [[w 1]]). apply (shuffle_step scalar [[]] (w 1) [] []). constructor. repeat constructor.
  - exists (w 0), (w 1). cbn. repeat split; auto. exists [], 0, 1, [], []. auto.
Qed.
(* Refused: one element for all iterations, the neighbour's element, one buffer for all. A buffer of one's own is all right. *)
Definition loops (t : cmd) : certificate :=
  let numbers := [([], (Num "f32", [Var 0]))] in let array := ([([], "f32"%string)], [Var 0]) in
  {| sizes := 1; assume := [Var 0]; example := [0%Z]; args := [(0, numbers)]; returns := numbers;
     source := EVar 0; dims := [(0, array); (1, array)]; out := 1; laws := []; sums := []; target := t |}.
Example refused : map (fun t => apart_all (loops t)) [
    For true 1 (Var 0) (Assign 1 [] [Int 0] (In 0 [] [Var 1]));
    For true 1 (Var 0) (Assign 1 [] [Var 1] (In 1 [] [Op Iadd [Var 1; Int 1]]));
    Local 2 (For true 1 (Var 0) (Seq (Assign 2 [] [] (In 0 [] [Var 1])) (Assign 1 [] [Var 1] (In 2 [] []))));
    For true 1 (Var 0) (Local 2 (Seq (Assign 2 [] [] (In 0 [] [Var 1])) (Assign 1 [] [Var 1] (In 2 [] []))))]
  = [false; false; false; true].
Proof. vm_compute. reflexivity. Qed.
