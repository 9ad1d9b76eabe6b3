(* The acceptor- and continuation-passing translation, in two modes: that of the paper, and the one with fused views. Rule names are those of
   docs/rules.md. What the rules of a mode share is written once.

   A reduction over a number updates its accumulator in place. Over anything else it does so where every element is read before it is written, as subscripts
   show (Overwrite.v); else it goes through a second temporary, since rule a.9 as published is wrong there (TranslationFacts.v proves that). *)
From Coq Require Import Arith List Bool.
From Lozenge Require Import Paths Phrases Overwrite.
Import ListNotations.

(* Choices of default mode, by type: which accumulators are local memory, while others are what is to be written itself; and which take turns with their second temporary
   rather than being copied. The theorems hold for every choice. *)
Class Policy := { local : data -> bool; turns : data -> bool }.
Fixpoint numbers (d : data) : nat := match d with num | idx _ => 1 | ary n d => n * numbers d | prd a b => numbers a + numbers b end.
#[global] Instance small : Policy | 100 := { local d := numbers d <=? 2048; turns d := negb (numbers d <=? 2048) }.

Section Translation.
Context {K : Scalars} {Keep : Policy}.
Variable fuse : bool.                     (* default mode *)

Definition renv G := env (fun _ => iexp) G.
Definition bindE {G s} (x : iexp) (r : renv G) : renv (s :: G) := consE (F := fun _ => iexp) (s := s) x r.
Definition tyA G := renv G -> nat -> iacc -> comm.
Definition tyC G := renv G -> nat -> (nat -> iexp -> comm) -> comm.

(* a.1 to a.3 *)
Fixpoint copy (d : data) (n : nat) (a : iacc) (x : iexp) : comm :=
  match d with
  | num | idx _ => Assign a x
  | ary k d => For false n k (copy d (S n) (AAt a n) (IAt x (ILoop n)))
  | prd d1 d2 => Seq (copy d1 n (APut (BPair d1 d2) false a) (IView (VFst d1 d2) x)) (copy d2 n (APut (BPair d1 d2) true a) (IView (VSnd d1 d2) x))
  end.

(* Programs that are expressions of their variables: they need no commands. [px] is that expression; levels from [n] on are free. *)
Fixpoint pure {G t} (e : exp G t) : bool :=
  match e with
  | Var _ | Lit _ | Nat _ _ | Iota _ => true
  | Op1 _ a => pure a
  | Op2 _ a b => pure a && pure b
  | Value i => pure i
  | Move _ _ i => pure i
  | View _ e => pure e
  | Both _ a b => pure a && pure b
  | At e i => pure e && pure i
  | Gather is e => pure is && pure e
  | Map _ f e => pure f && pure e
  | Gen _ _ f => pure f
  | Select c a b => pure c && (pure a && pure b)
  | Let a b => pure a && pure b
  | _ => false
  end.
Fixpoint px {G t} (e : exp G t) : renv G -> nat -> iexp :=
  match e in exp G t return renv G -> nat -> iexp with
  | @Var _ G t x => fun r _ => r t x
  | Lit v => fun _ _ => ILit v
  | Nat i _ => fun _ _ => INat i
  | Op1 o a => fun r n => IOp1 o (px a r n)
  | Op2 o a b => fun r n => IOp2 o (px a r n) (px b r n)
  | Value i => fun r n => px i r n
  | Move f _ i => fun r n => IMove f (px i r n)
  | View v e => fun r n => IView v (px e r n)
  | Both j a b => fun r n => IBoth j (px a r n) (px b r n)
  | At e i => fun r n => IAt (px e r n) (px i r n)
  | Gather is e => fun r n => IGather (px is r n) (px e r n)
  | Iota _ => fun _ _ => IIota
  | Map _ f e => fun r n => IGen n (px f (bindE (IAt (px e r n) (ILoop n)) r) (S n))
  | Gen _ _ f => fun r n => IGen n (px f (bindE (ILoop n) r) (S n))
  | Select c a b => fun r n => ISel (px c r n) (px a r n) (px b r n)
  | Let a b => fun r n => px b (bindE (px a r n) r) n
  | _ => fun _ _ => ILit zero
  end.

(* new (λtmp. A(e)(tmp.1); c tmp.2) *)
Definition store_first {G} (t : data) (A : tyA G) : tyC G := fun r n k => New n t (Seq (A r (S n) (AVar n)) (k (S n) (IVar n))).
(* The next value of the accumulator at level [n]; levels from [m] on are free. *)
Definition update (t : data) (n m : nat) (body : nat -> iacc -> comm) : comm :=
  if flat t then body m (AVar n)
  else if inplace n m (body (S m) (AVar m)) then redirect n m (body (S m) (AVar m))
  else New m t (Seq (body (S m) (AVar m)) (copy t (S m) (AVar n) (IVar m))).
(* The loop of a reduction over the accumulator [v]; levels from [n] on are free. The body knows where the accumulator is, and which element is next. *)
Definition stepper := nat -> iexp -> nat -> iacc -> comm.
(* Two iterations in one, the second with the accumulator and the other buffer, [w], exchanged; an odd last one is copied back. *)
Definition twice (i : nat) : nat := i * 2.
Definition in_turns (t : data) (N v w n : nat) (body : stepper) : comm :=
  Seq (For false n (N / 2) (Seq (body v (IMove twice (ILoop n)) (S n) (AVar w)) (body w (IMove (fun i => S (twice i)) (ILoop n)) (S n) (AVar v))))
    (if Nat.odd N then Seq (body v (INat (pred N)) n (AVar w)) (copy t n (AVar v) (IVar w)) else Skip).
Definition loopI (t : data) (N v n : nat) (body : stepper) : comm :=
  if fuse && turns t && (negb (flat t) && negb (inplace v (S n) (body v (ILoop n) (S (S n)) (AVar (S n))))) then New n t (in_turns t N v n (S n) body)
  else For false n N (update t v (S n) (body v (ILoop n))).
(* reduceSeqI *)
Definition reduceI (t : data) (N n : nat) (init : nat -> iacc -> comm) (body : stepper) (k : nat -> comm) : comm :=
  New n t (Seq (init (S n) (AVar n)) (Seq (loopI t N n (S n) body) (k (S n)))).
(* The same with the array [v], which is to be written, as the accumulator. *)
Definition reduceO (t : data) (N v n : nat) (init : nat -> iacc -> comm) (body : stepper) : comm := Seq (init n (AVar v)) (loopI t N v n body).
Definition into (t : data) (n : nat) (a : iacc) : option nat :=
  if fuse && negb (flat t || local t) then match a with AVar v => if v <? n then Some v else None | _ => None end else None.
Lemma into_some t n a v : into t n a = Some v -> fuse = true /\ flat t = false /\ v < n /\ a = AVar v.
Proof.
  unfold into. destruct fuse, (flat t), (local t); try discriminate; destruct a as [l| | |]; try discriminate. cbn [andb negb orb].
  destruct (Nat.ltb_spec l n); [|discriminate]. intros E. injection E as <-. auto.
Qed.
(* scanSeqI *)
Definition scanI (t : data) (N n : nat) (init : nat -> iacc -> comm) (body : nat -> iacc -> comm) (a : iacc) : comm :=
  New n t (Seq (init (S n) (AVar n))
    (For false (S n) N (Seq (update t n (S (S n)) body) (copy t (S (S n)) (AAt a (S n)) (IVar n))))).
Definition is_zip {a b d} (j : both a b d) : bool := match j with BZip _ _ _ => true | _ => false end.
(* reduceParI; the body gets an acceptor for the copy of the accumulator that is the iteration's own *)
Definition sumI (o : nat) (z : number) (N n : nat) (init : nat -> iacc -> comm) (body : nat -> iacc -> comm) (k : nat -> comm) : comm :=
  New n num (Seq (init (S n) (AVar n)) (Seq (Sum o z n (S (S n)) (S n) N (body (S (S (S n))) (AVar (S (S n))))) (k (S n)))).
(* scatterI *)
Definition scatterI (t : data) (N m n : nat) (j x : iexp) (a : iacc) : comm :=
  For false n N (Index (S n) m (IAt j (ILoop n)) (copy t (S (S n)) (AAt a (S n)) (IAt x (ILoop n)))).

Fixpoint tr {G t} (e : exp G t) : tyA G * tyC G :=
  match e in exp G t return tyA G * tyC G with
  | @Var _ G t x => (fun r n a => copy t n a (r t x), fun r n k => k n (r t x))
  | Lit v => (fun r n a => Assign a (ILit v), fun r n k => k n (ILit v))
  | Nat i _ => (fun r n a => Assign a (INat i), fun r n k => k n (INat i))
  | Op1 o e =>
      let C : tyC _ := fun r n k => snd (tr e) r n (fun n x => k n (IOp1 o x)) in (fun r n a => C r n (fun n x => Assign a x), C)
  | Op2 o e1 e2 =>
      let C : tyC _ := fun r n k => snd (tr e1) r n (fun n x => snd (tr e2) r n (fun n y => k n (IOp2 o x y))) in (fun r n a => C r n (fun n x => Assign a x), C)
  | Value e => (fun r n a => snd (tr e) r n (fun n x => Assign a x), snd (tr e))
  | Move f _ e =>
      let C : tyC _ := fun r n k => snd (tr e) r n (fun n x => k n (IMove f x)) in (fun r n a => C r n (fun n x => Assign a x), C)
  | @View _ _ _ t v e =>
      let C : tyC _ := fun r n k => snd (tr e) r n (fun n x => k n (IView v x)) in
      (fun r n a => if writable v then fst (tr e) r n (AView v a) else C r n (fun n x => copy t n a x), C)
  | @Both _ _ _ _ t j e1 e2 =>
      (fun r n a =>
         if fuse && is_zip j && (pure e1 && pure e2) then copy t n a (IBoth j (px e1 r n) (px e2 r n))
         else Seq (fst (tr e1) r n (APut j false a)) (fst (tr e2) r n (APut j true a)),
       fun r n k => snd (tr e1) r n (fun n x => snd (tr e2) r n (fun n y => k n (IBoth j x y))))
  | @At _ _ _ t e i =>
      let C : tyC _ := fun r n k => snd (tr e) r n (fun n x => snd (tr i) r n (fun n j => k n (IAt x j))) in (fun r n a => C r n (fun n x => copy t n a x), C)
  | @Gather _ _ _ m t is e =>
      let C : tyC _ := fun r n k => snd (tr is) r n (fun n j => snd (tr e) r n (fun n x => k n (IGather j x))) in
      (fun r n a => C r n (fun n x => copy (ary m t) n a x), C)
  | @Iota _ _ m => (fun r n a => copy (ary m (idx m)) n a IIota, fun r n k => k n IIota)
  | @Map _ _ N s t par f e =>
      let A : tyA _ := fun r n a => snd (tr e) r n (fun n x => For par n N (fst (tr f) (bindE (IAt x (ILoop n)) r) (S n) (AAt a n))) in
      (A, fun r n k =>
         if fuse && pure f then snd (tr e) r n (fun n x => k (S n) (IGen n (px f (bindE (IAt x (ILoop n)) r) (S n))))
         else store_first (ary N t) A r n k)
  | @Gen _ _ t N par f =>
      let A : tyA _ := fun r n a => For par n N (fst (tr f) (bindE (ILoop n) r) (S n) (AAt a n)) in
      (A, fun r n k => if pure f then k (S n) (IGen n (px f (bindE (ILoop n) r) (S n))) else store_first (ary N t) A r n k)
  | @Red _ _ N s t f i e =>
      let body x r : stepper := fun v j => fst (tr f) (bindE (IVar v) (bindE (IAt x j) r)) in
      let C : tyC _ := fun r n k => snd (tr e) r n (fun n x =>
        if fuse then reduceI t N n (fst (tr i) r) (body x r) (fun n' => k n' (IVar n))
        else snd (tr i) r n (fun n y => reduceI t N n (fun n a => copy t n a y) (body x r) (fun n' => k n' (IVar n)))) in
      (fun r n a => match into t n a with
         | Some v => snd (tr e) r n (fun n x => reduceO t N v n (fst (tr i) r) (body x r))
         | None => C r n (fun n x => copy t n a x) end, C)
  | @Scan _ _ N s t f i e =>
      let A : tyA _ := fun r n a => snd (tr e) r n (fun n x =>
        scanI t N n (fst (tr i) r) (fst (tr f) (bindE (IVar n) (bindE (IAt x (ILoop (S n))) r))) a) in
      (A, store_first (ary N t) A)
  | @Iter _ _ t N f i =>
      let body r : stepper := fun v _ => fst (tr f) (bindE (IVar v) r) in
      let C : tyC _ := fun r n k =>
        if fuse then reduceI t N n (fst (tr i) r) (body r) (fun n' => k n' (IVar n))
        else snd (tr i) r n (fun n y => reduceI t N n (fun n a => copy t n a y) (body r) (fun n' => k n' (IVar n))) in
      (fun r n a => match into t n a with
         | Some v => reduceO t N v n (fst (tr i) r) (body r)
         | None => C r n (fun n x => copy t n a x) end, C)
  | @Select _ _ t c e1 e2 =>
      let C : tyC _ := fun r n k => snd (tr c) r n (fun n x => snd (tr e1) r n (fun n y => snd (tr e2) r n (fun n z => k n (ISel x y z)))) in
      let branch : tyA _ := fun r n a => snd (tr c) r n (fun n x => If x (fst (tr e1) r n a) (fst (tr e2) r n a)) in
      (fun r n a => if fuse then branch r n a else C r n (fun n x => copy t n a x),
       fun r n k => if fuse && negb (pure e1 && pure e2) then store_first t branch r n k else C r n k)
  | Let e1 e2 =>
      (fun r n a => snd (tr e1) r n (fun n x => fst (tr e2) (bindE x r) n a),
       fun r n k => snd (tr e1) r n (fun n x => snd (tr e2) (bindE x r) n k))
  | @Store _ _ t e => (fst (tr e), store_first t (fst (tr e)))
  | @Copy _ _ d N t par v e =>
      let A : tyA _ := fun r n a => snd (tr e) r n (fun n x => For par n N (copy t (S n) (AAt a n) (IAt (IView v x) (ILoop n)))) in
      (A, store_first (ary N t) A)
  | @RedPar _ _ N _ o z g i e =>
      let C : tyC _ := fun r n k => snd (tr e) r n (fun n x =>
        sumI o z N n (fst (tr i) r) (fun m a => snd (tr g) (bindE (IAt x (ILoop (S n))) r) m (fun _ y => Assign a y)) (fun n' => k n' (IVar n))) in
      (fun r n a => C r n (fun n x => copy num n a x), C)
  | @Scatter _ _ N m t is b e =>
      let A : tyA _ := fun r n a => Seq (fst (tr b) r n a) (snd (tr is) r n (fun n j => snd (tr e) r n (fun n x => scatterI t N m n j x a))) in
      (A, store_first (ary m t) A)
  end.
End Translation.
