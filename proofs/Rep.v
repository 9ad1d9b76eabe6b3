(* Contents: what the checker knows of a table of numbers, as a function from subscripts (terms) to a term; and what it means
   that contents represent a table, in every world that extends the present one. Folds are built here, for both sides. *)
From Coq Require Import ZArith List String Bool Lia Arith.
From Lozenge Require Import Syntax Semantics Poly Norm Lazy.
Import ListNotations.

(* At a level (binders from there on are free), with facts, at subscripts. *)
Definition ctab := nat -> facts -> list tm -> option tm.
Definition cval := list bool -> ctab.

Section MapM.
Context {A B : Type} (f : A -> option B).
Fixpoint mapM (l : list A) : option (list B) :=
  match l with
  | [] => Some []
  | a :: l => match f a with None => None | Some b => match mapM l with None => None | Some bs => Some (b :: bs) end end
  end.
End MapM.
Definition bind {A B} (o : option A) (f : A -> option B) : option B := match o with Some a => f a | None => None end.
Notation "x <- a ;; b" := (bind a (fun x => b)) (at level 61, a at next level, right associativity).

Definition selem (c : cval) (i : tm) : cval := fun cs N F is => c cs N F (i :: is).

(* Terms made of sizes alone. *)
Section Sizes.
Variable ns : nat.
Fixpoint closed (t : tm) : bool :=
  match t with Var x => Nat.ltb x ns | Int _ => true | Op o ts => match o with Scalar _ | Select => false | _ => forallb closed ts end | _ => false end.
End Sizes.

(* A product of natural numbers that is not 0 has no factor 0, and no product of some of its factors is. *)
Fixpoint pairs {A} (l : list A) : list (A * A) := match l with [] => [] | a :: l => map (pair a) l ++ pairs l end.
Definition at_least_one (p : poly) : poly := psub p (pconst 1).
Definition factors_of (F : facts) (m : mono) : facts :=
  if forallb (fun a => pr F (patom a)) m then
    map (fun a => at_least_one (patom a)) m
    ++ match m with
       | _ :: _ :: _ :: _ => map (fun ab => at_least_one (pmul (patom (fst ab)) (patom (snd ab)))) (pairs m)
       | _ => [] end
  else [].
(* So it is with what such a product exceeds something with, and with one that has a quotient. *)
Definition factors (F : facts) (n : poly) : facts :=
  match n with
  | (m, Zpos xH) :: p => match m, p with
      | [Op Idiv [x; y]], [] => match unpoly x with
          | (mx, Zpos xH) :: px => match px with [] => if pr F (unpoly y) then factors_of F mx else [] | _ => [] end
          | _ => [] end
      | _, _ => if forallb (fun mc => (snd mc <=? 0)%Z && forallb (fun a => pr F (patom a)) (fst mc)) p then factors_of F m else []
      end
  | _ => []
  end.
(* Facts that are known already make every search that fails longer. *)
Definition poly_eqb (p q : poly) : bool := list_eqb (fun a b => (snd a =? snd b)%Z && list_eqb tm_eqb (fst a) (fst b)) p q.
Definition unknown (F G : facts) : facts := filter (fun q => negb (existsb (poly_eqb q) F)) G.
Definition range_facts (F : facts) (t n : tm) : facts :=
  let p := poly_of F t in let q := poly_of F n in
  let rest := psub (psub q (pconst 1)) p in
  p :: both_ways rest ++ unknown F (factors F q).
Fixpoint ranges (F : facts) (ts ds : list tm) : facts :=
  match ts, ds with t :: ts, d :: ds => range_facts F t d ++ ranges F ts ds | _, _ => [] end.
Definition in_range_p (F : facts) (p : poly) (n : tm) : bool := pr F p && pr F (psub (psub (poly_of F n) (pconst 1)) p).
Definition in_range (F : facts) (t n : tm) : bool := in_range_p F (poly_of F t) n.
Fixpoint in_ranges (F : facts) (ts ds : list tm) : bool :=
  match ts, ds with [], [] => true | t :: ts, d :: ds => in_range F t d && in_ranges F ts ds | _, _ => false end.

(* Subscripts in normal form, if they are in range: each is put in normal form once. *)
Fixpoint normed (F : facts) (ts ds : list tm) : option (list tm) :=
  match ts, ds with
  | [], [] => Some []
  | t :: ts, d :: ds =>
      let p := poly_of F t in
      if in_range_p F p d then match normed F ts ds with Some us => Some (of_poly p :: us) | None => None end else None
  | _, _ => None
  end.
Lemma normed_eq F ts ds : normed F ts ds = if in_ranges F ts ds then Some (map (nf F) ts) else None.
Proof.
  revert ds. induction ts as [|t ts IH]; intros [|d ds]; auto. cbn [normed in_ranges map]. unfold in_range. cbv zeta.
  destruct (in_range_p F (poly_of F t) d); auto. rewrite IH. destruct (in_ranges F ts ds); auto.
Qed.

Definition levels (n k : nat) : list tm := map Var (seq n k).

(* The accumulators in the body of the fold that binds [N]. *)
Definition acc_tab (exts : list (list tm)) (N k : nat) : ctab :=
  fun _ F is => if (k <? List.length exts)%nat then js <- normed F is (nth k exts []) ;; Some (Acc N k js) else None.
(* One element of each accumulator: where a loop works on arrays element by element, each element is a fold of its own. *)
Fixpoint same_poly (F : facts) (a b : list tm) : bool :=
  match a, b with [], [] => true | x :: a, y :: b => peqb (poly_of F x) (poly_of F y) && same_poly F a b | _, _ => false end.
Definition chosen (exts : list (list tm)) (is : list tm) (k : nat) : list tm := match nth k exts [] with [] => [] | _ => is end.
Definition picked (o : option nat) (k : nat) : bool := match o with Some k0 => Nat.eqb k k0 | None => true end.
Definition acc_point (exts : list (list tm)) (only : option nat) (at_ : list tm) (N k : nat) : ctab :=
  fun _ F is =>
    if (k <? List.length exts)%nat && picked only k && same_poly F is (chosen exts at_ k)
    then Some (Acc N k []) else None.

(* Accumulator [k] of a loop of [cnt] steps over accumulators of these extents. *)
Definition fold_all (exts : list (list tm)) (init : nat -> ctab) (body : (nat -> ctab) -> nat -> nat -> ctab) (cnt : tm) (k : nat) : ctab :=
  fun N F is =>
    let step := range_facts F (Var N) cnt in
    accs <- mapM (fun k =>
      let ds := nth k exts [] in
      let ys := levels (S N) (List.length ds) in
      let F1 := ranges F ys ds ++ F in
      let N' := S N + List.length ds in
      i <- init k N' F1 ys ;;
      b <- body (acc_tab exts N) N k N' (ranges F ys ds ++ step ++ F) ys ;;
      Some (i, b)) (seq 0 (List.length exts)) ;;
    Some (Fold N (nf F cnt) accs k (map (nf F) is)).
Definition fold_point (exts : list (list tm)) (init : nat -> ctab) (body : (nat -> ctab) -> nat -> nat -> ctab) (cnt : tm) (k : nat)
    (only : option nat) : ctab :=
  fun N F is =>
    let step := range_facts F (Var N) cnt in
    accs <- mapM (fun k =>
      if picked only k then
        let js := chosen exts is k in
        if in_ranges F js (nth k exts []) then
          i <- init k (S N) F js ;;
          b <- body (acc_point exts only is N) N k (S N) (step ++ F) js ;;
          Some (i, b)
        else None
      else Some (Int 0, Int 0)) (seq 0 (List.length exts)) ;;
    Some (Fold N (nf F cnt) accs k []).
Definition fold_tab (exts : list (list tm)) (init : nat -> ctab) (body : (nat -> ctab) -> nat -> nat -> ctab) (cnt : tm) (k : nat) : ctab :=
  fun N F is =>
    if in_ranges F is (nth k exts []) then
      match is with
      | [] => fold_all exts init body cnt k N F is
      | _ =>
          match fold_point exts init body cnt k (Some k) N F is with
          | Some t => Some t
          | None =>
              match (match exts with [_] => None | _ => fold_point exts init body cnt k None N F is end) with
              | Some t => Some t
              | None => fold_all exts init body cnt k N F is
              end
          end
      end
    else None.

Section Rep.
Variable scalar : Type.
Variable lit : string -> val scalar.
Variable prim : string -> list (val scalar) -> val scalar.
Variable inp : store scalar.
Variable ns : nat.
Notation val := (val scalar). Notation value := (value scalar). Notation aenv := (aenv scalar).
Notation eval := (eval scalar lit prim inp).
Notation zv := (zv scalar lit prim inp).
Notation holds := (holds scalar lit prim inp).

Definition agree (N : nat) (r r' : nat -> Z) := forall x, x < N -> r' x = r x.
Definition agreeA (N : nat) (a a' : aenv) := forall l, l < N -> forall k v, a' l k v = a l k v.
Record ext N (r : nat -> Z) (a : aenv) (r' : nat -> Z) (a' : aenv) : Prop := { ext_r : agree N r r'; ext_a : agreeA N a a' }.
Lemma ext_refl N r a : ext N r a r a. Proof. split; intros x; auto. Qed.
Lemma ext_trans N N' r a r1 a1 r2 a2 : ext N r a r1 a1 -> N <= N' -> ext N' r1 a1 r2 a2 -> ext N r a r2 a2.
Proof. intros [A B] L [C D]. split; intros x Hx; [rewrite C, A; auto; lia|intros; rewrite D, B; auto; lia]. Qed.
Hint Resolve ext_refl : core.

Definition evt N r a t (x : val) := forall r' a', ext N r a r' a' -> eval t r' a' = x.
Definition evz N r a t (z : Z) := forall r' a', ext N r a r' a' -> zv r' a' t = z.
Definition evs N r a ts (v : list Z) := forall r' a', ext N r a r' a' -> map (zv r' a') ts = v.
Definition hold N r a (F : facts) := forall r' a', ext N r a r' a' -> holds r' a' F.

Definition vtab N0 r0 a0 (c : ctab) (d : list Z -> val) := forall N r a F is v t, N0 <= N -> ext N0 r0 a0 r a ->
  hold N r a F -> evs N r a is v -> c N F is = Some t -> evt N r a t (d v).
Definition vval N0 r0 a0 (c : cval) (d : value) := forall cs, vtab N0 r0 a0 (c cs) (d cs).

Lemma vtab_mono N0 r0 a0 c d N r a : vtab N0 r0 a0 c d -> N0 <= N -> ext N0 r0 a0 r a -> vtab N r a c d.
Proof. intros H L E N1 r1 a1 F is v t L1 E1 HF Hs Hc. eapply H; eauto; [lia|eapply ext_trans; eauto]. Qed.
Lemma vval_mono N0 r0 a0 c d N r a : vval N0 r0 a0 c d -> N0 <= N -> ext N0 r0 a0 r a -> vval N r a c d.
Proof. intros H L E cs. eapply vtab_mono; eauto. Qed.
Lemma evt_mono N r a t x N' r' a' : evt N r a t x -> N <= N' -> ext N r a r' a' -> evt N' r' a' t x.
Proof. intros H L E r2 a2 E2. apply H. eapply ext_trans; eauto. Qed.
Lemma evz_mono N r a t x N' r' a' : evz N r a t x -> N <= N' -> ext N r a r' a' -> evz N' r' a' t x.
Proof. intros H L E r2 a2 E2. apply H. eapply ext_trans; eauto. Qed.
Lemma evs_mono N r a t x N' r' a' : evs N r a t x -> N <= N' -> ext N r a r' a' -> evs N' r' a' t x.
Proof. intros H L E r2 a2 E2. apply H. eapply ext_trans; eauto. Qed.
Lemma hold_mono N r a F N' r' a' : hold N r a F -> N <= N' -> ext N r a r' a' -> hold N' r' a' F.
Proof. intros H L E r2 a2 E2. apply H. eapply ext_trans; eauto. Qed.
Lemma evs_cons N r a t ts z v : evz N r a t z -> evs N r a ts v -> evs N r a (t :: ts) (z :: v).
Proof. intros H1 H2 r' a' E. cbn. rewrite (H1 r' a' E), (H2 r' a' E). auto. Qed.
Lemma evs_inv N r a t ts v : evs N r a (t :: ts) v -> exists z v', v = z :: v' /\ evz N r a t z /\ evs N r a ts v'.
Proof.
  intros H. destruct v as [|z v]. { specialize (H r a (ext_refl _ _ _)). discriminate. }
  exists z, v. split; auto. split; intros r' a' E; specialize (H r' a' E); cbn in H; congruence.
Qed.
Lemma evs_nil N r a : evs N r a [] []. Proof. intros r' a' E. auto. Qed.
Lemma evs_nil_inv N r a v : evs N r a [] v -> v = [].
Proof. intros H. specialize (H r a (ext_refl _ _ _)). auto. Qed.
Lemma evt_evz N r a t x : evt N r a t x -> evz N r a t (toZ _ x).
Proof. intros H r' a' E. unfold Inequalities.zv. rewrite H; auto. Qed.
Lemma evs_nf N r a F ts v : hold N r a F -> evs N r a ts v -> evs N r a (map (nf F) ts) v.
Proof.
  intros HF H r' a' E. rewrite <- (H r' a' E), map_map. apply map_ext. intros t. apply nf_ok. auto.
Qed.
Lemma evz_nf N r a F t z : hold N r a F -> evz N r a t z -> evz N r a (nf F t) z.
Proof. intros HF H r' a' E. rewrite nf_ok; auto. Qed.
Lemma hold_app N r a F G : hold N r a F -> hold N r a G -> hold N r a (F ++ G).
Proof. intros A B r' a' E. apply Forall_app. split; [apply A|apply B]; auto. Qed.

Lemma closed_ok t : closed ns t = true -> forall r a r' a', agree ns r r' -> eval t r' a' = eval t r a.
Proof.
  pattern t. apply tm_ind'; intros; try discriminate; auto.
  - cbn in *. apply Nat.ltb_lt in H. now rewrite H0.
  - cbn [closed] in H0. cbn [Semantics.eval].
    assert (forallb (closed ns) ts = true) by (destruct o; auto; discriminate).
    f_equal. apply map_ext_in. intros t' Ht. rewrite Forall_forall in H. rewrite forallb_forall in H2. apply H; auto.
Qed.
Lemma closed_evz N r a t : ns <= N -> closed ns t = true -> evz N r a t (zv r a t).
Proof. intros L H r' a' E. unfold Inequalities.zv. f_equal. apply closed_ok; auto. intros x Hx. apply (ext_r _ _ _ _ _ E). lia. Qed.

Definition inr (v ds : list Z) := Forall2 (fun z d => (0 <= z < d)%Z) v ds.
Lemma in_range_ok N r a F t n z d : hold N r a F -> evz N r a t z -> evz N r a n d -> in_range F t n = true -> (0 <= z < d)%Z.
Proof.
  intros HF Ht Hn E. apply andb_prop in E as [E1 E2]. assert (H := HF r a (ext_refl _ _ _)).
  apply (pr_ok scalar lit prim inp r a) in E1, E2; auto. rewrite !psub_ok, pconst_ok, !poly_of_ok in E2 by auto. rewrite poly_of_ok in E1 by auto.
  rewrite (Ht r a), (Hn r a) in E2 by auto. rewrite (Ht r a) in E1 by auto. lia.
Qed.
Lemma in_ranges_ok N r a F : hold N r a F -> forall ts ns v ds, evs N r a ts v -> evs N r a ns ds -> in_ranges F ts ns = true -> inr v ds.
Proof.
  intros HF. induction ts as [|t ts IH]; intros [|n ns'] v ds Hv Hd E; try discriminate; cbn in E.
  - apply evs_nil_inv in Hv, Hd. subst. constructor.
  - apply andb_prop in E as [E1 E2]. apply evs_inv in Hv as (z & v' & -> & Hz & Hv). apply evs_inv in Hd as (d & ds' & -> & Hd & Hds).
    constructor; [eapply in_range_ok; eauto|eapply IH; eauto].
Qed.
Lemma atoms_ok r a F m : holds r a F -> forallb (fun x => pr F (patom x)) m = true -> Forall (fun x => (0 <= zv r a x)%Z) m.
Proof.
  intros HF E. apply Forall_forall. intros x Hx. rewrite forallb_forall in E. specialize (E _ Hx). apply (pr_ok scalar lit prim inp r a) in E; auto. now rewrite patom_ok in E.
Qed.
Lemma factors_of_ok r a F m : holds r a F -> (1 <= mval (zv r a) m)%Z -> holds r a (factors_of F m).
Proof.
  intros HF P. unfold factors_of. destruct (forallb _ m) eqn:E; [|constructor].
  assert (K1 : Forall (fun x => (1 <= zv r a x)%Z) m).
  { apply (atoms_ok r a F m HF) in E. induction m as [|x m IH]; [constructor|]. inversion_clear E. rewrite mval_cons in P.
    assert (0 <= mval (zv r a) m)%Z by (apply mval_nonneg; auto). constructor; [nia|apply IH; auto; nia]. }
  apply Forall_app. split.
  - apply Forall_map. eapply Forall_impl; [|exact K1]. intros x Hx. unfold at_least_one. rewrite psub_ok, patom_ok, pconst_ok. cbn beta in Hx. lia.
  - assert (Q : Forall (fun q => 0 <= pval (zv r a) q)%Z (map (fun ab => at_least_one (pmul (patom (fst ab)) (patom (snd ab)))) (pairs m))).
    { clear P E. apply Forall_map. induction K1 as [|x m Hx K IH]; cbn [pairs]; [constructor|]. apply Forall_app. split; [|exact IH].
      apply Forall_map. eapply Forall_impl; [|exact K]. intros y Hy. cbn [fst snd]. unfold at_least_one. rewrite psub_ok, pmul_ok, !patom_ok, pconst_ok. cbn beta in Hy. nia. }
    destruct m as [|? [|? [|? ?]]]; [constructor|constructor|constructor|exact Q].
Qed.
Lemma factors_ok r a F p : holds r a F -> (1 <= pval (zv r a) p)%Z -> holds r a (factors F p).
Proof.
  intros HF H.
  assert (Sum : forall m p, (1 <= pval (zv r a) ((m, 1%Z) :: p))%Z ->
    holds r a (if forallb (fun mc => (snd mc <=? 0)%Z && forallb (fun a => pr F (patom a)) (fst mc)) p then factors_of F m else [])).
  { clear H p. intros m p H. match goal with |- holds _ _ (if ?b then _ else _) => destruct b eqn:E; [|constructor] end. apply factors_of_ok; auto. rewrite pval_cons in H.
    assert (pval (zv r a) p <= 0)%Z; [|lia]. clear H. induction p as [|[m' c] p IH]; [cbn; lia|]. cbn [forallb fst snd] in E. apply andb_prop in E as [E E2].
    apply andb_prop in E as [E0 E1]. specialize (IH E2). rewrite pval_cons. apply Z.leb_le in E0.
    assert (0 <= mval (zv r a) m')%Z by (apply mval_nonneg; eapply atoms_ok; eauto). nia. }
  unfold factors. destruct p as [|[m [|[| |]|]] p]; try constructor.
  destruct m as [|t m]; [exact (Sum [] p H)|]. destruct t as [| | |o ts| | |]; try exact (Sum _ p H). destruct o; try exact (Sum _ p H).
  destruct ts as [|x [|y [|? ?]]]; try exact (Sum _ p H). destruct m as [|? ?]; try exact (Sum _ p H). destruct p as [|? ?]; try exact (Sum _ _ H).
  destruct (unpoly x) as [|[mx [|[| |]|]] px] eqn:Ex; try constructor. destruct px as [|? ?]; [|constructor].
  destruct (pr F (unpoly y)) eqn:Ey; [|constructor]. apply factors_of_ok; auto.
  apply (pr_ok scalar lit prim inp r a) in Ey; auto. rewrite unpoly_ok in Ey.
  rewrite pval_cons, mval_cons in H. cbn [mval pval fold_right] in H. change (zv r a (Op Idiv [x; y])) with (zv r a x / zv r a y)%Z in H.
  assert (X : zv r a x = mval (zv r a) mx). { rewrite <- unpoly_ok, Ex, pval_cons. cbn [pval fold_right]. lia. }
  rewrite <- X. destruct (Z.eq_dec (zv r a y) 0) as [E|E]. { rewrite E, Zdiv_0_r in H. lia. }
  assert (D := Z.mul_div_le (zv r a x) (zv r a y) ltac:(lia)). nia.
Qed.
Lemma unknown_ok r a F G : holds r a G -> holds r a (unknown F G).
Proof.
  unfold unknown, Inequalities.holds. rewrite !Forall_forall. intros H q Hq. apply H. now apply filter_In in Hq.
Qed.
Lemma range_facts_at r a F t n z d : holds r a F -> zv r a t = z -> zv r a n = d -> (0 <= z < d)%Z -> holds r a (range_facts F t n).
Proof.
  intros HF Ht Hn L. unfold range_facts. constructor; [|apply Forall_app; split].
  - rewrite poly_of_ok, Ht; auto. lia.
  - apply both_ways_ok. rewrite !psub_ok, pconst_ok, !poly_of_ok, Ht, Hn; auto. lia.
  - apply unknown_ok, factors_ok; auto. rewrite poly_of_ok, Hn by auto. lia.
Qed.
Lemma range_facts_ok N r a F t n z d : hold N r a F -> evz N r a t z -> evz N r a n d -> (0 <= z < d)%Z -> hold N r a (range_facts F t n).
Proof. intros HF Ht Hn L r' a' E. apply range_facts_at with (z := z) (d := d); auto. Qed.
Lemma ranges_ok N r a F : hold N r a F -> forall ts ns v ds, evs N r a ts v -> evs N r a ns ds -> inr v ds -> hold N r a (ranges F ts ns).
Proof.
  intros HF. induction ts as [|t ts IH]; intros [|n ns'] v ds Hv Hd L; try (intros r' a' E; solve [constructor]).
  cbn [ranges]. apply evs_inv in Hv as (z & v' & -> & Hz & Hv). apply evs_inv in Hd as (d & ds' & -> & Hd & Hds).
  inversion_clear L. apply hold_app; [eapply range_facts_ok; eauto|eapply IH; eauto].
Qed.

Lemma agree_upds N r v : agree N r (upds r N v).
Proof.
  revert r N. induction v as [|z v IH]; intros r N x Hx; cbn; auto.
  rewrite IH by lia. unfold upd. destruct (Nat.eqb_spec N x); [lia|auto].
Qed.
Lemma agree_upd N r z : agree N r (upd r N z).
Proof. intros x Hx. unfold upd. destruct (Nat.eqb_spec N x); [lia|auto]. Qed.
Lemma agreeA_upd N a s : agreeA N a (upd a N s).
Proof. intros x Hx k v. unfold upd. destruct (Nat.eqb_spec N x); [lia|auto]. Qed.
Lemma agreeA_refl N a : agreeA N a a. Proof. intros x; auto. Qed.
Lemma levels_ok N r a v : evs (N + List.length v) (upds r N v) a (levels N (List.length v)) v.
Proof.
  intros r' a' [E _]. unfold levels. rewrite map_map. revert N r E.
  induction v as [|z v IH]; intros N r E; cbn; auto. f_equal.
  - rewrite E by (cbn; lia). cbn. rewrite agree_upds by lia. unfold upd. now rewrite Nat.eqb_refl.
  - apply (IH (S N) (upd r N z)). intros x Hx. apply E. cbn. lia.
Qed.

Lemma mapM_nth {A B} (f : A -> option B) l l' : mapM f l = Some l' -> forall k d, k < List.length l -> exists b, f (nth k l d) = Some b /\ forall d', nth k l' d' = b.
Proof.
  revert l'. induction l as [|a l IH]; cbn; intros l' H k d Hk; [lia|].
  destruct (f a) as [b|] eqn:E; [|discriminate]. destruct (mapM f l) as [bs|] eqn:E2; [|discriminate]. injection H as <-.
  destruct k; [exists b; auto|]. apply (IH bs eq_refl k d). lia.
Qed.

Lemma mapM_length {A B} (f : A -> option B) l l' : mapM f l = Some l' -> List.length l = List.length l'.
Proof.
  revert l'. induction l as [|a l IH]; cbn; intros l' H. { injection H as <-. auto. }
  destruct (f a) as [b|] eqn:E; [|discriminate]. destruct (mapM f l) as [bs|] eqn:E2; [|discriminate]. injection H as <-. cbn. f_equal. auto.
Qed.
Lemma acc_ok exts N r a k (S_ : nat -> list Z -> val) : ns <= N -> forallb (forallb (closed ns)) exts = true ->
  (forall k v, k < List.length exts -> inr v (map (zv r a) (nth k exts [])) -> a N k v = S_ k v) ->
  vtab (S N) r a (acc_tab exts N k) (S_ k).
Proof.
  intros Hns Hcl H N1 r1 a1 F is v t HN E HF Hs Ht. unfold acc_tab in Ht.
  destruct (Nat.ltb_spec k (List.length exts)); [|discriminate]. rewrite normed_eq in Ht.
  destruct (in_ranges F is (nth k exts [])) eqn:Hin; [|discriminate]. cbn [bind] in Ht. injection Ht as <-.
  assert (Hd : evs N1 r1 a1 (nth k exts []) (map (zv r a) (nth k exts []))).
  { intros r2 a2 E2. apply map_ext_in. intros d Hd. unfold Inequalities.zv. f_equal. apply closed_ok.
    - rewrite forallb_forall in Hcl. assert (K := Hcl _ (nth_In exts [] H0)). rewrite forallb_forall in K. auto.
    - intros x Hx. rewrite (ext_r _ _ _ _ _ E2) by lia. apply (ext_r _ _ _ _ _ E). lia. }
  intros r2 a2 E2. cbn [Semantics.eval].
  assert (V : map (fun t => toZ scalar (eval t r2 a2)) (map (nf F) is) = v) by (apply (evs_nf N1 r1 a1 F is v HF Hs r2 a2 E2)).
  rewrite V. rewrite (ext_a _ _ _ _ _ E2), (ext_a _ _ _ _ _ E) by lia. apply H; auto. eapply in_ranges_ok; eauto.
Qed.
(* A sequence of states of accumulators, and what is known of its first element and of each next one. *)
Lemma fold_all_ok N0 r0 a0 exts init body (S_ : nat -> nat -> list Z -> val) count :
  ns <= N0 -> forallb (forallb (closed ns)) exts = true ->
  (forall k, k < List.length exts -> vtab N0 r0 a0 (init k) (S_ 0 k)) ->
  (forall i N r a k, i < count -> N0 <= N -> ext N0 r0 a0 r a -> r N = Z.of_nat i -> k < List.length exts ->
    forall accs, (forall k, k < List.length exts -> vtab (S N) r a (accs k) (S_ i k)) ->
    vtab (S N) r a (body accs N k) (S_ (S i) k)) ->
  forall cnt N r a F is v t k, N0 <= N -> ext N0 r0 a0 r a -> hold N r a F -> evs N r a is v -> k < List.length exts ->
  (exists c, evz N r a cnt c /\ count = Z.to_nat c) ->
  in_ranges F is (nth k exts []) = true ->
  fold_all exts init body cnt k N F is = Some t -> evt N r a t (S_ count k v).
Proof.
  intros Hns Hcl Hi Hb cnt N r a F is v t k HN E HF Hs Hk (c & Hc & Hcnt) Hin H.
  unfold fold_all in H.
  cbv zeta in H. match type of H with bind (mapM ?f ?l) _ = _ => destruct (mapM f l) as [accs|] eqn:HM end; [|discriminate]. cbn [bind] in H.
  injection H as <-. intros r' a' E'.
  assert (Hds : forall N r a k, ns <= N -> evs N r a (nth k exts []) (map (zv r a) (nth k exts []))).
  { intros N1 r1 a1 k1 L r2 a2 E2. apply map_ext_in. intros d Hd. apply closed_evz with (N := N1); auto.
    rewrite forallb_forall in Hcl. destruct (nth_in_or_default k1 exts []) as [K|K]; [|rewrite K in Hd; contradiction].
    specialize (Hcl _ K). rewrite forallb_forall in Hcl. auto. }
  assert (Hdn : forall r a r' a' k, agree ns r r' -> map (zv r' a') (nth k exts []) = map (zv r a) (nth k exts [])).
  { intros r1 a1 r2 a2 k1 A. apply map_ext_in. intros d Hd. unfold Inequalities.zv. f_equal. apply closed_ok; auto.
    rewrite forallb_forall in Hcl. destruct (nth_in_or_default k1 exts []) as [K|K]; [|rewrite K in Hd; contradiction].
    specialize (Hcl _ K). rewrite forallb_forall in Hcl. auto. }
  assert (Hv : inr v (map (zv r a) (nth k exts []))). { eapply in_ranges_ok; eauto. apply Hds. lia. }
  assert (E0 : ext N0 r0 a0 r' a') by (eapply ext_trans; eauto).
  assert (HF' : hold N r' a' F) by (eapply hold_mono; eauto).
  cbn [Semantics.eval].
  assert (C : toZ scalar (eval (nf F cnt) r' a') = c) by (apply (evz_nf N r a F cnt c HF Hc r' a' E')).
  rewrite C, <- Hcnt.
  assert (V : map (fun t => toZ scalar (eval t r' a')) (map (nf F) is) = v) by (apply (evs_nf N r a F is v HF Hs r' a' E')).
  rewrite V.
  match goal with |- iter count ?st ?s0 k v = _ => set (step := st); set (s0' := s0) end.
  assert (HL : List.length accs = List.length exts) by (rewrite <- (mapM_length _ _ _ HM); apply seq_length).
  assert (G : forall k, k < List.length exts -> exists i b, (forall d, nth k accs d = (i, b)) /\
      init k (S N + List.length (nth k exts [])) (ranges F (levels (S N) (List.length (nth k exts []))) (nth k exts []) ++ F)
        (levels (S N) (List.length (nth k exts []))) = Some i /\
      body (acc_tab exts N) N k (S N + List.length (nth k exts [])) (ranges F (levels (S N) (List.length (nth k exts []))) (nth k exts []) ++ range_facts F (Var N) cnt ++ F)
        (levels (S N) (List.length (nth k exts []))) = Some b).
  { intros k1 Hk1. destruct (mapM_nth _ _ _ HM k1 0) as (p & Hp & Hp'). { now rewrite seq_length. }
    rewrite seq_nth in Hp by auto. cbn [Nat.add] in Hp. cbv zeta in Hp.
    match type of Hp with bind ?x _ = _ => destruct x as [i|] eqn:Ei end; [|discriminate]. cbn [bind] in Hp.
    match type of Hp with bind ?x _ = _ => destruct x as [b|] eqn:Eb end; [|discriminate]. cbn [bind] in Hp.
    injection Hp as <-. exists i, b. auto. }
  assert (Hget : forall k, k < List.length exts -> forall i b, (forall d, nth k accs d = (i, b)) ->
    nth k (map (fun p => (eval (fst p), eval (snd p))) accs) (fun _ _ => VZ 0, fun _ _ => VZ 0) = (eval i, eval b)).
  { intros k1 Hk1 i b Hn. rewrite (nth_indep _ _ (eval (fst (Int 0, Int 0)), eval (snd (Int 0, Int 0)))) by (rewrite map_length; lia).
    rewrite (map_nth (fun p => (eval (fst p), eval (snd p)))). now rewrite Hn. }
  assert (Lv : forall k v, inr v (map (zv r' a') (nth k exts [])) -> List.length v = List.length (nth k exts [])).
  { intros k1 v1 K. rewrite <- (map_length (zv r' a') (nth k1 exts [])). unfold inr in K. induction K; cbn; congruence. }
  assert (I : forall M, M <= count -> forall k v, k < List.length exts -> inr v (map (zv r' a') (nth k exts [])) -> iter M step s0' k v = S_ M k v).
  { induction M as [|M IH]; intros HM1 k1 v1 Hk1 Hv1.
    - cbn [iter]. unfold s0'. destruct (G k1 Hk1) as (i & b & Hn & Ei & _). rewrite (Hget k1 Hk1 i b Hn). cbn [fst].
      assert (E1 : ext N r' a' (upds r' (S N) v1) a'). { split; [|apply agreeA_refl]. intros x Hx. apply agree_upds. lia. }
      rewrite <- (Lv _ _ Hv1) in Ei.
      refine (Hi k1 Hk1 (S N + List.length v1) (upds r' (S N) v1) a' _ _ v1 i _ _ _ _ Ei _ a' (ext_refl _ _ _)).
      + lia.
      + eapply ext_trans; eauto.
      + apply hold_app; [|eapply hold_mono; eauto; lia].
        eapply ranges_ok; [eapply hold_mono; eauto; lia|apply levels_ok|apply Hds; lia|].
        rewrite (Hdn r' a'); auto. intros x Hx. apply agree_upds. lia.
      + apply levels_ok.
    - cbn [iter]. unfold step at 1. destruct (G k1 Hk1) as (i & b & Hn & _ & Eb). rewrite (Hget k1 Hk1 i b Hn). cbn [snd].
      set (r1 := upd r' N (Z.of_nat M)). set (a1 := upd a' N (iter M step s0')).
      assert (E1 : ext N r' a' r1 a1). { split; [apply agree_upd|apply agreeA_upd]. }
      assert (E2 : ext (S N) r1 a1 (upds r1 (S N) v1) a1). { split; [apply agree_upds|apply agreeA_refl]. }
      assert (HrN : r1 N = Z.of_nat M). { unfold r1, upd. now rewrite Nat.eqb_refl. }
      rewrite <- (Lv _ _ Hv1) in Eb.
      assert (HB : vtab (S N) r1 a1 (body (acc_tab exts N) N k1) (S_ (S M) k1)).
      { apply Hb; auto; [eapply ext_trans; eauto|]. intros k3 _. apply acc_ok; auto; [lia|].
        intros k2 v2 Hk2 Hv2. unfold a1, upd at 1. rewrite Nat.eqb_refl. apply IH; auto; [lia|].
        rewrite (Hdn r' a') in Hv2; auto. intros x Hx. apply agree_upd. lia. }
      refine (HB (S N + List.length v1) (upds r1 (S N) v1) a1 _ _ v1 b _ E2 _ _ Eb _ a1 (ext_refl _ _ _)).
      + lia.
      + assert (HF2 : hold (S N + List.length v1) (upds r1 (S N) v1) a1 F).
        { eapply hold_mono; [exact HF'|lia|]. eapply ext_trans; [exact E1| |exact E2]; lia. }
        apply hold_app; [|apply hold_app; auto].
        * eapply ranges_ok; [exact HF2|apply levels_ok|apply Hds; lia|].
          rewrite (Hdn r' a'); auto. intros x Hx. rewrite agree_upds by lia. unfold r1. apply agree_upd. lia.
        * eapply range_facts_ok with (z := Z.of_nat M) (d := c); auto; [| |lia].
          -- intros r2 a2 [E3 _]. unfold Inequalities.zv. cbn. rewrite E3 by lia. rewrite agree_upds by lia. auto.
          -- eapply evz_mono; [exact Hc|lia|]. assert (E3 : ext N r' a' (upds r1 (S N) v1) a1) by (eapply ext_trans; [exact E1| |exact E2]; lia). eapply ext_trans; [exact E'| |exact E3]; lia.
      + apply levels_ok. }
  apply I; auto. rewrite (Hdn r a); auto. intros x Hx. apply (ext_r _ _ _ _ _ E'). lia.
Qed.

Lemma same_poly_ok N r a F : hold N r a F -> forall xs ys v w, evs N r a xs v -> evs N r a ys w -> same_poly F xs ys = true -> v = w.
Proof.
  intros HF. induction xs as [|x xs IH]; intros [|y ys] v w Hv Hw H; try discriminate; cbn [same_poly] in H.
  - apply evs_nil_inv in Hv, Hw. congruence.
  - apply andb_prop in H as [H1 H2]. apply evs_inv in Hv as (zx & v' & -> & Hx & Hv). apply evs_inv in Hw as (zy & w' & -> & Hy & Hw).
    f_equal; [|eapply IH; eauto]. assert (HF0 := HF r a (ext_refl _ _ _)).
    apply (peqb_ok scalar lit prim inp r a) in H1. rewrite !poly_of_ok in H1 by auto.
    rewrite (Hx r a), (Hy r a) in H1 by auto. auto.
Qed.
Lemma fold_point_ok N0 r0 a0 exts init body (S_ : nat -> nat -> list Z -> val) count :
  ns <= N0 -> forallb (forallb (closed ns)) exts = true ->
  (forall k, k < List.length exts -> vtab N0 r0 a0 (init k) (S_ 0 k)) ->
  (forall i N r a k, i < count -> N0 <= N -> ext N0 r0 a0 r a -> r N = Z.of_nat i -> k < List.length exts ->
    forall accs, (forall k, k < List.length exts -> vtab (S N) r a (accs k) (S_ i k)) ->
    vtab (S N) r a (body accs N k) (S_ (S i) k)) ->
  forall cnt N r a F is v t k only, N0 <= N -> ext N0 r0 a0 r a -> hold N r a F -> evs N r a is v -> k < List.length exts ->
  (exists c, evz N r a cnt c /\ count = Z.to_nat c) ->
  in_ranges F is (nth k exts []) = true -> is <> [] -> picked only k = true ->
  fold_point exts init body cnt k only N F is = Some t -> evt N r a t (S_ count k v).
Proof.
  intros Hns Hcl Hi Hb cnt N r a F is v t k only HN E HF Hs Hk (c & Hc & Hcnt) Hin Hne Hpk H.
  unfold fold_point in H. cbv zeta in H. match type of H with bind (mapM ?f ?l) _ = _ => destruct (mapM f l) as [accs|] eqn:HM end; [|discriminate].
  cbn [bind] in H. injection H as <-. intros r' a' E'. 
  set (vz := fun k => match nth k exts [] with [] => [] | _ => v end).
  assert (Hch : forall k, evs N r a (chosen exts is k) (vz k)).
  { intros k1. unfold chosen, vz. destruct (nth k1 exts []); [apply evs_nil|auto]. }
  assert (HF' : hold N r' a' F) by (eapply hold_mono; eauto).
  cbn [Semantics.eval].
  assert (C : toZ scalar (eval (nf F cnt) r' a') = c) by (apply (evz_nf N r a F cnt c HF Hc r' a' E')).
  rewrite C, <- Hcnt. cbn [map].
  match goal with |- iter count ?st ?s0 k [] = _ => set (step := st); set (s0' := s0) end.
  assert (G : forall k, k < List.length exts -> picked only k = true -> exists i b, (forall d, nth k accs d = (i, b)) /\
      init k (S N) F (chosen exts is k) = Some i /\
      body (acc_point exts only is N) N k (S N) (range_facts F (Var N) cnt ++ F) (chosen exts is k) = Some b).
  { intros k1 Hk1 Hp1. destruct (mapM_nth _ _ _ HM k1 0) as (p & Hp & Hp'). { now rewrite seq_length. }
    rewrite seq_nth in Hp by auto. cbn [Nat.add] in Hp. cbv zeta in Hp. rewrite Hp1 in Hp.
    destruct (in_ranges F (chosen exts is k1) (nth k1 exts [])); [|discriminate].
    match type of Hp with bind ?x _ = _ => destruct x as [i|] eqn:Ei end; [|discriminate]. cbn [bind] in Hp.
    match type of Hp with bind ?x _ = _ => destruct x as [b|] eqn:Eb end; [|discriminate]. cbn [bind] in Hp.
    injection Hp as <-. exists i, b. auto. }
  assert (HL : List.length accs = List.length exts) by (rewrite <- (mapM_length _ _ _ HM); apply seq_length).
  assert (Hget : forall k, k < List.length exts -> forall i b, (forall d, nth k accs d = (i, b)) ->
    nth k (map (fun p => (eval (fst p), eval (snd p))) accs) (fun _ _ => VZ 0, fun _ _ => VZ 0) = (eval i, eval b)).
  { intros k1 Hk1 i b Hn. rewrite (nth_indep _ _ (eval (fst (Int 0, Int 0)), eval (snd (Int 0, Int 0)))) by (rewrite map_length; lia).
    rewrite (map_nth (fun p => (eval (fst p), eval (snd p)))). now rewrite Hn. }
  assert (I : forall M, M <= count -> forall k, k < List.length exts -> picked only k = true -> iter M step s0' k [] = S_ M k (vz k)).
  { induction M as [|M IH]; intros HM1 k1 Hk1 Hp1.
    - cbn [iter]. unfold s0'. destruct (G k1 Hk1 Hp1) as (i & b & Hn & Ei & _). rewrite (Hget k1 Hk1 i b Hn). cbn [fst upds].
      refine (Hi k1 Hk1 (S N) r' a' F _ (vz k1) i _ _ _ _ Ei r' a' (ext_refl _ _ _)); [lia|eapply ext_trans; eauto| |].
      + eapply hold_mono; [exact HF'|lia|apply ext_refl].
      + eapply evs_mono; [apply Hch|lia|exact E'].
    - cbn [iter]. unfold step at 1. destruct (G k1 Hk1 Hp1) as (i & b & Hn & _ & Eb). rewrite (Hget k1 Hk1 i b Hn). cbn [snd upds].
      set (r1 := upd r' N (Z.of_nat M)). set (a1 := upd a' N (iter M step s0')).
      assert (E1 : ext N r' a' r1 a1). { split; [apply agree_upd|apply agreeA_upd]. }
      assert (HrN : r1 N = Z.of_nat M). { unfold r1, upd. now rewrite Nat.eqb_refl. }
      assert (E2 : ext N r a r1 a1) by (eapply ext_trans; eauto).
      assert (HB : vtab (S N) r1 a1 (body (acc_point exts only is N) N k1) (S_ (S M) k1)).
      { apply Hb; auto; [eapply ext_trans; eauto|]. intros k3 Hk3 N3 r3 a3 F3 is3 v3 t3 L3 E3 HF3 Hs3 Ht3.
        unfold acc_point in Ht3. 
        match type of Ht3 with (if ?b then _ else _) = _ => destruct b eqn:B; [|discriminate] end. injection Ht3 as <-.
        apply andb_prop in B as [B B3]. apply andb_prop in B as [_ B2].
        assert (V : v3 = vz k3).
        { eapply (same_poly_ok N3 r3 a3 F3 HF3); [exact Hs3| |exact B3]. eapply evs_mono; [apply Hch|lia|].
          eapply ext_trans; [exact E2| |exact E3]. lia. }
        subst v3. intros r4 a4 E4. cbn [Semantics.eval map].
        rewrite (ext_a _ _ _ _ _ E4), (ext_a _ _ _ _ _ E3) by lia. unfold a1, upd. rewrite Nat.eqb_refl. apply IH; auto. lia. }
      refine (HB (S N) r1 a1 _ _ (vz k1) b (le_n _) (ext_refl _ _ _) _ _ Eb _ a1 (ext_refl _ _ _)).
      + assert (HF2 : hold (S N) r1 a1 F). { eapply hold_mono; [exact HF'|lia|exact E1]. }
        apply hold_app; auto. eapply range_facts_ok with (z := Z.of_nat M) (d := c); auto; [| |lia].
        * intros r2 a2 [E3 _]. unfold Inequalities.zv. cbn. rewrite E3 by lia. auto.
        * eapply evz_mono; [exact Hc|lia|exact E2].
      + eapply evs_mono; [apply Hch|lia|exact E2]. }
  rewrite I by auto. unfold vz. destruct (nth k exts []) eqn:Ek; auto.
  destruct is; [congruence|]. discriminate.
Qed.
Lemma fold_ok N0 r0 a0 exts init body (S_ : nat -> nat -> list Z -> val) count :
  ns <= N0 -> forallb (forallb (closed ns)) exts = true ->
  (forall k, k < List.length exts -> vtab N0 r0 a0 (init k) (S_ 0 k)) ->
  (forall i N r a k, i < count -> N0 <= N -> ext N0 r0 a0 r a -> r N = Z.of_nat i -> k < List.length exts ->
    forall accs, (forall k, k < List.length exts -> vtab (S N) r a (accs k) (S_ i k)) ->
    vtab (S N) r a (body accs N k) (S_ (S i) k)) ->
  forall cnt N r a F is v t k, N0 <= N -> ext N0 r0 a0 r a -> hold N r a F -> evs N r a is v -> k < List.length exts ->
  (exists c, evz N r a cnt c /\ count = Z.to_nat c) ->
  fold_tab exts init body cnt k N F is = Some t -> evt N r a t (S_ count k v).
Proof.
  intros Hns Hcl Hi Hb cnt N r a F is v t k HN E HF Hs Hk Hc H. unfold fold_tab in H.
  destruct (in_ranges F is (nth k exts [])) eqn:Hin; [|discriminate].
  assert (A := fold_all_ok N0 r0 a0 exts init body S_ count Hns Hcl Hi Hb cnt N r a F is v t k HN E HF Hs Hk Hc Hin).
  assert (P := fun only t => fold_point_ok N0 r0 a0 exts init body S_ count Hns Hcl Hi Hb cnt N r a F is v t k only HN E HF Hs Hk Hc Hin).
  destruct is as [|i is]; [auto|].
  destruct (fold_point exts init body cnt k (Some k) N F (i :: is)) as [t1|] eqn:E1.
  - injection H as <-. apply (P (Some k)); auto; [discriminate|]. cbn. apply Nat.eqb_refl.
  - match type of H with match ?m with _ => _ end = _ => destruct m as [t2|] eqn:E2; [|auto] end. injection H as <-.
    apply (P None); auto; [discriminate|]. destruct exts as [|? [|? ?]]; auto; discriminate.
Qed.
End Rep.
