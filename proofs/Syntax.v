(* What a certificate is made of: the functional program, the loops that the compiler made of it, and how the two are tied
   together. The compiler prints these data; nothing here is computed. What they mean is in Semantics.v, how they are
   checked in Check.v.

   Conventions
   - An array is a table of numbers. Pairs are taken apart: the number of a value at components [cs] (false is the first
     component, true the second, outermost first) and subscripts [is]. So an array of pairs and a pair of arrays are the
     same tables, and [zip], [pair] and [unzip] cost nothing.
   - Integers are mathematical: sizes, indices, subscripts and bounds are exact, and what is computed of numbers of type i64 is an operation that
     wraps ([Iwrap], [Wadd], …), as it does in the language and in C. Other numbers, and what is computed of them, are abstract:
     an operation is its name, a constant is its text. Nothing is assumed of them, so equality is equality of bits. *)
From Coq Require Import ZArith List String.
Import ListNotations.

(* ---------- operations ---------- *)
Inductive op :=
| Iadd | Isub | Imul | Idiv | Imod | Imin | Imax     (* of integers, exact; quotients are floored *)
| Iwrap                                              (* an integer as a number of 64 bits: modulo 2^64, from -2^63 *)
| Wadd | Wsub | Wmul | Wdiv                               (* the same of the exact result: operations of numbers of type i64 *)
| Ieq | Ine | Ilt | Ile                              (* comparison of integers *)
| And | Or | Not                                     (* of truth values *)
| Select                                             (* [Select; c; a; b]: a where c holds, else b *)
| Scalar (name : string).                            (* anything else: "add.f32", "sqrt.f64", "gt.f32", "f32.of.i64" … *)

(* ---------- terms: expressions of loops, sizes and subscripts, and what the checker makes of both sides ---------- *)
Inductive tm :=
| Var (x : nat)                       (* an integer: the size parameter or loop variable of this number *)
| Int (z : Z)
| Lit (s : string)                    (* a constant that is no integer, such as "f32 3f800000" *)
| Op (o : op) (ts : list tm)
| In (a : nat) (cs : list bool) (is : list tm)        (* the number of array [a] there *)
(* The checker's own; never printed by the compiler. *)
| Acc (l k : nat) (is : list tm)                      (* accumulator [k] of the fold that binds level [l] *)
| Fold (l : nat) (n : tm) (accs : list (tm * tm)) (k : nat) (is : list tm).
    (* accumulator [k] after [n] steps. Each has an initial value and a next value, over its subscripts [Var (l + 1)], … and,
       the next value, over the step [Var l] and the accumulators [Acc l _] before it *)

(* ---------- commands: the loops ---------- *)
Inductive cmd :=
| Skip
| Seq (a b : cmd)
| Assign (w : nat) (cs : list bool) (is : list tm) (e : tm)
| Local (w : nat) (c : cmd)                           (* array [w] with unknown contents, for the time of [c] *)
| For (par : bool) (x : nat) (n : tm) (c : cmd)       (* x from 0 below n; in any order if [par] *)
| If (b : tm) (c1 c2 : cmd).

(* ---------- functional programs ---------- *)
(* Views: the element at some subscripts is an element of what is viewed at others. *)
Inductive view :=
| Vsplit (k : tm)             (* i, j of the result is i * k + j *)
| Vjoin (n : tm)              (* i is i / n, i mod n; n is the inner length *)
| Vtranspose
| Vreverse (n : tm)           (* i is n - 1 - i *)
| Vslide (s : tm)             (* i, j is i * s + j; s is the step *)
| Vdrop (k : tm)              (* i is i + k *)
| Vpadclamp (l n : tm)        (* i is min (max (i - l) 0) (n - 1); n is the length of what is padded *)
| Vsplat.                     (* i is nothing: every element is the same value *)

(* The tables of an accumulator or a result: components and extents of each. *)
Definition shape := list (list bool * list tm).

(* Hints, which mean nothing: how the loops go through a reduction. Those that move numbers need laws of its operation. *)
Inductive order :=
| InOrder                               (* one element after another *)
| Blocks (q m : tm)                     (* q blocks of m elements, and then the rest, each element in its place *)
| Tree (q m : tm) (zero : string)       (* the sums of q blocks of m, each from zero, and then the rest *)
| Lanes (q m : tm) (zero : string)      (* m sums, each of every m-th of q * m elements, from zero; and then the rest *)
| Joined (how : order)                  (* of the sums of rows: one sum of all elements, in this order *)
| Turns                                 (* two elements at a time, and then the rest *)
| Strips (q m : tm).                    (* q blocks of m elements, the last of which may be shorter *)

Inductive exp :=
| EVar (x : nat)                        (* a parameter (its number is its array's), or the variable of a binder below *)
| ESize (a : tm)                        (* an integer made of sizes *)
| ELit (s : string)
| EOp (o : op) (es : list exp)          (* on numbers, and lane by lane on vectors; not Select *)
| ESelect (c a b : exp)
| EPair (a b : exp)                     (* also zip *)
| EFst (e : exp) | ESnd (e : exp)
| ELet (x : nat) (a b : exp)
| EMap (x : nat) (f e : exp)            (* every strategy: the loops show which *)
| EReduce (n : tm) (sh : shape) (how : order) (x a : nat) (f i e : exp)
    (* x: element, a: accumulator; sh: tables of the accumulator *)
| EScan (n : tm) (sh : shape) (x a : nat) (f i e : exp)
| EIterate (n : tm) (sh : shape) (twice : bool) (a : nat) (f i : exp)   (* twice: a hint that the loops do two steps at a time *)
| EGenerate (x : nat) (f : exp)         (* also iota: EGenerate x (EVar x) *)
| EView (v : view) (e : exp)
| EPad (l n : tm) (v e : exp)           (* l elements v in front of e, which has n elements, and v behind *)
| EConcat (n : tm) (a b : exp)          (* n: length of a *)
| EGather (is e : exp)
| EReorder (x : nat) (f e : exp)
| EIdx (e i : exp)
| EScatter (n : tm) (sh : shape) (is b e : exp).
    (* b, where one element of e after another is put where is says; n: how many, sh: tables of the result *)
(* copy, copySeq, toMem, take and unzip are the program itself; transPar is transpose, reverseSeq reverse, asVector split, asScalar join. *)

(* ---------- types ---------- *)
Inductive ty :=
| Num (name : string)                   (* numbers: "f32", "f64", "i32", "i64", "u8", ..., and truth values, "bool" *)
| Below (n : tm).                       (* an index: an integer from 0 below that *)
(* The type of a value: components, and the type and extents of each. *)
Definition tables := list (list bool * (ty * list tm)).
(* An array as the loops declare it: components with their types in C, and extents. *)
Definition array := (list (list bool * string) * list tm)%type.

(* ---------- certificates ---------- *)
(* Laws that operations of two numbers may have. *)
Inductive law :=
| Commutes (o : string)                 (* o(a, b) = o(b, a) *)
| Associates (o : string)               (* o(o(a, b), c) = o(a, o(b, c)) *)
| Neutral (zero o : string).            (* o(zero, a) = a, for the constant of this text *)

Record certificate := {
  sizes : nat;                          (* size parameters are Var 0, …, Var (sizes - 1) *)
  assume : list tm;                     (* what is known of the sizes: each of these integers is at least 0 *)
  example : list Z;                     (* sizes of which all that holds: what is proved is not proved of nothing *)
  args : list (nat * tables);           (* parameters of the program: their numbers, and the types that it gives them *)
  returns : tables;                     (* the type of its result *)
  source : exp;
  dims : list (nat * array);            (* arrays as the loops declare them: those of the parameters and of the result, and locals *)
  out : nat;                            (* the array that gets the result *)
  laws : list law;                      (* what the certificate needs of operations *)
  sums : list (nat * tm);               (* loops that are run in parallel although each iteration updates one number at its end: their variable, and the constant
                                           that threads begin with. What comes out is some way to combine all (Reorder.v). *)
  target : cmd }.

(* Arrays that come in; numbers of locals and of the result are none of them. *)
Definition params (ct : certificate) : list nat := map fst (args ct).
(* Arrays of indices: the elements of array a are from 0 below that. *)
Definition indices (ct : certificate) : list (nat * tm) :=
  flat_map (fun p => match snd p with [(_, (Below n, _))] => [(fst p, n)] | _ => [] end) (args ct).
Definition result (ct : certificate) : shape := map (fun t => (fst t, snd (snd t))) (returns ct).
