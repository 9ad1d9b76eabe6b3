(* sum: error[D0201]: `reducePar` has no certificate; ["its order is left open, so its result is not one value"] *)

(* spread: error[D0201]: `scatter` has no certificate; ["two elements may go to one place, so what is left there depends on the order"] *)

(* apart: error[D0201]: `out`, a pair of arrays of different shapes, has no certificate; [] *)

