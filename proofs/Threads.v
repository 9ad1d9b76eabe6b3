(* Commands of the translation as machines run them: single reads and writes that interleave, as in Interleave.v; and a discipline under which nothing
   races and every interleaving does what whole iterations do, one after another: each iteration of a parallel loop writes elements of its own, in arrays
   that none of them reads, and memory that it makes itself. *)
From Coq Require Import ZArith Arith List Lia Bool Permutation.
From Lozenge Require Import Paths Phrases Overwrite Represent.
From Lozenge Require Semantics.
From Lozenge Require Import Interleave.
From Lozenge Require Races.
Import ListNotations.

Section Threads.
Context {K : Scalars}.
Notation val := (Semantics.val number).
Notation trace := (trace number). Notation memory := (memory number). Notation action := (action number).
Notation good := (good number). Notation finally := (finally number). Notation shuffle := (shuffle number).
Notation conflict := (conflict number). Notation race := (race number).
Notation at_ := (at_ number). Notation put := (put number). Notation what := (what number). Notation who := (who number).

(* Memory of commands holds numbers. *)
Definition as_number (v : val) : number := match v with Semantics.VS v => v | _ => zero end.
(* A path as subscripts: the components of a pair are -1 and -2. *)
Definition code (t : Paths.turn) : Z := match t with Ix i => Z.of_nat i | Lf => -1 | Rg => -2 end.
Definition element (b : block) (q : path) : location := (b, [], map code q).
Lemma code_inj p q : map code p = map code q -> p = q.
Proof.
  revert q. induction p as [|a p IH]; intros [|b q] H; try discriminate; auto. injection H as H1 H2. f_equal; auto.
  destruct a, b; cbn in H1; try lia; auto. f_equal. lia.
Qed.

Fixpoint fetch (p : place) (rho : nat -> block) (io : ienv) (x : iexp) (q : path) (tr : trace) (v : number) {struct x} : Prop :=
  match x with
  | IVar l => exists w, tr = [{| Interleave.who := p; Interleave.put := false; Interleave.at_ := element (rho l) q; Interleave.what := w |}] /\ v = as_number w
  | ILoop l => tr = [] /\ v = of_nat (io l)
  | ILit c => tr = [] /\ v = c
  | INat i => tr = [] /\ v = of_nat i
  | IOp1 o a => exists u, fetch p rho io a [] tr u /\ v = op1 o u
  | IOp2 o a b => exists t1 t2 u w, fetch p rho io a [] t1 u /\ fetch p rho io b [] t2 w /\ shuffle [t1; t2] tr /\ v = op2 o u w
  | IMove f a => exists u, fetch p rho io a [] tr u /\ v = of_nat (f (to_nat u))
  | IAt x j => exists t1 t2 u, tr = t1 ++ t2 /\ fetch p rho io j [] t1 u /\ fetch p rho io x (Ix (to_nat u) :: q) t2 v
  | IView w x => fetch p rho io x (vin w q) tr v
  | IBoth j x y => let (c, q) := bpick j q in if c : bool then fetch p rho io y q tr v else fetch p rho io x q tr v
  | IGather j x => match q with
      | Ix i :: q => exists t1 t2 u, tr = t1 ++ t2 /\ fetch p rho io j [Ix i] t1 u /\ fetch p rho io x (Ix (to_nat u) :: q) t2 v
      | _ => tr = [] /\ v = zero end
  | IIota => tr = [] /\ v = match q with Ix i :: _ => of_nat i | _ => zero end
  | IGen l x => match q with Ix i :: q => fetch p rho (upd io l i) x q tr v | _ => tr = [] /\ v = zero end
  | ISel c x y => exists t1 t2 u, tr = t1 ++ t2 /\ fetch p rho io c [] t1 u /\
      (if truth u then fetch p rho io x q t2 v else fetch p rho io y q t2 v)
  end.
Definition write (p : place) (rho : nat -> block) (lq : nat * path) (v : number) : action :=
  {| Interleave.who := p; Interleave.put := true; Interleave.at_ := element (rho (fst lq)) (snd lq); Interleave.what := Semantics.VS v |}.
Definition read (p : place) (l : location) (v : val) : action := {| Interleave.who := p; Interleave.put := false; Interleave.at_ := l; Interleave.what := v |}.
Fixpoint run (c : comm) (p : place) (rho : nat -> block) (io : ienv) (tr : trace) {struct c} : Prop :=
  match c with
  | Skip => tr = []
  | Seq a b => exists t1 t2, tr = t1 ++ t2 /\ run a (p ++ [After 0]) rho io t1 /\ run b (p ++ [After 1]) rho io t2
  | Assign a x => exists t v, fetch p rho io x [] t v /\ tr = t ++ [write p rho (loc io a []) v]
  | New l _ c => run c (p ++ [After 0]) (upd rho l (Made p l)) io tr
  | For par l n c => exists trs, List.length trs = n /\
      (forall i t, nth_error trs i = Some t -> run c (p ++ [if par : bool then Beside i else After i]) rho (upd io l i) t) /\
      (if par then shuffle trs tr else tr = List.concat trs)
  | If x a b => exists t1 u t2, tr = t1 ++ t2 /\ fetch p rho io x [] t1 u /\
      (if truth u then run a (p ++ [After 0]) rho io t2 else run b (p ++ [After 0]) rho io t2)
  | Index l m j c => exists t1 u t2, tr = t1 ++ t2 /\ fetch p rho io j [] t1 u /\
      (if to_nat u <? m then run c (p ++ [After 0]) rho (upd io l (to_nat u)) t2 else t2 = [])
  | Sum o z v w l n c => exists trs xs t u r, List.length trs = n /\ List.length xs = n /\
      (forall i t, nth_error trs i = Some t -> exists t' x, nth_error xs i = Some x /\ t = t' ++ [read (p ++ [Beside i]) (element (Made (p ++ [Beside i]) w) []) x] /\
         run c ((p ++ [Beside i]) ++ [After 0]) (upd rho w (Made (p ++ [Beside i]) w)) (upd io l i) t') /\
      shuffle trs t /\ combined o z (as_number u :: map as_number xs) r /\ tr = t ++ [read p (element (rho v) []) u; write p rho (v, []) r]
  end.

(* ---------- the discipline ---------- *)
Definition levels := nat -> Prop.
Definition more (R : levels) (l : nat) : levels := fun k => R k \/ k = l.
Definition moreW (W : region) (l : nat) : region := fun k q => W k q \/ k = l.
(* Iteration [i] of a parallel loop may read [Ri i] and write [Wi i]: what it writes no other one reads or writes. *)
Definition shares (n : nat) (R W : region) (Ri Wi : nat -> region) : Prop :=
  (forall i m q, i < n -> Ri i m q -> R m q) /\ (forall i m q, i < n -> Wi i m q -> W m q) /\
  (forall i j m q, i < n -> j < n -> i <> j -> Wi i m q -> ~ Wi j m q /\ ~ Ri j m q).
(* [N]: the arrays in scope; [R]: elements that may be read; [W]: elements that may be written. *)
Fixpoint dis (io : ienv) (N : levels) (R : region) (W : region) (c : comm) : Prop :=
  match c with
  | Skip => True
  | Seq a b => dis io N R W a /\ dis io N R W b
  | Assign a x => W (fst (loc io a [])) (snd (loc io a [])) /\ reads R io x []
  | New l _ c => ~ N l /\ dis io (more N l) (moreW R l) (moreW W l) c
  | For par l n c =>
      if par : bool then exists Ri Wi, shares n R W Ri Wi /\ forall i, i < n -> dis (upd io l i) N (Ri i) (Wi i) c
      else forall i, i < n -> dis (upd io l i) N R W c
  | If x a b => reads R io x [] /\ dis io N R W a /\ dis io N R W b
  | Index l m j c => reads R io j [] /\ forall i, i < m -> dis (upd io l i) N R W c
  | Sum _ _ v w l n c => R v [] /\ W v [] /\ ~ N w /\
      exists Ri Wi, shares n R W Ri Wi /\ forall i, i < n -> dis (upd io l i) (more N w) (moreW (Ri i) w) (moreW (Wi i) w) c
  end.
Definition scoped (N : levels) (R W : region) := (forall l q, R l q -> N l) /\ forall l q, W l q -> N l.
Lemma scoped_more N R W l : scoped N R W -> scoped (more N l) (moreW R l) (moreW W l).
Proof. intros [H1 H2]. unfold more, moreW. split; intros k q [H| ->]; eauto. Qed.
Lemma scoped_share N R W Ri Wi n i : shares n R W Ri Wi -> i < n -> scoped N R W -> scoped N (Ri i) (Wi i).
Proof. intros (H1 & H2 & _) Hi [S1 S2]. split; intros l q Hl; eauto. Qed.
Lemma shares_mono n (R R' W W' : region) Ri Wi : (forall l q, R l q -> R' l q) -> (forall l q, W l q -> W' l q) -> shares n R W Ri Wi -> shares n R' W' Ri Wi.
Proof. intros HR HW (H1 & H2 & H3). repeat split; eauto; now apply (H3 i j m q). Qed.
Lemma dis_mono c : forall io N (R R' W W' : region), (forall l q, R l q -> R' l q) -> (forall l q, W l q -> W' l q) -> dis io N R W c -> dis io N R' W' c.
Proof.
  induction c; cbn [dis]; intros io N R R' W W' HR HW H; auto.
  - destruct H as [H1 H2]. split; [exact (IHc1 _ _ _ _ _ _ HR HW H1)|exact (IHc2 _ _ _ _ _ _ HR HW H2)].
  - destruct H as [H1 H2]. split; [auto|exact (reads_mono _ _ HR _ _ _ H2)].
  - destruct H as [H1 H2]. split; auto. eapply IHc; [| |exact H2]; unfold moreW; intuition auto.
  - destruct par; [|intros i Hi; exact (IHc _ _ _ _ _ _ HR HW (H i Hi))]. destruct H as (Ri & Wi & H1 & H2). exists Ri, Wi. split; auto. now apply (shares_mono _ _ _ _ _ _ _ HR HW).
  - destruct H as (H1 & H2 & H3). split; [exact (reads_mono _ _ HR _ _ _ H1)|]. split; [exact (IHc1 _ _ _ _ _ _ HR HW H2)|exact (IHc2 _ _ _ _ _ _ HR HW H3)].
  - destruct H as (H1 & H2). split; [exact (reads_mono _ _ HR _ _ _ H1)|]. intros i Hi. exact (IHc _ _ _ _ _ _ HR HW (H2 i Hi)).
  - destruct H as (H1 & H2 & H3 & Ri & Wi & H4 & H5). repeat (split; [auto|]). exists Ri, Wi. split; auto. now apply (shares_mono _ _ _ _ _ _ _ HR HW).
Qed.

Lemma dis_fewer c : forall io (N N' : levels) R W, (forall l, N' l -> N l) -> dis io N R W c -> dis io N' R W c.
Proof.
  assert (M : forall (N N' : levels) l, (forall k, N' k -> N k) -> forall k, more N' l k -> more N l k) by (unfold more; intuition auto).
  induction c; cbn [dis]; intros io N N' R W HN H; auto.
  - destruct H as [H1 H2]. split; [exact (IHc1 _ _ _ _ _ HN H1)|exact (IHc2 _ _ _ _ _ HN H2)].
  - destruct H as [H1 H2]. split; auto. exact (IHc _ _ _ _ _ (M N N' l HN) H2).
  - destruct par; [|intros i Hi; exact (IHc _ _ _ _ _ HN (H i Hi))]. destruct H as (Ri & Wi & H1 & H2). exists Ri, Wi. split; auto. intros i Hi. exact (IHc _ _ _ _ _ HN (H2 i Hi)).
  - destruct H as (H1 & H2 & H3). split; auto. split; [exact (IHc1 _ _ _ _ _ HN H2)|exact (IHc2 _ _ _ _ _ HN H3)].
  - destruct H as (H1 & H2). split; auto. intros i Hi. exact (IHc _ _ _ _ _ HN (H2 i Hi)).
  - destruct H as (H1 & H2 & H3 & Ri & Wi & H4 & H5). repeat (split; [auto|]). exists Ri, Wi. split; auto. intros i Hi. exact (IHc _ _ _ _ _ (M N N' w HN) (H5 i Hi)).
Qed.

(* ---------- where a command reads and writes ---------- *)
Definition reads_of (p : place) (rho : nat -> block) (R : region) (a : action) : Prop :=
  who a = p /\ put a = false /\ exists l q, at_ a = element (rho l) q /\ R l q.
(* A fetched index is one that may be. *)
Lemma fetch_may p rho io j q tr u : fetch p rho io j q tr u -> may_be io j (to_nat u).
Proof. destruct j; cbn; auto; intros [_ ->]; apply to_of_nat. Qed.
Lemma fetch_at p rho R x : forall io q tr v, reads R io x q -> fetch p rho io x q tr v -> Forall (reads_of p rho R) tr.
Proof.
  induction x; cbn [reads fetch]; intros io q tr y H Hf.
  - destruct Hf as (w & -> & _). constructor; [|constructor]. split; [auto|]. split; [auto|]. exists l, q. auto.
  - destruct Hf as [-> _]. constructor.
  - destruct Hf as [-> _]. constructor.
  - destruct Hf as [-> _]. constructor.
  - destruct Hf as (u & Hf & _). eauto.
  - destruct H as [? ?]. destruct Hf as (t1 & t2 & u & w & E1 & E2 & Hs & _). eapply Races.shuffle_forall; [exact Hs|]. constructor; [eauto|constructor; [eauto|constructor]].
  - destruct Hf as (u & Hf & _). eauto.
  - destruct H as [H1 H2]. destruct Hf as (t1 & t2 & u & -> & E1 & E2). apply Forall_app. split; [eauto|]. eapply IHx1; [|exact E2]. apply H2. eapply fetch_may; eauto.
  - eauto.
  - destruct (bpick j q) as [[|] q']; eauto.
  - destruct q as [|[i| |] q]; try (destruct Hf as [-> _]; constructor). destruct H as [H1 H2]. destruct Hf as (t1 & t2 & u & -> & E1 & E2). apply Forall_app. split; eauto.
  - destruct Hf as [-> _]. constructor.
  - destruct q as [|[i| |] q]; try (destruct Hf as [-> _]; constructor). eauto.
  - destruct H as (H1 & H2 & H3). destruct Hf as (t1 & t2 & u & -> & E1 & E2). apply Forall_app. split; eauto. destruct (truth u); eauto.
Qed.
(* [m] holds, for the arrays in scope, what [s] holds. *)
Definition shows (rho : nat -> block) (N : levels) (m : memory) (s : store) : Prop :=
  forall l, N l -> forall q, as_number (m (element (rho l) q)) = s l q.
Lemma fetch_ev p rho (N : levels) m s x : shows rho N m s -> forall io q tr v, reads (fun l _ => N l) io x q -> fetch p rho io x q tr v ->
  Forall (fun a => what a = m (at_ a)) tr -> v = ev s io x q.
Proof.
  intros Hm. induction x; cbn [reads fetch ev]; intros io q tr y H Hf F.
  - destruct Hf as (w & -> & ->). inversion_clear F as [|? ? E _]. cbn in E. subst w. now apply Hm.
  - tauto.
  - tauto.
  - tauto.
  - destruct Hf as (u & Hf & ->). f_equal. eauto.
  - destruct H as [? ?]. destruct Hf as (t1 & t2 & u & w & E1 & E2 & Hs & ->). apply (Races.shuffle_forall_inv _ _ _ _ Hs) in F.
    inversion_clear F as [|? ? F1 F']. inversion_clear F' as [|? ? F2 _]. f_equal; eauto.
  - destruct Hf as (u & Hf & ->). do 3 f_equal. eauto.
  - destruct H as [H1 H2]. destruct Hf as (t1 & t2 & u & -> & E1 & E2). apply Forall_app in F as [F1 F2]. assert (M := fetch_may _ _ _ _ _ _ _ E1).
    rewrite <- (IHx2 _ _ _ _ H1 E1 F1). eauto.
  - eauto.
  - destruct (bpick j q) as [[|] q']; eauto.
  - destruct q as [|[i| |] q]; try tauto. destruct H as [H1 H2]. destruct Hf as (t1 & t2 & u & -> & E1 & E2). apply Forall_app in F as [F1 F2].
    rewrite <- (IHx1 _ _ _ _ H1 E1 F1). eauto.
  - tauto.
  - destruct q as [|[i| |] q]; try tauto. eauto.
  - destruct H as (H1 & H2 & H3). destruct Hf as (t1 & t2 & u & -> & E1 & E2). apply Forall_app in F as [F1 F2]. rewrite <- (IHx1 _ _ _ _ H1 E1 F1). destruct (truth u); eauto.
Qed.

Record inv (p : place) (rho : nat -> block) : Prop := {
  inj : forall l l', rho l = rho l' -> l = l';
  old : forall l q l', rho l = Made q l' -> ~ Races.prefix p q }.
Lemma inv_in p u rho : inv p rho -> inv (p ++ [u]) rho.
Proof. intros [H1 H2]. split; auto. intros w q w' E C. apply (H2 w q w' E). eapply Races.prefix_more; eauto. Qed.
Lemma inv_local p rho l : inv p rho -> inv (p ++ [After 0]) (upd rho l (Made p l)).
Proof.
  intros [H1 H2]. assert (F : forall k l', rho k <> Made p l') by (intros k l' E; apply (H2 k p l' E), Races.prefix_refl).
  split.
  - intros a b. unfold upd. destruct (Nat.eqb_spec l a), (Nat.eqb_spec l b); intros E; auto; try congruence; exfalso; eapply F; eauto.
  - intros a q l'. unfold upd. destruct (Nat.eqb_spec l a); intros E.
    + injection E as <- <-. apply Races.prefix_not.
    + intros C. apply (H2 a q l' E). eapply Races.prefix_more; eauto.
Qed.

Definition touches (p : place) (rho : nat -> block) (R W : region) (a : action) : Prop :=
  Races.prefix p (who a) /\
  ((exists l q, at_ a = element (rho l) q /\ (if put a then W l q else R l q)) \/ (exists q l z, at_ a = (Made q l, [], z) /\ Races.prefix p q)).
Lemma touches_more p u rho (R R' W W' : region) a : (forall l q, R l q -> R' l q) -> (forall l q, W l q -> W' l q) -> touches (p ++ [u]) rho R W a -> touches p rho R' W' a.
Proof.
  intros HR HW [H1 H2]. split; [eapply Races.prefix_more; eauto|]. destruct H2 as [(l & q & E & H)|(q & l & z & E & Hq)].
  - left. exists l, q. split; auto. destruct (put a); auto.
  - right. exists q, l, z. split; auto. eapply Races.prefix_more; eauto.
Qed.
Lemma reads_touch p rho R W a : reads_of p rho R a -> touches p rho R W a.
Proof. intros (<- & Hp & l & q & E & Hl). split; [apply Races.prefix_refl|]. left. exists l, q. rewrite Hp. auto. Qed.
Lemma loop_in (par : bool) (trs : list trace) tr : (if par then shuffle trs tr else tr = List.concat trs) ->
  forall a, In a tr <-> exists i t, nth_error trs i = Some t /\ In a t.
Proof.
  intros H a. assert (G : In a tr <-> exists t, In t trs /\ In a t). { destruct par; [apply shuffle_in; auto|]. subst tr. rewrite in_concat. split; intros (t & ? & ?); eauto. }
  rewrite G. split.
  - intros (t & H1 & H2). apply In_nth_error in H1 as [i Hi]. eauto.
  - intros (i & t & H1 & H2). apply nth_error_In in H1. eauto.
Qed.
Lemma nth_below (trs : list trace) n i t : List.length trs = n -> nth_error trs i = Some t -> i < n.
Proof. intros <- E. apply nth_error_Some. unfold Interleave.trace in *. congruence. Qed.
(* What a block does with its own memory does not touch anything else. *)
Lemma touches_local p rho R W l a : touches (p ++ [After 0]) (upd rho l (Made p l)) (moreW R l) (moreW W l) a -> touches p rho R W a.
Proof.
  intros [P Q]. split; [eapply Races.prefix_more; eauto|]. destruct Q as [(k & q & E & Hk)|(q & k & z & E & Hq)].
  - destruct (Nat.eq_dec l k) as [<-|Hne].
    + right. rewrite upd_same in E. exists p, l, (map code q). split; auto. apply Races.prefix_refl.
    + left. rewrite upd_other in E by auto. exists k, q. split; auto. destruct (put a); destruct Hk as [Hk|Hk]; auto; congruence.
  - right. exists q, k, z. split; auto. eapply Races.prefix_more; eauto.
Qed.
Lemma sum_touches p rho R W w x : touches p rho R W (read p (element (Made p w) []) x).
Proof. split; [apply Races.prefix_refl|]. right. exists p, w, []. split; [reflexivity|apply Races.prefix_refl]. Qed.
Lemma run_touches c : forall io N R W p rho tr, dis io N R W c -> run c p rho io tr -> Forall (touches p rho R W) tr.
Proof.
  induction c; cbn [dis]; intros io N R W p rho tr H Hr.
  - cbn in Hr. subst. constructor.
  - destruct H as [H1 H2]. destruct Hr as (t1 & t2 & -> & R1 & R2). apply Forall_app. split.
    + eapply Forall_impl; [|eapply IHc1; eauto]. intros a. apply touches_more; auto.
    + eapply Forall_impl; [|eapply IHc2; eauto]. intros a. apply touches_more; auto.
  - destruct H as [H1 H2]. destruct Hr as (t & v & Hf & ->). apply Forall_app. split.
    + eapply Forall_impl; [|eapply fetch_at; eauto]. intros b. apply reads_touch.
    + constructor; auto. split; [apply Races.prefix_refl|]. left. exists (fst (loc io a [])), (snd (loc io a [])). cbn. auto.
  - destruct H as [H1 H2]. eapply Forall_impl; [|eapply IHc; eauto]. intros a. apply touches_local.
  - destruct Hr as (trs & HL & Hi & Ht). apply Forall_forall. intros a Ha. apply (loop_in par trs tr Ht) in Ha as (i & t & Et & Ha).
    assert (Hlt := nth_below _ _ _ _ HL Et). specialize (Hi i t Et). destruct par.
    + destruct H as (Ri & Wi & (H1 & H2 & _) & H4). assert (T := IHc _ _ _ _ _ _ _ (H4 i Hlt) Hi). rewrite Forall_forall in T.
      eapply touches_more; [| |apply (T a Ha)]; eauto.
    + assert (T := IHc _ _ _ _ _ _ _ (H i Hlt) Hi). rewrite Forall_forall in T. eapply touches_more; [| |apply (T a Ha)]; auto.
  - destruct H as (H1 & H2 & H3). destruct Hr as (t1 & u & t2 & -> & Hf & Hr). apply Forall_app. split.
    + eapply Forall_impl; [|eapply fetch_at; eauto]. intros b. apply reads_touch.
    + destruct (truth u); (eapply Forall_impl; [|eauto]); intros b; apply touches_more; auto.
  - destruct H as (H1 & H2). destruct Hr as (t1 & u & t2 & -> & Hf & Hr). apply Forall_app. split.
    + eapply Forall_impl; [|eapply fetch_at; eauto]. intros b. apply reads_touch.
    + destruct (Nat.ltb_spec (to_nat u) m); [|subst; constructor]. eapply Forall_impl; [|eauto]. intros b. apply touches_more; auto.
  - destruct H as (H1 & H2 & H3 & Ri & Wi & HS & H4). destruct Hr as (trs & xs & t & u & r & HL & _ & Hi & Ht & _ & ->). apply Forall_app. split.
    + apply Forall_forall. intros a Ha. apply (loop_in true trs t Ht) in Ha as (i & ti & Et & Ha). assert (Hlt := nth_below _ _ _ _ HL Et).
      destruct (Hi i ti Et) as (t' & x & _ & -> & Hrun). destruct HS as (S1 & S2 & _).
      apply touches_more with (u := Beside i) (R := Ri i) (W := Wi i); eauto. apply in_app_or in Ha as [Ha|[<-|[]]]; [|apply sum_touches].
      assert (T := IHc _ _ _ _ _ _ _ (H4 i Hlt) Hrun). rewrite Forall_forall in T. apply touches_local with (l := w). auto.
    + constructor; [|constructor; [|constructor]]; (split; [apply Races.prefix_refl|]); left; exists v, []; cbn; auto.
Qed.
Lemma run_who c io N R W p rho tr : dis io N R W c -> run c p rho io tr -> forall a, In a tr -> Races.prefix p (who a).
Proof. intros H Hr a Ha. assert (T := run_touches c io N R W p rho tr H Hr). rewrite Forall_forall in T. apply (T a Ha). Qed.

Lemma iterations_apart n p rho (trs : list trace) R W Ri Wi : shares n R W Ri Wi -> inv p rho -> List.length trs = n ->
  (forall i t, nth_error trs i = Some t -> Forall (touches (p ++ [Beside i]) rho (Ri i) (Wi i)) t) ->
  forall i j ti tj a b, i <> j -> nth_error trs i = Some ti -> nth_error trs j = Some tj -> In a ti -> In b tj -> ~ conflict a b.
Proof.
  intros (_ & _ & HS) Hinv HL HT i j ti tj a b Hij Ei Ej Ha Hb [Hat Hput].
  assert (Li := nth_below _ _ _ _ HL Ei). assert (Lj := nth_below _ _ _ _ HL Ej).
  assert (Ta := HT i ti Ei). assert (Tb := HT j tj Ej).
  rewrite Forall_forall in Ta, Tb. destruct (Ta a Ha) as [_ Pa]. destruct (Tb b Hb) as [_ Pb]. clear Ta Tb.
  destruct Pa as [(k & q & Ea & Wa)|(q & k & z & Ea & Qa)], Pb as [(k' & q' & Eb & Wb)|(q' & k' & z' & Eb & Qb)];
    rewrite Ea, Eb in Hat; unfold element in Hat; injection Hat as E0 E1.
  - apply (inj _ _ Hinv) in E0. apply code_inj in E1. subst k' q'.
    destruct (put a), (put b).
    + exact (proj1 (HS i j k q Li Lj Hij Wa) Wb).
    + exact (proj2 (HS i j k q Li Lj Hij Wa) Wb).
    + exact (proj2 (HS j i k q Lj Li (not_eq_sym Hij) Wb) Wa).
    + destruct Hput; discriminate.
  - apply (old _ _ Hinv k q' k' E0). eapply Races.prefix_more; eauto.
  - apply (old _ _ Hinv k' q k (eq_sym E0)). eapply Races.prefix_more; eauto.
  - subst q'. apply Hij. assert (E := Races.prefix_same _ _ _ _ Qa Qb). congruence.
Qed.
(* The iterations of a sum, with their last reads. *)
Lemma sum_iteration c io N R W p rho w t x : dis io (more N w) (moreW R w) (moreW W w) c -> run c (p ++ [After 0]) (upd rho w (Made p w)) io t ->
  Forall (touches p rho R W) (t ++ [read p (element (Made p w) []) x]).
Proof.
  intros H Hr. apply Forall_app. split; [|constructor; [apply sum_touches|constructor]].
  eapply Forall_impl; [|eapply run_touches; eauto]. intros a. apply touches_local.
Qed.

(* ---------- no races ---------- *)
Lemma reads_at p rho R t a : Forall (reads_of p rho R) t -> In a t -> who a = p.
Proof. intros H Ha. rewrite Forall_forall in H. apply (H a Ha). Qed.
Theorem no_race c : forall io N R W p rho tr, dis io N R W c -> inv p rho -> run c p rho io tr -> ~ race tr.
Proof.
  enough (G : forall io N R W p rho tr, dis io N R W c -> inv p rho -> run c p rho io tr ->
    forall a b, In a tr -> In b tr -> concurrent (who a) (who b) -> ~ conflict a b).
  { intros io N R W p rho tr H Hinv Hr (a & b & Ha & Hb & Hc & Hf). exact (G io N R W p rho tr H Hinv Hr a b Ha Hb Hc Hf). }
  induction c as [|c1 IHc1 c2 IHc2|acc x|l d c IHc|par l n c IHc|x c1 IHc1 c2 IHc2|l n x c IHc|o z v w l n c IHc]; cbn [dis]; intros io N R W p rho tr H Hinv Hr a b Ha Hb Hab.
  - cbn in Hr. subst. destruct Ha.
  - destruct H as [H1 H2]. destruct Hr as (t1 & t2 & -> & R1 & R2). apply in_app_or in Ha. apply in_app_or in Hb. destruct Ha as [Ha|Ha], Hb as [Hb|Hb].
    + exact (IHc1 _ _ _ _ _ _ _ H1 (inv_in _ _ _ Hinv) R1 a b Ha Hb Hab).
    + exfalso. apply (Races.concurrent_after p 0 (After 1) (who a) (who b)); auto; [exact (run_who c1 _ _ _ _ _ _ _ H1 R1 a Ha)|exact (run_who c2 _ _ _ _ _ _ _ H2 R2 b Hb)|congruence].
    + exfalso. apply (Races.concurrent_after p 1 (After 0) (who a) (who b)); auto; [exact (run_who c2 _ _ _ _ _ _ _ H2 R2 a Ha)|exact (run_who c1 _ _ _ _ _ _ _ H1 R1 b Hb)|congruence].
    + exact (IHc2 _ _ _ _ _ _ _ H2 (inv_in _ _ _ Hinv) R2 a b Ha Hb Hab).
  - destruct H as [H1 H2]. destruct Hr as (t & v & Hf & ->). exfalso.
    assert (Q := fetch_at p rho R x _ _ _ _ H2 Hf).
    assert (G : forall f, In f (t ++ [write p rho (loc io acc []) v]) -> who f = p). { intros f Hx. apply in_app_or in Hx as [Hx|[<-|[]]]; [eapply reads_at; eauto|reflexivity]. }
    rewrite (G a Ha), (G b Hb) in Hab. revert Hab. apply Races.concurrent_prefix, Races.prefix_refl.
  - destruct H as [H1 H2]. exact (IHc _ _ _ _ _ _ _ H2 (inv_local _ _ _ Hinv) Hr a b Ha Hb Hab).
  - destruct Hr as (trs & HL & Hi & Ht). apply (loop_in par trs tr Ht) in Ha as (i & ti & Ei & Ha). apply (loop_in par trs tr Ht) in Hb as (j & tj & Ej & Hb).
    assert (Li := nth_below _ _ _ _ HL Ei). assert (Lj := nth_below _ _ _ _ HL Ej). destruct (Nat.eq_dec i j) as [<-|Hij].
    + assert (ti = tj) by congruence. subst tj. assert (Hd : exists R' W', dis (upd io l i) N R' W' c). { destruct par; [|eauto]. destruct H as (Ri & Wi & _ & H4). eauto. }
      destruct Hd as (R' & W' & Hd). exact (IHc _ _ _ _ _ _ _ Hd (inv_in _ _ _ Hinv) (Hi i ti Ei) a b Ha Hb Hab).
    + destruct par.
      * destruct H as (Ri & Wi & HS & H4). apply (iterations_apart n p rho trs R W Ri Wi) with (i := i) (j := j) (ti := ti) (tj := tj); auto.
        intros k t Ek. assert (Lk := nth_below _ _ _ _ HL Ek). exact (run_touches c _ _ _ _ _ _ _ (H4 k Lk) (Hi k t Ek)).
      * exfalso. apply (Races.concurrent_after p i (After j) (who a) (who b)); auto; [| |congruence].
        -- exact (run_who c _ _ _ _ _ _ _ (H i Li) (Hi i ti Ei) a Ha).
        -- exact (run_who c _ _ _ _ _ _ _ (H j Lj) (Hi j tj Ej) b Hb).
  - destruct H as (H1 & H2 & H3). destruct Hr as (t1 & u & t2 & -> & Hf & Hr). assert (Q := fetch_at p rho R x _ _ _ _ H1 Hf).
    assert (P : forall f, In f t2 -> Races.prefix p (who f)).
    { intros f Hx. destruct (truth u); eapply Races.prefix_more; [exact (run_who c1 _ _ _ _ _ _ _ H2 Hr f Hx)|exact (run_who c2 _ _ _ _ _ _ _ H3 Hr f Hx)]. }
    apply in_app_or in Ha. apply in_app_or in Hb. destruct Ha as [Ha|Ha], Hb as [Hb|Hb].
    + exfalso. rewrite (reads_at _ _ _ _ _ Q Ha), (reads_at _ _ _ _ _ Q Hb) in Hab. revert Hab. apply Races.concurrent_prefix, Races.prefix_refl.
    + exfalso. rewrite (reads_at _ _ _ _ _ Q Ha) in Hab. revert Hab. apply Races.concurrent_prefix. auto.
    + exfalso. rewrite (reads_at _ _ _ _ _ Q Hb) in Hab. apply Races.concurrent_sym in Hab. revert Hab. apply Races.concurrent_prefix. auto.
    + destruct (truth u); [exact (IHc1 _ _ _ _ _ _ _ H2 (inv_in _ _ _ Hinv) Hr a b Ha Hb Hab)|exact (IHc2 _ _ _ _ _ _ _ H3 (inv_in _ _ _ Hinv) Hr a b Ha Hb Hab)].
  - destruct H as (H1 & H2). destruct Hr as (t1 & u & t2 & -> & Hf & Hr). assert (Q := fetch_at p rho R x _ _ _ _ H1 Hf).
    destruct (Nat.ltb_spec (to_nat u) n) as [Hu|_].
    2:{ subst t2. exfalso. rewrite app_nil_r in Ha, Hb. rewrite (reads_at _ _ _ _ _ Q Ha), (reads_at _ _ _ _ _ Q Hb) in Hab. revert Hab. apply Races.concurrent_prefix, Races.prefix_refl. }
    assert (P : forall f, In f t2 -> Races.prefix p (who f)). { intros f Hx. eapply Races.prefix_more. exact (run_who c _ _ _ _ _ _ _ (H2 _ Hu) Hr f Hx). }
    apply in_app_or in Ha. apply in_app_or in Hb. destruct Ha as [Ha|Ha], Hb as [Hb|Hb].
    + exfalso. rewrite (reads_at _ _ _ _ _ Q Ha), (reads_at _ _ _ _ _ Q Hb) in Hab. revert Hab. apply Races.concurrent_prefix, Races.prefix_refl.
    + exfalso. rewrite (reads_at _ _ _ _ _ Q Ha) in Hab. revert Hab. apply Races.concurrent_prefix. auto.
    + exfalso. rewrite (reads_at _ _ _ _ _ Q Hb) in Hab. apply Races.concurrent_sym in Hab. revert Hab. apply Races.concurrent_prefix. auto.
    + exact (IHc _ _ _ _ _ _ _ (H2 _ Hu) (inv_in _ _ _ Hinv) Hr a b Ha Hb Hab).
  - assert (T := run_touches (Sum o z v w l n c) io N R W p rho tr H Hr). rewrite Forall_forall in T.
    destruct H as (H1 & H2 & H3 & Ri & Wi & HS & H4). destruct Hr as (trs & xs & t & u & r & HL & _ & Hi & Ht & _ & ->).
    assert (L : forall f, In f [read p (element (rho v) []) u; write p rho (v, []) r] -> who f = p) by (intros f [<-|[<-|[]]]; reflexivity).
    assert (Ta := proj1 (T a Ha)). assert (Tb := proj1 (T b Hb)). clear T. apply in_app_or in Ha. apply in_app_or in Hb.
    destruct Ha as [Ha|Ha]; [|exfalso; rewrite (L a Ha) in Hab; revert Hab; apply Races.concurrent_prefix; exact Tb].
    destruct Hb as [Hb|Hb]; [|exfalso; rewrite (L b Hb) in Hab; apply Races.concurrent_sym in Hab; revert Hab; apply Races.concurrent_prefix; exact Ta].
    apply (loop_in true trs t Ht) in Ha as (i & ti & Ei & Ha). apply (loop_in true trs t Ht) in Hb as (j & tj & Ej & Hb).
    destruct (Nat.eq_dec i j) as [<-|Hij].
    + assert (ti = tj) by congruence. subst tj. destruct (Hi i ti Ei) as (t' & x & _ & -> & Hrun). assert (Li := nth_below _ _ _ _ HL Ei).
      assert (P : forall f, In f t' -> Races.prefix (p ++ [Beside i]) (who f)). { intros f Hx. eapply Races.prefix_more. exact (run_who c _ _ _ _ _ _ _ (H4 i Li) Hrun f Hx). }
      apply in_app_or in Ha. apply in_app_or in Hb. destruct Ha as [Ha|[<-|[]]].
      * destruct Hb as [Hb|[<-|[]]]; [exact (IHc _ _ _ _ _ _ _ (H4 i Li) (inv_local _ _ _ (inv_in _ _ _ Hinv)) Hrun a b Ha Hb Hab)|].
        exfalso. apply Races.concurrent_sym in Hab. revert Hab. apply Races.concurrent_prefix. cbn. auto.
      * exfalso. revert Hab. apply Races.concurrent_prefix. cbn. destruct Hb as [Hb|[<-|[]]]; [auto|apply Races.prefix_refl].
    + apply (iterations_apart n p rho trs R W Ri Wi) with (i := i) (j := j) (ti := ti) (tj := tj); auto.
      intros k tk Ek. destruct (Hi k tk Ek) as (t' & x & _ & -> & Hrun). assert (Lk := nth_below _ _ _ _ HL Ek). eapply sum_iteration; eauto.
Qed.

(* ---------- every interleaving ends as whole iterations do ---------- *)
Lemma reads_quiet p rho R tr : Forall (reads_of p rho R) tr -> quiet number tr.
Proof. apply Forall_impl. intros a (_ & H & _). exact H. Qed.
Lemma reads_below N R W io x p : scoped N R W -> reads R io x p -> reads (fun l _ => N l) io x p.
Proof. intros [H _]. now apply reads_mono. Qed.
Lemma exec_of_run c : forall io N R W p rho tr m s, dis io N R W c -> scoped N R W -> inv p rho -> run c p rho io tr ->
  good m tr -> shows rho N m s -> exists s', exec c io s s' /\ shows rho N (finally m tr) s'.
Proof.
  induction c as [|c1 IHc1 c2 IHc2|acc x|l d c IHc|par l n c IHc|x c1 IHc1 c2 IHc2|l n x c IHc|o z v w l n c IHc]; cbn [dis]; intros io N R W p rho tr m s H HS Hinv Hr Hg Hm.
  - cbn in Hr. subst. exists s. split; [reflexivity|exact Hm].
  - destruct H as [H1 H2]. destruct Hr as (t1 & t2 & -> & R1 & R2). apply good_app in Hg as [G1 G2].
    destruct (IHc1 _ _ _ _ _ _ _ m s H1 HS (inv_in _ _ _ Hinv) R1 G1 Hm) as (s1 & E1 & M1).
    destruct (IHc2 _ _ _ _ _ _ _ _ s1 H2 HS (inv_in _ _ _ Hinv) R2 G2 M1) as (s2 & E2 & M2).
    exists s2. rewrite finally_app. split; [exists s1; auto|exact M2].
  - destruct H as [H1 H2]. destruct Hr as (t & v & Hf & ->). assert (Q := reads_quiet _ _ _ _ (fetch_at p rho R x _ _ _ _ H2 Hf)).
    apply good_app in Hg as [G1 _]. destruct (quiet_good number t Q m) as [F1 F2]. apply F2 in G1.
    rewrite (fetch_ev p rho N m s x Hm _ _ _ _ (reads_below _ _ _ _ _ _ HS H2) Hf G1).
    eexists. split; [reflexivity|]. rewrite finally_app, F1. intros k Hk q. cbn. unfold step. cbn.
    destruct (location_dec (element (rho (fst (loc io acc []))) (snd (loc io acc []))) (element (rho k) q)) as [E|E].
    + unfold element in E. injection E as E0 E1. apply (inj _ _ Hinv) in E0. apply code_inj in E1. subst. now rewrite wr_same.
    + rewrite wr_other; [apply Hm; auto|]. intros C. apply E. now rewrite C.
  - destruct H as [H1 H2]. set (junk := fun q => as_number (m (element (Made p l) q))).
    destruct (IHc _ _ _ _ _ _ _ m (upd s l junk) H2 (scoped_more _ _ _ _ HS) (inv_local _ _ _ Hinv) Hr Hg) as (s1 & E1 & M1).
    { intros k Hk q. unfold upd. destruct (Nat.eqb_spec l k) as [<-|Hne]; [reflexivity|]. apply Hm. destruct Hk; congruence. }
    exists s1. split; [exists junk; exact E1|]. intros k Hk q. rewrite <- (M1 k) by (left; exact Hk). rewrite upd_other; [reflexivity|]. intros <-. contradiction.
  - destruct Hr as (trs & HL & Hi & Ht).
    assert (D : exists Ri Wi : nat -> region, (forall i, i < n -> dis (upd io l i) N (Ri i) (Wi i) c) /\ (forall i, i < n -> scoped N (Ri i) (Wi i)) /\
      (good m (List.concat trs) /\ same_memory number (finally m tr) (finally m (List.concat trs)))).
    { destruct par.
      - destruct H as (Ri & Wi & HD & H4). exists Ri, Wi. split; auto. split; [intros i L; exact (scoped_share _ _ _ _ _ _ _ HD L HS)|].
        apply shuffle_concat; auto. apply (iterations_apart n p rho trs R W Ri Wi); auto.
        intros k t Ek. assert (Lk := nth_below _ _ _ _ HL Ek). exact (run_touches c _ _ _ _ _ _ _ (H4 k Lk) (Hi k t Ek)).
      - exists (fun _ => R), (fun _ => W). split; auto. split; auto. subst tr. split; [exact Hg|intros k; reflexivity]. }
    destruct D as (Ri & Wi & D1 & D2 & Gc & Sc). clear Hg Ht.
    assert (L : forall us k m s, shows rho N m s -> good m (List.concat us) -> (forall i t, nth_error us i = Some t -> nth_error trs (k + i) = Some t) ->
      exists s', iterR (fun i => exec c (upd io l i)) (seq k (List.length us)) s s' /\ shows rho N (finally m (List.concat us)) s').
    { induction us as [|u us IH]; intros k m0 s0 Hm0 Hg0 Hu; cbn [List.concat List.length seq iterR].
      - exists s0. auto.
      - cbn [List.concat] in Hg0. apply good_app in Hg0 as [G1 G2].
        assert (Ek := Hu 0 u eq_refl). rewrite Nat.add_0_r in Ek. assert (Hlt := nth_below _ _ _ _ HL Ek).
        destruct (IHc _ _ _ _ _ _ _ m0 s0 (D1 k Hlt) (D2 k Hlt) (inv_in _ _ _ Hinv) (Hi k u Ek) G1 Hm0) as (s1 & E1 & M1).
        destruct (IH (S k) _ s1 M1 G2) as (s2 & E2 & M2). { intros i t Et. rewrite Nat.add_succ_comm. apply Hu. exact Et. }
        exists s2. split; [exists s1; auto|]. rewrite finally_app. exact M2. }
    destruct (L trs 0 m s Hm Gc ltac:(auto)) as (s' & E' & M'). exists s'. split.
    + exists (seq 0 n). split; [destruct par; cbn; auto|]. rewrite <- HL. exact E'.
    + intros k Hk q. rewrite <- (M' k Hk q). now rewrite (Sc (element (rho k) q)).
  - destruct H as (H1 & H2 & H3). destruct Hr as (t1 & u & t2 & -> & Hf & Hr). assert (Q := reads_quiet _ _ _ _ (fetch_at p rho R x _ _ _ _ H1 Hf)).
    apply good_app in Hg as [G1 G2]. destruct (quiet_good number t1 Q m) as [F1 F2]. apply F2 in G1. rewrite F1 in G2.
    rewrite (fetch_ev p rho N m s x Hm _ _ _ _ (reads_below _ _ _ _ _ _ HS H1) Hf G1) in Hr. rewrite finally_app, F1. cbn [exec].
    destruct (truth _); [exact (IHc1 _ _ _ _ _ _ _ m s H2 HS (inv_in _ _ _ Hinv) Hr G2 Hm)|exact (IHc2 _ _ _ _ _ _ _ m s H3 HS (inv_in _ _ _ Hinv) Hr G2 Hm)].
  - destruct H as (H1 & H2). destruct Hr as (t1 & u & t2 & -> & Hf & Hr). assert (Q := reads_quiet _ _ _ _ (fetch_at p rho R x _ _ _ _ H1 Hf)).
    apply good_app in Hg as [G1 G2]. destruct (quiet_good number t1 Q m) as [F1 F2]. apply F2 in G1. rewrite F1 in G2.
    rewrite (fetch_ev p rho N m s x Hm _ _ _ _ (reads_below _ _ _ _ _ _ HS H1) Hf G1) in Hr. rewrite finally_app, F1. cbn [exec].
    destruct (Nat.ltb_spec (to_nat (ev s io x [])) n) as [Hu|_]; [exact (IHc _ _ _ _ _ _ _ m s (H2 _ Hu) HS (inv_in _ _ _ Hinv) Hr G2 Hm)|].
    subst t2. exists s. auto.
  - destruct H as (H1 & H2 & H3 & Ri & Wi & HD & H4). destruct Hr as (trs & vs & t & u & r & HL & HX & Hi & Ht & Hc & ->).
    set (xs := map as_number vs) in *. apply good_app in Hg as [G1 G2].
    assert (D : good m (List.concat trs) /\ same_memory number (finally m t) (finally m (List.concat trs))).
    { apply shuffle_concat; auto. apply (iterations_apart n p rho trs R W Ri Wi); auto.
      intros k tk Ek. destruct (Hi k tk Ek) as (t' & x & _ & -> & Hrun). assert (Lk := nth_below _ _ _ _ HL Ek). eapply sum_iteration; eauto. }
    destruct D as [Gc Sc].
    set (Step := fun i (a b : store * list number) => (exists junk, exec c (upd io l i) (upd (fst a) w junk) (fst b)) /\ snd b = fst b w [] :: snd a).
    assert (L : forall us k m s ys, shows rho N m s -> good m (List.concat us) -> (forall i t, nth_error us i = Some t -> nth_error trs (k + i) = Some t) -> k + List.length us = n ->
      exists s' zs, iterR Step (seq k (List.length us)) (s, ys) (s', zs) /\ shows rho N (finally m (List.concat us)) s' /\ zs = rev (skipn k xs) ++ ys).
    { clear G1 G2 Gc Sc. induction us as [|u0 us IH]; intros k m0 s0 ys Hm0 Hg0 Hu Hk; cbn [List.concat List.length seq iterR].
      - exists s0, ys. split; [reflexivity|]. split; [exact Hm0|]. cbn in Hk. rewrite skipn_all2; [reflexivity|]. unfold xs. rewrite map_length. lia.
      - cbn [List.concat] in Hg0. apply good_app in Hg0 as [G1 G2]. assert (Ek := Hu 0 u0 eq_refl). rewrite Nat.add_0_r in Ek. assert (Hlt := nth_below _ _ _ _ HL Ek).
        destruct (Hi k u0 Ek) as (t' & x & Ex & -> & Hrun). apply (map_nth_error as_number) in Ex. fold xs in Ex. apply good_app in G1 as [G0 G1]. cbn in G1. destruct G1 as [G1 _]. specialize (G1 eq_refl).
        set (q := p ++ [Beside k]) in *. set (junk := fun p => as_number (m0 (element (Made q w) p))).
        destruct (IHc _ _ _ _ _ _ _ m0 (upd s0 w junk) (H4 k Hlt) (scoped_more _ _ _ _ (scoped_share _ _ _ _ _ _ _ HD Hlt HS)) (inv_local _ _ _ (inv_in _ _ _ Hinv)) Hrun G0) as (s1 & E1 & M1).
        { intros k' Hk' p'. unfold upd. destruct (Nat.eqb_spec w k') as [<-|Hne]; [reflexivity|]. apply Hm0. destruct Hk'; congruence. }
        assert (FM : forall l, finally m0 (t' ++ [read q (element (Made q w) []) x]) l = finally m0 t' l) by (intros l'; rewrite finally_app; reflexivity).
        assert (X : as_number x = s1 w []). { rewrite G1. specialize (M1 w (or_intror eq_refl) []). rewrite upd_same in M1. exact M1. }
        destruct (IH (S k) (finally m0 (t' ++ [read q (element (Made q w) []) x])) s1 (s1 w [] :: ys)) as (s2 & zs & E2 & M2 & Z2).
        + intros k' Hk' p'. rewrite FM. rewrite <- (M1 k') by (left; exact Hk'). rewrite upd_other; [reflexivity|]. intros <-. contradiction.
        + exact G2.
        + intros i ti Ei. rewrite Nat.add_succ_comm. apply Hu. exact Ei.
        + cbn in Hk. lia.
        + exists s2, zs. split; [exists (s1, s1 w [] :: ys); split; [split; [exists junk; exact E1|reflexivity]|exact E2]|]. rewrite finally_app. split; [exact M2|].
          rewrite Z2. assert (SK : skipn k xs = as_number x :: skipn (S k) xs).
          { clear -Ex. revert k Ex. induction xs as [|y xs IH]; intros [|k] E; try discriminate; cbn in *; [congruence|]. now apply IH. }
          rewrite SK, X. cbn [rev]. now rewrite <- app_assoc. }
    destruct (L trs 0 m s [] Hm Gc ltac:(auto) HL) as (s1 & zs & E1 & M1 & ->). rewrite app_nil_r in E1. cbn [skipn] in E1.
    cbn in G2. destruct G2 as [G2 _]. specialize (G2 eq_refl).
    assert (Nv : N v) by apply (proj1 HS v [] H1).
    assert (U : as_number u = s1 v []). { rewrite G2, <- (Sc _). now apply M1. }
    exists (wr s1 (v, []) r). split.
    + exists (seq 0 n), s1, (rev xs), r. split; [auto|]. split; [rewrite <- HL; exact E1|]. split; [|reflexivity].
      rewrite <- U. eapply combined_moved; [|exact Hc]. constructor. apply Permutation_rev.
    + intros k Hk q. rewrite finally_app. cbn. unfold step. cbn.
      destruct (location_dec (element (rho v) []) (element (rho k) q)) as [E|E].
      * unfold element in E. injection E as E0 E1'. apply (inj _ _ Hinv) in E0. apply (code_inj [] q) in E1'. subst. unfold wr. cbn [fst snd]. rewrite Nat.eqb_refl. destruct (path_dec _ _); [reflexivity|congruence].
      * rewrite wr_other; [rewrite <- (Sc _); now apply M1|]. intros C. apply E. now injection C as -> <-.
Qed.
End Threads.
