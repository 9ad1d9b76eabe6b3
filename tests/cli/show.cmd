lozenge show prefix.loops --svg --size n=4
lozenge show gemm.c --svg --size n=4 --tile 2 -o gemm.svg && grep -c '<circle' gemm.svg
lozenge show gemm.c --svg --size n=100
lozenge show gemm.c --svg --size m=3
lozenge show two.c --svg
lozenge show gemm.c
