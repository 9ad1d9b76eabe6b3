# The certificate alone does not need Coq.
lozenge prove dot.loz --def dot --emit certificate
lozenge prove dot.loz --def dot --emit certificate -o dot.v && head -n 8 dot.v && ls
# Without Coq on the machine.
COQC=/nowhere/coqc lozenge prove dot.loz --def dot
PATH=$(dirname "$(command -v lozenge)") lozenge prove dot.loz --def dot
COQC=/nowhere/coqc lozenge prove dot.loz --def dot --json
# What has no certificate is refused before Coq is looked for.
COQC=/nowhere/coqc lozenge prove $LIBRARY/blas.loz --def dot_par
lozenge prove $LIBRARY/blas.loz --emit certificate
lozenge prove plain.c
lozenge prove $LIBRARY/blas.loz --def nothing
