(* Certificates and interleaving: the check that parallel iterations keep to themselves, and what it means for a whole program. *)
From Coq Require Import ZArith List String Bool Lia Arith.
From Lozenge Require Import Syntax Semantics Poly Norm Rep Source Target TargetSound Checker Check Interleave Races RaceFree Lazy.
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

(* Each execution in which single reads and writes interleave ends with the result that the program denotes, and with all else that
   was in memory unchanged. The assumptions are those of [refines]. *)
Definition interleaves (ct : certificate) : Prop :=
  forall (scalar : Type) (lit : string -> val scalar) (prim : string -> list (val scalar) -> val scalar),
  (forall name, List.In name (commutative ct) -> forall a b, prim name [a; b] = prim name [b; a]) ->
  forall (size : nat -> Z) (before : store scalar),
  (forall x, sizes ct <= x -> size x = 0%Z) ->
  allowed ct scalar lit prim before size ->
  forall m tr, (forall w cs is, m (Global w, cs, is) = before w cs is) ->
  run scalar lit prim (target ct) [] Global size tr -> good scalar m tr ->
    (forall cs extents, List.In (cs, extents) (result ct) -> forall is,
       Forall2 (fun i n => (0 <= i < Semantics.evz scalar lit prim before size n)%Z) is extents ->
       finally scalar m tr (Global (out ct), cs, is) = den scalar lit prim (Semantics.evz scalar lit prim before size) (source ct) before cs is) /\
    (forall w, w <> out ct -> forall cs is, finally scalar m tr (Global w, cs, is) = before w cs is).

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

Lemma finally_unwritten scalar (tr : trace scalar) l : Forall (fun a => put scalar a = true -> at_ scalar a <> l) tr -> forall m, finally scalar m tr l = m l.
Proof.
  induction 1 as [|a tr Ha _ IH]; intros m; [reflexivity|]. change (finally scalar m (a :: tr)) with (finally scalar (step scalar m a) tr). rewrite IH.
  unfold step. destruct (put scalar a); [|reflexivity]. destruct (location_dec _ _); [|reflexivity]. exfalso. apply Ha; auto.
Qed.

Theorem apart_interleaves ct : forallb (closed (sizes ct)) (assume ct) = true -> apart_all ct = true -> refines ct -> interleaves ct.
Proof.
  intros H0 H Href scalar lit prim Hcom size before Hz Has m tr Hm R G. apply andb_prop in H as [H Hout].
  assert (Hb := base_holds ct scalar lit prim before size H0 Has).
  destruct (Href scalar lit prim Hcom size before Hz Has) as [_ Hafter]. split.
  - intros cs ds Hin is His.
    destruct (exec_of_run scalar lit prim before (sizes ct) size (base_facts ct) Hb (target ct) [] _ [] Global size tr m before
      H (fun _ _ => eq_refl) (Forall_nil _) (inv_global _) R G) as (s & He & Hs).
    { intros w _ cs' v. symmetry. apply Hm. }
    rewrite <- (Hs (out ct)) by now left. apply (proj1 (Hafter s He) cs ds Hin is His).
  - intros w Hw cs is. rewrite finally_unwritten, Hm; auto.
    assert (T := run_touches scalar lit prim before (sizes ct) size (base_facts ct) (target ct) [] _ [] Global size tr H (fun _ _ => eq_refl) R).
    eapply Forall_impl; [|exact T]. intros a [_ [(w' & cs' & v & E & Hw' & Hput)|(q & w' & cs' & v & E & _)]] Ha C; rewrite E in C; [|discriminate].
    injection C as -> _ _. rewrite forallb_forall in Hout. specialize (Hout w (Hput Ha)). apply Nat.eqb_eq in Hout. congruence.
Qed.
