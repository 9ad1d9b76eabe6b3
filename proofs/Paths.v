(* Types of values, paths to the numbers inside, and what rearranges: views, whose elements are elements of what they view, and pairs, zips and
   concatenations, whose elements come from one of two sides. Each is a map of paths with its laws; the laws are all that the translation needs.

   Numbers are abstract, their operations uninterpreted. Indices are below their bound. *)
From Coq Require Import Arith List Lia.
Import ListNotations.

Class Scalars := {
  number : Type;
  zero : number;
  op1 : nat -> number -> number;
  op2 : nat -> number -> number -> number;
  truth : number -> bool;
  of_nat : nat -> number;                      (* indices are stored as numbers *)
  to_nat : number -> nat;
  to_of_nat : forall i, to_nat (of_nat i) = i }.

Local Arguments Nat.ltb : simpl never.
Section Paths.
Context {K : Scalars}.

(* ---------- types and their values ---------- *)
Inductive data := num | idx (n : nat) | ary (n : nat) (d : data) | prd (a b : data).
Fixpoint den d : Type :=
  match d with num => number | idx _ => nat | ary _ d => nat -> den d | prd a b => (den a * den b)%type end.
(* One number. *)
Definition flat d : bool := match d with num | idx _ => true | _ => false end.

Inductive turn := Ix (i : nat) | Lf | Rg.
Definition path := list turn.
Definition path_dec : forall p q : path, {p = q} + {p <> q}.
Proof. decide equality. decide equality. apply Nat.eq_dec. Defined.

(* Paths to numbers. *)
Fixpoint leaf d (p : path) : Prop :=
  match d, p with
  | num, [] | idx _, [] => True
  | ary n d, Ix i :: p => i < n /\ leaf d p
  | prd a _, Lf :: p => leaf a p
  | prd _ b, Rg :: p => leaf b p
  | _, _ => False
  end.
Fixpoint sel d : den d -> path -> number :=
  match d with
  | num => fun v _ => v
  | idx _ => fun i _ => of_nat i
  | ary n d => fun v p => match p with Ix i :: p => sel d (v i) p | _ => zero end
  | prd a b => fun v p => match p with Lf :: p => sel a (fst v) p | Rg :: p => sel b (snd v) p | _ => zero end
  end.
(* Indices are below their bound. *)
Fixpoint ok d : den d -> Prop :=
  match d with
  | num => fun _ => True
  | idx n => fun i => i < n
  | ary n d => fun v => forall i, i < n -> ok d (v i)
  | prd a b => fun v => ok a (fst v) /\ ok b (snd v)
  end.

Lemma leaf_ary n d p : leaf (ary n d) p -> exists i q, p = Ix i :: q /\ i < n /\ leaf d q.
Proof. destruct p as [|[i| |] q]; cbn; try contradiction. intros []. eauto. Qed.
Lemma leaf_prd a b p : leaf (prd a b) p -> (exists q, p = Lf :: q /\ leaf a q) \/ (exists q, p = Rg :: q /\ leaf b q).
Proof. destruct p as [|[i| |] q]; cbn; try contradiction; eauto. Qed.
Lemma leaf_flat d p : flat d = true -> leaf d p -> p = [].
Proof. destruct d; try discriminate; destruct p; cbn; auto; contradiction. Qed.
Lemma flat_leaf d : flat d = true -> leaf d [].
Proof. destruct d; try discriminate; exact (fun _ => I). Qed.

(* ---------- views ---------- *)
Inductive view : data -> data -> Type :=
| VId t : view t t
| VSplit n m t : view (ary (m * n) t) (ary m (ary n t))
| VJoin n m t : view (ary m (ary n t)) (ary (m * n) t)
| VTrans n m t : view (ary n (ary m t)) (ary m (ary n t))
| VUnzip n s t : view (ary n (prd s t)) (prd (ary n s) (ary n t))
| VPerm n t (f g : nat -> nat) (H : forall i, i < n -> f i < n /\ g i < n /\ f (g i) = i /\ g (f i) = i) : view (ary n t) (ary n t)
| VPick n m t (f : nat -> nat) (H : forall i, i < m -> f i < n) : view (ary n t) (ary m t)
| VWindow n m w t (f : nat -> nat -> nat) (H : forall i j, i < m -> j < w -> f i j < n) : view (ary n t) (ary m (ary w t))
| VSplat n t : view t (ary n t)
| VFst s t : view (prd s t) s
| VSnd s t : view (prd s t) t
| VMap n {d d'} (v : view d d') : view (ary n d) (ary n d').

Fixpoint vsem {d d'} (v : view d d') : den d -> den d' :=
  match v with
  | VId t => fun x => x
  | VSplit n m t => fun x i j => x (i * n + j)
  | VJoin n m t => fun x i => x (i / n) (i mod n)
  | VTrans n m t => fun x i j => x j i
  | VUnzip n s t => fun x => (fun i => fst (x i), fun i => snd (x i))
  | VPerm n t f g _ => fun x i => x (f i)
  | VPick n m t f _ => fun x i => x (f i)
  | VWindow n m w t f _ => fun x i j => x (f i j)
  | VSplat n t => fun x _ => x
  | VFst s t => fst
  | VSnd s t => snd
  | VMap n v => fun x i => vsem v (x i)
  end.
(* From a path into the result to one into what is viewed: rules cge. *)
Fixpoint vin {d d'} (v : view d d') (p : path) : path :=
  match v with
  | VId t => p
  | VSplit n m t => match p with Ix i :: Ix j :: p => Ix (i * n + j) :: p | _ => p end
  | VJoin n m t => match p with Ix i :: p => Ix (i / n) :: Ix (i mod n) :: p | _ => p end
  | VTrans n m t => match p with Ix i :: Ix j :: p => Ix j :: Ix i :: p | _ => p end
  | VUnzip n s t => match p with c :: Ix i :: p => Ix i :: c :: p | _ => p end
  | VPerm n t f g _ => match p with Ix i :: p => Ix (f i) :: p | _ => p end
  | VPick n m t f _ => match p with Ix i :: p => Ix (f i) :: p | _ => p end
  | VWindow n m w t f _ => match p with Ix i :: Ix j :: p => Ix (f i j) :: p | _ => p end
  | VSplat n t => match p with Ix i :: p => p | _ => p end
  | VFst s t => Lf :: p
  | VSnd s t => Rg :: p
  | VMap n v => match p with Ix i :: p => Ix i :: vin v p | _ => p end
  end.
(* And back, for those through which one can write: rules cga. *)
Fixpoint writable {d d'} (v : view d d') : bool :=
  match v with VId _ | VSplit _ _ _ | VJoin _ _ _ | VTrans _ _ _ | VUnzip _ _ _ | VPerm _ _ _ _ _ => true | VMap _ v => writable v | _ => false end.
Fixpoint vout {d d'} (v : view d d') (p : path) : path :=
  match v with
  | VSplit n m t => match p with Ix i :: p => Ix (i / n) :: Ix (i mod n) :: p | _ => p end
  | VJoin n m t => match p with Ix i :: Ix j :: p => Ix (i * n + j) :: p | _ => p end
  | VTrans n m t => match p with Ix i :: Ix j :: p => Ix j :: Ix i :: p | _ => p end
  | VUnzip n s t => match p with Ix i :: c :: p => c :: Ix i :: p | _ => p end
  | VPerm n t f g _ => match p with Ix i :: p => Ix (g i) :: p | _ => p end
  | VMap n v => match p with Ix i :: p => Ix i :: vout v p | _ => p end
  | _ => p
  end.

Lemma dm1 w i j : j < w -> (i * w + j) / w = i.
Proof. intros. rewrite Nat.div_add_l, Nat.div_small; lia. Qed.
Lemma dm2 w i j : j < w -> (i * w + j) mod w = j.
Proof. intros. rewrite Nat.add_comm, Nat.mod_add, Nat.mod_small; lia. Qed.
Lemma dm3 w i : w <> 0 -> i / w * w + i mod w = i.
Proof. intros. rewrite (Nat.div_mod i w) at 3 by auto. lia. Qed.
Lemma dm4 w m i : i < m * w -> i / w < m /\ i mod w < w /\ w <> 0.
Proof.
  intros. assert (w <> 0) by (intros ->; lia). repeat split; auto.
  - apply Nat.div_lt_upper_bound; lia.
  - apply Nat.mod_upper_bound; auto.
Qed.
Lemma dm5 w m i j : i < m -> j < w -> i * w + j < m * w.
Proof. intros. nia. Qed.

Ltac lf := repeat match goal with
  | H : leaf (ary _ _) _ |- _ => apply leaf_ary in H; destruct H as (?i & ?q & -> & ? & ?)
  | H : leaf (prd _ _) _ |- _ => apply leaf_prd in H; destruct H as [(?q & -> & ?)|(?q & -> & ?)]
  end; cbn in *.

Lemma vin_ok {d d'} (v : view d d') : forall p x, leaf d' p -> leaf d (vin v p) /\ sel d' (vsem v x) p = sel d x (vin v p).
Proof.
  induction v; intros p x Hp; lf; auto.
  - split; auto. split; auto. now apply dm5.
  - match goal with L : _ < m * n |- _ => destruct (dm4 n m _ L) as (? & ? & ?) end. auto.
  - split; auto. split; auto. now apply H.
  - match goal with L : leaf d' ?q |- _ => destruct (IHv q (x i) L) end. auto.
Qed.
Lemma vout_ok {d d'} (v : view d d') : writable v = true -> forall q, leaf d q -> leaf d' (vout v q) /\ vin v (vout v q) = q.
Proof.
  induction v; intros Hw q Hq; try discriminate; lf; auto.
  - match goal with L : _ < m * n |- _ => destruct (dm4 n m _ L) as (? & ? & ?) end. rewrite dm3; auto.
  - split; [split; [now apply dm5|auto]|]. now rewrite dm1, dm2.
  - destruct (H i) as (? & ? & -> & _); auto.
  - match goal with L : leaf d ?q |- _ => destruct (IHv Hw q L) as [? ->] end. auto.
Qed.
Lemma vout_vin {d d'} (v : view d d') : writable v = true -> forall p, leaf d' p -> vout v (vin v p) = p.
Proof.
  induction v; intros Hw p Hp; try discriminate; lf; auto.
  - now rewrite dm1, dm2.
  - match goal with L : _ < m * n |- _ => destruct (dm4 n m _ L) as (? & ? & ?) end. now rewrite dm3.
  - destruct (H i) as (? & ? & _ & ->); auto.
  - now rewrite IHv.
Qed.
Lemma vsem_ok {d d'} (v : view d d') : forall x, ok d x -> ok d' (vsem v x).
Proof.
  induction v; cbn; intros x Hx; auto; try (intros i Hi); try (now apply Hx); try (apply Hx; now apply H).
  - intros j Hj. apply Hx. now apply dm5.
  - destruct (dm4 n m i Hi) as (? & ? & ?). auto.
  - split; intros i Hi; apply (Hx i Hi).
Qed.
Lemma writable_flat {d d'} (v : view d d') : writable v = true -> flat d = flat d'.
Proof. destruct v; cbn; auto; discriminate. Qed.

(* ---------- two sides ---------- *)
Inductive both : data -> data -> data -> Type :=
| BPair s t : both s t (prd s t)
| BZip n s t : both (ary n s) (ary n t) (ary n (prd s t))
| BConcat n m t : both (ary n t) (ary m t) (ary (n + m) t).
Definition bsem {a b d} (j : both a b d) : den a -> den b -> den d :=
  match j with
  | BPair s t => pair
  | BZip n s t => fun v w i => (v i, w i)
  | BConcat n m t => fun v w i => if i <? n then v i else w (i - n)
  end.
(* Which side, and the path there. *)
Definition bpick {a b d} (j : both a b d) (p : path) : bool * path :=
  match j with
  | BPair s t => match p with Rg :: p => (true, p) | _ :: p => (false, p) | [] => (false, []) end
  | BZip n s t => match p with Ix i :: Rg :: p => (true, Ix i :: p) | Ix i :: _ :: p => (false, Ix i :: p) | _ => (false, p) end
  | BConcat n m t => match p with Ix i :: p => if i <? n then (false, Ix i :: p) else (true, Ix (i - n) :: p) | _ => (false, p) end
  end.
Definition bput {a b d} (j : both a b d) (c : bool) (p : path) : path :=
  match j with
  | BPair s t => (if c then Rg else Lf) :: p
  | BZip n s t => match p with Ix i :: p => Ix i :: (if c then Rg else Lf) :: p | _ => p end
  | BConcat n m t => match p with Ix i :: p => Ix (if c then n + i else i) :: p | _ => p end
  end.
Definition side (c : bool) (a b : data) : data := if c then b else a.

Lemma bpick_ok {a b d} (j : both a b d) p v w : leaf d p ->
  let (c, q) := bpick j p in leaf (side c a b) q /\ sel d (bsem j v w) p = (if c then sel b w q else sel a v q) /\ bput j c q = p.
Proof.
  destruct j; intros Hp; lf; auto.
  destruct (Nat.ltb_spec i n); cbn; [auto|]. split; [split; [lia|auto]|]. split; [auto|]. f_equal. f_equal. lia.
Qed.
Lemma bput_ok {a b d} (j : both a b d) c q : leaf (side c a b) q -> leaf d (bput j c q) /\ bpick j (bput j c q) = (c, q).
Proof.
  destruct j, c; cbn [side]; intros Hq; lf; auto.
  - split; [split; auto; lia|]. destruct (Nat.ltb_spec (n + i) n); [lia|]. f_equal. f_equal. f_equal. lia.
  - split; [split; auto; lia|]. destruct (Nat.ltb_spec i n); [auto|lia].
Qed.
Lemma bsem_ok {a b d} (j : both a b d) v w : ok a v -> ok b w -> ok d (bsem j v w).
Proof.
  destruct j; cbn; auto. intros Hv Hw i Hi. destruct (Nat.ltb_spec i n); auto. apply Hw. lia.
Qed.
Lemma both_flat {a b d} (j : both a b d) : flat d = false. Proof. destruct j; auto. Qed.
End Paths.
