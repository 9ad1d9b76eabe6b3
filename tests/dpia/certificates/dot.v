From Coq Require Import ZArith List String.
From Lozenge Require Import Syntax Certify.
Import ListNotations.
Open Scope string_scope.
Notation "a ;; b" := (Seq a b) (at level 100, right associativity).

Module m_dot.
(* arrays: 0 xs, 1 ys, 2 out, 3 acc *)
(* sizes and loop variables: 0 n, 1 i *)
(* variables of the program: 4 x, 5 a, 6 p *)
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
    EReduce (Var 0) [([], [])] InOrder 4 5
      (EOp add_f32 [EVar 4; EVar 5]) (ELit "f32 00000000")
      (EMap 6 (EOp mul_f32 [EFst (EVar 6); ESnd (EVar 6)]) (EPair (EVar 0) (EVar 1)));
  dims := [(0, ([([], "f32")], [Var 0]));
           (1, ([([], "f32")], [Var 0]));
           (2, ([([], "f32")], []));
           (3, ([([], "f32")], []))];
  out := 2;
  laws := [Commutes "add.f32"];
  sums := [];
  target :=
    Local 3
      (Assign 3 [] [] (Lit "f32 00000000");;
       For false 1 (Var 0)
         (Assign 3 [] [] (Op add_f32 [In 3 [] []; Op mul_f32 [In 0 [] [Var 1]; In 1 [] [Var 1]]]));;
       Assign 2 [] [] (In 3 [] [])) |}.
Theorem ok : correct c.
Proof. apply accept_sound. vm_cast_no_check (eq_refl true). Qed.
End m_dot.
Check m_dot.ok.
Print Assumptions m_dot.ok.

