(* The rules of strategies (docs/strategies.md), each a lemma of what programs denote, under the name of the rule. Substitution is written as [ELet]. A rule that holds
   for the elements that an array has, and not for subscripts beyond, says so. Those that regroup or leave out operations take laws of arithmetic as hypotheses.

   Rules that only choose loops or memory leave the program as it is here, so there is nothing to prove: useMapSeq useMapPar useMapVec useMapUnroll useReduceSeq
   useReduceUnroll toMem dropToMem copyId takeAll takeMap takeZip unzipZip. *)
From Coq Require Import ZArith List String Bool Lia Arith.
From Lozenge Require Import Syntax Semantics Norm Source Regroup Reorder.
Import ListNotations.

Section Rules.
Variable scalar : Type.
Variable lit : string -> val scalar.
Variable prim : string -> list (val scalar) -> val scalar.
Variable st : store scalar.
Variable r : nat -> Z.
Notation z := (zv scalar lit prim st r (aenv0 scalar)).
Notation val := (val scalar). Notation value := (value scalar).
Notation den := (den scalar lit prim z).
Notation veq := (veq scalar).
Notation element := (element scalar).
Hint Unfold Semantics.element : core.

(* Equal in every scope. *)
Notation "a == b" := (forall (g : nat -> value) cs is, den a g cs is = den b g cs is) (at level 70).
(* Equal for arrays: where there is a subscript. *)
Notation "a =1= b" := (forall (g : nat -> value) cs i is, den a g cs (i :: is) = den b g cs (i :: is)) (at level 70).
Notation "a =2= b" := (forall (g : nat -> value) cs i j is, den a g cs (i :: j :: is) = den b g cs (i :: j :: is)) (at level 70).

Lemma ext e (g g' : nat -> value) : (forall x, veq (g x) (g' x)) -> forall cs is, den e g cs is = den e g' cs is.
Proof. intros H. apply den_ext. exact H. Qed.
Lemma other x e (g g' : nat -> value) : mentions x e = false -> (forall y, x <> y -> veq (g y) (g' y)) -> forall cs is, den e g cs is = den e g' cs is.
Proof. intros H E. apply (den_other scalar lit prim z x e g g' E H). Qed.
Ltac scopes := let y := fresh in let Hy := fresh in let cs := fresh in let is := fresh in
  intros y; try intros Hy; intros cs is; unfold upd, Semantics.element; repeat match goal with |- context [Nat.eqb ?u ?v] => destruct (Nat.eqb_spec u v) end; subst; try congruence; auto.

(* ---------- fusion ---------- *)
Lemma mapFusion x y f h e : mentions y f = false -> EMap x f (EMap y h e) =1= EMap y (ELet x h f) e.
Proof. intros H g cs i is. cbn. apply (other y); [exact H|]. scopes. Qed.
Lemma mapFission x y f h e : mentions y f = false -> EMap y (ELet x h f) e =1= EMap x f (EMap y h e).
Proof. intros H g cs i is. symmetry. now apply mapFusion. Qed.
Lemma reduceMapFusion n sh how x y a f h i e : mentions y f = false -> mentions a h = false -> x <> a -> y <> a ->
  EReduce n sh how x a f i (EMap y h e) == EReduce n sh how y a (ELet x h f) i e.
Proof.
  intros Hy Ha Hx Hya g cs is. cbn [Semantics.den]. revert cs is. apply veq_iter; [intros ? ?; reflexivity|]. intros k v v' Hv cs is. cbn [Semantics.den].
  apply (other y); [exact Hy|]. intros w Hw cs' is'. unfold upd. destruct (Nat.eqb_spec x w) as [<-|].
  - destruct (Nat.eqb_spec a x); [congruence|]. cbn [Semantics.den]. unfold Semantics.element at 1. cbn [Semantics.den].
    apply (other a); [exact Ha|]. scopes.
  - destruct (Nat.eqb_spec a w); auto. destruct (Nat.eqb_spec y w); [congruence|reflexivity].
Qed.
Lemma mapGenerate x y f h : mentions y f = false -> EMap x f (EGenerate y h) =1= EGenerate y (ELet x h f).
Proof. intros H g cs i is. cbn. apply (other y); [exact H|]. scopes. Qed.
Lemma zipMap x y p f h e e' : mentions p f = false -> mentions p h = false -> mentions x (EVar p) = false -> mentions y (EVar p) = false ->
  EPair (EMap x f e) (EMap y h e') =1= EMap p (EPair (ELet x (EFst (EVar p)) f) (ELet y (ESnd (EVar p)) h)) (EPair e e').
Proof.
  intros Hf Hh Hx Hy g cs i is. cbn in Hx, Hy. destruct cs as [|[|] cs]; cbn [Semantics.den]; [reflexivity| |].
  - apply (other p); [exact Hh|]. intros w Hw cs' is'. unfold upd. destruct (Nat.eqb_spec y w); [|destruct (Nat.eqb_spec p w); [congruence|reflexivity]].
    cbn [Semantics.den]. now rewrite Nat.eqb_refl.
  - apply (other p); [exact Hf|]. intros w Hw cs' is'. unfold upd. destruct (Nat.eqb_spec x w); [|destruct (Nat.eqb_spec p w); [congruence|reflexivity]].
    cbn [Semantics.den]. now rewrite Nat.eqb_refl.
Qed.
Lemma mapIdentity x e : EMap x (EVar x) e =1= e.
Proof. intros g cs i is. cbn [Semantics.den]. unfold upd. now rewrite Nat.eqb_refl. Qed.
Lemma identityMap x e : e =1= EMap x (EVar x) e.
Proof. intros g cs i is. now rewrite mapIdentity. Qed.

(* ---------- layout ---------- *)
Lemma joinSplit k e : EView (Vjoin k) (EView (Vsplit k) e) =1= e.
Proof.
  intros g cs i is. cbn [Semantics.den look]. do 2 f_equal. destruct (Z.eq_dec (z k) 0) as [->|]. { rewrite Zmod_0_r, Zdiv_0_r. lia. }
  rewrite (Z.div_mod i (z k)) at 3 by auto. lia.
Qed.
Lemma splitJoinId k e g cs i j is : (0 <= j < z k)%Z -> den (EView (Vsplit k) (EView (Vjoin k) e)) g cs (i :: j :: is) = den e g cs (i :: j :: is).
Proof.
  intros H. cbn [Semantics.den look]. rewrite Z.div_add_l, Z.div_small, Z.add_0_r by lia. do 3 f_equal.
  rewrite Z.add_comm, Z.mod_add by lia. now apply Z.mod_small.
Qed.
Lemma vectorScalar k e g cs i j is : (0 <= j < z k)%Z -> den (EView (Vsplit k) (EView (Vjoin k) e)) g cs (i :: j :: is) = den e g cs (i :: j :: is).
Proof. apply splitJoinId. Qed.
Lemma scalarVector k e : EView (Vjoin k) (EView (Vsplit k) e) =1= e.
Proof. apply joinSplit. Qed.
Lemma transposeTranspose e : EView Vtranspose (EView Vtranspose e) =2= e.
Proof. reflexivity. Qed.
Lemma transposeMapMap x y f e : mentions x f = false ->
  EView Vtranspose (EMap x (EMap y f (EVar x)) e) =2= EMap x (EMap y f (EVar x)) (EView Vtranspose e).
Proof.
  intros H g cs i j is. cbn [Semantics.den look]. apply (other x); [exact H|]. intros w Hw cs' is'. unfold upd, Semantics.element.
  destruct (Nat.eqb_spec y w); [now rewrite Nat.eqb_refl|]. destruct (Nat.eqb_spec x w); [congruence|reflexivity].
Qed.
Lemma mapMapTranspose x y f e : mentions x f = false ->
  EMap x (EMap y f (EVar x)) (EView Vtranspose e) =2= EView Vtranspose (EMap x (EMap y f (EVar x)) e).
Proof. intros H g cs i j is. symmetry. now apply transposeMapMap. Qed.
Lemma transposeMapZip x a b e : EView Vtranspose (EMap x (EPair a b) e) =2= EPair (EView Vtranspose (EMap x a e)) (EView Vtranspose (EMap x b e)).
Proof. intros g [|[|] cs] i j is; reflexivity. Qed.
Lemma reverseReverse n e : EView (Vreverse n) (EView (Vreverse n) e) =1= e.
Proof. intros g cs i is. cbn [Semantics.den look]. do 2 f_equal. lia. Qed.
Lemma mapReverse x f n e : EMap x f (EView (Vreverse n) e) =1= EView (Vreverse n) (EMap x f e).
Proof. reflexivity. Qed.
Lemma dropNone e : EView (Vdrop (Int 0)) e =1= e.
Proof. intros g cs i is. cbn [Semantics.den look]. change (z (Int 0)) with 0%Z. do 2 f_equal. lia. Qed.
Lemma dropMap x f k e : EView (Vdrop k) (EMap x f e) =1= EMap x f (EView (Vdrop k) e).
Proof. reflexivity. Qed.
Lemma dropZip k a b : EView (Vdrop k) (EPair a b) =1= EPair (EView (Vdrop k) a) (EView (Vdrop k) b).
Proof. intros g [|[|] cs] i is; reflexivity. Qed.
Lemma splitZip k a b : EView (Vsplit k) (EPair a b) =2= EPair (EView (Vsplit k) a) (EView (Vsplit k) b).
Proof. intros g [|[|] cs] i j is; reflexivity. Qed.
Lemma splitMap x y f k e : mentions y f = false -> EView (Vsplit k) (EMap x f e) =2= EMap y (EMap x f (EVar y)) (EView (Vsplit k) e).
Proof.
  intros H g cs i j is. cbn [Semantics.den look]. apply (other y); [exact H|]. intros w Hw cs' is'. unfold upd, Semantics.element.
  destruct (Nat.eqb_spec x w); [now rewrite Nat.eqb_refl|]. destruct (Nat.eqb_spec y w); [congruence|reflexivity].
Qed.
Lemma joinMapMap x y f k e : mentions y f = false -> EView (Vjoin k) (EMap y (EMap x f (EVar y)) e) =1= EMap x f (EView (Vjoin k) e).
Proof.
  intros H g cs i is. cbn [Semantics.den look]. apply (other y); [exact H|]. intros w Hw cs' is'. unfold upd, Semantics.element.
  destruct (Nat.eqb_spec x w); [now rewrite Nat.eqb_refl|]. destruct (Nat.eqb_spec y w); [congruence|reflexivity].
Qed.
Lemma mapConcat x f n a b : EMap x f (EConcat n a b) =1= EConcat n (EMap x f a) (EMap x f b).
Proof.
  intros g cs i is. cbn [Semantics.den]. destruct (i <? z n)%Z eqn:E; apply ext; intros w cs' is'; unfold upd, Semantics.element;
    destruct (Nat.eqb x w); auto; cbn [Semantics.den]; now rewrite E.
Qed.
Lemma zipUnzip e g c cs is : den (EPair (EFst e) (ESnd e)) g (c :: cs) is = den e g (c :: cs) is.
Proof. destruct c; reflexivity. Qed.
Lemma mapUnzip x a b e : EMap x (EPair a b) e =1= EPair (EMap x a e) (EMap x b e).
Proof. intros g [|[|] cs] i is; reflexivity. Qed.
Lemma reorderIdentity x e : EReorder x (EVar x) e =1= e.
Proof. intros g cs i is. cbn [Semantics.den]. unfold upd, index, number, Semantics.element. now rewrite Nat.eqb_refl. Qed.

(* ---------- tiling ---------- *)
Lemma splitJoin x y f k e : mentions y f = false -> EMap x f e =1= EView (Vjoin k) (EMap y (EMap x f (EVar y)) (EView (Vsplit k) e)).
Proof.
  intros H g cs i is. rewrite joinMapMap by auto. cbn [Semantics.den look]. apply ext. intros w cs' is'. unfold upd. destruct (Nat.eqb x w); auto.
  symmetry. apply (joinSplit k e).
Qed.
Lemma vectoriseBlocks x y f k e : mentions y f = false -> EMap x f e =1= EView (Vjoin k) (EMap y (EMap x f (EVar y)) (EView (Vsplit k) e)).
Proof. apply splitJoin. Qed.
Lemma splitJoinRest x y f k q e : mentions y f = false ->
  EMap x f e =1= EConcat q (EView (Vjoin k) (EMap y (EMap x f (EVar y)) (EView (Vsplit k) e))) (EMap x f (EView (Vdrop q) e)).
Proof.
  intros H g cs i is. assert (S_ := splitJoin x y f k e H g cs i is). cbn [Semantics.den]. destruct (i <? z q)%Z; [exact S_|].
  apply ext. intros w cs' is'. unfold upd, Semantics.element. destruct (Nat.eqb x w); auto. cbn [Semantics.den look]. do 2 f_equal. lia.
Qed.
Lemma padMap x f n e g cs i is : (0 <= i < z n)%Z -> den (EMap x f e) g cs (i :: is) = den (EMap x f (EView (Vpadclamp (Int 0) n) e)) g cs (i :: is).
Proof.
  intros H. cbn [Semantics.den]. apply ext. intros w cs' is'. unfold upd, Semantics.element.
  destruct (Nat.eqb x w); auto. cbn [Semantics.den look]. change (z (Int 0)) with 0%Z. do 2 f_equal. lia.
Qed.
Lemma slideTiling y k e g cs i j is : (0 < z k)%Z ->
  den (EView (Vslide (Int 1)) e) g cs (i :: j :: is) = den (EView (Vjoin k) (EMap y (EView (Vslide (Int 1)) (EVar y)) (EView (Vslide k) e))) g cs (i :: j :: is).
Proof.
  intros Hk. cbn [Semantics.den look]. unfold upd, Semantics.element. rewrite Nat.eqb_refl. change (z (Int 1)) with 1%Z. do 2 f_equal.
  rewrite (Z.div_mod i (z k)) at 1 by lia. lia.
Qed.
Lemma splitSplit b k j e g cs i l is : (0 < z k)%Z -> (0 <= l)%Z ->
  den (EView (Vsplit (Op Imul [k; j])) e) g cs (i :: l :: is) =
  den (EMap b (EView (Vjoin k) (EVar b)) (EView (Vsplit j) (EView (Vsplit k) e))) g cs (i :: l :: is).
Proof.
  intros Hk Hl. cbn [Semantics.den look]. unfold upd, Semantics.element. rewrite Nat.eqb_refl. change (z (Op Imul [k; j])) with (z k * z j)%Z. do 2 f_equal.
  rewrite (Z.div_mod l (z k)) at 1 by lia. lia.
Qed.
Lemma reduceCut n w sh how x a f i e : (0 <= z w <= z n)%Z ->
  EReduce n sh how x a f i e == EReduce (Op Isub [n; w]) sh how x a f (EReduce w sh how x a f i e) (EView (Vdrop w) e).
Proof.
  intros H g cs is. cbn [Semantics.den]. change (z (Op Isub [n; w])) with (z n - z w)%Z.
  replace (Z.to_nat (z n)) with (Z.to_nat (z w) + Z.to_nat (z n - z w)) by lia. rewrite iter_add. revert cs is.
  apply veq_iter; [intros ? ?; reflexivity|]. intros k v v' Hv cs is. apply ext. intros y cs' is'. unfold upd, Semantics.element.
  destruct (Nat.eqb a y); auto. destruct (Nat.eqb x y); auto. cbn [Semantics.den look]. do 2 f_equal. lia.
Qed.
Lemma reduceSplit y b n q m sh how x a f i e : z n = (z q * z m)%Z -> (0 <= z q)%Z -> (0 <= z m)%Z ->
  mentions y f = false -> mentions b f = false -> y <> b ->
  EReduce n sh how x a f i e == EReduce q sh how y b (EReduce m sh how x a f (EVar b) (EVar y)) i (EView (Vsplit m) e).
Proof.
  intros Hn Hq Hm Fy Fb D g cs is. cbn [Semantics.den]. rewrite Hn, Z2Nat.inj_mul by auto. rewrite iter_mul. revert cs is.
  apply veq_iter; [intros ? ?; reflexivity|]. intros k v v' Hv. apply veq_iter.
  - intros cs is. unfold upd. rewrite Nat.eqb_refl. apply Hv.
  - intros j u u' Hu cs is.
    set (row := element (den (EView (Vsplit m) e) g) (Z.of_nat k)).
    transitivity (den f (upd (upd (upd g y row) x (element (den (EVar y) (upd (upd g y row) b v')) (Z.of_nat j))) a u') cs is).
    + apply (other y); [exact Fy|]. intros w Hw cs' is'. unfold upd, Semantics.element. destruct (Nat.eqb_spec a w); [apply Hu|].
      destruct (Nat.eqb_spec x w).
      * cbn [Semantics.den]. destruct (Nat.eqb_spec b y); [congruence|]. rewrite Nat.eqb_refl. unfold row, Semantics.element. cbn [Semantics.den look]. do 2 f_equal.
        replace (Z.of_nat (k * Z.to_nat (z m) + j)) with (Z.of_nat k * z m + Z.of_nat j)%Z by lia. reflexivity.
      * destruct (Nat.eqb_spec y w); [congruence|reflexivity].
    + apply (other b); [exact Fb|]. intros w Hw cs' is'. unfold upd. destruct (Nat.eqb_spec a w); auto. destruct (Nat.eqb_spec x w); auto.
      destruct (Nat.eqb_spec b w); [congruence|reflexivity].
Qed.
Lemma reduceSplitRest y b n q m sh how x a f i e : (0 <= z q)%Z -> (0 <= z m)%Z -> (z q * z m <= z n)%Z ->
  mentions y f = false -> mentions b f = false -> y <> b ->
  EReduce n sh how x a f i e ==
  EReduce (Op Isub [n; Op Imul [q; m]]) sh how x a f (EReduce q sh how y b (EReduce m sh how x a f (EVar b) (EVar y)) i (EView (Vsplit m) e))
    (EView (Vdrop (Op Imul [q; m])) e).
Proof.
  intros Hq Hm Hn Fy Fb D g cs is. rewrite (reduceCut n (Op Imul [q; m])) by (change (z (Op Imul [q; m])) with (z q * z m)%Z; nia).
  cbn [Semantics.den]. revert cs is. apply veq_iter; [|intros k v v' Hv cs is; apply ext; intros w cs' is'; unfold upd; destruct (Nat.eqb a w); auto].
  intros cs is. apply (reduceSplit y b (Op Imul [q; m]) q m sh how x a f i e eq_refl Hq Hm Fy Fb D g cs is).
Qed.

(* ---------- interchange ---------- *)
Lemma unused x d e (g : nat -> value) cs is : mentions x e = false -> den e (upd g x d) cs is = den e g cs is.
Proof. intros H. apply (den_upd scalar lit prim z x d e g H). Qed.
Lemma upd_eq (g : nat -> value) x d : upd g x d x = d.
Proof. unfold upd. now rewrite Nat.eqb_refl. Qed.
Lemma upd_ne (g : nat -> value) x d w : x <> w -> upd g x d w = g w.
Proof. intros H. unfold upd. destruct (Nat.eqb_spec x w); congruence. Qed.
Lemma interchange x y f xs ys : mentions x ys = false -> mentions y xs = false -> x <> y ->
  EMap x (EMap y f ys) xs =2= EView Vtranspose (EMap y (EMap x f xs) ys).
Proof.
  intros Hx Hy D g cs i j is. cbn [Semantics.den look]. apply ext. intros w cs' is'.
  destruct (Nat.eq_dec y w) as [<-|Hw].
  - rewrite upd_eq, upd_ne, upd_eq by auto. unfold Semantics.element at 1. now rewrite unused.
  - rewrite upd_ne by auto. destruct (Nat.eq_dec x w) as [<-|Hw']; [|now rewrite !upd_ne by auto].
    rewrite !upd_eq. unfold Semantics.element at 2. now rewrite unused.
Qed.
(* One reduction of arrays instead of an array of reductions: [p] is a pair of element and accumulator. *)
Lemma liftReduce v n sh how how' sh' x a p es acc f i ys xs :
  mentions v f = false -> mentions p f = false -> mentions es f = false -> mentions acc f = false ->
  es <> acc -> p <> es -> p <> acc -> x <> a -> x <> p ->
  EMap v (EReduce n sh how x a f i ys) xs =1=
  EReduce n sh' how' es acc (EMap p (ELet x (EFst (EVar p)) (ELet a (ESnd (EVar p)) f)) (EPair (EVar es) (EVar acc)))
    (EMap v i xs) (EView Vtranspose (EMap v ys xs)).
Proof.
  intros Fv Fp Fe Fa D1 D2 D3 D4 D5 g cs j is. cbn [Semantics.den]. set (gv := upd g v (element (den xs g) j)).
  assert (Env : forall E B P X A cs is, den f (upd (upd (upd (upd (upd g es E) acc B) p P) x X) a A) cs is = den f (upd (upd gv x X) a A) cs is).
  { intros E B P X A cs1 is1.
    transitivity (den f (upd (upd (upd (upd g es E) acc B) x X) a A) cs1 is1). { apply (other p); [exact Fp|]. scopes. }
    transitivity (den f (upd (upd (upd g es E) x X) a A) cs1 is1). { apply (other acc); [exact Fa|]. scopes. }
    transitivity (den f (upd (upd g x X) a A) cs1 is1). { apply (other es); [exact Fe|]. scopes. }
    apply (other v); [exact Fv|]. unfold gv. scopes. }
  assert (G : forall m cs is, iter m (fun k b => den f (upd (upd gv x (element (den ys gv) (Z.of_nat k))) a b)) (den i gv) cs is =
    iter m (fun k b => den (EMap p (ELet x (EFst (EVar p)) (ELet a (ESnd (EVar p)) f)) (EPair (EVar es) (EVar acc)))
       (upd (upd g es (element (den (EView Vtranspose (EMap v ys xs)) g) (Z.of_nat k))) acc b)) (den (EMap v i xs) g) cs (j :: is)).
  2:{ apply G. }
  induction m as [|m IH]; intros cs1 is1; cbn [iter]; [reflexivity|].
  set (b2 := iter m _ (den (EMap v i xs) g)) in *. set (b1 := iter m _ (den i gv)) in *.
  cbn [Semantics.den]. rewrite Env. apply ext. intros w cs2 is2. unfold upd at 1 3. destruct (Nat.eqb_spec a w).
  - cbn [Semantics.den]. rewrite (upd_ne _ x), upd_eq by auto. unfold Semantics.element. cbn [Semantics.den]. rewrite upd_eq. apply IH.
  - unfold upd at 1 2. destruct (Nat.eqb_spec x w); auto. cbn [Semantics.den]. rewrite upd_eq. unfold Semantics.element. cbn [Semantics.den].
    rewrite (upd_ne _ acc), upd_eq by auto. cbn [Semantics.den look]. reflexivity.
Qed.
(* Both passes of a body that uses a reduction; [q] is a pair of the element and its sum. *)
Lemma separate x q w c s xs : mentions q c = false -> q <> w -> x <> w -> x <> q ->
  EMap x (ELet w s c) xs =1= EMap q (ELet x (EFst (EVar q)) (ELet w (ESnd (EVar q)) c)) (EPair xs (EMap x s xs)).
Proof.
  intros Hq D1 D2 D3 g cs i is. cbn [Semantics.den]. apply (other q); [exact Hq|]. scopes.
Qed.

(* ---------- regrouping: under laws of the operation ---------- *)
Section Laws.
Variables (o zero : string).
Hypothesis commutes : law_holds scalar lit prim (Commutes o).
Hypothesis associates : law_holds scalar lit prim (Associates o).
Hypothesis neutral : law_holds scalar lit prim (Neutral zero o).
Let ls := [Commutes o; Associates o; Neutral zero o].
Lemma laws_hold : forall l, List.In l ls -> law_holds scalar lit prim l.
Proof. intros l [<-|[<-|[<-|[]]]]; assumption. Qed.
Lemma monoid_here : monoid ls o zero = true.
Proof. unfold monoid, has, ls. cbn. now rewrite !String.eqb_refl. Qed.
Lemma reduceTree n q m sh how x a f first i e : sum_of x a f = Some (o, first) -> z n = (z q * z m)%Z -> (0 <= z q)%Z -> (0 <= z m)%Z ->
  EReduce n sh how x a f i e == partial sh x a o first f i (EView (Vsplit m) e) q m zero.
Proof.
  intros Hs Hn Hq Hm g cs is.
  rewrite (partial_ok scalar lit prim st r (aenv0 scalar) ls laws_hold sh x a o first f i (EView (Vsplit m) e) q m zero e g (fun k j => (k * z m + j)%Z) Hs monoid_here Hq Hm).
  - cbn [Semantics.den]. rewrite Hn, Z2Nat.inj_mul by auto. reflexivity.
  - intros H. rewrite big_blocks by (apply commutes || apply associates || apply neutral). apply big_ext. intros k Hk. apply big_ext. intros j Hj. f_equal. nia.
  - reflexivity.
Qed.
Lemma reduceLanes n q m sh how x a f first i e : sum_of x a f = Some (o, first) -> z n = (z q * z m)%Z -> (0 <= z q)%Z -> (0 <= z m)%Z ->
  EReduce n sh how x a f i e == partial sh x a o first f i (EView Vtranspose (EView (Vsplit m) e)) m q zero.
Proof.
  intros Hs Hn Hq Hm g cs is.
  rewrite (partial_ok scalar lit prim st r (aenv0 scalar) ls laws_hold sh x a o first f i (EView Vtranspose (EView (Vsplit m) e)) m q zero e g (fun k j => (j * z m + k)%Z) Hs monoid_here Hm Hq).
  - cbn [Semantics.den]. rewrite Hn, Z2Nat.inj_mul, Nat.mul_comm by auto. reflexivity.
  - intros H. rewrite big_exchange by (apply commutes || apply associates || apply neutral).
    rewrite Nat.mul_comm, big_blocks by (apply commutes || apply associates || apply neutral).
    apply big_ext. intros k Hk. apply big_ext. intros j Hj. f_equal. nia.
  - reflexivity.
Qed.
(* The sum of the sums of rows, as it stands after a map, is the sum of all. *)
Lemma reduceJoin n q m sh how x a f first i rows : sum_of x a f = Some (o, first) -> z n = (z q * z m)%Z -> (0 <= z q)%Z -> (0 <= z m)%Z ->
  forall (g : nat -> value) cs is, (forall k j cs is, (0 <= j < z m)%Z -> den (EView (Vsplit m) (EView (Vjoin m) rows)) g cs (k :: j :: is) = den rows g cs (k :: j :: is)) ->
  den (partial sh x a o first f i (EView (Vsplit m) (EView (Vjoin m) rows)) q m zero) g cs is = den (EReduce n sh how x a f i (EView (Vjoin m) rows)) g cs is.
Proof. intros Hs Hn Hq Hm g cs is _. symmetry. now apply reduceTree. Qed.
(* Whatever threads do with the elements of a sum, it is the sum in sequence. *)
Lemma useReducePar l v : combined scalar prim o (lit zero) l v -> v = fold_right (fun a v => prim o [a; v]) (lit zero) l.
Proof. apply (proj2 (big_app scalar prim o (lit zero) commutes associates neutral)). Qed.
End Laws.

(* ---------- vectors ---------- *)
(* A function of numbers, of vectors: what does not depend on the element is in all lanes. *)
Fixpoint lanes (x : nat) (f : exp) : exp :=
  match f with
  | EOp o es => EOp o (map (lanes x) es)
  | EVar y => if Nat.eqb x y then f else EView Vsplat f
  | _ => EView Vsplat f
  end.
Fixpoint arithmetic (x : nat) (f : exp) : bool :=
  match f with EOp _ es => forallb (arithmetic x) es | EVar _ => true | _ => negb (mentions x f) end.
Lemma lanes_ok x : forall f (g : nat -> value) d cs j is, arithmetic x f = true ->
  den (lanes x f) (upd g x d) cs (j :: is) = den f (upd g x (element d j)) cs is.
Proof.
  fix IH 1. intros f g d cs j is H.
  assert (Plain : mentions x f = false -> den (EView Vsplat f) (upd g x d) cs (j :: is) = den f (upd g x (element d j)) cs is).
  { intros M. cbn [Semantics.den look]. now rewrite !unused. }
  destruct f; try (apply Plain; reflexivity); try (apply Plain; cbn in H; now apply negb_true_iff in H).
  - cbn [lanes]. destruct (Nat.eqb_spec x x0) as [<-|Hx]; cbn [Semantics.den look]; unfold upd; [now rewrite Nat.eqb_refl|].
    destruct (Nat.eqb_spec x x0); [congruence|reflexivity].
  - cbn [lanes arithmetic] in *. cbn [Semantics.den]. f_equal. rewrite map_map. clear Plain. induction es as [|e es IHes]; cbn [map]; [reflexivity|].
    cbn in H. apply andb_prop in H as [H1 H2]. f_equal; [apply IH; exact H1|apply IHes; exact H2].
Qed.
Lemma vectorise k x f e : arithmetic x f = true -> EMap x f e =1= EView (Vjoin k) (EMap x (lanes x f) (EView (Vsplit k) e)).
Proof.
  intros H g cs i is. cbn [Semantics.den look]. rewrite lanes_ok by exact H. apply ext. intros w cs' is'. unfold upd. destruct (Nat.eqb x w); auto.
  symmetry. apply (joinSplit k e).
Qed.

(* ---------- memory, definitions, pairs ---------- *)
Lemma pack k x e : e =2= EView (Vjoin k) (EMap x (EView Vtranspose (EVar x)) (EMap x (EView Vtranspose (EVar x)) (EView (Vsplit k) e))).
Proof.
  intros g cs i j is. cbn [Semantics.den look]. unfold upd, Semantics.element. rewrite !Nat.eqb_refl. symmetry. apply (joinSplit k e).
Qed.
Lemma letDead v e b : mentions v b = false -> ELet v e b == b.
Proof. intros H g cs is. cbn [Semantics.den]. now apply unused. Qed.
Lemma fstPair a b : EFst (EPair a b) == a. Proof. reflexivity. Qed.
Lemma sndPair a b : ESnd (EPair a b) == b. Proof. reflexivity. Qed.
Lemma pairEta e g c cs is : den (EPair (EFst e) (ESnd e)) g (c :: cs) is = den e g (c :: cs) is.
Proof. destruct c; reflexivity. Qed.
Lemma indexMap x f e i : EIdx (EMap x f e) i == ELet x (EIdx e i) f.
Proof. reflexivity. Qed.
Lemma indexGenerate x f i (g : nat -> value) cs is : den (EIdx (EGenerate x f) i) g cs is = den f (upd g x (number scalar (VZ (index scalar (den i g))))) cs is.
Proof. reflexivity. Qed.
Lemma indexZip a b i : EIdx (EPair a b) i == EPair (EIdx a i) (EIdx b i).
Proof. intros g [|[|] cs] is; reflexivity. Qed.
Lemma mapConstant x y c e : mentions x c = false -> mentions y c = false -> EMap x c e =1= EGenerate y c.
Proof. intros Hx Hy g cs i is. cbn [Semantics.den]. now rewrite !unused. Qed.
Lemma mulOne o one e : law_holds scalar lit prim (Neutral one o) -> EOp (Scalar o) [ELit one; e] == e.
Proof. intros H g cs is. apply H. Qed.
Lemma addZero e (g : nat -> value) cs is k : den e g cs is = VZ k -> den (EOp Iadd [e; ESize (Int 0)]) g cs is = den e g cs is.
Proof. intros H. cbn [Semantics.den map apply nth]. rewrite H. unfold number. change (z (Int 0)) with 0%Z. cbn. f_equal. lia. Qed.
Lemma negNeg neg e : (forall a, prim neg [prim neg [a]] = a) -> EOp (Scalar neg) [EOp (Scalar neg) [e]] == e.
Proof. intros H g cs is. apply H. Qed.
Lemma selectConstant c a b (g : nat -> value) v : den c g [] [] = VB v -> forall cs is, den (ESelect c a b) g cs is = den (if v : bool then a else b) g cs is.
Proof. intros H cs is. cbn [Semantics.den]. rewrite H. now destruct v. Qed.
Lemma mapSelect x f c a b : mentions x c = false -> EMap x f (ESelect c a b) =1= ESelect c (EMap x f a) (EMap x f b).
Proof.
  intros H g cs i is. cbn [Semantics.den]. destruct (truth scalar (den c g [] [])) eqn:E; apply ext; intros w cs' is'; unfold upd, Semantics.element;
    destruct (Nat.eqb x w); auto; cbn [Semantics.den]; now rewrite E.
Qed.

(* A definition in place of its name, where no binder in between takes a variable of it. *)
Fixpoint apart (v : nat) (e b : exp) : bool :=
  let free x := negb (Nat.eqb v x) && negb (mentions x e) in
  match b with
  | EVar _ | ESize _ | ELit _ => true
  | EOp _ es => forallb (apart v e) es
  | ESelect c a b => apart v e c && apart v e a && apart v e b
  | EPair a b | EConcat _ a b | EPad _ _ a b | EGather a b | EIdx a b => apart v e a && apart v e b
  | EFst a | ESnd a | EView _ a => apart v e a
  | ELet x a b | EMap x b a | EReorder x b a => free x && apart v e a && apart v e b
  | EReduce _ _ _ x a f i es | EScan _ _ x a f i es => free x && free a && apart v e f && apart v e i && apart v e es
  | EIterate _ _ _ a f i => free a && apart v e f && apart v e i
  | EGenerate x f => free x && apart v e f
  end.
Definition inline (v : nat) (e b : exp) : exp := walk (fun t => match t with EVar x => if Nat.eqb v x then e else t | _ => t end) b.
Lemma letInline v e : forall b, apart v e b = true -> ELet v e b == inline v e b.
Proof.
  intros b H g cs is. cbn [Semantics.den]. revert b H g cs is.
  assert (Main : forall b, apart v e b = true -> forall (g h : nat -> value), (forall x, v <> x -> veq (h x) (g x)) -> veq (h v) (den e g) ->
    veq (den b h) (den (inline v e b) g)).
  { assert (B : forall (g h : nat -> value), (forall x, v <> x -> veq (h x) (g x)) -> veq (h v) (den e g) -> forall x d d',
        negb (Nat.eqb v x) && negb (mentions x e) = true -> veq d d' -> (forall y, v <> y -> veq (upd h x d y) (upd g x d' y)) /\ veq (upd h x d v) (den e (upd g x d'))).
    { intros g h Hg Hv x d d' Hf Hd. apply andb_prop in Hf as [F1 F2]. apply negb_true_iff in F1, F2. apply Nat.eqb_neq in F1. split.
      - intros y Hy cs is. unfold upd. destruct (Nat.eqb x y); [apply Hd|apply Hg; auto].
      - intros cs is. rewrite unused by exact F2. rewrite upd_ne by auto. apply Hv. }
    fix IH 1. intros b H g h Hg Hv.
    assert (I1 : forall x d d' f, negb (Nat.eqb v x) && negb (mentions x e) = true -> apart v e f = true -> veq d d' -> veq (den f (upd h x d)) (den (inline v e f) (upd g x d')) \/ True) by auto.
    clear I1.
    destruct b as [x|a1|s|o es|e1 e2 e3|e1 e2|e1|e1|x e1 e2|x e1 e2|n sh how x a1 e1 e2 e3|n sh x a1 e1 e2 e3|n sh twice a1 e1 e2|x e1|w e1|l n e1 e2|n e1 e2|e1 e2|x e1 e2|e1 e2];
      cbn [apart] in H; cbv zeta in H; repeat match goal with K : andb _ _ = true |- _ => apply andb_prop in K as [? ?] end;
      intros cs is; unfold inline; cbn [walk]; fold (inline v e); cbn [Semantics.den].
    - destruct (Nat.eqb_spec v x) as [<-|]; [apply Hv|apply Hg; auto].
    - reflexivity.
    - reflexivity.
    - f_equal. rewrite map_map. revert H. induction es as [|e1 es IHes]; intros H; cbn [map]; [reflexivity|].
      cbn in H. apply andb_prop in H as [H1 H2]. f_equal; [apply (IH e1); auto|apply IHes; auto].
    - unfold inline in IH. rewrite (IH e1 ltac:(assumption) g h Hg Hv), (IH e2 ltac:(assumption) g h Hg Hv), (IH e3 ltac:(assumption) g h Hg Hv). reflexivity.
    - destruct cs as [|[|] cs]; auto; apply IH; auto.
    - apply IH; auto.
    - apply IH; auto.
    - assert (X := IH e1 ltac:(assumption) g h Hg Hv). destruct (B g h Hg Hv x _ _ ltac:(apply andb_true_intro; split; assumption) X). apply IH; auto.
    - destruct is as [|i is]; auto. assert (X := IH e2 ltac:(assumption) g h Hg Hv).
      destruct (B g h Hg Hv x _ _ ltac:(apply andb_true_intro; split; assumption) (veq_element scalar _ _ i X)). apply IH; auto.
    - assert (X := IH e3 ltac:(assumption) g h Hg Hv). apply veq_iter; [apply IH; auto|]. intros k u u' Hu.
      destruct (B g h Hg Hv x _ _ ltac:(apply andb_true_intro; split; assumption) (veq_element scalar _ _ (Z.of_nat k) X)) as [B1 B2].
      destruct (B _ _ B1 B2 a1 _ _ ltac:(apply andb_true_intro; split; assumption) Hu). apply IH; auto.
    - assert (X := IH e3 ltac:(assumption) g h Hg Hv). destruct is as [|i is]; auto. apply veq_iter; [apply IH; auto|]. intros k u u' Hu.
      destruct (B g h Hg Hv x _ _ ltac:(apply andb_true_intro; split; assumption) (veq_element scalar _ _ (Z.of_nat k) X)) as [B1 B2].
      destruct (B _ _ B1 B2 a1 _ _ ltac:(apply andb_true_intro; split; assumption) Hu). apply IH; auto.
    - apply veq_iter; [apply IH; auto|]. intros k u u' Hu.
      destruct (B g h Hg Hv a1 _ _ ltac:(apply andb_true_intro; split; assumption) Hu). apply IH; auto.
    - destruct is as [|i is]; auto. destruct (B g h Hg Hv x (number scalar (VZ i)) (number scalar (VZ i)) ltac:(apply andb_true_intro; split; assumption)); [intros ? ?; reflexivity|].
      apply IH; auto.
    - apply IH; auto.
    - destruct is as [|i is]; auto. unfold inline in IH. rewrite (IH e1 ltac:(assumption) g h Hg Hv), (IH e2 ltac:(assumption) g h Hg Hv). reflexivity.
    - destruct is as [|i is]; auto. unfold inline in IH. rewrite (IH e1 ltac:(assumption) g h Hg Hv), (IH e2 ltac:(assumption) g h Hg Hv). reflexivity.
    - destruct is as [|i is]; auto. unfold inline in IH. rewrite (IH e1 ltac:(assumption) g h Hg Hv). unfold Semantics.element. apply (IH e2); auto.
    - destruct is as [|i is]; auto. unfold index, Semantics.element.
      destruct (B g h Hg Hv x (number scalar (VZ i)) (number scalar (VZ i)) ltac:(apply andb_true_intro; split; assumption)) as [B1 B2]; [intros ? ?; reflexivity|].
      unfold inline in IH. rewrite (IH e1 ltac:(assumption) _ _ B1 B2). apply (IH e2); auto.
    - unfold index, Semantics.element. unfold inline in IH. rewrite (IH e2 ltac:(assumption) g h Hg Hv). apply (IH e1); auto. }
  intros b H g cs is. apply (Main b H).
  - intros x Hx cs' is'. now rewrite upd_ne.
  - intros cs' is'. now rewrite upd_eq.
Qed.
(* A temporary, wherever it is used, computed once outside. *)
Lemma hoist v e b : apart v e b = true -> inline v e b == ELet v e b.
Proof. intros H g cs is. symmetry. now apply letInline. Qed.
Lemma letFloat v e a b : mentions v a = false -> EPair a (ELet v e b) == ELet v e (EPair a b).
Proof. intros H g [|[|] cs] is; cbn [Semantics.den]; auto. now rewrite unused. Qed.
Lemma letFloatLoop v x e b xs : mentions x e = false -> mentions v xs = false -> v <> x -> EMap x (ELet v e b) xs =1= ELet v e (EMap x b xs).
Proof.
  intros Hx Hv D g cs i is. cbn [Semantics.den]. apply ext. intros w cs' is'. destruct (Nat.eq_dec v w) as [<-|].
  - rewrite upd_eq, upd_ne, upd_eq by auto. now apply unused.
  - rewrite (upd_ne _ v) by auto. destruct (Nat.eq_dec x w) as [<-|]; [|now rewrite !upd_ne by auto].
    rewrite !upd_eq. unfold Semantics.element. now rewrite unused.
Qed.
End Rules.
