(* Commands of the translation as machines run them: single reads and writes that interleave, as in Interleave.v; and a discipline under which nothing
   races and every interleaving does what whole iterations do, one after another: each iteration of a parallel loop writes elements of its own, in arrays
   that none of them reads, and memory that it makes itself. *)
From Coq Require Import ZArith Arith List Lia Bool Permutation.
From Lozenge Require Import Paths Phrases Represent.
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
  end.

(* ---------- the discipline ---------- *)
Fixpoint arrays (x : iexp) : list nat :=
  match x with
  | IVar l => [l]
  | ILoop _ | ILit _ | INat _ | IIota => []
  | IOp1 _ a | IMove _ a | IView _ a | IGen _ a => arrays a
  | IOp2 _ a b | IAt a b | IBoth _ a b | IGather a b => arrays a ++ arrays b
  | ISel a b c => arrays a ++ arrays b ++ arrays c
  end.
Definition levels := nat -> Prop.
Definition more (R : levels) (l : nat) : levels := fun k => R k \/ k = l.
Definition moreW (W : region) (l : nat) : region := fun k q => W k q \/ k = l.
Definition readable (R : levels) (x : iexp) := Forall R (arrays x).
(* [N]: the arrays in scope; [R]: those that may be read; [W]: elements that may be written. *)
Fixpoint dis (io : ienv) (N : levels) (R : levels) (W : region) (c : comm) : Prop :=
  match c with
  | Skip => True
  | Seq a b => dis io N R W a /\ dis io N R W b
  | Assign a x => W (fst (loc io a [])) (snd (loc io a [])) /\ readable R x
  | New l _ c => ~ N l /\ dis io (more N l) (more R l) (moreW W l) c
  | For par l n c =>
      if par : bool then exists (R' : levels) (Wi : nat -> region),
        (forall m, R' m -> R m) /\ (forall i m q, i < n -> Wi i m q -> W m q /\ ~ R' m) /\
        (forall i j m q, i < n -> j < n -> i <> j -> Wi i m q -> ~ Wi j m q) /\
        (forall i, i < n -> dis (upd io l i) N R' (Wi i) c)
      else forall i, i < n -> dis (upd io l i) N R W c
  | If x a b => readable R x /\ dis io N R W a /\ dis io N R W b
  end.
Definition scoped (N R : levels) (W : region) := (forall l, R l -> N l) /\ forall l q, W l q -> N l.
Lemma scoped_more N R W l : scoped N R W -> scoped (more N l) (more R l) (moreW W l).
Proof. intros [H1 H2]. unfold more, moreW. split; [intros k [H| ->]|intros k q [H| ->]]; eauto. Qed.
Lemma dis_mono c : forall io N (R R' : levels) (W W' : region), (forall l, R l -> R' l) -> (forall l q, W l q -> W' l q) -> dis io N R W c -> dis io N R' W' c.
Proof.
  assert (RM : forall (R R' : levels) x, (forall l, R l -> R' l) -> readable R x -> readable R' x) by (intros R R' x H; apply Forall_impl; exact H).
  induction c; cbn [dis]; intros io N R R' W W' HR HW H; auto.
  - destruct H as [H1 H2]. split; [exact (IHc1 _ _ _ _ _ _ HR HW H1)|exact (IHc2 _ _ _ _ _ _ HR HW H2)].
  - destruct H as [H1 H2]. split; [auto|exact (RM _ _ _ HR H2)].
  - destruct H as [H1 H2]. split; auto. eapply IHc; [| |exact H2]; unfold more, moreW; intuition auto.
  - destruct par; [|intros i Hi; exact (IHc _ _ _ _ _ _ HR HW (H i Hi))]. destruct H as (R0 & Wi & H1 & H2 & H3 & H4). exists R0, Wi.
    split; [auto|]. split; [|split; auto]. intros i m q Hi Hw. destruct (H2 i m q Hi Hw). auto.
  - destruct H as (H1 & H2 & H3). split; [exact (RM _ _ _ HR H1)|]. split; [exact (IHc1 _ _ _ _ _ _ HR HW H2)|exact (IHc2 _ _ _ _ _ _ HR HW H3)].
Qed.

(* ---------- where a command reads and writes ---------- *)
Definition reads_of (p : place) (rho : nat -> block) (R : levels) (a : action) : Prop :=
  who a = p /\ put a = false /\ exists l q, at_ a = element (rho l) q /\ R l.
Lemma fetch_at p rho R x : readable R x -> forall io q tr v, fetch p rho io x q tr v -> Forall (reads_of p rho R) tr.
Proof.
  unfold readable. induction x; cbn [arrays fetch]; intros H io q tr y Hf;
    repeat match goal with H : Forall _ (_ ++ _) |- _ => apply Forall_app in H as [? ?] end.
  - destruct Hf as (w & -> & _). inversion_clear H. constructor; [|constructor]. split; [auto|]. split; [auto|]. exists l, q. auto.
  - destruct Hf as [-> _]. constructor.
  - destruct Hf as [-> _]. constructor.
  - destruct Hf as [-> _]. constructor.
  - destruct Hf as (u & Hf & _). eauto.
  - destruct Hf as (t1 & t2 & u & w & E1 & E2 & Hs & _). eapply Races.shuffle_forall; [exact Hs|]. constructor; [eauto|constructor; [eauto|constructor]].
  - destruct Hf as (u & Hf & _). eauto.
  - destruct Hf as (t1 & t2 & u & -> & E1 & E2). apply Forall_app. eauto.
  - eauto.
  - destruct (bpick j q) as [[|] q']; eauto.
  - destruct q as [|[i| |] q]; try (destruct Hf as [-> _]; constructor). destruct Hf as (t1 & t2 & u & -> & E1 & E2). apply Forall_app. eauto.
  - destruct Hf as [-> _]. constructor.
  - destruct q as [|[i| |] q]; try (destruct Hf as [-> _]; constructor). eauto.
  - destruct Hf as (t1 & t2 & u & -> & E1 & E2). apply Forall_app. split; eauto. destruct (truth u); eauto.
Qed.
(* [m] holds, for the arrays in scope, what [s] holds. *)
Definition shows (rho : nat -> block) (N : levels) (m : memory) (s : store) : Prop :=
  forall l, N l -> forall q, as_number (m (element (rho l) q)) = s l q.
Lemma fetch_ev p rho N m s x : shows rho N m s -> readable N x -> forall io q tr v, fetch p rho io x q tr v ->
  Forall (fun a => what a = m (at_ a)) tr -> v = ev s io x q.
Proof.
  unfold readable. intros Hm. induction x; cbn [arrays fetch ev]; intros H io q tr y Hf F;
    repeat match goal with H : Forall _ (_ ++ _) |- _ => apply Forall_app in H as [? ?] end.
  - destruct Hf as (w & -> & ->). inversion_clear H as [|? ? L _]. inversion_clear F as [|? ? E _]. cbn in E. subst w. now apply Hm.
  - tauto.
  - tauto.
  - tauto.
  - destruct Hf as (u & Hf & ->). f_equal. eauto.
  - destruct Hf as (t1 & t2 & u & w & E1 & E2 & Hs & ->). apply (Races.shuffle_forall_inv _ _ _ _ Hs) in F.
    inversion_clear F as [|? ? F1 F']. inversion_clear F' as [|? ? F2 _]. f_equal; eauto.
  - destruct Hf as (u & Hf & ->). do 3 f_equal. eauto.
  - destruct Hf as (t1 & t2 & u & -> & E1 & E2). apply Forall_app in F as [F1 F2]. rewrite <- (IHx2 ltac:(assumption) _ _ _ _ E1 F1). eauto.
  - eauto.
  - destruct (bpick j q) as [[|] q']; eauto.
  - destruct q as [|[i| |] q]; try tauto. destruct Hf as (t1 & t2 & u & -> & E1 & E2). apply Forall_app in F as [F1 F2].
    rewrite <- (IHx1 ltac:(assumption) _ _ _ _ E1 F1). eauto.
  - tauto.
  - destruct q as [|[i| |] q]; try tauto. eauto.
  - destruct Hf as (t1 & t2 & u & -> & E1 & E2). apply Forall_app in F as [F1 F2]. rewrite <- (IHx1 ltac:(assumption) _ _ _ _ E1 F1). destruct (truth u); eauto.
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

Definition touches (p : place) (rho : nat -> block) (R : levels) (W : region) (a : action) : Prop :=
  Races.prefix p (who a) /\
  ((exists l q, at_ a = element (rho l) q /\ (if put a then W l q else R l)) \/ (exists q l z, at_ a = (Made q l, [], z) /\ Races.prefix p q)).
Lemma touches_more p u rho (R R' : levels) (W W' : region) a : (forall l, R l -> R' l) -> (forall l q, W l q -> W' l q) -> touches (p ++ [u]) rho R W a -> touches p rho R' W' a.
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
  - destruct H as [H1 H2]. eapply Forall_impl; [|eapply IHc; eauto]. intros a [P Q]. split; [eapply Races.prefix_more; eauto|].
    destruct Q as [(k & q & E & Hk)|(q & k & z & E & Hq)].
    + destruct (Nat.eq_dec l k) as [<-|Hne].
      * right. rewrite upd_same in E. exists p, l, (map code q). split; auto. apply Races.prefix_refl.
      * left. rewrite upd_other in E by auto. exists k, q. split; auto. destruct (put a); destruct Hk as [Hk|Hk]; auto; congruence.
    + right. exists q, k, z. split; auto. eapply Races.prefix_more; eauto.
  - destruct Hr as (trs & HL & Hi & Ht). apply Forall_forall. intros a Ha. apply (loop_in par trs tr Ht) in Ha as (i & t & Et & Ha).
    assert (Hlt := nth_below _ _ _ _ HL Et). specialize (Hi i t Et). destruct par.
    + destruct H as (R' & Wi & H1 & H2 & H3 & H4). assert (T := IHc _ _ _ _ _ _ _ (H4 i Hlt) Hi). rewrite Forall_forall in T.
      eapply touches_more; [| |apply (T a Ha)]; auto. intros k q Hk. apply (H2 i k q Hlt Hk).
    + assert (T := IHc _ _ _ _ _ _ _ (H i Hlt) Hi). rewrite Forall_forall in T. eapply touches_more; [| |apply (T a Ha)]; auto.
  - destruct H as (H1 & H2 & H3). destruct Hr as (t1 & u & t2 & -> & Hf & Hr). apply Forall_app. split.
    + eapply Forall_impl; [|eapply fetch_at; eauto]. intros b. apply reads_touch.
    + destruct (truth u); (eapply Forall_impl; [|eauto]); intros b; apply touches_more; auto.
Qed.
Lemma run_who c io N R W p rho tr : dis io N R W c -> run c p rho io tr -> forall a, In a tr -> Races.prefix p (who a).
Proof. intros H Hr a Ha. assert (T := run_touches c io N R W p rho tr H Hr). rewrite Forall_forall in T. apply (T a Ha). Qed.

Lemma iterations_apart io N l n c p rho trs R' (Wi : nat -> region) :
  (forall i m q, i < n -> Wi i m q -> ~ R' m) -> (forall i j m q, i < n -> j < n -> i <> j -> Wi i m q -> ~ Wi j m q) ->
  (forall i, i < n -> dis (upd io l i) N R' (Wi i) c) -> inv p rho -> List.length trs = n ->
  (forall i t, nth_error trs i = Some t -> run c (p ++ [Beside i]) rho (upd io l i) t) ->
  forall i j ti tj a b, i <> j -> nth_error trs i = Some ti -> nth_error trs j = Some tj -> In a ti -> In b tj -> ~ conflict a b.
Proof.
  intros H2 H3 H4 Hinv HL Hruns i j ti tj a b Hij Ei Ej Ha Hb [Hat Hput].
  assert (Li := nth_below _ _ _ _ HL Ei). assert (Lj := nth_below _ _ _ _ HL Ej).
  assert (Ta := run_touches c _ _ _ _ _ _ _ (H4 i Li) (Hruns i ti Ei)). assert (Tb := run_touches c _ _ _ _ _ _ _ (H4 j Lj) (Hruns j tj Ej)).
  rewrite Forall_forall in Ta, Tb. destruct (Ta a Ha) as [_ Pa]. destruct (Tb b Hb) as [_ Pb]. clear Ta Tb.
  destruct Pa as [(k & q & Ea & Wa)|(q & k & z & Ea & Qa)], Pb as [(k' & q' & Eb & Wb)|(q' & k' & z' & Eb & Qb)];
    rewrite Ea, Eb in Hat; unfold element in Hat; injection Hat as E0 E1.
  - apply (inj _ _ Hinv) in E0. apply code_inj in E1. subst k' q'.
    destruct (put a), (put b); [exact (H3 i j k q Li Lj Hij Wa Wb)|exact (H2 i k q Li Wa Wb)|exact (H2 j k q Lj Wb Wa)|destruct Hput; discriminate].
  - apply (old _ _ Hinv k q' k' E0). eapply Races.prefix_more; eauto.
  - apply (old _ _ Hinv k' q k (eq_sym E0)). eapply Races.prefix_more; eauto.
  - subst q'. apply Hij. assert (E := Races.prefix_same _ _ _ _ Qa Qb). congruence.
Qed.

(* ---------- no races ---------- *)
Lemma reads_at p rho R t a : Forall (reads_of p rho R) t -> In a t -> who a = p.
Proof. intros H Ha. rewrite Forall_forall in H. apply (H a Ha). Qed.
Theorem no_race c : forall io N R W p rho tr, dis io N R W c -> inv p rho -> run c p rho io tr -> ~ race tr.
Proof.
  enough (G : forall io N R W p rho tr, dis io N R W c -> inv p rho -> run c p rho io tr ->
    forall a b, In a tr -> In b tr -> concurrent (who a) (who b) -> ~ conflict a b).
  { intros io N R W p rho tr H Hinv Hr (a & b & Ha & Hb & Hc & Hf). exact (G io N R W p rho tr H Hinv Hr a b Ha Hb Hc Hf). }
  induction c as [|c1 IHc1 c2 IHc2|acc x|l d c IHc|par l n c IHc|x c1 IHc1 c2 IHc2]; cbn [dis]; intros io N R W p rho tr H Hinv Hr a b Ha Hb Hab.
  - cbn in Hr. subst. destruct Ha.
  - destruct H as [H1 H2]. destruct Hr as (t1 & t2 & -> & R1 & R2). apply in_app_or in Ha. apply in_app_or in Hb. destruct Ha as [Ha|Ha], Hb as [Hb|Hb].
    + exact (IHc1 _ _ _ _ _ _ _ H1 (inv_in _ _ _ Hinv) R1 a b Ha Hb Hab).
    + exfalso. apply (Races.concurrent_after p 0 (After 1) (who a) (who b)); auto; [exact (run_who c1 _ _ _ _ _ _ _ H1 R1 a Ha)|exact (run_who c2 _ _ _ _ _ _ _ H2 R2 b Hb)|congruence].
    + exfalso. apply (Races.concurrent_after p 1 (After 0) (who a) (who b)); auto; [exact (run_who c2 _ _ _ _ _ _ _ H2 R2 a Ha)|exact (run_who c1 _ _ _ _ _ _ _ H1 R1 b Hb)|congruence].
    + exact (IHc2 _ _ _ _ _ _ _ H2 (inv_in _ _ _ Hinv) R2 a b Ha Hb Hab).
  - destruct H as [H1 H2]. destruct Hr as (t & v & Hf & ->). exfalso.
    assert (Q := fetch_at p rho R x H2 _ _ _ _ Hf).
    assert (G : forall f, In f (t ++ [write p rho (loc io acc []) v]) -> who f = p). { intros f Hx. apply in_app_or in Hx as [Hx|[<-|[]]]; [eapply reads_at; eauto|reflexivity]. }
    rewrite (G a Ha), (G b Hb) in Hab. revert Hab. apply Races.concurrent_prefix, Races.prefix_refl.
  - destruct H as [H1 H2]. exact (IHc _ _ _ _ _ _ _ H2 (inv_local _ _ _ Hinv) Hr a b Ha Hb Hab).
  - destruct Hr as (trs & HL & Hi & Ht). apply (loop_in par trs tr Ht) in Ha as (i & ti & Ei & Ha). apply (loop_in par trs tr Ht) in Hb as (j & tj & Ej & Hb).
    assert (Li := nth_below _ _ _ _ HL Ei). assert (Lj := nth_below _ _ _ _ HL Ej). destruct (Nat.eq_dec i j) as [<-|Hij].
    + assert (ti = tj) by congruence. subst tj. assert (Hd : exists R' W', dis (upd io l i) N R' W' c). { destruct par; [|eauto]. destruct H as (R' & Wi & _ & _ & _ & H4). eauto. }
      destruct Hd as (R' & W' & Hd). exact (IHc _ _ _ _ _ _ _ Hd (inv_in _ _ _ Hinv) (Hi i ti Ei) a b Ha Hb Hab).
    + destruct par.
      * destruct H as (R' & Wi & H1 & H2 & H3 & H4). apply (iterations_apart io N l n c p rho trs R' Wi) with (i := i) (j := j) (ti := ti) (tj := tj); auto.
        intros i0 m q L0 Hw. apply (H2 i0 m q L0 Hw).
      * exfalso. apply (Races.concurrent_after p i (After j) (who a) (who b)); auto; [| |congruence].
        -- exact (run_who c _ _ _ _ _ _ _ (H i Li) (Hi i ti Ei) a Ha).
        -- exact (run_who c _ _ _ _ _ _ _ (H j Lj) (Hi j tj Ej) b Hb).
  - destruct H as (H1 & H2 & H3). destruct Hr as (t1 & u & t2 & -> & Hf & Hr). assert (Q := fetch_at p rho R x H1 _ _ _ _ Hf).
    assert (P : forall f, In f t2 -> Races.prefix p (who f)).
    { intros f Hx. destruct (truth u); eapply Races.prefix_more; [exact (run_who c1 _ _ _ _ _ _ _ H2 Hr f Hx)|exact (run_who c2 _ _ _ _ _ _ _ H3 Hr f Hx)]. }
    apply in_app_or in Ha. apply in_app_or in Hb. destruct Ha as [Ha|Ha], Hb as [Hb|Hb].
    + exfalso. rewrite (reads_at _ _ _ _ _ Q Ha), (reads_at _ _ _ _ _ Q Hb) in Hab. revert Hab. apply Races.concurrent_prefix, Races.prefix_refl.
    + exfalso. rewrite (reads_at _ _ _ _ _ Q Ha) in Hab. revert Hab. apply Races.concurrent_prefix. auto.
    + exfalso. rewrite (reads_at _ _ _ _ _ Q Hb) in Hab. apply Races.concurrent_sym in Hab. revert Hab. apply Races.concurrent_prefix. auto.
    + destruct (truth u); [exact (IHc1 _ _ _ _ _ _ _ H2 (inv_in _ _ _ Hinv) Hr a b Ha Hb Hab)|exact (IHc2 _ _ _ _ _ _ _ H3 (inv_in _ _ _ Hinv) Hr a b Ha Hb Hab)].
Qed.

(* ---------- every interleaving ends as whole iterations do ---------- *)
Lemma reads_quiet p rho R tr : Forall (reads_of p rho R) tr -> quiet number tr.
Proof. apply Forall_impl. intros a (_ & H & _). exact H. Qed.
Lemma readable_below N R W x : scoped N R W -> readable R x -> readable N x.
Proof. intros [H _]. apply Forall_impl. exact H. Qed.
Lemma exec_of_run c : forall io N R W p rho tr m s, dis io N R W c -> scoped N R W -> inv p rho -> run c p rho io tr ->
  good m tr -> shows rho N m s -> exists s', exec c io s s' /\ shows rho N (finally m tr) s'.
Proof.
  induction c as [|c1 IHc1 c2 IHc2|acc x|l d c IHc|par l n c IHc|x c1 IHc1 c2 IHc2]; cbn [dis]; intros io N R W p rho tr m s H HS Hinv Hr Hg Hm.
  - cbn in Hr. subst. exists s. split; [reflexivity|exact Hm].
  - destruct H as [H1 H2]. destruct Hr as (t1 & t2 & -> & R1 & R2). apply good_app in Hg as [G1 G2].
    destruct (IHc1 _ _ _ _ _ _ _ m s H1 HS (inv_in _ _ _ Hinv) R1 G1 Hm) as (s1 & E1 & M1).
    destruct (IHc2 _ _ _ _ _ _ _ _ s1 H2 HS (inv_in _ _ _ Hinv) R2 G2 M1) as (s2 & E2 & M2).
    exists s2. rewrite finally_app. split; [exists s1; auto|exact M2].
  - destruct H as [H1 H2]. destruct Hr as (t & v & Hf & ->). assert (Q := reads_quiet _ _ _ _ (fetch_at p rho R x H2 _ _ _ _ Hf)).
    apply good_app in Hg as [G1 _]. destruct (quiet_good number t Q m) as [F1 F2]. apply F2 in G1.
    rewrite (fetch_ev p rho N m s x Hm (readable_below _ _ _ _ HS H2) _ _ _ _ Hf G1).
    eexists. split; [reflexivity|]. rewrite finally_app, F1. intros k Hk q. cbn. unfold step. cbn.
    destruct (location_dec (element (rho (fst (loc io acc []))) (snd (loc io acc []))) (element (rho k) q)) as [E|E].
    + unfold element in E. injection E as E0 E1. apply (inj _ _ Hinv) in E0. apply code_inj in E1. subst. now rewrite wr_same.
    + rewrite wr_other; [apply Hm; auto|]. intros C. apply E. now rewrite C.
  - destruct H as [H1 H2]. set (junk := fun q => as_number (m (element (Made p l) q))).
    destruct (IHc _ _ _ _ _ _ _ m (upd s l junk) H2 (scoped_more _ _ _ _ HS) (inv_local _ _ _ Hinv) Hr Hg) as (s1 & E1 & M1).
    { intros k Hk q. unfold upd. destruct (Nat.eqb_spec l k) as [<-|Hne]; [reflexivity|]. apply Hm. destruct Hk; congruence. }
    exists s1. split; [exists junk; exact E1|]. intros k Hk q. rewrite <- (M1 k) by (left; exact Hk). rewrite upd_other; [reflexivity|]. intros <-. contradiction.
  - destruct Hr as (trs & HL & Hi & Ht).
    assert (D : exists R' (Wi : nat -> region), (forall i, i < n -> dis (upd io l i) N R' (Wi i) c) /\ (forall i, i < n -> scoped N R' (Wi i)) /\
      (good m (List.concat trs) /\ same_memory number (finally m tr) (finally m (List.concat trs)))).
    { destruct HS as [S1 S2]. destruct par.
      - destruct H as (R' & Wi & H1 & H2 & H3 & H4). exists R', Wi. split; auto. split.
        { intros i L. split; [intros k Hk; auto|intros k q Hk; apply (S2 k q), (H2 i k q L Hk)]. }
        apply shuffle_concat; auto. apply (iterations_apart io N l n c p rho trs R' Wi); auto. intros i k q L Hk. apply (H2 i k q L Hk).
      - exists R, (fun _ => W). split; auto. split; [intros i L; split; auto|]. subst tr. split; [exact Hg|intros k; reflexivity]. }
    destruct D as (R' & Wi & D1 & D2 & Gc & Sc). clear Hg Ht.
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
  - destruct H as (H1 & H2 & H3). destruct Hr as (t1 & u & t2 & -> & Hf & Hr). assert (Q := reads_quiet _ _ _ _ (fetch_at p rho R x H1 _ _ _ _ Hf)).
    apply good_app in Hg as [G1 G2]. destruct (quiet_good number t1 Q m) as [F1 F2]. apply F2 in G1. rewrite F1 in G2.
    rewrite (fetch_ev p rho N m s x Hm (readable_below _ _ _ _ HS H1) _ _ _ _ Hf G1) in Hr. rewrite finally_app, F1. cbn [exec].
    destruct (truth _); [exact (IHc1 _ _ _ _ _ _ _ m s H2 HS (inv_in _ _ _ Hinv) Hr G2 Hm)|exact (IHc2 _ _ _ _ _ _ _ m s H3 HS (inv_in _ _ _ Hinv) Hr G2 Hm)].
Qed.
End Threads.
