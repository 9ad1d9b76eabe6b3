(* Whether the loops that the compiler made are those that the translation of Translation.v makes: a function that computes the answer for one program at
   given sizes. Nothing is proved of it, and nothing rests on it; it is there so that the rules that are written down here and the compiler's code for
   them cannot drift apart unseen.

   Both sides are followed iteration by iteration. They are the same if they have the same loops (how many iterations, in parallel or in sequence) and branches
   in the same order, and assignments that write the same element and compute the same expression of the same elements. What is left out of the comparison:
   - how views are composed: elements and expressions are compared by what they are ([loc] and [ev], the rules cga and cge), not by how they are written;
   - where memory is declared, and the names of variables: a local array is that which it is first written as;
   - constant subscripts, sizes and comparisons of such, which are computed on both sides; operands of operations that commute (x = e + x is written x += e);
   - choices by data inside an expression: [seed] decides them, by the text of their condition, and the contents of arrays of indices; so one compares
     at several seeds. *)
From Coq Require Import ZArith List String Ascii Bool Arith Lia.
From Lozenge Require Syntax Semantics Poly.
From Lozenge Require Import Paths Phrases Translation.
Import ListNotations.
Module S := Lozenge.Syntax.
Local Open Scope string_scope.
Local Open Scope list_scope.
Local Open Scope nat_scope.

(* ---------- numbers as what they are computed from ---------- *)
Inductive tree :=
| Elem (l : nat) (cs : list bool) (is : list nat)     (* an element of the array of level [l] *)
| Whole (z : Z) | Truth (b : bool) | Const (s : string) | Apply (o : S.op) (ts : list tree) | Nothing.
Definition bools_eqb := Poly.list_eqb Bool.eqb.
Definition nats_eqb := Poly.list_eqb Nat.eqb.
Section Equal.
Variable commutative : list string.
Definition commutes (o : S.op) : bool := match o with
  | S.Iadd | S.Imul | S.Imin | S.Imax | S.Wadd | S.Wmul | S.Ieq | S.Ine | S.And | S.Or => true
  | S.Scalar n => existsb (String.eqb n) commutative | _ => false end.
Fixpoint tree_eqb (a b : tree) {struct a} : bool :=
  match a, b with
  | Elem l cs is, Elem l' cs' is' => Nat.eqb l l' && bools_eqb cs cs' && nats_eqb is is'
  | Whole x, Whole y => Z.eqb x y
  | Truth x, Truth y => Bool.eqb x y
  | Const x, Const y => String.eqb x y
  | Apply o ts, Apply o' ts' => (if Poly.op_dec o o' then true else false) &&
      (Poly.list_eqb tree_eqb ts ts' || (commutes o && match ts, ts' with [x; y], [y'; x'] => tree_eqb x x' && tree_eqb y y' | _, _ => false end))
  | Nothing, Nothing => true
  | _, _ => false
  end.
End Equal.

(* Operations of what is known are computed. *)
Definition apply (o : S.op) (ts : list tree) : tree :=
  match o, ts with
  | S.Iadd, [Whole a; Whole b] => Whole (a + b) | S.Isub, [Whole a; Whole b] => Whole (a - b) | S.Imul, [Whole a; Whole b] => Whole (a * b)
  | S.Idiv, [Whole a; Whole b] => Whole (a / b) | S.Imod, [Whole a; Whole b] => Whole (a mod b)
  | S.Iwrap, [Whole a] => Whole (Semantics.wrap a)
  | S.Wadd, [Whole a; Whole b] => Whole (Semantics.wrap (a + b)) | S.Wsub, [Whole a; Whole b] => Whole (Semantics.wrap (a - b))
  | S.Wmul, [Whole a; Whole b] => Whole (Semantics.wrap (a * b)) | S.Wdiv, [Whole a; Whole b] => Whole (Semantics.wrap (a / b))
  | S.Imin, [Whole a; Whole b] => Whole (Z.min a b) | S.Imax, [Whole a; Whole b] => Whole (Z.max a b)
  | S.Ieq, [Whole a; Whole b] => Truth (a =? b)%Z | S.Ine, [Whole a; Whole b] => Truth (negb (a =? b)%Z)
  | S.Ilt, [Whole a; Whole b] => Truth (a <? b)%Z | S.Ile, [Whole a; Whole b] => Truth (a <=? b)%Z
  | S.And, [Truth a; Truth b] => Truth (a && b) | S.Or, [Truth a; Truth b] => Truth (a || b) | S.Not, [Truth a] => Truth (negb a)
  | _, _ => Apply o ts
  end.

(* Numbers that stand for terms, so that what is taken for random is a function of them. *)
Definition mix (a b : Z) : Z := ((a * 31 + b * 17 + 7) mod 1000003)%Z.
Definition letters (s : string) : Z := fold_right (fun c z => mix z (Z.of_nat (nat_of_ascii c))) 1%Z (list_ascii_of_string s).
(* Those whose operands the compiler may exchange take them in any order. *)
Definition ordered (o : S.op) : bool := match o with
  | S.Iadd | S.Imul | S.Imin | S.Imax | S.Wadd | S.Wmul | S.Ieq | S.Ine | S.And | S.Or => false
  | S.Scalar n => negb (existsb (fun p => prefix p n) ["add."; "mul."; "min."; "max."]) | _ => true end.
Fixpoint key (t : tree) : Z :=
  match t with
  | Elem l cs is => fold_right (fun i z => mix z (Z.of_nat i)) (fold_right (fun c z => mix z (if c : bool then 1 else 2)%Z) (Z.of_nat l) cs) is
  | Whole z => mix 3 z | Truth b => if b then 5 else 6 | Const s => letters s | Nothing => 0
  | Apply o ts =>
      let start := match o with S.Scalar n => letters n | o => Z.of_nat (Poly.op_tag o) end in
      if ordered o then fold_left (fun z t => mix z (key t)) ts start else fold_left (fun z t => z + key t) ts start
  end%Z.

Section Compare.
Variable seed : Z.
Variable ops : list S.op.                             (* an operation of the theory is its place here *)
Variable commutative : list string.
Instance trees : Scalars := {|
  number := tree; zero := Nothing;
  op1 o a := apply (nth o ops S.Not) [a];
  op2 o a b := apply (nth o ops S.Not) [a; b];
  truth t := match t with Truth b => b | _ => Z.odd (mix seed (key t) / 3) end;
  of_nat i := Whole (Z.of_nat i);
  to_nat t := match t with Whole z => Z.to_nat z | _ => 0 end;
  to_of_nat := Nat2Z.id |}.

(* Arrays of indices: level, components, and what their elements are below. *)
Variable indices : list (nat * list bool * nat).
(* What may differ: which loops are parallel; memory that is only filled and then copied may be that which it is copied to (accumulators that are updated
   in place, or are the output); a branch may be a choice inside an expression, and the other way round. *)
Variables loose same_memory choices : bool.
Definition content (l : nat) (cs : list bool) (is : list nat) : tree :=
  match find (fun x => Nat.eqb (fst (fst x)) l && bools_eqb (snd (fst x)) cs) indices with
  | Some (_, _, b) => Whole (mix seed (key (Elem l cs is)) mod Z.of_nat b)
  | None => Elem l cs is
  end.
Definition comps (p : path) : list bool := flat_map (fun t => match t with Lf => [false] | Rg => [true] | Ix _ => [] end) p.
Definition subs (p : path) : list nat := flat_map (fun t => match t with Ix i => [i] | _ => [] end) p.
(* Memory of the theory may be other memory, by [at_]. *)
Definition memory (at_ : nat -> path -> nat * path) : store := fun l p => let (l, p) := at_ l p in content l (comps p) (subs p).
Fixpoint copied (c : comm) : option (iacc * nat) :=
  match c with
  | Assign a x => option_map (pair a) ((fix root x := match x with IVar l => Some l | IAt x _ => root x | IView _ x => root x | _ => None end) x)
  | For _ l _ c => match copied c with Some (AAt a l', n) => if Nat.eqb l l' then Some (a, n) else None | _ => None end
  | Seq c _ => match copied c with Some (APut _ _ a, n) => Some (a, n) | _ => None end
  | _ => None
  end.
Definition becomes (l : nat) (cp : comm) (io : ienv) (at_ : nat -> path -> nat * path) : option (nat -> path -> nat * path) :=
  match copied cp with
  | Some (a, l') => if Nat.eqb l l' then Some (fun k p => if Nat.eqb k l then let (k, p) := loc io a p in at_ k p else at_ k p) else None
  | None => None
  end.

(* Arrays of the loops: level and components in front. *)
Definition names := list (nat * (nat * list bool)).
Definition place (m : names) (w : nat) : option (nat * list bool) := option_map snd (find (fun x => Nat.eqb (fst x) w) m).
Fixpoint value (m : names) (io : nat -> Z) (t : S.tm) : tree :=
  match t with
  | S.Var x => Whole (io x)
  | S.Int z => Whole z
  | S.Lit s => Const s
  | S.Op o ts =>
      match o, ts with
      | S.Select, [c; a; b] => if truth (value m io c) then value m io a else value m io b
      | _, _ => apply o (map (value m io) ts)
      end
  | S.In w cs is => match place m w with
      | Some (l, pre) => content l (pre ++ cs) (map (fun i => to_nat (value m io i)) is)
      | None => Nothing
      end
  | _ => Nothing
  end.
Definition number_of (io : nat -> Z) (t : S.tm) : nat := to_nat (value [] io t).

(* The end of a list of components, without that. *)
Fixpoint before (cs tail : list bool) : option (list bool) :=
  if bools_eqb cs tail then Some [] else match cs with [] => None | c :: cs => option_map (cons c) (before cs tail) end.

Fixpoint flat (c : S.cmd) : list S.cmd :=
  match c with S.Skip => [] | S.Seq a b => flat a ++ flat b | S.Local _ c => flat c | c => [c] end.

Inductive answer (A : Type) := Same (a : A) | Differs (why : string) (theory compiler : list tree).
Arguments Same {A} a. Arguments Differs {A} why theory compiler.
Definition and_then {A B} (x : answer A) (f : A -> answer B) : answer B := match x with Same a => f a | Differs w t u => Differs w t u end.
Fixpoint repeat_ (n : nat) (f : nat -> names -> answer names) (m : names) : answer names :=
  match n with O => Same m | S n => and_then (repeat_ n f m) (f n) end.

Definition what (c : S.cmd) : string := match c with
  | S.Assign _ _ _ _ => "an assignment" | S.For true _ _ _ => "a parallel loop" | S.For _ _ _ _ => "a loop" | S.If _ _ _ => "a branch" | _ => "something" end.
Definition next (cs : list S.cmd) : string := match cs with c :: _ => what c | [] => "the end" end.
Definition differ {A} (theory : string) (cs : list S.cmd) : answer A := Differs (theory ++ " is " ++ next cs)%string [] [].

(* The compiler's commands from here, branches at the front decided. *)
Fixpoint decided (m : names) (io : nat -> Z) (c : S.cmd) : list S.cmd :=
  match c with
  | S.If x a b => if truth (value m io x) then decided m io a else decided m io b
  | S.Seq a b => decided m io a ++ flat b | S.Local _ c => decided m io c | S.Skip => [] | c => [c]
  end.
Definition element (at_ : nat -> path -> nat * path) (io : ienv) (a : iacc) : nat * list bool * list nat :=
  let (l, p) := loc io a [] in let (l, p) := at_ l p in (l, comps p, subs p).
(* One assignment against another. *)
Definition assigned (e : nat * list bool * list nat) (v v' : tree) (w : nat) (comp : list bool) (is : list nat) (m : names) : answer names :=
  let '(l, cs, js) := e in
  if negb (tree_eqb commutative v v') then Differs "another expression" [v] [v'] else
  match place m w with
  | Some (l', pre) =>
      if tree_eqb commutative (Elem l cs js) (Elem l' (pre ++ comp) is) then Same m
      else Differs "another element" [Elem l cs js] [Elem l' (pre ++ comp) is]
  | None =>
      match before cs comp with
      | Some pre => if nats_eqb js is && negb (existsb (fun x => Nat.eqb (fst (snd x)) l && bools_eqb (snd (snd x)) pre) m)
          then Same ((w, (l, pre)) :: m) else Differs "another element of new memory" [Elem l cs js] [Elem w comp is]
      | None => Differs "another component of new memory" [Elem l cs js] [Elem w comp is]
      end
  end.

(* What is left of the compiler's commands behind those of the theory. *)
Fixpoint follow (c : comm) (at_ : nat -> path -> nat * path) (io : ienv) (cs : list S.cmd) (io' : nat -> Z) (m : names) {struct c} : answer (list S.cmd * names) :=
  match c with
  | Skip => Same (cs, m)
  | Seq a b => and_then (follow a at_ io cs io' m) (fun r => follow b at_ io (fst r) io' (snd r))
  | New l d c =>
      let m := filter (fun x => negb (Nat.eqb (fst (snd x)) l)) m in
      let at_l := fun k p => if Nat.eqb k l then (k, p) else at_ k p in
      match follow c at_l io cs io' m with
      | Same r => Same r
      | differs =>
          if negb same_memory then differs else
          match c with
          | Seq a cp => match becomes l cp io at_l with
              | Some at_ => follow a at_ io cs io' m
              | None =>
                  match cp with
                  | Seq b cp => match becomes l cp io at_l with
                      | Some at_ => and_then (follow a at_ io cs io' m) (fun r => follow b at_ io (fst r) io' (snd r))
                      | None => differs end
                  | _ => differs
                  end
              end
          | _ => differs
          end
      end
  | Assign a x =>
      match (match cs with S.If p q r :: cs => if choices then decided m io' (S.If p q r) ++ cs else S.If p q r :: cs | cs => cs end) with
      | S.Assign w comp is e :: cs =>
          and_then (assigned (element at_ io a) (ev (memory at_) io x []) (value m io' e) w comp (map (fun i => to_nat (value m io' i)) is) m) (fun m => Same (cs, m))
      | cs => differ "an assignment" cs
      end
  | For par l n c =>
      match cs with
      | S.For par' x n' c' :: cs =>
          if negb loose && negb (Bool.eqb par par') then differ (if par then "a parallel loop" else "a loop in sequence") (S.For par' x n' c' :: cs) else
          if negb (Nat.eqb n (number_of io' n')) then Differs "another number of iterations" [Whole (Z.of_nat n)] [value m io' n'] else
          and_then (repeat_ n (fun i m =>
            and_then (follow c at_ (upd io l i) (flat c') (fun y => if Nat.eqb x y then Z.of_nat i else io' y) m) (fun r =>
              match fst r with [] => Same (snd r) | rest => differ "the end of a loop" rest end)) m)
            (fun m => Same (cs, m))
      | _ => differ (if par then "a parallel loop" else "a loop") cs
      end
  | If x a b =>
      let v := ev (memory at_) io x [] in
      match cs with
      | S.If x' a' b' :: cs =>
          let v' := value m io' x' in
          if negb (tree_eqb commutative v v') then Differs "another condition" [v] [v'] else
          let side c c' m := and_then (follow c at_ io (flat c') io' m) (fun r => match fst r with [] => Same (snd r) | rest => differ "the end of a branch" rest end) in
          and_then (side a a' m) (fun m => and_then (side b b' m) (fun m => Same (cs, m)))
      | _ => if choices then (if truth v then follow a at_ io cs io' m else follow b at_ io cs io' m) else differ "a branch" cs
      end
  | Index l n j c =>
      let i := to_nat (ev (memory at_) io j []) in
      if i <? n then follow c at_ (upd io l i) cs io' m else differ "an index out of bounds" cs
  | _ => differ "a command without counterpart" cs
  end.
Definition verdict (c : comm) (cs : S.cmd) (sizes : list Z) (m : names) : string :=
  match follow c pair (fun _ => 0) (flat cs) (fun x => nth x sizes 0%Z) m with
  | Same ([], _) => "same"
  | Same (rest, _) => ("differs: the end is " ++ next rest)%string
  | Differs why _ _ => ("differs: " ++ why)%string
  end.

End Compare.
Fixpoint selects (t : S.tm) : bool := match t with
  | S.Op S.Select _ => true | S.Op _ ts | S.In _ _ ts => existsb selects ts | _ => false end.
Fixpoint chooses (c : S.cmd) : bool := match c with
  | S.Seq a b => chooses a || chooses b | S.Assign _ _ _ e => selects e | S.Local _ c | S.For _ _ _ c => chooses c | S.If _ _ _ => true | _ => false end.
(* The same, if need be up to what may differ; else how they differ. *)
Definition allowances : list (string * (bool * bool * bool)) :=
  [("same", (false, false, false)); ("same but for which loops are parallel", (true, false, false));
   ("same but for where results are accumulated", (false, true, false)); ("same but for branches that are choices", (false, false, true));
   ("same but for which loops are parallel and where results are accumulated", (true, true, false));
   ("same but for which loops are parallel and branches that are choices", (true, false, true));
   ("same but for where results are accumulated and branches that are choices", (false, true, true));
   ("same but for which loops are parallel, where results are accumulated, and branches that are choices", (true, true, true))].
(* [program]: by whether all accumulators are local memory, a choice that the theory leaves open. *)
Definition compare ops commutative indices (program : bool -> forall seed, comm (K := trees seed ops)) cs sizes m : string :=
  let at_ keep (a : bool * bool * bool) seed := let '(x, y, z) := a in verdict seed ops commutative indices x y z (program keep seed) cs sizes m in
  (* Where there is something to choose, at many seeds. *)
  let seeds := if chooses cs then map Z.of_nat (seq 1 16) else [1; 2]%Z in
  let all keep a := (fix go l := match l with [] => "same" | seed :: l => let s := at_ keep a seed in if String.eqb s "same" then go l else s end) seeds in
  (fix try l := match l with
    | [] => all false (true, true, true)
    | (said, a) :: l => if String.eqb (all false a) "same" then said else if String.eqb (all true a) "same" then said else try l end) allowances.

(* ---------- programs ---------- *)
(* Side conditions of programs, by computation. *)
Definition below (m n : nat) (f : nat -> nat) : bool := forallb (fun i => f i <? n) (seq 0 m).
Lemma below_ok m n f : below m n f = true -> forall i, i < m -> f i < n.
Proof. intros H i Hi. unfold below in H. rewrite forallb_forall in H. apply Nat.ltb_lt, H, in_seq. split; [apply Nat.le_0_l|exact Hi]. Qed.
Definition below2 (m w n : nat) (f : nat -> nat -> nat) : bool := forallb (fun i => forallb (fun j => f i j <? n) (seq 0 w)) (seq 0 m).
Lemma below2_ok m w n f : below2 m w n f = true -> forall i j, i < m -> j < w -> f i j < n.
Proof.
  intros H i j Hi Hj. unfold below2 in H. rewrite forallb_forall in H.
  assert (K : forallb (fun j => f i j <? n) (seq 0 w) = true) by (apply H, in_seq; split; [apply Nat.le_0_l|exact Hi]).
  rewrite forallb_forall in K. apply Nat.ltb_lt, K, in_seq. split; [apply Nat.le_0_l|exact Hj].
Qed.
Lemma mirror n : forall i, i < n -> n - 1 - i < n /\ n - 1 - i < n /\ n - 1 - (n - 1 - i) = i /\ n - 1 - (n - 1 - i) = i.
Proof. lia. Qed.
Lemma at_most i n : (i <? n) = true -> i < n. Proof. apply Nat.ltb_lt. Qed.
Definition pick n m t f (H : below m n f = true) : view (ary n t) (ary m t) := VPick n m t f (below_ok m n f H).
Definition window n m w t f (H : below2 m w n f = true) : view (ary n t) (ary m (ary w t)) := VWindow n m w t f (below2_ok m w n f H).
Definition mirrored n t : view (ary n t) (ary n t) := VPerm n t (fun i => n - 1 - i) (fun i => n - 1 - i) (mirror n).
Definition known {K : Scalars} {G} n i (H : (i <? n) = true) : exp G (idx n) := Nat i (at_most i n H).
Definition moved {K : Scalars} {G n} m f (H : below n m f = true) (i : exp G (idx n)) : exp G (idx m) := Move f (below_ok n m f H) i.
