(* The checker of certificates. That it accepts means what Check.v says. *)
From Coq Require Import ZArith List String Bool Lia Arith.
From Lozenge Require Import Syntax Semantics Poly Norm Rep Source Regroup Target Match Lazy.
Import ListNotations.

Definition cin (a : nat) : cval := fun cs _ F is => Some (In a cs (map (nf F) is)).
Definition inputs (ct : certificate) : nat -> cval := fun a => if mem a (params ct) then cin a else none.
Definition base_facts (ct : certificate) : facts := map (poly_of []) (assume ct).
Definition extents (ct : certificate) (w : nat) : list tm :=
  match find (fun p => Nat.eqb (fst p) w) (dims ct) with Some p => snd (snd p) | None => [] end.

(* Arrays of indices, with bound and extents. *)
Definition bounded (ct : certificate) : list (nat * (tm * list tm)) :=
  filter (fun p => closed (sizes ct) (fst (snd p)) && forallb (closed (sizes ct)) (snd (snd p)))
    (map (fun p => (fst p, (snd p, extents ct (fst p)))) (indices ct)).

Definition commutative (ls : list law) : list string := flat_map (fun l => match l with Commutes o => [o] | _ => [] end) ls.

(* The extents of the result, or of the first array with so many: a guess at those of accumulators. *)
Definition shapes (ct : certificate) (m : nat) : option (list tm) :=
  find (fun ds => Nat.eqb (List.length ds) m) (extents ct (out ct) :: map (fun p => snd (snd p)) (dims ct)).

(* Conditions on sizes and subscripts that a term leaves open. *)
Fixpoint conditions (N : nat) (t : tm) : list tm :=
  match t with
  | Op o ts =>
      match o, ts with
      | Select, Op Ile c :: _ => if forallb (closed N) c then [Op Ile c] else []
      | _, _ => []
      end ++ flat_map (conditions N) ts
  | In _ _ is | Acc _ _ is => flat_map (conditions N) is
  | Fold _ n accs _ is => flat_map (fun p => conditions N (fst p) ++ conditions N (snd p)) accs ++ flat_map (conditions N) is
  | _ => []
  end.

(* Elements of arrays of indices in a term, each once. *)
Fixpoint elements_in (idx : list (nat * (tm * list tm))) (N : nat) (t : tm) (l : list tm) {struct t} : list tm :=
  let all := fold_right (elements_in idx N) in
  match t with
  | Op _ ts | Acc _ _ ts => all l ts
  | In a _ is => let l := all l is in
      if existsb (fun p => Nat.eqb (fst p) a) idx then if existsb (tm_eqb t) l then l else if settled N t then t :: l else l else l
  | Fold _ n accs _ is => fold_right (fun p l => elements_in idx N (fst p) (elements_in idx N (snd p) l)) (all l is) accs
  | _ => l
  end.

Section Leaf.
Variable ct : certificate.
Variable p : plan.
Variable src : exp.                            (* the program, its hints carried out *)
Variable leaf : list bool * list tm.
Notation ns := (sizes ct).
Notation ys := (levels ns (List.length (snd leaf))).
Notation N := (ns + List.length (snd leaf))%nat.
(* The two sides at one table of the result. *)
Definition sides (F : facts) : option tm * option tm :=
  (sym ns (bounded ct) src (inputs ct) (fst leaf) N F ys,
   sx (bounded ct) (extents ct) p (target ct) (fun x => if Nat.ltb x ns then Var x else Int 0) (inputs ct) (out ct) (fst leaf) N F ys).
Definition with_elements (a b : tm) (F : facts) : facts :=
  if match bounded ct with [] => true | _ => false end then F else learn (bounded ct) F (elements_in (bounded ct) N a (elements_in (bounded ct) N b [])).
(* Whether they are equal; where that is not seen, by cases of a condition. A case may be impossible. *)
Fixpoint equal (fuel : nat) (F : facts) : bool :=
  match sides F with
  | (Some a, Some b) =>
      if equivalent (commutative (laws ct)) (shapes ct) N (with_elements a b F) a b then true
      else if pr F (pconst (-1)) then true
      else match fuel, conditions N a ++ conditions N b with
        | S fuel, c :: _ => if closed N c then equal fuel (when unpoly c true ++ F) && equal fuel (when unpoly c false ++ F) else false
        | _, _ => false
        end
  | _ => false
  end.
End Leaf.
Definition cases : nat := 8.

Definition check (ct : certificate) : bool :=
  let p := plan_of (sizes ct) (base_facts ct) [] (map (fun a => (a, @nil bool)) (params ct)) (target ct) in
  let src := regroup (laws ct) (base_facts ct) (source ct) in
  plan_ok (sizes ct) (base_facts ct) (extents ct) [] p (target ct) &&
  forallb (closed (sizes ct)) (assume ct) &&
  forallb (fun a => negb (mem a (written (target ct)))) (params ct) &&
  forallb (fun leaf => forallb (closed (sizes ct)) (snd leaf) &&
    equal ct p src leaf cases
      (ranges (base_facts ct) (levels (sizes ct) (List.length (snd leaf))) (snd leaf) ++ base_facts ct)) (result ct).
