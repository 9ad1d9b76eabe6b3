(* Loops read and write inside their arrays only, with subscripts that are data (gather) among them: for all sizes that the certificate allows, all inputs, every order of iterations.
   Subscripts are followed by the prover of Inequalities.v from the ranges of the loops around, from the conditions of choices, and from what is known
   of arrays of indices. *)
From Coq Require Import ZArith List String Bool Lia Arith Permutation.
From Lozenge Require Import Syntax Semantics Poly Norm Rep Source Target TargetSound Checker Lazy.
Import ListNotations.

Section Check.
Variable ns : nat.
Variable base : facts.
Variable dim : nat -> list tm.
Variable idx : list (nat * tm).

(* What is known of elements of index arrays inside a subscript. *)
Fixpoint elements (F : facts) (t : tm) : facts :=
  match t with
  | In a cs is => match find (fun p => Nat.eqb (fst p) a) idx with
      | Some p => [patom t; psub (psub (poly_of F (snd p)) (pconst 1)) (patom t)]
      | None => [] end
  | Op o ts => match o with Select | Scalar _ => [] | _ => flat_map (elements F) ts end
  | _ => []
  end.
Fixpoint inside (F : facts) (is ds : list tm) : bool :=
  match is, ds with
  | [], [] => true
  | i :: is, d :: ds => in_range F i d && inside F is ds
  | _, _ => false
  end.
Fixpoint echeck (F : facts) (t : tm) {struct t} : bool :=
  match t with
  | Op o ts =>
      match o, ts with
      | Select, [c; a; b] => echeck F c && echeck (when (poly_of F) c true ++ F) a && echeck (when (poly_of F) c false ++ F) b
      | Select, _ => false
      | _, _ => forallb (echeck F) ts
      end
  | In a cs is => forallb (echeck F) is && inside (flat_map (elements F) is ++ F) is (dim a)
  | Acc _ _ _ | Fold _ _ _ _ _ => false
  | _ => true
  end.
(* Facts that none of these arrays has a part in, and those that say nothing of a variable. *)
Fixpoint kept (W : list nat) (t : tm) : bool :=
  match t with
  | Var _ | Int _ | Lit _ => true
  | Op _ ts => forallb (kept W) ts
  | In a _ is => negb (mem a W) && forallb (kept W) is
  | _ => false end.
Fixpoint about (x : nat) (t : tm) : bool :=
  match t with Var y => Nat.eqb x y | Op _ ts => existsb (about x) ts | In _ _ is => existsb (about x) is | _ => false end.
Definition only (f : tm -> bool) (G : facts) : facts := filter (fun p => forallb (fun mc => forallb f (fst mc)) p) G.
(* [G]: what the branches around say, of sizes, variables, and arrays that the command does not write. *)
Fixpoint bcheck (cx : ctx) (G : facts) (c : cmd) : bool :=
  match c with
  | Skip => true
  | Seq a b => bcheck cx G a && bcheck cx G b
  | Assign w cs is e => let F := G ++ sfacts base cx in echeck F (In w cs is) && echeck F e
  | Local _ c => bcheck cx G c
  | For _ x n c => scoped ns cx n && fresh ns x cx && bcheck ((x, n) :: cx) (only (fun t => negb (about x t)) G) c
  | If b c1 c2 => let F := G ++ sfacts base cx in
      echeck F b && bcheck cx (only (kept (written c1)) (when (poly_of F) b true) ++ G) c1 &&
        bcheck cx (only (kept (written c2)) (when (poly_of F) b false) ++ G) c2
  end.
End Check.

Definition inbounds (ct : certificate) : bool :=
  forallb (fun p => negb (mem (fst p) (written (target ct)))) (indices ct) &&
  forallb (fun p => closed (sizes ct) (snd p)) (indices ct) &&
  forallb (fun p => forallb (closed (sizes ct)) (snd (snd p))) (dims ct) &&
  bcheck (sizes ct) (base_facts ct) (extents ct) (indices ct) [] [] (target ct).

(* ---------- what it means ---------- *)
Section Meaning.
Variable scalar : Type.
Variable lit : string -> val scalar.
Variable prim : string -> list (val scalar) -> val scalar.
Variable dimz : nat -> list Z.
Notation store := (store scalar).
Notation ev := (Semantics.ev scalar lit prim).
Notation evz := (Semantics.evz scalar lit prim).
Notation exec := (exec scalar lit prim).

Definition within (v ds : list Z) : Prop := Forall2 (fun i d => 0 <= i < d)%Z v ds.

(* All elements that the value of a term needs are inside. Of a choice only the chosen side is evaluated. *)
Fixpoint reads (s : store) (io : nat -> Z) (t : tm) : Prop :=
  match t with
  | Op o ts =>
      match o, ts with
      | Select, [c; a; b] => reads s io c /\ (if truth scalar (ev s io c) then reads s io a else reads s io b)
      | _, _ => fold_right (fun t P => reads s io t /\ P) True ts
      end
  | In a cs is => fold_right (fun t P => reads s io t /\ P) True is /\ within (map (evz s io) is) (dimz a)
  | _ => True
  end.
Fixpoint along (P : nat -> store -> Prop) (R : nat -> store -> store -> Prop) (is : list nat) (s : store) : Prop :=
  match is with [] => True | i :: is => P i s /\ forall s1, R i s s1 -> along P R is s1 end.
(* Everything that any execution reads and writes on its way is inside. *)
Fixpoint safe (c : cmd) (io : nat -> Z) (s : store) : Prop :=
  match c with
  | Skip => True
  | Seq a b => safe a io s /\ forall s1, exec a io s s1 -> safe b io s1
  | Assign w cs is e => reads s io (In w cs is) /\ reads s io e
  | Local w c => forall junk, safe c io (upd s w junk)
  | For par x n c => forall is,
      (if par : bool then Permutation (seq 0 (Z.to_nat (evz s io n))) is else is = seq 0 (Z.to_nat (evz s io n))) ->
      along (fun i => safe c (upd io x (Z.of_nat i))) (fun i => exec c (upd io x (Z.of_nat i))) is s
  | If b c1 c2 => reads s io b /\ (if truth scalar (ev s io b) then safe c1 io s else safe c2 io s)
  end.
End Meaning.

Definition stays_inside (ct : certificate) : Prop :=
  forall (scalar : Type) (lit : string -> val scalar) (prim : string -> list (val scalar) -> val scalar)
    (size : nat -> Z) (before : store scalar),
  let z := Semantics.evz scalar lit prim before size in
  let dimz a := map z (extents ct a) in
  Forall (fun t => (0 <= z t)%Z) (assume ct) ->
  (forall a n, List.In (a, n) (indices ct) -> forall cs v, within v (dimz a) -> (0 <= toZ scalar (before a cs v) < z n)%Z) ->
  safe scalar lit prim dimz (target ct) size before.

(* ---------- soundness ---------- *)
Section Sound.
Variable scalar : Type.
Variable lit : string -> val scalar.
Variable prim : string -> list (val scalar) -> val scalar.
Variable inp : store scalar.
Variable ns : nat.
Variable rs : nat -> Z.
Variable base : facts.
Variable dim : nat -> list tm.
Variable idx : list (nat * tm).
Notation store := (store scalar).
Notation aenv0 := (aenv0 scalar).
Notation exec := (exec scalar lit prim).
Notation zvs s := (zv scalar lit prim s).
Notation z := (zv scalar lit prim inp rs aenv0).
Notation ev := (Semantics.ev scalar lit prim).
Notation holds s io := (Inequalities.holds scalar lit prim s io aenv0).
Notation dimz := (fun a => map z (dim a)).
Notation reads := (reads scalar lit prim dimz).
Notation safe := (safe scalar lit prim dimz).
Hypothesis Hbase : forall (s : store) r a, agree ns rs r -> Inequalities.holds scalar lit prim s r a base.
Hypothesis Hdim : forall a, List.forallb (closed ns) (dim a) = true.
Hypothesis Hidx : forall p, List.In p idx -> closed ns (snd p) = true.

Definition idxok (s : store) : Prop := forall a n, List.In (a, n) idx -> forall cs v, within v (dimz a) -> (0 <= toZ scalar (s a cs v) < z n)%Z.

Section At.
Variable s : store.
Variable io : nat -> Z.
Hypothesis A : agree ns rs io.
Hypothesis I : idxok s.

Lemma elements_ok F : holds s io F -> forall t, reads s io t -> holds s io (elements idx F t).
Proof.
  intros HF. apply (tm_ind' (fun t => reads s io t -> holds s io (elements idx F t))); intros; try constructor.
  - assert (G : fold_right (fun t P => reads s io t /\ P) True ts -> holds s io (flat_map (elements idx F) ts)).
    { clear H0. induction H as [|t ts Ht _ IH]; cbn; [constructor|]. intros [H1 H2]. apply Forall_app; split; [apply Ht|apply IH]; assumption. }
    destruct o; cbn [elements]; try constructor; apply G; exact H0.
  - cbn [elements]. destruct (find _ idx) as [p|] eqn:E; [|constructor]. apply find_some in E as [Hp E]. apply Nat.eqb_eq in E. subst.
    destruct H0 as [_ H0]. destruct p as [a n]. cbn [fst snd] in *.
    assert (K := I a n Hp cs _ H0). change (toZ scalar (s a cs (map (Semantics.evz scalar lit prim s io) is))) with (zvs s io aenv0 (In a cs is)) in K.
    repeat constructor.
    + rewrite patom_ok. lia.
    + rewrite !psub_ok, pconst_ok, patom_ok, poly_of_ok by auto.
      rewrite (closed_any scalar lit prim inp ns rs n (Hidx _ Hp) s io aenv0 A). lia.
Qed.

Lemma inside_ok F : holds s io F -> forall is ds, inside F is ds = true -> List.forallb (closed ns) ds = true ->
  within (map (Semantics.evz scalar lit prim s io) is) (map z ds).
Proof.
  intros HF. induction is as [|i is IH]; intros [|d ds] H Hc; try discriminate; cbn [map]; constructor; cbn [inside List.forallb] in *;
    apply andb_prop in H as [H1 H2]; apply andb_prop in Hc as [Hd Hc]; auto.
  2:{ apply IH; auto. }
  unfold in_range, in_range_p in H1. apply andb_prop in H1 as [H0 H1].
  apply (pr_ok scalar lit prim s io aenv0) in H0, H1; auto. rewrite !psub_ok, pconst_ok, !poly_of_ok in H1 by auto. rewrite poly_of_ok in H0 by auto.
  rewrite (closed_any scalar lit prim inp ns rs d Hd s io aenv0 A) in H1.
  change (Semantics.evz scalar lit prim s io i) with (zvs s io aenv0 i). lia.
Qed.

Lemma echeck_ok : forall t F, holds s io F -> echeck dim idx F t = true -> reads s io t.
Proof.
  apply (tm_ind' (fun t => forall F, holds s io F -> echeck dim idx F t = true -> reads s io t)); intros; try exact Logic.I; try discriminate.
  - assert (G : forall ts F, Forall (fun t => forall F, holds s io F -> echeck dim idx F t = true -> reads s io t) ts -> holds s io F ->
        forallb (echeck dim idx F) ts = true -> fold_right (fun t P => reads s io t /\ P) True ts).
    { clear. intros ts F K HF. induction K as [|t ts Ht _ IH]; cbn; auto. intros E. apply andb_prop in E as [E1 E2]. split; eauto. }
    destruct o; try (apply (G ts F H H0); exact H1).
    destruct ts as [|c [|a [|b [|? ?]]]]; try discriminate. cbn [echeck] in H1.
    apply andb_prop in H1 as [H1 H4]. apply andb_prop in H1 as [H1 H3].
    inversion_clear H as [|? ? Hc H']; inversion_clear H' as [|? ? Ha H'']; inversion_clear H'' as [|? ? Hb _].
    cbn [Inside.reads]. split; [eauto|]. destruct (truth scalar (ev s io c)) eqn:E.
    + apply (Ha (when (poly_of F) c true ++ F)); auto. apply Forall_app; split; [apply when_ok; [intros; now apply poly_of_ok|]|]; assumption.
    + apply (Hb (when (poly_of F) c false ++ F)); auto. apply Forall_app; split; [apply when_ok; [intros; now apply poly_of_ok|]|]; assumption.
  - cbn [echeck] in H1. apply andb_prop in H1 as [H1 H2].
    assert (R : fold_right (fun t P => reads s io t /\ P) True is).
    { clear H2. induction H as [|t ts Ht _ IH]; cbn in *; auto. apply andb_prop in H1 as [E1 E2]. split; eauto. }
    split; [exact R|]. apply (inside_ok (flat_map (elements idx F) is ++ F)); [|exact H2|apply Hdim].
    apply Forall_app; split; [|assumption].
    clear H H1 H2. induction is as [|i is IH]; cbn; [constructor|]. destruct R as [R1 R2].
    apply Forall_app; split; [apply elements_ok|apply IH]; assumption.
Qed.
End At.

Lemma along_ok (P : nat -> store -> Prop) (R : nat -> store -> store -> Prop) (Q : store -> Prop) is :
  (forall i s, List.In i is -> Q s -> P i s) -> (forall i s s', List.In i is -> R i s s' -> Q s -> Q s') -> forall s, Q s -> along scalar P R is s.
Proof.
  induction is as [|i is IH]; cbn; auto. intros HP HR s Hs. split; auto. intros s1 H1. apply IH; eauto.
Qed.

(* Such facts do not change with the memory that is written, nor with other variables. *)
Definition unchanged (W : list nat) (s s' : store) : Prop := forall a, ~ List.In a W -> forall cs v, s a cs v = s' a cs v.
Lemma kept_zv W t : kept W t = true -> forall s s' io io', unchanged W s s' -> (forall y, about y t = true -> io y = io' y) -> zvs s io aenv0 t = zvs s' io' aenv0 t.
Proof.
  intros H s s' io io' U E. unfold zv. f_equal. revert H E. pattern t. apply tm_ind'; clear t; try discriminate; try reflexivity.
  - intros y _ E. cbn. rewrite E; auto. apply Nat.eqb_refl.
  - intros o ts IH H E. cbn [Semantics.eval]. f_equal. apply map_ext_in. intros t Ht. cbn [kept about] in *. rewrite Forall_forall in IH. rewrite forallb_forall in H. apply IH; auto.
    intros y Hy. apply E. apply existsb_exists. eauto.
  - intros a cs is IH H E. cbn [Semantics.eval]. cbn [kept about] in *. apply andb_prop in H as [Ha H]. apply negb_true_iff, mem_false in Ha. rewrite (U a Ha). f_equal.
    apply map_ext_in. intros t Ht. f_equal. rewrite Forall_forall in IH. rewrite forallb_forall in H. apply IH; auto. intros y Hy. apply E. apply existsb_exists. eauto.
Qed.
Lemma only_in f G p : List.In p (only f G) -> List.In p G /\ forall mc, List.In mc p -> forall a, List.In a (fst mc) -> f a = true.
Proof.
  intros H. apply filter_In in H as [H K]. split; auto. intros mc Hmc a Ha. rewrite forallb_forall in K. specialize (K mc Hmc). rewrite forallb_forall in K. auto.
Qed.
Lemma same_pval s s' io io' p : (forall mc, List.In mc p -> forall a, List.In a (fst mc) -> zvs s io aenv0 a = zvs s' io' aenv0 a) ->
  pval (zvs s io aenv0) p = pval (zvs s' io' aenv0) p.
Proof.
  intros H. induction p as [|[m c] p IH]; [reflexivity|]. rewrite !pval_cons, IH by (intros; eapply H; eauto; now right). do 2 f_equal.
  assert (K : forall a, List.In a m -> zvs s io aenv0 a = zvs s' io' aenv0 a) by (intros; apply (H (m, c)); auto; now left). clear -K.
  induction m as [|a m IH]; [reflexivity|]. rewrite !mval_cons, (K a (or_introl eq_refl)), IH; auto. intros b Hb. apply K. now right.
Qed.
Definition lasting (W : list nat) (G : facts) : Prop := forall p, List.In p G -> forall mc, List.In mc p -> forall a, List.In a (fst mc) -> kept W a = true.
Lemma holds_lasting W G s s' io : lasting W G -> unchanged W s s' -> holds s io G -> holds s' io G.
Proof.
  intros L U H. unfold Inequalities.holds in *. rewrite Forall_forall in *. intros p Hp. rewrite <- (same_pval s s' io io p); auto.
  intros mc Hmc a Ha. eapply kept_zv; eauto.
Qed.
Lemma holds_other W G s io x i : lasting W G -> holds s io G -> holds s (upd io x i) (only (fun t => negb (about x t)) G).
Proof.
  intros L H. unfold Inequalities.holds in *. rewrite Forall_forall in *. intros p Hp. apply only_in in Hp as [Hp K].
  rewrite (same_pval s s (upd io x i) io p); auto. intros mc Hmc a Ha. apply (kept_zv W); [eapply L; eauto|intros b _ cs v; reflexivity|].
  intros y Hy. unfold upd. destruct (Nat.eqb_spec x y); auto. subst. specialize (K mc Hmc a Ha). cbn beta in K. rewrite Hy in K. discriminate.
Qed.
Lemma kept_less W W' t : incl W' W -> kept W t = true -> kept W' t = true.
Proof.
  intros I. pattern t. apply tm_ind'; clear t; auto.
  - intros o ts IH H. cbn [kept] in *. rewrite Forall_forall in IH. rewrite forallb_forall in *. auto.
  - intros a cs is IH H. cbn [kept] in *. apply andb_prop in H as [Ha H]. rewrite Forall_forall in IH. apply andb_true_intro. split.
    + apply negb_true_iff in Ha. apply negb_true_iff. apply not_true_is_false. intros E. apply mem_false in Ha. apply Ha, I. apply existsb_exists in E as (b & Hb & E). apply Nat.eqb_eq in E. now subst.
    + rewrite forallb_forall in *. auto.
Qed.
Lemma lasting_less W W' G : incl W' W -> lasting W G -> lasting W' G.
Proof. intros I L p Hp mc Hmc a Ha. eapply kept_less; eauto. Qed.
Lemma lasting_only W f G : lasting W G -> lasting W (only f G).
Proof. intros L p Hp. apply only_in in Hp as [Hp _]. exact (L p Hp). Qed.
Lemma lasting_when W F b v G : lasting W G -> lasting W (only (kept W) (when (poly_of F) b v) ++ G).
Proof. intros L p Hp. apply in_app_or in Hp as [Hp|Hp]; [|exact (L p Hp)]. apply only_in in Hp as [_ K]. exact K. Qed.
Lemma holds_only f s io G : holds s io G -> holds s io (only f G).
Proof. unfold Inequalities.holds. rewrite !Forall_forall. intros H p Hp. apply only_in in Hp as [Hp _]. auto. Qed.

Lemma bcheck_ok c : forall cx G io s, bcheck ns base dim idx cx G c = true -> agree ns rs io -> okcx scalar lit prim inp ns io cx -> lasting (written c) G -> holds s io G -> idxok s ->
  (forall a n, List.In (a, n) idx -> ~ List.In a (written c)) -> safe c io s.
Proof.
  assert (KEEP : forall c s s', (forall a n, List.In (a, n) idx -> ~ List.In a (written c)) -> forall io, exec c io s s' -> idxok s -> idxok s').
  { intros c0 s s' Hw io He Hs a n Hin cs v Hv. rewrite (unwritten scalar lit prim c0 a (Hw a n Hin) io s s' He). eapply Hs; eauto. }
  induction c; cbn [bcheck Inside.safe written]; intros cx G io s H A Hcx LG HG Hs Hw; auto.
  - apply andb_prop in H as [H1 H2].
    assert (W1 : forall a n, List.In (a, n) idx -> ~ List.In a (written c1)) by (intros a n Hi C; apply (Hw a n Hi), in_or_app; auto).
    assert (W2 : forall a n, List.In (a, n) idx -> ~ List.In a (written c2)) by (intros a n Hi C; apply (Hw a n Hi), in_or_app; auto).
    split; [eapply IHc1; eauto; eapply lasting_less; [|exact LG]; apply incl_appl, incl_refl|]. intros s1 E1. eapply IHc2; eauto.
    + eapply lasting_less; [|exact LG]. apply incl_appr, incl_refl.
    + eapply holds_lasting; [exact LG| |exact HG]. intros a Ha cs v. symmetry. eapply unwritten; [|exact E1]. intros C. apply Ha, in_or_app. auto.
  - cbv zeta in H. apply andb_prop in H as [H1 H2]. assert (HF := proj2 (Forall_app _ _ _) (conj HG (sfacts_ok scalar lit prim inp ns rs base Hbase io cx s A Hcx))).
    split; eapply echeck_ok; eauto.
  - intros junk. eapply IHc; eauto.
    + eapply lasting_less; [|exact LG]. intros v Hv. now right.
    + eapply holds_lasting; [exact LG| |exact HG]. intros a Ha cs v. unfold upd. destruct (Nat.eqb_spec w a); auto. subst. destruct Ha. now left.
    + intros a n Hin cs v Hv. unfold upd. destruct (Nat.eqb_spec w a); [|eapply Hs; eauto]. subst. exfalso. apply (Hw a n Hin). now left.
    + intros a n Hin C. apply (Hw a n Hin). now right.
  - apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2]. intros is Hp.
    assert (Hlt : forall i, List.In i is -> (0 <= Z.of_nat i < bound scalar lit prim inp io n)%Z).
    { intros i Hi. assert (L : List.In i (seq 0 (Z.to_nat (Semantics.evz scalar lit prim s io n)))).
      { destruct par; [eapply Permutation_in; [apply Permutation_sym|]; eauto|now subst]. }
      apply in_seq in L. change (Semantics.evz scalar lit prim s io n) with (zvs s io aenv0 n) in L.
      rewrite (scoped_store scalar lit prim ns cx n H1 s inp io aenv0 aenv0) in L.
      change (zvs inp io aenv0 n) with (bound scalar lit prim inp io n) in L. lia. }
    apply along_ok with (Q := fun s1 => idxok s1 /\ unchanged (written c) s s1).
    + intros i s1 Hi [Q U]. eapply IHc; eauto. { eapply agree_fresh; eauto. } { apply okcx_cons; auto. } { apply lasting_only; auto. }
      eapply holds_other; eauto. eapply holds_lasting; eauto.
    + intros i s1 s2 Hi E [Q U]. split; [eapply KEEP; eauto|]. intros a Ha cs v. rewrite (U a Ha). symmetry. eapply unwritten; eauto.
    + split; auto. intros a _ cs v. reflexivity.
  - cbv zeta in H. apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2].
    assert (HF := proj2 (Forall_app _ _ _) (conj HG (sfacts_ok scalar lit prim inp ns rs base Hbase io cx s A Hcx))).
    split; [eapply echeck_ok; eauto|].
    assert (W : forall V v, truth scalar (ev s io b) = v -> holds s io (only (kept V) (when (poly_of (G ++ sfacts base cx)) b v) ++ G)).
    { intros V v E. apply Forall_app. split; auto. apply holds_only, when_ok; auto. intros; now apply poly_of_ok. }
    destruct (truth scalar _) eqn:E.
    + eapply IHc1; eauto. { apply lasting_when. eapply lasting_less; [|exact LG]. apply incl_appl, incl_refl. } intros a n Hi C. apply (Hw a n Hi), in_or_app; auto.
    + eapply IHc2; eauto. { apply lasting_when. eapply lasting_less; [|exact LG]. apply incl_appr, incl_refl. } intros a n Hi C. apply (Hw a n Hi), in_or_app; auto.
Qed.
End Sound.

(* ---------- certificates ---------- *)
Lemma extents_closed ct : forallb (fun p => forallb (closed (sizes ct)) (snd (snd p))) (dims ct) = true ->
  forall a, List.forallb (closed (sizes ct)) (extents ct a) = true.
Proof.
  intros H a. unfold extents. destruct (find _ _) as [p|] eqn:E; auto. apply find_some in E as [E _].
  rewrite forallb_forall in H. apply (H p E).
Qed.

Theorem inbounds_sound ct : forallb (closed (sizes ct)) (assume ct) = true -> inbounds ct = true -> stays_inside ct.
Proof.
  intros H0 H scalar lit prim size before zz dimz Has Hidx. unfold inbounds in H.
  apply andb_prop in H as [H H4]. apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2].
  assert (H0' := proj1 (forallb_forall _ _) H0). assert (H1' := proj1 (forallb_forall _ _) H1). assert (H2' := proj1 (forallb_forall _ _) H2).
  assert (Hbase : forall (s : store scalar) r a, agree (sizes ct) size r -> Inequalities.holds scalar lit prim s r a (base_facts ct)).
  { intros s r a A. unfold base_facts, Inequalities.holds. rewrite Forall_map. rewrite Forall_forall in *.
    intros t Ht. rewrite poly_of_ok by constructor. rewrite (closed_any scalar lit prim before (sizes ct) size t (H0' t Ht) s r a A). apply (Has t Ht). }
  apply (bcheck_ok scalar lit prim before (sizes ct) size (base_facts ct) (extents ct) (indices ct) Hbase (extents_closed ct H3) H2'
    (target ct) [] [] size before H4).
  - intros x Hx. reflexivity.
  - constructor.
  - intros p [].
  - constructor.
  - exact Hidx.
  - intros a n Hin C. specialize (H1' _ Hin). cbn [fst] in H1'. apply negb_true_iff in H1'. apply mem_false in H1'. auto.
Qed.
