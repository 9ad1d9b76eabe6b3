(* Primitives that the translation writes out by others, or by commands of their own: iota, scatter, reduceByIndex and scanPar. For each, what it denotes as a program
   of the theory; and that its translation leaves just that, in both modes. The loop of reduceByIndex (reduceByIndexI) has a lemma of its own besides, as
   that of scatter (scatterI_ok of Macros.v). *)
From Coq Require Import Arith List Lia.
From Lozenge Require Import Paths Phrases Overwrite Translation Represent InPlace TranslationCorrect TranslationFacts.
From Lozenge Require Rewrites Blocks.
Import ListNotations.

Section Values.
Context {K : Scalars}.
Context {G : list data}.

Fact iota_means n : forall g : env den G, ev_exp (Iota n) g = (fun i => i). Proof. reflexivity. Qed.

(* ---------- reduceByIndex ---------- *)
(* [f] is under the element and the old value, and beside the array so far and the pair of an index and an element. *)
Definition ReduceByIndex {n m s t} (f : exp (t :: s :: ary m t :: prd (idx m) s :: G) t) (is : exp G (ary n (idx m))) (b : exp G (ary m t)) (e : exp G (ary n s)) :
  exp G (ary m t) :=
  Red (Scatter (Splat 1 (Fst (Var (VS VZ)))) (Var VZ)
        (Splat 1 (Let (Snd (Var (VS VZ))) (Let (At (Var (VS VZ)) (Fst (Var (VS (VS VZ))))) f))))
      b (Zip is e).
(* Each element of the result is a reduction of the elements with its index, in their order. *)
Fact reduceByIndex_means n m s t (f : exp (t :: s :: G) t) (f' : exp (t :: s :: ary m t :: prd (idx m) s :: G) t) (is : exp G (ary n (idx m))) b (e : exp G (ary n s)) :
  (forall a x d p g, ev_exp f' (consE a (consE x (consE d (consE p g)))) = ev_exp f (consE a (consE x g))) ->
  forall g j, ev_exp (ReduceByIndex f' is b e) g j =
    steps n (fun k a => if Nat.eqb (ev_exp is g k) j then ev_exp f (consE a (consE (ev_exp e g k) g)) else a) (ev_exp b g j).
Proof.
  intros Hf g. cbn. set (F := fun k a => _). assert (E : forall M j, steps M F (ev_exp b g) j =
    steps M (fun k a => if Nat.eqb (ev_exp is g k) j then ev_exp f (consE a (consE (ev_exp e g k) g)) else a) (ev_exp b g j)).
  { induction M as [|M IH]; intros j; [reflexivity|]. cbn [steps]. unfold F at 1. unfold upd. cbn.
    destruct (Nat.eqb_spec (ev_exp is g M) j) as [<-|]; [|apply IH]. rewrite Hf. now rewrite IH. }
  apply E.
Qed.

(* ---------- scanPar ---------- *)
(* Over [q] blocks of [S k] elements and a rest of [r]: totals of blocks, a scan of these, and scans of the blocks from there. [f1] and [f2] are [f] beside a block, and beside
   what a block begins with. *)
Definition ScanPar q k r {t} (par : bool) (f : exp (t :: t :: G) t) (f1 : exp (t :: t :: ary (S k) t :: G) t) (f2 : exp (t :: t :: prd t (ary (S k) t) :: G) t)
  (i : exp G t) (e : exp G (ary (q * S k + r) t)) : exp G (ary (q * S k + r) t) :=
  let blocks := Split (S k) (Take (q * S k) e) in
  let totals := Map par (Red f1 (At (Var VZ) (Nat 0 (Nat.lt_0_succ k))) (Drop 1 (m := k) (Var VZ))) blocks in
  let starts := Concat (n := 1) (Splat 1 i) (Scan f i totals) in
  Concat (Join (Map par (Scan f2 (Fst (Var VZ)) (Snd (Var VZ))) (Zip (View (VPick (1 + q) q t (fun b => b) (fun b H => Nat.lt_lt_succ_r b q H)) starts) blocks)))
    (Scan f (At starts (Nat q (Nat.lt_succ_diag_r q))) (Drop (q * S k) e)).
Lemma steps_same {B} n (f g : nat -> B -> B) a b : a = b -> (forall k c, k < n -> f k c = g k c) -> steps n f a = steps n g b.
Proof. intros -> H. induction n as [|n IH]; cbn; auto. rewrite H by lia. f_equal. apply IH. intros. apply H. lia. Qed.
Theorem scanPar_means q k r t par (f : exp (t :: t :: G) t) f1 f2 (i : exp G t) (e : exp G (ary (q * S k + r) t)) g : r <= k ->
  (forall a x d, ev_exp f1 (consE a (consE x (consE d g))) = ev_exp f (consE a (consE x g))) ->
  (forall a x d, ev_exp f2 (consE a (consE x (consE d g))) = ev_exp f (consE a (consE x g))) ->
  (forall x y z, ev_exp f (consE z (consE (ev_exp f (consE y (consE x g))) g)) = ev_exp f (consE (ev_exp f (consE z (consE y g))) (consE x g))) ->
  forall j, j < q * S k + r -> ev_exp (ScanPar q k r par f f1 f2 i e) g j = ev_exp (Scan f i e) g j.
Proof.
  intros Hr H1 H2 A j Hj. set (op := fun x a => ev_exp f (consE a (consE x g))). set (x := ev_exp e g). set (a := ev_exp i g).
  assert (Q : (q * S k + r) / S k = q). { symmetry. apply (Nat.div_unique _ _ q r); lia. }
  assert (B := Blocks.scanPar_in_blocks op (fun x y z => A x y z) (q * S k + r) (S k) a x (Nat.neq_succ_0 k) j Hj). cbv zeta in B. rewrite Q, (Nat.mul_comm (S k) q) in B.
  change (ev_exp (Scan f i e) g j) with (Rewrites.scan op a x j). rewrite B. clear B.
  assert (T : forall b, ev_exp (Map par (Red f1 (At (Var VZ) (Nat 0 (Nat.lt_0_succ k))) (Drop 1 (m := k) (Var VZ))) (Split (S k) (Take (q * S k) e))) g b = Blocks.totals op (S k) x b).
  { intros b. cbn. unfold Blocks.totals, Blocks.total, Rewrites.map, Rewrites.reduce. rewrite Nat.sub_0_r. apply steps_same; [reflexivity|]. intros l c _. rewrite H1. reflexivity. }
  assert (S_ : forall b, (if b <? 1 then a else steps (S (b - 1)) (fun l c => ev_exp f (consE c (consE (ev_exp (Map par (Red f1 (At (Var VZ) (Nat 0 (Nat.lt_0_succ k))) (Drop 1 (m := k) (Var VZ))) (Split (S k) (Take (q * S k) e))) g l) g))) a) = Blocks.starts op (S k) a x b).
  { intros b. unfold Blocks.starts, Rewrites.scan, Rewrites.reduce. destruct (b <? 1); [reflexivity|]. apply steps_same; auto. intros l c _. rewrite T. reflexivity. }
  unfold ScanPar, Rewrites.concat, Rewrites.join, Rewrites.map, Rewrites.scan at 1 2, Rewrites.reduce, Rewrites.take, Rewrites.zip, Rewrites.drop, Rewrites.split. cbn [ev_exp bsem vsem Concat Join Zip Splat Split Take Drop fst snd].
  destruct (j <? q * S k).
  - apply steps_same; [apply S_|]. intros l c _. rewrite H2. reflexivity.
  - apply steps_same; [apply S_|]. intros l c _. reflexivity.
Qed.
End Values.

(* ---------- their translations ---------- *)
Section Translated.
Context {K : Scalars} {Keep : Policy}.
Variable fuse : bool.
Context {G : list data}.
Variables (r : renv G) (g : env den G) (n : nat) (D : nat -> data) (s : store) (io : ienv).
Hypothesis Hn : 0 < n.
Hypothesis Hr : envok n (only 0) D s io r g.

Theorem iota_translated m : D 0 = ary m (idx m) -> forall s', exec (compile fuse r n (Iota m)) io s s' -> forall j, j < m -> s' 0 [Ix j] = of_nat j.
Proof.
  intros HD s' H j Hj. destruct (compile_correct fuse (Iota m) r g n D s io (l_iota m) Hn HD Hr) as [_ C]. apply (C s' H). now split.
Qed.
Theorem scatter_translated N m t (is : exp G (ary N (idx m))) (b : exp G (ary m t)) (e : exp G (ary N t)) : lawful is -> lawful b -> lawful e -> D 0 = ary m t ->
  forall s', exec (compile fuse r n (Scatter is b e)) io s s' -> forall j p, j < m -> leaf t p ->
  s' 0 (Ix j :: p) = sel t (steps N (fun k a j => if Nat.eqb (ev_exp is g k) j then ev_exp e g k else a j) (ev_exp b g) j) p.
Proof.
  intros Li Lb Le HD s' H j p Hj Hp. destruct (compile_correct fuse _ r g n D s io (l_scatter is b e Li Lb Le) Hn HD Hr) as [_ C]. exact (proj1 (C s' H) (Ix j :: p) (conj Hj Hp)).
Qed.
Theorem reduceByIndex_translated N m u t (f : exp (t :: u :: G) t) (f' : exp (t :: u :: ary m t :: prd (idx m) u :: G) t) (is : exp G (ary N (idx m))) b (e : exp G (ary N u)) :
  (forall a x d p g, ev_exp f' (consE a (consE x (consE d (consE p g)))) = ev_exp f (consE a (consE x g))) ->
  lawful f' -> lawful is -> lawful b -> lawful e -> D 0 = ary m t ->
  forall s', exec (compile fuse r n (ReduceByIndex f' is b e)) io s s' -> forall j p, j < m -> leaf t p ->
  s' 0 (Ix j :: p) = sel t (steps N (fun k a => if Nat.eqb (ev_exp is g k) j then ev_exp f (consE a (consE (ev_exp e g k) g)) else a) (ev_exp b g j)) p.
Proof.
  intros Hf Lf Li Lb Le HD s' H j p Hj Hp. rewrite <- (reduceByIndex_means N m u t f f' is b e Hf g j).
  assert (L : lawful (ReduceByIndex f' is b e)) by (repeat constructor; auto).
  destruct (compile_correct fuse _ r g n D s io L Hn HD Hr) as [_ C]. exact (proj1 (C s' H) (Ix j :: p) (conj Hj Hp)).
Qed.
Theorem scanPar_translated q k rest t par (f : exp (t :: t :: G) t) f1 f2 (i : exp G t) (e : exp G (ary (q * S k + rest) t)) : rest <= k ->
  (forall a x d, ev_exp f1 (consE a (consE x (consE d g))) = ev_exp f (consE a (consE x g))) ->
  (forall a x d, ev_exp f2 (consE a (consE x (consE d g))) = ev_exp f (consE a (consE x g))) ->
  (forall x y z, ev_exp f (consE z (consE (ev_exp f (consE y (consE x g))) g)) = ev_exp f (consE (ev_exp f (consE z (consE y g))) (consE x g))) ->
  lawful f -> lawful f1 -> lawful f2 -> lawful i -> lawful e -> D 0 = ary (q * S k + rest) t ->
  forall s', exec (compile fuse r n (ScanPar q k rest par f f1 f2 i e)) io s s' -> forall j p, j < q * S k + rest -> leaf t p ->
  s' 0 (Ix j :: p) = sel t (ev_exp (Scan f i e) g j) p.
Proof.
  intros Hk H1 H2 A Lf Lf1 Lf2 Li Le HD s' H j p Hj Hp. rewrite <- (scanPar_means q k rest t par f f1 f2 i e g Hk H1 H2 A j Hj).
  assert (L : lawful (ScanPar q k rest par f f1 f2 i e)) by (repeat constructor; auto).
  destruct (compile_correct fuse _ r g n D s io L Hn HD Hr) as [_ C]. exact (proj1 (C s' H) (Ix j :: p) (conj Hj Hp)).
Qed.
End Translated.

(* ---------- the loop of reduceByIndex ---------- *)
(* One element of the array [a] after another gets its next value, which [body] computes into memory of its own first (cgc.staged). *)
Section ByIndex.
Context {K : Scalars}.
Definition reduceByIndexI (t : data) (N m n : nat) (j : iexp) (a : iacc) (body : nat -> iacc -> comm) : comm :=
  For false n N (Index (S n) m (IAt j (ILoop n)) (New (S (S n)) t (Seq (body (S (S (S n))) (AVar (S (S n)))) (copy t (S (S (S n))) (AAt a (S n)) (IVar (S (S n))))))).
Variables (t : data) (N m n : nat) (W : region) (D : nat -> data) (s : store) (io : ienv) (j : iexp) (a : iacc) (body : nat -> iacc -> comm).
Variables (vj : nat -> nat) (vf : nat -> den t -> den t) (vb : den (ary m t)).
Hypothesis HW : wbelow n W.
Hypothesis Ha : accok n W D io a (ary m t).
Hypothesis Hj : rep n W D s io j (ary N (idx m)) vj.
Hypothesis Hb : forall p, leaf (ary m t) p -> s (fst (loc io a p)) (snd (loc io a p)) = sel (ary m t) vb p.
Hypothesis Hvb : ok (ary m t) vb.
(* The body computes the next value of the element, whatever the array holds. *)
Hypothesis Hbody : forall M A s1 s2, M < N -> ok (ary m t) A -> sagree n W s s1 ->
  (forall p, leaf (ary m t) p -> s1 (fst (loc io a p)) (snd (loc io a p)) = sel (ary m t) A p) ->
  exec (body (S (S (S n))) (AVar (S (S n)))) (upd (upd io n M) (S n) (vj M)) s1 s2 ->
  ok t (vf M (A (vj M))) /\ wrote (S (S (S n))) (upd (upd io n M) (S n) (vj M)) (AVar (S (S n))) t (vf M (A (vj M))) s1 s2.
Theorem reduceByIndexI_ok s' : exec (reduceByIndexI t N m n j a body) io s s' ->
  wrote n io a (ary m t) (steps N (fun k A => upd A (vj k) (vf k (A (vj k)))) vb) s s'.
Proof.
  intros (is & -> & H). revert s' H.
  enough (E : forall M s', M <= N -> iterR (fun i => exec (Index (S n) m (IAt j (ILoop n)) (New (S (S n)) t (Seq (body (S (S (S n))) (AVar (S (S n))))
      (copy t (S (S (S n))) (AAt a (S n)) (IVar (S (S n))))))) (upd io n i)) (seq 0 M) s s' ->
    ok (ary m t) (steps M (fun k A => upd A (vj k) (vf k (A (vj k)))) vb) /\ wrote n io a (ary m t) (steps M (fun k A => upd A (vj k) (vf k (A (vj k)))) vb) s s').
  { intros s' H. apply (E N s' (le_n N) H). }
  induction M as [|M IH]; intros s2 HM.
  - cbn. intros ->. repeat split; auto.
  - rewrite seq_S, iterR_app. cbn [iterR Nat.add]. intros (s4 & I1 & s5 & E & ->). specialize (IH s4 ltac:(lia) I1). destruct IH as [OA IH].
    set (A := steps M (fun k A => upd A (vj k) (vf k (A (vj k)))) vb) in *. assert (S4 : sagree n W s s4) by (eapply wrote_sagree; eauto).
    set (io1 := upd io n M) in *. set (io2 := upd io1 (S n) (vj M)).
    assert (Rj := rep_elem n W D s io j N (idx m) vj M HM Hj s4 D S4 (agrees_refl _ _)).
    destruct (rep_now _ _ _ _ _ _ _ _ Rj [] I) as [E1 _]. assert (O : vj M < m) by apply (proj1 Rj).
    assert (E2 : to_nat (ev s4 io1 (IAt j (ILoop n)) []) = vj M). { fold io1 in E1. rewrite E1. apply to_of_nat. }
    cbn [exec] in E. rewrite E2 in E. destruct (Nat.ltb_spec (vj M) m); [|lia]. destruct E as (junk & s6 & E3 & E4). fold io2 in E3, E4.
    assert (J1 := proj1 IH).
    assert (Low : same (S (S n)) s4 (upd s4 (S (S n)) junk)) by (apply same_upd; lia).
    destruct (Hbody M A (upd s4 (S (S n)) junk) s6) as [Ov Wv]; auto.
    { intros l p Hl Hp. rewrite Low by lia. auto. }
    { intros p Hp. rewrite Low; [auto|]. assert (B := ao_below _ _ _ _ _ _ Ha p Hp). lia. }
    assert (A1 : accok (S n) W D io1 a (ary m t)) by (eapply accok_mono; eauto using @agrees_refl, @agrees_upd).
    assert (A2 : accok (S (S n)) W D io2 (AAt a (S n)) t) by (now apply accok_idx with (N := m)).
    assert (A3 : accok (S (S (S n))) W (upd D (S (S n)) t) io2 (AAt a (S n)) t) by (eapply accok_mono; eauto using @agrees_refl, @agrees_upd).
    assert (Hl : forall p, leaf t p -> loc io2 (AAt a (S n)) p = loc io a (Ix (vj M) :: p)).
    { intros p Hp. cbn [loc]. unfold io2 at 2. rewrite upd_same. apply (ao_stable _ _ _ _ _ _ Ha); [|now split].
      eapply agrees_trans; [apply agrees_upd; reflexivity| |apply agrees_upd; reflexivity]. auto. }
    assert (Rv : rep (S (S (S n))) W (upd D (S (S n)) t) s6 io2 (IVar (S (S n))) t (vf M (A (vj M)))).
    { eapply rep_var; eauto using upd_same. intros p C. apply HW in C. lia. }
    destruct (copy_ok t (S (S (S n))) W (upd D (S (S n)) t) s6 s5 io2 _ _ _ Rv A3 E4) as [C1 C2].
    assert (Keep_ : forall l q, l < n -> s6 l q = s4 l q).
    { intros l q L. destruct Wv as [_ Wv]. rewrite Wv; [apply Low; lia|lia|]. apply inreg_other. lia. }
    split; [|split].
    + cbn [steps]. fold A. intros i Hi. unfold upd. destruct (Nat.eqb_spec (vj M) i); auto.
    + intros p Hp. apply leaf_ary in Hp as (i & q & -> & Hi & Hq). cbn [steps sel]. fold A. unfold upd at 1. destruct (Nat.eqb_spec (vj M) i) as [<-|Hne].
      * rewrite <- Hl by auto. now apply C1.
      * assert (B := ao_below _ _ _ _ _ _ Ha (Ix i :: q) (conj Hi Hq)). rewrite C2; [rewrite Keep_ by lia; apply (J1 (Ix i :: q)); now split|lia|].
        intros (p & Hp & C). rewrite Hl in C by auto. rewrite <- pair_eta in C. apply (ao_inj _ _ _ _ _ _ Ha) in C; [congruence|now split|now split].
    + intros l q Hlt Hn. rewrite C2; [rewrite Keep_ by auto; now apply IH|lia|]. intros (p & Hp & C). rewrite Hl in C by auto. apply Hn. exists (Ix (vj M) :: p). split; auto. now split.
Qed.
End ByIndex.
