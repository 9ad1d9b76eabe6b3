(* Interleaved runs of commands end and do not get stuck: whatever has been read so far, and whatever memory holds now, a run can be finished; and there is a
   bound on the length of runs. *)
From Coq Require Import ZArith Arith List Lia Bool.
From Lozenge Require Import Paths Phrases Translation Represent Threads TranslationRaces.
From Lozenge Require Semantics.
From Lozenge Require Import Interleave Progress.
Import ListNotations.

Section Ends.
Context {K : Scalars}.
Notation can := (can number).
Notation num v := (Semantics.VS v).
Definition number_of (v : Semantics.val number) : number := match v with Semantics.VS v => v | _ => zero end.

Definition fetched x p rho io q : runs number := fun tr w => exists v, w = num v /\ Threads.fetch p rho io x q tr v.
Lemma can_value v : can (fun tr w => exists u, w = num u /\ tr = [] /\ u = v).
Proof. refine (can_ext _ _ _ _ (can_now number (num v))). intros tr w. split; [intros [-> ->]; eauto|intros (u & -> & -> & ->); auto]. Qed.
Lemma can_map (T : runs number) (f : number -> number) (F : trace number -> number -> Prop) :
  can (fun tr w => exists v, w = num v /\ F tr v) -> (forall tr w, T tr w <-> exists v, w = num (f v) /\ F tr v) -> can T.
Proof.
  intros H E. refine (can_ext _ _ _ _ (can_then number _ (fun w tr w' => tr = [] /\ w' = num (f (number_of w))) H (fun w => can_now number _))).
  intros tr w. rewrite E. split.
  - intros (t1 & u & t2 & -> & (v & -> & Hf) & -> & ->). rewrite app_nil_r. exists v. auto.
  - intros (v & -> & Hf). exists tr, (num v), []. rewrite app_nil_r. repeat split; auto. exists v. auto.
Qed.
Lemma fetch_can x : forall p rho io q, can (fetched x p rho io q).
Proof.
  induction x; intros p rho io q; unfold fetched; cbn [Threads.fetch].
  - refine (can_ext _ _ _ _ (can_then number _ (fun w tr w' => tr = [] /\ w' = num (as_number w)) (can_read number p (element (rho l) q)) (fun w => can_now number _))).
    intros tr out. split.
    + intros (t1 & u & t2 & -> & -> & -> & ->). rewrite app_nil_r. exists (as_number u). split; auto. exists u. auto.
    + intros (v & -> & u & -> & ->). eexists. exists u, []. rewrite app_nil_r. auto.
  - apply can_value.
  - apply can_value.
  - apply can_value.
  - apply (can_map _ (op1 o) (fun tr u => Threads.fetch p rho io x [] tr u) (IHx p rho io [])). intros tr out. split.
    + intros (v & -> & u & Hf & ->). eauto.
    + intros (v & -> & Hf). eauto.
  - refine (can_ext _ _ _ _ (can_many number [fetched x1 p rho io []; fetched x2 p rho io []]
      (fun vs tr w => tr = [] /\ w = num (op2 o (number_of (nth 0 vs (num zero))) (number_of (nth 1 vs (num zero))))) _ (fun vs => can_now number _))); [|constructor; [apply IHx1|constructor; [apply IHx2|constructor]]].
    intros tr out. split.
    + intros (trs & vs & t1 & t2 & Hm & Hs & -> & -> & ->). destruct trs as [|r1 [|r2 [|? ?]]], vs as [|v1 [|v2 [|? ?]]]; cbn in Hm; try tauto.
      destruct Hm as ((u1 & -> & H1) & (u2 & -> & H2) & _). rewrite app_nil_r. eexists. split; [reflexivity|]. exists r1, r2, u1, u2. auto.
    + intros (v & -> & t1 & t2 & u & w & H1 & H2 & Hs & ->). exists [t1; t2], [num u; num w], tr, []. rewrite app_nil_r. cbn.
      repeat split; auto; unfold fetched; eauto.
  - apply (can_map _ (fun u => of_nat (f (to_nat u))) (fun tr u => Threads.fetch p rho io x [] tr u) (IHx p rho io [])). intros tr out. split.
    + intros (v & -> & u & Hf & ->). eauto.
    + intros (v & -> & Hf). eauto.
  - refine (can_ext _ _ _ _ (can_then number _ (fun w => fetched x1 p rho io (Ix (to_nat (number_of w)) :: q)) (IHx2 p rho io []) (fun w => IHx1 p rho io _))).
    intros tr out. unfold fetched. split.
    + intros (t1 & u & t2 & -> & (v & -> & H1) & (y & -> & H2)). exists y. split; auto. exists t1, t2, v. auto.
    + intros (y & -> & t1 & t2 & u & -> & H1 & H2). exists t1, (num u), t2. repeat split; eauto.
  - apply IHx.
  - destruct (bpick j q) as [[|] q']; [apply IHx2|apply IHx1].
  - destruct q as [|[i| |] q]; try apply can_value.
    refine (can_ext _ _ _ _ (can_then number _ (fun w => fetched x2 p rho io (Ix (to_nat (number_of w)) :: q)) (IHx1 p rho io [Ix i]) (fun w => IHx2 p rho io _))).
    intros tr out. unfold fetched. split.
    + intros (t1 & u & t2 & -> & (v & -> & H1) & (y & -> & H2)). exists y. split; auto. exists t1, t2, v. auto.
    + intros (y & -> & t1 & t2 & u & -> & H1 & H2). exists t1, (num u), t2. repeat split; eauto.
  - apply can_value.
  - destruct q as [|[i| |] q]; try apply can_value. apply IHx.
  - refine (can_ext _ _ _ _ (can_then number _ (fun w => if truth (number_of w) then fetched x2 p rho io q else fetched x3 p rho io q) (IHx1 p rho io []) _)).
    2:{ intros w. destruct (truth _); auto. }
    intros tr out. unfold fetched. split.
    + intros (t1 & u & t2 & -> & (v & -> & H1) & H2). cbn [number_of] in H2. destruct (truth v) eqn:E; destruct H2 as (y & -> & H2); exists y; (split; [auto|]); exists t1, t2, v; rewrite E; auto.
    + intros (y & -> & t1 & t2 & u & -> & H1 & H2). exists t1, (num u), t2. cbn [number_of]. repeat split; eauto. destruct (truth u); eauto.
Qed.

(* Whatever is left open, as long as something may be chosen. *)
Lemma can_some {A} (P : A -> Prop) (T : A -> runs number) : (exists a, P a) -> (forall a, can (T a)) -> can (fun tr w => exists a, P a /\ T a tr w).
Proof.
  intros [a Ha] HT. split.
  - intros m. destruct (start number _ (HT a) m) as (tr & w & H & G). exists tr, w. eauto.
  - intros t1 t2 w (b & Hb & H) m. destruct (finish number _ (HT b) t1 t2 w H m) as (t & w' & H' & G). exists t, w'. eauto.
Qed.
Lemma many_with (R : nat -> runs number) k N trs vs : many number (map R (seq k N)) trs vs <->
  length trs = N /\ length vs = N /\ forall i t, nth_error trs i = Some t -> exists v, nth_error vs i = Some v /\ R (k + i) t v.
Proof.
  revert k trs vs. induction N as [|N IH]; intros k [|t trs] [|v vs]; cbn [seq map many length]; try (split; [intros []|intros (A & B & C); discriminate]).
  - split; auto. intros _. repeat split; auto. intros [|?]; discriminate.
  - rewrite (IH (S k)). split.
    + intros [H1 (H2 & H3 & H4)]. repeat split; auto. intros [|i] u E; cbn in E |- *.
      * injection E as <-. rewrite Nat.add_0_r. eauto.
      * rewrite <- Nat.add_succ_comm. auto.
    + intros (H2 & H3 & H4). repeat split; auto.
      * destruct (H4 0 t eq_refl) as (v' & E & H). cbn in E. injection E as <-. now rewrite Nat.add_0_r in H.
      * intros i u E. rewrite Nat.add_succ_comm. apply (H4 (S i)). exact E.
Qed.
Definition done c p rho io : runs number := fun tr w => Threads.run c p rho io tr /\ w = Semantics.VZ 0.
Theorem run_can c : forall p rho io, can (done c p rho io).
Proof.
  induction c; intros p rho io; unfold done; cbn [Threads.run].
  - apply can_now.
  - refine (can_ext _ _ _ _ (can_then number _ (fun _ => done c2 (p ++ [After 1]) rho io) (IHc1 (p ++ [After 0]) rho io) (fun _ => IHc2 _ _ _))).
    unfold done. intros tr x. split.
    + intros (t1 & v & t2 & -> & [K1 _] & K2 & ->). split; auto. exists t1, t2. auto.
    + intros [(t1 & t2 & -> & K1 & K2) ->]. exists t1, (Semantics.VZ 0), t2. auto.
  - refine (can_ext _ _ _ _ (can_then number _ (fun w tr x => exists t1 v t2, tr = t1 ++ t2 /\ (t1 = [write p rho (loc io a []) (number_of w)] /\ v = num (number_of w)) /\ t2 = [] /\ x = Semantics.VZ 0)
      (fetch_can x p rho io []) (fun w => can_then number _ (fun _ tr x => tr = [] /\ x = Semantics.VZ 0) (can_write number p (element (rho (fst (loc io a []))) (snd (loc io a []))) (num (number_of w))) (fun _ => can_now number _)))).
    unfold fetched. intros tr y. split.
    + intros (t1 & w & t2 & -> & (v & -> & Hf) & u1 & u & u2 & -> & [-> _] & -> & ->). split; auto. exists t1, v. rewrite app_nil_r. auto.
    + intros [(t & v & Hf & ->) ->]. exists t, (num v). eexists. split; [reflexivity|]. split; [eauto|]. do 3 eexists. split; [symmetry; apply app_nil_r|]. auto.
  - exact (IHc (p ++ [After 0]) (upd rho l (Made p l)) io).
  - set (R := fun i t => Threads.run c (p ++ [if par : bool then Beside i else After i]) rho (upd io l i) t).
    assert (G : Forall can (map (fun i tr x => R i tr /\ x = Semantics.VZ 0) (seq 0 n))). { rewrite Forall_map. apply Forall_forall. intros i _. apply IHc. }
    destruct par.
    + refine (can_ext _ _ _ _ (can_many number _ (fun _ tr x => tr = [] /\ x = Semantics.VZ 0) G (fun _ => can_now number _))). intros tr y. split.
      * intros (trs & vs & t1 & t2 & H & S_ & -> & -> & ->). apply (many_each number R) in H as (K1 & K2 & _). split; auto. rewrite app_nil_r. exists trs. auto.
      * intros [(trs & K1 & K2 & S_) ->]. exists trs, (repeat (Semantics.VZ 0) n), tr, []. rewrite app_nil_r, (many_each number R). auto.
    + refine (can_ext _ _ _ _ (can_turns number _ (Semantics.VZ 0) G)). intros tr y. split.
      * intros [(trs & vs & H & ->) ->]. apply (many_each number R) in H as (K1 & K2 & _). split; auto. exists trs. auto.
      * intros [(trs & K1 & K2 & ->) ->]. split; auto. exists trs, (repeat (Semantics.VZ 0) n). rewrite (many_each number R). auto.
  - refine (can_ext _ _ _ _ (can_then number _ (fun w => if truth (number_of w) then done c1 (p ++ [After 0]) rho io else done c2 (p ++ [After 0]) rho io) (fetch_can x p rho io []) _)).
    2:{ intros w. destruct (truth _); auto. }
    unfold fetched, done. intros tr y. split.
    + intros (t1 & w & t2 & -> & (v & -> & Hf) & Hr). cbn [number_of] in Hr. destruct (truth v) eqn:E, Hr as [Hr ->]; (split; auto; exists t1, v, t2; rewrite E; auto).
    + intros [(t1 & v & t2 & -> & Hf & Hr) ->]. exists t1, (num v), t2. cbn [number_of]. repeat split; eauto. destruct (truth v); auto.
  - refine (can_ext _ _ _ _ (can_then number _ (fun w => if to_nat (number_of w) <? m then done c (p ++ [After 0]) rho (upd io l (to_nat (number_of w))) else fun tr x => tr = [] /\ x = Semantics.VZ 0) (fetch_can j p rho io []) _)).
    2:{ intros w. destruct (_ <? m); [apply IHc|apply can_now]. }
    unfold fetched, done. intros tr y. split.
    + intros (t1 & w & t2 & -> & (v & -> & Hf) & Hr). cbn [number_of] in Hr. destruct (to_nat v <? m) eqn:E, Hr as [Hr ->]; (split; auto; exists t1, v, t2; rewrite E; auto).
    + intros [(t1 & v & t2 & -> & Hf & Hr) ->]. exists t1, (num v), t2. cbn [number_of]. repeat split; eauto. destruct (to_nat v <? m); auto.
  - set (q := fun i => p ++ [Beside i]).
    set (R := fun i : nat => fun tr x => exists t1 (_ : Semantics.val number) t2, tr = t1 ++ t2 /\ (Threads.run c (q i ++ [After 0]) (upd rho w (Made (q i) w)) (upd io l i) t1) /\ t2 = [read (q i) (element (Made (q i) w) []) x]).
    assert (G : Forall can (map R (seq 0 n))).
    { rewrite Forall_map. apply Forall_forall. intros i _.
      refine (can_ext _ _ _ _ (can_then number _ (fun _ tr x => tr = [read (q i) (element (Made (q i) w) []) x]) (IHc (q i ++ [After 0]) (upd rho w (Made (q i) w)) (upd io l i)) (fun _ => can_read number _ _))).
      unfold done, R. intros tr x. split.
      - intros (t1 & v0 & t2 & -> & [K1 _] & K2). exists t1, v0, t2. auto.
      - intros (t1 & v0 & t2 & -> & K1 & K2). exists t1, (Semantics.VZ 0), t2. auto. }
    refine (can_ext _ _ _ _ (can_many number _ (fun vs tr x => exists t1 u t2, tr = t1 ++ t2 /\ t1 = [read p (element (rho v) []) u] /\
      exists r, combined o z (as_number u :: map as_number vs) r /\ (t2 = [write p rho (v, []) r] /\ x = Semantics.VZ 0)) G _)).
    2:{ intros vs. apply (can_then number _ (fun u tr x => exists r, combined o z (as_number u :: map as_number vs) r /\ (tr = [write p rho (v, []) r] /\ x = Semantics.VZ 0)) (can_read number p (element (rho v) []))).
        intros u. apply can_some; [apply combined_any|]. intros r.
        refine (can_ext _ _ _ _ (can_then number _ (fun _ tr x => tr = [] /\ x = Semantics.VZ 0) (can_write number p (element (rho v) []) (num r)) (fun _ => can_now number _))).
        intros tr x. split.
        - intros (t1 & u' & t2 & -> & [-> _] & -> & ->). auto.
        - intros [-> ->]. do 3 eexists. split; [symmetry; apply app_nil_r|]. auto. }
    intros tr y. split.
    + intros (trs & vs & t1 & t2 & Hm & Hs & -> & t3 & u & t4 & -> & -> & r & Hc & -> & ->). split; auto. apply (many_with R) in Hm as (K1 & K2 & K3).
      exists trs, vs, t1, u, r. repeat split; auto. intros i t E. destruct (K3 i t E) as (x & Ex & t5 & _ & t6 & -> & K4 & ->). exists t5, x. auto.
    + intros [(trs & vs & t & u & r & K1 & K2 & K3 & Hs & Hc & ->) ->]. exists trs, vs, t, [read p (element (rho v) []) u; write p rho (v, []) r]. split.
      { apply (many_with R). repeat split; auto. intros i ti E. destruct (K3 i ti E) as (t' & x & Ex & -> & K4). exists x. split; auto. exists t', x, [read (q i) (element (Made (q i) w) []) x]. auto. }
      split; auto. split; auto. exists [read p (element (rho v) []) u], u, [write p rho (v, []) r]. repeat split; auto. exists r. auto.
Qed.

(* ---------- bounds on length ---------- *)
Lemma fetch_bound x : exists B, forall p rho io q tr v, Threads.fetch p rho io x q tr v -> length tr <= B.
Proof.
  induction x; cbn [Threads.fetch].
  - exists 1. intros p rho io q tr v (w & -> & _). auto.
  - exists 0. intros p rho io q tr v [-> _]. auto.
  - exists 0. intros p rho io q tr w [-> _]. auto.
  - exists 0. intros p rho io q tr v [-> _]. auto.
  - destruct IHx as [B H]. exists B. intros p rho io q tr v (u & Hf & _). eauto.
  - destruct IHx1 as [B1 H1], IHx2 as [B2 H2]. exists (B1 + B2). intros p rho io q tr v (t1 & t2 & u & w & F1 & F2 & S_ & _).
    rewrite (shuffle_length number _ _ S_). cbn. rewrite app_nil_r, app_length. apply H1 in F1. apply H2 in F2. lia.
  - destruct IHx as [B H]. exists B. intros p rho io q tr v (u & Hf & _). eauto.
  - destruct IHx1 as [B1 H1], IHx2 as [B2 H2]. exists (B1 + B2). intros p rho io q tr v (t1 & t2 & u & -> & F1 & F2). rewrite app_length. apply H2 in F1. apply H1 in F2. lia.
  - destruct IHx as [B H]. exists B. intros p rho io q tr w Hf. eauto.
  - destruct IHx1 as [B1 H1], IHx2 as [B2 H2]. exists (B1 + B2). intros p rho io q tr v Hf. destruct (bpick j q) as [[|] q']; [apply H2 in Hf|apply H1 in Hf]; lia.
  - destruct IHx1 as [B1 H1], IHx2 as [B2 H2]. exists (B1 + B2). intros p rho io [|[i| |] q] tr v Hf; try (destruct Hf as [-> _]; cbn; lia).
    destruct Hf as (t1 & t2 & u & -> & F1 & F2). rewrite app_length. apply H1 in F1. apply H2 in F2. lia.
  - exists 0. intros p rho io q tr v [-> _]. auto.
  - destruct IHx as [B H]. exists B. intros p rho io [|[i| |] q] tr v Hf; try (destruct Hf as [-> _]; cbn; lia). eauto.
  - destruct IHx1 as [B1 H1], IHx2 as [B2 H2], IHx3 as [B3 H3]. exists (B1 + B2 + B3). intros p rho io q tr v (t1 & t2 & u & -> & F1 & F2). rewrite app_length. apply H1 in F1.
    destruct (truth u); [apply H2 in F2|apply H3 in F2]; lia.
Qed.
Theorem run_bound c : exists B, forall p rho io tr, Threads.run c p rho io tr -> length tr <= B.
Proof.
  induction c; cbn [Threads.run].
  - exists 0. intros p rho io tr ->. auto.
  - destruct IHc1 as [B HB], IHc2 as [C HC]. exists (B + C). intros p rho io tr (t1 & t2 & -> & K1 & K2). rewrite app_length. apply HB in K1. apply HC in K2. lia.
  - destruct (fetch_bound x) as [B HB]. exists (S B). intros p rho io tr (t & v & Hf & ->). rewrite app_length. apply HB in Hf. cbn. lia.
  - destruct IHc as [B HB]. exists B. intros p rho io tr H. eauto.
  - destruct IHc as [B HB]. exists (n * B). intros p rho io tr (trs & HL & Hi & Ht).
    replace (length tr) with (length (List.concat trs)). 2:{ destruct par; [symmetry; apply (shuffle_length number); auto|now subst]. }
    rewrite <- HL. apply (concat_bound number). intros i t E. eapply HB. eapply Hi. exact E.
  - destruct (fetch_bound x) as [B HB], IHc1 as [C HC], IHc2 as [D HD]. exists (B + C + D). intros p rho io tr (t1 & v & t2 & -> & K1 & K2). rewrite app_length. apply HB in K1.
    destruct (truth v); [apply HC in K2|apply HD in K2]; lia.
  - destruct (fetch_bound j) as [B HB], IHc as [C HC]. exists (B + C). intros p rho io tr (t1 & v & t2 & -> & K1 & K2). rewrite app_length. apply HB in K1.
    destruct (to_nat v <? m); [apply HC in K2; lia|subst; cbn; lia].
  - destruct IHc as [B HB]. exists (n * S B + 2). intros p rho io tr (trs & xs & t & u & r & HL & _ & Hi & Ht & _ & ->). rewrite app_length. cbn [length].
    rewrite (shuffle_length number _ _ Ht). apply Nat.add_le_mono_r. rewrite <- HL. apply (concat_bound number). intros i ti E.
    destruct (Hi i ti E) as (t1 & x & _ & -> & Kr). apply HB in Kr. rewrite app_length. cbn. lia.
Qed.

(* Every command, and so every translated program, in whatever way its reads and writes interleave. *)
Theorem runs_end c io : let runs := Threads.run c [] Global io in
  (exists bound, forall tr rest, runs (tr ++ rest) -> length tr <= bound) /\
  forall m, (exists tr, runs tr /\ good number m tr) /\
  forall tr rest, runs (tr ++ rest) -> good number m tr -> exists rest', runs (tr ++ rest') /\ good number m (tr ++ rest').
Proof.
  intros runs. split.
  - destruct (run_bound c) as [B HB]. exists B. intros tr rest H. apply HB in H. rewrite app_length in H. lia.
  - intros m. split.
    + destruct (start number _ (run_can c [] Global io) m) as (tr & x & [H _] & G). eauto.
    + intros tr rest H G. destruct (finish number _ (run_can c [] Global io) tr rest (Semantics.VZ 0) (conj H eq_refl) (finally number m tr)) as (t & x & [H' _] & G').
      exists t. split; auto. apply good_app. auto.
Qed.
End Ends.
