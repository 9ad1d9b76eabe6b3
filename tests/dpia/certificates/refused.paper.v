From Coq Require Import ZArith List String.
From Lozenge Require Import Syntax Certify.
Import ListNotations.
Open Scope string_scope.
Notation "a ;; b" := (Seq a b) (at level 100, right associativity).

Module sum.
(* arrays: 0 xs, 1 out, 2 v0 *)
(* sizes and loop variables: 0 n, 1 i1 *)
(* variables of the program: 3 x, 4 a *)
(* constants: f32 00000000 is 0 *)
Definition add_f32 := Scalar "add.f32".
Definition c : certificate := {|
  sizes := 1;
  assume := [Var 0];
  indices := [];
  dims := [(0, [Var 0]); (1, []); (2, [])];
  params := [0];
  source :=
    EReduce (Var 0) [([], [])] InOrder 3 4 (EOp add_f32 [EVar 3; EVar 4]) (ELit "f32 00000000") (EVar 0);
  out := 1;
  result := [([], [])];
  laws := [Commutes "add.f32"; Associates "add.f32"; Neutral "f32 00000000" "add.f32"];
  sums := [(1, "f32 00000000")];
  target :=
    Local 2
      (Assign 2 [] [] (Lit "f32 00000000");;
       For false 1 (Var 0)
         (Assign 2 [] [] (Op add_f32 [In 2 [] []; In 0 [] [Var 1]]));;
       Assign 1 [] [] (In 2 [] [])) |}.
Theorem ok : correct c.
Proof. apply accept_sound. vm_cast_no_check (eq_refl true). Qed.
End sum.
Print Assumptions sum.ok.

(* spread: error[D0201]: `scatter` has no certificate; ["two elements may go to one place, so what is left there depends on the order"] *)

(* apart: error[D0201]: `out`, a pair of arrays of different shapes, has no certificate; [] *)

