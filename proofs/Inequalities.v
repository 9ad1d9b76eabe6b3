(* Inequalities between integer terms, proved from facts. All of it is sound for every value of the variables for which the facts
   hold; none of it is complete. *)
From Coq Require Import ZArith List String Bool Lia.
From Lozenge Require Import Syntax Semantics Poly Lazy.
Import ListNotations.
Local Open Scope Z_scope.

Definition facts := list poly.                       (* each is at least 0 *)

Definition pzero (p : poly) : bool := match p with [] => true | _ => false end.
Definition peqb (p q : poly) : bool := pzero (psub p q).

Fixpoint mremove (a : tm) (m : mono) : option mono :=
  match m with [] => None | b :: m => if tm_eqb a b then Some m else option_map (cons b) (mremove a m) end.
Fixpoint mdiv (m d : mono) : option mono :=
  match d with [] => Some m | a :: d => match mremove a m with Some m => mdiv m d | None => None end end.
(* What [a] is multiplied with, where [p] is linear in it. *)
Definition coef (a : tm) (p : poly) : poly :=
  fold_right (fun mc q => match mremove a (fst mc) with Some m => padd1 m (snd mc) q | None => q end) [] p.
Definition atoms (p : poly) : list tm := flat_map (fun mc => fst mc) p.
Definition atoms_once (p : poly) : list tm :=
  fold_right (fun a l => if existsb (tm_eqb a) l then l else a :: l) [] (atoms p).
(* Whether the polynomial is the atom. *)
Definition is_atom (a : tm) (q : poly) : bool := match q with [([b], Zpos xH)] => tm_eqb a b | _ => false end.

(* Sums of multiples of facts. [nn]: atoms that are at least 0; [extra]: what is known of the atoms of a polynomial. A term that may be negative must be
   outweighed by a fact; of the terms of the highest degree that with the fewest such facts is the one to begin with. What is then left to show has it no more;
   where no fact helps, [other] is asked.
   That numbers are integers is what makes k * p > -k enough. *)
Section Linear.
Variables (nn : tm -> bool) (extra : poly -> facts) (F : facts) (other : poly -> bool).
Definition fine (mc : mono * Z) : bool := (0 <=? snd mc) && forallb nn (fst mc).
(* A fact, what it is multiplied with, and its coefficient. *)
Definition weight := (poly * mono * Z)%type.
Definition weights (G : facts) (mc : mono * Z) : list weight :=
  flat_map (fun q => flat_map (fun md =>
    if 0 <? snd mc * snd md then
      match fst md, fst mc with
      | [], _ :: _ => []
      | _, _ => match mdiv (fst mc) (fst md) with
        | Some r => if forallb nn r then [(q, r, snd md)] else []
        | None => [] end
      end
    else []) q) G.
Fixpoint fewest (best : (mono * Z) * list weight) (l : list ((mono * Z) * list weight)) : (mono * Z) * list weight :=
  match l with
  | [] => best
  | x :: l => fewest (if (List.length (snd x) <? List.length (snd best))%nat then x else best) l
  end.
(* To add the opposite of a fact that was added before is to go back. *)
Fixpoint opposite (q q' : poly) : bool :=
  match q, q' with
  | [], [] => true
  | (m, c) :: q, (m', c') :: q' => (c + c' =? 0) && list_eqb tm_eqb m m' && opposite q q'
  | _, _ => false
  end.
Definition onward (used G : facts) : facts := match used with [] => G | _ => filter (fun q => negb (existsb (opposite q) used)) G end.
Fixpoint lin (fuel : nat) (used : facts) (p : poly) : bool :=
  match filter (fun mc => negb (fine mc)) p with
  | [] => true
  | mc :: rest =>
    match fuel with
    | O => false
    | S fuel =>
      let G := onward used (extra p ++ F) in
      let ways mc := (mc, weights G mc) in
      let largest := filter (fun md => Nat.eqb (List.length (fst md)) (List.length (fst mc))) rest in
      let (mc, ws) := fewest (ways mc) (map ways largest) in
      match ws with [] => other p | _ => existsb (fun w : weight =>
        let '(q, r, d) := w in
        let g := Z.gcd (snd mc) d in
        let k := Z.abs d / g in
        if 0 <? k then lin fuel (q :: used) (padd (pconst (k - 1)) (psub (pscale k p) (pmul1 r (Z.abs (snd mc) / g) q))) else false) ws end
    end
  end.
End Linear.

(* Atoms that are at least 0: those that a fact says to be, and what is made of such. *)
Fixpoint nonneg (fuel : nat) (F : facts) (a : tm) : bool :=
  if existsb (is_atom a) F then true else
  match fuel with
  | O => false
  | S fuel =>
      let plain p := forallb (fine (nonneg fuel F)) p in
      let easy p := if plain p then true else existsb (fun q => plain (psub p q)) F in
      match a with
      | Op Idiv [x; y] => easy (unpoly x) && easy (unpoly y)
      | Op Imin [x; y] => easy (unpoly x) && easy (unpoly y)
      | Op Imax [x; y] => if plain (unpoly y) then true else if plain (unpoly x) then true else easy (unpoly x) || easy (unpoly y)
      | _ => false
      end
  end.
Definition nests : nat := 3.

(* How many facts one goal may take: few first, since the first that comes to mind is often wrong; not so many where there are many to choose from. *)
Definition reaches (fuel : nat) (F : facts) : list nat :=
  if (20 <? List.length F)%nat then [2; 4]%nat else if (fuel <? 4)%nat then [2; 4; 5]%nat else [2; 4; 6]%nat.
Fixpoint prove (fuel : nat) (F : facts) (p : poly) {struct fuel} : bool :=
  match fuel with
  | O => false
  | S fuel =>
    let nn := nonneg nests F in
    let trivial p := forallb (fun mc => (0 <=? snd mc) && forallb nn (fst mc)) p in
    (* what remains of a quotient is at least 0, and below the divisor *)
    let extra p := flat_map (fun a => match a with
      | Op Idiv [x; y] =>
          let y' := unpoly y in
          if existsb (fun q => trivial (psub (psub y' (pconst 1)) q)) ([] :: F) then
            let rest := psub (unpoly x) (pmul y' (patom a)) in [rest; psub (psub y' (pconst 1)) rest]
          else []
      | _ => [] end) (atoms_once p) in
    (* a quotient is at most what its divisor, times as much and one more, exceeds the dividend with, and at least what its divisor, times as much, does not exceed it with *)
    let times a p := match find (fun mc => match fst mc with [b] => tm_eqb a b | _ => false end) p with Some mc => snd mc | None => 0 end in
    let has a c := existsb (fun mc => match fst mc with [b] => (snd mc =? c) && tm_eqb a b | _ => false end) in
    let quotient p := existsb (fun a => match a with
         | Op Idiv [x; y] =>
             if has a (-1) p then
               let u := padd p (patom a) in
               prove fuel F (psub (psub (pmul (padd u (pconst 1)) (unpoly y)) (pconst 1)) (unpoly x)) &&
               (prove fuel F (psub (unpoly y) (pconst 1)) || prove fuel F (unpoly x) && prove fuel F (unpoly y))
             else if has a 1 p then
               let u := psub p (patom a) in
               prove fuel F (psub (unpoly y) (pconst 1)) && prove fuel F (padd (unpoly x) (pmul u (unpoly y)))
             else if 1 <? times a p then prove fuel F (patom a) && prove fuel F (psub p (pscale (times a p) (patom a)))
             else false
         | _ => false
         end) (atoms_once p) in
    trivial p
    || existsb (fun reach => lin nn extra F quotient reach [] p) (reaches fuel F)
    || quotient p
    || existsb (fun a => match a with
         | Op Imin [x; y] =>
             let c := coef a p in
             let at_ x := prove fuel F (padd p (pmul c (psub (unpoly x) (patom a)))) in
             if trivial (pscale (-1) c) then at_ x || at_ y else at_ x && at_ y
         | Op Imax [x; y] =>
             let c := coef a p in
             let at_ x := prove fuel F (padd p (pmul c (psub (unpoly x) (patom a)))) in
             if trivial c then at_ x || at_ y else at_ x && at_ y
         | _ => false
         end) (atoms_once p)
  end.
Definition depth : nat := 5.

(* Most searches fail, and take long to do so. Numbers for which the facts hold and the goal does not say so at once. To find such numbers is not to be
   trusted: without them the search would fail as well. A variable that a fact says to be below an earlier one is taken for that of a loop. *)
Fixpoint tval (env : nat -> Z) (d : Z) (t : tm) : Z :=
  match t with
  | Var x => env x
  | Int z => z
  | Op Iadd [a; b] => tval env d a + tval env d b
  | Op Isub [a; b] => tval env d a - tval env d b
  | Op Imul [a; b] => tval env d a * tval env d b
  | Op Idiv [a; b] => tval env d a / tval env d b
  | Op Imod [a; b] => tval env d a mod tval env d b
  | Op Imin [a; b] => Z.min (tval env d a) (tval env d b)
  | Op Imax [a; b] => Z.max (tval env d a) (tval env d b)
  | Op Iwrap [a] => wrap (tval env d a)
  | _ => d
  end.
Definition negative (env : nat -> Z) (d : Z) (p : poly) : bool :=
  fold_right (fun mc z => snd mc * fold_right (fun a z => tval env d a * z) 1 (fst mc) + z) 0 p <? 0.
Fixpoint mentions (x : nat) (t : tm) : bool := match t with Var y => Nat.ltb y x | Op _ ts => existsb (mentions x) ts | _ => false end.
Definition inner (F : facts) : list nat :=
  flat_map (fun q => flat_map (fun mc => match fst mc with
    | [Var x] => if (snd mc <? 0) && existsb (fun nd => (0 <? snd nd) && existsb (mentions x) (fst nd)) q then [x] else []
    | _ => [] end) q) F.
(* For each, what sizes and what variables of loops are: at borders, beside them, in the middle, where the first size is as the others or larger. *)
Definition samples : list ((nat -> Z) * (nat -> Z)) :=
  let squared (l : list Z) := flat_map (fun a => map (fun b => (a, b)) l) l in
  let grid s l := flat_map (fun ab : Z * Z =>
    let v x := if Nat.even x then fst ab else snd ab in
    [(fun _ => s, v); (fun x => match x with O => 100 | _ => s end, v)]) (squared l) in
  grid 7 [3; 0; 6; 1; 5] ++ grid 2 [0; 1] ++ [(fun _ => 1, fun _ => 0); (fun _ => 5000, fun _ => 2500); (fun _ => 4096, fun x => 1024 + Z.of_nat x);
    (fun _ => 9, fun x => Z.of_nat (Nat.modulo x 5)); (fun _ => 9, fun x => 6 - Z.of_nat (Nat.modulo x 5)); (fun _ => 0, fun _ => 0)].
Definition refuted (F : facts) (p : poly) : bool :=
  let xs := inner F in
  existsb (fun sv : (nat -> Z) * (nat -> Z) =>
    let env x := if existsb (Nat.eqb x) xs then snd sv x else fst sv x in
    let d := snd sv O in
    negative env d p && forallb (fun q => negb (negative env d q)) F) samples.
(* What an inequality says of the operands of the smallest or largest that it has, where their sign allows it: what is at least 0 where the polynomial is. *)
Definition instead (a x : tm) (c : Z) (p : poly) : poly := padd p (pscale c (psub (unpoly x) (patom a))).
Definition extremes (p : poly) : facts :=
  flat_map (fun mc => match fst mc with
    | [Op Imin [x; y] as a] => if 0 <? snd mc then [instead a x (snd mc) p; instead a y (snd mc) p] else []
    | [Op Imax [x; y] as a] => if snd mc <? 0 then [instead a x (snd mc) p; instead a y (snd mc) p] else []
    | _ => [] end) p.
(* That a quotient by a number is at least (or at most) something says the same of its dividend. *)
Definition unquotient (p : poly) : facts :=
  match find (fun mc => match mc with ([Op Idiv [_; Int _]], Zpos xH) | ([Op Idiv [_; Int _]], Zneg xH) => true | _ => false end) p with
  | Some ([Op Idiv [x; Int k]], s) =>
      let u := psub p (pscale s (patom (Op Idiv [x; Int k]))) in
      if 0 <? k then
        if s =? 1 then [padd (unpoly x) (pscale k u)]
        else if s =? -1 then [psub (psub (pscale k (padd u (pconst 1))) (pconst 1)) (unpoly x)]
        else []
      else []
  | _ => []
  end.
(* An inequality with all that it says. *)
Definition both_ways (p : poly) : facts := flat_map (fun q => q :: unquotient q) (p :: extremes p).

(* Where a fact has a smallest or largest with another sign: by cases, which of the two it is. *)
Definition extreme (p : poly) : option tm :=
  find (fun a => match a with Op Imin [_; _] | Op Imax [_; _] => true | _ => false end) (atoms p).
Fixpoint first_of (F : facts) : option tm :=
  match F with [] => None | p :: F => match extreme p with Some a => Some a | None => first_of F end end.
(* The same where the atom has the value of the term. *)
Definition swap (a x : tm) (p : poly) : poly := padd p (pmul (coef a p) (psub (unpoly x) (patom a))).
Fixpoint by_cases (fuel : nat) (F : facts) (p : poly) : bool :=
  match fuel with
  | O => false
  | S fuel =>
      match first_of F with
      | Some a =>
          let goes x more :=
            let F := more :: map (swap a x) F in let p := swap a x p in
            if refuted F p then false else prove depth F p || by_cases fuel F p in
          match a with
          | Op Imin [x; y] => goes x (psub (unpoly y) (unpoly x)) && goes y (psub (unpoly x) (unpoly y))
          | Op Imax [x; y] => goes x (psub (unpoly x) (unpoly y)) && goes y (psub (unpoly y) (unpoly x))
          | _ => false
          end
      | None => false
      end
  end.
(* With one fact. *)
Definition at_once (F : facts) (p : poly) : bool := lin (nonneg nests F) (fun _ => []) F (fun _ => false) 1 [] p.
Definition pr (F : facts) (p : poly) : bool := if at_once F p then true else if refuted F p then false else prove depth F p || by_cases 2 F p.

Local Opaque pr prove by_cases.
Section Sound.
Variable scalar : Type.
Variable lit : string -> val scalar.
Variable prim : string -> list (val scalar) -> val scalar.
Notation eval := (eval scalar lit prim).
Variable st : store scalar.
Variable r : nat -> Z.
Variable al : aenv scalar.
Definition zv (t : tm) : Z := toZ _ (eval st t r al).
Notation pv := (pval zv).
Definition holds (F : facts) : Prop := Forall (fun p => 0 <= pv p) F.

Lemma peqb_ok p q : peqb p q = true -> pv p = pv q.
Proof. unfold peqb. intros E. assert (K := psub_ok zv p q). destruct (psub p q); [cbn in K; lia|discriminate]. Qed.

Lemma unpoly_ok : forall t, pv (unpoly t) = zv t.
Proof.
  apply tm_ind'; intros; try (apply patom_ok). { apply pconst_ok. }
  destruct o; try apply patom_ok;
    (destruct ts as [|a [|b [|? ?]]]; try apply patom_ok; inversion_clear H as [|? ? Ha Hb]; inversion_clear Hb as [|? ? Hb' _]);
    cbn [unpoly]; rewrite ?padd_ok, ?psub_ok, ?pmul_ok, Ha, Hb'; reflexivity.
Qed.

Lemma of_mono_ok m : zv (of_mono m) = mval zv m.
Proof.
  destruct m as [|a m]; [reflexivity|]. cbn [of_mono].
  assert (G : forall m a, zv (fold_left (fun t a => Op Imul [t; a]) m a) = zv a * mval zv m).
  { induction m0 as [|b m0 IH]; intros x; cbn [fold_left]. { cbn [mval fold_right]. ring. }
    rewrite IH, mval_cons. change (zv (Op Imul [x; b])) with (zv x * zv b). ring. }
  rewrite G, mval_cons. reflexivity.
Qed.
Lemma of_term_ok mc : zv (of_term mc) = snd mc * mval zv (fst mc).
Proof.
  destruct mc as [m c]. unfold of_term. cbn [fst snd]. destruct m as [|a m].
  - change (c = c * 1). ring.
  - destruct (Z.eqb_spec c 1). + rewrite of_mono_ok. subst. ring.
    + change (c * zv (of_mono (a :: m)) = c * mval zv (a :: m)). now rewrite of_mono_ok.
Qed.
Lemma of_poly_ok p : zv (of_poly p) = pv p.
Proof.
  induction p as [|[m c] p IH]; [reflexivity|]. rewrite pval_cons. destruct p.
  - cbn [of_poly]. rewrite of_term_ok. cbn [fst snd pval fold_right]. ring.
  - change (zv (of_term (m, c)) + zv (of_poly (p :: p0)) = c * mval zv m + pv (p :: p0)). now rewrite IH, of_term_ok.
Qed.

Lemma mval_nonneg m : Forall (fun a => 0 <= zv a) m -> 0 <= mval zv m.
Proof. induction 1; [cbn; lia|]. rewrite mval_cons. apply Z.mul_nonneg_nonneg; auto. Qed.

Lemma trivial_ok (nn : tm -> bool) p : (forall a, nn a = true -> 0 <= zv a) ->
  forallb (fun mc => (0 <=? snd mc) && forallb nn (fst mc)) p = true -> 0 <= pv p.
Proof.
  intros Hn. induction p as [|[m c] p IH]; [cbn; lia|]. cbn [forallb fst snd]. intros E.
  apply andb_prop in E as [E1 E2]. apply andb_prop in E1 as [E0 E1]. apply Z.leb_le in E0.
  rewrite pval_cons. assert (0 <= mval zv m). { apply mval_nonneg. apply Forall_forall. intros x Hx. apply Hn. eapply forallb_forall in E1; eauto. }
  specialize (IH E2). nia.
Qed.

Lemma is_atom_ok F a : holds F -> existsb (is_atom a) F = true -> 0 <= zv a.
Proof.
  intros HF E. apply existsb_exists in E as (q & Hq & E). unfold holds in HF. rewrite Forall_forall in HF. specialize (HF _ Hq).
  unfold is_atom in E. destruct q as [|[[|b [|? ?]] [|[| |]|]] [|? ?]]; try discriminate. apply tm_eqb_ok in E. subst b.
  rewrite pval_cons, mval_cons in HF. cbn [mval pval fold_right] in HF. lia.
Qed.
Lemma mremove_ok a m m' : mremove a m = Some m' -> mval zv m = zv a * mval zv m'.
Proof.
  revert m'. induction m as [|b m IH]; cbn [mremove]; intros m' H; [discriminate|]. destruct (tm_eqb a b) eqn:E.
  - injection H as <-. apply tm_eqb_ok in E. subst. apply mval_cons.
  - destruct (mremove a m) as [m1|]; [|discriminate]. cbn [option_map] in H. injection H as <-. rewrite !mval_cons, (IH _ eq_refl). ring.
Qed.
Lemma mdiv_ok d : forall m m', mdiv m d = Some m' -> mval zv m = mval zv d * mval zv m'.
Proof.
  induction d as [|a d IH]; cbn [mdiv]; intros m m1 H. { injection H as <-. cbn [mval fold_right]. ring. }
  destruct (mremove a m) as [m'|] eqn:E; [|discriminate]. rewrite (mremove_ok _ _ _ E), (IH _ _ H), mval_cons. ring.
Qed.
Lemma fewest_ok (P : (mono * Z) * list weight -> Prop) l : forall best, P best -> Forall P l -> P (fewest best l).
Proof. induction l as [|x l IH]; cbn [fewest]; intros best Hb Hl; auto. inversion_clear Hl. destruct (Nat.ltb _ _); auto. Qed.
Lemma weights_ok nn G mc : Forall (fun w : weight => List.In (fst (fst w)) G /\ forallb nn (snd (fst w)) = true) (weights nn G mc).
Proof.
  unfold weights. apply Forall_forall. intros w Hw. apply in_flat_map in Hw as (q & Hq & Hw). apply in_flat_map in Hw as (md & _ & Hw).
  destruct (0 <? snd mc * snd md); [|contradiction].
  assert (K : List.In w (match mdiv (fst mc) (fst md) with Some r => if forallb nn r then [(q, r, snd md)] else [] | None => [] end)).
  { destruct (fst md), (fst mc); auto; contradiction. }
  destruct (mdiv _ _) as [m'|]; [|contradiction]. destruct (forallb nn m') eqn:E; [|contradiction]. destruct K as [<-|[]]. auto.
Qed.
Lemma lin_ok nn extra F other : holds F -> (forall p, other p = true -> 0 <= pv p) -> (forall a, nn a = true -> 0 <= zv a) -> (forall p, holds (extra p)) ->
  forall fuel used p, lin nn extra F other fuel used p = true -> 0 <= pv p.
Proof.
  intros HF Ho Hn Hx. assert (T := trivial_ok nn).
  assert (T' : forall p, filter (fun mc => negb (fine nn mc)) p = [] -> 0 <= pv p).
  { intros p E. apply (T p Hn). apply forallb_forall. intros mc Hmc. destruct (fine nn mc) eqn:K; [exact K|].
    assert (C : List.In mc (filter (fun mc => negb (fine nn mc)) p)). { apply filter_In. split; auto. now rewrite K. } rewrite E in C. contradiction. }
  assert (On : forall used G q, List.In q (onward used G) -> List.In q G).
  { intros [|u us] G q H; auto. apply filter_In in H. tauto. }
  induction fuel as [|fuel IH]; intros used p E; cbn [lin] in E; destruct (filter _ p) as [|mc rest] eqn:Ef; auto; [discriminate|].
  cbv zeta in E.
  match type of E with (let (_, _) := ?f in _) = true => assert (W : Forall (fun w : weight => List.In (fst (fst w)) (onward used (extra p ++ F)) /\ forallb nn (snd (fst w)) = true) (snd f)) end.
  { apply (fewest_ok (fun f => Forall (fun w : weight => List.In (fst (fst w)) (onward used (extra p ++ F)) /\ forallb nn (snd (fst w)) = true) (snd f))).
    - apply weights_ok.
    - apply Forall_map, Forall_forall. intros mc' _. apply weights_ok. }
  destruct (fewest _ _) as [mc' ws]. cbn [snd] in W. destruct ws as [|w0 ws0]; [auto|]. set (ws := w0 :: ws0) in *.
  apply existsb_exists in E as ([[q mr] d] & Hq & E). rewrite Forall_forall in W. destruct (W _ Hq) as [Hq' E1]. cbn [fst snd] in Hq', E1. apply On in Hq'.
  match type of E with (if ?b then _ else _) = true => destruct b eqn:E2; [|discriminate] end. apply Z.ltb_lt in E2.
  apply IH in E. rewrite padd_ok, pconst_ok, psub_ok, pscale_ok, pmul1_ok in E.
  assert (Hr : 0 <= mval zv mr). { apply mval_nonneg. apply Forall_forall. intros x Hx'. apply Hn. eapply forallb_forall in E1; eauto. }
  assert (Hq0 : 0 <= pv q). { assert (K : holds (extra p ++ F)) by (apply Forall_app; split; [apply Hx|exact HF]). unfold holds in K. rewrite Forall_forall in K. apply (K _ Hq'). }
  set (k := Z.abs d / Z.gcd (snd mc') d) in *. set (c := Z.abs (snd mc') / Z.gcd (snd mc') d) in *.
  assert (Hc : 0 <= c). { unfold c. destruct (Z.eq_dec (Z.gcd (snd mc') d) 0) as [->|]. { rewrite Zdiv_0_r. lia. }
    apply Z.div_pos; [lia|]. assert (G := Z.gcd_nonneg (snd mc') d). lia. }
  assert (0 <= c * mval zv mr * pv q) by (apply Z.mul_nonneg_nonneg; auto; apply Z.mul_nonneg_nonneg; auto).
  nia.
Qed.

Lemma nonneg_ok F : holds F -> forall fuel a, nonneg fuel F a = true -> 0 <= zv a.
Proof.
  intros HF. induction fuel as [|fuel IH]; intros a E; cbn [nonneg] in E; destruct (existsb (is_atom a) F) eqn:E0;
    try discriminate; try (eapply is_atom_ok; eauto; fail). cbv zeta in E.
  assert (P : forall p, forallb (fine (nonneg fuel F)) p = true -> 0 <= pv p) by (intros p; apply (trivial_ok (nonneg fuel F)); auto).
  assert (Y : forall p, (if forallb (fine (nonneg fuel F)) p then true else existsb (fun q => forallb (fine (nonneg fuel F)) (psub p q)) F) = true -> 0 <= pv p).
  { intros p K. destruct (forallb _ p) eqn:K1; [auto|]. apply existsb_exists in K as (q & Hq & K). apply P in K. rewrite psub_ok in K.
    unfold holds in HF. rewrite Forall_forall in HF. specialize (HF _ Hq). cbn beta in HF. lia. }
  destruct a as [| | |o ts| | |]; try discriminate. destruct o; try discriminate; (destruct ts as [|x [|y [|? ?]]]; try discriminate).
  - apply andb_prop in E as [E1 E2]. apply Y in E1, E2. rewrite unpoly_ok in E1, E2.
    change (0 <= zv x / zv y). destruct (Z.eq_dec (zv y) 0) as [->|]. { rewrite Zdiv_0_r. lia. } apply Z.div_pos; lia.
  - apply andb_prop in E as [E1 E2]. apply Y in E1, E2. rewrite unpoly_ok in E1, E2. change (0 <= Z.min (zv x) (zv y)). lia.
  - change (0 <= Z.max (zv x) (zv y)). destruct (forallb _ (unpoly y)) eqn:E1. { apply P in E1. rewrite unpoly_ok in E1. lia. }
    destruct (forallb _ (unpoly x)) eqn:E2. { apply P in E2. rewrite unpoly_ok in E2. lia. }
    assert (Z_ : forall p, existsb (fun q => forallb (fine (nonneg fuel F)) (psub p q)) F = true -> 0 <= pv p).
    { intros p K. apply existsb_exists in K as (q & Hq & K). apply P in K. rewrite psub_ok in K.
      unfold holds in HF. rewrite Forall_forall in HF. specialize (HF _ Hq). cbn beta in HF. lia. }
    apply orb_prop in E as [E|E]; apply Z_ in E; rewrite unpoly_ok in E; lia.
Qed.
Lemma prove_ok : forall fuel F p, holds F -> prove fuel F p = true -> 0 <= pv p.
Proof.
  induction fuel as [|fuel IH]; intros F p HF; [discriminate|]. cbn [prove].
  set (nn := nonneg nests F).
  assert (Hn : forall a, nn a = true -> 0 <= zv a) by (apply nonneg_ok; auto).
  assert (T := trivial_ok nn).
  match goal with |- context [lin nn ?e F ?o] => set (extra := e); set (other := o) end.
  assert (Hx : forall p, holds (extra p)).
  { intros p1. unfold holds, extra. apply Forall_forall. intros f Hf. apply in_flat_map in Hf as (a & _ & Hf).
    destruct a as [| | |o ts| | |]; try contradiction.
    destruct o; try contradiction; (destruct ts as [|x [|y [|? ?]]]; try contradiction); cbv zeta in Hf.
    match type of Hf with List.In _ (if ?b then _ else _) => destruct b eqn:E; [|contradiction] end.
    apply existsb_exists in E as (q & Hq & E). apply T in E; auto. rewrite !psub_ok, pconst_ok, unpoly_ok in E.
    assert (Hq0 : 0 <= pv q). { destruct Hq as [<-|Hq]; [cbn; lia|]. unfold holds in HF. rewrite Forall_forall in HF. apply (HF _ Hq). }
      assert (A : zv (Op Idiv [x; y]) = zv x / zv y) by reflexivity.
      assert (D1 := Z.mul_div_le (zv x) (zv y) ltac:(lia)). assert (D2 := Z.mul_succ_div_gt (zv x) (zv y) ltac:(lia)).
      destruct Hf as [<-|[<-|[]]]; rewrite !psub_ok, ?pmul_ok, ?pconst_ok, ?patom_ok, !unpoly_ok, A; lia. }
  assert (Ho : forall p, other p = true -> 0 <= pv p).
  { intros p1 E. unfold other in E. apply existsb_exists in E as (a & Ha & E). destruct a as [| | |o ts| | |]; try discriminate.
    destruct o; try discriminate; (destruct ts as [|x [|y [|? ?]]]; try discriminate); cbv zeta in E.
    match type of E with (if ?b then _ else _) = true => destruct b end.
    - apply andb_prop in E as [E3 E]. apply IH in E3; auto.
      assert (Y : 1 <= zv y \/ (0 <= zv x /\ 0 <= zv y)).
      { apply orb_prop in E as [E|E].
        - apply IH in E; auto. rewrite psub_ok, pconst_ok, unpoly_ok in E. lia.
        - apply andb_prop in E as [E1 E2]. apply IH in E1, E2; auto. rewrite unpoly_ok in E1, E2. lia. }
      rewrite !psub_ok, pmul_ok, !padd_ok, !pconst_ok, patom_ok, !unpoly_ok in E3.
      change (zv (Op Idiv [x; y])) with (zv x / zv y) in E3.
      destruct (Z.eq_dec (zv y) 0) as [E0|]. { rewrite E0 in *. lia. }
      assert (zv x / zv y < pv p1 + zv x / zv y + 1); [|lia]. apply Z.div_lt_upper_bound; lia.
    - match type of E with (if ?b then _ else _) = true => destruct b end.
      2:{ match type of E with (if 1 <? ?c then _ else _) = true => set (k := c) in *; clearbody k end. destruct (Z.ltb_spec 1 k); [|discriminate].
        apply andb_prop in E as [E1 E2]. apply IH in E1, E2; auto. rewrite patom_ok in E1. rewrite psub_ok, pscale_ok, patom_ok in E2. nia. }
      apply andb_prop in E as [E1 E2]. apply IH in E1, E2; auto.
      rewrite psub_ok, pconst_ok, unpoly_ok in E1. rewrite padd_ok, pmul_ok, psub_ok, patom_ok, !unpoly_ok in E2.
      change (zv (Op Idiv [x; y])) with (zv x / zv y) in E2.
      assert (zv x / zv y - pv p1 <= zv x / zv y); [|lia]. apply Z.div_le_lower_bound; lia. }
  intros E. apply orb_prop in E as [E|E]; [apply orb_prop in E as [E|E]; [apply orb_prop in E as [E|E]|]|].
  - apply (T p Hn E).
  - apply existsb_exists in E as (reach & _ & E). exact (lin_ok nn extra F other HF Ho Hn Hx _ _ p E).
  - apply Ho. exact E.
  - apply existsb_exists in E as (a & Ha & E). destruct a as [| | |o ts| | |]; try discriminate.
    destruct o; try discriminate; (destruct ts as [|x [|y [|? ?]]]; try discriminate); cbv zeta in E.
    + set (c := coef _ p) in *. set (a := Op Imin [x; y]) in *.
      assert (A : zv a = Z.min (zv x) (zv y)) by reflexivity.
      match type of E with (if ?b then _ else _) = true => destruct b eqn:E1 end.
      * apply T in E1; auto. rewrite pscale_ok in E1. apply orb_prop in E as [E|E]; apply IH in E; auto;
          rewrite padd_ok, pmul_ok, psub_ok, patom_ok, unpoly_ok in E; nia.
      * apply andb_prop in E as [E2 E3]. apply IH in E2, E3; auto.
        rewrite padd_ok, pmul_ok, psub_ok, patom_ok, unpoly_ok in E2, E3.
        destruct (Z.min_spec (zv x) (zv y)) as [[_ M]|[_ M]]; rewrite M in A; rewrite A in *; [clear E3|clear E2]; nia.
    + set (c := coef _ p) in *. set (a := Op Imax [x; y]) in *.
      assert (A : zv a = Z.max (zv x) (zv y)) by reflexivity.
      match type of E with (if ?b then _ else _) = true => destruct b eqn:E1 end.
      * apply T in E1; auto. apply orb_prop in E as [E|E]; apply IH in E; auto;
          rewrite padd_ok, pmul_ok, psub_ok, patom_ok, unpoly_ok in E; nia.
      * apply andb_prop in E as [E2 E3]. apply IH in E2, E3; auto.
        rewrite padd_ok, pmul_ok, psub_ok, patom_ok, unpoly_ok in E2, E3.
        destruct (Z.max_spec (zv x) (zv y)) as [[_ M]|[_ M]]; rewrite M in A; rewrite A in *; [clear E2|clear E3]; nia.
Qed.
Lemma instead_ok a x c p : pv (instead a x c p) = pv p + c * (zv x - zv a).
Proof. unfold instead. now rewrite padd_ok, pscale_ok, psub_ok, patom_ok, unpoly_ok. Qed.
Lemma extremes_ok p : 0 <= pv p -> holds (extremes p).
Proof.
  intros H. apply Forall_forall. intros q Hq. apply in_flat_map in Hq as ([m c] & _ & Hq). cbn [fst snd] in Hq.
  destruct m as [|[| | |o ts| | |] m]; try contradiction. destruct o; try contradiction; (destruct ts as [|x [|y [|? ?]]]; try contradiction); (destruct m; [|contradiction]).
  - set (a := Op Imin [x; y]) in *. assert (A : zv a = Z.min (zv x) (zv y)) by reflexivity.
    destruct (Z.ltb_spec 0 c); [|contradiction]. destruct Hq as [<-|[<-|[]]]; rewrite instead_ok; nia.
  - set (a := Op Imax [x; y]) in *. assert (A : zv a = Z.max (zv x) (zv y)) by reflexivity.
    destruct (Z.ltb_spec c 0); [|contradiction]. destruct Hq as [<-|[<-|[]]]; rewrite instead_ok; nia.
Qed.
Lemma unquotient_ok p : 0 <= pv p -> holds (unquotient p).
Proof.
  intros H. unfold unquotient. match goal with |- context [find ?f p] => destruct (find f p) as [[m s]|] end; [|constructor].
  destruct m as [|[| | |o ts| | |] m]; try constructor. destruct o; try constructor. destruct ts as [|x [|[|k| | | | |] [|? ?]]]; try constructor. destruct m; [|constructor].
  cbv zeta. set (q := Op Idiv [x; Int k]). destruct (Z.ltb_spec 0 k) as [Hk|]; [|constructor].
  assert (Q : zv q = zv x / k) by reflexivity. set (u := psub p (pscale s (patom q))).
  assert (U : pv p = pv u + s * zv q) by (unfold u; rewrite psub_ok, pscale_ok, patom_ok; ring).
  assert (D := Z.mul_div_le (zv x) k Hk). assert (D' := Z.mul_succ_div_gt (zv x) k Hk).
  destruct (Z.eqb_spec s 1) as [->|]; [|destruct (Z.eqb_spec s (-1)) as [->|]; [|constructor]]; (constructor; [|constructor]).
  - rewrite padd_ok, pscale_ok, unpoly_ok. rewrite U, Q in H. assert (0 <= k * (pv u + 1 * (zv x / k))) by (apply Z.mul_nonneg_nonneg; lia). lia.
  - rewrite !psub_ok, pscale_ok, padd_ok, !pconst_ok, unpoly_ok. rewrite U, Q in H. assert (0 <= k * (pv u + -1 * (zv x / k))) by (apply Z.mul_nonneg_nonneg; lia). lia.
Qed.
Lemma both_ways_ok p : 0 <= pv p -> holds (both_ways p).
Proof.
  intros H. assert (K : holds (p :: extremes p)) by (constructor; [exact H|now apply extremes_ok]).
  apply Forall_forall. intros q Hq. apply in_flat_map in Hq as (p' & Hp & Hq). unfold holds in K. rewrite Forall_forall in K. specialize (K p' Hp).
  destruct Hq as [<-|Hq]; [exact K|]. assert (U := unquotient_ok p' K). unfold holds in U. rewrite Forall_forall in U. auto.
Qed.
Lemma swap_ok a x p : zv x = zv a -> pv (swap a x p) = pv p.
Proof. intros E. unfold swap. rewrite padd_ok, pmul_ok, psub_ok, patom_ok, unpoly_ok, E. ring. Qed.
Lemma by_cases_ok fuel : forall F p, holds F -> by_cases fuel F p = true -> 0 <= pv p.
Proof.
  Local Transparent by_cases.
  induction fuel as [|fuel IH]; intros F p HF E; cbn [by_cases] in E; [discriminate|]. destruct (first_of F) as [a|]; [|discriminate]. cbv zeta in E.
  assert (Go : forall x more, zv x = zv a -> 0 <= pv more ->
     (if refuted (more :: map (swap a x) F) (swap a x p) then false else prove depth (more :: map (swap a x) F) (swap a x p) || by_cases fuel (more :: map (swap a x) F) (swap a x p)) = true -> 0 <= pv p).
  { intros x more Hx Hm K. destruct (refuted _ _); [discriminate|]. rewrite <- (swap_ok a x p Hx).
    assert (HG : holds (more :: map (swap a x) F)).
    { constructor; auto. apply Forall_map. eapply Forall_impl; [|exact HF]. intros q Hq. cbn beta in Hq. now rewrite swap_ok. }
    apply orb_prop in K as [K|K]; [exact (prove_ok _ _ _ HG K)|exact (IH _ _ HG K)]. }
  destruct a as [| | |o ts| | |]; try discriminate. destruct o; try discriminate; (destruct ts as [|x [|y [|? ?]]]; try discriminate); apply andb_prop in E as [E1 E2].
  - assert (A : zv (Op Imin [x; y]) = Z.min (zv x) (zv y)) by reflexivity.
    destruct (Z.le_ge_cases (zv x) (zv y)); [eapply (Go x); [| |exact E1]|eapply (Go y); [| |exact E2]]; rewrite ?psub_ok, ?unpoly_ok; lia.
  - assert (A : zv (Op Imax [x; y]) = Z.max (zv x) (zv y)) by reflexivity.
    destruct (Z.le_ge_cases (zv y) (zv x)); [eapply (Go x); [| |exact E1]|eapply (Go y); [| |exact E2]]; rewrite ?psub_ok, ?unpoly_ok; lia.
Qed.
Lemma pr_ok F p : holds F -> pr F p = true -> 0 <= pv p.
Proof.
  Local Transparent pr. intros HF H. unfold pr in H. destruct (at_once F p) eqn:E.
  { unfold at_once in E. apply (lin_ok _ _ F _ HF) in E; auto; [discriminate|apply (nonneg_ok F HF)|constructor]. }
  destruct (refuted F p); [discriminate|].
  apply orb_prop in H as [H|H]; [exact (prove_ok depth F p HF H)|exact (by_cases_ok _ F p HF H)].
Qed.
End Sound.
(* Conversion must never look inside the prover; computation by [vm_compute] does. *)
Global Opaque pr prove by_cases.
