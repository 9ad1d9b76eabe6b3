(* Polynomials with integer coefficients over atoms, which are terms: the normal form of subscripts and sizes.
   Only soundness is proved: that a polynomial has the value of the term it was made of. Order is a convenience. *)
From Coq Require Import ZArith List String Bool Lia.
From Lozenge Require Import Syntax Lazy.
Import ListNotations.
Local Open Scope Z_scope.

(* ---------- equality and order of terms ---------- *)
Section TermInd.
Variable P : tm -> Prop.
Hypothesis Hvar : forall x, P (Var x).
Hypothesis Hint : forall z, P (Int z).
Hypothesis Hlit : forall s, P (Lit s).
Hypothesis Hop : forall o ts, Forall P ts -> P (Op o ts).
Hypothesis Hin : forall a cs is, Forall P is -> P (In a cs is).
Hypothesis Hacc : forall l k is, Forall P is -> P (Acc l k is).
Hypothesis Hfold : forall l n accs k is, P n -> Forall (fun p => P (fst p) /\ P (snd p)) accs -> Forall P is -> P (Fold l n accs k is).
Fixpoint tm_ind' (t : tm) : P t :=
  let fix all ts : Forall P ts := match ts with [] => Forall_nil _ | t :: ts => Forall_cons _ (tm_ind' t) (all ts) end in
  let fix pairs ps : Forall (fun p => P (fst p) /\ P (snd p)) ps :=
    match ps with [] => Forall_nil _ | p :: ps => Forall_cons _ (conj (tm_ind' (fst p)) (tm_ind' (snd p))) (pairs ps) end in
  match t with
  | Var x => Hvar x | Int z => Hint z | Lit s => Hlit s
  | Op o ts => Hop o ts (all ts) | In a cs is => Hin a cs is (all is) | Acc l k is => Hacc l k is (all is)
  | Fold l n accs k is => Hfold l n accs k is (tm_ind' n) (pairs accs) (all is)
  end.
End TermInd.

Definition op_dec : forall a b : op, {a = b} + {a <> b}.
Proof. decide equality. apply string_dec. Defined.

Section Lists.
Context {A : Type} (eqb : A -> A -> bool).
Fixpoint list_eqb (a b : list A) : bool :=
  match a, b with [], [] => true | x :: a, y :: b => eqb x y && list_eqb a b | _, _ => false end.
Lemma list_eqb_ok a : Forall (fun x => forall y, eqb x y = true -> x = y) a -> forall b, list_eqb a b = true -> a = b.
Proof.
  induction 1 as [|x a Hx _ IH]; destruct b; cbn; try easy. intros E. apply andb_prop in E as [E1 E2].
  f_equal; auto.
Qed.
End Lists.

Fixpoint tm_eqb (a b : tm) {struct a} : bool :=
  match a, b with
  | Var x, Var y => Nat.eqb x y
  | Int x, Int y => x =? y
  | Lit x, Lit y => String.eqb x y
  | Op o ts, Op o' ts' => (if op_dec o o' then true else false) && list_eqb tm_eqb ts ts'
  | In x cs is, In x' cs' is' => Nat.eqb x x' && list_eqb Bool.eqb cs cs' && list_eqb tm_eqb is is'
  | Acc l k is, Acc l' k' is' => Nat.eqb l l' && Nat.eqb k k' && list_eqb tm_eqb is is'
  | Fold l n accs k is, Fold l' n' accs' k' is' =>
      Nat.eqb l l' && tm_eqb n n' && list_eqb (fun p q => tm_eqb (fst p) (fst q) && tm_eqb (snd p) (snd q)) accs accs'
      && Nat.eqb k k' && list_eqb tm_eqb is is'
  | _, _ => false
  end.

Lemma tm_eqb_ok : forall a b, tm_eqb a b = true -> a = b.
Proof.
  assert (B : forall l l', list_eqb Bool.eqb l l' = true -> l = l').
  { intros l. apply list_eqb_ok. induction l; constructor; auto. intros y. apply eqb_prop. }
  intros a. pattern a. apply tm_ind'; intros; destruct b; cbn in *; try discriminate;
    repeat match goal with H : _ && _ = true |- _ => apply andb_prop in H as [? ?] end;
    repeat match goal with
    | H : Nat.eqb _ _ = true |- _ => apply Nat.eqb_eq in H
    | H : Z.eqb _ _ = true |- _ => apply Z.eqb_eq in H
    | H : String.eqb _ _ = true |- _ => apply String.eqb_eq in H
    | H : (if op_dec ?a ?b then _ else _) = true |- _ => destruct (op_dec a b); [|discriminate]
    | H : list_eqb Bool.eqb _ _ = true |- _ => apply B in H
    | H : list_eqb tm_eqb _ _ = true, K : Forall _ _ |- _ => apply (list_eqb_ok _ _ K) in H
    end; subst; auto.
  f_equal; auto.
  match goal with H : list_eqb _ accs _ = true |- _ => revert H end. apply list_eqb_ok.
  eapply Forall_impl; [|eassumption]. intros [x y] [Hx Hy] [x' y'] E. cbn in *. apply andb_prop in E as [? ?]. f_equal; auto.
Qed.

(* An order, for canonical forms; nothing is proved of it. *)
Definition lex (a b : comparison) : comparison := match a with Eq => b | _ => a end.
Section Order.
Context {A : Type} (cmp : A -> A -> comparison).
Fixpoint list_cmp (a b : list A) : comparison :=
  match a, b with
  | [], [] => Eq | [], _ => Lt | _, [] => Gt
  | x :: a, y :: b => lex (cmp x y) (list_cmp a b)
  end.
End Order.
Definition op_tag (o : op) : nat := match o with
  | Iadd => 0 | Isub => 1 | Imul => 2 | Idiv => 3 | Imod => 4 | Imin => 5 | Imax => 6 | Ieq => 7 | Ine => 8 | Ilt => 9 | Ile => 10
  | And => 11 | Or => 12 | Not => 13 | Select => 14 | Scalar _ => 15 | Iwrap => 16 | Wadd => 17 | Wsub => 18 | Wmul => 19 | Wdiv => 20 end%nat.
Definition tag (t : tm) : nat := match t with
  | Var _ => 0 | Int _ => 1 | Lit _ => 2 | Op _ _ => 3 | In _ _ _ => 4 | Acc _ _ _ => 5 | Fold _ _ _ _ _ => 6 end%nat.
Definition bool_cmp (a b : bool) : comparison := match a, b with false, true => Lt | true, false => Gt | _, _ => Eq end.
Fixpoint tm_cmp (a b : tm) {struct a} : comparison :=
  match a, b with
  | Var x, Var y => Nat.compare x y
  | Int x, Int y => Z.compare x y
  | Op o ts, Op o' ts' => lex (Nat.compare (op_tag o) (op_tag o')) (list_cmp tm_cmp ts ts')
  | In x cs is, In x' cs' is' => lex (Nat.compare x x') (lex (list_cmp bool_cmp cs cs') (list_cmp tm_cmp is is'))
  | Acc l k is, Acc l' k' is' => lex (Nat.compare l l') (lex (Nat.compare k k') (list_cmp tm_cmp is is'))
  | Fold l _ _ k is, Fold l' _ _ k' is' => lex (Nat.compare l l') (lex (Nat.compare k k') (list_cmp tm_cmp is is'))
  | _, _ => Nat.compare (tag a) (tag b)
  end.

(* ---------- polynomials ---------- *)
Definition mono := list tm.
Definition poly := list (mono * Z).

Fixpoint minsert (a : tm) (m : mono) : mono :=
  match m with [] => [a] | b :: m' => match tm_cmp a b with Gt => b :: minsert a m' | _ => a :: m end end.
Definition mmul (m n : mono) : mono := fold_right minsert n m.
(* Larger monomials first. *)
Definition mono_cmp (m n : mono) : comparison := lex (Nat.compare (List.length n) (List.length m)) (list_cmp tm_cmp m n).
Fixpoint padd1 (m : mono) (c : Z) (p : poly) : poly :=
  match p with
  | [] => if c =? 0 then [] else [(m, c)]
  | (m', c') :: p' => match mono_cmp m m' with
    | Lt => if c =? 0 then p else (m, c) :: p
    | Gt => (m', c') :: padd1 m c p'
    | Eq => if list_eqb tm_eqb m m' then if c + c' =? 0 then p' else (m, c + c') :: p' else (m, c) :: p
    end
  end.
Definition padd (p q : poly) : poly := fold_right (fun mc => padd1 (fst mc) (snd mc)) q p.
Definition pscale (c : Z) (p : poly) : poly := if c =? 0 then [] else map (fun mc => (fst mc, c * snd mc)) p.
Definition pmul1 (m : mono) (c : Z) (p : poly) : poly :=
  fold_right (fun mc => padd1 (mmul m (fst mc)) (c * snd mc)) [] p.
Definition pmul (p q : poly) : poly := fold_right (fun mc => padd (pmul1 (fst mc) (snd mc) q)) [] p.
Definition psub (p q : poly) : poly := padd (pscale (-1) q) p.
Definition pconst (z : Z) : poly := if z =? 0 then [] else [([], z)].
Definition patom (t : tm) : poly := [([t], 1)].

Section Value.
Variable v : tm -> Z.
Definition mval (m : mono) : Z := fold_right (fun t z => v t * z) 1 m.
Definition pval (p : poly) : Z := fold_right (fun mc z => snd mc * mval (fst mc) + z) 0 p.

Lemma mval_cons a m : mval (a :: m) = v a * mval m. Proof. reflexivity. Qed.
Lemma pval_cons m c p : pval ((m, c) :: p) = c * mval m + pval p. Proof. reflexivity. Qed.
Lemma minsert_ok a m : mval (minsert a m) = v a * mval m.
Proof. induction m as [|b m IH]; [reflexivity|]. cbn [minsert]. destruct (tm_cmp a b); auto. rewrite !mval_cons, IH. ring. Qed.
Lemma mmul_ok m n : mval (mmul m n) = mval m * mval n.
Proof.
  induction m as [|a m IH].
  - change (mval n = 1 * mval n). ring.
  - change (mval (minsert a (mmul m n)) = mval (a :: m) * mval n). rewrite minsert_ok, IH, mval_cons. ring.
Qed.
Lemma meqb_ok m n : list_eqb tm_eqb m n = true -> m = n.
Proof. apply list_eqb_ok. induction m; constructor; auto. apply tm_eqb_ok. Qed.
Lemma padd1_ok m c p : pval (padd1 m c p) = c * mval m + pval p.
Proof.
  induction p as [|[m' c'] p IH]; cbn [padd1].
  - destruct (Z.eqb_spec c 0); rewrite ?pval_cons; subst; cbn [pval fold_right]; ring.
  - destruct (mono_cmp m m').
    + destruct (list_eqb tm_eqb m m') eqn:E.
      * apply meqb_ok in E. subst. destruct (Z.eqb_spec (c + c') 0) as [E|E]; rewrite !pval_cons; [|ring].
        replace c with (- c') by lia. ring.
      * rewrite !pval_cons. ring.
    + destruct (Z.eqb_spec c 0); rewrite !pval_cons; subst; ring.
    + rewrite !pval_cons, IH. ring.
Qed.
Lemma padd_ok p q : pval (padd p q) = pval p + pval q.
Proof.
  induction p as [|[m c] p IH]; [reflexivity|].
  change (pval (padd1 m c (padd p q)) = pval ((m, c) :: p) + pval q). rewrite padd1_ok, IH, pval_cons. ring.
Qed.
Lemma pscale_ok c p : pval (pscale c p) = c * pval p.
Proof.
  unfold pscale. destruct (Z.eqb_spec c 0); [subst; cbn; ring|].
  induction p as [|[m d] p IH]; [cbn; ring|]. cbn [map fst snd]. rewrite !pval_cons, IH. ring.
Qed.
Lemma pmul1_ok m c p : pval (pmul1 m c p) = c * mval m * pval p.
Proof.
  induction p as [|[m' d] p IH]; [cbn; ring|].
  change (pval (padd1 (mmul m m') (c * d) (pmul1 m c p)) = c * mval m * pval ((m', d) :: p)).
  rewrite padd1_ok, IH, mmul_ok, pval_cons. ring.
Qed.
Lemma pmul_ok p q : pval (pmul p q) = pval p * pval q.
Proof.
  induction p as [|[m c] p IH]; [reflexivity|].
  change (pval (padd (pmul1 m c q) (pmul p q)) = pval ((m, c) :: p) * pval q). rewrite padd_ok, IH, pmul1_ok, pval_cons. ring.
Qed.
Lemma psub_ok p q : pval (psub p q) = pval p - pval q.
Proof. unfold psub. rewrite padd_ok, pscale_ok. ring. Qed.
Lemma pconst_ok z : pval (pconst z) = z.
Proof. unfold pconst. destruct (Z.eqb_spec z 0); cbn; lia. Qed.
Lemma patom_ok t : pval (patom t) = v t.
Proof. unfold patom. rewrite pval_cons, mval_cons. cbn [mval pval fold_right]. ring. Qed.
End Value.

(* ---------- back to terms ---------- *)
Definition of_mono (m : mono) : tm := match m with [] => Int 1 | a :: m => fold_left (fun t a => Op Imul [t; a]) m a end.
Definition of_term (mc : mono * Z) : tm :=
  match fst mc with [] => Int (snd mc) | m => if snd mc =? 1 then of_mono m else Op Imul [Int (snd mc); of_mono m] end.
Fixpoint of_poly (p : poly) : tm :=
  match p with [] => Int 0 | [mc] => of_term mc | mc :: p => Op Iadd [of_term mc; of_poly p] end.
(* Sums, differences and products of a term; all else is an atom. *)
Fixpoint unpoly (t : tm) : poly :=
  match t with
  | Int z => pconst z
  | Op Iadd [a; b] => padd (unpoly a) (unpoly b)
  | Op Isub [a; b] => psub (unpoly a) (unpoly b)
  | Op Imul [a; b] => pmul (unpoly a) (unpoly b)
  | _ => patom t
  end.
