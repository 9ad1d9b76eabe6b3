# A construct outside the theory is refused with its name, before Coq is looked for.
lozenge prove largest.loz

# Without Coq on the machine: how to install it. The certificate can be had all the same.
L=$(command -v lozenge); env -u COQC PATH=/nowhere $L prove "$LIBRARY/paper.loz" --def dl_mul_dl
COQC=nowhere lozenge prove "$LIBRARY/paper.loz" --def dl_mul_dl
L=$(command -v lozenge); env -u COQC PATH=/nowhere $L prove "$LIBRARY/blas.loz" --def dot_par --emit certificate
