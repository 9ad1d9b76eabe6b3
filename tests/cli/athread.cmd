# Kernels on the cores of an emulated core group; every array is compared with the sequential program.
lozenge run gemm.c --target athread --size n=40
lozenge run gemm.c --target athread --size n=7 --parallel 1d --threads 16 --seed 5
lozenge run two.c --def two_1 --target athread --size n=9 --assume-no-alias
lozenge run gemm.c --target athread --size n=4 --threads 65
