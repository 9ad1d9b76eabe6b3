From Coq Require Import ZArith List String.
From Lozenge Require Import Syntax Certify.
Import ListNotations.
Open Scope string_scope.
Notation "a ;; b" := (Seq a b) (at level 100, right associativity).

Module m_dot.
(* arrays: 0 xs, 1 ys, 2 out, 3 v0, 4 v2 *)
(* sizes and loop variables: 0 n, 1 i1, 2 i3 *)
(* variables of the program: 5 x, 6 a, 7 p *)
(* constants: f32 00000000 is 0 *)
Definition add_f32 := Scalar "add.f32".
Definition mul_f32 := Scalar "mul.f32".
Definition c : certificate := {|
  sizes := 1;
  assume := [Var 0];
  example := [1%Z];
  args := [(0, [([], (Num "f32", [Var 0]))]); (1, [([], (Num "f32", [Var 0]))])];
  returns := [([], (Num "f32", []))];
  source :=
    EReduce (Var 0) [([], [])] InOrder 5 6
      (EOp add_f32 [EVar 5; EVar 6]) (ELit "f32 00000000")
      (EMap 7 (EOp mul_f32 [EFst (EVar 7); ESnd (EVar 7)]) (EPair (EVar 0) (EVar 1)));
  dims := [(0, ([([], "f32")], [Var 0]));
           (1, ([([], "f32")], [Var 0]));
           (2, ([([], "f32")], []));
           (3, ([([], "f32")], [Var 0]));
           (4, ([([], "f32")], []))];
  out := 2;
  laws := [];
  sums := [];
  target :=
    Local 3
      (For true 1 (Var 0)
         (Assign 3 [] [Var 1] (Op mul_f32 [In 0 [] [Var 1]; In 1 [] [Var 1]]));;
       Local 4
         (Assign 4 [] [] (Lit "f32 00000000");;
          For false 2 (Var 0)
            (Assign 4 [] [] (Op add_f32 [In 3 [] [Var 2]; In 4 [] []]));;
          Assign 2 [] [] (In 4 [] []))) |}.
Theorem ok : correct c.
Proof. apply accept_sound. vm_cast_no_check (eq_refl true). Qed.
End m_dot.
Check m_dot.ok.
Print Assumptions m_dot.ok.

