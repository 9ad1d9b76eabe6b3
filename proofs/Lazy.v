(* Truth values that are computed no further than needed. Coq's virtual machine evaluates arguments first, so [andb], [orb], [existsb] and [forallb]
   would always compute both sides and every element. These are convertible with them. *)
From Coq Require Import List Bool.
Set Warnings "-notation-overridden".
Import ListNotations.
Notation "a && b" := (if a then b else false) (only parsing) : bool_scope.
Notation "a || b" := (if a then true else b) (only parsing) : bool_scope.
Section Lists.
Context {A : Type} (f : A -> bool).
Fixpoint existsb (l : list A) : bool := match l with [] => false | a :: l => if f a then true else existsb l end.
Fixpoint forallb (l : list A) : bool := match l with [] => true | a :: l => if f a then forallb l else false end.
Lemma existsb_eq l : existsb l = List.existsb f l. Proof. reflexivity. Qed.
Lemma forallb_eq l : forallb l = List.forallb f l. Proof. reflexivity. Qed.
Lemma existsb_exists l : existsb l = true <-> exists x, List.In x l /\ f x = true.
Proof. exact (List.existsb_exists f l). Qed.
Lemma forallb_forall l : forallb l = true <-> (forall x, List.In x l -> f x = true).
Proof. exact (List.forallb_forall f l). Qed.
Lemma existsb_app l1 l2 : existsb (l1 ++ l2) = orb (existsb l1) (existsb l2).
Proof. exact (List.existsb_app f l1 l2). Qed.
Lemma forallb_app l1 l2 : forallb (l1 ++ l2) = andb (forallb l1) (forallb l2).
Proof. exact (List.forallb_app f l1 l2). Qed.
End Lists.
