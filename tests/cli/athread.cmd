lozenge compile gemm.c --target athread -o out 2>/dev/null && ls out && test -x out/build.sh && cat out/build.sh && grep -c athread_spawn out/gemm_host.c && grep -c '^void contract_doubles' out/lozenge_contract_doubles.c
kernels=$LIBRARY/../tests/c/kernels; lozenge compile $kernels/gemm.c --target athread -o whole 2>/dev/null; $LIBRARY/../runtime/athread/athread-cc -O2 -I$kernels -o on-cores whole/gemm_host.c --slave whole/gemm_slave.c whole/lozenge_contract_doubles.c && ./on-cores result >/dev/null && gcc -O1 -ffp-contract=off $kernels/gemm.c -lm -o plain && ./plain expected >/dev/null && cmp result expected && wc -c <result
lozenge compile gemm.c --target athread --chip sw26010pro -o pro 2>/dev/null && grep -o 'CRTS_dma_i[a-z_]*' pro/gemm_slave.c | sort -u && grep swgcc pro/build.sh
lozenge compile gemm.c --target athread --parallel 1d --threads 16 --emit loops 2>/dev/null | grep 'par '
lozenge compile gemm.c --target athread --parallel 2d --threads 16 --emit loops 2>/dev/null | grep 'par '
lozenge compile gemm.c --target athread --emit schedule 2>/dev/null | grep '^#'
lozenge compile gemm.c --target athread --tile 8,12,20 -o tiled 2>&1 | grep -o 'tiles.*\]'
lozenge run gemm.c --target athread --tile 8,12,20 --size n=41 | head -1
lozenge compile gemm.c --target athread --threads 65
lozenge compile gemm.c --target athread --threads 12
lozenge compile chain.c --target athread
lozenge compile history.c --target athread
lozenge compile gemm.c --target athread --emit header
lozenge compile gemm.c --target athread --emit trace -o nothing; test -e nothing || echo nothing is written
lozenge explain P0802 | head -3
lozenge compile triangle.c --target athread -o triangle 2>&1 | sed 's/, tiles.*//'
lozenge compile products.c --target athread -o products 2>/dev/null && grep -o 'contract_[0-9]_doubles_4x2(&' products/products_slave.c | sort -u
lozenge run products.c --target athread --size n=37 --size m=43 --size k=38 | head -1
sed 's/ G\[l\]\[j\];/ G[l][j] + F[i][l] * B[l][j];/' products.c > four.c; lozenge compile four.c --target athread -o four 2>/dev/null; grep -o 'contract_[0-9]_doubles_4x2(&' four/four_slave.c | sort -u; lozenge run four.c --target athread --size n=37 --size m=43 --size k=38 | head -1
lozenge fuzz --of kernels --count 3
lozenge compile uneven.loops --target athread -o uneven && grep -c 'get_box(&slave_A' uneven/uneven_slave.c
lozenge run uneven.loops --target athread | head -1
lozenge run names.c --target athread | head -1
lozenge run comb.c --target athread --size n=8 --size m=40 | head -1
lozenge compile partly.c --target athread -o partly 2>&1 | sed 's/, tiles.*//'
lozenge run partly.c --target athread --reassociate --size n=100000 | head -2
lozenge compile partly.c --target athread -o partly --reassociate 2>&1 | sed 's/, tiles.*//'
lozenge compile plain.loz --target athread --strategy none | head -1
lozenge run plain.loz --target athread --schedule auto --size n=1000 | head -1
lozenge bench $LIBRARY/../tests/c/kernels --target athread --filter trmm --at medium --threads 16 --parallel 2d --seeds 2 | grep -o '^trmm.* 16 2d\|^1 settings.*'
lozenge bench $LIBRARY/../tests/c/kernels --target athread --filter nothing --json
lozenge bench $LIBRARY/../tests/c/kernels --target athread --filter trmm --at medium --threads 65 --parallel 2d | tail -1
lozenge compile comb.c --target athread --size n=9223372036854775807 --size m=9223372036854775807 -o comb 2>&1 | grep -c tiles
lozenge compile comb.c --target athread -o comb 2>/dev/null; grep -o 'athread_set_num_threads.*' comb/comb_host.c
lozenge run in-place.c --target athread --size n=131 | head -2
lozenge run in-place.c --target athread --size n=1 --threads 7 --parallel 1d | head -2
# a region with a variable inside its loops stays on the host
lozenge compile argmax.c --target athread -o argmax 2>&1 | sed 's/, tiles.*//'; grep -c 'malloc\|free' argmax/argmax_host.c
lozenge run argmax.c --target athread | head -1
# Tiles are those of the chip, whatever machine compiles.
for registers in 16x32 32x64; do LOZENGE_REGISTERS=$registers lozenge compile "$LIBRARY/products.loz" --def dproduct_fast --target athread -o product-$registers >/dev/null 2>&1; done; cmp product-16x32/products_slave.c product-32x64/products_slave.c && echo the same
# Three loops over tiles have one variable; boxes of the third come while a core is at the tile before.
lozenge run $LIBRARY/../tests/c/kernels/tridiagonal.c --target athread --size n=131 --size m=1053 | head -2
# arrays that go on behind the loops, and subscripts that run downward: boxes end with the loops
lozenge compile roomy.c --target athread --emit loops --size n=300 --size m=8 2>/dev/null | grep 'put \|get z'
for cores in 16 64; do for sizes in "300 8" "37 43" "1 1" "0 3"; do set -- $sizes; lozenge run roomy.c --target athread --threads $cores --size n=$1 --size m=$2 | head -3; done; done
# extents that are quotients, and names for values: no array of their own in main memory
for sizes in "33 20" "20 1" "0 5"; do set -- $sizes; lozenge run halves.c --target athread --size C=4 --size K=6 --size H=$1 --size W=$2 | head -2; done
for n in 100 7 1; do lozenge run upwind.c --target athread --size n=$n | head -2; done
# functions of single precision are computed in it
lozenge run floats.c --target athread --size n=103 | head -2
# sums of the same name in several loops; a product of products needs its columns each time
for n in 13 1 0; do lozenge run powers.loz --target athread --size n=$n | head -1; done
# rows as a whole, as long as their places
for m in 16 64 512; do lozenge run row.c --target athread --size n=7 --size m=$m | head -1; done
# members of an array of structures are apart: the host has them
lozenge compile points.c --target athread --def points_0 -o points
lozenge compile points.c --target athread -o points 2>&1 | sed 's/, tiles.*//'; grep -c 'p\[i\].x' points/points_host.c; lozenge run points.c --def points_0 --size n=1000 --check | tail -1
