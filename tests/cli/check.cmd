lozenge check dot.loz dot.loops gemm.c half.graph twice.gsl
lozenge check badly-typed.loz looked-up.c
lozenge check malformed.loops gemm.c
lozenge check circle.graph
lozenge check missing.loz
mkdir empty; lozenge check empty
