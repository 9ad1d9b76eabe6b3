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
{ echo '#define LOZENGE_MIN(a, b) 0'; cat gemm.c; } > named.c; lozenge compile named.c --tile 8 --caches 16K,64K | grep -o 'LOZENGE_MIN_*(' | sort -u
lozenge compile gemm.c --size n=4
# sizes of arrays are numbers, which the compiler checks
lozenge compile sizes.c -o s.c && gcc -O1 -fopenmp s.c -o s && ./s; gcc -fopenmp -DN=30 s.c 2>&1 | grep -o 'static assertion failed.*'
