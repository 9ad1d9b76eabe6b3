lozenge compile gemm.c -o gemm.omp.c && grep -c 'omp parallel for' gemm.omp.c
lozenge run gemm.c --size n=13 --seed 3 --check | tail -1
lozenge compile alias.c
lozenge compile alias.c --assume-no-alias | grep -c 'omp parallel for'
lozenge compile plain.c
lozenge compile gemm.c --def other
lozenge compile gemm.c --schedule fast
lozenge compile gemm.c --emit derivation
lozenge compile gemm.c --schedule none --emit loops
printf '#include "nowhere.h"\n' > include.c; lozenge compile include.c
