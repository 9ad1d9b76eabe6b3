(* When an update may write its result over the accumulator that it reads (rule cgc.inplace): a look at the subscripts of commands, as the compiler's. Here the
   accumulator is at level [n], what the update writes at level [m]. InPlace.v proves that the look is right. *)
From Coq Require Import Arith List Bool.
From Lozenge Require Import Paths Phrases.
Import ListNotations.

Section Reads.
Context {K : Scalars}.
(* All elements that an expression may read, at a path, are in [R]; indices that are data may be any. *)
Definition may_be (io : ienv) (j : iexp) (i : nat) : Prop := match j with ILoop l => i = io l | INat k => i = k | _ => True end.
Fixpoint reads (R : nat -> path -> Prop) (io : ienv) (x : iexp) (p : path) : Prop :=
  match x with
  | IVar l => R l p
  | ILoop _ | ILit _ | INat _ | IIota => True
  | IOp1 _ a | IMove _ a => reads R io a []
  | IOp2 _ a b => reads R io a [] /\ reads R io b []
  | IAt x j => reads R io j [] /\ forall i, may_be io j i -> reads R io x (Ix i :: p)
  | IView v x => reads R io x (vin v p)
  | IBoth j x y => let (c, q) := bpick j p in if c : bool then reads R io y q else reads R io x q
  | IGather j x => match p with Ix i :: p => reads R io j [Ix i] /\ forall k, reads R io x (Ix k :: p) | _ => True end
  | IGen l x => match p with Ix i :: p => reads R (upd io l i) x p | _ => True end
  | ISel c x y => reads R io c [] /\ reads R io x p /\ reads R io y p
  end.
Lemma reads_mono (R R' : nat -> path -> Prop) : (forall l q, R l q -> R' l q) -> forall x io p, reads R io x p -> reads R' io x p.
Proof.
  intros H. induction x; cbn [reads]; intros io p Hx; auto; try (intuition auto; fail).
  - destruct (bpick j p) as [[|] q]; auto.
  - destruct p as [|[i| |] p]; intuition auto.
  - destruct p as [|[i| |] p]; auto.
Qed.
Lemma reads_both (R R' : nat -> path -> Prop) x : forall io p, reads R io x p -> reads R' io x p -> reads (fun l q => R l q /\ R' l q) io x p.
Proof.
  induction x; cbn [reads]; intros io p H H'; auto; try (intuition auto; fail).
  - destruct (bpick j p) as [[|] q]; auto.
  - destruct p as [|[i| |] p]; intuition auto.
  - destruct p as [|[i| |] p]; auto.
Qed.
End Reads.

(* ---------- subscripts ---------- *)
(* What is known of a subscript: nothing, a loop variable, a number, a * k + b. *)
Inductive sym := SU | SL (l : nat) | SN (i : nat) | SMA (a : sym) (k : nat) (b : sym).
Inductive sturn := TIx (a : sym) | TLf | TRg.
Definition spath := list sturn.
(* An access: the loops around it, with their bounds, and where. *)
Definition access : Type := list (nat * nat) * spath.

Section Look.
Context {K : Scalars}.
Fixpoint svin {d d'} (v : view d d') (p : spath) : spath :=
  match v with
  | VId t => p
  | VSplit n m t => match p with TIx i :: TIx j :: p => TIx (SMA i n j) :: p | _ => p end
  | VJoin n m t => match p with TIx i :: p => TIx SU :: TIx SU :: p | _ => p end
  | VTrans n m t => match p with TIx i :: TIx j :: p => TIx j :: TIx i :: p | _ => p end
  | VUnzip n s t => match p with c :: TIx i :: p => TIx i :: c :: p | _ => p end
  | VPerm n t f g _ => match p with TIx i :: p => TIx SU :: p | _ => p end
  | VPick n m t f _ => match p with TIx i :: p => TIx SU :: p | _ => p end
  | VWindow n m w t f _ => match p with TIx i :: TIx j :: p => TIx SU :: p | _ => p end
  | VSplat n t => match p with TIx i :: p => p | _ => p end
  | VFst s t => TLf :: p
  | VSnd s t => TRg :: p
  | VMap n v => match p with TIx i :: p => TIx i :: svin v p | _ => p end
  end.
Fixpoint svout {d d'} (v : view d d') (p : spath) : spath :=
  match v with
  | VSplit n m t => match p with TIx i :: p => TIx SU :: TIx SU :: p | _ => p end
  | VJoin n m t => match p with TIx i :: TIx j :: p => TIx (SMA i n j) :: p | _ => p end
  | VTrans n m t => match p with TIx i :: TIx j :: p => TIx j :: TIx i :: p | _ => p end
  | VUnzip n s t => match p with TIx i :: c :: p => c :: TIx i :: p | _ => p end
  | VPerm n t f g _ => match p with TIx i :: p => TIx SU :: p | _ => p end
  | VMap n v => match p with TIx i :: p => TIx i :: svout v p | _ => p end
  | _ => p
  end.
(* The sides that may be meant. *)
Definition spick {a b d} (j : both a b d) (p : spath) : list (bool * spath) :=
  match j with
  | BPair s t => match p with TRg :: p => [(true, p)] | _ :: p => [(false, p)] | [] => [(false, [])] end
  | BZip n s t => match p with TIx i :: TRg :: p => [(true, TIx i :: p)] | TIx i :: _ :: p => [(false, TIx i :: p)] | _ => [(false, p)] end
  | BConcat n m t => match p with TIx i :: p => [(false, TIx i :: p); (true, TIx SU :: p)] | _ => [(false, p)] end
  end.
Definition sput {a b d} (j : both a b d) (c : bool) (p : spath) : spath :=
  match j with
  | BPair s t => (if c then TRg else TLf) :: p
  | BZip n s t => match p with TIx i :: p => TIx i :: (if c then TRg else TLf) :: p | _ => p end
  | BConcat n m t => match p with TIx i :: p => TIx (if c then SU else i) :: p | _ => p end
  end.

Definition oapp {A} (a b : option (list A)) : option (list A) := match a, b with Some a, Some b => Some (a ++ b) | _, _ => None end.
Definition sindex (env : nat -> sym) (j : iexp) : sym := match j with ILoop l => env l | INat i => SN i | _ => SU end.

Variables n m : nat.
(* Where an expression reads [n]; it must not read [m]. *)
Fixpoint sreads (env : nat -> sym) (x : iexp) (p : spath) : option (list spath) :=
  match x with
  | IVar l => if l =? m then None else Some (if l =? n then [p] else [])
  | ILoop _ | ILit _ | INat _ | IIota => Some []
  | IOp1 _ a | IMove _ a => sreads env a []
  | IOp2 _ a b => oapp (sreads env a []) (sreads env b [])
  | IAt x j => oapp (sreads env j []) (sreads env x (TIx (sindex env j) :: p))
  | IView v x => sreads env x (svin v p)
  | IBoth j x y => fold_right (fun cq => oapp (if fst cq : bool then sreads env y (snd cq) else sreads env x (snd cq))) (Some []) (spick j p)
  | IGather j x => match p with TIx i :: p => oapp (sreads env j [TIx i]) (sreads env x (TIx SU :: p)) | _ => Some [] end
  | IGen l x => match p with TIx i :: p => sreads (upd env l i) x p | _ => Some [] end
  | ISel c x y => oapp (sreads env c []) (oapp (sreads env x p) (sreads env y p))
  end.
Fixpoint sloc (a : iacc) (p : spath) : nat * spath :=
  match a with
  | AVar l => (l, p)
  | AAt a l => sloc a (TIx (SL l) :: p)
  | AView v a => sloc a (svout v p)
  | APut j c a => sloc a (sput j c p)
  end.

(* Whether paths that mean one element must be different, or have the same value of a loop variable: [test] says so of subscripts. *)
Fixpoint differ (test : sym -> sym -> bool) (r w : spath) : bool :=
  match r, w with
  | TLf :: _, TRg :: _ | TRg :: _, TLf :: _ => true
  | TLf :: r, TLf :: w | TRg :: r, TRg :: w => differ test r w
  | TIx a :: r, TIx b :: w => test a b || differ test r w
  | _, _ => false
  end.
Definition unequal (a b : sym) : bool := match a, b with SN i, SN j => negb (i =? j) | _, _ => false end.
Definition under_bound (bs : list (nat * nat)) (a : sym) (k : nat) : bool :=
  match a with SL l => existsb (fun b => (fst b =? l) && (snd b <=? k)) bs | SN i => i <? k | _ => false end.
Fixpoint determine (l : nat) (rs ws : list (nat * nat)) (a b : sym) : bool :=
  match a, b with
  | SL x, SL y => (x =? l) && (y =? l)
  | SMA a k y, SMA b k' z => (k =? k') && (under_bound rs y k && under_bound ws z k) && (determine l rs ws a b || determine l rs ws y z)
  | _, _ => false
  end.
Definition inside (l k : nat) (a : access) : access := ((l, k) :: fst a, snd a).
Definition fresh (l : nat) (a : access) : bool := forallb (fun b => negb (fst b =? l)) (fst a).
Definition every (R W : list access) (test : access -> access -> bool) : bool := forallb (fun r => forallb (test r) W) R.

(* Reads of [n] and writes of [m], if no write comes before a read of the same element. Loops carry none if subscripts determine their variable. *)
Fixpoint look (c : comm) : option (list access * list access) :=
  match c with
  | Skip => Some ([], [])
  | Seq a b => match look a, look b with
      | Some (ra, wa), Some (rb, wb) => if every rb wa (fun r w => differ unequal (snd r) (snd w)) then Some (ra ++ rb, wa ++ wb) else None
      | _, _ => None end
  | Assign a x => match sreads SL x [] with
      | Some rs => let (l, q) := sloc a [] in if l =? n then None else Some (map (pair []) rs, if l =? m then [([], q)] else [])
      | None => None end
  | New l _ c => if (l =? n) || (l =? m) then None else look c
  | For _ l k c => match look c with
      | Some (r, w) => if every r w (fun r w => differ (determine l (fst (inside l k r)) (fst (inside l k w))) (snd r) (snd w)) && (forallb (fresh l) r && forallb (fresh l) w)
          then Some (map (inside l k) r, map (inside l k) w) else None
      | None => None end
  | If x a b => match sreads SL x [], look a, look b with
      | Some rx, Some (ra, wa), Some (rb, wb) => Some (map (pair []) rx ++ ra ++ rb, wa ++ wb)
      | _, _, _ => None end
  | Index l k j c => match sreads SL j [], look c with
      | Some rj, Some (r, w) => if forallb (fresh l) r && forallb (fresh l) w then Some (map (pair []) rj ++ map (inside l k) r, map (inside l k) w) else None
      | _, _ => None end
  | Sum _ _ v w l k c => match look c with
      | Some (r, x) => if negb ((v =? n) || (v =? m) || ((w =? n) || (w =? m))) && (every r x (fun r w => differ (determine l (fst (inside l k r)) (fst (inside l k w))) (snd r) (snd w)) && (forallb (fresh l) r && forallb (fresh l) x))
          then Some (map (inside l k) r, map (inside l k) x) else None
      | None => None end
  end.
Definition inplace (c : comm) : bool := match look c with Some _ => true | None => false end.

(* c[o := v] *)
Fixpoint to_v (a : iacc) : iacc :=
  match a with AVar l => AVar (if Nat.eqb l m then n else l) | AAt a l => AAt (to_v a) l | AView v a => AView v (to_v a) | APut j c a => APut j c (to_v a) end.
Fixpoint redirect (c : comm) : comm :=
  match c with
  | Skip => Skip | Seq a b => Seq (redirect a) (redirect b) | Assign a x => Assign (to_v a) x | New l d c => New l d (redirect c)
  | For par l k c => For par l k (redirect c) | If x a b => If x (redirect a) (redirect b) | Index l k j c => Index l k j (redirect c)
  | Sum o z v w l k c => Sum o z v w l k (redirect c)
  end.
End Look.

(* An update element by element may overwrite, and one through blocks; exchanging the components of a pair may not. *)
Section Examples.
Context {K : Scalars}.
Example elementwise par N o : inplace 0 1 (For par 0 N (Assign (AAt (AVar 1) 0) (IOp2 o (IAt (IVar 0) (ILoop 0)) (IAt (IVar 2) (ILoop 0))))) = true.
Proof. reflexivity. Qed.
Example exchange : inplace 0 1 (Seq (Assign (APut (BPair num num) false (AVar 1)) (IView (VSnd num num) (IVar 0)))
  (Assign (APut (BPair num num) true (AVar 1)) (IView (VFst num num) (IVar 0)))) = false.
Proof. reflexivity. Qed.
Example reversed N H : inplace 0 1 (For false 0 N (Assign (AAt (AVar 1) 0) (IAt (IView (VPerm N num (fun i => N - 1 - i) (fun i => N - 1 - i) H) (IVar 0)) (ILoop 0)))) = false.
Proof. reflexivity. Qed.
End Examples.
