(* What is asked of a certificate, in one word: the loops compute what the program says, in every interleaving of their parallel iterations and however sums in parallel are
   combined, without a race, and stay inside their arrays. *)
From Coq Require Import Bool.
From Lozenge Require Import Syntax.
From Lozenge Require Export Check Inside Interleaved Reorder Typed.
From Lozenge Require Import Lazy.

Definition accept (ct : certificate) : bool := typed ct && check ct && inbounds ct && apart_all ct && sums_ok ct.
Definition correct (ct : certificate) : Prop := well_typed ct /\ refines ct /\ stays_inside ct /\ race_free ct /\ interleaves ct /\ sums_up ct.

Theorem accept_sound ct : accept ct = true -> correct ct.
Proof.
  intros H. apply andb_prop in H as [H H4]. apply andb_prop in H as [H H3]. apply andb_prop in H as [H H2]. apply andb_prop in H as [H0 H1]. assert (R := check_sound ct H1).
  apply andb_prop in H1 as [H1 _]. apply andb_prop in H1 as [H1 _]. apply andb_prop in H1 as [_ H1].
  split; [exact H0|]. split; [exact R|split; [now apply inbounds_sound|split; [now apply apart_race_free|split; [now apply apart_interleaves|now apply sums_up_sound]]]].
Qed.
