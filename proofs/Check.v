(* What it means that a certificate is accepted, and the proof that it does. *)
From Coq Require Import ZArith List String Bool Lia Arith.
From Lozenge Require Import Syntax Semantics Poly Norm Rep Source Target TargetSound LoopSound Match.
From Lozenge Require Export Regroup Checker.
Import ListNotations.

(* The elements of arrays of indices are indices. *)
Definition indexed (ct : certificate) (scalar : Type) lit prim (before : store scalar) (size : nat -> Z) : Prop :=
  let z := Semantics.evz scalar lit prim before size in
  forall a n, List.In (a, n) (indices ct) -> forall cs is,
    Forall2 (fun i d => (0 <= i < d)%Z) is (map z (extents ct a)) -> (0 <= toZ scalar (before a cs is) < z n)%Z.

(* The loops compute what the functional program denotes: for any type of numbers and any operations on them (which have the
   laws that the certificate lists), all sizes that the certificate allows, and all contents of the arrays (of indices: indices), the loops end; and in whatever
   order the iterations of parallel loops run, the result is then that of the program, and no other array has changed but locals. *)
Definition refines (ct : certificate) : Prop :=
  forall (scalar : Type) (lit : string -> val scalar) (prim : string -> list (val scalar) -> val scalar),
  (forall l, List.In l (laws ct) -> law_holds scalar lit prim l) ->
  forall (size : nat -> Z) (before : store scalar),
  (forall x, sizes ct <= x -> size x = 0%Z) ->            (* variables that are no sizes belong to loops *)
  Forall (fun t => (0 <= Semantics.evz scalar lit prim before size t)%Z) (assume ct) ->
  indexed ct scalar lit prim before size ->
  (exists after, exec scalar lit prim (target ct) size before after) /\
  forall after, exec scalar lit prim (target ct) size before after ->
    (forall cs extents, List.In (cs, extents) (result ct) -> forall is,
       Forall2 (fun i n => (0 <= i < Semantics.evz scalar lit prim before size n)%Z) is extents ->
       after (out ct) cs is = den scalar lit prim (Semantics.evz scalar lit prim before size) (source ct) before cs is) /\
    (forall w, ~ List.In w (written (target ct)) -> forall cs is, after w cs is = before w cs is).

Section Sound.
Variable ct : certificate.
Variable scalar : Type.
Variable lit : string -> val scalar.
Variable prim : string -> list (val scalar) -> val scalar.
Variable inp : store scalar.
Notation vval := (vval scalar lit prim inp).

Lemma cin_ok N r a k : vval N r a (cin k) (inp k).
Proof.
  intros cs N1 r1 a1 F is v t L E HF Hs Ht. injection Ht as <-. intros r' a' E'. cbn [Semantics.eval]. f_equal.
  apply (evs_nf scalar lit prim inp N1 r1 a1 F is v HF Hs r' a' E').
Qed.
Lemma inputs_ok N r a : forall k, vval N r a (inputs ct k) (inp k).
Proof. intros k. unfold inputs. destruct (mem k (params ct)); [apply cin_ok|apply none_ok]. Qed.
End Sound.

Theorem check_sound ct : check ct = true -> refines ct.
Proof.
  intros H scalar lit prim Hcom size before Hz Has Hidx. split; [apply exec_total|]. intros after Hex.
  unfold check in H. cbv zeta in H. apply andb_prop in H as [H H3]. apply andb_prop in H as [H H2]. apply andb_prop in H as [Hpl H1].
  match type of Hpl with plan_ok _ _ _ _ ?x _ = _ => set (p := x) in * end. clearbody p.
  set (ns := sizes ct) in *. set (z := zv scalar lit prim before size (aenv0 scalar)).
  assert (Hbase : forall (s : store scalar) r a, agree ns size r -> holds scalar lit prim s r a (base_facts ct)).
  { intros s r a A. unfold base_facts, holds. rewrite Forall_map. rewrite forallb_forall in H1. rewrite Forall_forall in *.
    intros t Ht. rewrite poly_of_ok by constructor. rewrite (closed_any scalar lit prim before ns size t (H1 t Ht) s r a A). apply (Has t Ht). }
  split.
  2:{ intros w Hw cs is. eapply unwritten; eauto. }
  intros cs ds Hin v Hv. rewrite forallb_forall in H3. specialize (H3 _ Hin). cbn [snd] in H3. apply andb_prop in H3 as [Hc H3].
  cbn [snd] in H3.
  assert (Hlen : List.length v = List.length ds). { clear -Hv. induction Hv; cbn; congruence. }
  set (N := ns + List.length ds) in *. set (r := upds size ns v). set (a := aenv0 scalar).
  assert (Ext : ext scalar ns size a r a). { split; [apply agree_upds|apply agreeA_refl]. }
  assert (Hys : evs scalar lit prim before N r a (levels ns (List.length ds)) v).
  { unfold N, r. rewrite <- Hlen. apply levels_ok. }
  assert (Hdz : forall d, List.In d ds -> forall r' a', agree ns size r' -> zv scalar lit prim before r' a' d = z d).
  { intros d Hd r' a' A. apply (closed_any scalar lit prim before ns size d); auto. rewrite forallb_forall in Hc. auto. }
  assert (Hds : evs scalar lit prim before N r a ds (map z ds)).
  { intros r' a' E'. apply map_ext_in. intros d Hd. apply Hdz; auto. intros x Hx.
    rewrite (ext_r _ _ _ _ _ _ E') by (unfold N; lia). apply (ext_r _ _ _ _ _ _ Ext). auto. }
  assert (Hbh : hold scalar lit prim before N r a (base_facts ct)).
  { intros r' a' E'. apply Hbase. intros x Hx. rewrite (ext_r _ _ _ _ _ _ E') by (unfold N; lia). apply (ext_r _ _ _ _ _ _ Ext). auto. }
  assert (Hrng : inr v (map z ds)). { clear -Hv. unfold inr. induction Hv; constructor; auto. }
  assert (HF : hold scalar lit prim before N r a (ranges (base_facts ct) (levels ns (List.length ds)) ds ++ base_facts ct)).
  { apply hold_app; auto. eapply ranges_ok; eauto. }
  assert (A : agree ns size size) by (intros x; auto).
  set (src := regroup (laws ct) (base_facts ct) (source ct)) in *.
  assert (Hbd : bounded_ok scalar lit prim before ns size (bounded ct)).
  { intros b n es Hb. apply filter_In in Hb as [Hb Hcb]. cbn [fst snd] in Hcb. apply andb_prop in Hcb as [Hcn Hce]. split; [exact Hcn|]. split; [exact Hce|].
    apply in_map_iff in Hb as ([b' n'] & Eb & Hb). injection Eb as <- <- <-. intros cs' is' Hi. apply (Hidx b' n' Hb cs' is'). exact Hi. }
  assert (K1 := sym_ok scalar lit prim before ns size (bounded ct) Hbd src ns size a (inputs ct) before (le_n ns) A (inputs_ok ct scalar lit prim before ns size a)).
  set (se := fun x => if Nat.ltb x ns then Var x else Int 0) in *.
  assert (Hse : vse scalar lit prim before ns size a se size).
  { intros x r' a' E'. unfold se. destruct (Nat.ltb_spec x ns); cbn. { now rewrite (ext_r _ _ _ _ _ _ E') by auto. } now rewrite Hz. }
  assert (K2 := sx_ok scalar lit prim before ns size (bounded ct) (base_facts ct) (extents ct) Hbase Hbd (target ct) [] p
    se (inputs ct) ns size a size before after Hpl (le_n ns) A A (Forall_nil _) Hex Hse (inputs_ok ct scalar lit prim before ns size a)).
  assert (Hcomm : forall name, List.In name (commutative (laws ct)) -> forall a b, prim name [a; b] = prim name [b; a]).
  { intros name Hn. unfold commutative in Hn. apply in_flat_map in Hn as (l & Hl & Hn). specialize (Hcom l Hl). destruct l; try contradiction.
    destruct Hn as [<-|[]]. exact Hcom. }
  assert (E : forall fuel F, hold scalar lit prim before N r a F -> equal ct p src (cs, ds) fuel F = true ->
     after (out ct) cs v = den scalar lit prim z src before cs v).
  { assert (Go : forall F G t1 t2, hold scalar lit prim before N r a F -> hold scalar lit prim before N r a G -> sides ct p src (cs, ds) F = (Some t1, Some t2) -> equivalent (commutative (laws ct)) (shapes ct) N G t1 t2 = true ->
      after (out ct) cs v = den scalar lit prim z src before cs v).
    { intros F G t1 t2 HF' HG Hs Hq. unfold sides in Hs. cbn [fst snd] in Hs. fold ns in Hs. fold N in Hs. injection Hs as E1 E2.
      assert (V1 := K1 cs N r a F _ v t1 ltac:(unfold N; lia) Ext HF' Hys E1 r a (ext_refl _ _ _ _)).
      assert (V2 := K2 (out ct) cs N r a F _ v t2 ltac:(unfold N; lia) Ext HF' Hys E2 r a (ext_refl _ _ _ _)).
      assert (V := equivalent_ok scalar lit prim before (commutative (laws ct)) Hcomm (shapes ct) N G _ _ r a HG Hq).
      rewrite V1, V2 in V. symmetry. exact V. }
    assert (Hel : forall F t1 t2, hold scalar lit prim before N r a F -> hold scalar lit prim before N r a (with_elements ct (cs, ds) t1 t2 F)).
    { intros F t1 t2 HF'. unfold with_elements. match goal with |- hold _ _ _ _ _ _ _ (if ?b then _ else _) => destruct b; [exact HF'|] end.
      apply (learn_ok scalar lit prim before ns size (bounded ct) Hbd N r a); auto; [unfold N; lia|exact (ext_r _ _ _ _ _ _ Ext)]. }
    assert (Hold : forall F c b, hold scalar lit prim before N r a F -> closed N c = true -> truth scalar (eval scalar lit prim before c r a) = b ->
      hold scalar lit prim before N r a (when unpoly c b ++ F)).
    { intros F c b HF' Hcl Hb. apply hold_app; auto. intros r' a' E'. apply when_ok. { intros; apply unpoly_ok. }
      rewrite <- Hb. f_equal. apply (closed_ok scalar lit prim before N c Hcl r a r' a'). exact (ext_r _ _ _ _ _ _ E'). }
    induction fuel as [|fuel IH]; intros F HF' H; cbn [equal] in H; destruct (sides ct p src (cs, ds) F) as [[t1|] [t2|]] eqn:Es; try discriminate;
      destruct (equivalent _ _ _ (with_elements _ _ _ _ F) t1 t2) eqn:Eq; try (apply (Go F _ t1 t2 HF' (Hel F t1 t2 HF') Es Eq));
      (destruct (pr F (pconst (-1))) eqn:Ei; [exfalso; apply (pr_ok scalar lit prim before r a _ _ (HF' r a (ext_refl _ _ _ _))) in Ei; rewrite pconst_ok in Ei; lia|]); [discriminate|].
    cbn [snd] in H. fold ns in H. fold N in H.
    match type of H with match ?l with _ => _ end = true => destruct l as [|c rest]; [discriminate|] end.
    destruct (closed N c) eqn:Hcl; [|discriminate]. apply andb_prop in H as [H1' H2'].
    destruct (truth scalar (eval scalar lit prim before c r a)) eqn:Ec; [apply (IH _ (Hold F c true HF' Hcl Ec) H1')|apply (IH _ (Hold F c false HF' Hcl Ec) H2')]. }
  rewrite (E _ _ HF H3).
  assert (HB0 : holds scalar lit prim before size a (base_facts ct)) by (apply Hbase; exact A).
  exact (regroup_ok scalar lit prim before size a (laws ct) (base_facts ct) HB0 Hcom (source ct) before cs v).
Qed.
