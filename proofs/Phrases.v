(* The two languages of the translation. Functional programs are intrinsically typed, with de Bruijn indices, so every program here is well typed, and indices
   are in range by their types. Commands are untyped, their variables are levels: nothing is ever shifted and freshness is for free. The code generation
   rules cge and cga are the meanings [ev] and [loc] of expressions and acceptors. *)
From Coq Require Import Arith List Lia Bool Permutation.
From Lozenge Require Import Paths.
Import ListNotations.

Section Phrases.
Context {K : Scalars}.

(* ---------- functional programs ---------- *)
Inductive var : list data -> data -> Type :=
| VZ {G t} : var (t :: G) t
| VS {G t u} (x : var G t) : var (u :: G) t.

Inductive exp : list data -> data -> Type :=
| Var {G t} (x : var G t) : exp G t
| Lit {G} (v : number) : exp G num
| Nat {G n} i (H : i < n) : exp G (idx n)
| Op1 {G} (o : nat) (a : exp G num) : exp G num
| Op2 {G} (o : nat) (a b : exp G num) : exp G num
| Value {G n} (i : exp G (idx n)) : exp G num                                  (* an index as a number *)
| Move {G n m} (f : nat -> nat) (H : forall i, i < n -> f i < m) (i : exp G (idx n)) : exp G (idx m)
| View {G d d'} (v : view d d') (e : exp G d) : exp G d'
| Both {G a b d} (j : both a b d) (e1 : exp G a) (e2 : exp G b) : exp G d
| At {G n t} (e : exp G (ary n t)) (i : exp G (idx n)) : exp G t
| Gather {G n m t} (is : exp G (ary m (idx n))) (e : exp G (ary n t)) : exp G (ary m t)
| Iota {G} n : exp G (ary n (idx n))
| Map {G n s t} (par : bool) (f : exp (s :: G) t) (e : exp G (ary n s)) : exp G (ary n t)
| Gen {G t} n (par : bool) (f : exp (idx n :: G) t) : exp G (ary n t)
| Red {G n s t} (f : exp (t :: s :: G) t) (i : exp G t) (e : exp G (ary n s)) : exp G t
| Scan {G n s t} (f : exp (t :: s :: G) t) (i : exp G t) (e : exp G (ary n s)) : exp G (ary n t)
| Iter {G t} (k : nat) (f : exp (t :: G) t) (i : exp G t) : exp G t
| Select {G t} (c : exp G num) (a b : exp G t) : exp G t
| Let {G s t} (a : exp G s) (b : exp (s :: G) t) : exp G t
| Store {G t} (e : exp G t) : exp G t                                           (* toMem *)
| Copy {G d n t} (par : bool) (v : view d (ary n t)) (e : exp G d) : exp G (ary n t)
    (* a view that is stored by a loop: copySeq, reverseSeq, transPar *)
| RedPar {G n s} (o : nat) (z : number) (g : exp (s :: G) num) (i : exp G num) (e : exp G (ary n s)) : exp G num
    (* a sum in parallel: [o] with its neutral element [z], over [g] of the elements *)
| Scatter {G n m t} (is : exp G (ary n (idx m))) (b : exp G (ary m t)) (e : exp G (ary n t)) : exp G (ary m t).

Definition env (F : data -> Type) G := forall t, var G t -> F t.
Definition nilE {F} : env F [] := fun t x => match x with end.
Definition consE {F G s} (v : F s) (r : env F G) : env F (s :: G) := fun t x =>
  match x in var G' t' return match G' with [] => unit | s0 :: G0 => F s0 -> env F G0 -> F t' end with
  | VZ => fun v _ => v
  | VS x => fun _ r => r _ x
  end v r.

Definition upd {A} (f : nat -> A) l v : nat -> A := fun k => if Nat.eqb l k then v else f k.
Fixpoint steps {B} (n : nat) (f : nat -> B -> B) (b : B) : B := match n with 0 => b | S m => f m (steps m f b) end.

Fixpoint ev_exp {G t} (e : exp G t) : env den G -> den t :=
  match e in exp G t return env den G -> den t with
  | Var x => fun g => g _ x
  | Lit v => fun _ => v
  | Nat i _ => fun _ => i
  | Op1 o a => fun g => op1 o (ev_exp a g)
  | Op2 o a b => fun g => op2 o (ev_exp a g) (ev_exp b g)
  | Value i => fun g => of_nat (ev_exp i g)
  | Move f _ i => fun g => f (ev_exp i g)
  | View v e => fun g => vsem v (ev_exp e g)
  | Both j a b => fun g => bsem j (ev_exp a g) (ev_exp b g)
  | At e i => fun g => ev_exp e g (ev_exp i g)
  | Gather is e => fun g i => ev_exp e g (ev_exp is g i)
  | Iota n => fun _ i => i
  | Map _ f e => fun g i => ev_exp f (consE (ev_exp e g i) g)
  | @Gen _ t n _ f => fun g i => ev_exp f (consE (F := den) (s := idx n) i g)
  | @Red _ n _ _ f i e => fun g => steps n (fun k a => ev_exp f (consE a (consE (ev_exp e g k) g))) (ev_exp i g)
  | @Scan _ n _ _ f i e => fun g j => steps (S j) (fun k a => ev_exp f (consE a (consE (ev_exp e g k) g))) (ev_exp i g)
  | Iter n f i => fun g => steps n (fun _ a => ev_exp f (consE a g)) (ev_exp i g)
  | Select c a b => fun g => if truth (ev_exp c g) then ev_exp a g else ev_exp b g
  | Let a b => fun g => ev_exp b (consE (ev_exp a g) g)
  | Store e => fun g => ev_exp e g
  | Copy _ v e => fun g => vsem v (ev_exp e g)
  | @RedPar _ n _ o _ f i e => fun g => steps n (fun k a => op2 o (ev_exp f (consE (ev_exp e g k) g)) a) (ev_exp i g)
  | @Scatter _ n _ _ is b e => fun g => steps n (fun k a => upd a (ev_exp is g k) (ev_exp e g k)) (ev_exp b g)   (* a later one wins *)
  end.

(* The laws that a sum in parallel takes. Programs without one take none ([sequential_lawful]). *)
Record monoid (o : nat) (z : number) : Prop := {
  commutes : forall a b, op2 o a b = op2 o b a;
  associates : forall a b c, op2 o (op2 o a b) c = op2 o a (op2 o b c);
  neutral : forall a, op2 o z a = a }.
Inductive lawful : forall {G t}, exp G t -> Prop :=
| l_var {G t} (x : var G t) : lawful (Var x)
| l_lit {G} v : lawful (@Lit G v)
| l_nat {G n} i (H : i < n) : lawful (@Nat G n i H)
| l_op1 {G} o (a : exp G num) : lawful a -> lawful (Op1 o a)
| l_op2 {G} o (a b : exp G num) : lawful a -> lawful b -> lawful (Op2 o a b)
| l_value {G n} (i : exp G (idx n)) : lawful i -> lawful (Value i)
| l_move {G n m} f (H : forall i, i < n -> f i < m) (i : exp G (idx n)) : lawful i -> lawful (Move f H i)
| l_view {G d d'} (v : view d d') (e : exp G d) : lawful e -> lawful (View v e)
| l_both {G a b d} (j : both a b d) (e1 : exp G a) (e2 : exp G b) : lawful e1 -> lawful e2 -> lawful (Both j e1 e2)
| l_at {G n t} (e : exp G (ary n t)) (i : exp G (idx n)) : lawful e -> lawful i -> lawful (At e i)
| l_gather {G n m t} (is : exp G (ary m (idx n))) (e : exp G (ary n t)) : lawful is -> lawful e -> lawful (Gather is e)
| l_iota {G} n : lawful (@Iota G n)
| l_map {G n s t} par (f : exp (s :: G) t) (e : exp G (ary n s)) : lawful f -> lawful e -> lawful (Map par f e)
| l_gen {G t} n par (f : exp (idx n :: G) t) : lawful f -> lawful (Gen n par f)
| l_red {G n s t} (f : exp (t :: s :: G) t) (i : exp G t) (e : exp G (ary n s)) : lawful f -> lawful i -> lawful e -> lawful (Red f i e)
| l_scan {G n s t} (f : exp (t :: s :: G) t) (i : exp G t) (e : exp G (ary n s)) : lawful f -> lawful i -> lawful e -> lawful (Scan f i e)
| l_iter {G t} k (f : exp (t :: G) t) (i : exp G t) : lawful f -> lawful i -> lawful (Iter k f i)
| l_select {G t} (c : exp G num) (a b : exp G t) : lawful c -> lawful a -> lawful b -> lawful (Select c a b)
| l_let {G s t} (a : exp G s) (b : exp (s :: G) t) : lawful a -> lawful b -> lawful (Let a b)
| l_store {G t} (e : exp G t) : lawful e -> lawful (Store e)
| l_copy {G d n t} par (v : view d (ary n t)) (e : exp G d) : lawful e -> lawful (Copy par v e)
| l_redpar {G n s} o z (g : exp (s :: G) num) (i : exp G num) (e : exp G (ary n s)) : monoid o z -> lawful g -> lawful i -> lawful e -> lawful (RedPar o z g i e)
| l_scatter {G n m t} (is : exp G (ary n (idx m))) (b : exp G (ary m t)) (e : exp G (ary n t)) : lawful is -> lawful b -> lawful e -> lawful (Scatter is b e).
Fixpoint sequential {G t} (e : exp G t) : bool :=
  match e with
  | Var _ | Lit _ | Nat _ _ | Iota _ => true
  | Op1 _ a => sequential a
  | Value a => sequential a
  | Move _ _ a => sequential a
  | View _ a => sequential a
  | Gen _ _ a => sequential a
  | Store a => sequential a
  | Copy _ _ a => sequential a
  | Op2 _ a b => sequential a && sequential b
  | Both _ a b => sequential a && sequential b
  | At a b => sequential a && sequential b
  | Gather a b => sequential a && sequential b
  | Map _ a b => sequential a && sequential b
  | Iter _ a b => sequential a && sequential b
  | Let a b => sequential a && sequential b
  | Red a b c => sequential a && (sequential b && sequential c)
  | Scan a b c => sequential a && (sequential b && sequential c)
  | Select a b c => sequential a && (sequential b && sequential c)
  | Scatter a b c => sequential a && (sequential b && sequential c)
  | RedPar _ _ _ _ _ => false
  end.
Lemma sequential_lawful {G t} (e : exp G t) : sequential e = true -> lawful e.
Proof.
  induction e; cbn; intros Hs; try discriminate; repeat match goal with L : _ && _ = true |- _ => apply andb_prop in L as [? ?] end; constructor; auto.
Qed.

(* ---------- commands ---------- *)
Inductive iexp :=
| IVar (l : nat)                          (* the array of this level *)
| ILoop (l : nat)                         (* the loop variable of this level *)
| ILit (v : number) | INat (i : nat) | IOp1 (o : nat) (a : iexp) | IOp2 (o : nat) (a b : iexp) | IMove (f : nat -> nat) (a : iexp)
| IAt (x j : iexp) | IView {d d'} (v : view d d') (x : iexp) | IBoth {a b d} (j : both a b d) (x y : iexp)
| IGather (j x : iexp) | IIota
| IGen (l : nat) (x : iexp)               (* delayed: element i is [x] where the loop variable [l] is i *)
| ISel (c x y : iexp).
Inductive iacc := AVar (l : nat) | AAt (a : iacc) (l : nat) | AView {d d'} (v : view d d') (a : iacc) | APut {a b d} (j : both a b d) (c : bool) (x : iacc).
Inductive comm :=
| Skip | Seq (a b : comm) | Assign (a : iacc) (x : iexp) | New (l : nat) (d : data) (c : comm)
| For (par : bool) (l n : nat) (c : comm) | If (x : iexp) (a b : comm)
| Index (l m : nat) (j : iexp) (c : comm)
    (* an index that is data, of those below [m], as the loop variable [l]: out[is[i]]. Were it not below [m], nothing would happen; that it is, is part of [safe] *)
| Sum (o : nat) (z : number) (v w l n : nat) (c : comm).
    (* reducefor: iterations in parallel, each of which leaves a number in a copy [w] of [v] that is its own; see [exec] *)

Definition store := nat -> path -> number.
Definition ienv := nat -> nat.
Definition wr (s : store) (lq : nat * path) (v : number) : store := fun k q =>
  if Nat.eqb (fst lq) k then if path_dec (snd lq) q then v else s k q else s k q.

Fixpoint ev (s : store) (io : ienv) (x : iexp) (p : path) : number :=
  match x with
  | IVar l => s l p
  | ILoop l => of_nat (io l)
  | ILit v => v
  | INat i => of_nat i
  | IOp1 o a => op1 o (ev s io a [])
  | IOp2 o a b => op2 o (ev s io a []) (ev s io b [])
  | IMove f a => of_nat (f (to_nat (ev s io a [])))
  | IAt x j => ev s io x (Ix (to_nat (ev s io j [])) :: p)
  | IView v x => ev s io x (vin v p)
  | IBoth j x y => let (c, q) := bpick j p in if c then ev s io y q else ev s io x q
  | IGather j x => match p with Ix i :: p => ev s io x (Ix (to_nat (ev s io j [Ix i])) :: p) | _ => zero end
  | IIota => match p with Ix i :: _ => of_nat i | _ => zero end
  | IGen l x => match p with Ix i :: p => ev s (upd io l i) x p | _ => zero end
  | ISel c x y => if truth (ev s io c []) then ev s io x p else ev s io y p
  end.
Fixpoint loc (io : ienv) (a : iacc) (p : path) : nat * path :=
  match a with
  | AVar l => (l, p)
  | AAt a l => loc io a (Ix (io l) :: p)
  | AView v a => loc io a (vout v p)
  | APut j c a => loc io a (bput j c p)
  end.

(* Some way to combine all of these, in any order and grouping, with the neutral element as often as one likes: threads begin with it, idle ones too. *)
Inductive combined (o : nat) (z : number) : list number -> number -> Prop :=
| combined_one v : combined o z [v] v
| combined_none : combined o z [] z
| combined_both l l' v v' : combined o z l v -> combined o z l' v' -> combined o z (l ++ l') (op2 o v v')
| combined_moved l l' v : Permutation l l' -> combined o z l v -> combined o z l' v.
Fixpoint iterR {A} (R : nat -> A -> A -> Prop) (is : list nat) (s s' : A) : Prop :=
  match is with [] => s' = s | i :: is => exists s1, R i s s1 /\ iterR R is s1 s' end.
Definition order (par : bool) (n : nat) (is : list nat) : Prop := if par then Permutation (seq 0 n) is else is = seq 0 n.

(* The iterations of a parallel loop run in ANY order; new memory has ANY contents. *)
Fixpoint exec (c : comm) (io : ienv) (s s' : store) : Prop :=
  match c with
  | Skip => s' = s
  | Seq a b => exists s1, exec a io s s1 /\ exec b io s1 s'
  | Assign a x => s' = wr s (loc io a []) (ev s io x [])
  | New l _ c => exists junk, exec c io (upd s l junk) s'
  | For par l n c => exists is, order par n is /\ iterR (fun i => exec c (upd io l i)) is s s'
  | If x a b => if truth (ev s io x []) then exec a io s s' else exec b io s s'
  | Index l m j c => let i := to_nat (ev s io j []) in if i <? m then exec c (upd io l i) s s' else s' = s
  | Sum o z v w l n c => exists is s1 xs r, Permutation (seq 0 n) is /\
      iterR (fun i a b => (exists junk, exec c (upd io l i) (upd (fst a) w junk) (fst b)) /\ snd b = fst b w [] :: snd a) is (s, []) (s1, xs) /\
      combined o z (s1 v [] :: xs) r /\ s' = wr s1 (v, []) r
  end.
Lemma combined_any o z l : exists v, combined o z l v.
Proof.
  induction l as [|a l [v Hv]]; [exists z; constructor|]. exists (op2 o a v). apply (combined_both o z [a] l); auto. constructor.
Qed.
(* Under the laws every way to combine is the sum from the left. *)
Lemma combined_sum o z l v : monoid o z -> combined o z l v -> v = fold_right (op2 o) z l.
Proof.
  intros [C A U] H.
  assert (App : forall l l', fold_right (op2 o) z (l ++ l') = op2 o (fold_right (op2 o) z l) (fold_right (op2 o) z l')).
  { induction l0 as [|a l0 IH]; intros l'; cbn [app fold_right]; [now rewrite U|]. now rewrite IH, A. }
  induction H as [v| |l l' v v' H1 IH1 H2 IH2|l l' v P H IH].
  - cbn. now rewrite C, U.
  - reflexivity.
  - now rewrite App, IH1, IH2.
  - rewrite IH. clear -C A P. induction P; cbn; auto; [now rewrite IHP| |congruence]. now rewrite <- !A, (C y x).
Qed.
(* Every command ends. *)
Lemma exec_total : forall c io s, exists s', exec c io s s'.
Proof.
  assert (L : forall A (R : nat -> A -> A -> Prop), (forall i s, exists s', R i s s') -> forall is s, exists s', iterR R is s s').
  { intros A R HR is; induction is as [|i is IH]; cbn; intros s; eauto.
    destruct (HR i s) as [s1 H1]. destruct (IH s1) as [s2 H2]. eauto. }
  induction c; cbn; intros io s; eauto.
  - destruct (IHc1 io s) as [s1 H1]. destruct (IHc2 io s1) as [s2 H2]. eauto.
  - destruct (IHc io (upd s l (s l))); eauto.
  - destruct (L _ (fun i => exec c (upd io l i)) (fun i s => IHc (upd io l i) s) (seq 0 n) s) as [s' H]. exists s', (seq 0 n). split; auto.
    unfold order. destruct par; auto.
  - destruct (truth _); eauto.
  - match goal with |- context [if ?b then _ else _] => destruct b end; eauto.
  - destruct (L _ (fun i a b => (exists junk, exec c (upd io l i) (upd (fst a) w junk) (fst b)) /\ snd b = fst b w [] :: snd a)) with (is := seq 0 n) (s := (s, @nil number)) as [[s1 xs] H].
    { intros i [a xs]. destruct (IHc (upd io l i) (upd a w (a w))) as [b H]. exists (b, b w [] :: xs). cbn. eauto. }
    destruct (combined_any o z (s1 v [] :: xs)) as [r Hr]. exists (wr s1 (v, []) r), (seq 0 n), s1, xs, r. auto.
Qed.

(* ---------- bounds ---------- *)
(* The elements that an expression reads, at a path, are in arrays of these types. Of a choice only the side that is taken counts. *)
Fixpoint inb (D : nat -> data) (s : store) (io : ienv) (x : iexp) (p : path) : Prop :=
  match x with
  | IVar l => leaf (D l) p
  | ILoop _ | ILit _ | INat _ | IIota => True
  | IOp1 _ a | IMove _ a => inb D s io a []
  | IOp2 _ a b => inb D s io a [] /\ inb D s io b []
  | IAt x j => inb D s io j [] /\ inb D s io x (Ix (to_nat (ev s io j [])) :: p)
  | IView v x => inb D s io x (vin v p)
  | IBoth j x y => let (c, q) := bpick j p in if c then inb D s io y q else inb D s io x q
  | IGather j x => match p with Ix i :: p => inb D s io j [Ix i] /\ inb D s io x (Ix (to_nat (ev s io j [Ix i])) :: p) | _ => False end
  | IGen l x => match p with Ix i :: p => inb D s (upd io l i) x p | _ => False end
  | ISel c x y => inb D s io c [] /\ (if truth (ev s io c []) then inb D s io x p else inb D s io y p)
  end.
Fixpoint along (P : nat -> store -> Prop) (R : nat -> store -> store -> Prop) (is : list nat) (s : store) : Prop :=
  match is with [] => True | i :: is => P i s /\ forall s1, R i s s1 -> along P R is s1 end.
(* Everything that any execution reads and writes on its way is in bounds. *)
Fixpoint safe (D : nat -> data) (c : comm) (io : ienv) (s : store) : Prop :=
  match c with
  | Skip => True
  | Seq a b => safe D a io s /\ forall s1, exec a io s s1 -> safe D b io s1
  | Assign a x => leaf (D (fst (loc io a []))) (snd (loc io a [])) /\ inb D s io x []
  | New l d c => forall junk, safe (upd D l d) c io (upd s l junk)
  | For par l n c => forall is, order par n is -> along (fun i => safe D c (upd io l i)) (fun i => exec c (upd io l i)) is s
  | If x a b => inb D s io x [] /\ (if truth (ev s io x []) then safe D a io s else safe D b io s)
  | Index l m j c => inb D s io j [] /\ to_nat (ev s io j []) < m /\ safe D c (upd io l (to_nat (ev s io j []))) s
  | Sum _ _ v w l n c => leaf (D v) [] /\ forall is, Permutation (seq 0 n) is ->
      along (fun i s => forall junk, safe (upd D w num) c (upd io l i) (upd s w junk)) (fun i s s' => exists junk, exec c (upd io l i) (upd s w junk) s') is s
  end.
End Phrases.
