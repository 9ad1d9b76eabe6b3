lozenge compile chain.c --target athread
lozenge compile dot.loops --target athread
lozenge compile wall.loops --target athread -o wall | head -1
printf 'void f(int n, const int *restrict p, long h[restrict 20000]) {\n#pragma scop\n  for (int i = 0; i < n; i++)\n    h[p[i]] += 1;\n#pragma endscop\n}\n' > many.c; lozenge compile many.c --target athread
printf 'void f(int n, const int *restrict p, double h[restrict 50]) {\n#pragma scop\n  for (int i = 0; i < n; i++)\n    h[p[i]] += 1;\n#pragma endscop\n}\n' > sums.c; lozenge compile sums.c --target athread
lozenge compile history.c --target athread
lozenge compile wave.c --target athread
lozenge compile gathers.loz --def gathered --strategy choose --target athread
lozenge compile largest.c --target athread
lozenge compile largest.c --target athread --reassociate -o largest 2>&1 | grep partial
# what is missing is said before anything is mapped
lozenge run chain.c --target athread
lozenge compile gemm.c --target athread --threads 65
lozenge compile gemm.c --target athread --threads 12
lozenge compile apart.loops --target athread
lozenge run far.c --target athread
lozenge compile far.c --target athread -o far 2>/dev/null; grep -A3 '2147483647' far/far_host.c
lozenge compile mapped.loops --target athread -o hand && grep -c 'get_box(&slave_x' hand/mapped_slave.c
lozenge run mapped.loops --target athread --size n=1000
lozenge compile mapped.loops --target athread --threads 32
sed 's/128/65536/g' mapped.loops > m.loops; lozenge compile m.loops --target athread -o none; test -e none || echo nothing is written
sed '/get x/d; /wait reply_x/d' mapped.loops > m.loops; lozenge compile m.loops --target athread
sed '/put slave_y/d; /wait reply_y/d' mapped.loops > m.loops; lozenge compile m.loops --target athread
sed '/wait reply_x/d' mapped.loops > m.loops; lozenge compile m.loops --target athread
sed 's/ in tid\.\.\(.*\) step 64/ in 0..\1/' mapped.loops > m.loops; lozenge compile m.loops --target athread
sed 's/2.0 \* slave_x\[i - 128 \* it\]/2.0 * x[i]/' mapped.loops > m.loops; lozenge compile m.loops --target athread
sed 's/f64/bool/; s/f64/bool/; s/f64/bool/; s/f64/bool/; s/2.0 \* //' mapped.loops > m.loops; lozenge run m.loops --target athread --size n=3
lozenge compile gemm.c --target athread --size m=4
lozenge compile gemm.c --target athread --tile 512
lozenge compile mapped.loops --target athread --tile 8
lozenge compile gemm.c --target athread --caches 32K,1M
lozenge run gemm.c --target athread --schedule none.txt
lozenge run silent.c --target athread
lozenge compile gemm.c --chip sw26010pro -o nothing.c; test -e nothing.c || echo nothing is written
lozenge run gemm.c --parallel 1d --size ni=4
lozenge run names.c --target athread --out x.npy
lozenge compile gemm.c --target athread -o gemm.c 2>&1 | grep -v loops
# a function of the program, which cores do not have; elements that transfers cannot move
printf 'double half(double x) __attribute__((const));\nvoid f(int n, double *restrict a) {\n#pragma scop\n  for (int i = 0; i < n; i++)\n    a[i] = half(a[i]);\n#pragma endscop\n}\n' > half.c; lozenge compile half.c --target athread
printf '_Bool r[90][90];\nint degree[90];\nvoid f(void) {\n#pragma scop\n  for (int i = 0; i < 90; i++) {\n    degree[i] = 0;\n    for (int j = 0; j < 90; j++)\n      degree[i] += r[i][j];\n  }\n#pragma endscop\n}\n' > degree.c; lozenge compile degree.c --target athread
# The cores have bits, and shifts by constants: what a count beyond the width makes is not theirs to say.
lozenge run masks.c --target athread --size n=37 --size m=41 | head -1
sed "s/| 3/<< 3/" masks.c > shifts.c; lozenge run shifts.c --target athread --size n=37 --size m=41 | head -1
sed "s/| 3/<< (a[i][j] \& 3)/" masks.c > shifts.c; lozenge run shifts.c --target athread --size n=37 --size m=41
# what is in the way of parallel loops may be no more than the place of a local variable
printf 'void f(int n, double a[restrict n][n]) {\n#pragma scop\n  for (int i = 0; i < n; i++)\n    for (int j = 0; j < i; j++) {\n      double t = a[i][j];\n      a[i][j] = a[j][i];\n      a[j][i] = t;\n    }\n#pragma endscop\n}\n' > swap.c; lozenge compile swap.c --target athread
# numbers that are no numbers of cores, tiles or threads; a size that is given twice
lozenge compile gemm.c --target athread --threads -8
lozenge compile gemm.c --target athread --tile -3
lozenge compile gemm.c --target athread --size ni=3 --size ni=5
lozenge bench gemm.c --threads 0
