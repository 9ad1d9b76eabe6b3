(* Integer terms: normal forms of subscripts, decisions of comparisons. All of it is sound for every value of the variables for which the
   facts hold; none of it is complete. *)
From Coq Require Import ZArith List String Bool Lia.
From Lozenge Require Import Syntax Semantics Poly Lazy.
From Lozenge Require Export Inequalities.
Import ListNotations.
Local Open Scope Z_scope.

Definition pdiv (F : facts) (a b : poly) : poly :=
  match b with
  | [] => []
  | (mb, cb) :: _ =>
    let q := fold_right (fun mc q => match mdiv (fst mc) mb with
      | Some m => if (snd mc mod cb =? 0) || match a, b with [([], _)], [([], _)] => true | _, _ => false end then padd1 m (snd mc / cb) q else q
      | None => q end) [] a in
    let r := psub a (pmul q b) in
    if pr F r && pr F (psub (psub b (pconst 1)) r) then q
    else if pr F (psub b (pconst 1)) then padd q (patom (Op Idiv [of_poly r; of_poly b]))
    else patom (Op Idiv [of_poly a; of_poly b])
  end.

(* Whether a number of 64 bits surely holds it. Of data nothing is known, but of elements of arrays of indices. *)
Definition exact (t : tm) : bool := match t with In _ _ _ | Acc _ _ _ | Fold _ _ _ _ _ => false | Op (Scalar _) _ | Op Select _ => false | _ => true end.
Definition fits (F : facts) (p : poly) : bool :=
  match p with
  | [] => true
  | [([], c)] => (- 2 ^ 63 <=? c) && (c <? 2 ^ 63)
  | _ => forallb (fun mc => forallb (fun a => exact a || existsb (is_atom a) F) (fst mc)) p && pr F (padd p (pconst (2 ^ 63))) && pr F (psub (pconst (2 ^ 63 - 1)) p)
  end.
Definition pwrap (F : facts) (p : poly) : poly :=
  if fits F p then p else match p with [([], c)] => pconst (wrap c) | _ => patom (Op Iwrap [of_poly p]) end.

Fixpoint poly_of (F : facts) (t : tm) : poly :=
  match t with
  | Int z => pconst z
  | Op Iadd [a; b] => padd (poly_of F a) (poly_of F b)
  | Op Isub [a; b] => psub (poly_of F a) (poly_of F b)
  | Op Imul [a; b] => pmul (poly_of F a) (poly_of F b)
  | Op Idiv [a; b] => pdiv F (poly_of F a) (poly_of F b)
  | Op Imod [a; b] => let p := poly_of F a in let q := poly_of F b in psub p (pmul q (pdiv F p q))
  | Op Imin [a; b] => let p := poly_of F a in let q := poly_of F b in
      if pr F (psub q p) then p else if pr F (psub p q) then q else patom (Op Imin [of_poly p; of_poly q])
  | Op Imax [a; b] => let p := poly_of F a in let q := poly_of F b in
      if pr F (psub q p) then q else if pr F (psub p q) then p else patom (Op Imax [of_poly p; of_poly q])
  | Op Iwrap [a] => pwrap F (poly_of F a)
  | Op Wadd [a; b] => pwrap F (padd (poly_of F a) (poly_of F b))
  | Op Wsub [a; b] => pwrap F (psub (poly_of F a) (poly_of F b))
  | Op Wmul [a; b] => pwrap F (pmul (poly_of F a) (poly_of F b))
  | Op Wdiv [a; b] => pwrap F (pdiv F (poly_of F a) (poly_of F b))
  | _ => patom t
  end.

(* An operation on integers in normal form. *)
Definition poly1 (F : facts) (o : op) (p q : poly) : poly :=
  match o with
  | Iadd => padd p q
  | Isub => psub p q
  | Imul => pmul p q
  | Idiv => pdiv F p q
  | Imod => psub p (pmul q (pdiv F p q))
  | Imin => if pr F (psub q p) then p else if pr F (psub p q) then q else patom (Op Imin [of_poly p; of_poly q])
  | Imax => if pr F (psub q p) then q else if pr F (psub p q) then p else patom (Op Imax [of_poly p; of_poly q])
  | Wadd => pwrap F (padd p q)
  | Wsub => pwrap F (psub p q)
  | Wmul => pwrap F (pmul p q)
  | Wdiv => pwrap F (pdiv F p q)
  | _ => patom (Op o [of_poly p; of_poly q])
  end.

(* A subscript in normal form. *)
Definition nf (F : facts) (t : tm) : tm := of_poly (poly_of F t).
(* The same where the value counts, not only its integer: what is surely an integer stays one. *)
Definition integer (t : tm) : bool := match t with
  | Var _ | Int _ => true
  | Op o _ => match o with Iadd | Isub | Imul | Idiv | Imod | Imin | Imax | Iwrap | Wadd | Wsub | Wmul | Wdiv => true | _ => false end
  | _ => false end.
Definition whole (t : tm) : tm := if integer t then t else Op Iadd [t; Int 0].
Definition nfz (F : facts) (t : tm) : tm := whole (nf F t).
(* An operation on terms in normal form, in normal form. *)
Definition mk (F : facts) (o : op) (ts : list tm) : tm :=
  match o, ts with
  | Iwrap, [a] => whole (of_poly (pwrap F (unpoly a)))
  | (Iadd | Isub | Imul | Idiv | Imod | Imin | Imax | Wadd | Wsub | Wmul | Wdiv), [a; b] => whole (of_poly (poly1 F o (unpoly a) (unpoly b)))
  | Ile, [a; b] => Op Ile [Int 0; of_poly (psub (poly_of F b) (poly_of F a))]
  | Ilt, [a; b] => Op Ile [Int 0; of_poly (psub (psub (poly_of F b) (poly_of F a)) (pconst 1))]
  | (Ieq | Ine), [a; b] =>
      let p := psub (poly_of F a) (poly_of F b) in
      Op o [Int 0; of_poly (match p with (_, Zneg _) :: _ => pscale (-1) p | _ => p end)]
  | _, _ => Op o ts
  end.

Fixpoint decide (F : facts) (c : tm) : option bool :=
  match c with
  | Op Ile [a; b] =>
      let p := psub (poly_of F b) (poly_of F a) in
      if pr F p then Some true else if pr F (psub (pconst (-1)) p) then Some false else None
  | Op Ilt [a; b] =>
      let p := psub (poly_of F b) (poly_of F a) in
      if pr F (psub p (pconst 1)) then Some true else if pr F (pscale (-1) p) then Some false else None
  | Op Ieq [a; b] =>
      let p := psub (poly_of F b) (poly_of F a) in
      if pzero p then Some true
      else if pr F (psub p (pconst 1)) || pr F (psub (pconst (-1)) p) then Some false else None
  | Op And [a; b] => match decide F a, decide F b with
      | Some false, _ | _, Some false => Some false | Some true, Some true => Some true | _, _ => None end
  | _ => None
  end.

(* What a condition says where it holds (or fails); [P] makes polynomials of terms. *)
Fixpoint when (P : tm -> poly) (c : tm) (b : bool) : facts :=
  match c with
  | Op Ile [x; y] => both_ways (if b then psub (P y) (P x) else psub (psub (P x) (P y)) (pconst 1))
  | Op Ilt [x; y] => both_ways (if b then psub (psub (P y) (P x)) (pconst 1) else psub (P x) (P y))
  | Op Ieq [x; y] => if b then [psub (P x) (P y); psub (P y) (P x)] else []
  | Op Ine [x; y] => if b then [] else [psub (P x) (P y); psub (P y) (P x)]
  | Op And [x; y] => if b then when P x true ++ when P y true else []
  | Op Or [x; y] => if b then [] else when P x false ++ when P y false
  | Op Not [x] => when P x (negb b)
  | _ => []
  end.


Local Opaque pr poly_of pdiv.
Section Sound.
Variable scalar : Type.
Variable lit : string -> val scalar.
Variable prim : string -> list (val scalar) -> val scalar.
Notation eval := (eval scalar lit prim).
Variable st : store scalar.
Variable r : nat -> Z.
Variable al : aenv scalar.
Notation zv := (Inequalities.zv scalar lit prim st r al).
Notation pv := (pval zv).
Notation holds := (Inequalities.holds scalar lit prim st r al).
Notation pr_ok := (Inequalities.pr_ok scalar lit prim st r al).
Notation peqb_ok := (Inequalities.peqb_ok scalar lit prim st r al).
Notation unpoly_ok := (Inequalities.unpoly_ok scalar lit prim st r al).
Notation of_poly_ok := (Inequalities.of_poly_ok scalar lit prim st r al).

Lemma pdiv_ok F a b : holds F -> pv (pdiv F a b) = pv a / pv b.
Proof.
  intros HF. Local Transparent pdiv. unfold pdiv. destruct b as [|[mb cb] b']. { cbn [pval fold_right]. now rewrite Zdiv_0_r. }
  set (b := (mb, cb) :: b'). cbv zeta. match goal with |- context [pmul ?x b] => set (q := x) end. clearbody q b.
  assert (R := psub_ok zv a (pmul q b)). rewrite pmul_ok in R. set (rr := psub a (pmul q b)) in *. clearbody rr.
  destruct (pr F rr && pr F (psub (psub b (pconst 1)) rr)) eqn:E.
  - apply andb_prop in E as [E1 E2]. apply pr_ok in E1, E2; auto. rewrite !psub_ok, pconst_ok in E2.
    symmetry. replace (pv a) with (pv q * pv b + pv rr) by lia. rewrite Z.div_add_l by lia. rewrite Z.div_small; lia.
  - destruct (pr F (psub b (pconst 1))) eqn:E1.
    + apply pr_ok in E1; auto. rewrite psub_ok, pconst_ok in E1. rewrite padd_ok, patom_ok.
      change (zv (Op Idiv [of_poly rr; of_poly b])) with (zv (of_poly rr) / zv (of_poly b)). rewrite !of_poly_ok.
      replace (pv a) with (pv q * pv b + pv rr) by lia. rewrite Z.div_add_l; lia.
    + rewrite patom_ok. change (zv (Op Idiv [of_poly a; of_poly b])) with (zv (of_poly a) / zv (of_poly b)). now rewrite !of_poly_ok.
Qed.

Lemma wrap_id z : - 2 ^ 63 <= z < 2 ^ 63 -> wrap z = z.
Proof. intros H. unfold wrap. rewrite Z.mod_small; lia. Qed.
Lemma fits_ok F p : holds F -> fits F p = true -> - 2 ^ 63 <= pv p < 2 ^ 63.
Proof.
  intros HF E. unfold fits in E. destruct p as [|[m c] p]. { cbn. lia. }
  assert (G : forall q, forallb (fun mc => forallb (fun a => exact a || existsb (is_atom a) F) (fst mc)) q && pr F (padd q (pconst (2 ^ 63))) && pr F (psub (pconst (2 ^ 63 - 1)) q) = true -> - 2 ^ 63 <= pv q < 2 ^ 63).
  { intros q K. apply andb_prop in K as [K K2]. apply andb_prop in K as [_ K1]. apply pr_ok in K1, K2; auto. rewrite padd_ok, pconst_ok in K1. rewrite psub_ok, pconst_ok in K2. lia. }
  destruct m as [|a m]; [destruct p as [|mc p]|]; try (apply G; exact E).
  apply andb_prop in E as [E1 E2]. apply Z.leb_le in E1. apply Z.ltb_lt in E2. rewrite pval_cons. cbn [mval pval fold_right]. lia.
Qed.
Lemma pwrap_ok F p : holds F -> pv (pwrap F p) = wrap (pv p).
Proof.
  intros HF. unfold pwrap. destruct (fits F p) eqn:E. { symmetry. apply wrap_id. now apply (fits_ok F). }
  assert (G : pv (patom (Op Iwrap [of_poly p])) = wrap (pv p)).
  { rewrite patom_ok. change (wrap (zv (of_poly p)) = wrap (pv p)). now rewrite of_poly_ok. }
  destruct p as [|[[|a m] c] [|? ?]]; try exact G. rewrite pconst_ok, pval_cons. cbn [mval pval fold_right]. f_equal. lia.
Qed.
Local Opaque pwrap.

Local Transparent poly_of. Local Opaque pdiv.
Lemma poly_of_ok F : holds F -> forall t, pv (poly_of F t) = zv t.
Proof.
  intros HF. apply tm_ind'; intros; try (apply patom_ok). { apply pconst_ok. }
  destruct o; try apply patom_ok;
    (destruct ts as [|a [|b [|? ?]]]; try apply patom_ok; inversion_clear H as [|? ? Ha Hb]; inversion_clear Hb as [|? ? Hb' _]);
    cbn [poly_of]; cbv zeta.
  - rewrite padd_ok, Ha, Hb'. reflexivity.
  - rewrite psub_ok, Ha, Hb'. reflexivity.
  - rewrite pmul_ok, Ha, Hb'. reflexivity.
  - rewrite pdiv_ok by auto. rewrite Ha, Hb'. reflexivity.
  - rewrite psub_ok, pmul_ok, pdiv_ok by auto. rewrite Ha, Hb'. change (zv (Op Imod [a; b])) with (zv a mod zv b).
    destruct (Z.eq_dec (zv b) 0) as [->|]. { rewrite Zmod_0_r. lia. } rewrite Z.mod_eq; auto.
  - change (zv (Op Imin [a; b])) with (Z.min (zv a) (zv b)).
    destruct (pr F (psub _ _)) eqn:E1; [|destruct (pr F (psub (poly_of F a) _)) eqn:E2].
    + apply pr_ok in E1; auto. rewrite psub_ok in E1. lia.
    + apply pr_ok in E2; auto. rewrite psub_ok in E2. lia.
    + rewrite patom_ok. change (Z.min (zv (of_poly (poly_of F a))) (zv (of_poly (poly_of F b))) = Z.min (zv a) (zv b)). rewrite !of_poly_ok. lia.
  - change (zv (Op Imax [a; b])) with (Z.max (zv a) (zv b)).
    destruct (pr F (psub _ _)) eqn:E1; [|destruct (pr F (psub (poly_of F a) _)) eqn:E2].
    + apply pr_ok in E1; auto. rewrite psub_ok in E1. lia.
    + apply pr_ok in E2; auto. rewrite psub_ok in E2. lia.
    + rewrite patom_ok. change (Z.max (zv (of_poly (poly_of F a))) (zv (of_poly (poly_of F b))) = Z.max (zv a) (zv b)). rewrite !of_poly_ok. lia.
  - rewrite pwrap_ok by auto. rewrite Ha. reflexivity.
  - rewrite pwrap_ok by auto. rewrite padd_ok, Ha, Hb'. reflexivity.
  - rewrite pwrap_ok by auto. rewrite psub_ok, Ha, Hb'. reflexivity.
  - rewrite pwrap_ok by auto. rewrite pmul_ok, Ha, Hb'. reflexivity.
  - rewrite pwrap_ok, pdiv_ok by auto. rewrite Ha, Hb'. reflexivity.
Qed.

Local Opaque poly_of.
Lemma nf_ok F t : holds F -> zv (nf F t) = zv t.
Proof. intros HF. unfold nf. now rewrite of_poly_ok, poly_of_ok. Qed.

Lemma integer_ok t : integer t = true -> eval st t r al = VZ (zv t).
Proof. destruct t; try discriminate; try reflexivity. destruct o; try discriminate; reflexivity. Qed.
Lemma whole_ok t : eval st (whole t) r al = VZ (zv t).
Proof.
  unfold whole. destruct (integer t) eqn:E. { now apply integer_ok. }
  change (VZ (zv t + 0) = @VZ scalar (zv t)). f_equal. lia.
Qed.
Lemma poly1_ok F o p q : holds F -> pv (poly1 F o p q) = zv (Op o [of_poly p; of_poly q]).
Proof.
  intros HF. destruct o; try apply patom_ok; cbn [poly1].
  - rewrite padd_ok. change (pv p + pv q = zv (of_poly p) + zv (of_poly q)). now rewrite !of_poly_ok.
  - rewrite psub_ok. change (pv p - pv q = zv (of_poly p) - zv (of_poly q)). now rewrite !of_poly_ok.
  - rewrite pmul_ok. change (pv p * pv q = zv (of_poly p) * zv (of_poly q)). now rewrite !of_poly_ok.
  - rewrite pdiv_ok by auto. change (pv p / pv q = zv (of_poly p) / zv (of_poly q)). now rewrite !of_poly_ok.
  - rewrite psub_ok, pmul_ok, pdiv_ok by auto. change (pv p - pv q * (pv p / pv q) = zv (of_poly p) mod zv (of_poly q)). rewrite !of_poly_ok.
    destruct (Z.eq_dec (pv q) 0) as [->|]. { rewrite Zmod_0_r. lia. } rewrite Z.mod_eq; auto.
  - change (zv (Op Imin [of_poly p; of_poly q])) with (Z.min (zv (of_poly p)) (zv (of_poly q))). rewrite !of_poly_ok.
    destruct (pr F (psub q p)) eqn:E1; [|destruct (pr F (psub p q)) eqn:E2].
    + apply pr_ok in E1; auto. rewrite psub_ok in E1. lia.
    + apply pr_ok in E2; auto. rewrite psub_ok in E2. lia.
    + rewrite patom_ok. change (Z.min (zv (of_poly p)) (zv (of_poly q)) = Z.min (pv p) (pv q)). now rewrite !of_poly_ok.
  - change (zv (Op Imax [of_poly p; of_poly q])) with (Z.max (zv (of_poly p)) (zv (of_poly q))). rewrite !of_poly_ok.
    destruct (pr F (psub q p)) eqn:E1; [|destruct (pr F (psub p q)) eqn:E2].
    + apply pr_ok in E1; auto. rewrite psub_ok in E1. lia.
    + apply pr_ok in E2; auto. rewrite psub_ok in E2. lia.
    + rewrite patom_ok. change (Z.max (zv (of_poly p)) (zv (of_poly q)) = Z.max (pv p) (pv q)). now rewrite !of_poly_ok.
  - rewrite pwrap_ok by auto. rewrite padd_ok. change (wrap (pv p + pv q) = wrap (zv (of_poly p) + zv (of_poly q))). now rewrite !of_poly_ok.
  - rewrite pwrap_ok by auto. rewrite psub_ok. change (wrap (pv p - pv q) = wrap (zv (of_poly p) - zv (of_poly q))). now rewrite !of_poly_ok.
  - rewrite pwrap_ok by auto. rewrite pmul_ok. change (wrap (pv p * pv q) = wrap (zv (of_poly p) * zv (of_poly q))). now rewrite !of_poly_ok.
  - rewrite pwrap_ok, pdiv_ok by auto. change (wrap (pv p / pv q) = wrap (zv (of_poly p) / zv (of_poly q))). now rewrite !of_poly_ok.
Qed.
Lemma nfz_ok F t : holds F -> integer t = true -> eval st (nfz F t) r al = eval st t r al.
Proof.
  intros HF Ht. unfold nfz. now rewrite whole_ok, nf_ok, (integer_ok t Ht).
Qed.
Lemma mk_ok F o ts : holds F -> eval st (mk F o ts) r al = eval st (Op o ts) r al.
Proof.
  intros HF. destruct (op_dec o Iwrap) as [->|Hw].
  { destruct ts as [|a [|? ?]]; try reflexivity. unfold mk. rewrite whole_ok, of_poly_ok, pwrap_ok by auto. rewrite unpoly_ok. reflexivity. }
  destruct o; try reflexivity; try (now elim Hw); clear Hw; (destruct ts as [|a [|b [|? ?]]]; try reflexivity);
    try (unfold mk; rewrite whole_ok, of_poly_ok, poly1_ok by auto;
      match goal with |- VZ (zv (Op ?o _)) = _ => change (eval st (Op o [a; b]) r al) with (apply scalar prim o [eval st a r al; eval st b r al]) end;
      unfold Inequalities.zv; cbn [Semantics.eval map apply nth toZ]; fold (zv (of_poly (unpoly a))) (zv (of_poly (unpoly b)));
      rewrite !of_poly_ok, !unpoly_ok; reflexivity).
  - unfold mk. set (p := psub (poly_of F a) (poly_of F b)). assert (P : pv p = zv a - zv b) by (unfold p; rewrite psub_ok, !poly_of_ok; auto).
    change (VB (0 =? zv (of_poly (match p with (_, Zneg _) :: _ => pscale (-1) p | _ => p end))) = @VB scalar (zv a =? zv b)). f_equal.
    rewrite of_poly_ok. assert (Q : pv (match p with (_, Zneg _) :: _ => pscale (-1) p | _ => p end) = pv p \/ pv (match p with (_, Zneg _) :: _ => pscale (-1) p | _ => p end) = - pv p).
    { destruct p as [|[m [| |]] p']; auto. right. rewrite pscale_ok. lia. }
    destruct (Z.eqb_spec (zv a) (zv b)); apply Z.eqb_eq || apply Z.eqb_neq; lia.
  - unfold mk. set (p := psub (poly_of F a) (poly_of F b)). assert (P : pv p = zv a - zv b) by (unfold p; rewrite psub_ok, !poly_of_ok; auto).
    change (VB (negb (0 =? zv (of_poly (match p with (_, Zneg _) :: _ => pscale (-1) p | _ => p end)))) = @VB scalar (negb (zv a =? zv b))). do 2 f_equal.
    rewrite of_poly_ok. assert (Q : pv (match p with (_, Zneg _) :: _ => pscale (-1) p | _ => p end) = pv p \/ pv (match p with (_, Zneg _) :: _ => pscale (-1) p | _ => p end) = - pv p).
    { destruct p as [|[m [| |]] p']; auto. right. rewrite pscale_ok. lia. }
    destruct (Z.eqb_spec (zv a) (zv b)); apply Z.eqb_eq || apply Z.eqb_neq; lia.
  - unfold mk. change (VB (0 <=? zv (of_poly (psub (psub (poly_of F b) (poly_of F a)) (pconst 1)))) = @VB scalar (zv a <? zv b)). f_equal.
    rewrite of_poly_ok, !psub_ok, pconst_ok, !poly_of_ok by auto. destruct (Z.ltb_spec (zv a) (zv b)); apply Z.leb_le || apply Z.leb_gt; lia.
  - unfold mk. change (VB (0 <=? zv (of_poly (psub (poly_of F b) (poly_of F a)))) = @VB scalar (zv a <=? zv b)). f_equal.
    rewrite of_poly_ok, !psub_ok, !poly_of_ok by auto. destruct (Z.leb_spec (zv a) (zv b)); apply Z.leb_le || apply Z.leb_gt; lia.
Qed.

Lemma decide_ok F : holds F -> forall c b, decide F c = Some b -> eval st c r al = VB b.
Proof.
  intros HF. apply (tm_ind' (fun c => forall b, decide F c = Some b -> eval st c r al = VB b)); intros; try discriminate.
  destruct o; try discriminate; (destruct ts as [|x [|y [|? ?]]]; try discriminate); cbn [decide] in *; cbv zeta in *.
  - change (VB (zv x =? zv y) = @VB scalar b). f_equal. set (p := psub (poly_of F y) (poly_of F x)) in *.
    assert (P : pv p = zv y - zv x) by (unfold p; rewrite psub_ok, !poly_of_ok; auto).
    destruct (pzero p) eqn:E0; [|destruct (pr F (psub p (pconst 1)) || pr F (psub (pconst (-1)) p)) eqn:E1; [|discriminate]]; injection H0 as <-.
    + destruct p; [|discriminate]. cbn in P. apply Z.eqb_eq. lia.
    + apply Z.eqb_neq. apply orb_prop in E1 as [E|E]; apply pr_ok in E; auto; rewrite psub_ok, pconst_ok in E; lia.
  - change (VB (zv x <? zv y) = @VB scalar b). f_equal. set (p := psub (poly_of F y) (poly_of F x)) in *.
    assert (P : pv p = zv y - zv x) by (unfold p; rewrite psub_ok, !poly_of_ok; auto).
    destruct (pr F _) eqn:E; [|destruct (pr F (pscale (-1) p)) eqn:E1; [|discriminate]]; injection H0 as <-.
    + apply pr_ok in E; auto. rewrite psub_ok, pconst_ok in E. apply Z.ltb_lt. lia.
    + apply pr_ok in E1; auto. rewrite pscale_ok in E1. apply Z.ltb_ge. lia.
  - change (VB (zv x <=? zv y) = @VB scalar b). f_equal. set (p := psub (poly_of F y) (poly_of F x)) in *.
    assert (P : pv p = zv y - zv x) by (unfold p; rewrite psub_ok, !poly_of_ok; auto).
    destruct (pr F _) eqn:E; [|destruct (pr F (psub (pconst (-1)) p)) eqn:E1; [|discriminate]]; injection H0 as <-.
    + apply pr_ok in E; auto. apply Z.leb_le. lia.
    + apply pr_ok in E1; auto. rewrite psub_ok, pconst_ok in E1. apply Z.leb_gt. lia.
  - inversion_clear H as [|? ? Hx Hy]; inversion_clear Hy as [|? ? Hy' _].
    change (VB (andb (truth _ (eval st x r al)) (truth _ (eval st y r al))) = @VB scalar b). f_equal.
    destruct (decide F x) as [[|]|] eqn:Ex; try rewrite (Hx _ eq_refl); destruct (decide F y) as [[|]|] eqn:Ey; try rewrite (Hy' _ eq_refl);
      try discriminate; injection H0 as <-; cbn; rewrite ?andb_false_r; auto.
Qed.
Local Opaque both_ways.
Lemma when_ok P : (forall t, pv (P t) = zv t) -> forall c b, truth _ (eval st c r al) = b -> holds (when P c b).
Proof.
  intros HP. apply (tm_ind' (fun c => forall b, truth _ (eval st c r al) = b -> holds (when P c b))); intros; try constructor.
  destruct o; try constructor; (destruct ts as [|x [|y [|? ?]]]; try constructor); cbn [when].
  - change ((zv x =? zv y)%Z = b) in H0. destruct (Z.eqb_spec (zv x) (zv y)); subst b; repeat (apply Forall_cons); try apply Forall_nil; rewrite psub_ok, !HP; lia.
  - change (negb (zv x =? zv y)%Z = b) in H0. destruct (Z.eqb_spec (zv x) (zv y)); subst b; repeat (apply Forall_cons); try apply Forall_nil; rewrite psub_ok, !HP; lia.
  - change ((zv x <? zv y)%Z = b) in H0. apply both_ways_ok. destruct (Z.ltb_spec (zv x) (zv y)); subst b;
      rewrite ?psub_ok, ?pconst_ok, !HP; lia.
  - change ((zv x <=? zv y)%Z = b) in H0. apply both_ways_ok. destruct (Z.leb_spec (zv x) (zv y)); subst b;
      rewrite ?psub_ok, ?pconst_ok, !HP; lia.
  - inversion_clear H as [|? ? Hx H']; inversion_clear H' as [|? ? Hy _].
    change (andb (truth scalar (eval st x r al)) (truth scalar (eval st y r al)) = b) in H0.
    destruct b; [|constructor]. apply andb_prop in H0 as [H1 H2]. apply Forall_app; split; [apply Hx|apply Hy]; assumption.
  - inversion_clear H as [|? ? Hx H']; inversion_clear H' as [|? ? Hy _].
    change (orb (truth scalar (eval st x r al)) (truth scalar (eval st y r al)) = b) in H0.
    destruct b; [constructor|]. apply orb_false_elim in H0 as [H1 H2]. apply Forall_app; split; [apply Hx|apply Hy]; assumption.
  - inversion_clear H as [|? ? Hx _]. apply Hx. change (negb (truth scalar (eval st x r al)) = b) in H0. subst b. now rewrite negb_involutive.
Qed.
End Sound.
(* Conversion must never look inside the prover; computation by [vm_compute] does. *)
Global Opaque poly_of pdiv decide.
