(* What is asked of a certificate, in one word: the loops compute what the program says, and stay inside their arrays. *)
From Coq Require Import Bool.
From Lozenge Require Import Syntax.
From Lozenge Require Export Check Inside.
From Lozenge Require Import Lazy.

Definition accept (ct : certificate) : bool := check ct && inbounds ct.
Definition correct (ct : certificate) : Prop := refines ct /\ stays_inside ct.

Theorem accept_sound ct : accept ct = true -> correct ct.
Proof.
  intros H. apply andb_prop in H as [H1 H2]. split; [now apply check_sound|].
  apply inbounds_sound; auto. apply andb_prop in H1 as [H1 _]. apply andb_prop in H1 as [H1 _]. apply andb_prop in H1 as [_ H1]. exact H1.
Qed.
