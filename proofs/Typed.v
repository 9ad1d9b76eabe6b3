(* Types of both sides of a certificate. Nothing of a certificate but its two programs has to be believed: the definition (its parameters and their types, what it assumes of
   sizes, its body, the type of its result) and the function (its arrays as it declares them, its loops). That the one has the types that it is declared with, that the
   other stores nothing but numbers of an array's type, applies operations to numbers of their type, and declares the arrays of the definition with its extents, and that
   only laws are asked for that operations have, is computed here.

   A type is a word: "f32", "f64", "i32", "i64", "bool", another type of integers ("u8"); "index" for an exact integer; "int" for a literal that is either. In a definition numbers of type i64 and indices
   are different: an exact operation is of indices. *)
From Coq Require Import ZArith List String Ascii Bool Arith.
From Lozenge Require Import Syntax Poly Norm Rep Target Checker Lazy.
Import ListNotations.
Open Scope string_scope.

(* ---------- words ---------- *)
(* What is before the first letter c, and what is behind it. *)
Fixpoint cut (c : ascii) (s : string) : string * string :=
  match s with
  | EmptyString => (EmptyString, EmptyString)
  | String a s => if Ascii.eqb a c then (EmptyString, s) else let (x, y) := cut c s in (String a x, y)
  end.
Definition one_of (s : string) (l : list string) : bool := existsb (String.eqb s) l.
Definition scalars : list string := ["f32"; "f64"; "i32"; "i64"; "bool"; "i8"; "u8"; "i16"; "u16"; "u32"; "u64"; "f16"].
Definition comparisons : list string := ["eq"; "ne"; "lt"; "le"; "gt"; "ge"].
Definition integers : list string := ["i64"; "index"; "int"].
(* The type that both are; an index or a number of type i64 that a literal is beside. *)
Definition join (a b : string) : option string :=
  if String.eqb a b then Some a
  else if String.eqb a "int" && one_of b integers then Some b
  else if String.eqb b "int" && one_of a integers then Some a
  else None.
Definition whole64 (z : Z) : bool := (- 2 ^ 63 <=? z)%Z && (z <? 2 ^ 63)%Z.

(* ---------- operations ---------- *)
(* The type of a named operation's result, by its name: "add.f32", "lt.f64", "f32.of.i64", "bits.f32". *)
Definition named (name : string) (ts : list string) : option string :=
  let (head, t) := cut "." name in
  let (of_, from) := cut "." t in
  if String.eqb of_ "of" then
    match ts with [t] => if one_of head scalars && (if String.eqb from "i64" then one_of t integers else String.eqb t from) then Some head else None | _ => None end
  else if negb (one_of t scalars) || String.eqb t "f16" then None
  else if negb (forallb (fun u => if String.eqb t "i64" then one_of u ["i64"; "int"] else String.eqb u t) ts) then None
  else match ts with
    | [_] => if String.eqb head "bits" then
        if String.eqb t "f32" then Some "i32" else if String.eqb t "f64" then Some "i64"
        else if String.eqb t "i32" then Some "f32" else if String.eqb t "i64" then Some "f64" else None
      else Some t
    | [_; _] => Some (if one_of head comparisons then "bool" else t)
    | _ => None
    end.
(* [strict]: in a definition. In loops a number of type i64 may be an index that was stored. *)
Definition op_type (strict : bool) (o : op) (ts : list string) : option string :=
  let ints := forallb (fun t => one_of t integers) ts in
  let data := forallb (fun t => one_of t ["i64"; "int"]) ts in
  let exact := forallb (fun t => one_of t ["index"; "int"]) ts in
  match o, ts with
  | Scalar name, _ => named name ts
  | (Iadd | Isub | Imul | Idiv), [_; _] => if (if strict then exact else ints) then Some "index" else None
  | (Imod | Imin | Imax), [a; b] => match join a b with Some t => if ints then Some t else None | None => if ints then Some "index" else None end
  | Iwrap, [_] => if ints then Some "i64" else None
  | (Wadd | Wsub | Wmul | Wdiv), [_; _] => if (if strict then data else ints) then Some "i64" else None
  | (Ieq | Ine | Ilt | Ile), [_; _] => if ints then Some "bool" else None
  | (And | Or), ["bool"; "bool"] | Not, ["bool"] => Some "bool"
  | Select, ["bool"; a; b] => match join a b with Some t => Some t | None => if strict then None else if one_of a integers && one_of b integers then Some "i64" else None end
  | _, _ => None
  end.
Definition literal (s : string) : option string := let (t, _) := cut " " s in if one_of t scalars then Some t else None.

(* ---------- loops ---------- *)
Section Loops.
Variable arrays : list (nat * array).
Definition declared (w : nat) : option array := match find (fun p => Nat.eqb (fst p) w) arrays with Some p => Some (snd p) | None => None end.
Definition component (cs : list bool) (a : array) : option string :=
  match find (fun p => list_eqb Bool.eqb (fst p) cs) (fst a) with Some p => Some (snd p) | None => None end.
Definition element_type (w : nat) (cs : list bool) (is : list (option string)) : option string :=
  match declared w with
  | Some a => if Nat.eqb (List.length is) (List.length (snd a)) && forallb (fun i => match i with Some t => one_of t integers | None => false end) is
      then component cs a else None
  | None => None
  end.
Fixpoint known (l : list (option string)) : option (list string) :=
  match l with [] => Some [] | Some t :: l => match known l with Some ts => Some (t :: ts) | None => None end | None :: _ => None end.
Fixpoint tm_type (t : tm) : option string :=
  match t with
  | Var _ => Some "index"
  | Int z => if whole64 z then Some "int" else None
  | Lit s => literal s
  | Op o ts => match known (map tm_type ts) with Some ts => op_type false o ts | None => None end
  | In w cs is => element_type w cs (map tm_type is)
  | Acc _ _ _ | Fold _ _ _ _ _ => None
  end.
Definition is_integer (t : tm) : bool := match tm_type t with Some t => one_of t integers | None => false end.
(* Whether a number of type b may be stored where numbers of type a are. *)
Definition takes (a b : string) : bool := String.eqb a b || (String.eqb a "i64" && one_of b integers).
Fixpoint cmd_typed (c : cmd) : bool :=
  match c with
  | Skip => true
  | Seq a b => cmd_typed a && cmd_typed b
  | Assign w cs is e => match element_type w cs (map tm_type is), tm_type e with Some a, Some b => takes a b | _, _ => false end
  | Local w c => match declared w with Some _ => cmd_typed c | None => false end
  | For _ _ n c => is_integer n && cmd_typed c
  | If b c1 c2 => match tm_type b with Some t => String.eqb t "bool" | None => false end && cmd_typed c1 && cmd_typed c2
  end.
End Loops.

(* ---------- definitions ---------- *)
(* Components and their types; extents have no part in the type of an element. *)
Definition kinds := list (list bool * string).
Definition number_of (k : option kinds) : option string := match k with Some [([], t)] => Some t | _ => None end.
Fixpoint kinds_join (a b : kinds) : option kinds :=
  match a, b with
  | [], [] => Some []
  | (cs, t) :: a, (cs', t') :: b =>
      match join t t', kinds_join a b with Some t, Some k => if list_eqb Bool.eqb cs cs' then Some ((cs, t) :: k) else None | _, _ => None end
  | _, _ => None
  end.
Definition both (a b : option kinds) : option kinds := match a, b with Some a, Some b => kinds_join a b | _, _ => None end.
Definition half (second : bool) (k : option kinds) : option kinds :=
  match k with
  | Some k => match flat_map (fun p => match fst p with c :: cs => if Bool.eqb c second then [(cs, snd p)] else [] | [] => [] end) k with [] => None | k => Some k end
  | None => None
  end.
Definition index_kind : option kinds := Some [([], "index")].
Definition is_index (k : option kinds) : bool := match number_of k with Some t => one_of t ["index"; "int"] | None => false end.
(* What a fold keeps: the type of the accumulator, which a step gives back. *)
Definition kept (i : option kinds) (step : option kinds -> option kinds) : option kinds :=
  match both i (step i) with Some k => both (Some k) (step (Some k)) | None => None end.
Definition bind_kind (g : nat -> option kinds) x k : nat -> option kinds := fun y => if Nat.eqb x y then k else g y.

Fixpoint exp_type (e : exp) (g : nat -> option kinds) {struct e} : option kinds :=
  match e with
  | EVar x => g x
  | ESize (Int z) => if whole64 z then Some [([], "int")] else None
  | ESize _ => index_kind
  | ELit s => match literal s with Some t => Some [([], t)] | None => None end
  | EOp o es => match known (map (fun e => number_of (exp_type e g)) es) with
      | Some ts => match op_type true o ts with Some t => Some [([], t)] | None => None end
      | None => None end
  | ESelect c a b => match number_of (exp_type c g) with Some t => if String.eqb t "bool" then both (exp_type a g) (exp_type b g) else None | None => None end
  | EPair a b => match exp_type a g, exp_type b g with
      | Some a, Some b => Some (map (fun p => (false :: fst p, snd p)) a ++ map (fun p => (true :: fst p, snd p)) b)%list
      | _, _ => None end
  | EFst e => half false (exp_type e g)
  | ESnd e => half true (exp_type e g)
  | ELet x a b => match exp_type a g with Some k => exp_type b (bind_kind g x (Some k)) | None => None end
  | EMap x f e => match exp_type e g with Some k => exp_type f (bind_kind g x (Some k)) | None => None end
  | EReduce _ _ _ x a f i e | EScan _ _ x a f i e => match exp_type e g with
      | Some k => kept (exp_type i g) (fun i => exp_type f (bind_kind (bind_kind g x (Some k)) a i))
      | None => None end
  | EIterate _ _ _ a f i => kept (exp_type i g) (fun i => exp_type f (bind_kind g a i))
  | EGenerate x f => exp_type f (bind_kind g x index_kind)
  | EView _ e => exp_type e g
  | EPad _ _ v e => both (exp_type v g) (exp_type e g)
  | EConcat _ a b => both (exp_type a g) (exp_type b g)
  | EGather is e => if is_index (exp_type is g) then exp_type e g else None
  | EReorder x f e => if is_index (exp_type f (bind_kind g x index_kind)) then exp_type e g else None
  | EIdx e i => if is_index (exp_type i g) then exp_type e g else None
  | EScatter _ _ is b e => if is_index (exp_type is g) then both (exp_type b g) (exp_type e g) else None
  end.
Definition kind_of (t : ty) : string := match t with Num s => s | Below _ => "index" end.
Definition kinds_of (t : tables) : kinds := map (fun p => (fst p, kind_of (fst (snd p)))) t.

(* ---------- how the two are tied together ---------- *)
Definition stored (t : ty) : string := match t with Num s => s | Below _ => "i64" end.
Fixpoint distinct (l : list nat) : bool := match l with [] => true | a :: l => negb (mem a l) && distinct l end.
Section Certificate.
Variable ct : certificate.
Definition same_extents (a b : list tm) : bool := list_eqb peqb (map (poly_of (base_facts ct)) a) (map (poly_of (base_facts ct)) b).
(* Whether the loops declare the array as the definition has it. *)
Definition agrees (w : nat) (t : tables) : bool :=
  match declared (dims ct) w, t with
  | Some a, _ :: _ =>
      list_eqb (fun p q => list_eqb Bool.eqb (fst p) (fst q) && String.eqb (snd p) (snd q)) (fst a) (map (fun p => (fst p, stored (fst (snd p)))) t) &&
      forallb (fun p => same_extents (snd a) (snd (snd p))) t
  | _, _ => false
  end.
Definition ty_closed (t : ty) : bool := match t with Num s => one_of s scalars | Below n => closed (sizes ct) n end.
Definition tables_closed (t : tables) : bool := forallb (fun p => ty_closed (fst (snd p)) && forallb (closed (sizes ct)) (snd (snd p))) t.
End Certificate.

(* ---------- laws ---------- *)
(* Of addition and multiplication, minimum and maximum, and of bits: these commute in machine arithmetic too (any NaN is as good as any other). That they associate, and
   have these neutral numbers, is so for real numbers and for integers. In minimum and maximum a NaN gives way to every number. *)
Definition neutrals : list (string * string) := [
  ("add.f32", "f32 00000000"); ("add.f64", "f64 0000000000000000"); ("add.i32", "i32 0");
  ("mul.f32", "f32 3f800000"); ("mul.f64", "f64 3ff0000000000000"); ("mul.i32", "i32 1");
  ("min.f32", "f32 7fc00000"); ("min.f64", "f64 7ff8000000000000"); ("min.i32", "i32 2147483647");
  ("max.f32", "f32 7fc00000"); ("max.f64", "f64 7ff8000000000000"); ("max.i32", "i32 -2147483648");
  ("add.i8", "i8 0"); ("mul.i8", "i8 1"); ("min.i8", "i8 127"); ("max.i8", "i8 -128");
  ("add.u8", "u8 0"); ("mul.u8", "u8 1"); ("min.u8", "u8 255"); ("max.u8", "u8 0");
  ("add.i16", "i16 0"); ("mul.i16", "i16 1"); ("min.i16", "i16 32767"); ("max.i16", "i16 -32768");
  ("add.u16", "u16 0"); ("mul.u16", "u16 1"); ("min.u16", "u16 65535"); ("max.u16", "u16 0");
  ("add.u32", "u32 0"); ("mul.u32", "u32 1"); ("min.u32", "u32 4294967295"); ("max.u32", "u32 0");
  ("add.u64", "u64 0"); ("mul.u64", "u64 1"); ("min.u64", "u64 18446744073709551615"); ("max.u64", "u64 0")].
Definition lawful (l : law) : bool :=
  match l with
  | Commutes o | Associates o => existsb (fun p => String.eqb (fst p) o) neutrals
  | Neutral z o => existsb (fun p => String.eqb (fst p) o && String.eqb (snd p) z) neutrals
  end.

(* The variables of loops: each sum in parallel is one of them. *)
Fixpoint loops_of (c : cmd) : list nat :=
  match c with
  | Skip | Assign _ _ _ _ => []
  | Seq a b | If _ a b => loops_of a ++ loops_of b
  | Local _ c => loops_of c
  | For _ x _ c => x :: loops_of c
  end.

(* ---------- all of it ---------- *)
Definition typed (ct : certificate) : bool :=
  let given a := option_map kinds_of (match find (fun p => Nat.eqb (fst p) a) (args ct) with Some p => Some (snd p) | None => None end) in
  distinct (map fst (dims ct)) && distinct (params ct) && negb (mem (out ct) (params ct)) &&
  forallb (fun p => tables_closed ct (snd p) && agrees ct (fst p) (snd p)) (args ct) &&
  tables_closed ct (returns ct) && agrees ct (out ct) (returns ct) &&
  match both (exp_type (source ct) given) (Some (kinds_of (returns ct))) with Some _ => true | None => false end &&
  forallb lawful (laws ct) &&
  forallb (fun p => mem (fst p) (loops_of (target ct))) (sums ct) &&
  cmd_typed (dims ct) (target ct).
Definition well_typed (ct : certificate) : Prop := typed ct = true.
