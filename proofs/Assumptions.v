(* What the main theorems rest on: continuous integration reads the answer, which is nothing. *)
From Lozenge Require Import Check Inside Interleaved Certify TranslationCorrect TranslationBounds TranslationRaces ThreadsEnd InPlace TranslationFacts Rewrites Places Fusion.
Print Assumptions check_sound.
Print Assumptions inbounds_sound.
Print Assumptions apart_race_free.
Print Assumptions apart_interleaves.
Print Assumptions sums_up_sound.
Print Assumptions accept_sound.
Print Assumptions tr_correct.
Print Assumptions tr_safe.
Print Assumptions compile_safe.
Print Assumptions compile_race_free.
Print Assumptions compile_interleaves.
Print Assumptions runs_end.
Print Assumptions compile_correct.
Print Assumptions inplace_ok.
Print Assumptions look_sound.
Print Assumptions redirect_safe.
Print Assumptions redirect_dis.
Print Assumptions naive_red_wrong.
Print Assumptions reduceSplitRest.
Print Assumptions liftReduce.
Print Assumptions reduceLanes.
Print Assumptions useReducePar.
Print Assumptions into_sound.
Print Assumptions strategy_correct.
Print Assumptions fused_correct.
