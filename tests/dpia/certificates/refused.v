From Coq Require Import ZArith List String.
From Lozenge Require Import Syntax Certify.
Import ListNotations.
Open Scope string_scope.
Notation "a ;; b" := (Seq a b) (at level 100, right associativity).

Module m_sum.
(* arrays: 0 xs, 1 out, 2 acc *)
(* sizes and loop variables: 0 n, 1 i *)
(* variables of the program: 3 x, 4 a *)
(* constants: f32 00000000 is 0 *)
Definition add_f32 := Scalar "add.f32".
Definition c : certificate := {|
  sizes := 1;
  assume := [Var 0];
  example := [1%Z];
  args := [(0, [([], (Num "f32", [Var 0]))])];
  returns := [([], (Num "f32", []))];
  source :=
    EReduce (Var 0) [([], [])] InOrder 3 4 (EOp add_f32 [EVar 3; EVar 4]) (ELit "f32 00000000") (EVar 0);
  dims := [(0, ([([], "f32")], [Var 0]));
           (1, ([([], "f32")], []));
           (2, ([([], "f32")], []))];
  out := 1;
  laws := [Commutes "add.f32"; Associates "add.f32"; Neutral "f32 00000000" "add.f32"];
  sums := [(1, Lit "f32 00000000")];
  target :=
    Local 2
      (Assign 2 [] [] (Lit "f32 00000000");;
       For false 1 (Var 0)
         (Assign 2 [] [] (Op add_f32 [In 2 [] []; In 0 [] [Var 1]]));;
       Assign 1 [] [] (In 2 [] [])) |}.
Theorem ok : correct c.
Proof. apply accept_sound. vm_cast_no_check (eq_refl true). Qed.
End m_sum.
Check m_sum.ok.
Print Assumptions m_sum.ok.

From Coq Require Import ZArith List String.
From Lozenge Require Import Syntax Certify.
Import ListNotations.
Open Scope string_scope.
Notation "a ;; b" := (Seq a b) (at level 100, right associativity).

Module m_spread.
(* arrays: 0 is, 1 xs, 2 out *)
(* sizes and loop variables: 0 n, 1 i, 2 i *)
(* variables of the program: 3 unused *)
(* constants: f32 00000000 is 0 *)
Definition c : certificate := {|
  sizes := 1;
  assume := [Var 0];
  example := [1%Z];
  args := [(0, [([], (Below (Var 0), [Var 0]))]); (1, [([], (Num "f32", [Var 0]))])];
  returns := [([], (Num "f32", [Var 0]))];
  source :=
    EScatter (Var 0) [([], [Var 0])] (EVar 0) (EGenerate 3 (ELit "f32 00000000")) (EVar 1);
  dims := [(0, ([([], "i64")], [Var 0]));
           (1, ([([], "f32")], [Var 0]));
           (2, ([([], "f32")], [Var 0]))];
  out := 2;
  laws := [];
  sums := [];
  target :=
    For true 1 (Var 0)
      (Assign 2 [] [Var 1] (Lit "f32 00000000"));;
    For false 2 (Var 0)
      (Assign 2 [] [In 0 [] [Var 2]] (In 1 [] [Var 2])) |}.
Theorem ok : correct c.
Proof. apply accept_sound. vm_cast_no_check (eq_refl true). Qed.
End m_spread.
Check m_spread.ok.
Print Assumptions m_spread.ok.

(* apart: error[D0201]: `out_2`, a pair of arrays of different shapes, has no certificate; [] *)

