(* What functional programs and loops mean. Numbers are an abstract type with uninterpreted operations, so that all that follows
   holds for the reals and for IEEE arithmetic alike. *)
From Coq Require Import ZArith List String Bool Permutation.
From Lozenge Require Import Syntax.
Import ListNotations.
Local Open Scope Z_scope.

Section Semantics.
Variable scalar : Type.                                (* numbers other than integers *)
Inductive val := VZ (z : Z) | VB (b : bool) | VS (s : scalar).
Variable lit : string -> val.
Variable prim : string -> list val -> val.

Definition toZ (v : val) : Z := match v with VZ z => z | _ => 0 end.
Definition truth (v : val) : bool := match v with VB b => b | _ => false end.

Definition wrap (z : Z) : Z := (z + 2 ^ 63) mod 2 ^ 64 - 2 ^ 63.

Definition apply (o : op) (vs : list val) : val :=
  let z i := toZ (nth i vs (VZ 0)) in
  let b i := truth (nth i vs (VB false)) in
  match o with
  | Iadd => VZ (z 0%nat + z 1%nat) | Isub => VZ (z 0%nat - z 1%nat) | Imul => VZ (z 0%nat * z 1%nat)
  | Idiv => VZ (z 0%nat / z 1%nat) | Imod => VZ (z 0%nat mod z 1%nat)
  | Imin => VZ (Z.min (z 0%nat) (z 1%nat)) | Imax => VZ (Z.max (z 0%nat) (z 1%nat))
  | Iwrap => VZ (wrap (z 0%nat))
  | Wadd => VZ (wrap (z 0%nat + z 1%nat)) | Wsub => VZ (wrap (z 0%nat - z 1%nat)) | Wmul => VZ (wrap (z 0%nat * z 1%nat))
  | Wdiv => VZ (wrap (z 0%nat / z 1%nat))
  | Ieq => VB (z 0%nat =? z 1%nat) | Ine => VB (negb (z 0%nat =? z 1%nat))
  | Ilt => VB (z 0%nat <? z 1%nat) | Ile => VB (z 0%nat <=? z 1%nat)
  | And => VB (b 0%nat && b 1%nat) | Or => VB (b 0%nat || b 1%nat) | Not => VB (negb (b 0%nat))
  | Select => if b 0%nat then nth 1 vs (VZ 0) else nth 2 vs (VZ 0)
  | Scalar name => prim name vs
  end.

(* The number of a value at components and subscripts; a value; arrays by number. *)
Definition table := list Z -> val.
Definition value := list bool -> table.
Definition store := nat -> value.

Definition upd {A} (f : nat -> A) x a : nat -> A := fun y => if Nat.eqb x y then a else f y.
Fixpoint upds (f : nat -> Z) (x : nat) (vs : list Z) : nat -> Z :=
  match vs with [] => f | v :: vs => upds (upd f x v) (S x) vs end.

(* ---------- terms ---------- *)
Definition aenv := nat -> nat -> table.

Fixpoint iter {A} (n : nat) (step : nat -> A -> A) (a : A) : A :=
  match n with O => a | S m => step m (iter m step a) end.

Fixpoint eval (st : store) (t : tm) (r : nat -> Z) (al : aenv) {struct t} : val :=
  match t with
  | Var x => VZ (r x)
  | Int z => VZ z
  | Lit s => lit s
  | Op o ts => apply o (map (fun t => eval st t r al) ts)
  | In a cs is => st a cs (map (fun t => toZ (eval st t r al)) is)
  | Acc l k is => al l k (map (fun t => toZ (eval st t r al)) is)
  | Fold l n accs k is =>
      let fs := map (fun p => (eval st (fst p), eval st (snd p))) accs in
      let get k := nth k fs (fun _ _ => VZ 0, fun _ _ => VZ 0) in
      iter (Z.to_nat (toZ (eval st n r al)))
        (fun i s k v => snd (get k) (upds (upd r l (Z.of_nat i)) (S l) v) (upd al l s))
        (fun k v => fst (get k) (upds r (S l) v) al)
        k (map (fun t => toZ (eval st t r al)) is)
  end.

Definition aenv0 : aenv := fun _ _ _ => VZ 0.
(* Expressions of programs have no accumulators. *)
Definition ev (st : store) (r : nat -> Z) (t : tm) : val := eval st t r aenv0.
Definition evz (st : store) (r : nat -> Z) (t : tm) : Z := toZ (ev st r t).

(* ---------- commands ---------- *)
Definition wr (st : store) (w : nat) (cs : list bool) (v : list Z) (x : val) : store := fun w' cs' v' =>
  if Nat.eqb w w' then if list_eq_dec bool_dec cs cs' then if list_eq_dec Z.eq_dec v v' then x else st w' cs' v'
  else st w' cs' v' else st w' cs' v'.

Fixpoint iterR (R : nat -> store -> store -> Prop) (is : list nat) (s s' : store) : Prop :=
  match is with [] => s' = s | i :: is => exists s1, R i s s1 /\ iterR R is s1 s' end.

(* The iterations of a parallel loop run in ANY order. A local array has ANY contents at first. *)
Fixpoint exec (c : cmd) (io : nat -> Z) (s s' : store) : Prop :=
  match c with
  | Skip => s' = s
  | Seq a b => exists s1, exec a io s s1 /\ exec b io s1 s'
  | Assign w cs is e => s' = wr s w cs (map (evz s io) is) (ev s io e)
  | Local w c => exists junk, exec c io (upd s w junk) s'
  | For par x n c => exists is,
      (if par then Permutation (seq 0 (Z.to_nat (evz s io n))) is else is = seq 0 (Z.to_nat (evz s io n))) /\
      iterR (fun i => exec c (upd io x (Z.of_nat i))) is s s'
  | If b c1 c2 => if truth (ev s io b) then exec c1 io s s' else exec c2 io s s'
  end.

(* Every command terminates, whatever the order. *)
Lemma exec_total : forall c io s, exists s', exec c io s s'.
Proof.
  assert (L : forall R, (forall i s, exists s', R i s s') -> forall is s, exists s', iterR R is s s').
  { intros R HR is; induction is as [|i is IH]; cbn; intros s; eauto.
    destruct (HR i s) as [s1 H1]. destruct (IH s1) as [s2 H2]. eauto. }
  induction c; cbn; intros io s; eauto.
  - destruct (IHc1 io s) as [s1 H1]. destruct (IHc2 io s1) as [s2 H2]. eauto.
  - destruct (IHc io (upd s w (s w))); eauto.
  - destruct (L (fun i => exec c (upd io x (Z.of_nat i))) (fun i s => IHc _ s) (seq 0 (Z.to_nat (evz s io n))) s) as [s' H].
    exists s', (seq 0 (Z.to_nat (evz s io n))). split; auto. destruct par; auto.
  - destruct (truth _); eauto.
Qed.

(* ---------- functional programs ---------- *)
Definition look (z : tm -> Z) (v : view) (is : list Z) : list Z :=
  match v, is with
  | Vsplit k, i :: j :: is => i * z k + j :: is
  | Vjoin n, i :: is => i / z n :: i mod z n :: is
  | Vtranspose, i :: j :: is => j :: i :: is
  | Vreverse n, i :: is => z n - 1 - i :: is
  | Vslide s, i :: j :: is => i * z s + j :: is
  | Vdrop k, i :: is => i + z k :: is
  | Vpadclamp l n, i :: is => Z.min (Z.max (i - z l) 0) (z n - 1) :: is
  | Vsplat, _ :: is => is
  | _, _ => is
  end.

Definition element (d : value) (i : Z) : value := fun cs is => d cs (i :: is).
Definition index (d : value) : Z := toZ (d [] []).
Definition number (v : val) : value := fun _ _ => v.
Definition put_at (j : Z) (x d : value) : value := fun cs is => match is with i :: is => if j =? i then x cs is else d cs (i :: is) | [] => d cs [] end.

(* [z] gives the sizes their values. *)
Fixpoint den (z : tm -> Z) (e : exp) (g : nat -> value) {struct e} : value :=
  match e with
  | EVar x => g x
  | ESize a => number (VZ (z a))
  | ELit s => number (lit s)
  | EOp o es => fun cs is => apply o (map (fun e => den z e g cs is) es)
  | ESelect c a b => fun cs is => if truth (den z c g [] []) then den z a g cs is else den z b g cs is
  | EPair a b => fun cs is => match cs with c :: cs => if c : bool then den z b g cs is else den z a g cs is | [] => VZ 0 end
  | EFst e => fun cs is => den z e g (false :: cs) is
  | ESnd e => fun cs is => den z e g (true :: cs) is
  | ELet x a b => den z b (upd g x (den z a g))
  | EMap x f e => fun cs is => match is with i :: is => den z f (upd g x (element (den z e g) i)) cs is | [] => VZ 0 end
  | EReduce n _ _ x a f i e =>
      iter (Z.to_nat (z n)) (fun k acc => den z f (upd (upd g x (element (den z e g) (Z.of_nat k))) a acc)) (den z i g)
  | EScan _ _ x a f i e => fun cs is => match is with
      | k :: is => iter (Z.to_nat (k + 1)) (fun k acc => den z f (upd (upd g x (element (den z e g) (Z.of_nat k))) a acc)) (den z i g) cs is
      | [] => VZ 0 end
  | EIterate n _ _ a f i => iter (Z.to_nat (z n)) (fun k acc => den z f (upd g a acc)) (den z i g)
  | EGenerate x f => fun cs is => match is with i :: is => den z f (upd g x (number (VZ i))) cs is | [] => VZ 0 end
  | EView v e => fun cs is => den z e g cs (look z v is)
  | EPad l n v e => fun cs is => match is with
      | i :: is => if (z l <=? i) && (i <? z l + z n) then den z e g cs (i - z l :: is) else den z v g cs is
      | [] => VZ 0 end
  | EConcat n a b => fun cs is => match is with
      | i :: is => if i <? z n then den z a g cs (i :: is) else den z b g cs (i - z n :: is)
      | [] => VZ 0 end
  | EGather js e => fun cs is => match is with i :: is => element (den z e g) (toZ (den z js g [] [i])) cs is | [] => VZ 0 end
  | EReorder x f e => fun cs is => match is with
      | i :: is => element (den z e g) (index (den z f (upd g x (number (VZ i))))) cs is
      | [] => VZ 0 end
  | EIdx e i => element (den z e g) (index (den z i g))
  | EScatter n _ js b e =>
      iter (Z.to_nat (z n)) (fun k d => put_at (toZ (den z js g [] [Z.of_nat k])) (element (den z e g) (Z.of_nat k)) d) (den z b g)
  end.
End Semantics.
Arguments VZ {scalar}. Arguments VB {scalar}. Arguments VS {scalar}.
