(* Loops run symbolically: from contents of arrays to contents of arrays. Loops whose iterations write disjoint slices are read by the
   inverse of their subscript, other sequential loops become folds. What cannot be followed has no contents. *)
From Coq Require Import ZArith List String Bool Lia Arith Permutation.
From Lozenge Require Import Syntax Semantics Poly Norm Rep Source Lazy.
Import ListNotations.

Definition sstore := nat -> cval.
Definition none : cval := fun _ _ _ _ => None.

(* The iteration that writes an element: ((subscript - off) mod md) / dv at a position. *)
Record slice := { pos : nat; off : option tm; md : option tm; dv : option tm }.
Definition opt2 (o : op) (t : tm) (k : option tm) : tm := match k with Some k => Op o [t; k] | None => t end.
Definition inv_t (sl : slice) (is : list tm) : tm :=
  opt2 Idiv (opt2 Imod (opt2 Isub (nth (pos sl) is (Int 0)) (off sl)) (md sl)) (dv sl).

Section Exec.
Variable ns : nat.
Variable idx : list (nat * (tm * list tm)).  (* arrays of indices *)
Notation scond := (scond idx).
Notation learn := (learn idx).
Variable base : facts.                       (* of the sizes *)
Variable dim : nat -> list tm.               (* extents of arrays *)

Definition oclosed (k : option tm) : bool := match k with Some k => closed ns k | None => true end.
Definition sclosed (sl : slice) : bool := oclosed (off sl) && oclosed (md sl) && oclosed (dv sl).

(* Loops around, with their bounds. *)
Definition ctx := list (nat * tm).
(* A bound is made of sizes and of the variables of the loops around. *)
Fixpoint scoped (cx : ctx) (t : tm) : bool :=
  match t with
  | Var x => (x <? ns) || existsb (fun yn => Nat.eqb (fst yn) x) cx
  | Int _ => true
  | Op o ts => match o with Scalar _ | Select => false | _ => forallb (scoped cx) ts end
  | _ => false
  end.
Definition sfacts (cx : ctx) : facts := flat_map (fun yn => range_facts base (Var (fst yn)) (snd yn)) cx ++ base.
Definition fresh (x : nat) (cx : ctx) : bool := (ns <=? x) && forallb (fun yn => negb (Nat.eqb (fst yn) x)) cx.

(* Whether the loop [x] writes array [w] only at subscripts that belong to its iteration. *)
Fixpoint wcheck (cx : ctx) (x : nat) (sl : slice) (w : nat) (c : cmd) : bool :=
  match c with
  | Skip => true
  | Seq a b => wcheck cx x sl w a && wcheck cx x sl w b
  | Assign w' cs is e => if Nat.eqb w w' then peqb (poly_of (sfacts cx) (inv_t sl is)) (patom (Var x)) else true
  | Local w' c => negb (Nat.eqb w w') && wcheck cx x sl w c
  | For _ y n c => scoped cx n && fresh y cx && wcheck ((y, n) :: cx) x sl w c
  | If _ a b => wcheck cx x sl w a && wcheck cx x sl w b
  end.

Fixpoint written (c : cmd) : list nat :=
  match c with
  | Skip => [] | Seq a b => written a ++ written b | Assign w _ _ _ => [w]
  | Local w c => w :: written c | For _ _ _ c => written c | If _ a b => written a ++ written b
  end.
Definition mem (w : nat) (l : list nat) : bool := existsb (Nat.eqb w) l.

(* ---------- guesses; nothing depends on their being right ---------- *)
Fixpoint locals (c : cmd) : list nat :=
  match c with Skip => [] | Seq a b => locals a ++ locals b | Assign _ _ _ _ => [] | Local w c => w :: locals c
  | For _ _ _ c => locals c | If _ a b => locals a ++ locals b end.
Fixpoint writes (c : cmd) : list (nat * list bool * list tm) :=
  match c with Skip => [] | Seq a b => writes a ++ writes b | Assign w cs is _ => [(w, cs, is)] | Local w c => writes c
  | For _ _ _ c => writes c | If _ a b => writes a ++ writes b end.
Definition vars_of (p : poly) : list nat := flat_map (fun a => match a with Var x => if (ns <=? x) then [x] else [] | _ => [] end) (atoms p).
Definition candidates (cx : ctx) (x : nat) (is : list tm) : list slice :=
  flat_map (fun p =>
    let P := poly_of (sfacts cx) (nth p is (Int 0)) in
    let c := coef (Var x) P in
    let k := of_poly c in
    let r := psub P (pmul c (patom (Var x))) in
    (* what is added to all: an offset, if other loops add something too *)
    let fixed := filter (fun mc => forallb (closed ns) (fst mc)) r in
    let offs := None :: match vars_of r, fixed with _ :: _, _ :: _ => [Some (of_poly fixed)] | _, _ => [] end in
    if pzero c then [] else
    {| pos := p; off := None; md := None; dv := None |}
    :: (match vars_of r with [] => [{| pos := p; off := Some (of_poly r); md := None; dv := None |}] | _ => [] end)
    ++ flat_map (fun o =>
      {| pos := p; off := o; md := None; dv := Some k |}
      :: flat_map (fun y => let ky := of_poly (coef (Var y) P) in
         [{| pos := p; off := o; md := Some ky; dv := None |}; {| pos := p; off := o; md := Some ky; dv := Some k |}]) (vars_of r)) offs)
    (seq 0 (List.length is)).
(* Whether of array [w], only what belongs to the iteration is read: else it is an accumulator. *)
Fixpoint tkeeps (F : facts) (x : nat) (sl : slice) (w : nat) (t : tm) : bool :=
  match t with
  | Op _ ts => forallb (tkeeps F x sl w) ts
  | In a _ is => forallb (tkeeps F x sl w) is && (if Nat.eqb a w then peqb (poly_of F (inv_t sl is)) (patom (Var x)) else true)
  | _ => true
  end.
Fixpoint ckeeps (cx : ctx) (x : nat) (sl : slice) (w : nat) (c : cmd) : bool :=
  match c with
  | Skip => true
  | Seq a b => ckeeps cx x sl w a && ckeeps cx x sl w b
  | Assign _ _ is e => let F := sfacts cx in forallb (tkeeps F x sl w) (e :: is)
  | Local _ c => ckeeps cx x sl w c
  | For _ y n c => ckeeps ((y, n) :: cx) x sl w c
  | If b c1 c2 => tkeeps (sfacts cx) x sl w b && ckeeps cx x sl w c1 && ckeeps cx x sl w c2
  end.
Definition slice_of (par : bool) (cx : ctx) (x : nat) (c : cmd) (w : nat) : option slice :=
  if mem w (locals c) then None else
  match find (fun p => Nat.eqb (fst (fst p)) w) (writes c) with
  | Some (_, _, is) => find (fun sl => sclosed sl && wcheck cx x sl w c && (par || ckeeps cx x sl w c)) (candidates cx x is)
  | None => None
  end.

(* An accumulator of a loop: array, components, subscripts that stay (Some) or run (None). *)
Definition car := (nat * list bool * list (option tm))%type.
Definition slots_eqb (a b : nat * list bool) : bool := Nat.eqb (fst a) (fst b) && list_eqb Bool.eqb (snd a) (snd b).
Fixpoint nub (l : list (nat * list bool * list tm)) : list (nat * list bool * list tm) :=
  match l with [] => [] | a :: l => a :: filter (fun b => negb (slots_eqb (fst a) (fst b))) (nub l) end.
Definition cars_of (cx : ctx) (D : list (nat * list bool)) (x : nat) (n : tm) (c : cmd) : list car :=
  flat_map (fun a : nat * list bool * list tm =>
    let '(w, cs, is) := a in
    match slice_of false ((x, n) :: cx) x c w with Some _ => [] | None =>
      if mem w (locals c) || negb (existsb (slots_eqb (w, cs)) D) then []
      else [(w, cs, map (fun i => let vs := vars_of (unpoly i) in
              if forallb (fun v => existsb (fun yn => Nat.eqb (fst yn) v) cx && negb (Nat.eqb v x)) vs && negb (Nat.eqb (List.length vs) 0)
              then Some i else None) is)]
    end) (nub (writes c)).
Fixpoint defs (D : list (nat * list bool)) (c : cmd) : list (nat * list bool) :=
  match c with
  | Skip => D | Seq a b => defs (defs D a) b | Assign w cs _ _ => (w, cs) :: D
  | Local w c => filter (fun p => negb (Nat.eqb (fst p) w)) (defs (filter (fun p => negb (Nat.eqb (fst p) w)) D) c)
  | For _ _ _ c => defs D c
  | If _ a b => defs (defs D a) b
  end.

(* ---------- expressions ---------- *)
Section Sev.
Variable se : nat -> tm.
Variable ss : sstore.
Fixpoint sev (N : nat) (F : facts) (t : tm) {struct t} : option tm :=
  match t with
  | Var x => Some (se x)
  | Int z => Some (Int z)
  | Lit s => Some (Lit s)
  | Op o ts =>
      match o, ts with
      | Select, [c; a; b] => tc <- sev N F c ;; scond F tc (fun F => sev N F a) (fun F => sev N F b)
      | _, _ => ts <- mapM (sev N F) ts ;; Some (mk (learn F ts) o ts)
      end
  | In a cs is => is <- mapM (sev N F) is ;; ss a cs N (learn F is) is
  | _ => None
  end.
End Sev.

(* Whether subscripts are equal, or surely differ. *)
Fixpoint same (F : facts) (a b : list tm) : option bool :=
  match a, b with
  | [], [] => Some true
  | x :: a, y :: b => match decide F (Op Ieq [x; y]), same F a b with
      | Some false, Some _ | Some true, Some false => Some false
      | None, Some false => Some false
      | Some true, Some true => Some true | _, _ => None end
  | _, _ => None
  end.

(* Where that is open: the condition that they are equal. *)
Fixpoint meets (F : facts) (a b : list tm) : option (option tm) :=
  match a, b with
  | [], [] => Some None
  | x :: a, y :: b =>
      match decide F (Op Ieq [x; y]), meets F a b with
      | Some true, o => o
      | None, Some None => Some (Some (mk F Ieq [x; y]))
      | _, _ => None
      end
  | _, _ => None
  end.

(* ---------- accumulators ---------- *)
Definition freed (p : list (option tm)) : list nat :=
  flat_map (fun ik => match snd ik with None => [fst ik] | Some _ => [] end) (combine (seq 0 (List.length p)) p).
Fixpoint fill (p : list (option tm)) (ys : list tm) : list tm :=
  match p with [] => [] | Some t :: p => t :: fill p ys | None :: p => hd (Int 0) ys :: fill p (tl ys) end.
(* The running subscripts, if the others are the ones that stay. *)
Fixpoint unfill (F : facts) (p : list (option tm)) (is : list tm) : option (list tm) :=
  match p, is with
  | [], [] => Some []
  | Some t :: p, i :: is => if peqb (poly_of F t) (poly_of F i) then unfill F p is else None
  | None :: p, i :: is => option_map (cons i) (unfill F p is)
  | _, _ => None
  end.
Definition cext (k : car) : list tm := map (fun i => nth i (dim (fst (fst k))) (Int 0)) (freed (snd k)).
Fixpoint find_car (w : nat) (cs : list bool) (ks : list car) : option (nat * car) :=
  match ks with
  | [] => None
  | k :: ks => if slots_eqb (fst k) (w, cs) then Some (O, k) else option_map (fun p => (S (fst p), snd p)) (find_car w cs ks)
  end.
(* The subscripts that stay, in terms of the present. *)
Fixpoint sub (se : nat -> tm) (t : tm) : tm :=
  match t with Var x => se x | Int z => Int z | Op o ts => Op o (map (sub se) ts) | _ => Lit "unknown" end.
Definition pat (se : nat -> tm) (k : car) : list (option tm) := map (option_map (sub se)) (snd k).

Section Loop.
Variables (sl : nat -> option slice) (par : bool) (x : nat) (n : tm) (c : cmd).
Variables (se : nat -> tm) (ss : sstore) (ks : list car).
Variable run : (nat -> tm) -> sstore -> sstore.      (* the body *)

(* Contents at the start of iteration [e], given those of the accumulators. *)
Definition start (e : tm) (accs : nat -> ctab) : sstore := fun w =>
  if negb (mem w (written c)) then ss w else
  match sl w with
  | Some sl => fun cs N F is => if peqb (poly_of F (inv_t sl is)) (poly_of F e) then ss w cs N F is else None
  | None => if par then none else fun cs N F is =>
      match find_car w cs ks with
      | Some (k, car) => js <- unfill F (pat se car) is ;; accs k N F js
      | None => None
      end
  end.
Definition nthcar (k : nat) : car := nth k ks (0, [], []).
Definition folded (cnt : tm) (k : nat) : ctab :=
  fold_tab (map cext ks)
    (fun k N F ys => ss (fst (fst (nthcar k))) (snd (fst (nthcar k))) N F (fill (pat se (nthcar k)) ys))
    (fun accs N k N' F ys => run (upd se x (Var N)) (start (Var N) accs)
       (fst (fst (nthcar k))) (snd (fst (nthcar k))) N' F (fill (pat se (nthcar k)) ys))
    cnt k.
Definition after : sstore := fun w =>
  if negb (mem w (written c)) then ss w else
  match sl w with
  | Some sl => fun cs N F is =>
      let e := nfz F (Op Iadd [inv_t sl is; Int 0]) in
      scond F (mk F Ile [Int 0; e])
        (fun F => scond F (mk F Ilt [e; n]) (fun F => run (upd se x e) (start e (folded e)) w cs N F is) (fun F => ss w cs N F is))
        (fun F => ss w cs N F is)
  | None => if par then none else fun cs N F is =>
      match find_car w cs ks with
      | Some (k, car) => js <- unfill F (pat se car) is ;; folded n k N F js
      | None => None
      end
  end.
End Loop.

(* How each loop is to be followed: found once, and checked once. *)
Inductive plan := Plain | Both (a b : plan) | Around (slices : list (nat * slice)) (ks : list car) (p : plan).
Definition look_up (sls : list (nat * slice)) (w : nat) : option slice :=
  match find (fun p => Nat.eqb (fst p) w) sls with Some p => Some (snd p) | None => None end.
Fixpoint plan_of (cx : ctx) (D : list (nat * list bool)) (c : cmd) : plan :=
  match c with
  | Skip | Assign _ _ _ _ => Plain
  | Seq a b => Both (plan_of cx D a) (plan_of cx (defs D a) b)
  | If _ a b => Both (plan_of cx D a) (plan_of cx D b)
  | Local w c => plan_of cx (filter (fun p => negb (Nat.eqb (fst p) w)) D) c
  | For par x n c =>
      Around (flat_map (fun w => match slice_of par ((x, n) :: cx) x c w with Some sl => [(w, sl)] | None => [] end) (nodup Nat.eq_dec (written c)))
        (if par then [] else cars_of cx D x n c) (plan_of ((x, n) :: cx) D c)
  end.
Fixpoint plan_ok (cx : ctx) (p : plan) (c : cmd) : bool :=
  match c with
  | Skip | Assign _ _ _ _ => true
  | Seq a b | If _ a b => match p with Both pa pb => plan_ok cx pa a && plan_ok cx pb b | _ => false end
  | Local w c => plan_ok cx p c
  | For par x n c => match p with
      | Around sls ks p =>
          scoped cx n && fresh x cx && forallb (forallb (closed ns)) (map cext ks)
          && forallb (fun ws => sclosed (snd ws) && wcheck ((x, n) :: cx) x (snd ws) (fst ws) c) sls && plan_ok ((x, n) :: cx) p c
      | _ => false end
  end.

Fixpoint sx (p : plan) (c : cmd) (se : nat -> tm) (ss : sstore) {struct c} : sstore :=
  match c with
  | Skip => ss
  | Seq a b => match p with Both pa pb => sx pb b se (sx pa a se ss) | _ => fun _ => none end
  | Assign w cs is e => fun w1 => if Nat.eqb w w1 then fun cs1 N F js =>
        if list_eqb Bool.eqb cs cs1 then
          is <- mapM (sev se ss N F) is ;;
          let F := learn F is in
          match same F is js with Some true => sev se ss N F e | Some false => ss w1 cs1 N F js
          | None => match meets F is js with Some (Some c) => scond F c (fun F => sev se ss N F e) (fun F => ss w1 cs1 N F js) | _ => None end end
        else ss w1 cs1 N F js
      else ss w1
  | Local w c => upd (sx p c se (upd ss w none)) w none
  | For par x n c => match p with
      | Around sls ks p => after (look_up sls) par x (sub se n) c se ss ks (fun se ss => sx p c se ss)
      | _ => fun _ => none end
  | If b c1 c2 => match p with
      | Both p1 p2 => fun w =>
          if mem w (written c1) || mem w (written c2) then fun cs N F is =>
            tb <- sev se ss N F b ;; scond F tb (fun F => sx p1 c1 se ss w cs N F is) (fun F => sx p2 c2 se ss w cs N F is)
          else ss w
      | _ => fun _ => none end
  end.
End Exec.
