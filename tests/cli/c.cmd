lozenge compile gemm.c -o - | grep -c "omp parallel for"; ls ./-
lozenge compile gemm.c -o gemm.omp.c && grep -c 'omp parallel for' gemm.omp.c
lozenge run gemm.c --size n=13 --seed 3 --check | tail -1
lozenge compile alias.c
lozenge compile looked-up.c
lozenge compile looked-up.c --schedule none
lozenge compile looked-up.c --assume-no-alias | grep -c 'omp parallel for'
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
# comments in another encoding come out byte for byte
printf '/* Schr\366dinger, \326\320\271\372 */\nvoid f(int n, double *restrict a) {\n#pragma scop\n  for (int i = 0; i < n; i++) a[i] = 1;\n#pragma endscop\n} /* \344 */\n' > latin.c
lozenge compile latin.c -o latin.omp.c; grep -a Schr latin.omp.c | od -An -tx1; lozenge compile latin.c | tail -1 | od -An -tx1
# One region that can't be taken leaves the others alone, unless --strict is given.
lozenge compile several.c -o several.out.c; grep -c 'omp parallel' several.out.c
lozenge compile several.c --strict -o strict.out.c; ls strict.out.c
lozenge explain several.c | head -3
# Without pragmas.
lozenge compile unmarked.c --auto
lozenge compile unmarked.c --auto --remarks -o - 2>&1 >/dev/null | head -3
lozenge compile plain.c --auto --remarks
# Rows behind pointers.
lozenge compile pointer-rows.c
lozenge compile pointer-rows.c --assume-no-alias | grep -c 'omp parallel for'
