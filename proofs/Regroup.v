(* The functional program, with its hints carried out: reductions in blocks, sums of sums, sums of rows as one, two steps at a time. Where numbers are added up in another grouping,
   the operation must have the laws that the certificate lists. What the program denotes stays the same. *)
From Coq Require Import ZArith List String Bool Lia Arith.
From Lozenge Require Import Syntax Semantics Poly Norm Rep Source Lazy.
Import ListNotations.

(* A rule at every place, inner before outer. *)
Section Walk.
Variable R : exp -> exp.
Fixpoint walk (e : exp) : exp := R
  match e with
  | EVar _ | ESize _ | ELit _ => e
  | EOp o es => EOp o (map walk es)
  | ESelect c a b => ESelect (walk c) (walk a) (walk b)
  | EPair a b => EPair (walk a) (walk b)
  | EFst e => EFst (walk e)
  | ESnd e => ESnd (walk e)
  | ELet x a b => ELet x (walk a) (walk b)
  | EMap x f e => EMap x (walk f) (walk e)
  | EReduce n sh how x a f i e => EReduce n sh how x a (walk f) (walk i) (walk e)
  | EScan n sh x a f i e => EScan n sh x a (walk f) (walk i) (walk e)
  | EIterate n sh twice a f i => EIterate n sh twice a (walk f) (walk i)
  | EGenerate x f => EGenerate x (walk f)
  | EView v e => EView v (walk e)
  | EPad l n v e => EPad l n (walk v) (walk e)
  | EConcat n a b => EConcat n (walk a) (walk b)
  | EGather is e => EGather (walk is) (walk e)
  | EReorder x f e => EReorder x (walk f) (walk e)
  | EIdx e i => EIdx (walk e) (walk i)
  | EScatter n sh js b e => EScatter n sh (walk js) (walk b) (walk e)
  end.
End Walk.

(* Whether a variable occurs; a binder of the same number counts as an occurrence. *)
Fixpoint mentions (x : nat) (e : exp) : bool :=
  match e with
  | EVar y => Nat.eqb x y
  | ESize _ | ELit _ => false
  | EOp _ es => existsb (mentions x) es
  | ESelect c a b => mentions x c || mentions x a || mentions x b
  | EPair a b => mentions x a || mentions x b
  | EFst e | ESnd e => mentions x e
  | ELet y a b => Nat.eqb x y || mentions x a || mentions x b
  | EMap y f e | EReorder y f e => Nat.eqb x y || mentions x f || mentions x e
  | EReduce _ _ _ y a f i e | EScan _ _ y a f i e => Nat.eqb x y || Nat.eqb x a || mentions x f || mentions x i || mentions x e
  | EIterate _ _ _ a f i => Nat.eqb x a || mentions x f || mentions x i
  | EGenerate y f => Nat.eqb x y || mentions x f
  | EView _ e => mentions x e
  | EPad _ _ v e => mentions x v || mentions x e
  | EConcat _ a b => mentions x a || mentions x b
  | EGather is e => mentions x is || mentions x e
  | EIdx e i => mentions x e || mentions x i
  | EScatter _ _ js b e => mentions x js || mentions x b || mentions x e
  end.

Definition law_eqb (a b : law) : bool :=
  match a, b with
  | Commutes o, Commutes o' | Associates o, Associates o' => String.eqb o o'
  | Neutral z o, Neutral z' o' => String.eqb z z' && String.eqb o o'
  | _, _ => false
  end.
Definition has (ls : list law) (l : law) : bool := existsb (law_eqb l) ls.
Definition monoid (ls : list law) (o zero : string) : bool := has ls (Commutes o) && has ls (Associates o) && has ls (Neutral zero o).

Section Rules.
Variable ls : list law.
Variable base : facts.

(* The operation that adds an element to the accumulator, and whether the accumulator comes first. *)
Definition is_var (a : nat) (e : exp) : bool := match e with EVar y => Nat.eqb a y | _ => false end.
Definition sum_of (x a : nat) (f : exp) : option (string * bool) :=
  match f with
  | EOp (Scalar o) [g1; g2] =>
      if Nat.eqb x a then None
      else if is_var a g1 && negb (mentions a g2) then Some (o, true)
      else if is_var a g2 && negb (mentions a g1) then Some (o, false)
      else None
  | _ => None
  end.
Definition times (q m : tm) : tm := Op Imul [q; m].
Definition minus (n w : tm) : tm := Op Isub [n; w].
(* What is left behind full blocks. *)
Definition rest (n : tm) (sh : shape) (x a : nat) (f head e : exp) (w : tm) : exp :=
  if pzero (poly_of base (minus n w)) then head else EReduce (minus n w) sh InOrder x a f head (EView (Vdrop w) e).
Definition fits (n q m : tm) : bool := pr base (poly_of base q) && pr base (poly_of base m) && pr base (poly_of base (minus n (times q m))).
Definition partial (sh : shape) (x a : nat) (o : string) (first : bool) (f i rows : exp) (q m : tm) (zero : string) : exp :=
  EReduce q sh InOrder x a (EOp (Scalar o) (if first then [EVar a; EVar x] else [EVar x; EVar a])) i
    (EMap x (EReduce m sh InOrder x a f (ELit zero) (EVar x)) rows).
Definition adds (x a : nat) (f : exp) : bool :=
  match f with EOp _ [g1; g2] => is_var a g1 && is_var x g2 || is_var x g1 && is_var a g2 | _ => false end.
Definition item (x : nat) (j : Z) : exp := EIdx (EVar x) (ESize (Int j)).
Definition rule1 (e : exp) : exp :=
  match e with
  | EReduce n sh Turns x a f i e' =>
      if pr base (poly_of base n) && negb (Nat.eqb x a) && negb (mentions a e') then
        let h := EReduce (Op Idiv [n; Int 2]) sh InOrder x a (ELet a (ELet x (item x 0) f) (ELet x (item x 1) f)) i (EView (Vsplit (Int 2)) e') in
        ESelect (EOp Ieq [ESize (Op Imod [n; Int 2]); ESize (Int 1)]) (ELet a h (ELet x (EIdx e' (ESize (Op Isub [n; Int 1]))) f)) h
      else e
  | EReduce n sh (Blocks q m) x a f i e' =>
      if fits n q m then rest n sh x a f (EReduce (times q m) sh (Blocks q m) x a f i e') e' (times q m) else e
  | EReduce n sh (Tree q m zero) x a f i e' =>
      match sum_of x a f with
      | Some (o, first) =>
          if fits n q m && monoid ls o zero then rest n sh x a f (partial sh x a o first f i (EView (Vsplit m) e') q m zero) e' (times q m) else e
      | None => e end
  | EReduce n sh (Lanes q m zero) x a f i e' =>
      match sum_of x a f with
      | Some (o, first) =>
          if fits n q m && monoid ls o zero then
            rest n sh x a f (partial sh x a o first f i (EView Vtranspose (EView (Vsplit m) e')) m q zero) e' (times q m) else e
      | None => e end
  | EIterate n sh true a f i =>
      if pr base (poly_of base n) then
        let h := EIterate (Op Idiv [n; Int 2]) sh false a (ELet a f f) i in
        ESelect (EOp Ieq [ESize (Op Imod [n; Int 2]); ESize (Int 1)]) (ELet a h f) h
      else e
  | _ => e
  end.
Definition rule (e : exp) : exp :=
  match e with
  | EReduce n sh (Joined how) x a f i (EMap y (EReduce m _ _ x' a' f' (ELit zero) rows) e') =>
      match sum_of x a f, sum_of x' a' f' with
      | Some (o, _), Some (o', _) =>
          if adds x a f && String.eqb o o' && monoid ls o zero && negb (mentions y f') && pr base (poly_of base n) && pr base (poly_of base m)
          then rule1 (EReduce (times n m) sh how x' a' f' i (EView (Vjoin m) (EMap y rows e'))) else e
      | _, _ => e end
  | _ => rule1 e
  end.
Definition regroup : exp -> exp := walk rule.
End Rules.

Section Sound.
Variable scalar : Type.
Variable lit : string -> val scalar.
Variable prim : string -> list (val scalar) -> val scalar.
Notation val := (val scalar). Notation value := (value scalar).

(* A law, said of what operations do. *)
Definition law_holds (l : law) : Prop :=
  match l with
  | Commutes o => forall a b, prim o [a; b] = prim o [b; a]
  | Associates o => forall a b c, prim o [prim o [a; b]; c] = prim o [a; prim o [b; c]]
  | Neutral zero o => forall a, prim o [lit zero; a] = a
  end.
Definition veq (d d' : value) : Prop := forall cs is, d cs is = d' cs is.

Section At.
Variable z : tm -> Z.
Notation den := (den scalar lit prim z).

Lemma veq_upd (g g' : nat -> value) x d d' : (forall y, veq (g y) (g' y)) -> veq d d' -> forall y, veq (upd g x d y) (upd g' x d' y).
Proof. intros H E y. unfold upd. destruct (Nat.eqb x y); auto. Qed.
Lemma veq_element d d' i : veq d d' -> veq (element scalar d i) (element scalar d' i).
Proof. intros H cs is. apply H. Qed.
Lemma veq_put j j' x x' d d' : j = j' -> veq x x' -> veq d d' -> veq (put_at scalar j x d) (put_at scalar j' x' d').
Proof. intros -> Hx Hd cs [|i is]; cbn [put_at]; auto. destruct (j' =? i)%Z; auto. Qed.
Lemma veq_iter n (f f' : nat -> value -> value) d d' : veq d d' -> (forall k v v', veq v v' -> veq (f k v) (f' k v')) -> veq (iter n f d) (iter n f' d').
Proof. intros H E. induction n; cbn; auto. Qed.

Lemma walk_ok R : (forall e g, veq (den (R e) g) (den e g)) -> forall e g g', (forall x, veq (g x) (g' x)) -> veq (den (walk R e) g) (den e g').
Proof.
  intros HR. fix IH 1. intros e g g' Hg.
  assert (U : forall x d d', veq d d' -> forall y, veq (upd g x d y) (upd g' x d' y)) by (intros; now apply veq_upd).
  assert (U2 : forall x d d' y e e', veq d d' -> veq e e' -> forall w, veq (upd (upd g x d) y e w) (upd (upd g' x d') y e' w)).
  { intros. apply veq_upd; auto. }
  destruct e as [x|a1|s|o es|e1 e2 e3|e1 e2|e|e|x e1 e2|x e1 e|n sh how x a1 e1 e2 e3|n sh x a1 e1 e2 e3|n sh twice a1 e1 e2|x e|v e|l n e1 e2|n e1 e2|e1 e2|x e1 e2|e1 e2|n sh e1 e2 e3];
    cbn [walk]; intros cs is; rewrite HR; cbn [Semantics.den].
  - apply Hg.
  - reflexivity.
  - reflexivity.
  - f_equal. rewrite map_map. clear HR. induction es as [|e es IHes]; cbn [map]; [reflexivity|]. f_equal; [apply IH; auto|apply IHes].
  - rewrite (IH e1 g g' Hg), (IH e2 g g' Hg), (IH e3 g g' Hg). reflexivity.
  - destruct cs as [|[|] cs]; auto; apply IH; auto.
  - apply IH; auto.
  - apply IH; auto.
  - apply IH. apply U. apply IH; auto.
  - destruct is; auto. apply IH. apply U. apply veq_element. apply IH; auto.
  - apply veq_iter; [apply IH; auto|]. intros k v v' Hv. apply IH. apply U2; auto. apply veq_element. apply IH; auto.
  - destruct is as [|i is]; auto. apply veq_iter; [apply IH; auto|]. intros k v v' Hv. apply IH. apply U2; auto. apply veq_element. apply IH; auto.
  - apply veq_iter; [apply IH; auto|]. intros k v v' Hv. apply IH. apply U; auto.
  - destruct is; auto. apply IH. apply U. intros cs' is'. reflexivity.
  - apply IH; auto.
  - destruct is as [|i is]; auto. rewrite (IH e1 g g' Hg), (IH e2 g g' Hg). reflexivity.
  - destruct is as [|i is]; auto. rewrite (IH e1 g g' Hg), (IH e2 g g' Hg). reflexivity.
  - destruct is as [|i is]; auto. rewrite (IH e1 g g' Hg). unfold element. apply IH; auto.
  - destruct is as [|i is]; auto. unfold index, element.
    assert (K : veq (den (walk R e1) (upd g x (number scalar (VZ i)))) (den e1 (upd g' x (number scalar (VZ i))))) by (apply IH; apply U; intros cs' is'; reflexivity).
    rewrite K. apply IH; auto.
  - unfold index, element. rewrite (IH e2 g g' Hg). apply IH; auto.
  - apply veq_iter; [apply IH; auto|]. intros k d d' Hd. apply veq_put; [rewrite (IH e1 g g' Hg); reflexivity|apply veq_element; apply IH; auto|auto].
Qed.
Lemma den_ext e g g' : (forall x, veq (g x) (g' x)) -> veq (den e g) (den e g').
Proof.
  assert (W : forall e, walk (fun e => e) e = e).
  { fix IH 1. intros e0. destruct e0; cbn [walk]; f_equal; auto. induction es; cbn [map]; f_equal; auto. }
  intros H cs is. rewrite <- (W e) at 1. apply (walk_ok (fun e => e)); auto. intros e' g0 cs' is'. reflexivity.
Qed.

(* A variable that does not occur may have any value. *)
Lemma den_other x : forall e g g', (forall y, x <> y -> veq (g y) (g' y)) -> mentions x e = false -> veq (den e g) (den e g').
Proof.
  fix IH 1. intros e g g' Hg H.
  assert (U : forall y d d', veq d d' -> forall w, x <> w -> veq (upd g y d w) (upd g' y d' w)).
  { intros y d d' Hd w Hw. unfold upd. destruct (Nat.eqb y w); auto. }
  assert (U2 : forall y d d' u e e', veq d d' -> veq e e' -> forall w, x <> w -> veq (upd (upd g y d) u e w) (upd (upd g' y d') u e' w)).
  { intros y d d' u e0 e0' Hd He w Hw. unfold upd. destruct (Nat.eqb u w); auto. destruct (Nat.eqb y w); auto. }
  destruct e as [y|a1|s|o es|e1 e2 e3|e1 e2|e|e|y e1 e2|y e1 e|n sh how y a1 e1 e2 e3|n sh y a1 e1 e2 e3|n sh twice a1 e1 e2|y e|v e|l n e1 e2|n e1 e2|e1 e2|y e1 e2|e1 e2|n sh e1 e2 e3];
    cbn [mentions] in H;
    repeat match goal with K : (if ?b then true else _) = false |- _ => let K1 := fresh in destruct b eqn:K1; [discriminate|] end;
    intros cs is; cbn [Semantics.den].
  - apply Hg. now apply Nat.eqb_neq.
  - reflexivity.
  - reflexivity.
  - f_equal. revert H. induction es as [|e es IHes]; cbn [map existsb]; intros H; [reflexivity|].
    destruct (mentions x e) eqn:E; [discriminate|]. f_equal; [apply IH; auto|apply IHes; auto].
  - rewrite (IH e1 g g' Hg), (IH e2 g g' Hg), (IH e3 g g' Hg) by auto. reflexivity.
  - destruct cs as [|[|] cs]; auto; apply IH; auto.
  - apply IH; auto.
  - apply IH; auto.
  - apply IH; [apply U; apply IH; auto|auto].
  - destruct is; [auto|]. apply IH; [apply U; apply veq_element; apply IH; auto|auto].
  - apply veq_iter; [apply IH; auto|]. intros k v v' Hv. apply IH; [apply U2; [apply veq_element; apply IH; auto|auto]|auto].
  - destruct is as [|i is]; auto. apply veq_iter; [apply IH; auto|]. intros k v v' Hv. apply IH; [apply U2; [apply veq_element; apply IH; auto|auto]|auto].
  - apply veq_iter; [apply IH; auto|]. intros k v v' Hv. apply IH; [apply U; auto|auto].
  - destruct is; [auto|]. apply IH; [apply U; intros cs' is'; reflexivity|auto].
  - apply IH; auto.
  - destruct is as [|i is]; auto. rewrite (IH e1 g g' Hg), (IH e2 g g' Hg) by auto. reflexivity.
  - destruct is as [|i is]; auto. rewrite (IH e1 g g' Hg), (IH e2 g g' Hg) by auto. reflexivity.
  - destruct is as [|i is]; auto. rewrite (IH e1 g g' Hg) by auto. unfold element. apply IH; auto.
  - destruct is as [|i is]; auto. unfold index, element.
    assert (K : veq (den e1 (upd g y (number scalar (VZ i)))) (den e1 (upd g' y (number scalar (VZ i))))) by (apply IH; auto; apply U; intros cs' is'; reflexivity).
    rewrite K. apply IH; auto.
  - unfold index, element. rewrite (IH e2 g g' Hg) by auto. apply IH; auto.
  - apply veq_iter; [apply IH; auto|]. intros k d d' Hd. apply veq_put; [rewrite (IH e1 g g' Hg) by auto; reflexivity|apply veq_element; apply IH; auto|auto].
Qed.
Lemma den_upd x d e g : mentions x e = false -> veq (den e (upd g x d)) (den e g).
Proof.
  apply den_other. intros y Hy. unfold upd. destruct (Nat.eqb_spec x y); [congruence|]. intros cs is. reflexivity.
Qed.

(* ---------- sums in other groupings ---------- *)
Section Sums.
Variable o : string.
Variable zero : val.
Hypothesis comm : forall a b, prim o [a; b] = prim o [b; a].
Hypothesis assoc : forall a b c, prim o [prim o [a; b]; c] = prim o [a; prim o [b; c]].
Hypothesis neutral : forall a, prim o [zero; a] = a.
Notation "a + b" := (prim o [a; b]).
Definition big (n : nat) (G : nat -> val) : val := iter n (fun k v => v + G k) zero.
Lemma big_ext n G H : (forall k, k < n -> G k = H k) -> big n G = big n H.
Proof. intros E. unfold big. induction n; cbn; auto. rewrite IHn, E; auto. Qed.
Lemma big_from n G v : iter n (fun k v => v + G k) v = v + big n G.
Proof. unfold big. induction n; cbn. { now rewrite comm, neutral. } now rewrite IHn, assoc. Qed.
Lemma big_plus n G H : big n (fun k => G k + H k) = big n G + big n H.
Proof.
  unfold big. induction n; cbn. { now rewrite neutral. }
  rewrite IHn. set (a := iter n _ _). set (b := iter n _ _). rewrite !assoc. f_equal. f_equal. f_equal. 
  rewrite <- !assoc. f_equal. f_equal. apply comm.
Qed.
Lemma big_zero n : big n (fun _ => zero) = zero.
Proof. unfold big. induction n; cbn; auto. now rewrite IHn, neutral. Qed.
Lemma big_blocks q m G : big (q * m) G = big q (fun i => big m (fun j => G (i * m + j)%nat)).
Proof.
  unfold big at 1. rewrite Source.iter_mul. unfold big at 1. apply Source.iter_ext. intros i v. apply big_from.
Qed.
Lemma big_exchange q m G : big q (fun i => big m (fun j => G i j)) = big m (fun j => big q (fun i => G i j)).
Proof.
  induction q as [|q IH]. { symmetry. change (big m (fun _ => zero) = zero). apply big_zero. }
  change (big q (fun i => big m (fun j => G i j)) + big m (fun j => G q j) = big m (fun j => big q (fun i => G i j) + G q j)).
  now rewrite big_plus, IH.
Qed.
End Sums.
End At.

(* ---------- the rules ---------- *)
Variable st : store scalar.
Variable r : nat -> Z.
Variable al : aenv scalar.
Variable ls : list law.
Variable base : facts.
Notation z := (zv scalar lit prim st r al).
Notation den := (den scalar lit prim z).
Hypothesis Hbase : holds scalar lit prim st r al base.
Hypothesis Hlaws : forall l, List.In l ls -> law_holds l.

Lemma has_ok l : has ls l = true -> law_holds l.
Proof.
  intros H. apply existsb_exists in H as (l' & Hl & E). assert (l = l'); [|subst; auto].
  destruct l, l'; try discriminate; cbn in E;
    repeat match goal with K : (if ?b then _ else false) = true |- _ => apply andb_prop in K as [? ?] end;
    repeat match goal with K : String.eqb _ _ = true |- _ => apply String.eqb_eq in K end; subst; auto.
Qed.
Lemma monoid_ok o zero : monoid ls o zero = true -> (forall a b, prim o [a; b] = prim o [b; a]) /\
  (forall a b c, prim o [prim o [a; b]; c] = prim o [a; prim o [b; c]]) /\ (forall a, prim o [lit zero; a] = a).
Proof.
  unfold monoid. intros H. apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2].
  repeat split; [apply (has_ok (Commutes o) H1)|apply (has_ok (Associates o) H2)|apply (has_ok (Neutral zero o) H3)].
Qed.
Lemma at_least t : pr base (poly_of base t) = true -> (0 <= z t)%Z.
Proof. intros H. apply (pr_ok scalar lit prim st r al) in H; auto. now rewrite poly_of_ok in H. Qed.
Lemma fits_ok n q m : fits base n q m = true -> (0 <= z q)%Z /\ (0 <= z m)%Z /\ (z q * z m <= z n)%Z.
Proof.
  unfold fits. intros H. apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2]. apply at_least in H1, H2, H3.
  change (0 <= z n - z q * z m)%Z in H3. lia.
Qed.
Definition step (x a : nat) (f e : exp) (g : nat -> value) (k : nat) (acc : value) : value :=
  den f (upd (upd g x (element scalar (den e g) (Z.of_nat k))) a acc).
Lemma vrefl (d : value) : veq d d. Proof. intros cs is. reflexivity. Qed.
Hint Resolve vrefl : core.
Lemma upd_same (g : nat -> value) y v v' : veq v v' -> forall w, veq (upd g y v w) (upd g y v' w).
Proof. intros Hv. apply veq_upd; auto. Qed.

Lemma rest_ok n sh x a f head i e w g : (0 <= z w <= z n)%Z ->
  veq (den head g) (iter (Z.to_nat (z w)) (step x a f e g) (den i g)) ->
  veq (den (rest base n sh x a f head e w) g) (iter (Z.to_nat (z n)) (step x a f e g) (den i g)).
Proof.
  intros Hw Hh cs is. unfold rest. destruct (pzero _) eqn:E.
  - assert (K : (z n - z w = 0)%Z).
    { assert (P := poly_of_ok scalar lit prim st r al base Hbase (minus n w)). destruct (poly_of base (minus n w)); [|discriminate].
      change (0 = z n - z w)%Z in P. lia. }
    rewrite (Hh cs is). now replace (z n) with (z w) by lia.
  - cbn [Semantics.den]. change (z (minus n w)) with (z n - z w)%Z.
    replace (Z.to_nat (z n)) with (Z.to_nat (z w) + Z.to_nat (z n - z w)) by lia. rewrite iter_add.
    apply veq_iter; auto. intros k v v' Hv cs' is'. unfold step. apply den_ext. apply veq_upd; auto. apply upd_same.
    intros cs2 is2. unfold element. cbn [Semantics.den look]. do 2 f_equal. lia.
Qed.

Lemma iter_point n (F : nat -> value -> value) (S_ : nat -> val -> val) d cs is :
  (forall k acc, k < n -> F k acc cs is = S_ k (acc cs is)) -> iter n F d cs is = iter n S_ (d cs is).
Proof. intros H. induction n; cbn; auto. rewrite H, IHn; auto. Qed.
Lemma iter_eq {A} n (f g : nat -> A -> A) a : (forall k a, k < n -> f k a = g k a) -> iter n f a = iter n g a.
Proof. intros H. induction n; cbn; auto. rewrite IHn, H; auto. Qed.

Lemma sum_of_ok x a f o first : sum_of x a f = Some (o, first) -> (forall u v, prim o [u; v] = prim o [v; u]) ->
  x <> a /\ exists h, mentions a h = false /\ forall env cs is, den f env cs is = prim o [env a cs is; den h env cs is].
Proof.
  intros H C.
  assert (D : exists g1 g2, f = EOp (Scalar o) [g1; g2] /\ x <> a /\ ((g1 = EVar a /\ mentions a g2 = false) \/ (g2 = EVar a /\ mentions a g1 = false))).
  { assert (V : forall e, is_var a e = true -> e = EVar a). { intros [] K; try discriminate. cbn in K. apply Nat.eqb_eq in K. now subst. }
    unfold sum_of in H. destruct f as [| | |o' es| | | | | | | | | | | | | | | | | ]; try discriminate. destruct o'; try discriminate.
    destruct es as [|g1 [|g2 [|? ?]]]; try discriminate. exists g1, g2. destruct (Nat.eqb_spec x a); [discriminate|].
    destruct (is_var a g1) eqn:E1; destruct (mentions a g2) eqn:M2; cbn [negb] in H;
      try (injection H as -> <-; auto 8; fail);
      (destruct (is_var a g2) eqn:E2; [|discriminate]); (destruct (mentions a g1) eqn:M1; [discriminate|]); injection H as -> <-; auto 8. }
  destruct D as (g1 & g2 & -> & Hx & [[-> Hm]|[-> Hm]]); split; auto.
  - exists g2. split; auto.
  - exists g1. split; auto. intros env cs is. cbn [Semantics.den map apply]. apply C.
Qed.

Lemma partial_ok sh x a o first f i rows q m zero e g n : sum_of x a f = Some (o, first) -> monoid ls o zero = true -> (0 <= z q)%Z -> (0 <= z m)%Z ->
  (forall (H : Z -> val), big o (lit zero) (Z.to_nat (z q)) (fun k => big o (lit zero) (Z.to_nat (z m)) (fun j => H (n (Z.of_nat k) (Z.of_nat j))))
     = big o (lit zero) (Z.to_nat (z q) * Z.to_nat (z m)) (fun k => H (Z.of_nat k))) ->
  (forall k j cs is, den rows g cs (k :: j :: is) = den e g cs (n k j :: is)) ->
  veq (den (partial sh x a o first f i rows q m zero) g) (iter (Z.to_nat (z q) * Z.to_nat (z m)) (step x a f e g) (den i g)).
Proof.
  intros Hs Hm Hq Hmm Hbig Hrows cs is. destruct (monoid_ok o zero Hm) as (C & A & U).
  destruct (sum_of_ok x a f o first Hs C) as (Hxa & h & Hh & Hf).
  set (H := fun k => den h (upd g x (element scalar (den e g) k)) cs is).
  assert (Hstep : forall env acc, den f (upd env a acc) cs is = prim o [acc cs is; den h env cs is]).
  { intros env acc. rewrite Hf. unfold upd at 1. rewrite Nat.eqb_refl. now rewrite (den_upd z a acc h env Hh). }
  transitivity (prim o [den i g cs is; big o (lit zero) (Z.to_nat (z q) * Z.to_nat (z m)) (fun k => H (Z.of_nat k))]).
  - rewrite <- Hbig. unfold partial. cbn [Semantics.den].
    rewrite (iter_point _ _ (fun k v => prim o [v; big o (lit zero) (Z.to_nat (z m)) (fun j => H (n (Z.of_nat k) (Z.of_nat j)))])).
    { apply big_from; auto. }
    intros k acc _.
    assert (Ek : element scalar (den (EMap x (EReduce m sh InOrder x a f (ELit zero) (EVar x)) rows) g) (Z.of_nat k) cs is
       = big o (lit zero) (Z.to_nat (z m)) (fun j => H (n (Z.of_nat k) (Z.of_nat j)))).
    { unfold element at 1. cbn [Semantics.den].
      rewrite (iter_point _ _ (fun j v => prim o [v; H (n (Z.of_nat k) (Z.of_nat j))])); [reflexivity|].
      intros j acc' _. rewrite Hstep. f_equal. f_equal. f_equal. apply den_ext. intros w. unfold upd.
      destruct (Nat.eqb_spec x w); auto. intros cs2 is2. rewrite Nat.eqb_refl. unfold element. apply Hrows. }
    assert (Hx : forall d, upd (upd g x d) a acc a = acc /\ upd (upd g x d) a acc x = d).
    { intros d. unfold upd. rewrite Nat.eqb_refl. destruct (Nat.eqb_spec a x); [congruence|]. now rewrite Nat.eqb_refl. }
    destruct first; cbn [Semantics.den map apply]; destruct (Hx (element scalar (den (EMap x (EReduce m sh InOrder x a f (ELit zero) (EVar x)) rows) g) (Z.of_nat k))) as [X1 X2];
      cbn [Semantics.den] in X1, X2, Ek; rewrite X1, X2, Ek; [reflexivity|apply C].
  - symmetry. rewrite (iter_point _ _ (fun k v => prim o [v; H (Z.of_nat k)])); [apply big_from; auto|].
    intros k acc _. unfold step. apply Hstep.
Qed.

(* Sums that go on from each other. *)
Lemma adds_ok x a f o first : sum_of x a f = Some (o, first) -> adds x a f = true -> (forall u v, prim o [u; v] = prim o [v; u]) ->
  x <> a /\ forall env cs is, den f env cs is = prim o [env a cs is; env x cs is].
Proof.
  intros H K C.
  assert (V : forall b e, is_var b e = true -> e = EVar b). { intros b [] W; try discriminate. cbn in W. apply Nat.eqb_eq in W. now subst. }
  assert (Hx := proj1 (sum_of_ok x a f o first H C)). split; auto.
  unfold adds in K. destruct f as [| | |o' es| | | | | | | | | | | | | | | | | ]; try discriminate. destruct es as [|g1 [|g2 [|? ?]]]; try discriminate.
  assert (o' = Scalar o).
  { unfold sum_of in H. destruct o'; try discriminate. destruct (Nat.eqb x a); [discriminate|].
    destruct (is_var a g1 && negb (mentions a g2)); [congruence|]. destruct (is_var a g2 && negb (mentions a g1)); congruence. }
  subst o'. apply orb_prop in K as [K|K]; apply andb_prop in K as [K1 K2]; apply V in K1, K2; subst; intros; cbn [Semantics.den map apply]; auto.
Qed.
Lemma joined_ok sh how sh' how' x a f o first n y m x' a' f' first' zero rows i e g : sum_of x a f = Some (o, first) -> adds x a f = true -> sum_of x' a' f' = Some (o, first') ->
  monoid ls o zero = true -> mentions y f' = false -> (0 <= z n)%Z -> (0 <= z m)%Z ->
  veq (den (EReduce (times n m) sh how x' a' f' i (EView (Vjoin m) (EMap y rows e))) g)
    (den (EReduce n sh how x a f i (EMap y (EReduce m sh' how' x' a' f' (ELit zero) rows) e)) g).
Proof.
  intros Hs Ha Hs' Hm Hy Hn Hmm. destruct (monoid_ok o zero Hm) as (C & A & U).
  destruct (adds_ok x a f o first Hs Ha C) as [Hx Hd]. destruct (sum_of_ok x' a' f' o first' Hs' C) as (Hx' & h & Hh & Hd').
  intros cs is. cbn [Semantics.den]. change (z (times n m)) with (z n * z m)%Z. rewrite Z2Nat.inj_mul, iter_mul by auto.
  set (gk := fun k : nat => upd g y (element scalar (den e g) (Z.of_nat k))).
  set (H := fun k j => den h (upd (gk k) x' (element scalar (den rows (gk k)) (Z.of_nat j))) cs is).
  assert (Hstep : forall k j v, den f' (upd (upd (gk k) x' (element scalar (den rows (gk k)) (Z.of_nat j))) a' v) cs is = prim o [v cs is; H k j]).
  { intros k j v. rewrite Hd'. unfold upd at 1. rewrite Nat.eqb_refl. now rewrite (den_upd z a' v h _ Hh). }
  rewrite (iter_point (Z.to_nat (z n)) _ (fun k v => iter (Z.to_nat (z m)) (fun j v => prim o [v; H k j]) v)).
  2:{ intros k acc _. apply iter_point. intros j v Hj. rewrite <- Hstep.
    apply (den_other z y); auto. intros w Hw. unfold upd. destruct (Nat.eqb a' w); auto. destruct (Nat.eqb x' w).
    - unfold element. intros cs' is'. cbn [look]. fold (Z.of_nat j). unfold gk.
      replace ((Z.of_nat (k * Z.to_nat (z m) + j) / z m)%Z) with (Z.of_nat k) by (apply Z.div_unique with (r := Z.of_nat j); nia).
      replace ((Z.of_nat (k * Z.to_nat (z m) + j) mod z m)%Z) with (Z.of_nat j) by (apply Z.mod_unique with (q := Z.of_nat k); nia).
      reflexivity.
    - unfold gk, upd. destruct (Nat.eqb_spec y w); [congruence|auto]. }
  rewrite (iter_point (Z.to_nat (z n)) _ (fun k v => iter (Z.to_nat (z m)) (fun j v => prim o [v; H k j]) v) (den i g)); auto.
  intros k acc _. rewrite Hd. rewrite (big_from o (lit zero) C A U).
  assert (R : forall w, upd (upd g x w) a acc a = acc /\ upd (upd g x w) a acc x = w).
  { intros w. unfold upd. rewrite Nat.eqb_refl. destruct (Nat.eqb_spec a x); [congruence|]. now rewrite Nat.eqb_refl. }
  match goal with |- context [upd g x ?w] => destruct (R w) as [R1 R2]; rewrite R1, R2 end.
  f_equal. f_equal. f_equal. unfold element at 1. fold (gk k). apply iter_point. intros j v _. apply Hstep.
Qed.
(* Two elements at a time. *)
Lemma turns_ok n sh x a f i e g : (0 <= z n)%Z -> x <> a -> mentions a e = false ->
  let h := EReduce (Op Idiv [n; Int 2]) sh InOrder x a (ELet a (ELet x (item x 0) f) (ELet x (item x 1) f)) i (EView (Vsplit (Int 2)) e) in
  veq (den (ESelect (EOp Ieq [ESize (Op Imod [n; Int 2]); ESize (Int 1)]) (ELet a h (ELet x (EIdx e (ESize (Op Isub [n; Int 1]))) f)) h) g)
    (iter (Z.to_nat (z n)) (step x a f e g) (den i g)).
Proof.
  intros Hn Hxa Hm. set (h := EReduce _ _ _ _ _ _ _ _). cbv zeta. intros cs is. assert (Hax : Nat.eqb a x = false) by (apply Nat.eqb_neq; congruence).
  assert (Hh : veq (den h g) (iter (Z.to_nat (z n / 2) * 2) (step x a f e g) (den i g))).
  { unfold h. cbn [Semantics.den]. change (z (Op Idiv [n; Int 2])) with (z n / 2)%Z. rewrite iter_mul. apply veq_iter; auto.
    intros k v v' Hv. cbn [iter]. unfold step. intros cs' is'. apply den_ext.
    intros w. unfold upd. destruct (Nat.eqb_spec x w) as [<-|Hw].
    - rewrite ?Hax. intros cs2 is2. unfold item, element, index, number. cbn [Semantics.den look].
        rewrite !Hax, ?Nat.eqb_refl. unfold element, index, number.
      change (z (Int 2)) with 2%Z. change (z (Int 1)) with 1%Z. cbn [toZ]. do 2 f_equal. lia.
    - destruct (Nat.eqb_spec a w) as [<-|]; auto. apply den_ext. intros w. unfold upd. destruct (Nat.eqb_spec x w) as [<-|Hw'].
      + rewrite ?Hax. intros cs2 is2. unfold item, element, index, number. cbn [Semantics.den look].
        rewrite !Hax, ?Nat.eqb_refl. unfold element, index, number.
        change (z (Int 2)) with 2%Z. change (z (Int 0)) with 0%Z. cbn [toZ]. do 2 f_equal. lia.
      + destruct (Nat.eqb a w); auto. }
  assert (D : Z.to_nat (z n) = Z.to_nat (z n / 2) * 2 + Z.to_nat (z n mod 2)).
  { assert (K := Z.div_mod (z n) 2 ltac:(lia)). assert (M := Z.mod_pos_bound (z n) 2 ltac:(lia)). assert (0 <= z n / 2)%Z by (apply Z.div_pos; lia). lia. }
  assert (M := Z.mod_pos_bound (z n) 2 ltac:(lia)).
  change (den (ESelect (EOp Ieq [ESize (Op Imod [n; Int 2]); ESize (Int 1)]) (ELet a h (ELet x (EIdx e (ESize (Op Isub [n; Int 1]))) f)) h) g cs is)
    with (if (z n mod 2 =? 1)%Z then den f (upd (upd g a (den h g)) x (element scalar (den e (upd g a (den h g))) (z n - 1))) cs is else den h g cs is).
  rewrite D, iter_add. destruct (Z.eqb_spec (z n mod 2) 1) as [E1|E1].
  - rewrite E1. change (Z.to_nat 1) with 1. cbn [iter]. unfold step at 1. apply den_ext. intros w. unfold upd.
    destruct (Nat.eqb_spec x w) as [<-|Hw].
    + rewrite ?Hax.
      intros cs2 is2. unfold element.
      assert (Q : (z n - 1)%Z = Z.of_nat (Z.to_nat (z n / 2) * 2 + 0)).
      { assert (K := Z.div_mod (z n) 2 ltac:(lia)). assert (0 <= z n / 2)%Z by (apply Z.div_pos; lia). lia. }
      rewrite Q. apply (den_upd z a (den h g) e g Hm).
    + destruct (Nat.eqb a w); auto.
  - replace (z n mod 2)%Z with 0%Z by lia. change (Z.to_nat 0) with 0. cbn [iter]. apply Hh.
Qed.

Lemma rule1_ok e g : veq (den (rule1 ls base e) g) (den e g).
Proof.
  destruct e as [x|a1|s|o es|e1 e2 e3|e1 e2|e|e|x e1 e2|x e1 e|n sh how x a f i e|n sh x a1 e1 e2 e3|n sh twice a f i|x e|v e|l n e1 e2|n e1 e2|e1 e2|x e1 e2|e1 e2|n sh e1 e2 e3];
    try apply vrefl.
  - destruct how as [|q m|q m zero|q m zero|how| |q m]; [apply vrefl|cbn [rule1]|cbn [rule1]|cbn [rule1]| | |apply vrefl].
    + destruct (fits base n q m) eqn:E; [|apply vrefl]. apply fits_ok in E as (Hq & Hm & Hn). apply rest_ok.
      * change (0 <= z q * z m <= z n)%Z. nia.
      * apply vrefl.
    + destruct (sum_of x a f) as [[o first]|] eqn:Es; [|apply vrefl].
      match goal with |- veq (den (if ?b then _ else _) _) _ => destruct b eqn:E; [|apply vrefl] end.
      apply andb_prop in E as [E Em]. apply fits_ok in E as (Hq & Hm & Hn). destruct (monoid_ok o zero Em) as (C & A & U). apply rest_ok.
      * change (0 <= z q * z m <= z n)%Z. nia.
      * change (z (times q m)) with (z q * z m)%Z. rewrite Z2Nat.inj_mul by auto.
        apply partial_ok with (n := fun k j => (k * z m + j)%Z); auto.
        intros H. rewrite big_blocks by auto. apply big_ext. intros k Hk. apply big_ext. intros j Hj. f_equal. nia.
    + destruct (sum_of x a f) as [[o first]|] eqn:Es; [|apply vrefl].
      match goal with |- veq (den (if ?b then _ else _) _) _ => destruct b eqn:E; [|apply vrefl] end.
      apply andb_prop in E as [E Em]. apply fits_ok in E as (Hq & Hm & Hn). destruct (monoid_ok o zero Em) as (C & A & U). apply rest_ok.
      * change (0 <= z q * z m <= z n)%Z. nia.
      * change (z (times q m)) with (z q * z m)%Z. rewrite Z2Nat.inj_mul, Nat.mul_comm by auto.
        apply partial_ok with (n := fun k j => (j * z m + k)%Z); auto.
        intros H. rewrite big_exchange by auto. rewrite Nat.mul_comm, big_blocks by auto.
        apply big_ext. intros k Hk. apply big_ext. intros j Hj. f_equal. nia.
    + apply vrefl.
    + cbn [rule1]. match goal with |- veq (den (if ?b then _ else _) _) _ => destruct b eqn:E; [|apply vrefl] end.
      apply andb_prop in E as [E E3]. apply andb_prop in E as [E1 E2]. apply negb_true_iff in E2, E3. apply Nat.eqb_neq in E2. apply at_least in E1.
      apply turns_ok; auto.
  - destruct twice; [|apply vrefl]. cbn [rule1]. destruct (pr base (poly_of base n)) eqn:E; [|apply vrefl]. apply at_least in E.
    cbv zeta. intros cs is.
    set (h := EIterate (Op Idiv [n; Int 2]) sh false a (ELet a f f) i).
    set (F := fun (k : nat) (acc : value) => den f (upd g a acc)).
    assert (Hh : veq (den h g) (iter (Z.to_nat (z n / 2) * 2) F (den i g))).
    { unfold h. cbn [Semantics.den]. change (z (Op Idiv [n; Int 2])) with (z n / 2)%Z. rewrite iter_mul. apply veq_iter; auto.
      intros k v v' Hv. cbn [iter]. unfold F. intros cs' is'. apply den_ext. intros w. unfold upd.
      destruct (Nat.eqb a w); auto. apply den_ext. intros w'. destruct (Nat.eqb a w'); auto. }
    assert (D : Z.to_nat (z n) = Z.to_nat (z n / 2) * 2 + Z.to_nat (z n mod 2)).
    { assert (K := Z.div_mod (z n) 2 ltac:(lia)). assert (M := Z.mod_pos_bound (z n) 2 ltac:(lia)). assert (0 <= z n / 2)%Z by (apply Z.div_pos; lia). lia. }
    change (den (EIterate n sh true a f i) g) with (iter (Z.to_nat (z n)) F (den i g)). rewrite D, iter_add.
    change (den (ESelect (EOp Ieq [ESize (Op Imod [n; Int 2]); ESize (Int 1)]) (ELet a h f) h) g cs is)
      with (if (z n mod 2 =? 1)%Z then den f (upd g a (den h g)) cs is else den h g cs is).
    assert (M := Z.mod_pos_bound (z n) 2 ltac:(lia)).
    destruct (Z.eqb_spec (z n mod 2) 1) as [E1|E1].
    + rewrite E1. cbn [Z.to_nat Pos.to_nat Pos.iter_op iter]. unfold F at 1. apply den_ext. apply upd_same. exact Hh.
    + replace (z n mod 2)%Z with 0%Z by lia. cbn [Z.to_nat iter]. apply Hh.
Qed.
Lemma rule_ok e g : veq (den (rule ls base e) g) (den e g).
Proof.
  destruct e as [x|a1|s|o es|e1 e2 e3|e1 e2|e|e|x e1 e2|x e1 e|n sh how x a f i e|n sh x a1 e1 e2 e3|n sh twice a f i|x e|v e|l n e1 e2|n e1 e2|e1 e2|x e1 e2|e1 e2|n sh e1 e2 e3];
    try apply rule1_ok.
  destruct how; try apply rule1_ok. destruct e as [| | | | | | | | |y e1 e2| | | | | | | | | | | ]; try apply rule1_ok.
  destruct e1 as [| | | | | | | | | |m sh' how' x' a' f' i' rows| | | | | | | | | | ]; try apply rule1_ok. destruct i' as [| |zero| | | | | | | | | | | | | | | | | | ]; try apply rule1_ok.
  cbn [rule]. destruct (sum_of x a f) as [[o first]|] eqn:Es; [|apply vrefl]. destruct (sum_of x' a' f') as [[o' first']|] eqn:Es'; [|apply vrefl].
  match goal with |- veq (den (if ?b then _ else _) _) _ => destruct b eqn:E; [|apply vrefl] end.
  apply andb_prop in E as [E E6]. apply andb_prop in E as [E E5]. apply andb_prop in E as [E E4]. apply andb_prop in E as [E E3]. apply andb_prop in E as [E1 E2].
  apply String.eqb_eq in E2. subst o'. apply negb_true_iff in E4. apply at_least in E5, E6.
  intros cs is. rewrite (rule1_ok _ g cs is).
  rewrite (joined_ok sh how sh' how' x a f o first n y m x' a' f' first' zero rows i e2 g Es E1 Es' E3 E4 E5 E6 cs is). reflexivity.
Qed.
Theorem regroup_ok e g : veq (den (regroup ls base e) g) (den e g).
Proof. apply walk_ok; [apply rule_ok|auto]. Qed.
End Sound.
