(* The functional program at symbolic subscripts: contents of its value, with the proof that they represent what the program denotes.
   Views become arithmetic of subscripts, maps are read through, reductions become folds. *)
From Coq Require Import ZArith List String Bool Lia Arith.
From Lozenge Require Import Syntax Semantics Poly Norm Rep Lazy.
Import ListNotations.

Section Look.
Variable ns : nat.
Definition lookt (F : facts) (v : view) (is : list tm) : option (list tm) :=
  let add a b := of_poly (unpoly (Op Iadd [a; b])) in
  let sub a b := of_poly (unpoly (Op Isub [a; b])) in
  let mul a b := Op Imul [a; b] in
  match v, is with
  | Vsplit k, i :: j :: is => if closed ns k then Some (add (mul i k) j :: is) else None
  | Vjoin n, i :: is => if closed ns n then Some (of_poly (poly1 F Idiv (unpoly i) (unpoly n)) :: of_poly (poly1 F Imod (unpoly i) (unpoly n)) :: is) else None
  | Vtranspose, i :: j :: is => Some (j :: i :: is)
  | Vreverse n, i :: is => if closed ns n then Some (sub (Op Isub [n; Int 1]) i :: is) else None
  | Vslide s, i :: j :: is => if closed ns s then Some (add (mul i s) j :: is) else None
  | Vdrop k, i :: is => if closed ns k then Some (add i k :: is) else None
  | Vpadclamp l n, i :: is => if closed ns l && closed ns n
      then Some (of_poly (poly1 F Imin (poly1 F Imax (unpoly (Op Isub [i; l])) []) (unpoly (Op Isub [n; Int 1]))) :: is) else None
  | Vsplat, _ :: is => Some is
  | _, _ => None
  end.

Definition cnum (i : tm) : cval := fun _ _ F _ => Some (nfz F (Op Iadd [i; Int 0])).
Definition cview (v : view) (c : cval) : cval := fun cs N F is => is <- lookt F v is ;; c cs N F is.

Fixpoint slot (cs : list bool) (sh : shape) : nat :=
  match sh with [] => 0 | (cs', _) :: sh => if list_eqb Bool.eqb cs cs' then 0 else S (slot cs sh) end.
Definition csfold (sh : shape) (cnt : tm) (init : cval) (body : nat -> cval -> cval) : cval := fun cs =>
  let exts := map snd sh in
  let comp k := fst (nth k sh ([], [])) in
  let k := slot cs sh in
  fun N F is =>
    if (k <? List.length sh)%nat && forallb (forallb (closed ns)) exts then
      fold_tab exts (fun k => init (comp k)) (fun accs N k => body N (fun cs => if (slot cs sh <? List.length sh)%nat then accs (slot cs sh) else fun _ _ _ => None) (comp k)) cnt k N F is
    else None.

Definition sreduce (sh : shape) (cnt : tm) (f : cval -> cval -> cval) (init e : cval) : cval :=
  csfold sh cnt init (fun N acc => f (selem e (Var N)) acc).

(* Arrays of indices, with what their elements are below and with their extents. What is known of the elements in a term. *)
Variable idx : list (nat * (tm * list tm)).
Fixpoint elements_of (F : facts) (t : tm) : facts :=
  match t with
  | In a _ is =>
      match find (fun p => Nat.eqb (fst p) a) idx with
      | Some p => if in_ranges F is (snd (snd p)) then range_facts F t (fst (snd p)) else []
      | None => [] end ++ flat_map (elements_of F) is
  | Op o ts => match o with Scalar _ | Select => [] | _ => flat_map (elements_of F) ts end
  | _ => []
  end.
Definition learn (F : facts) (ts : list tm) : facts :=
  match idx with [] => F | _ => fold_right (fun q G => if existsb (poly_eqb q) G then G else q :: G) F (flat_map (elements_of F) ts) end.

(* That a quotient is below something says more than the facts that it was seen from: quotients are integers. But not what holds of any quotient. *)
Definition quotients (p : poly) : bool := existsb (fun a => match a with Op Idiv _ => true | _ => false end) (atoms p).
Definition also (F : facts) (tc : tm) : facts :=
  let G := when unpoly tc true in if existsb quotients G then filter (fun q => negb (pr [] q)) (unknown F G) ++ F else F.

(* A condition without what is surely true in it, and a choice by one: the opposite of a condition exchanges the sides. *)
Fixpoint strip (F : facts) (c : tm) : tm :=
  match c with
  | Op And [a; b] => match decide F a with
      | Some true => strip F b
      | _ => match decide F b with Some true => strip F a | _ => c end end
  | _ => c
  end.
Definition choice (c a b : tm) : tm := match c with Op Not [c] => Op Select [c; b; a] | _ => Op Select [c; a; b] end.

(* A choice, each side of which is made with what its condition says. *)
Definition scond (F : facts) (tc : tm) (a b : facts -> option tm) : option tm :=
  let F := learn F [tc] in
  match decide F tc with
  | Some true => a (also F tc)
  | Some false => b F
  | None =>
      ta <- a (when unpoly tc true ++ F) ;; tb <- b (when unpoly tc false ++ F) ;;
      Some (if tm_eqb ta tb then ta else choice (strip F tc) ta tb)
  end.

(* The length of a strip. *)
Definition strip_of (n m i : tm) : tm := Op Imin [m; Op Isub [n; Op Imul [i; m]]].

Fixpoint sym (e : exp) (g : nat -> cval) {struct e} : cval :=
  match e with
  | EVar x => g x
  | ESize a => fun _ _ F _ => if closed ns a && integer a then Some (nfz F a) else None
  | ELit s => fun _ _ _ _ => Some (Lit s)
  | EOp o es => fun cs N F is => ts <- mapM (fun e => sym e g cs N F is) es ;; Some (mk (learn F ts) o ts)
  | ESelect c a b => fun cs N F is =>
      tc <- sym c g [] N F [] ;; scond F tc (fun F => sym a g cs N F is) (fun F => sym b g cs N F is)
  | EPair a b => fun cs N F is => match cs with c :: cs => if c : bool then sym b g cs N F is else sym a g cs N F is | [] => None end
  | EFst e => fun cs => sym e g (false :: cs)
  | ESnd e => fun cs => sym e g (true :: cs)
  | ELet x a b => sym b (upd g x (sym a g))
  | EMap x f e => fun cs N F is => match is with i :: is => sym f (upd g x (selem (sym e g) i)) cs N F is | [] => None end
  | EReduce n sh bl x a f i e =>
      let f := fun el acc => sym f (upd (upd g x el) a acc) in
      match bl with
      | Blocks q m => fun cs N F is =>
          if closed ns q && closed ns m && closed ns n && (in_range F q (Op Iadd [q; Int 1])) && (in_range F m (Op Iadd [m; Int 1]))
             && peqb (poly_of F n) (poly_of F (Op Imul [q; m])) then
            sreduce sh q (fun row acc => sreduce sh m f acc row) (sym i g) (cview (Vsplit m) (sym e g)) cs N F is
          else None
      | Strips q m => fun cs N F is =>
          if closed ns q && closed ns m && closed ns n && pr F (poly_of F q) && pr F (poly_of F m) && pr F (poly_of F (Op Isub [Op Imul [q; m]; n])) then
            csfold sh q (sym i g) (fun N acc => csfold sh (strip_of n m (Var N)) acc (fun N' acc =>
              f (selem (sym e g) (Op Iadd [Op Imul [Var N; m]; Var N'])) acc)) cs N F is
          else None
      | _ => fun cs N F is => if closed ns n then sreduce sh n f (sym i g) (sym e g) cs N F is else None
      end
  | EScan n sh x a f i e => fun cs N F is => match is with
      | k :: is => if pr F (poly_of F k) then
          let f := fun el acc => sym f (upd (upd g x el) a acc) in
          f (selem (sym e g) k) (sreduce sh k f (sym i g) (sym e g)) cs N F is
        else None
      | [] => None end
  | EIterate n sh _ a f i => fun cs N F is =>
      if closed ns n then csfold sh n (sym i g) (fun _ acc => sym f (upd g a acc)) cs N F is else None
  | EGenerate x f => fun cs N F is => match is with i :: is => sym f (upd g x (cnum i)) cs N F is | [] => None end
  | EView v e => cview v (sym e g)
  | EPad l n v e => fun cs N F is => match is with
      | i :: is => if closed ns l && closed ns n then
          scond F (Op And [mk F Ile [l; i]; mk F Ilt [i; Op Iadd [l; n]]]) (fun F => sym e g cs N F (nf F (Op Isub [i; l]) :: is)) (fun F => sym v g cs N F is)
        else None
      | [] => None end
  | EConcat n a b => fun cs N F is => match is with
      | i :: is => if closed ns n then
          scond F (mk F Ilt [i; n]) (fun F => sym a g cs N F (i :: is)) (fun F => sym b g cs N F (nf F (Op Isub [i; n]) :: is))
        else None
      | [] => None end
  | EGather js e => fun cs N F is => match is with i :: is => j <- sym js g [] N F [i] ;; sym e g cs N (learn F [j]) (j :: is) | [] => None end
  | EReorder x f e => fun cs N F is => match is with
      | i :: is => j <- sym f (upd g x (cnum i)) [] N F [] ;; sym e g cs N (learn F [j]) (j :: is)
      | [] => None end
  | EIdx e i => fun cs N F is => j <- sym i g [] N F [] ;; sym e g cs N (learn F [j]) (j :: is)
  | EScatter n sh js b e => fun cs N F is =>
      if closed ns n then csfold sh n (sym b g) (fun N acc cs N' F is => match is with
        | i :: is => j <- sym js g [] N' F [Var N] ;; scond F (mk F Ieq [j; i]) (fun F => sym e g cs N' F (Var N :: is)) (fun F => acc cs N' F (i :: is))
        | [] => None end) cs N F is
      else None
  end.
End Look.

Section Sound.
Variable scalar : Type.
Variable lit : string -> val scalar.
Variable prim : string -> list (val scalar) -> val scalar.
Variable inp : store scalar.
Variable ns : nat.
Variable rs : nat -> Z.                                (* the sizes *)
Notation value := (value scalar). Notation aenv := (aenv scalar).
Notation eval := (eval scalar lit prim inp).
Notation zv := (zv scalar lit prim inp).
Notation z := (zv rs (aenv0 scalar)).
Notation den := (den scalar lit prim z).
Notation ext := (ext scalar).
Notation evz := (evz scalar lit prim inp).
Notation evt := (evt scalar lit prim inp).
Notation evs := (evs scalar lit prim inp).
Notation hold := (hold scalar lit prim inp).
Notation vtab := (vtab scalar lit prim inp).
Notation vval := (vval scalar lit prim inp).
Variable idx : list (nat * (tm * list tm)).
(* Elements of arrays of indices are below their bounds. *)
Definition bounded_ok : Prop := forall a n ds, List.In (a, (n, ds)) idx ->
  closed ns n = true /\ forallb (closed ns) ds = true /\ forall cs v, inr v (map z ds) -> (0 <= toZ scalar (inp a cs v) < z n)%Z.
Hypothesis Hidx : bounded_ok.

Lemma closed_z N r a t : ns <= N -> agree ns rs r -> closed ns t = true -> evz N r a t (z t).
Proof.
  intros L A H r' a' E. unfold Inequalities.zv. f_equal. eapply closed_ok; eauto.
  intros x Hx. rewrite (ext_r _ _ _ _ _ _ E) by lia. auto.
Qed.
Lemma evz_op2 N r a o x y zx zy (f : Z -> Z -> Z) :
  (forall vs, toZ scalar (apply scalar prim o vs) = f (toZ scalar (nth 0 vs (VZ 0))) (toZ scalar (nth 1 vs (VZ 0)))) ->
  evz N r a x zx -> evz N r a y zy -> evz N r a (Op o [x; y]) (f zx zy).
Proof. intros H Hx Hy r' a' E. unfold Inequalities.zv. cbn [Semantics.eval map]. rewrite H. cbn [nth]. change (f (zv r' a' x) (zv r' a' y) = f zx zy). rewrite Hx, Hy; auto. Qed.
Lemma evz_int N r a k : evz N r a (Int k) k. Proof. intros r' a' E. reflexivity. Qed.

Hint Resolve evz_int evs_cons : core.
Lemma lookt_ok N r a F v is vs is' : ns <= N -> agree ns rs r -> hold N r a F -> evs N r a is vs -> lookt ns F v is = Some is' ->
  evs N r a is' (look z v vs).
Proof.
  intros L A HF Hs H.
  set (evp := fun p k => forall r' a', ext N r a r' a' -> pval (zv r' a') p = k).
  assert (Hp : forall p k, evp p k -> evz N r a (of_poly p) k).
  { intros p k H1 r' a' E. rewrite of_poly_ok. apply H1; auto. }
  assert (Hu : forall t k, evz N r a t k -> evp (unpoly t) k).
  { intros t k H1 r' a' E. rewrite unpoly_ok. apply H1; auto. }
  assert (H0 : evp [] 0%Z) by (intros r' a' E; reflexivity).
  assert (Hadd : forall x y kx ky, evz N r a x kx -> evz N r a y ky -> evz N r a (Op Iadd [x; y]) (kx + ky)%Z) by (intros; apply evz_op2; auto).
  assert (Hsub : forall x y kx ky, evz N r a x kx -> evz N r a y ky -> evz N r a (Op Isub [x; y]) (kx - ky)%Z) by (intros; apply evz_op2; auto).
  assert (Hmul : forall x y kx ky, evz N r a x kx -> evz N r a y ky -> evz N r a (Op Imul [x; y]) (kx * ky)%Z) by (intros; apply evz_op2; auto).
  assert (Hi1 : evz N r a (Int 1) 1%Z) by apply evz_int.
  assert (Hdiv : forall p q kp kq, evp p kp -> evp q kq -> evp (poly1 F Idiv p q) (kp / kq)%Z).
  { intros p q kp kq A1 A2 r' a' E. rewrite poly1_ok by auto. change (zv r' a' (Op Idiv [of_poly p; of_poly q])) with ((zv r' a' (of_poly p) / zv r' a' (of_poly q))%Z). now rewrite !of_poly_ok, A1, A2. }
  assert (Hmod : forall p q kp kq, evp p kp -> evp q kq -> evp (poly1 F Imod p q) (kp mod kq)%Z).
  { intros p q kp kq A1 A2 r' a' E. rewrite poly1_ok by auto. change (zv r' a' (Op Imod [of_poly p; of_poly q])) with ((zv r' a' (of_poly p) mod zv r' a' (of_poly q))%Z). now rewrite !of_poly_ok, A1, A2. }
  assert (Hmin : forall p q kp kq, evp p kp -> evp q kq -> evp (poly1 F Imin p q) (Z.min kp kq)).
  { intros p q kp kq A1 A2 r' a' E. rewrite poly1_ok by auto. change (zv r' a' (Op Imin [of_poly p; of_poly q])) with (Z.min (zv r' a' (of_poly p)) (zv r' a' (of_poly q))). now rewrite !of_poly_ok, A1, A2. }
  assert (Hmax : forall p q kp kq, evp p kp -> evp q kq -> evp (poly1 F Imax p q) (Z.max kp kq)).
  { intros p q kp kq A1 A2 r' a' E. rewrite poly1_ok by auto. change (zv r' a' (Op Imax [of_poly p; of_poly q])) with (Z.max (zv r' a' (of_poly p)) (zv r' a' (of_poly q))). now rewrite !of_poly_ok, A1, A2. }
  assert (Hc : forall t, closed ns t = true -> evz N r a t (z t)) by (intros; apply closed_z; auto).
  assert (J : forall A (u w : A), Some u = Some w -> w = u) by (intros; congruence).
  destruct v; cbn [lookt] in H; (destruct is as [|i is]; [discriminate|]); apply evs_inv in Hs as (zi & v' & -> & Hi & Hs);
    try (destruct is as [|j is]; [discriminate|]; apply evs_inv in Hs as (zj & v'' & -> & Hj & Hs)); cbn [look].
  - destruct (closed ns k) eqn:E; [|discriminate]. apply J in H; subst is'; auto 14.
  - destruct (closed ns n) eqn:E; [|discriminate]. apply J in H; subst is'; auto 14.
  - apply J in H; subst is'; auto 14.
  - destruct (closed ns n) eqn:E; [|discriminate]. apply J in H; subst is'; auto 14.
  - destruct (closed ns s) eqn:E; [|discriminate]. apply J in H; subst is'; auto 14.
  - destruct (closed ns k) eqn:E; [|discriminate]. apply J in H; subst is'; auto 14.
  - destruct (closed ns l && closed ns n) eqn:E; [|discriminate]. apply andb_prop in E as [E1 E2]. apply J in H; subst is'; auto 14.
  - apply J in H; subst is'; auto 14.
Qed.

Lemma selem_ok N0 r0 a0 c d i zi : vval N0 r0 a0 c d -> evz N0 r0 a0 i zi -> vval N0 r0 a0 (selem c i) (element scalar d zi).
Proof.
  intros H Hi cs N r a F is v t L E HF Hs Ht. eapply (H cs N r a F (i :: is) (zi :: v)); eauto.
  apply evs_cons; auto. eapply evz_mono; eauto.
Qed.
Lemma cnum_ok N0 r0 a0 i zi : evz N0 r0 a0 i zi -> vval N0 r0 a0 (cnum i) (number scalar (VZ zi)).
Proof.
  intros Hi cs N r a F is v t L E HF Hs Ht. injection Ht as <-. intros r' a' E'. rewrite nfz_ok by (auto; reflexivity).
  cbn [Semantics.eval map apply nth toZ]. unfold number.
  assert (H : zv r' a' i = zi) by (apply Hi; eapply ext_trans; eauto). unfold Inequalities.zv in H. rewrite H. f_equal. lia.
Qed.
Lemma cview_ok N0 r0 a0 v c d : ns <= N0 -> agree ns rs r0 -> vval N0 r0 a0 c d -> vval N0 r0 a0 (cview ns v c) (fun cs is => d cs (look z v is)).
Proof.
  intros L A H cs N r a F is vs t LN E HF Hs Ht. unfold cview in Ht. destruct (lookt ns F v is) as [is'|] eqn:El; [|discriminate].
  eapply (H cs N r a F is'); eauto. eapply lookt_ok; eauto; [lia|]. intros x Hx. rewrite (ext_r _ _ _ _ _ _ E) by lia. auto.
Qed.

Lemma slot_ok cs sh : slot cs sh < List.length sh -> fst (nth (slot cs sh) sh ([], [])) = cs.
Proof.
  induction sh as [|[cs' d] sh IH]; cbn; [lia|]. destruct (list_eqb Bool.eqb cs cs') eqn:E; cbn; intros L.
  - symmetry. revert E. apply list_eqb_ok. clear. induction cs; constructor; auto. intros y. apply eqb_prop.
  - apply IH. lia.
Qed.

Lemma csfold_ok N0 r0 a0 sh init body (S_ : nat -> value) count cnt c :
  ns <= N0 -> evz N0 r0 a0 cnt c -> count = Z.to_nat c -> vval N0 r0 a0 init (S_ 0) ->
  (forall i N r a acc, i < count -> N0 <= N -> ext N0 r0 a0 r a -> r N = Z.of_nat i -> vval (S N) r a acc (S_ i) ->
     vval (S N) r a (body N acc) (S_ (S i))) ->
  vval N0 r0 a0 (csfold ns sh cnt init body) (S_ count).
Proof.
  intros Hns Hc Hcount Hi Hb cs N r a F is v t L E HF Hs Ht. unfold csfold in Ht.
  destruct (Nat.ltb_spec (slot cs sh) (List.length sh)) as [Hk|]; [|discriminate].
  destruct (forallb (forallb (closed ns)) (map snd sh)) eqn:Hcl; [|discriminate]. cbn [andb] in Ht.
  assert (K := fold_ok scalar lit prim inp ns N r a (map snd sh) (fun k => init (fst (nth k sh ([], []))))
    (fun accs N k => body N (fun cs => if (slot cs sh <? List.length sh)%nat then accs (slot cs sh) else fun _ _ _ => None) (fst (nth k sh ([], []))))
    (fun i k => S_ i (fst (nth k sh ([], [])))) count).
  rewrite <- (slot_ok cs sh Hk) at 1.
  refine (K _ Hcl _ _ cnt N r a F is v t (slot cs sh) (le_n N) (ext_refl _ _ _ _) HF Hs _ _ Ht); clear K.
  - lia.
  - intros k Hk'. eapply vtab_mono; eauto.
  - intros i N1 r1 a1 k Hi1 HN1 E1 Hr Hk1 accs Hacc. apply Hb; auto; [lia|eapply ext_trans; eauto|].
    intros cs1. destruct (Nat.ltb_spec (slot cs1 sh) (List.length sh)) as [Hk2|]; [|intros N2 r2 a2 F2 is2 v2 t2 L2 E2 HF2 Hs2 Ht2; discriminate].
    rewrite <- (slot_ok cs1 sh) by auto. rewrite slot_ok at 1 by auto. apply Hacc. now rewrite map_length.
  - now rewrite map_length.
  - exists c. split; auto. eapply evz_mono; eauto.
Qed.

Definition vstep (f : value -> value -> value) (e : value) : nat -> value -> value := fun k acc => f (element scalar e (Z.of_nat k)) acc.
Lemma sreduce_ok N0 r0 a0 sh cnt c f fv init iv e ev :
  ns <= N0 -> evz N0 r0 a0 cnt c -> vval N0 r0 a0 init iv -> vval N0 r0 a0 e ev ->
  (forall N r a el elv acc accv, N0 <= N -> ext N0 r0 a0 r a -> vval N r a el elv -> vval N r a acc accv -> vval N r a (f el acc) (fv elv accv)) ->
  vval N0 r0 a0 (sreduce ns sh cnt f init e) (iter (Z.to_nat c) (vstep fv ev) iv).
Proof.
  intros Hns Hc Hi He Hf. unfold sreduce.
  apply (csfold_ok N0 r0 a0 sh init (fun N acc => f (selem e (Var N)) acc) (fun k => iter k (vstep fv ev) iv) (Z.to_nat c) cnt c); auto.
  intros i N r a acc Hlt HN E Hr Hacc. cbn [iter]. unfold vstep at 1. apply Hf; auto.
  - apply selem_ok; [eapply vval_mono; [exact He|lia|exact E]|].
    intros r' a' [Er _]. unfold Inequalities.zv. cbn. rewrite Er by lia. auto.
Qed.

Lemma elements_of_ok N r a F : ns <= N -> agree ns rs r -> hold N r a F -> forall t, hold N r a (elements_of idx F t).
Proof.
  intros L A HF. apply tm_ind'; try (intros; intros r' a' E; constructor).
  - intros o ts IH. assert (G : hold N r a (flat_map (elements_of idx F) ts)).
    { clear o. induction IH as [|t ts Ht _ G]; cbn [flat_map]; [intros r' a' E; constructor|apply hold_app; auto]. }
    destruct o; cbn [elements_of]; try exact G; intros r' a' E; constructor.
  - intros b cs is IH. cbn [elements_of]. apply hold_app.
    2:{ induction IH as [|t ts Ht _ G]; cbn [flat_map]; [intros r' a' E; constructor|apply hold_app; auto]. }
    destruct (find _ idx) as [[b' [n ds]]|] eqn:Ef; [|intros r' a' E; constructor]. cbn [fst snd].
    apply find_some in Ef as [Hin Eb]. cbn [fst] in Eb. apply Nat.eqb_eq in Eb. subst b'. destruct (Hidx b n ds Hin) as (Hn & Hds & Hb).
    destruct (in_ranges F is ds) eqn:Er; [|intros r' a' E; constructor].
    intros r' a' E. assert (A' : agree ns rs r'). { intros x Hx. rewrite (ext_r _ _ _ _ _ _ E) by lia. auto. }
    assert (HF' : hold N r' a' F) by (eapply hold_mono; eauto).
    assert (Hz : forall d, closed ns d = true -> forall r2 a2, agree ns rs r2 -> zv r2 a2 d = z d).
    { intros d Hd r2 a2 A2. unfold Inequalities.zv. f_equal. apply (closed_ok scalar lit prim inp ns d Hd). exact A2. }
    apply range_facts_at with (z := zv r' a' (In b cs is)) (d := z n); auto.
    unfold Inequalities.zv at 1 2. cbn [Semantics.eval]. apply Hb.
    (* the subscripts are within the extents, in this world alone *)
    change (map (fun t => toZ scalar (eval t r' a')) is) with (map (zv r' a') is).
    assert (H0 := HF' r' a' (ext_refl _ _ _ _)). clear Hb Hin IH. revert ds Hds Er. induction is as [|i is IHi]; intros [|d ds] Hds Er; try discriminate; cbn [map]; constructor.
    + cbn [in_ranges] in Er. apply andb_prop in Er as [E1 _]. cbn [forallb] in Hds. apply andb_prop in Hds as [Hd _].
      unfold in_range, in_range_p in E1. apply andb_prop in E1 as [E0 E1].
      apply (pr_ok scalar lit prim inp r' a') in E0, E1; auto. rewrite !psub_ok, pconst_ok, !poly_of_ok in E1 by auto. rewrite poly_of_ok in E0 by auto.
      rewrite (Hz d Hd r' a' A') in E1. lia.
    + cbn [in_ranges] in Er. apply andb_prop in Er as [_ E1]. cbn [forallb] in Hds. apply andb_prop in Hds as [_ Hds]. apply IHi; auto.
Qed.
Lemma learn_ok N r a F ts : ns <= N -> agree ns rs r -> hold N r a F -> hold N r a (learn idx F ts).
Proof.
  intros L A HF. unfold learn. destruct idx eqn:Ei; [exact HF|]. rewrite <- Ei. clear Ei.
  assert (H : hold N r a (flat_map (elements_of idx F) ts)).
  { induction ts as [|t ts IH]; cbn [flat_map]; [intros r' a' E; constructor|]. apply hold_app; auto. apply elements_of_ok; auto. }
  induction (flat_map (elements_of idx F) ts) as [|q G IH]; cbn [fold_right]; auto.
  assert (HG : hold N r a G). { intros r' a' E. specialize (H r' a' E). inversion H; auto. }
  destruct (existsb _ _); auto. intros r' a' E. constructor; [|apply IH; auto]. specialize (H r' a' E). inversion H; auto.
Qed.

Lemma strip_ok F r a : holds scalar lit prim inp r a F -> forall c, truth scalar (eval (strip F c) r a) = truth scalar (eval c r a).
Proof.
  intros HF. apply tm_ind'; intros; auto. destruct o; auto. destruct ts as [|x [|y [|? ?]]]; auto. cbn [strip].
  inversion_clear H as [|? ? Hx H']; inversion_clear H' as [|? ? Hy _].
  change (truth scalar (eval (Op And [x; y]) r a)) with (andb (truth scalar (eval x r a)) (truth scalar (eval y r a))).
  assert (D : forall t, decide F t = Some true -> truth scalar (eval t r a) = true).
  { intros t E. now rewrite (decide_ok scalar lit prim inp r a F HF t true E). }
  destruct (decide F x) as [[|]|] eqn:Ex; [now rewrite Hy, (D x Ex)| |];
    (destruct (decide F y) as [[|]|] eqn:Ey; [|reflexivity|reflexivity]); now rewrite Hx, (D y Ey), andb_true_r.
Qed.
Lemma choice_ok c x y r a : eval (choice c x y) r a = if truth scalar (eval c r a) then eval x r a else eval y r a.
Proof.
  destruct c as [| | |o ts| | |]; try reflexivity. destruct o; try reflexivity. destruct ts as [|c [|? ?]]; try reflexivity.
  change (eval (choice (Op Not [c]) x y) r a) with (if truth scalar (eval c r a) then eval y r a else eval x r a).
  change (truth scalar (eval (Op Not [c]) r a)) with (negb (truth scalar (eval c r a))). now destruct (truth scalar (eval c r a)).
Qed.
Lemma scond_ok N r a F tc (xc : val scalar) oa ob xa xb t : ns <= N -> agree ns rs r -> hold N r a F -> evt N r a tc xc ->
  (forall F t, hold N r a F -> truth scalar xc = true -> oa F = Some t -> evt N r a t xa) ->
  (forall F t, hold N r a F -> truth scalar xc = false -> ob F = Some t -> evt N r a t xb) ->
  scond idx F tc oa ob = Some t -> evt N r a t (if truth scalar xc then xa else xb).
Proof.
  intros L A HF0 Hc Ha Hb H. unfold scond in H. cbv zeta in H. assert (HF := learn_ok N r a F [tc] L A HF0). set (F' := learn idx F [tc]) in *. clearbody F'. clear HF0 F. rename F' into F. destruct (decide F tc) as [b|] eqn:E.
  - assert (X : xc = VB b). { rewrite <- (Hc r a (ext_refl _ _ _ _)). eapply decide_ok; eauto. apply HF. apply ext_refl. }
    subst xc. destruct b; cbn; eauto. eapply Ha; [|reflexivity|exact H]. unfold also. cbv zeta. destruct (existsb quotients _); auto. apply hold_app; auto.
    intros r' a' E'. apply Forall_forall. intros q Hq. apply filter_In in Hq as [Hq _]. apply filter_In in Hq as [Hq _].
    assert (W : Inequalities.holds scalar lit prim inp r' a' (when unpoly tc true)). { apply when_ok. { intros; apply unpoly_ok. } now rewrite (Hc r' a' E'). }
    unfold Inequalities.holds in W. rewrite Forall_forall in W. auto.
  - assert (W : forall b, truth scalar xc = b -> hold N r a (when unpoly tc b ++ F)).
    { intros b Hb'. apply hold_app; auto. intros r' a' E'. apply when_ok. { intros; apply unpoly_ok. } now rewrite (Hc r' a' E'). }
    destruct (oa _) as [ta|] eqn:Ea; [|discriminate]. cbn [bind] in H. destruct (ob _) as [tb|] eqn:Eb; [|discriminate]. cbn [bind] in H.
    injection H as <-. assert (Ka := fun T => Ha _ ta (W _ T) T Ea). assert (Kb := fun T => Hb _ tb (W _ T) T Eb).
    destruct (tm_eqb ta tb) eqn:Et.
    + apply tm_eqb_ok in Et. subst tb. destruct (truth scalar xc); auto.
    + intros r' a' E'. rewrite choice_ok, strip_ok, (Hc r' a' E') by auto.
      destruct (truth scalar xc); [rewrite Ka|rewrite Kb]; auto.
Qed.

Lemma iter_ext {A} n (f g : nat -> A -> A) a : (forall k a, f k a = g k a) -> iter n f a = iter n g a.
Proof. intros H. induction n; cbn; auto. now rewrite IHn, H. Qed.
Lemma iter_add {A} n m (f : nat -> A -> A) a : iter (n + m) f a = iter m (fun k => f (n + k)) (iter n f a).
Proof.
  induction m as [|m IH]; cbn. { now rewrite Nat.add_0_r. }
  rewrite <- plus_n_Sm. cbn. now rewrite IH.
Qed.
Lemma iter_mul {A} q m (f : nat -> A -> A) a : iter (q * m) f a = iter q (fun i => iter m (fun j => f (i * m + j))) a.
Proof.
  induction q as [|q IH]; cbn [iter]; auto. rewrite <- IH.
  replace (S q * m) with (q * m + m) by lia. apply iter_add.
Qed.

Lemma iter_strips {A} q m n (f : nat -> A -> A) a : iter (Nat.min n (q * m)) f a = iter q (fun i => iter (Nat.min m (n - i * m)) (fun j => f (i * m + j))) a.
Proof.
  induction q as [|q IH]; cbn [iter]. { now rewrite Nat.min_0_r. }
  rewrite <- IH. replace (Nat.min n (S q * m)) with (Nat.min n (q * m) + Nat.min m (n - q * m)) by (cbn [Nat.mul]; lia). rewrite iter_add.
  destruct (Nat.le_ge_cases n (q * m)) as [L|L].
  - replace (n - q * m) with 0 by lia. now rewrite Nat.min_0_r.
  - now rewrite (Nat.min_r n (q * m)) by auto.
Qed.

Lemma sym_ok : forall e N0 r0 a0 g gv, ns <= N0 -> agree ns rs r0 -> (forall x, vval N0 r0 a0 (g x) (gv x)) ->
  vval N0 r0 a0 (sym ns idx e g) (den e gv).
Proof.
  assert (Z2 : forall N r a F t zt, hold N r a F -> evz N r a t zt -> evz N r a (nf F t) zt) by (intros; apply evz_nf; auto).
  fix IH 1. intros e N0 r0 a0 g gv Hns Hag Hg.
  assert (Hmono : forall N r a, N0 <= N -> ext N0 r0 a0 r a -> agree ns rs r).
  { intros N r a L E x Hx. rewrite (ext_r _ _ _ _ _ _ E) by lia. auto. }
  assert (Hgm : forall N r a, N0 <= N -> ext N0 r0 a0 r a -> forall x, vval N r a (g x) (gv x)).
  { intros. eapply vval_mono; eauto. }
  assert (Hupd : forall N r a g gv x c d, (forall y, vval N r a (g y) (gv y)) -> vval N r a c d ->
    forall y, vval N r a (upd g x c y) (upd gv x d y)).
  { intros N r a g1 gv1 x c d H1 H2 y. unfold upd. destruct (Nat.eqb x y); auto. }
  destruct e as [x|a1|s|o es|e1 e2 e3|e1 e2|e|e|x e1 e2|x e1 e|n sh blocks x a1 e1 e2 e3|n sh x a1 e1 e2 e3|n sh twice a1 e1 e2|x e|v e|l n e1 e2|n e1 e2|e1 e2|x e1 e2|e1 e2|n sh e1 e2 e3];
    cbn [sym Semantics.den].
  - apply Hg.
  - (* ESize *) intros cs N r a F is v t L E HF Hs Ht. destruct (closed ns a1 && integer a1) eqn:Ec; [|discriminate].
    apply andb_prop in Ec as [Ec Ei]. injection Ht as <-. intros r' a' E'. rewrite nfz_ok by auto. rewrite integer_ok by auto. unfold number. f_equal.
    apply (closed_z N r a a1 ltac:(lia) (Hmono N r a L E) Ec r' a' E').
  - (* ELit *) intros cs N r a F is v t L E HF Hs Ht. injection Ht as <-. intros r' a' E'. reflexivity.
  - (* EOp *) intros cs N r a F is v t L E HF Hs Ht.
    match type of Ht with bind ?x _ = _ => destruct x as [ts|] eqn:Em end; [|discriminate]. cbn [bind] in Ht. injection Ht as <-.
    intros r' a' E'. rewrite mk_ok by (apply (learn_ok N r a F ts); [lia|exact (Hmono N r a L E)|exact HF|exact E']). cbn [Semantics.eval]. f_equal.
    revert ts Em. induction es as [|e es IHes]; cbn [mapM map]; intros ts Em. { injection Em as <-. auto. }
    destruct (sym ns idx e g cs N F is) as [t0|] eqn:Et; [|discriminate].
    destruct (mapM _ es) as [ts'|] eqn:Ets; [|discriminate]. injection Em as <-. cbn [map]. f_equal.
    + eapply (IH e N0 r0 a0 g gv); eauto.
    + apply IHes; auto.
  - (* ESelect *) intros cs N r a F is v t L E HF Hs Ht.
    destruct (sym ns idx e1 g [] N F []) as [tc|] eqn:Ec; [|discriminate]. cbn [bind] in Ht.
    eapply scond_ok; [lia|eauto|exact HF| | | |exact Ht].
    + eapply (IH e1 N0 r0 a0 g gv); eauto. apply evs_nil.
    + intros F' t0 HF' _ H0. eapply (IH e2 N0 r0 a0 g gv); eauto.
    + intros F' t0 HF' _ H0. eapply (IH e3 N0 r0 a0 g gv); eauto.
  - (* EPair *) intros cs N r a F is v t L E HF Hs Ht. destruct cs as [|[|] cs]; [discriminate| |].
    + eapply (IH e2 N0 r0 a0 g gv); eauto.
    + eapply (IH e1 N0 r0 a0 g gv); eauto.
  - intros cs. apply (IH e N0 r0 a0 g gv); auto.
  - intros cs. apply (IH e N0 r0 a0 g gv); auto.
  - (* ELet *) apply IH; auto; apply Hupd; auto; apply IH; auto.
  - (* EMap *) intros cs N r a F is v t L E HF Hs Ht. destruct is as [|i is]; [discriminate|].
    apply evs_inv in Hs as (zi & v' & -> & Hi & Hs).
    eapply (IH e1 N r a _ _ ltac:(lia) (Hmono N r a L E)); [|exact (le_n N)|apply ext_refl|exact HF|exact Hs|exact Ht].
    apply Hupd; [eauto|]. apply selem_ok; auto. apply IH; [lia|eauto|eauto].
  - (* EReduce *)
    assert (Hf : forall N r a el elv acc accv, N0 <= N -> ext N0 r0 a0 r a -> vval N r a el elv -> vval N r a acc accv ->
       vval N r a (sym ns idx e1 (upd (upd g x el) a1 acc)) (den e1 (upd (upd gv x elv) a1 accv))).
    { intros N r a el elv acc accv L E Hel Hacc. apply IH; [lia|eauto|]. apply Hupd; auto. }
    assert (Plain : vval N0 r0 a0 (fun cs N F is => if closed ns n then sreduce ns sh n (fun el acc => sym ns idx e1 (upd (upd g x el) a1 acc)) (sym ns idx e2 g) (sym ns idx e3 g) cs N F is else None)
        (iter (Z.to_nat (z n)) (vstep (fun elv accv => den e1 (upd (upd gv x elv) a1 accv)) (den e3 gv)) (den e2 gv))).
    { intros cs N r a F is v t L E HF Hs Ht. destruct (closed ns n) eqn:Ec; [|discriminate].
      eapply (sreduce_ok N r a sh n (z n) _ (fun elv accv => den e1 (upd (upd gv x elv) a1 accv)) _ (den e2 gv) _ (den e3 gv));
        [lia|apply closed_z; [lia|eauto|auto]|apply IH; [lia|eauto|eauto]|apply IH; [lia|eauto|eauto]| |exact (le_n N)|apply ext_refl|exact HF|exact Hs|exact Ht].
      intros. apply Hf; auto; [lia|eapply ext_trans; eauto]. }
    destruct blocks as [|q m|q m zero|q m zero| | |q m]; try exact Plain; intros cs N r a F is v t L E HF Hs Ht.
    1:{
      match type of Ht with (if ?b then _ else _) = _ => destruct b eqn:Eb; [|discriminate] end.
      apply andb_prop in Eb as [Eb Hp]. apply andb_prop in Eb as [Eb Hr2]. apply andb_prop in Eb as [Eb Hr1].
      apply andb_prop in Eb as [Eb Hc3]. apply andb_prop in Eb as [Hc1 Hc2].
      assert (Ez : forall t, closed ns t = true -> evz N r a t (z t)) by (intros; apply closed_z; eauto; lia).
      assert (Hq : (0 <= z q)%Z). { eapply in_range_ok in Hr1; [|exact HF|apply Ez; auto|apply evz_op2 with (f := Z.add); [reflexivity|apply Ez; auto|apply evz_int]]. lia. }
      assert (Hm : (0 <= z m)%Z). { eapply in_range_ok in Hr2; [|exact HF|apply Ez; auto|apply evz_op2 with (f := Z.add); [reflexivity|apply Ez; auto|apply evz_int]]. lia. }
      assert (Hn : z n = (z q * z m)%Z).
      { assert (H0F := HF r a (ext_refl _ _ _ _)). apply (peqb_ok scalar lit prim inp r a) in Hp. rewrite !poly_of_ok in Hp by auto.
        rewrite (Ez n) in Hp by (auto; apply ext_refl). rewrite Hp. apply (evz_op2 N r a Imul q m (z q) (z m) Z.mul); auto. apply ext_refl. }
      assert (K : vval N r a (sreduce ns sh q (fun row acc => sreduce ns sh m (fun el acc => sym ns idx e1 (upd (upd g x el) a1 acc)) acc row) (sym ns idx e2 g) (cview ns (Vsplit m) (sym ns idx e3 g)))
         (iter (Z.to_nat (z q)) (vstep (fun row acc => iter (Z.to_nat (z m)) (vstep (fun elv accv => den e1 (upd (upd gv x elv) a1 accv)) row) acc)
            (fun cs is => den e3 gv cs (look z (Vsplit m) is))) (den e2 gv))).
      { apply sreduce_ok; auto; [lia|apply IH; [lia|eauto|eauto]| |].
        - apply cview_ok; [lia|eauto|]. apply IH; [lia|eauto|eauto].
        - intros N1 r1 a2 el elv acc accv L1 E1 Hel Hacc. apply sreduce_ok; auto; [lia|eapply evz_mono; eauto|].
          intros N2 r2 a3 el2 elv2 acc2 accv2 L2 E2 Hel2 Hacc2. apply Hf; auto; [lia|]. eapply ext_trans; [exact E| |eapply ext_trans; [exact E1| |exact E2]]; lia. }
      rewrite Hn, Z2Nat.inj_mul by auto. rewrite iter_mul.
      refine (eq_ind _ (fun w => evt N r a t (w cs v)) (K cs N r a F is v t (le_n N) (ext_refl _ _ _ _) HF Hs Ht) _ _).
      apply iter_ext. intros i acc. unfold vstep at 1. apply iter_ext. intros j acc'. unfold vstep. cbn [look].
      do 3 f_equal. unfold element. do 2 (apply f_equal || f_equal).
      replace (Z.of_nat (i * Z.to_nat (z m) + j)) with (Z.of_nat i * z m + Z.of_nat j)%Z by lia. reflexivity. }
    match type of Ht with (if ?b then _ else _) = _ => destruct b eqn:Eb; [|discriminate] end.
    apply andb_prop in Eb as [Eb Hp]. apply andb_prop in Eb as [Eb Hr2]. apply andb_prop in Eb as [Eb Hr1].
    apply andb_prop in Eb as [Eb Hc3]. apply andb_prop in Eb as [Hc1 Hc2].
    assert (Ez : forall t N1 r1 a2, N <= N1 -> ext N r a r1 a2 -> closed ns t = true -> evz N1 r1 a2 t (z t)).
    { intros t0 N1 r1 a2 L1 E1 Hc. apply closed_z; [lia|apply (Hmono N1 r1 a2); [lia|eapply ext_trans; eauto]|auto]. }
    assert (Er : ext N r a r a) by apply ext_refl. assert (H0F := HF r a Er). apply (pr_ok scalar lit prim inp r a) in Hr1, Hr2, Hp; auto. rewrite !poly_of_ok in Hr1, Hr2, Hp by auto.
    rewrite (Ez q N r a (le_n N) Er Hc1 r a Er) in Hr1. rewrite (Ez m N r a (le_n N) Er Hc2 r a Er) in Hr2.
    assert (Hn : (z n <= z q * z m)%Z).
    { change (zv r a (Op Isub [Op Imul [q; m]; n])) with (zv r a q * zv r a m - zv r a n)%Z in Hp.
      rewrite (Ez q N r a (le_n N) Er Hc1 r a Er), (Ez m N r a (le_n N) Er Hc2 r a Er), (Ez n N r a (le_n N) Er Hc3 r a Er) in Hp. lia. }
    set (fv := fun elv accv => den e1 (upd (upd gv x elv) a1 accv)) in *. set (stp := vstep fv (den e3 gv)).
    set (row := fun i acc => iter (Nat.min (Z.to_nat (z m)) (Z.to_nat (z n) - i * Z.to_nat (z m))) (fun j => stp (i * Z.to_nat (z m) + j)) acc).
    replace (Z.to_nat (z n)) with (Nat.min (Z.to_nat (z n)) (Z.to_nat (z q) * Z.to_nat (z m))) by nia. rewrite (iter_strips (Z.to_nat (z q))).
    change (evt N r a t (iter (Z.to_nat (z q)) row (den e2 gv) cs v)).
    refine (csfold_ok N r a sh _ _ (fun k => iter k row (den e2 gv)) (Z.to_nat (z q)) q (z q) ltac:(lia) (Ez q N r a (le_n N) Er Hc1) eq_refl _ _ cs N r a F is v t (le_n N) Er HF Hs Ht).
    { apply IH; [lia|eauto|eauto]. }
    intros i N1 r1 a2 acc Hi L1 E1 Hr Hacc. cbn [iter].
    assert (HN : evz (S N1) r1 a2 (Var N1) (Z.of_nat i)). { intros r' a' [Ex _]. unfold Inequalities.zv. cbn. rewrite Ex by lia. auto. }
    assert (Hlen : evz (S N1) r1 a2 (strip_of n m (Var N1)) (Z.min (z m) (z n - Z.of_nat i * z m))).
    { apply (evz_op2 _ _ _ Imin m _ _ _ Z.min); [reflexivity|apply Ez; auto; lia|]. apply (evz_op2 _ _ _ Isub n _ _ _ Z.sub); [reflexivity|apply Ez; auto; lia|].
      apply (evz_op2 _ _ _ Imul _ m _ _ Z.mul); [reflexivity|exact HN|apply Ez; auto; lia]. }
    refine (csfold_ok (S N1) r1 a2 sh _ _ (fun k => iter k (fun j => stp (i * Z.to_nat (z m) + j)) (iter i row (den e2 gv)))
      (Nat.min (Z.to_nat (z m)) (Z.to_nat (z n) - i * Z.to_nat (z m))) _ _ ltac:(lia) Hlen _ Hacc _).
    { nia. }
    intros j N2 r2 a3 acc2 Hj L2 E2 Hr' Hacc2. cbn [iter]. unfold stp at 1, vstep. fold stp.
    assert (E3 : ext N r a r2 a3) by (eapply ext_trans; [exact E1| |exact E2]; lia).
    apply Hf; [lia|eapply ext_trans; [exact E| |exact E3]; lia| |exact Hacc2].
    apply selem_ok. { apply IH; [lia|apply (Hmono (S N2) r2 a3); [lia|eapply ext_trans; [exact E| |exact E3]; lia]|apply (Hgm (S N2) r2 a3); [lia|eapply ext_trans; [exact E| |exact E3]; lia]]. }
    replace (Z.of_nat (i * Z.to_nat (z m) + j)) with (Z.of_nat i * z m + Z.of_nat j)%Z by nia.
    apply (evz_op2 _ _ _ Iadd _ _ _ _ Z.add); [reflexivity| |].
    + apply (evz_op2 _ _ _ Imul _ m _ _ Z.mul); [reflexivity| |apply Ez; auto; lia]. eapply evz_mono; [exact HN|lia|exact E2].
    + intros r' a' [Ex _]. unfold Inequalities.zv. cbn. rewrite Ex by lia. auto.
  - (* EScan *) intros cs N r a F is v t L E HF Hs Ht. destruct is as [|k is]; [discriminate|].
    apply evs_inv in Hs as (zk & v' & -> & Hk & Hs).
    destruct (pr F (poly_of F k)) eqn:Ep; [|discriminate].
    assert (P : (0 <= zk)%Z).
    { assert (HF0 := HF r a (ext_refl _ _ _ _)). apply (pr_ok scalar lit prim inp r a) in Ep; auto. rewrite poly_of_ok in Ep by auto.
      rewrite (Hk r a (ext_refl _ _ _ _)) in Ep. auto. }
    replace (Z.to_nat (zk + 1)) with (S (Z.to_nat zk)) by lia. cbn [iter]. rewrite Z2Nat.id by auto.
    assert (Hf : forall N1 r1 a2 el elv acc accv, N <= N1 -> ext N r a r1 a2 -> vval N1 r1 a2 el elv -> vval N1 r1 a2 acc accv ->
       vval N1 r1 a2 (sym ns idx e1 (upd (upd g x el) a1 acc)) (den e1 (upd (upd gv x elv) a1 accv))).
    { intros N1 r1 a2 el elv acc accv L1 E1 Hel Hacc. assert (ext N0 r0 a0 r1 a2) by (eapply ext_trans; eauto).
      apply IH; [lia|apply (Hmono N1 r1 a2); auto; lia|]. apply Hupd; [apply Hupd; [apply (Hgm N1 r1 a2); auto; lia|auto]|auto]. }
    eapply (Hf N r a _ (element scalar (den e3 gv) zk) _ (iter (Z.to_nat zk) (vstep (fun elv accv => den e1 (upd (upd gv x elv) a1 accv)) (den e3 gv)) (den e2 gv))
       (le_n N) (ext_refl _ _ _ _)); [| |exact (le_n N)|apply ext_refl|exact HF|exact Hs|exact Ht].
    + apply selem_ok; auto. apply IH; [lia|eauto|eauto].
    + apply sreduce_ok; [lia|auto|apply IH; [lia|eauto|eauto]|apply IH; [lia|eauto|eauto]|]. exact Hf.
  - (* EIterate *) intros cs N r a F is v t L E HF Hs Ht. destruct (closed ns n) eqn:Ec; [|discriminate].
    eapply (csfold_ok N r a sh _ _ (fun k => iter k (fun _ acc => den e1 (upd gv a1 acc)) (den e2 gv)) (Z.to_nat (z n)) n (z n));
      [lia|apply closed_z; [lia|eauto|auto]|auto|apply IH; [lia|eauto|eauto]| |exact (le_n N)|apply ext_refl|exact HF|exact Hs|exact Ht].
    intros i N1 r1 a2 acc Hi L1 E1 _ Hacc. cbn [iter]. assert (ext N0 r0 a0 r1 a2) by (eapply ext_trans; eauto).
    apply IH; [lia|apply (Hmono N1 r1 a2); auto; lia|]. apply Hupd; auto. apply (Hgm (S N1) r1 a2); auto; lia.
  - (* EGenerate *) intros cs N r a F is v t L E HF Hs Ht. destruct is as [|i is]; [discriminate|].
    apply evs_inv in Hs as (zi & v' & -> & Hi & Hs).
    eapply (IH e N r a _ _ ltac:(lia) (Hmono N r a L E)); [|exact (le_n N)|apply ext_refl|exact HF|exact Hs|exact Ht].
    apply Hupd; auto. apply cnum_ok; auto.
  - (* EView *) apply cview_ok; auto.
  - (* EPad *) intros cs N r a F is vs t L E HF Hs Ht. destruct is as [|i is]; [discriminate|].
    apply evs_inv in Hs as (zi & v' & -> & Hi & Hs). destruct (closed ns l && closed ns n) eqn:Ec; [|discriminate].
    apply andb_prop in Ec as [Ec1 Ec2].
    assert (Hl : evz N r a l (z l)) by (apply closed_z; [lia|eauto|auto]).
    assert (Hn : evz N r a n (z n)) by (apply closed_z; [lia|eauto|auto]).
    refine (eq_ind _ (evt N r a t) (scond_ok N r a F _ (VB ((z l <=? zi)%Z && (zi <? z l + z n)%Z)) _ _
      (den e2 gv cs (zi - z l :: v')%Z) (den e1 gv cs v') t ltac:(lia) (Hmono N r a L E) HF _ _ _ Ht) _ _).
    + intros r' a' E'. cbn [Semantics.eval map]. rewrite !mk_ok by auto. cbn [Semantics.eval map apply nth toZ truth].
      assert (A1 := Hi r' a' E'). assert (A2 := Hl r' a' E'). assert (A3 := Hn r' a' E'). unfold Inequalities.zv in A1, A2, A3. now rewrite A1, A2, A3.
    + intros F' t0 HF' _ H0. refine (IH e2 N0 r0 a0 g gv Hns Hag Hg cs N r a F' _ (zi - z l :: v')%Z t0 L E HF' _ H0). apply evs_cons; auto. apply Z2; auto. apply evz_op2; auto.
    + intros F' t0 HF' _ H0. eapply (IH e1 N0 r0 a0 g gv); eauto.
    + cbn [truth]. reflexivity.
  - (* EConcat *) intros cs N r a F is vs t L E HF Hs Ht. destruct is as [|i is]; [discriminate|].
    apply evs_inv in Hs as (zi & v' & -> & Hi & Hs). destruct (closed ns n) eqn:Ec; [|discriminate].
    assert (Hn : evz N r a n (z n)) by (apply closed_z; [lia|eauto|auto]).
    refine (eq_ind _ (evt N r a t) (scond_ok N r a F _ (VB (zi <? z n)%Z) _ _
      (den e1 gv cs (zi :: v')) (den e2 gv cs (zi - z n :: v')%Z) t ltac:(lia) (Hmono N r a L E) HF _ _ _ Ht) _ _).
    + intros r' a' E'. rewrite !mk_ok by auto. cbn [Semantics.eval map apply nth toZ truth].
      assert (A1 := Hi r' a' E'). assert (A3 := Hn r' a' E'). unfold Inequalities.zv in A1, A3. now rewrite A1, A3.
    + intros F' t0 HF' _ H0. eapply (IH e1 N0 r0 a0 g gv); eauto.
    + intros F' t0 HF' _ H0. refine (IH e2 N0 r0 a0 g gv Hns Hag Hg cs N r a F' _ (zi - z n :: v')%Z t0 L E HF' _ H0). apply evs_cons; auto. apply Z2; auto. apply evz_op2; auto.
    + cbn [truth]. reflexivity.
  - (* EGather *) intros cs N r a F is v t L E HF Hs Ht. destruct is as [|i is]; [discriminate|].
    apply evs_inv in Hs as (zi & v' & -> & Hi & Hs). destruct (sym ns idx e1 g [] N F [i]) as [j|] eqn:Ej; [|discriminate]. cbn [bind] in Ht.
    refine (IH e2 N0 r0 a0 g gv Hns Hag Hg cs N r a _ _ (_ :: v') t L E (learn_ok N r a F [j] ltac:(lia) (Hmono N r a L E) HF) _ Ht). apply evs_cons; auto. apply evt_evz.
    refine (IH e1 N0 r0 a0 g gv Hns Hag Hg [] N r a F _ [zi] j L E HF _ Ej). apply evs_cons; auto. apply evs_nil.
  - (* EReorder *) intros cs N r a F is v t L E HF Hs Ht. destruct is as [|i is]; [discriminate|].
    apply evs_inv in Hs as (zi & v' & -> & Hi & Hs). destruct (sym ns idx e1 _ [] N F []) as [j|] eqn:Ej; [|discriminate]. cbn [bind] in Ht.
    refine (IH e2 N0 r0 a0 g gv Hns Hag Hg cs N r a _ _ (_ :: v') t L E (learn_ok N r a F [j] ltac:(lia) (Hmono N r a L E) HF) _ Ht). apply evs_cons; auto. apply evt_evz.
    eapply (IH e1 N r a _ _ ltac:(lia) (Hmono N r a L E)); [|exact (le_n N)|apply ext_refl|exact HF|apply evs_nil|exact Ej].
    apply Hupd; auto. apply cnum_ok; auto.
  - (* EIdx *) intros cs N r a F is v t L E HF Hs Ht. destruct (sym ns idx e2 g [] N F []) as [j|] eqn:Ej; [|discriminate]. cbn [bind] in Ht.
    refine (IH e1 N0 r0 a0 g gv Hns Hag Hg cs N r a _ _ (_ :: v) t L E (learn_ok N r a F [j] ltac:(lia) (Hmono N r a L E) HF) _ Ht). apply evs_cons; auto. apply evt_evz.
    refine (IH e2 N0 r0 a0 g gv Hns Hag Hg [] N r a F _ [] j L E HF _ Ej). apply evs_nil.
  - (* EScatter *) intros cs N r a F is v t L E HF Hs Ht. destruct (closed ns n) eqn:Ec; [|discriminate].
    eapply (csfold_ok N r a sh _ _ (fun k => iter k (fun k d => put_at scalar (toZ scalar (den e1 gv [] [Z.of_nat k])) (element scalar (den e3 gv) (Z.of_nat k)) d) (den e2 gv))
      (Z.to_nat (z n)) n (z n));
      [lia|apply closed_z; [lia|eauto|auto]|auto|apply IH; [lia|eauto|eauto]| |exact (le_n N)|apply ext_refl|exact HF|exact Hs|exact Ht].
    intros i N1 r1 a2 acc Hi L1 E1 Hr1 Hacc. cbn [iter]. intros cs1 N2 r2 a3 F2 is2 v2 t2 L2 E2 HF2 Hs2 Ht2.
    destruct is2 as [|i2 is2]; [discriminate|]. apply evs_inv in Hs2 as (zi & v' & -> & Hi2 & Hs2).
    destruct (sym ns idx e1 g [] N2 F2 [Var N1]) as [j|] eqn:Ej; [|discriminate]. cbn [bind] in Ht2.
    assert (Ea : ext N0 r0 a0 r1 a2) by (eapply ext_trans; [exact E| |exact E1]; lia).
    assert (Ex : ext N0 r0 a0 r2 a3) by (eapply ext_trans; [exact Ea| |exact E2]; lia).
    assert (HN1 : evz N2 r2 a3 (Var N1) (Z.of_nat i)).
    { intros r' a' [Er _]. unfold Inequalities.zv. cbn. rewrite Er by lia. rewrite (ext_r _ _ _ _ _ _ E2) by lia. exact Hr1. }
    assert (Hj : evt N2 r2 a3 j (den e1 gv [] [Z.of_nat i])).
    { refine (IH e1 N0 r0 a0 g gv Hns Hag Hg [] N2 r2 a3 F2 [Var N1] [Z.of_nat i] j _ Ex HF2 _ Ej); [lia|]. apply evs_cons; auto. apply evs_nil. }
    refine (eq_ind _ (evt N2 r2 a3 t2) (scond_ok N2 r2 a3 F2 _ (VB (toZ scalar (den e1 gv [] [Z.of_nat i]) =? zi)%Z) _ _
      (den e3 gv cs1 (Z.of_nat i :: v')) (iter i (fun k d => put_at scalar (toZ scalar (den e1 gv [] [Z.of_nat k])) (element scalar (den e3 gv) (Z.of_nat k)) d) (den e2 gv) cs1 (zi :: v')) t2 ltac:(lia) (Hmono N2 r2 a3 ltac:(lia) Ex) HF2 _ _ _ Ht2) _ _).
    + intros r' a' E'. rewrite mk_ok by auto. cbn [Semantics.eval map apply nth]. rewrite (Hj r' a' E').
      assert (A := Hi2 r' a' E'). unfold Inequalities.zv in A. now rewrite A.
    + intros F' t0 HF' _ H0. refine (IH e3 N0 r0 a0 g gv Hns Hag Hg cs1 N2 r2 a3 F' _ (Z.of_nat i :: v') t0 _ Ex HF' _ H0); [lia|]. apply evs_cons; auto.
    + intros F' t0 HF' _ H0. refine (Hacc cs1 N2 r2 a3 F' (i2 :: is2) (zi :: v') t0 _ E2 HF' _ H0); [lia|]. apply evs_cons; auto.
    + reflexivity.
Qed.
End Sound.
