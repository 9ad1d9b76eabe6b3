(* Loops as machines run them: the iterations of a parallel loop at the same time, a single read or write at a time, in any interleaving; the
   operands of an operation in any order; local arrays private to the run of the block that declares them.

   A run of a command is a list of accesses. What a read finds is left open in [run]; a run that begins in memory [m] is one in which each
   read finds what is there then ([good]). So an execution, or the part of one that has happened so far, is a good trace, or the good beginning
   of one. Each access says where it belongs in the program, which tells whether two accesses are at the same time. *)
From Coq Require Import ZArith List String Bool Lia Arith.
From Lozenge Require Import Syntax Semantics.
Import ListNotations.

(* ---------- places in a run ---------- *)
(* The parts of a command, in turn or at the same time; from the whole program inwards. *)
Inductive turn := After (k : nat) | Beside (k : nat).
Definition place := list turn.
(* Two places are at the same time if they lie in different iterations of one run of a parallel loop. *)
Definition concurrent (p q : place) : Prop :=
  exists r i j p' q', i <> j /\ p = r ++ Beside i :: p' /\ q = r ++ Beside j :: q'.

(* An array that was there before, or the local array that was made at a place. Memory has room for all. *)
Inductive block := Global (w : nat) | Made (p : place) (w : nat).
Definition location : Type := block * list bool * list Z.
Definition turn_dec : forall a b : turn, {a = b} + {a <> b}. Proof. decide equality; apply Nat.eq_dec. Defined.
Definition block_dec : forall a b : block, {a = b} + {a <> b}.
Proof. decide equality; try apply Nat.eq_dec. apply list_eq_dec, turn_dec. Defined.
Definition location_dec : forall a b : location, {a = b} + {a <> b}.
Proof. decide equality; [apply list_eq_dec, Z.eq_dec|]. decide equality; [apply list_eq_dec, bool_dec|apply block_dec]. Qed.

Section Traces.
Variable scalar : Type.
Variable lit : string -> val scalar.
Variable prim : string -> list (val scalar) -> val scalar.
Notation val := (val scalar).

Record action := { who : place; put : bool; at_ : location; what : val }.      (* [put]: a write *)
Definition trace := list action.
Definition memory := location -> val.

Definition step (m : memory) (a : action) : memory :=
  if put a then fun l => if location_dec (at_ a) l then what a else m l else m.
Definition finally (m : memory) (tr : trace) : memory := fold_left step tr m.
Fixpoint good (m : memory) (tr : trace) : Prop :=
  match tr with [] => True | a :: tr => (put a = false -> what a = m (at_ a)) /\ good (step m a) tr end.

(* All traces at once, each in its own order. *)
Inductive shuffle : list trace -> trace -> Prop :=
| shuffle_done trs : Forall (fun t => t = []) trs -> shuffle trs []
| shuffle_step before a t behind tr : shuffle (before ++ t :: behind) tr -> shuffle (before ++ (a :: t) :: behind) (a :: tr).

(* ---------- runs ---------- *)
Section Operands.
Variable P : tm -> trace -> val -> Prop.
Fixpoint operands (ts : list tm) (trs : list trace) (vs : list val) : Prop :=
  match ts, trs, vs with
  | [], [], [] => True
  | t :: ts, r :: trs, v :: vs => P t r v /\ operands ts trs vs
  | _, _, _ => False
  end.
End Operands.

(* [rho] says which array a number stands for, [io] gives variables their values. *)
Fixpoint fetch (p : place) (rho : nat -> block) (io : nat -> Z) (t : tm) (tr : trace) (x : val) {struct t} : Prop :=
  match t with
  | Var y => tr = [] /\ x = VZ (io y)
  | Int z => tr = [] /\ x = VZ z
  | Lit s => tr = [] /\ x = lit s
  | Op o ts =>
      match o, ts with
      | Select, [c; a; b] => exists t1 v t2, tr = t1 ++ t2 /\ fetch p rho io c t1 v /\ (if truth scalar v then fetch p rho io a t2 x else fetch p rho io b t2 x)
      | _, _ => exists trs vs, operands (fetch p rho io) ts trs vs /\ shuffle trs tr /\ x = apply scalar prim o vs
      end
  | In w cs is => exists trs vs t1, operands (fetch p rho io) is trs vs /\ shuffle trs t1 /\
      tr = t1 ++ [{| who := p; put := false; at_ := (rho w, cs, map (toZ scalar) vs); what := x |}]
  | Acc _ _ _ | Fold _ _ _ _ _ => False                 (* never in loops *)
  end.

Fixpoint run (c : cmd) (p : place) (rho : nat -> block) (io : nat -> Z) (tr : trace) {struct c} : Prop :=
  match c with
  | Skip => tr = []
  | Seq a b => exists t1 t2, tr = t1 ++ t2 /\ run a (p ++ [After 0]) rho io t1 /\ run b (p ++ [After 1]) rho io t2
  | Assign w cs is e => exists trs vs te x t1, operands (fetch p rho io) is trs vs /\ fetch p rho io e te x /\ shuffle (te :: trs) t1 /\
      tr = t1 ++ [{| who := p; put := true; at_ := (rho w, cs, map (toZ scalar) vs); what := x |}]
  | Local w c => run c (p ++ [After 0]) (upd rho w (Made p w)) io tr
  | For par x n c => exists t0 v trs t1, tr = t0 ++ t1 /\ fetch p rho io n t0 v /\ List.length trs = Z.to_nat (toZ scalar v) /\
      (forall i t, nth_error trs i = Some t -> run c (p ++ [if par : bool then Beside i else After i]) rho (upd io x (Z.of_nat i)) t) /\
      (if par then shuffle trs t1 else t1 = List.concat trs)
  | If b c1 c2 => exists t0 v t1, tr = t0 ++ t1 /\ fetch p rho io b t0 v /\
      (if truth scalar v then run c1 (p ++ [After 0]) rho io t1 else run c2 (p ++ [After 0]) rho io t1)
  end.

(* Two accesses of one element at the same time, one of them a write. *)
Definition conflict (a b : action) : Prop := at_ a = at_ b /\ (put a = true \/ put b = true).
Definition race (tr : trace) : Prop := exists a b, List.In a tr /\ List.In b tr /\ concurrent (who a) (who b) /\ conflict a b.

(* ---------- memory and traces ---------- *)
Definition same_memory (m m' : memory) : Prop := forall l, m' l = m l.
Lemma step_same m m' a : same_memory m m' -> same_memory (step m a) (step m' a).
Proof. intros H l. unfold step. destruct (put a); auto. destruct (location_dec _ _); auto. Qed.
Lemma good_same tr : forall m m', same_memory m m' -> good m tr -> good m' tr /\ same_memory (finally m tr) (finally m' tr).
Proof.
  induction tr as [|a tr IH]; cbn; intros m m' E H; auto. destruct H as [H1 H2].
  destruct (IH _ _ (step_same m m' a E) H2) as [K1 K2]. repeat split; auto. intros Ha. rewrite H1 by auto. symmetry. apply E.
Qed.
Lemma good_app t1 : forall m t2, good m (t1 ++ t2) <-> good m t1 /\ good (finally m t1) t2.
Proof. induction t1 as [|a t1 IH]; cbn; intros m t2; [tauto|]. rewrite IH. tauto. Qed.
Lemma finally_app m t1 t2 : finally m (t1 ++ t2) = finally (finally m t1) t2.
Proof. apply fold_left_app. Qed.

(* Reads change nothing and may come in any order. *)
Definition quiet (tr : trace) : Prop := Forall (fun a => put a = false) tr.
Lemma quiet_good tr : quiet tr -> forall m, finally m tr = m /\ (good m tr <-> Forall (fun a => what a = m (at_ a)) tr).
Proof.
  induction 1 as [|a tr Ha _ IH]; intros m; [split; [reflexivity|split; [constructor|cbn; auto]]|].
  cbn. unfold step. rewrite Ha. destruct (IH m) as [E1 E2]. split; [exact E1|]. rewrite E2. split.
  - intros [H1 H2]. constructor; auto.
  - intros H. inversion_clear H. auto.
Qed.
Lemma shuffle_in trs tr : shuffle trs tr -> forall a, List.In a tr <-> exists t, List.In t trs /\ List.In a t.
Proof.
  induction 1 as [trs H|before a0 t behind tr _ IH]; intros a.
  - split; [intros []|]. intros (t & Ht & Ha). rewrite Forall_forall in H. rewrite (H t Ht) in Ha. destruct Ha.
  - cbn. rewrite IH. split.
    + intros [->|(t1 & Ht1 & Ha)]. { exists (a :: t). split; [apply in_or_app; right; now left|now left]. }
      apply in_app_or in Ht1 as [Ht1|[<-|Ht1]].
      * exists t1. split; auto. apply in_or_app. auto.
      * exists (a0 :: t). split; [apply in_or_app; right; now left|now right].
      * exists t1. split; auto. apply in_or_app. right. now right.
    + intros (t1 & Ht1 & Ha). apply in_app_or in Ht1 as [Ht1|[<-|Ht1]].
      * right. exists t1. split; auto. apply in_or_app. auto.
      * destruct Ha as [->|Ha]; auto. right. exists t. split; auto. apply in_or_app. right. now left.
      * right. exists t1. split; auto. apply in_or_app. right. now right.
Qed.

(* ---------- what does not conflict may be exchanged ---------- *)
Lemma step_swap m a b : ~ conflict a b -> same_memory (step (step m a) b) (step (step m b) a).
Proof.
  intros H l. unfold step. destruct (put a) eqn:Ea, (put b) eqn:Eb; auto.
  destruct (location_dec (at_ b) l), (location_dec (at_ a) l); auto. exfalso. apply H. split; [congruence|auto].
Qed.
Lemma step_other m a b : ~ conflict a b -> put b = false -> step m a (at_ b) = m (at_ b).
Proof.
  intros H Hb. unfold step. destruct (put a) eqn:Ea; auto. destruct (location_dec (at_ a) (at_ b)); auto. exfalso. apply H. split; auto.
Qed.
Lemma good_front a u : forall m v, (forall b, List.In b u -> ~ conflict a b) -> good m (a :: u ++ v) ->
  good m (u ++ a :: v) /\ same_memory (finally m (a :: u ++ v)) (finally m (u ++ a :: v)).
Proof.
  induction u as [|b u IH]; intros m v Hc H; [split; [exact H|intros l; reflexivity]|].
  destruct H as [H1 [H2 H3]]. cbn in H3.
  assert (Hab : ~ conflict a b) by (apply Hc; now left).
  assert (H : good (step m b) (a :: u ++ v) /\ same_memory (finally m (a :: b :: u ++ v)) (finally (step m b) (a :: u ++ v))).
  { destruct (good_same (u ++ v) _ _ (step_swap m a b Hab) H3) as [K1 K2]. split; [split; auto|exact K2].
    intros Ha. rewrite H1 by auto. symmetry. apply step_other; auto. intros [E D]. apply Hab. split; [auto|tauto]. }
  destruct H as [H E]. destruct (IH (step m b) v (fun b Hb => Hc b (or_intror Hb)) H) as [K1 K2].
  split.
  - cbn. split; auto. intros Hb. rewrite H2 by auto. apply step_other; auto.
  - intros l. cbn [app]. etransitivity; [apply K2|apply E].
Qed.
(* Traces that do not touch each other, in any interleaving, do the same as one after another. *)
Lemma shuffle_concat trs tr : shuffle trs tr ->
  (forall i j ti tj a b, i <> j -> nth_error trs i = Some ti -> nth_error trs j = Some tj -> List.In a ti -> List.In b tj -> ~ conflict a b) ->
  forall m, good m tr -> good m (List.concat trs) /\ same_memory (finally m tr) (finally m (List.concat trs)).
Proof.
  induction 1 as [trs H|before a t behind tr _ IH]; intros Hc m Hg.
  - replace (List.concat trs) with (@nil action); [split; [exact I|intros l; reflexivity]|].
    clear Hc Hg. induction H as [|t trs -> _ IH]; cbn; auto.
  - assert (Hlen : forall t x, nth_error (before ++ t :: behind) (List.length before) = Some x -> x = t).
    { intros t0 x E. rewrite nth_error_app2, Nat.sub_diag in E by auto. cbn in E. congruence. }
    assert (Hoth : forall i x (t0 t1 : trace), i <> List.length before -> nth_error (before ++ t0 :: behind) i = Some x -> nth_error (before ++ t1 :: behind) i = Some x).
    { intros i x t0 t1 Hi E. destruct (Nat.lt_ge_cases i (List.length before)).
      - rewrite nth_error_app1 in * by auto. auto.
      - rewrite nth_error_app2 in * by auto. destruct (i - List.length before) eqn:D; [lia|]. exact E. }
    destruct Hg as [Hg1 Hg2]. destruct (IH) with (m := step m a) as [K1 K2]; auto.
    { intros i j ti tj x y Hij Ei Ej Hx Hy.
      assert (G : forall k tk z, nth_error (before ++ t :: behind) k = Some tk -> List.In z tk -> exists tk', nth_error (before ++ (a :: t) :: behind) k = Some tk' /\ List.In z tk').
      { intros k tk z Ek Hz. destruct (Nat.eq_dec k (List.length before)) as [->|Hk].
        - exists (a :: t). apply Hlen in Ek. subst. split; [|now right]. rewrite nth_error_app2, Nat.sub_diag by auto. reflexivity.
        - exists tk. split; auto. eapply Hoth; eauto. }
      destruct (G _ _ _ Ei Hx) as (ti' & Ei' & Hx'). destruct (G _ _ _ Ej Hy) as (tj' & Ej' & Hy'). eapply Hc; eauto. }
    rewrite concat_app in *. cbn [List.concat] in *.
    assert (F := good_front a (List.concat before) m (t ++ List.concat behind)).
    destruct F as [F1 F2].
    { intros b Hb C. apply in_concat in Hb as (tb & Htb & Hb). destruct (In_nth_error _ _ Htb) as [i Ei].
      assert (Hi : i < List.length before) by (apply (proj1 (nth_error_Some before i)); intros E; unfold trace in *; congruence).
      apply (Hc (List.length before) i (a :: t) tb a b); auto; [lia| |now rewrite nth_error_app1|now left].
      rewrite nth_error_app2, Nat.sub_diag by auto. reflexivity. }
    { split; auto. }
    split; [exact F1|]. intros l. etransitivity; [apply F2|]. apply K2.
Qed.

(* What is not written stays. *)
Lemma finally_unwritten tr l : Forall (fun a => put a = true -> at_ a <> l) tr -> forall m, finally m tr l = m l.
Proof.
  induction 1 as [|a tr Ha _ IH]; intros m; [reflexivity|]. change (finally m (a :: tr)) with (finally (step m a) tr). rewrite IH.
  unfold step. destruct (put a); [|reflexivity]. destruct (location_dec _ _); [|reflexivity]. exfalso. apply Ha; auto.
Qed.
End Traces.
