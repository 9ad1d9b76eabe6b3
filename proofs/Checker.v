(* The checker of certificates. That it accepts means what Check.v says. *)
From Coq Require Import ZArith List String Bool Lia Arith.
From Lozenge Require Import Syntax Semantics Poly Norm Rep Source Target Match Lazy.
Import ListNotations.

Definition cin (a : nat) : cval := fun cs _ F is => Some (In a cs (map (nf F) is)).
Definition inputs (ct : certificate) : nat -> cval := fun a => if mem a (params ct) then cin a else none.
Definition base_facts (ct : certificate) : facts := map (poly_of []) (assume ct).
Definition extents (ct : certificate) (w : nat) : list tm :=
  match find (fun p => Nat.eqb (fst p) w) (dims ct) with Some p => snd p | None => [] end.

(* The two sides at one table of the result. *)
Definition sides (ct : certificate) (p : plan) (leaf : list bool * list tm) : option tm * option tm :=
  let ns := sizes ct in
  let base := base_facts ct in
  let (cs, ds) := leaf in
  let ys := levels ns (List.length ds) in
  let N := ns + List.length ds in
  let F := ranges base ys ds ++ base in
  (sym ns (source ct) (inputs ct) cs N F ys,
   sx (extents ct) p (target ct) (fun x => if Nat.ltb x ns then Var x else Int 0) (inputs ct) (out ct) cs N F ys).

Definition check (ct : certificate) : bool :=
  let p := plan_of (sizes ct) (base_facts ct) [] (map (fun a => (a, @nil bool)) (params ct)) (target ct) in
  plan_ok (sizes ct) (base_facts ct) (extents ct) [] p (target ct) &&
  forallb (closed (sizes ct)) (assume ct) &&
  forallb (fun a => negb (mem a (written (target ct)))) (params ct) &&
  forallb (fun leaf => forallb (closed (sizes ct)) (snd leaf) &&
    match sides ct p leaf with
    | (Some a, Some b) => eqv (commutative ct) [] a b
    | _ => false
    end) (result ct).
