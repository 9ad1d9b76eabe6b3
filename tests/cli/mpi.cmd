lozenge compile gemm.c --target mpi --emit loops --grid 2x2
lozenge compile gemm.c --target mpi --emit loops --grid 4 --distribute 'C(block, *)' --distribute 'A(block, *)' 2>&1 | head -12
lozenge compile gemm.c --target mpi -o out 2>/dev/null && ls out && cat out/Makefile && grep -c lz_begin out/gemm.c
lozenge compile gemm.c --target mpi --grid 2x2 --ranks 6
lozenge compile gemm.c --target mpi --grid 2y2
lozenge compile gemm.c --target mpi --distribute 'C(block)'
lozenge compile gemm.c --target mpi --distribute 'C(half, *)'
lozenge compile gemm.c --target mpi --distribute 'D(block, *)'
lozenge compile gemm.c --ranks 4
lozenge compile gemm.c --target mpi --emit schedule
lozenge compile gemm.c --target mpi --schedule some.txt
sed 's/^#pragma scop/#pragma lozenge distribute C(*, block), A(*, block), B(*, block)\n#pragma scop/' gemm.c > dealt.c; lozenge compile dealt.c --target mpi --emit loops --grid 4 2>&1 | grep -E 'place|distributed'
lozenge run gemm.c --target mpi --ranks 3 --size n=11 --check 2>&1 | tail -2
MPICC=none lozenge run gemm.c --target mpi --ranks 3 --size n=11
