(* What is asked of a certificate, in one word: the loops compute what the program says, in every interleaving of their parallel iterations and however sums in parallel are
   combined, without a race, and stay inside their arrays. *)
From Coq Require Import ZArith List Bool Arith.
From Lozenge Require Import Syntax Semantics.
From Lozenge Require Export Check Inside Interleaved Reorder Typed.
From Lozenge Require Import Lazy.

(* There are sizes of which all that is assumed holds. *)
Definition with_sizes (l : list Z) : nat -> Z := fun x => nth x l 0%Z.
Definition at_sizes (l : list Z) (t : tm) : Z := Semantics.evz unit (fun _ => VZ 0) (fun _ _ => VZ 0) (fun _ _ _ => VZ 0) (with_sizes l) t.
Definition possible (ct : certificate) : Prop := exists l, List.length l = sizes ct /\ forall t, List.In t (assume ct) -> (0 <= at_sizes l t)%Z.
Definition exemplary (ct : certificate) : bool := Nat.eqb (List.length (example ct)) (sizes ct) && forallb (fun t => (0 <=? at_sizes (example ct) t)%Z) (assume ct).
Lemma exemplary_ok ct : exemplary ct = true -> possible ct.
Proof.
  intros H. apply andb_prop in H as [H1 H2]. apply Nat.eqb_eq in H1. exists (example ct). split; auto.
  intros t Ht. rewrite forallb_forall in H2. specialize (H2 t Ht). now apply Z.leb_le in H2.
Qed.

Definition accept (ct : certificate) : bool := exemplary ct && typed ct && check ct && inbounds ct && apart_all ct && sums_ok ct.
Definition correct (ct : certificate) : Prop := possible ct /\ well_typed ct /\ refines ct /\ stays_inside ct /\ race_free ct /\ interleaves ct /\ sums_up ct.

Theorem accept_sound ct : accept ct = true -> correct ct.
Proof.
  intros H. apply andb_prop in H as [H H4]. apply andb_prop in H as [H H3]. apply andb_prop in H as [H H2]. apply andb_prop in H as [H H1]. apply andb_prop in H as [H6 H0]. assert (R := check_sound ct H1).
  apply andb_prop in H1 as [H1 _]. apply andb_prop in H1 as [H1 _]. apply andb_prop in H1 as [_ H1].
  split; [now apply exemplary_ok|]. split; [exact H0|]. split; [exact R|split; [now apply inbounds_sound|split; [now apply apart_race_free|split; [now apply apart_interleaves|now apply sums_up_sound]]]].
Qed.
