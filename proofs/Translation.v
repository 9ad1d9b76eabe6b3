(* The acceptor- and continuation-passing translation of the paper (section 2.2) on a core of the language, proved correct for ALL
   well-typed programs, in paper mode. Certificates (Check.v) stand beside it: they speak of one program each, but of the whole
   language and of the loops that the compiler really emits.

   The source is intrinsically typed, with de Bruijn indices; variables of the target are levels, so that nothing is ever shifted and
   freshness is for free. [tr] holds the rules: a.1 to a.15 and c.1 to c.13, transposition and let; [ev] and [loc] are the rules of
   code generation, cge and cga. A reduction goes through a temporary: rule a.9 as published is wrong for compound accumulators
   (TranslationFacts.v proves that). Parallel loops run their iterations in any order; new memory has any contents. *)
From Coq Require Import Arith List Lia Permutation Eqdep_dec.
Import ListNotations.

Section Core.
Variable V : Type.
Variable vzero : V.
Variable bop : nat -> V -> V -> V.       (* scalar operators, uninterpreted *)

(* ---------- types and their values ---------- *)
Inductive data := num | ary (n : nat) (d : data) | prd (a b : data).
Fixpoint den d : Type :=
  match d with num => V | ary _ d => nat -> den d | prd a b => (den a * den b)%type end.

Inductive step := Ix (i : nat) | Lf | Rg.
Definition path := list step.
Definition path_dec : forall p q : path, {p = q} + {p <> q}.
Proof. decide equality. decide equality. apply Nat.eq_dec. Defined.

Fixpoint leaf d (p : path) : Prop :=
  match d, p with
  | num, [] => True
  | ary n d, Ix i :: p => i < n /\ leaf d p
  | prd a _, Lf :: p => leaf a p
  | prd _ b, Rg :: p => leaf b p
  | _, _ => False
  end.
Fixpoint sel d : den d -> path -> V :=
  match d with
  | num => fun v _ => v
  | ary n d => fun v p => match p with Ix i :: p => sel d (v i) p | _ => vzero end
  | prd a b => fun v p => match p with Lf :: p => sel a (fst v) p | Rg :: p => sel b (snd v) p | _ => vzero end
  end.

(* ---------- functional language: intrinsically typed, de Bruijn ---------- *)
Inductive var : list data -> data -> Type :=
| VZ {G t} : var (t :: G) t
| VS {G t u} (x : var G t) : var (u :: G) t.

Inductive exp : list data -> data -> Type :=
| Var {G t} (x : var G t) : exp G t
| Lit {G} (v : V) : exp G num
| Bin {G} (o : nat) (a b : exp G num) : exp G num
| Pair {G s t} (a : exp G s) (b : exp G t) : exp G (prd s t)
| Fst {G s t} (e : exp G (prd s t)) : exp G s
| Snd {G s t} (e : exp G (prd s t)) : exp G t
| Zip {G n s t} (a : exp G (ary n s)) (b : exp G (ary n t)) : exp G (ary n (prd s t))
| Split {G} n {m t} (e : exp G (ary (m * n) t)) : exp G (ary m (ary n t))
| Join {G n m t} (e : exp G (ary m (ary n t))) : exp G (ary (m * n) t)
| Trans {G n m t} (e : exp G (ary m (ary n t))) : exp G (ary n (ary m t))
| Map {G n s t} (par : bool) (f : exp (s :: G) t) (e : exp G (ary n s)) : exp G (ary n t)
| Red {G n s t} (f : exp (t :: s :: G) t) (i : exp G t) (e : exp G (ary n s)) : exp G t
| Let {G s t} (a : exp G s) (b : exp (s :: G) t) : exp G t.

Definition env (F : data -> Type) G := forall t, var G t -> F t.
Definition nilE {F} : env F [] := fun t x => match x with end.
Definition consE {F G s} (v : F s) (r : env F G) : env F (s :: G) := fun t x =>
  match x in var G' t' return match G' with [] => unit | s0 :: G0 => F s0 -> env F G0 -> F t' end with
  | VZ => fun v _ => v
  | VS x => fun _ r => r _ x
  end v r.

Fixpoint redn {A B} (n : nat) (f : A -> B -> B) (b : B) (v : nat -> A) : B :=
  match n with 0 => b | S m => f (v m) (redn m f b v) end.

Fixpoint ev_exp {G t} (e : exp G t) : env den G -> den t :=
  match e in exp G t return env den G -> den t with
  | Var x => fun g => g _ x
  | Lit v => fun _ => v
  | Bin o a b => fun g => bop o (ev_exp a g) (ev_exp b g)
  | Pair a b => fun g => (ev_exp a g, ev_exp b g)
  | Fst e => fun g => fst (ev_exp e g)
  | Snd e => fun g => snd (ev_exp e g)
  | Zip a b => fun g i => (ev_exp a g i, ev_exp b g i)
  | Split n e => fun g i j => ev_exp e g (i * n + j)
  | @Join _ n _ _ e => fun g i => ev_exp e g (i / n) (i mod n)
  | Trans e => fun g i j => ev_exp e g j i
  | Map _ f e => fun g i => ev_exp f (consE (ev_exp e g i) g)
  | @Red _ n _ _ f i e => fun g => redn n (fun x a => ev_exp f (consE a (consE x g))) (ev_exp i g) (ev_exp e g)
  | Let a b => fun g => ev_exp b (consE (ev_exp a g) g)
  end.

(* ---------- imperative language: untyped, variables are LEVELS (no shifting) ---------- *)
Inductive iexp := IVar (l : nat) | ILit (v : V) | IBin (o : nat) (a b : iexp) | IIdx (x : iexp) (j : nat)
| IFst (x : iexp) | ISnd (x : iexp) | IPair (a b : iexp) | IZip (a b : iexp)
| ISplit (n : nat) (x : iexp) | IJoin (n : nat) (x : iexp) | ITrans (x : iexp).
Inductive iacc := AVar (l : nat) | AIdx (a : iacc) (j : nat) | AFst (a : iacc) | ASnd (a : iacc)
| AZip1 (a : iacc) | AZip2 (a : iacc) | ASplit (n : nat) (a : iacc) | AJoin (n : nat) (a : iacc) | ATrans (a : iacc).
Inductive comm := Skip | Seq (a b : comm) | Assign (a : iacc) (x : iexp)
| New (l : nat) (d : data) (c : comm) | For (l n : nat) (c : comm) | ParFor (l n : nat) (c : comm).

Definition store := nat -> path -> V.
Definition ienv := nat -> nat.
Definition upd {A} (f : nat -> A) l v : nat -> A := fun k => if Nat.eqb l k then v else f k.
Definition wr (s : store) (lq : nat * path) (v : V) : store := fun k q =>
  if Nat.eqb (fst lq) k then if path_dec (snd lq) q then v else s k q else s k q.

(* rules cge and cga of the paper *)
Fixpoint ev (s : store) (io : ienv) (x : iexp) (p : path) : V :=
  match x with
  | IVar l => s l p
  | ILit v => v
  | IBin o a b => bop o (ev s io a []) (ev s io b [])
  | IIdx x j => ev s io x (Ix (io j) :: p)
  | IFst x => ev s io x (Lf :: p)
  | ISnd x => ev s io x (Rg :: p)
  | IPair a b => match p with Lf :: p => ev s io a p | Rg :: p => ev s io b p | _ => vzero end
  | IZip a b => match p with Ix i :: Lf :: p => ev s io a (Ix i :: p) | Ix i :: Rg :: p => ev s io b (Ix i :: p) | _ => vzero end
  | ISplit n x => match p with Ix i :: Ix j :: p => ev s io x (Ix (i * n + j) :: p) | _ => vzero end
  | IJoin n x => match p with Ix i :: p => ev s io x (Ix (i / n) :: Ix (i mod n) :: p) | _ => vzero end
  | ITrans x => match p with Ix i :: Ix j :: p => ev s io x (Ix j :: Ix i :: p) | _ => vzero end
  end.
Fixpoint loc (io : ienv) (a : iacc) (p : path) : nat * path :=
  match a with
  | AVar l => (l, p)
  | AIdx a j => loc io a (Ix (io j) :: p)
  | AFst a => loc io a (Lf :: p)
  | ASnd a => loc io a (Rg :: p)
  | AZip1 a => match p with Ix i :: p => loc io a (Ix i :: Lf :: p) | _ => loc io a p end
  | AZip2 a => match p with Ix i :: p => loc io a (Ix i :: Rg :: p) | _ => loc io a p end
  | ASplit n a => match p with Ix i :: p => loc io a (Ix (i / n) :: Ix (i mod n) :: p) | _ => loc io a p end
  | AJoin n a => match p with Ix i :: Ix j :: p => loc io a (Ix (i * n + j) :: p) | _ => loc io a p end
  | ATrans a => match p with Ix i :: Ix j :: p => loc io a (Ix j :: Ix i :: p) | _ => loc io a p end
  end.

Fixpoint iterR (R : nat -> store -> store -> Prop) (is : list nat) (s s' : store) : Prop :=
  match is with [] => s' = s | i :: is => exists s1, R i s s1 /\ iterR R is s1 s' end.

(* ParFor: the iterations may run in ANY order. New: contents are arbitrary (uninitialised). *)
Fixpoint exec (c : comm) (io : ienv) (s s' : store) : Prop :=
  match c with
  | Skip => s' = s
  | Seq a b => exists s1, exec a io s s1 /\ exec b io s1 s'
  | Assign a x => s' = wr s (loc io a []) (ev s io x [])
  | New l _ c => exists junk, exec c io (upd s l junk) s'
  | For l n c => iterR (fun i => exec c (upd io l i)) (seq 0 n) s s'
  | ParFor l n c => exists is, Permutation (seq 0 n) is /\ iterR (fun i => exec c (upd io l i)) is s s'
  end.

(* every command terminates: the partial-correctness statement below is total correctness *)
Lemma exec_total : forall c io s, exists s', exec c io s s'.
Proof.
  assert (L : forall R, (forall i s, exists s', R i s s') -> forall is s, exists s', iterR R is s s').
  { intros R HR is; induction is as [|i is IH]; cbn; intros s; eauto.
    destruct (HR i s) as [s1 H1]. destruct (IH s1) as [s2 H2]. eauto. }
  induction c; cbn; intros io s; eauto.
  - destruct (IHc1 io s) as [s1 H1]. destruct (IHc2 io s1) as [s2 H2]. eauto.
  - destruct (IHc io (upd s l (s l))); eauto.
  - destruct (L (fun i => exec c (upd io l i)) (fun i s => IHc (upd io l i) s) (seq 0 n) s) as [s' H]. exists s', (seq 0 n). split; auto.
Qed.

(* ---------- the translation ---------- *)
Fixpoint copy (d : data) (n : nat) (a : iacc) (x : iexp) : comm :=
  match d with
  | num => Assign a x
  | ary k d => For n k (copy d (S n) (AIdx a n) (IIdx x n))
  | prd d1 d2 => Seq (copy d1 n (AFst a) (IFst x)) (copy d2 n (ASnd a) (ISnd x))
  end.

Definition renv G := env (fun _ => iexp) G.
Definition tyA G := renv G -> nat -> iacc -> comm.
Definition tyC G := renv G -> nat -> (nat -> iexp -> comm) -> comm.
Definition forC (par : bool) := if par then ParFor else For.

(* reduction: accumulator at level n, staged through a temporary (see [naive_red_wrong] below) *)
Definition redI (N : nat) (t : data) (n : nat) (y : iexp) (body : nat -> iacc -> comm) (k : nat -> comm) : comm :=
  New n t (Seq (copy t (S n) (AVar n) y)
          (Seq (For (S n) N (New (S (S n)) t (Seq (body (S (S (S n))) (AVar (S (S n))))
                                                  (copy t (S (S (S n))) (AVar n) (IVar (S (S n)))))))
               (k (S n)))).

Fixpoint tr {G t} (e : exp G t) : tyA G * tyC G :=
  match e in exp G t return tyA G * tyC G with
  | @Var G t x => (fun r n a => copy t n a (r t x), fun r n k => k n (r t x))
  | Lit v => (fun r n a => Assign a (ILit v), fun r n k => k n (ILit v))
  | Bin o e1 e2 =>
      (fun r n a => snd (tr e1) r n (fun n x => snd (tr e2) r n (fun n y => Assign a (IBin o x y))),
       fun r n k => snd (tr e1) r n (fun n x => snd (tr e2) r n (fun n y => k n (IBin o x y))))
  | Pair e1 e2 =>
      (fun r n a => Seq (fst (tr e1) r n (AFst a)) (fst (tr e2) r n (ASnd a)),
       fun r n k => snd (tr e1) r n (fun n x => snd (tr e2) r n (fun n y => k n (IPair x y))))
  | @Fst _ s _ e => (fun r n a => snd (tr e) r n (fun n x => copy s n a (IFst x)), fun r n k => snd (tr e) r n (fun n x => k n (IFst x)))
  | @Snd _ _ t e => (fun r n a => snd (tr e) r n (fun n x => copy t n a (ISnd x)), fun r n k => snd (tr e) r n (fun n x => k n (ISnd x)))
  | Zip e1 e2 =>
      (fun r n a => Seq (fst (tr e1) r n (AZip1 a)) (fst (tr e2) r n (AZip2 a)),
       fun r n k => snd (tr e1) r n (fun n x => snd (tr e2) r n (fun n y => k n (IZip x y))))
  | Split w e => (fun r n a => fst (tr e) r n (ASplit w a), fun r n k => snd (tr e) r n (fun n x => k n (ISplit w x)))
  | @Join _ w _ _ e => (fun r n a => fst (tr e) r n (AJoin w a), fun r n k => snd (tr e) r n (fun n x => k n (IJoin w x)))
  | Trans e => (fun r n a => fst (tr e) r n (ATrans a), fun r n k => snd (tr e) r n (fun n x => k n (ITrans x)))
  | @Map _ N s t par f e =>
      let A r n a := snd (tr e) r n (fun n x => forC par n N (fst (tr f) (consE (F := fun _ => iexp) (s := s) (IIdx x n) r) (S n) (AIdx a n))) in
      (A, fun r n k => New n (ary N t) (Seq (A r (S n) (AVar n)) (k (S n) (IVar n))))
  | @Red _ N s t f i e =>
      let C r n k := snd (tr e) r n (fun n x => snd (tr i) r n (fun n y =>
        redI N t n y (fun n' a => fst (tr f) (consE (F := fun _ => iexp) (s := t) (IVar n) (consE (F := fun _ => iexp) (s := s) (IIdx x (S n)) r)) n' a)
             (fun n' => k n' (IVar n)))) in
      (fun r n a => C r n (fun n x => copy t n a x), C)
  | @Let _ s _ e1 e2 =>
      (fun r n a => snd (tr e1) r n (fun n x => fst (tr e2) (consE (F := fun _ => iexp) (s := s) x r) n a),
       fun r n k => snd (tr e1) r n (fun n x => snd (tr e2) (consE (F := fun _ => iexp) (s := s) x r) n k))
  end.

(* ---------- specification ---------- *)
Definition region := nat -> path -> Prop.
Definition sagree n (W : region) (s s' : store) := forall l p, l < n -> ~ W l p -> s' l p = s l p.
Definition iagree n (io io' : ienv) := forall l, l < n -> io' l = io l.
(* x robustly represents v: in every store that agrees with s below level n and outside W *)
Definition rep n W s io x d v := forall s' io', sagree n W s s' -> iagree n io io' ->
  forall p, leaf d p -> ev s' io' x p = sel d v p.
Definition wbelow n (W : region) := forall l p, W l p -> l < n.
Record accok n (W : region) io a d : Prop := {
  ao_stable : forall io', iagree n io io' -> forall p, leaf d p -> loc io' a p = loc io a p;
  ao_in : forall p, leaf d p -> W (fst (loc io a p)) (snd (loc io a p));
  ao_inj : forall p q, leaf d p -> leaf d q -> loc io a p = loc io a q -> p = q }.
Definition envok {G} n W s io (r : renv G) (g : env den G) := forall t (x : var G t), rep n W s io (r t x) t (g t x).
Definition inreg io a d l q := exists p, leaf d p /\ loc io a p = (l, q).
Definition wrote n io a d v (s s' : store) :=
  (forall p, leaf d p -> s' (fst (loc io a p)) (snd (loc io a p)) = sel d v p) /\
  (forall l q, l < n -> ~ inreg io a d l q -> s' l q = s l q).

Definition specA {G t} (e : exp G t) (A : tyA G) := forall r g n W s s' io a,
  wbelow n W -> envok n W s io r g -> accok n W io a t -> exec (A r n a) io s s' ->
  wrote n io a t (ev_exp e g) s s'.
Definition specC {G t} (e : exp G t) (C : tyC G) := forall r g n W s s' io k,
  wbelow n W -> envok n W s io r g -> exec (C r n k) io s s' ->
  exists n1 x s1, n <= n1 /\ (forall l q, l < n -> s1 l q = s l q) /\
    rep n1 W s1 io x t (ev_exp e g) /\ exec (k n1 x) io s1 s'.

(* ---------- lemmas ---------- *)
Lemma rep_mono n W s io x d v n' (W' : region) s' io' :
  rep n W s io x d v -> n <= n' -> sagree n W s s' -> iagree n io io' ->
  (forall l p, l < n -> W' l p -> W l p) -> rep n' W' s' io' x d v.
Proof.
  intros H Hn Hs Hi HW s2 io2 H1 H2 p Hp. apply H; auto.
  - intros l q Hl Hq. rewrite H1; [apply Hs| |]; auto; lia || (intro; apply Hq; auto).
  - intros l Hl. rewrite H2 by lia. auto.
Qed.
Lemma envok_mono {G} n W s io (r : renv G) g n' (W' : region) s' io' :
  envok n W s io r g -> n <= n' -> sagree n W s s' -> iagree n io io' ->
  (forall l p, l < n -> W' l p -> W l p) -> envok n' W' s' io' r g.
Proof. intros H ? ? ? ? t x. eapply rep_mono; eauto. Qed.
Lemma envok_cons {G u} n W s io (r : renv G) g x v :
  rep n W s io x u v -> envok n W s io r g -> envok (G := u :: G) n W s io (consE (F := fun _ => iexp) (s := u) x r) (consE v g).
Proof.
  intros Hx Hr t y.
  refine (match y as y0 in var G' t' return match G' as G0 return var G0 t' -> Prop with [] => fun _ => True | s0 :: G0 => fun y1 =>
     forall (x : iexp) (v : den s0) (r : renv G0) (g : env den G0), rep n W s io x s0 v -> envok n W s io r g ->
      rep n W s io (consE (F := fun _ => iexp) (s := s0) x r t' y1) t' (consE v g t' y1) end y0 with VZ => _ | VS y => _ end x v r g Hx Hr);
  cbn; auto.
Qed.
Lemma iagree_upd n io l i : n <= l -> iagree n io (upd io l i).
Proof. intros H k Hk. unfold upd. destruct (Nat.eqb_spec l k); auto; lia. Qed.
Lemma upd_same {A} (f : nat -> A) l v : upd f l v l = v. Proof. unfold upd. now rewrite Nat.eqb_refl. Qed.
Lemma upd_other {A} (f : nat -> A) l v k : l <> k -> upd f l v k = f k.
Proof. unfold upd. intros. destruct (Nat.eqb_spec l k); congruence. Qed.
Lemma wr_same s lq v : wr s lq v (fst lq) (snd lq) = v.
Proof. unfold wr. rewrite Nat.eqb_refl. destruct (path_dec _ _); congruence. Qed.
Lemma wr_other s lq v l q : lq <> (l, q) -> wr s lq v l q = s l q.
Proof.
  unfold wr. destruct lq as [l0 q0]; cbn [fst snd]. intros H.
  destruct (Nat.eqb_spec l0 l); destruct (path_dec q0 q); congruence.
Qed.
Lemma sagree_refl n W s : sagree n W s s. Proof. intros l p; auto. Qed.
Lemma iagree_refl n io : iagree n io io. Proof. intros l; auto. Qed.
Lemma pair_eta {A B} (p : A * B) : p = (fst p, snd p). Proof. now destruct p. Qed.

Lemma accok_mono n W io a d n' (W' : region) io' : accok n W io a d -> n <= n' -> iagree n io io' ->
  (forall l p, W l p -> W' l p) -> accok n' W' io' a d.
Proof.
  intros [H1 H2 H3] Hn Hi HW. split.
  - intros io2 H p Hp. rewrite H1, (H1 io'); auto. intros l Hl. rewrite H by lia. auto.
  - intros p Hp. apply HW. rewrite (H1 io') by auto. auto.
  - intros p q Hp Hq. rewrite !(H1 io') by auto. auto.
Qed.

Lemma wbelow_S n W : wbelow n W -> wbelow (S n) W. Proof. intros H l p Hl. apply H in Hl. lia. Qed.

(* views of acceptors *)
Lemma accok_view n W io a a' d d' (h : path -> path) :
  accok n W io a d -> (forall p, leaf d' p -> leaf d (h p)) ->
  (forall p q, leaf d' p -> leaf d' q -> h p = h q -> p = q) ->
  (forall io' p, leaf d' p -> loc io' a' p = loc io' a (h p)) -> accok n W io a' d'.
Proof.
  intros [H1 H2 H3] Hh Hi Hl. split; intros; rewrite ?Hl in *; auto.
Qed.
Lemma wrote_view n io a a' d d' v v' s s' (h : path -> path) :
  wrote n io a' d' v' s s' ->
  (forall p, leaf d' p -> leaf d (h p)) -> (forall p, leaf d' p -> loc io a' p = loc io a (h p)) ->
  (forall q, leaf d q -> exists p, leaf d' p /\ h p = q) -> (forall p, leaf d' p -> sel d' v' p = sel d v (h p)) ->
  wrote n io a d v s s'.
Proof.
  intros [H1 H2] Hh Hl Hs Hv. split.
  - intros q Hq. destruct (Hs q Hq) as (p & Hp & <-). rewrite <- Hl, <- Hv; auto.
  - intros l q Hlt Hn. apply H2; auto. intros (p & Hp & E). apply Hn. exists (h p). rewrite <- Hl; auto.
Qed.
(* two views splitting a region *)
Lemma wrote_seq n W io a d v s s1 s' a1 d1 v1 (h1 : path -> path) a2 d2 v2 (h2 : path -> path) :
  wbelow n W -> accok n W io a d ->
  wrote n io a1 d1 v1 s s1 -> wrote n io a2 d2 v2 s1 s' ->
  (forall p, leaf d1 p -> leaf d (h1 p) /\ loc io a1 p = loc io a (h1 p) /\ sel d1 v1 p = sel d v (h1 p)) ->
  (forall p, leaf d2 p -> leaf d (h2 p) /\ loc io a2 p = loc io a (h2 p) /\ sel d2 v2 p = sel d v (h2 p)) ->
  (forall q, leaf d q -> (exists p, leaf d1 p /\ h1 p = q) \/ (exists p, leaf d2 p /\ h2 p = q)) ->
  (forall p q, leaf d1 p -> leaf d2 q -> h1 p <> h2 q) ->
  wrote n io a d v s s'.
Proof.
  intros HW Ha [A1 A2] [B1 B2] H1 H2 Hs Hd. split.
  - intros q Hq. destruct (Hs q Hq) as [(p & Hp & <-)|(p & Hp & <-)].
    + destruct (H1 p Hp) as (L & E & S1). rewrite B2.
      * rewrite <- E, A1, S1; auto.
      * apply HW with (snd (loc io a (h1 p))). apply (ao_in _ _ _ _ _ Ha); auto.
      * intros (q & Hq' & E2). destruct (H2 q Hq') as (L2 & E3 & _). apply (Hd p q); auto.
        apply (ao_inj _ _ _ _ _ Ha); auto. rewrite <- E3, E2. apply pair_eta.
    + destruct (H2 p Hp) as (L & E & S1). rewrite <- E, B1, S1; auto.
  - intros l q Hl Hn. rewrite B2, A2; auto; intros (p & Hp & E); apply Hn.
    + destruct (H1 p Hp) as (L & E1 & _). exists (h1 p). rewrite <- E1. auto.
    + destruct (H2 p Hp) as (L & E1 & _). exists (h2 p). rewrite <- E1. auto.
Qed.

Lemma wrote_sagree n W io a d v s s' : accok n W io a d -> wrote n io a d v s s' -> sagree n W s s'.
Proof. intros Ha [_ H] l p Hl Hn. apply H; auto. intros (q & Hq & E). apply Hn. generalize (ao_in _ _ _ _ _ Ha q Hq). now rewrite E. Qed.

Lemma accok_idx n W io a N d i : wbelow n W -> i < N -> accok n W io a (ary N d) -> 
  accok (S n) W (upd io n i) (AIdx a n) d.
Proof.
  intros HW Hi H. assert (H' := accok_mono _ _ _ _ _ (S n) W (upd io n i) H ltac:(lia) (iagree_upd _ _ _ _ (le_n n)) ltac:(auto)).
  split.
  - intros io' Hio p Hp. cbn. rewrite Hio by lia. rewrite upd_same. apply (ao_stable _ _ _ _ _ H' io' Hio). now split.
  - intros p Hp. cbn. rewrite upd_same. apply (ao_in _ _ _ _ _ H'). now split.
  - intros p q Hp Hq. cbn. rewrite upd_same. intros E. apply (ao_inj _ _ _ _ _ H') in E; cbn; auto. congruence.
Qed.

(* a loop whose i-th iteration writes exactly element i, in any order *)
Lemma loop_map n W io a N d v s0 (R : nat -> store -> store -> Prop) :
  wbelow n W -> accok n W io a (ary N d) ->
  (forall i s s', i < N -> sagree n W s0 s -> R i s s' -> wrote (S n) (upd io n i) (AIdx a n) d (v i) s s') ->
  forall is s s', NoDup is -> (forall i, In i is -> i < N) -> sagree n W s0 s -> iterR R is s s' ->
  (forall i p, In i is -> leaf d p -> s' (fst (loc io a (Ix i :: p))) (snd (loc io a (Ix i :: p))) = sel d (v i) p) /\
  (forall l q, l < n -> (forall i, In i is -> ~ inreg (upd io n i) (AIdx a n) d l q) -> s' l q = s l q).
Proof.
  intros HW Ha HR. assert (Hloc : forall i p, i < N -> leaf d p -> loc (upd io n i) (AIdx a n) p = loc io a (Ix i :: p)).
  { intros i p Hi Hp. cbn. rewrite upd_same. apply (ao_stable _ _ _ _ _ Ha); [apply iagree_upd; lia|now split]. }
  induction is as [|i is IH]; cbn; intros s s' Hnd Hin Hs.
  - intros ->. split; [contradiction|auto].
  - intros (s1 & H1 & H2). inversion Hnd; subst.
    assert (HN : i < N) by auto.
    assert (Hw := HR i s s1 HN Hs H1).
    assert (Hs1 : sagree n W s0 s1).
    { intros l p Hl Hp. rewrite (wrote_sagree (S n) W _ _ _ _ _ _ (accok_idx n W io a N d i HW HN Ha) Hw) by (auto; lia). auto. }
    destruct (IH s1 s') as [I1 I2]; auto. destruct Hw as [W1 W2]. split.
    + intros j p [->|Hj] Hp; [|auto]. rewrite I2.
      * rewrite <- Hloc by auto. auto.
      * apply HW with (snd (loc io a (Ix j :: p))). apply (ao_in _ _ _ _ _ Ha). now split.
      * intros k Hk (q & Hq & E). rewrite Hloc in E by auto. rewrite <- pair_eta in E.
        apply (ao_inj _ _ _ _ _ Ha) in E; [|split; auto|split; auto]. injection E as -> ->. contradiction.
    + intros l q Hl Hn. rewrite I2 by auto. apply W2; auto.
Qed.

Lemma loop_map_wrote n W io a N d v s0 (R : nat -> store -> store -> Prop) is s' :
  wbelow n W -> accok n W io a (ary N d) ->
  (forall i s s', i < N -> sagree n W s0 s -> R i s s' -> wrote (S n) (upd io n i) (AIdx a n) d (v i) s s') ->
  Permutation (seq 0 N) is -> iterR R is s0 s' -> wrote n io a (ary N d) v s0 s'.
Proof.
  intros HW Ha HR Hp Hi.
  assert (Hin : forall i, In i is <-> i < N).
  { intros i. split; intros H. apply (Permutation_in _ (Permutation_sym Hp)), in_seq in H. lia.
    apply (Permutation_in _ Hp), in_seq. lia. }
  destruct (loop_map n W io a N d v s0 R HW Ha HR is s0 s') as [L1 L2]; auto.
  { eapply Permutation_NoDup; [eassumption|apply seq_NoDup]. } { intros; now apply Hin. } { apply sagree_refl. }
  split.
  - intros p Hlp. destruct p as [|[i| |] p]; cbn in Hlp; try contradiction. destruct Hlp. cbn. apply L1; auto. now apply Hin.
  - intros l q Hl Hn. apply L2; auto. intros i Hi2 (p & Hpl & E). apply Hn. exists (Ix i :: p). split.
    + split; auto. now apply Hin.
    + rewrite <- E. cbn. rewrite upd_same. symmetry. apply (ao_stable _ _ _ _ _ Ha); [apply iagree_upd; lia|]. split; auto. now apply Hin.
Qed.

Lemma rep_idx n W s io x N d v i : wbelow n W -> i < N -> rep n W s io x (ary N d) v ->
  forall s', sagree n W s s' -> rep (S n) W s' (upd io n i) (IIdx x n) d (v i).
Proof.
  intros HW Hi H s' Hs s2 io2 H1 H2 p Hp. cbn. rewrite (H2 n) by lia. rewrite upd_same.
  apply (H s2 io2); [| |now split].
  - intros l q Hl Hq. rewrite H1 by (auto; lia). auto.
  - intros l Hl. rewrite H2 by lia. apply upd_other. lia.
Qed.

Ltac inv H := inversion H; subst; clear H.
Ltac spec H := match type of H with ?P -> _ => let K := fresh in assert (K : P); [|specialize (H K); clear K] end.
Ltac dpath p := destruct p as [|[?i| |] p]; cbn in *; try contradiction.

Lemma copy_ok d : forall n W s s' io a x v, wbelow n W -> rep n W s io x d v -> accok n W io a d ->
  exec (copy d n a x) io s s' -> wrote n io a d v s s'.
Proof.
  induction d as [|N d IH|d1 IH1 d2 IH2]; intros n W s s' io a x v HW Hx Ha; cbn [copy].
  - cbn [exec]. intros ->. split.
    + intros p Hp. destruct p; [|contradiction]. rewrite wr_same. apply (Hx s io); auto using sagree_refl, iagree_refl.
    + intros l q Hl Hn. apply wr_other. intros E. apply Hn. exists []. split; [exact I|auto].
  - cbn [exec]. intros H.
    refine (loop_map_wrote n W io a N d v s (fun i => exec (copy d (S n) (AIdx a n) (IIdx x n)) (upd io n i)) (seq 0 N) s' HW Ha _ (Permutation_refl _) H).
    intros i s1 s2 Hi Hs HR. apply IH with (W := W) (x := IIdx x n); auto.
    + apply wbelow_S; auto.
    + eapply rep_idx; eauto.
    + eapply accok_idx; eauto.
  - cbn [exec]. intros (s1 & H1 & H2).
    assert (Ha1 : accok n W io (AFst a) d1) by (apply accok_view with (a := a) (d := prd d1 d2) (h := cons Lf); auto; congruence).
    assert (Ha2 : accok n W io (ASnd a) d2) by (apply accok_view with (a := a) (d := prd d1 d2) (h := cons Rg); auto; congruence).
    assert (W1 : wrote n io (AFst a) d1 (fst v) s s1).
    { eapply IH1; eauto. intros s2 io2 ? ? p Hp. cbn. apply (Hx s2 io2); auto. }
    assert (W2 : wrote n io (ASnd a) d2 (snd v) s1 s').
    { eapply IH2; eauto. intros s2 io2 G1 G2 p Hp. cbn. apply (Hx s2 io2); auto. intros l q Hl Hq. rewrite G1 by auto.
      apply (wrote_sagree _ _ _ _ _ _ _ _ Ha1 W1); auto. }
    eapply wrote_seq with (h1 := cons Lf) (h2 := cons Rg); eauto; try discriminate.
    intros q Hq. dpath q; [left|right]; eauto.
Qed.

Lemma iterR_app R is js s s' : iterR R (is ++ js) s s' <-> exists s1, iterR R is s s1 /\ iterR R js s1 s'.
Proof.
  revert s. induction is as [|i is IH]; cbn; intros s.
  - split; [eauto|]. intros (s1 & -> & H). auto.
  - split.
    + intros (s1 & H1 & H2). apply IH in H2 as (s2 & H2 & H3). eauto.
    + intros (s1 & (s2 & H1 & H2) & H3). exists s2. split; auto. apply IH. eauto.
Qed.

Definition only (n : nat) : region := fun l _ => l = n.
Lemma accok_var n m io d (W : region) : n < m -> (forall p, W n p) -> accok m W io (AVar n) d.
Proof. intros H HW. split; cbn; intros; auto. congruence. Qed.
Lemma sagree_below n W (s s' : store) : (forall l q, l < n -> s' l q = s l q) -> sagree n W s s'.
Proof. intros H l p Hl _. auto. Qed.
Lemma wbelow_le n m W : wbelow n W -> n <= m -> wbelow m W. Proof. intros H ? l p Hl. apply H in Hl. lia. Qed.
Lemma wrote_le n m io a d v s s' : wrote m io a d v s s' -> n <= m -> wrote n io a d v s s'.
Proof. intros [H1 H2] H. split; auto. intros l q Hl. apply H2. lia. Qed.
Lemma wrote_pre n io a d v s s1 s' : (forall l q, l < n -> s1 l q = s l q) -> wrote n io a d v s1 s' -> wrote n io a d v s s'.
Proof. intros H [H1 H2]. split; auto. intros l q Hl Hn. rewrite H2, H; auto. Qed.

Lemma wrote_below n m io k d v s s' : wrote m io (AVar k) d v s s' -> n <= m -> n <= k -> forall l q, l < n -> s' l q = s l q.
Proof. intros [_ H] Hm Hk l q Hl. apply H; [lia|]. intros (p & _ & E). cbn in E. injection E as -> _. lia. Qed.

(* a variable just written represents its value *)
Lemma rep_var n m W io d v s s' : n < m -> (forall p, ~ W n p) -> wrote m io (AVar n) d v s s' -> rep m W s' io (IVar n) d v.
Proof. intros Hn HW [H1 _] s2 io2 G1 G2 p Hp. cbn. rewrite G1; auto. apply (H1 p Hp). Qed.

Lemma redI_ok N t n W s s' io y (v0 : den t) body k (F : nat -> den t -> den t) :
  wbelow n W -> rep n W s io y t v0 ->
  (forall i b s1 s2, i < N -> (forall l q, l < n -> s1 l q = s l q) -> rep (S (S (S n))) (only (S (S n))) s1 (upd io (S n) i) (IVar n) t b ->
     exec (body (S (S (S n))) (AVar (S (S n)))) (upd io (S n) i) s1 s2 ->
     wrote (S (S (S n))) (upd io (S n) i) (AVar (S (S n))) t (F i b) s1 s2) ->
  exec (redI N t n y body k) io s s' ->
  exists s1, (forall l q, l < n -> s1 l q = s l q) /\ rep (S n) W s1 io (IVar n) t (redn N (fun i b => F i b) v0 (fun i => i)) /\
     exec (k (S n)) io s1 s'.
Proof.
  intros HW Hy HB. unfold redI. cbn [exec]. intros (j & s1 & H1 & s2 & H2 & H3).
  assert (Hs1 : wrote (S n) io (AVar n) t v0 (upd s n j) s1).
  { eapply (copy_ok t (S n) (only n)); eauto.
    - intros l p ->. lia.
    - eapply rep_mono; eauto using iagree_refl. intros l q Hl _. rewrite upd_other by lia. auto.
      unfold only. intros; lia.
    - apply accok_var; [lia|reflexivity]. }
  assert (L : forall M s2, M <= N -> iterR (fun i s s' => exists junk, exec (Seq (body (S (S (S n))) (AVar (S (S n)))) (copy t (S (S (S n))) (AVar n) (IVar (S (S n))))) (upd io (S n) i) (upd s (S (S n)) junk) s') (seq 0 M) s1 s2 ->
    (forall l q, l < n -> s2 l q = s l q) /\ (forall p, leaf t p -> s2 n p = sel t (redn M (fun i b => F i b) v0 (fun i => i)) p)).
  { induction M as [|M IH]; intros s3 HM.
    - cbn. intros ->. destruct Hs1 as [A B]. split; [|apply A]. intros l q Hl. rewrite B; [rewrite upd_other by lia; auto|lia|].
      intros (p & _ & E). cbn in E. injection E as -> _. lia.
    - rewrite seq_S, iterR_app. cbn [iterR exec Nat.add]. intros (s4 & I1 & s5 & (j2 & s6 & E1 & E2) & ->).
      destruct (IH s4) as [F1 F2]; auto; [lia|].
      assert (P1 : wrote (S (S (S n))) (upd io (S n) M) (AVar (S (S n))) t (F M (redn M (fun i b => F i b) v0 (fun i => i))) (upd s4 (S (S n)) j2) s6).
      { apply HB; auto.
        - intros l q Hl. rewrite upd_other by lia. auto.
        - intros s7 io7 G1 G2 p Hp. cbn. rewrite G1; [|lia|unfold only; lia]. rewrite upd_other by lia. auto. }
      assert (P2 : wrote (S (S (S n))) (upd io (S n) M) (AVar n) t (F M (redn M (fun i b => F i b) v0 (fun i => i))) s6 s5).
      { eapply (copy_ok t (S (S (S n))) (only n)); eauto.
        - intros l p ->. lia.
        - eapply rep_var; eauto. unfold only. intros; lia.
        - apply accok_var; [lia|reflexivity]. }
      split.
      + intros l q Hl. rewrite (wrote_below n _ _ _ _ _ _ _ P2), (wrote_below n _ _ _ _ _ _ _ P1), upd_other; auto; lia.
      + intros p Hp. apply (proj1 P2 p Hp). }
  destruct (L N s2 (le_n N)) as [L1 L2]. { exact H2. }
  exists s2. repeat split; auto.
  intros s7 io7 G1 G2 p Hp. cbn. rewrite G1; auto. intros C. apply HW in C. lia.
Qed.

Lemma redn_ext {A B} N f (b : B) (v : nat -> A) : redn N (fun i b => f (v i) b) b (fun i => i) = redn N f b v.
Proof. induction N; cbn; congruence. Qed.


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

Lemma dsplit_inj w m i j : i < m * w -> j < m * w -> i / w = j / w -> i mod w = j mod w -> i = j.
Proof. intros H _ A B. destruct (dm4 _ _ _ H) as (_ & _ & Hw). rewrite <- (dm3 w i), <- (dm3 w j), A, B; auto. Qed.
Lemma djoin_inj w i j i' j' : j < w -> j' < w -> i * w + j = i' * w + j' -> i = i' /\ j = j'.
Proof. intros H H' E. assert (A := dm1 w i j H). assert (B := dm2 w i j H). rewrite E in A, B. rewrite dm1 in A by auto. rewrite dm2 in B by auto. auto. Qed.

Lemma C1_ok {G t d} (e : exp G t) (op : iexp -> iexp) (vop : den t -> den d) :
  specC e (snd (tr e)) ->
  (forall n W s io x v, rep n W s io x t v -> rep n W s io (op x) d (vop v)) ->
  forall r g n W s s' io k, wbelow n W -> envok n W s io r g ->
  exec (snd (tr e) r n (fun n x => k n (op x))) io s s' ->
  exists n1 x s1, n <= n1 /\ (forall l q, l < n -> s1 l q = s l q) /\
    rep n1 W s1 io x d (vop (ev_exp e g)) /\ exec (k n1 x) io s1 s'.
Proof.
  intros IC Hop r g n W s s' io k HW Hr H.
  destruct (IC r g n W s s' io _ HW Hr H) as (n1 & x & s1 & Hn & Hs & Hx & H1).
  exists n1, (op x), s1. auto.
Qed.
Lemma C2_ok {G t1 t2 d} (e1 : exp G t1) (e2 : exp G t2) (op : iexp -> iexp -> iexp) (vop : den t1 -> den t2 -> den d) :
  specC e1 (snd (tr e1)) -> specC e2 (snd (tr e2)) ->
  (forall n W s io x y v w, rep n W s io x t1 v -> rep n W s io y t2 w -> rep n W s io (op x y) d (vop v w)) ->
  forall r g n W s s' io k, wbelow n W -> envok n W s io r g ->
  exec (snd (tr e1) r n (fun n x => snd (tr e2) r n (fun n y => k n (op x y)))) io s s' ->
  exists n1 x s1, n <= n1 /\ (forall l q, l < n -> s1 l q = s l q) /\
    rep n1 W s1 io x d (vop (ev_exp e1 g) (ev_exp e2 g)) /\ exec (k n1 x) io s1 s'.
Proof.
  intros IC1 IC2 Hop r g n W s s' io k HW Hr H.
  destruct (IC1 r g n W s s' io _ HW Hr H) as (n1 & x & s1 & Hn & Hs & Hx & H1).
  assert (Hr1 : envok n1 W s1 io r g) by (eapply envok_mono; eauto using sagree_below, iagree_refl).
  destruct (IC2 r g n1 W s1 s' io _ (wbelow_le _ _ _ HW Hn) Hr1 H1) as (n2 & y & s2 & Hn2 & Hs2 & Hy & H2).
  exists n2, (op x y), s2. repeat split; auto; [lia|intros; rewrite Hs2, Hs; auto; lia|].
  apply Hop; auto. eapply rep_mono; eauto using sagree_below, iagree_refl.
Qed.
(* finish an acceptor translation that ends in a copy *)
Lemma fin_ok n n1 W s s1 s' io a x d v : wbelow n W -> accok n W io a d -> n <= n1 ->
  (forall l q, l < n -> s1 l q = s l q) -> rep n1 W s1 io x d v -> exec (copy d n1 a x) io s1 s' -> wrote n io a d v s s'.
Proof.
  intros HW Ha Hn Hs Hx H. eapply wrote_pre, wrote_le; eauto. eapply copy_ok; eauto using wbelow_le.
  eapply accok_mono; eauto using iagree_refl.
Qed.

Definition hsplit w (p : path) := match p with Ix i :: p => Ix (i / w) :: Ix (i mod w) :: p | _ => p end.
Definition hjoin w (p : path) := match p with Ix i :: Ix j :: p => Ix (i * w + j) :: p | _ => p end.
Definition htrans (p : path) := match p with Ix i :: Ix j :: p => Ix j :: Ix i :: p | _ => p end.
Definition hzip c (p : path) := match p with Ix i :: p => Ix i :: c :: p | _ => p end.
Lemma leaf_ary n d p : leaf (ary n d) p -> exists i q, p = Ix i :: q /\ i < n /\ leaf d q.
Proof. destruct p as [|[i| |] q]; cbn; try contradiction. intros []. eauto. Qed.
Lemma leaf_prd a b p : leaf (prd a b) p -> (exists q, p = Lf :: q /\ leaf a q) \/ (exists q, p = Rg :: q /\ leaf b q).
Proof. destruct p as [|[i| |] q]; cbn; try contradiction; eauto. Qed.
Ltac lf := repeat match goal with
  | H : leaf (ary _ _) _ |- _ => apply leaf_ary in H; destruct H as (?i & ?q & -> & ? & ?)
  | H : leaf (prd _ _) _ |- _ => apply leaf_prd in H; destruct H as [(?q & -> & ?)|(?q & -> & ?)]
  end; cbn in *.

(* ---------- main theorem: every well-typed program ---------- *)
Theorem tr_correct : forall G t (e : exp G t), specA e (fst (tr e)) /\ specC e (snd (tr e)).
Proof.
  induction e as [G t x|G v|G o e1 [_ IC1] e2 [_ IC2]|G t1 t2 e1 [IA1 IC1] e2 [IA2 IC2]|G t1 t2 e [_ IC]|G t1 t2 e [_ IC]
   |G N t1 t2 e1 [IA1 IC1] e2 [IA2 IC2]|G w m t e [IA IC]|G w m t e [IA IC]|G w m t e [IA IC]
   |G N t1 t2 par f [IAf _] e [_ IC]|G N t1 t2 f [IAf _] i [_ ICi] e [_ IC]|G t1 t2 e1 [_ IC1] e2 [IA2 IC2]].
  - (* Var *) split; intros r g n W s s' io; cbn.
    + intros a HW Hr Ha H. eapply copy_ok; eauto.
    + intros k HW Hr H. exists n, (r t x), s. auto.
  - (* Lit *) split; intros r g n W s s' io; cbn -[exec].
    + intros a HW Hr Ha H. apply (copy_ok num n W _ _ _ _ (ILit v)); auto. intros s2 io2 _ _ p _. reflexivity.
    + intros k HW Hr H. exists n, (ILit v), s. repeat split; auto.
  - (* Bin *)
    assert (K := C2_ok (d := num) e1 e2 (IBin o) (bop o) IC1 IC2). spec K.
    { intros n W s io x y v1 v2 Hx Hy s2 io2 G1 G2 p _. cbn. f_equal; [apply (Hx s2 io2)|apply (Hy s2 io2)]; auto; exact I. }
    split; intros r g n W s s' io; cbn -[exec].
    + intros a HW Hr Ha H. destruct (K r g n W s s' io (fun n x => Assign a x) HW Hr H) as (n1 & x & s1 & Hn & Hs & Hx & H1).
      eapply (fin_ok n n1 W s s1 s' io a x num); eauto.
    + intros k HW Hr H. eapply K; eauto.
  - (* Pair *) split; intros r g n W s s' io; cbn -[exec].
    + intros a HW Hr Ha (s1 & H1 & H2).
      assert (Ha1 : accok n W io (AFst a) t1) by (apply accok_view with (a := a) (d := prd t1 t2) (h := cons Lf); auto; congruence).
      assert (Ha2 : accok n W io (ASnd a) t2) by (apply accok_view with (a := a) (d := prd t1 t2) (h := cons Rg); auto; congruence).
      assert (W1 := IA1 r g n W s s1 io _ HW Hr Ha1 H1).
      assert (Hr1 : envok n W s1 io r g) by (eapply envok_mono; eauto using wrote_sagree, iagree_refl).
      assert (W2 := IA2 r g n W s1 s' io _ HW Hr1 Ha2 H2).
      eapply wrote_seq with (h1 := cons Lf) (h2 := cons Rg); eauto; try discriminate.
      intros q Hq. lf; [left|right]; eauto.
    + intros k HW Hr H. apply (C2_ok (d := prd t1 t2) e1 e2 IPair pair IC1 IC2) with (4 := H); auto.
      intros n0 W0 s0 io0 x y v1 v2 Hx Hy s2 io2 G1 G2 p Hp. lf; [apply (Hx s2 io2)|apply (Hy s2 io2)]; auto.
  - (* Fst *)
    assert (K := C1_ok (d := t1) e IFst fst IC). spec K.
    { intros n W s io x v Hx s2 io2 G1 G2 p Hp. cbn. apply (Hx s2 io2); auto. }
    split; intros r g n W s s' io; cbn -[exec].
    + intros a HW Hr Ha H. destruct (K r g n W s s' io (fun n x => copy t1 n a x) HW Hr H) as (n1 & x & s1 & Hn & Hs & Hx & H1).
      eapply fin_ok; eauto.
    + intros k HW Hr H. eapply K; eauto.
  - (* Snd *)
    assert (K := C1_ok (d := t2) e ISnd snd IC). spec K.
    { intros n W s io x v Hx s2 io2 G1 G2 p Hp. cbn. apply (Hx s2 io2); auto. }
    split; intros r g n W s s' io; cbn -[exec].
    + intros a HW Hr Ha H. destruct (K r g n W s s' io (fun n x => copy t2 n a x) HW Hr H) as (n1 & x & s1 & Hn & Hs & Hx & H1).
      eapply fin_ok; eauto.
    + intros k HW Hr H. eapply K; eauto.
  - (* Zip *) split; intros r g n W s s' io; cbn -[exec].
    + intros a HW Hr Ha (s1 & H1 & H2).
      assert (Ha1 : accok n W io (AZip1 a) (ary N t1)) by (apply accok_view with (a := a) (d := ary N (prd t1 t2)) (h := hzip Lf); auto; intros; lf; auto; congruence).
      assert (Ha2 : accok n W io (AZip2 a) (ary N t2)) by (apply accok_view with (a := a) (d := ary N (prd t1 t2)) (h := hzip Rg); auto; intros; lf; auto; congruence).
      assert (W1 := IA1 r g n W s s1 io _ HW Hr Ha1 H1).
      assert (Hr1 : envok n W s1 io r g) by (eapply envok_mono; eauto using wrote_sagree, iagree_refl).
      assert (W2 := IA2 r g n W s1 s' io _ HW Hr1 Ha2 H2).
      eapply wrote_seq with (h1 := hzip Lf) (h2 := hzip Rg); eauto.
      * intros p Hp; lf; auto. * intros p Hp; lf; auto.
      * intros q Hq. lf; [left|right]; eexists (Ix _ :: _); cbn; eauto.
      * intros p q Hp Hq; lf; congruence.
    + intros k HW Hr H. apply (C2_ok (d := ary N (prd t1 t2)) e1 e2 IZip (fun v w i => (v i, w i)) IC1 IC2) with (4 := H); auto.
      intros n0 W0 s0 io0 x y v1 v2 Hx Hy s2 io2 G1 G2 p Hp. lf; [apply (Hx s2 io2)|apply (Hy s2 io2)]; cbn; auto.
  - (* Split *) split; intros r g n W s s' io; cbn -[exec].
    + intros a HW Hr Ha H.
      eapply wrote_view with (h := hsplit w); [eapply IA; eauto| | | |].
      * apply accok_view with (a := a) (d := ary m (ary w t)) (h := hsplit w); auto; intros; lf; auto.
        -- match goal with L : _ < m * w |- _ => destruct (dm4 w m _ L) as (? & ? & ?); auto end.
        -- match goal with E : _ :: _ = _ :: _ |- _ => injection E; intros -> ? ? end. f_equal; f_equal. eapply dsplit_inj; eauto.
      * intros p Hp; lf. match goal with L : _ < m * w |- _ => destruct (dm4 w m _ L) as (? & ? & ?); auto end.
      * intros p Hp; lf; auto.
      * intros q Hq; lf. eexists (Ix (_ * w + _) :: _). cbn. split; [split; [apply dm5|]; eauto|]. rewrite dm1, dm2 by auto. eauto.
      * intros p Hp; lf. match goal with L : _ < m * w |- _ => destruct (dm4 w m _ L) as (? & ? & ?); auto end. rewrite dm3; auto.
    + intros k HW Hr H. apply (C1_ok (d := ary m (ary w t)) e (ISplit w) (fun v i j => v (i * w + j)) IC) with (4 := H); auto.
      intros n0 W0 s0 io0 x v Hx s2 io2 G1 G2 p Hp. lf. apply (Hx s2 io2); auto. cbn. split; auto. apply dm5; auto.
  - (* Join *) split; intros r g n W s s' io; cbn -[exec].
    + intros a HW Hr Ha H.
      eapply wrote_view with (h := hjoin w); [eapply IA; eauto| | | |].
      * apply accok_view with (a := a) (d := ary (m * w) t) (h := hjoin w); auto; intros; lf; auto.
        -- split; auto. apply dm5; auto.
        -- match goal with E : _ :: _ = _ :: _ |- _ => injection E as E2 ->; apply djoin_inj in E2; auto; destruct E2 as [-> ->]; auto end.
      * intros p Hp; lf. split; auto. apply dm5; auto.
      * intros p Hp; lf; auto.
      * intros q Hq; lf. match goal with L : _ < m * w |- _ => destruct (dm4 w m _ L) as (? & ? & ?); auto end. eexists (Ix (_ / w) :: Ix (_ mod w) :: _). cbn. split; [eauto|]. rewrite dm3; eauto.
      * intros p Hp; lf. rewrite dm1, dm2; auto.
    + intros k HW Hr H. apply (C1_ok (d := ary (m * w) t) e (IJoin w) (fun v i => v (i / w) (i mod w)) IC) with (4 := H); auto.
      intros n0 W0 s0 io0 x v Hx s2 io2 G1 G2 p Hp. lf. match goal with L : _ < m * w |- _ => destruct (dm4 w m _ L) as (? & ? & ?); auto end. apply (Hx s2 io2); cbn; auto.
  - (* Trans *) split; intros r g n W s s' io; cbn -[exec].
    + intros a HW Hr Ha H.
      eapply wrote_view with (h := htrans); [eapply IA; eauto| | | |].
      * apply accok_view with (a := a) (d := ary w (ary m t)) (h := htrans); auto; intros; lf; auto; congruence.
      * intros p Hp; lf; auto.
      * intros p Hp; lf; auto.
      * intros q Hq; lf. eexists (Ix _ :: Ix _ :: _). cbn. eauto.
      * intros p Hp; lf; auto.
    + intros k HW Hr H. apply (C1_ok (d := ary w (ary m t)) e ITrans (fun v i j => v j i) IC) with (4 := H); auto.
      intros n0 W0 s0 io0 x v Hx s2 io2 G1 G2 p Hp. lf. apply (Hx s2 io2); cbn; auto.
  - (* Map *)
    assert (K : specA (Map par f e) (fst (tr (Map par f e)))).
    { intros r g n W s s' io a HW Hr Ha H. cbn -[exec] in H.
      destruct (IC r g n W s s' io _ HW Hr H) as (n1 & x & s1 & Hn & Hs & Hx & H1).
      assert (Hr1 : envok n1 W s1 io r g) by (eapply envok_mono; eauto using sagree_below, iagree_refl).
      assert (HW1 := wbelow_le _ _ _ HW Hn).
      assert (Ha1 : accok n1 W io a (ary N t2)) by (eapply accok_mono; eauto using iagree_refl).
      eapply wrote_pre; eauto. eapply wrote_le; eauto.
      assert (B : exists is, Permutation (seq 0 N) is /\ iterR (fun i => exec (fst (tr f) (consE (F := fun _ => iexp) (s := t1) (IIdx x n1) r) (S n1) (AIdx a n1)) (upd io n1 i)) is s1 s').
      { destruct par; cbn in H1; [exact H1|]. exists (seq 0 N). split; auto. }
      destruct B as (is & P & B). refine (loop_map_wrote n1 W io a N t2 _ s1 _ is s' HW1 Ha1 _ P B).
      intros i s2 s3 Hi Hs2 H2. eapply (IAf _ (consE (ev_exp e g i) g)); eauto using wbelow_S, accok_idx.
      apply envok_cons. eapply rep_idx; eauto. eapply envok_mono; eauto using iagree_upd. }
    split; [exact K|]. intros r g n W s s' io k HW Hr (j & s1 & H1 & H2).
    assert (P : wrote (S n) io (AVar n) (ary N t2) (ev_exp (Map par f e) g) (upd s n j) s1).
    { eapply (K r g (S n) (only n)); eauto.
      - intros l p ->; lia.
      - eapply envok_mono; eauto using iagree_refl. intros l q Hl _. rewrite upd_other by lia. auto. unfold only; intros; lia.
      - apply accok_var; [lia|reflexivity]. }
    exists (S n), (IVar n), s1. repeat split; auto.
    + intros l q Hl. rewrite (wrote_below n _ _ _ _ _ _ _ P), upd_other; auto; lia.
    + eapply rep_var; eauto. intros p C. apply HW in C. lia.
  - (* Red *)
    assert (K : specC (Red f i e) (snd (tr (Red f i e)))).
    { intros r g n W s s' io k HW Hr H. cbn -[exec redI] in H.
      destruct (IC r g n W s s' io _ HW Hr H) as (n1 & x & s1 & Hn & Hs & Hx & H1).
      assert (Hr1 : envok n1 W s1 io r g) by (eapply envok_mono; eauto using sagree_below, iagree_refl).
      assert (HW1 := wbelow_le _ _ _ HW Hn).
      destruct (ICi r g n1 W s1 s' io _ HW1 Hr1 H1) as (n2 & y & s2 & Hn2 & Hs2 & Hy & H2).
      assert (Hr2 : envok n2 W s2 io r g) by (eapply envok_mono; eauto using sagree_below, iagree_refl).
      assert (Hx2 : rep n2 W s2 io x (ary N t1) (ev_exp e g)) by (eapply rep_mono; eauto using sagree_below, iagree_refl).
      assert (HW2 := wbelow_le _ _ _ HW1 Hn2).
      assert (Q := redI_ok N t2 n2 W s2 s' io y (ev_exp i g)
        (fun n' a => fst (tr f) (consE (F := fun _ => iexp) (s := t2) (IVar n2) (consE (F := fun _ => iexp) (s := t1) (IIdx x (S n2)) r)) n' a)
        (fun n' => k n' (IVar n2)) (fun j b => ev_exp f (consE b (consE (ev_exp e g j) g))) HW2 Hy).
      spec Q.
      { intros j b s3 s4 Hj Hs3 Hb H3. eapply (IAf _ (consE b (consE (ev_exp e g j) g)) _ (only (S (S n2)))); eauto.
        - intros l p ->; lia.
        - apply envok_cons; auto. apply envok_cons.
          + intros s5 io5 G1 G2 p Hp. cbn. rewrite (G2 (S n2)) by lia. rewrite upd_same. apply (Hx2 s5 io5); [| |split; auto].
            * intros l q Hl _. rewrite G1, Hs3; auto; unfold only; lia.
            * intros l Hl. rewrite G2 by lia. apply upd_other. lia.
          + eapply envok_mono; eauto using sagree_below, iagree_upd. unfold only; intros; lia.
        - apply accok_var; [lia|reflexivity]. }
      destruct (Q H2) as (s3 & Hs3 & H3 & H4).
      exists (S n2), (IVar n2), s3. repeat split; auto; [lia| |].
      - intros l q Hl. rewrite Hs3, Hs2, Hs; auto; lia.
      - cbn [ev_exp]. rewrite <- redn_ext. exact H3. }
    split; [|exact K]. intros r g n W s s' io a HW Hr Ha H.
    destruct (K r g n W s s' io (fun n x => copy t2 n a x) HW Hr H) as (n1 & x & s1 & Hn & Hs & Hx & H1).
    eapply fin_ok; eauto.
  - (* Let *) split; intros r g n W s s' io; cbn -[exec].
    + intros a HW Hr Ha H.
      destruct (IC1 r g n W s s' io _ HW Hr H) as (n1 & x & s1 & Hn & Hs & Hx & H1).
      eapply wrote_pre; eauto. eapply wrote_le; eauto.
      eapply (IA2 _ (consE (ev_exp e1 g) g)); eauto using wbelow_le.
      * apply envok_cons; auto. eapply envok_mono; eauto using sagree_below, iagree_refl.
      * eapply accok_mono; eauto using iagree_refl.
    + intros k HW Hr H.
      destruct (IC1 r g n W s s' io _ HW Hr H) as (n1 & x & s1 & Hn & Hs & Hx & H1).
      destruct (IC2 (consE (F := fun _ => iexp) (s := t1) x r) (consE (ev_exp e1 g) g) n1 W s1 s' io k) as (n2 & y & s2 & Hn2 & Hs2 & Hy & H2); eauto using wbelow_le.
      { apply envok_cons; auto. eapply envok_mono; eauto using sagree_below, iagree_refl. }
      exists n2, y, s2. repeat split; auto; [lia|]. intros. rewrite Hs2, Hs; auto; lia.
Qed.
End Core.
