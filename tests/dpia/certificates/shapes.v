From Coq Require Import ZArith List String.
From Lozenge Require Import Syntax Certify.
Import ListNotations.
Open Scope string_scope.
Notation "a ;; b" := (Seq a b) (at level 100, right associativity).

Module m_match.
(* arrays: 0 is, 1 xs, 2 p, 3 out *)
(* sizes and loop variables: 0 n, 1 m, 2 i *)
(* variables of the program: 4 i *)
Definition add_f64 := Scalar "add.f64".
Definition f64_of_f32 := Scalar "f64.of.f32".
Definition c : certificate := {|
  sizes := 2;
  assume := [Var 0;
             Var 1;
             Op Isub [Var 0; Int 1];
             Op Isub [Op Imul [Int 2; Var 0]; Var 1];
             Op Isub [Var 1; Op Imul [Int 2; Var 0]];
             Op Isub [Int 9223372036854775807; Var 0];
             Op Isub [Int 9223372036854775807; Var 1]];
  example := [3%Z; 6%Z];
  args := [(0, [([], (Below (Var 1), [Var 0]))]);
           (1, [([false], (Num "f32", [Var 1])); ([true], (Num "f64", [Var 1]))]);
           (2, [([false], (Num "f32", [])); ([true], (Num "i64", []))])];
  returns := [([false; false], (Num "f64", [Var 0]));
              ([false; true], (Num "i64", [Var 0]));
              ([true], (Num "bool", [Var 0]))];
  source :=
    EMap 4
      (EPair
         (EPair
            (EOp add_f64 [EOp f64_of_f32 [EIdx (EFst (EVar 1)) (EVar 4)]; EIdx (ESnd (EVar 1)) (EVar 4)])
            (EOp Wmul [EOp Iwrap [EVar 4]; ESnd (EVar 2)]))
         (EOp Or [EOp Ilt [EOp Iwrap [EVar 4]; ESnd (EVar 2)]; EOp Ine [ESize (Int 0); ESize (Int 0)]]))
      (EVar 0);
  dims := [(0, ([([], "i64")], [Var 0]));
           (1, ([([false], "f32"); ([true], "f64")], [Var 1]));
           (2, ([([false], "f32"); ([true], "i64")], []));
           (3, ([([false; false], "f64"); ([false; true], "i64"); ([true], "bool")], [Var 0]))];
  out := 3;
  laws := [];
  sums := [];
  target :=
    For true 2 (Var 0)
      (Assign 3 [false; false] [Var 2]
         (Op add_f64
            [Op f64_of_f32 [In 1 [false] [In 0 [] [Var 2]]]; In 1 [true] [In 0 [] [Var 2]]]);;
       Assign 3 [false; true] [Var 2] (Op Wmul [Op Iwrap [In 0 [] [Var 2]]; In 2 [true] []]);;
       Assign 3 [true] [Var 2]
         (Op Or [Op Ilt [Op Iwrap [In 0 [] [Var 2]]; In 2 [true] []]; Op Ine [Int 0; Int 0]])) |}.
Theorem ok : correct c.
Proof. apply accept_sound. vm_cast_no_check (eq_refl true). Qed.
End m_match.
Check m_match.ok.
Print Assumptions m_match.ok.

From Coq Require Import ZArith List String.
From Lozenge Require Import Syntax Certify.
Import ListNotations.
Open Scope string_scope.
Notation "a ;; b" := (Seq a b) (at level 100, right associativity).

Module m_next.
(* arrays: 0 k, 1 xs, 2 out *)
(* sizes and loop variables: 0 n, 1 i *)
(* variables of the program: 3 x *)
Definition gt_i32 := Scalar "gt.i32".
Definition mod_i32 := Scalar "mod.i32".
Definition neg_i32 := Scalar "neg.i32".
Definition c : certificate := {|
  sizes := 1;
  assume := [Var 0];
  example := [1%Z];
  args := [(0, [([], (Num "i32", []))]); (1, [([], (Num "i32", [Var 0]))])];
  returns := [([], (Num "i32", [Var 0]))];
  source :=
    EMap 3
      (ESelect (EOp gt_i32 [EVar 3; EVar 0]) (EOp neg_i32 [EVar 3]) (EOp mod_i32 [EVar 3; ELit "i32 7"]))
      (EVar 1);
  dims := [(0, ([([], "i32")], []));
           (1, ([([], "i32")], [Var 0]));
           (2, ([([], "i32")], [Var 0]))];
  out := 2;
  laws := [];
  sums := [];
  target :=
    For false 1 (Var 0)
      (Assign 2 [] [Var 1]
         (Op Select
            [Op gt_i32 [In 1 [] [Var 1]; In 0 [] []];
             Op neg_i32 [In 1 [] [Var 1]];
             Op mod_i32 [In 1 [] [Var 1]; Lit "i32 7"]])) |}.
Theorem ok : correct c.
Proof. apply accept_sound. vm_cast_no_check (eq_refl true). Qed.
End m_next.
Check m_next.ok.
Print Assumptions m_next.ok.

