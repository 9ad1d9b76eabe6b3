(* Certificates made by hand: right ones, and ones with a mistake that a compiler or an exporter could make. The answers are those of the parts of [accept].
   m..: other loops, v..: a field that the exporter writes, w..: numbers of type i64, which wrap, y..: tiles and strips. *)
From Coq Require Import ZArith List String.
From Lozenge Require Import Syntax Certify.
Import ListNotations.
Open Scope string_scope.
Notation "a ;; b" := (Seq a b) (at level 100, right associativity).
Definition sub := Scalar "sub.f32".
Definition add := Scalar "add.f32".
Definition mul := Scalar "mul.f32".
(* An array of numbers, as a definition and as the loops declare it. *)
Definition numbers (t : string) (ds : list tm) : tables := [([], (Num t, ds))].
Definition array (t : string) (ds : list tm) : Syntax.array := ([([], t)], ds).
Definition verdict (c : certificate) : string :=
  if accept c then "accepted"
  else String.concat " " (map snd (filter (fun p => negb (fst p))
    [(exemplary c, "example"); (typed c, "types"); (check c, "values"); (inbounds c, "bounds"); (apart_all c, "races"); (sums_ok c, "sums")])).

Definition ok_sub : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Assign 2 [] [Var 1] (Op sub [In 0 [] [Var 1]; In 1 [] [Var 1]])) |}.

Definition m01_swap_sub : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Assign 2 [] [Var 1] (Op sub [In 1 [] [Var 1]; In 0 [] [Var 1]])) |}.

Definition m02_index_const : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Assign 2 [] [Var 1] (Op sub [In 0 [] [Int 0]; In 1 [] [Var 1]])) |}.

Definition m03_off_by_one_high : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Op Iadd [Var 0; Int 1]) (Assign 2 [] [Var 1] (Op sub [In 0 [] [Var 1]; In 1 [] [Var 1]])) |}.

Definition m04_off_by_one_low : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Op Isub [Var 0; Int 1]) (Assign 2 [] [Var 1] (Op sub [In 0 [] [Var 1]; In 1 [] [Var 1]])) |}.

Definition m05_f64_op : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Assign 2 [] [Var 1] (Op (Scalar "sub.f64") [In 0 [] [Var 1]; In 1 [] [Var 1]])) |}.

Definition m06_missing_write : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := Skip |}.

Definition m07_guard : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := If (Op Ilt [Int 0; Op Isub [Var 0; Int 1]]) (For true 1 (Var 0) (Assign 2 [] [Var 1] (Op sub [In 0 [] [Var 1]; In 1 [] [Var 1]]))) Skip |}.

Definition m07b_guard_ok : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := If (Op Ilt [Int 0; Var 0]) (For true 1 (Var 0) (Assign 2 [] [Var 1] (Op sub [In 0 [] [Var 1]; In 1 [] [Var 1]]))) Skip |}.

Definition m08_in_place_input : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Assign 0 [] [Var 1] (Op sub [In 0 [] [Var 1]; In 1 [] [Var 1]]);; Assign 2 [] [Var 1] (In 0 [] [Var 1])) |}.

Definition m09_write_shift_race : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Assign 2 [] [Op Imax [Op Isub [Var 1; Int 1]; Int 0]] (Int 0);; Assign 2 [] [Var 1] (Op sub [In 0 [] [Var 1]; In 1 [] [Var 1]])) |}.

Definition m09b_same_seq : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := For false 1 (Var 0) (Assign 2 [] [Op Imax [Op Isub [Var 1; Int 1]; Int 0]] (Int 0);; Assign 2 [] [Var 1] (Op sub [In 0 [] [Var 1]; In 1 [] [Var 1]])) |}.

Definition m10_hoisted_local_race : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0]); (3, array "f32" [])]; out := 2; laws := []; sums := [];
  target := Local 3 (For true 1 (Var 0) (Assign 3 [] [] (Op sub [In 0 [] [Var 1]; In 1 [] [Var 1]]);; Assign 2 [] [Var 1] (In 3 [] []))) |}.

Definition m11_benign_same_value_race : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Assign 2 [] [Int 0] (Op sub [In 0 [] [Int 0]; In 1 [] [Int 0]]);; Assign 2 [] [Var 1] (Op sub [In 0 [] [Var 1]; In 1 [] [Var 1]])) |}.

Definition m12_read_uninit : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0]); (3, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := Local 3 (For true 1 (Var 0) (Assign 2 [] [Var 1] (Op sub [In 0 [] [Var 1]; In 3 [] [Var 1]]))) |}.

Definition m12b_uninit_mul0 : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0]); (3, array "f32" [])]; out := 2; laws := []; sums := [];
  target := Local 3 (For true 1 (Var 0) (Assign 2 [] [Var 1] (Op sub [In 0 [] [Var 1]; Op Select [Op Ieq [In 3 [] []; In 3 [] []]; In 1 [] [Var 1]; In 0 [] [Var 1]]]))) |}.

Definition ok_sum : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0])]; returns := numbers "f32" [];
  source := EReduce (Var 0) [([], [])] InOrder 9 8 (EOp add [EVar 9; EVar 8]) (ELit "f32 00000000") (EVar 0);
  dims := [(0, array "f32" [Var 0]); (2, array "f32" []); (3, array "f32" [])]; out := 2; laws := []; sums := [];
  target := (Assign 2 [] [] (Lit "f32 00000000");; For false 1 (Var 0) (Assign 2 [] [] (Op add [In 0 [] [Var 1]; In 2 [] []]))) |}.

Definition m13_sum_reversed : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0])]; returns := numbers "f32" [];
  source := EReduce (Var 0) [([], [])] InOrder 9 8 (EOp add [EVar 9; EVar 8]) (ELit "f32 00000000") (EVar 0);
  dims := [(0, array "f32" [Var 0]); (2, array "f32" []); (3, array "f32" [])]; out := 2; laws := []; sums := [];
  target := (Assign 2 [] [] (Lit "f32 00000000");; For false 1 (Var 0) (Assign 2 [] [] (Op add [In 0 [] [Op Isub [Op Isub [Var 0; Int 1]; Var 1]]; In 2 [] []]))) |}.

Definition m13b_sum_rev_comm : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0])]; returns := numbers "f32" [];
  source := EReduce (Var 0) [([], [])] InOrder 9 8 (EOp add [EVar 9; EVar 8]) (ELit "f32 00000000") (EVar 0);
  dims := [(0, array "f32" [Var 0]); (2, array "f32" []); (3, array "f32" [])]; out := 2; laws := [Commutes "add.f32"]; sums := [];
  target := (Assign 2 [] [] (Lit "f32 00000000");; For false 1 (Var 0) (Assign 2 [] [] (Op add [In 0 [] [Op Isub [Op Isub [Var 0; Int 1]; Var 1]]; In 2 [] []]))) |}.

Definition m14_no_init : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0])]; returns := numbers "f32" [];
  source := EReduce (Var 0) [([], [])] InOrder 9 8 (EOp add [EVar 9; EVar 8]) (ELit "f32 00000000") (EVar 0);
  dims := [(0, array "f32" [Var 0]); (2, array "f32" []); (3, array "f32" [])]; out := 2; laws := []; sums := [];
  target := For false 1 (Var 0) (Assign 2 [] [] (Op add [In 0 [] [Var 1]; In 2 [] []])) |}.

Definition m15_minus_zero_init : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0])]; returns := numbers "f32" [];
  source := EReduce (Var 0) [([], [])] InOrder 9 8 (EOp add [EVar 9; EVar 8]) (ELit "f32 00000000") (EVar 0);
  dims := [(0, array "f32" [Var 0]); (2, array "f32" []); (3, array "f32" [])]; out := 2; laws := []; sums := [];
  target := (Assign 2 [] [] (Lit "f32 80000000");; For false 1 (Var 0) (Assign 2 [] [] (Op add [In 0 [] [Var 1]; In 2 [] []]))) |}.

Definition m16_peel_size0 : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0])]; returns := numbers "f32" [];
  source := EReduce (Var 0) [([], [])] InOrder 9 8 (EOp add [EVar 9; EVar 8]) (ELit "f32 00000000") (EVar 0);
  dims := [(0, array "f32" [Var 0]); (2, array "f32" []); (3, array "f32" [])]; out := 2; laws := []; sums := [];
  target := (Assign 2 [] [] (Op add [In 0 [] [Int 0]; Lit "f32 00000000"]);; For false 1 (Op Isub [Var 0; Int 1]) (Assign 2 [] [] (Op add [In 0 [] [Op Iadd [Var 1; Int 1]]; In 2 [] []]))) |}.

Definition m17_par_sum : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0])]; returns := numbers "f32" [];
  source := EReduce (Var 0) [([], [])] InOrder 9 8 (EOp add [EVar 9; EVar 8]) (ELit "f32 00000000") (EVar 0);
  dims := [(0, array "f32" [Var 0]); (2, array "f32" []); (3, array "f32" [])]; out := 2; laws := []; sums := [];
  target := (Assign 2 [] [] (Lit "f32 00000000");; For true 1 (Var 0) (Assign 2 [] [] (Op add [In 0 [] [Var 1]; In 2 [] []]))) |}.

Definition ok_par_sum : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0])]; returns := numbers "f32" [];
  source := EReduce (Var 0) [([], [])] InOrder 9 8 (EOp add [EVar 9; EVar 8]) (ELit "f32 00000000") (EVar 0);
  dims := [(0, array "f32" [Var 0]); (2, array "f32" []); (3, array "f32" [])]; out := 2; laws := [Commutes "add.f32"; Associates "add.f32"; Neutral "f32 00000000" "add.f32"]; sums := [(1, Lit "f32 00000000")];
  target := (Assign 2 [] [] (Lit "f32 00000000");; For false 1 (Var 0) (Assign 2 [] [] (Op add [In 2 [] []; In 0 [] [Var 1]]))) |}.

Definition m18b_without_assoc : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0])]; returns := numbers "f32" [];
  source := EReduce (Var 0) [([], [])] InOrder 9 8 (EOp add [EVar 9; EVar 8]) (ELit "f32 00000000") (EVar 0);
  dims := [(0, array "f32" [Var 0]); (2, array "f32" []); (3, array "f32" [])]; out := 2; laws := [Commutes "add.f32"; Neutral "f32 00000000" "add.f32"]; sums := [(1, Lit "f32 00000000")];
  target := (Assign 2 [] [] (Lit "f32 00000000");; For false 1 (Var 0) (Assign 2 [] [] (Op add [In 2 [] []; In 0 [] [Var 1]]))) |}.

Definition m18c_wrong_neutral : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0])]; returns := numbers "f32" [];
  source := EReduce (Var 0) [([], [])] InOrder 9 8 (EOp add [EVar 9; EVar 8]) (ELit "f32 00000000") (EVar 0);
  dims := [(0, array "f32" [Var 0]); (2, array "f32" []); (3, array "f32" [])]; out := 2; laws := [Commutes "add.f32"; Associates "add.f32"; Neutral "f32 00000000" "add.f32"]; sums := [(1, Lit "f32 3f800000")];
  target := (Assign 2 [] [] (Lit "f32 00000000");; For false 1 (Var 0) (Assign 2 [] [] (Op add [In 2 [] []; In 0 [] [Var 1]]))) |}.

Definition m19_start_counted_twice : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0])]; returns := numbers "f32" [];
  source := EReduce (Var 0) [([], [])] InOrder 9 8 (EOp add [EVar 9; EVar 8]) (ELit "f32 00000000") (EVar 0);
  dims := [(0, array "f32" [Var 0]); (2, array "f32" []); (3, array "f32" [])]; out := 2; laws := [Commutes "add.f32"; Associates "add.f32"; Neutral "f32 00000000" "add.f32"]; sums := [(1, Lit "f32 00000000")];
  target := (Assign 2 [] [] (Lit "f32 3f800000");; For false 1 (Var 0) (Assign 2 [] [] (Op add [In 2 [] []; In 0 [] [Var 1]]))) |}.

Definition m20_stride : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0])]; returns := numbers "f32" [];
  source := EReduce (Var 0) [([], [])] InOrder 9 8 (EOp add [EVar 9; EVar 8]) (ELit "f32 00000000") (EVar 0);
  dims := [(0, array "f32" [Var 0]); (2, array "f32" []); (3, array "f32" [])]; out := 2; laws := [Commutes "add.f32"]; sums := [];
  target := (Assign 2 [] [] (Lit "f32 00000000");; For false 1 (Op Idiv [Op Iadd [Var 0; Int 1]; Int 2]) (Assign 2 [] [] (Op add [In 0 [] [Op Imul [Var 1; Int 2]]; In 2 [] []]))) |}.

Definition m21_neg_instead_of_sub : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Assign 2 [] [Var 1] (Op add [In 0 [] [Var 1]; Op (Scalar "neg.f32") [In 1 [] [Var 1]]])) |}.

Definition m22_fma : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Assign 2 [] [Var 1] (Op (Scalar "fma.f32") [In 1 [] [Var 1]; Lit "f32 bf800000"; In 0 [] [Var 1]])) |}.

Definition w1_lt_succ : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "i64" [Var 0])]; returns := numbers "i64" [Var 0];
  source := EMap 9 (ESelect (EOp Ilt [EVar 9; EOp Iadd [EVar 9; ESize (Int 1)]]) (ESize (Int 1)) (ESize (Int 2))) (EVar 0);
  dims := [(0, array "i64" [Var 0]); (2, array "i64" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Assign 2 [] [Var 1] (Int 1)) |}.

Definition w2_mul_div : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "i64" [Var 0])]; returns := numbers "i64" [Var 0];
  source := EMap 9 (EOp Idiv [EOp Imul [EVar 9; ESize (Int 4)]; ESize (Int 4)]) (EVar 0);
  dims := [(0, array "i64" [Var 0]); (2, array "i64" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Assign 2 [] [Var 1] (In 0 [] [Var 1])) |}.

Definition w3_add_sub : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "i64" [Var 0])]; returns := numbers "i64" [Var 0];
  source := EMap 9 (EOp Isub [EOp Iadd [EVar 9; EVar 9]; EVar 9]) (EVar 0);
  dims := [(0, array "i64" [Var 0]); (2, array "i64" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Assign 2 [] [Var 1] (In 0 [] [Var 1])) |}.

Definition w4_big_literal : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "i64" [Var 0])]; returns := numbers "i64" [Var 0];
  source := EMap 9 (EOp Iadd [EVar 9; ESize (Int 9223372036854775807)]) (EVar 0);
  dims := [(0, array "i64" [Var 0]); (2, array "i64" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Assign 2 [] [Var 1] (Op Iadd [In 0 [] [Var 1]; Op Iadd [Int 9223372036854775807; Int 0]])) |}.

Definition w5_lit_past_i64 : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "i64" [Var 0])]; returns := numbers "i64" [Var 0];
  source := EMap 9 (EOp Iadd [EVar 9; EOp Iadd [ESize (Int 9223372036854775807); ESize (Int 1)]]) (EVar 0);
  dims := [(0, array "i64" [Var 0]); (2, array "i64" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Assign 2 [] [Var 1] (Op Iadd [In 0 [] [Var 1]; Int 9223372036854775808])) |}.

Definition w6_square_ge0 : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "i64" [Var 0])]; returns := numbers "i64" [Var 0];
  source := EMap 9 (ESelect (EOp Ile [ESize (Int 0); EOp Imul [EVar 9; EVar 9]]) (ESize (Int 1)) (ESize (Int 2))) (EVar 0);
  dims := [(0, array "i64" [Var 0]); (2, array "i64" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Assign 2 [] [Var 1] (Int 1)) |}.

Definition v1_empty_result : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := [];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := Skip |}.

Definition v2_result_short : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Op Isub [Var 0; Int 1]];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Op Isub [Var 0; Int 1]) (Assign 2 [] [Var 1] (Op sub [In 0 [] [Var 1]; In 1 [] [Var 1]])) |}.

Definition v3_false_assume : certificate := {|
  sizes := 1; assume := [Var 0; Int (-1)]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := Skip |}.

Definition v3b_assume_n_le_0 : certificate := {|
  sizes := 1; assume := [Var 0; Op Isub [Int 0; Var 0]]; example := [0%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := Skip |}.

Definition v4_law_sub_commutes : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := [Commutes "sub.f32"]; sums := [];
  target := For true 1 (Var 0) (Assign 2 [] [Var 1] (Op sub [In 1 [] [Var 1]; In 0 [] [Var 1]])) |}.

Definition v5_dims_too_big : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Op Iadd [Var 0; Int 1]]); (1, array "f32" [Op Iadd [Var 0; Int 1]]); (2, array "f32" [Op Iadd [Var 0; Int 1]])]; out := 2; laws := []; sums := [];
  target := For true 1 (Op Iadd [Var 0; Int 1]) (Assign 2 [] [Var 1] (Op sub [In 0 [] [Var 1]; In 1 [] [Var 1]])) |}.

Definition v6_out_is_param : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0])]; out := 0; laws := []; sums := [];
  target := For true 1 (Var 0) (Assign 0 [] [Var 1] (Op sub [In 0 [] [Var 1]; In 1 [] [Var 1]])) |}.

Definition v7_wrong_component : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Assign 2 [true] [Var 1] (Op sub [In 0 [] [Var 1]; In 1 [] [Var 1]])) |}.

Definition v8_source_oob : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EView (Vdrop (Var 0)) (EVar 0);
  dims := [(0, array "f32" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Assign 2 [] [Var 1] (In 0 [] [Op Iadd [Var 1; Var 0]])) |}.

Definition v9_dup_param : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Assign 2 [] [Var 1] (Op sub [In 0 [] [Var 1]; In 1 [] [Var 1]])) |}.

Definition v10_index_undeclared_bound : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "i64" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EGather (EVar 1) (EVar 0);
  dims := [(0, array "f32" [Var 0]); (1, array "i64" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Assign 2 [] [Var 1] (In 0 [] [In 1 [] [Var 1]])) |}.

Definition v10b_index_decl : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, [([], (Below (Var 0), [Var 0]))])]; returns := numbers "f32" [Var 0];
  source := EGather (EVar 1) (EVar 0);
  dims := [(0, array "f32" [Var 0]); (1, array "i64" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Assign 2 [] [Var 1] (In 0 [] [In 1 [] [Var 1]])) |}.

Definition v11_loop_var_is_size : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 0 (Var 0) (Assign 2 [] [Var 0] (Op sub [In 0 [] [Var 0]; In 1 [] [Var 0]])) |}.

Definition v12_shadow_local_param : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := Local 0 (For true 1 (Var 0) (Assign 2 [] [Var 1] (Op sub [In 0 [] [Var 1]; In 1 [] [Var 1]]))) |}.

Definition v13_local_is_out : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0])]; out := 2; laws := []; sums := [];
  target := Local 2 (For true 1 (Var 0) (Assign 2 [] [Var 1] (Op sub [In 0 [] [Var 1]; In 1 [] [Var 1]]))) |}.

Definition w7_lt_succ_wraps : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "i64" [Var 0])]; returns := numbers "i64" [Var 0];
  source := EMap 9 (ESelect (EOp Ilt [EVar 9; EOp Wadd [EVar 9; ESize (Int 1)]]) (ESize (Int 1)) (ESize (Int 2))) (EVar 0);
  dims := [(0, array "i64" [Var 0]); (2, array "i64" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Assign 2 [] [Var 1] (Int 1)) |}.

Definition w8_mul_div_wraps : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "i64" [Var 0])]; returns := numbers "i64" [Var 0];
  source := EMap 9 (EOp Wdiv [EOp Wmul [EVar 9; ESize (Int 4)]; ESize (Int 4)]) (EVar 0);
  dims := [(0, array "i64" [Var 0]); (2, array "i64" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Assign 2 [] [Var 1] (In 0 [] [Var 1])) |}.

Definition w9_square_wraps : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "i64" [Var 0])]; returns := numbers "i64" [Var 0];
  source := EMap 9 (ESelect (EOp Ile [ESize (Int 0); EOp Wmul [EVar 9; EVar 9]]) (ESize (Int 1)) (ESize (Int 2))) (EVar 0);
  dims := [(0, array "i64" [Var 0]); (2, array "i64" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Assign 2 [] [Var 1] (Int 1)) |}.

Definition w10_add_commutes : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "i64" [Var 0])]; returns := numbers "i64" [Var 0];
  source := EMap 9 (EOp Wadd [EVar 9; ESize (Int 9223372036854775807)]) (EVar 0);
  dims := [(0, array "i64" [Var 0]); (2, array "i64" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Assign 2 [] [Var 1] (Op Wadd [Op Wadd [Int 9223372036854775807; Int 0]; In 0 [] [Var 1]])) |}.

Definition w11_least_over_minus_one : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "i64" [Var 0])]; returns := numbers "i64" [Var 0];
  source := EMap 9 (EOp Wdiv [ESize (Int (-9223372036854775808)); ESize (Int (-1))]) (EVar 0);
  dims := [(0, array "i64" [Var 0]); (2, array "i64" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Assign 2 [] [Var 1] (Int (-9223372036854775808))) |}.

Definition v14_out_of_another_type : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "i32" [Var 0])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Assign 2 [] [Var 1] (Op sub [In 0 [] [Var 1]; In 1 [] [Var 1]])) |}.

Definition v15_local_of_another_type : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0]); (3, array "i32" [])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Local 3 (Assign 3 [] [] (In 0 [] [Var 1]);; Assign 2 [] [Var 1] (Op sub [In 0 [] [Var 1]; In 1 [] [Var 1]]))) |}.

Definition ok_local : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0]); (1, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source := EMap 9 (EOp sub [EFst (EVar 9); ESnd (EVar 9)]) (EPair (EVar 0) (EVar 1));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [Var 0]); (3, array "f32" [])]; out := 2; laws := []; sums := [];
  target := For true 1 (Var 0) (Local 3 (Assign 3 [] [] (In 0 [] [Var 1]);; Assign 2 [] [Var 1] (Op sub [In 3 [] []; In 1 [] [Var 1]]))) |}.

Set Printing Width 200.

(* x..: elements of arrays of indices, which are below their bound. *)
Definition counted (bound : ty) (guarded : bool) : certificate := {|
  sizes := 2; assume := [Var 0; Var 1; Op Isub [Int 9223372036854775807; Var 0]; Op Isub [Int 9223372036854775807; Var 1]]; example := [1%Z; 1%Z];
  args := [(0, [([], (bound, [Var 0]))]); (1, numbers "f32" [Var 1])]; returns := numbers "f32" [Var 1];
  source :=
    EReduce (Var 0) [([], [Var 1])] InOrder 5 6
      (ESelect (EOp And [EOp Ile [ESize (Int 0); EVar 5]; EOp Ilt [EVar 5; ESize (Var 1)]])
        (EGenerate 7 (ESelect (EOp Ieq [EVar 7; EVar 5])
          (EOp add [EIdx (EVar 6) (EOp Imin [EOp Imax [EVar 5; ESize (Int 0)]; ESize (Op Isub [Var 1; Int 1])]); ELit "f32 3f800000"])
          (EIdx (EVar 6) (EVar 7))))
        (EVar 6))
      (EVar 1) (EMap 8 (EOp Iwrap [EVar 8]) (EVar 0));
  dims := [(0, array "i64" [Var 0]); (1, array "f32" [Var 1]); (2, array "f32" [Var 1])]; out := 2; laws := []; sums := [];
  target :=
    (For true 2 (Var 1) (Assign 2 [] [Var 2] (In 1 [] [Var 2]));;
     For false 3 (Var 0)
       (let store := Assign 2 [] [In 0 [] [Var 3]] (Op add [In 2 [] [In 0 [] [Var 3]]; Lit "f32 3f800000"]) in
        if guarded then If (Op And [Op Ile [Int 0; In 0 [] [Var 3]]; Op Ilt [In 0 [] [Var 3]; Var 1]]) store Skip else store)) |}.
Definition x1_index_below := counted (Below (Var 1)) false.
Definition x2_number := counted (Num "i64") false.
Definition x3_index_not_below := counted (Below (Op Iadd [Var 1; Int 1])) false.
Definition x4_asked_for_nothing := counted (Below (Var 1)) true.
(* Each element from those before it: an array that a loop reads as other iterations left it. *)
Definition solved (read : tm) (below : tm) : certificate := {|
  sizes := 1; assume := [Var 0; Op Isub [Int 9223372036854775807; Var 0]]; example := [2%Z];
  args := [(0, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0];
  source :=
    EReduce (Var 0) [([], [Var 0])] InOrder 5 6
      (ELet 8 (EReduce (Var 0) [([], [])] InOrder 9 10
          (ESelect (EOp Ilt [ESnd (EVar 9); ESnd (EVar 5)]) (EOp add [EVar 10; EFst (EVar 9)]) (EVar 10)) (EFst (EVar 5))
          (EPair (EVar 6) (EGenerate 11 (EVar 11))))
        (EGenerate 7 (ESelect (EOp Ieq [EVar 7; ESnd (EVar 5)]) (EVar 8) (EIdx (EVar 6) (EVar 7)))))
      (EGenerate 12 (ELit "f32 00000000")) (EPair (EVar 0) (EGenerate 13 (EVar 13)));
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0]); (2, array "f32" [])]; out := 1; laws := []; sums := [];
  target :=
    (For true 1 (Var 0) (Assign 1 [] [Var 1] (Lit "f32 00000000"));;
     For false 2 (Var 0) (Local 2
       (Assign 2 [] [] (In 0 [] [Var 2]);;
        For false 3 (Var 0) (Assign 2 [] [] (Op Select [Op Ilt [Var 3; below]; Op add [In 2 [] []; In 1 [] [read]]; In 2 [] []]));;
        Assign 1 [] [Var 2] (In 2 [] [])))) |}.
Definition x5_solved := solved (Var 3) (Var 2).
Definition x6_solved_too_far := solved (Var 3) (Op Iadd [Var 2; Int 1]).
Definition x7_solved_from_another := solved (Op Isub [Op Isub [Var 0; Int 1]; Var 3]) (Var 2).

(* y..: bounds of loops made of the variables of loops around (tiles), and strips of a reduction. *)
Definition tiled (tiles inner out_at in_at : tm) : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0])]; returns := numbers "f32" [Var 0]; source := EVar 0;
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [Var 0])]; out := 1; laws := []; sums := [];
  target := For true 1 tiles (For false 2 inner (Assign 1 [] [out_at] (In 0 [] [in_at]))) |}.
Definition tiles := Op Idiv [Op Iadd [Var 0; Int 15]; Int 16].
Definition place (v : tm) := Op Iadd [Op Imul [Var 1; Int 16]; v].
Definition until (n : tm) := Op Isub [Op Imin [place (Int 16); n]; Op Imul [Var 1; Int 16]].
Definition y1_tiled := tiled tiles (until (Var 0)) (place (Var 2)) (place (Var 2)).
Definition y2_tile_short := tiled tiles (until (Op Isub [Var 0; Int 1])) (place (Var 2)) (place (Var 2)).
Definition y3_tile_long := tiled tiles (until (Op Iadd [Var 0; Int 1])) (place (Var 2)) (place (Var 2)).
Definition y4_last_tile_missing := tiled (Op Idiv [Var 0; Int 16]) (until (Var 0)) (place (Var 2)) (place (Var 2)).
Definition y5_bound_not_in_scope := tiled tiles (Op Isub [Op Imin [place (Int 16); Var 0]; Op Imul [Var 2; Int 16]]) (place (Var 2)) (place (Var 2)).
Definition y6_tiles_overlap := tiled tiles (Op Iadd [until (Var 0); Int 1]) (place (Var 2)) (place (Var 2)).
Definition strips (q : tm) (step inner : tm) : certificate := {|
  sizes := 1; assume := [Var 0]; example := [1%Z];
  args := [(0, numbers "f32" [Var 0])]; returns := numbers "f32" [];
  source := EReduce (Var 0) [([], [])] (Strips q (Int 16)) 8 9 (EOp sub [EVar 9; EVar 8]) (ELit "f32 00000000") (EVar 0);
  dims := [(0, array "f32" [Var 0]); (1, array "f32" [])]; out := 1; laws := []; sums := [];
  target := Assign 1 [] [] (Lit "f32 00000000");; For false 1 tiles (For false 2 inner (Assign 1 [] [] (Op sub [In 1 [] []; In 0 [] [Op Iadd [Op Imul [Var 1; step]; Var 2]]]))) |}.
Definition y7_strips := strips tiles (Int 16) (until (Var 0)).
Definition y8_too_few_strips := strips (Op Idiv [Var 0; Int 16]) (Int 16) (until (Var 0)).
Definition y9_strips_of_15 := strips tiles (Int 15) (until (Var 0)).
Definition y10_strip_short := strips tiles (Int 16) (Op Isub [until (Var 0); Int 1]).

Eval vm_compute in ("ok_sub", verdict ok_sub).
Eval vm_compute in ("m01_swap_sub", verdict m01_swap_sub).
Eval vm_compute in ("m02_index_const", verdict m02_index_const).
Eval vm_compute in ("m03_off_by_one_high", verdict m03_off_by_one_high).
Eval vm_compute in ("m04_off_by_one_low", verdict m04_off_by_one_low).
Eval vm_compute in ("m05_f64_op", verdict m05_f64_op).
Eval vm_compute in ("m06_missing_write", verdict m06_missing_write).
Eval vm_compute in ("m07_guard", verdict m07_guard).
Eval vm_compute in ("m07b_guard_ok", verdict m07b_guard_ok).
Eval vm_compute in ("m08_in_place_input", verdict m08_in_place_input).
Eval vm_compute in ("m09_write_shift_race", verdict m09_write_shift_race).
Eval vm_compute in ("m09b_same_seq", verdict m09b_same_seq).
Eval vm_compute in ("m10_hoisted_local_race", verdict m10_hoisted_local_race).
Eval vm_compute in ("m11_benign_same_value_race", verdict m11_benign_same_value_race).
Eval vm_compute in ("m12_read_uninit", verdict m12_read_uninit).
Eval vm_compute in ("m12b_uninit_mul0", verdict m12b_uninit_mul0).
Eval vm_compute in ("ok_sum", verdict ok_sum).
Eval vm_compute in ("m13_sum_reversed", verdict m13_sum_reversed).
Eval vm_compute in ("m13b_sum_rev_comm", verdict m13b_sum_rev_comm).
Eval vm_compute in ("m14_no_init", verdict m14_no_init).
Eval vm_compute in ("m15_minus_zero_init", verdict m15_minus_zero_init).
Eval vm_compute in ("m16_peel_size0", verdict m16_peel_size0).
Eval vm_compute in ("m17_par_sum", verdict m17_par_sum).
Eval vm_compute in ("ok_par_sum", verdict ok_par_sum).
Eval vm_compute in ("m18b_without_assoc", verdict m18b_without_assoc).
Eval vm_compute in ("m18c_wrong_neutral", verdict m18c_wrong_neutral).
Eval vm_compute in ("m19_start_counted_twice", verdict m19_start_counted_twice).
Eval vm_compute in ("m20_stride", verdict m20_stride).
Eval vm_compute in ("m21_neg_instead_of_sub", verdict m21_neg_instead_of_sub).
Eval vm_compute in ("m22_fma", verdict m22_fma).
Eval vm_compute in ("w1_lt_succ", verdict w1_lt_succ).
Eval vm_compute in ("w2_mul_div", verdict w2_mul_div).
Eval vm_compute in ("w3_add_sub", verdict w3_add_sub).
Eval vm_compute in ("w4_big_literal", verdict w4_big_literal).
Eval vm_compute in ("w5_lit_past_i64", verdict w5_lit_past_i64).
Eval vm_compute in ("w6_square_ge0", verdict w6_square_ge0).
Eval vm_compute in ("v1_empty_result", verdict v1_empty_result).
Eval vm_compute in ("v2_result_short", verdict v2_result_short).
Eval vm_compute in ("v3_false_assume", verdict v3_false_assume).
Eval vm_compute in ("v3b_assume_n_le_0", verdict v3b_assume_n_le_0).
Eval vm_compute in ("v4_law_sub_commutes", verdict v4_law_sub_commutes).
Eval vm_compute in ("v5_dims_too_big", verdict v5_dims_too_big).
Eval vm_compute in ("v6_out_is_param", verdict v6_out_is_param).
Eval vm_compute in ("v7_wrong_component", verdict v7_wrong_component).
Eval vm_compute in ("v8_source_oob", verdict v8_source_oob).
Eval vm_compute in ("v9_dup_param", verdict v9_dup_param).
Eval vm_compute in ("v10_index_undeclared_bound", verdict v10_index_undeclared_bound).
Eval vm_compute in ("v10b_index_decl", verdict v10b_index_decl).
Eval vm_compute in ("v11_loop_var_is_size", verdict v11_loop_var_is_size).
Eval vm_compute in ("v12_shadow_local_param", verdict v12_shadow_local_param).
Eval vm_compute in ("v13_local_is_out", verdict v13_local_is_out).
Eval vm_compute in ("w7_lt_succ_wraps", verdict w7_lt_succ_wraps).
Eval vm_compute in ("w8_mul_div_wraps", verdict w8_mul_div_wraps).
Eval vm_compute in ("w9_square_wraps", verdict w9_square_wraps).
Eval vm_compute in ("w10_add_commutes", verdict w10_add_commutes).
Eval vm_compute in ("w11_least_over_minus_one", verdict w11_least_over_minus_one).
Eval vm_compute in ("v14_out_of_another_type", verdict v14_out_of_another_type).
Eval vm_compute in ("v15_local_of_another_type", verdict v15_local_of_another_type).
Eval vm_compute in ("ok_local", verdict ok_local).
Eval vm_compute in ("x1_index_below", verdict x1_index_below).
Eval vm_compute in ("x2_number", verdict x2_number).
Eval vm_compute in ("x3_index_not_below", verdict x3_index_not_below).
Eval vm_compute in ("x4_asked_for_nothing", verdict x4_asked_for_nothing).
Eval vm_compute in ("x5_solved", verdict x5_solved).
Eval vm_compute in ("x6_solved_too_far", verdict x6_solved_too_far).
Eval vm_compute in ("x7_solved_from_another", verdict x7_solved_from_another).
Eval vm_compute in ("y1_tiled", verdict y1_tiled).
Eval vm_compute in ("y2_tile_short", verdict y2_tile_short).
Eval vm_compute in ("y3_tile_long", verdict y3_tile_long).
Eval vm_compute in ("y4_last_tile_missing", verdict y4_last_tile_missing).
Eval vm_compute in ("y5_bound_not_in_scope", verdict y5_bound_not_in_scope).
Eval vm_compute in ("y6_tiles_overlap", verdict y6_tiles_overlap).
Eval vm_compute in ("y7_strips", verdict y7_strips).
Eval vm_compute in ("y8_too_few_strips", verdict y8_too_few_strips).
Eval vm_compute in ("y9_strips_of_15", verdict y9_strips_of_15).
Eval vm_compute in ("y10_strip_short", verdict y10_strip_short).
