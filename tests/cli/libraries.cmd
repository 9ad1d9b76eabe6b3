# A library, with its header and its manifest.
lozenge compile gathers.loz --def gathered --schedule auto --shared -o libgathers.so && ls libgathers.*
cat libgathers.h
sed '/"compiler": {/,/}/d; /"generator"/d' libgathers.json
grep -c -- '"-march=native"' libgathers.json
# It is used like any other library.
printf '#include <stdio.h>\n#include "libgathers.h"\nint main(void) {\n  double xs[] = {1, 2, 3}, out[2];\n  int64_t is[] = {2, 0};\n  int status = gathered(2, 3, xs, is, out);\n  printf("%%d %%g %%g\\n", status, out[0], out[1]);\n  return 0;\n}\n' > main.c
gcc -Wall -Wextra -Werror -pedantic main.c -L. -lgathers -o main && LD_LIBRARY_PATH=. ./main
# The whole of a C file, with a file for pkg-config.
lozenge compile gemm.c --static --pkg-config -o libgemm.a --cflag=-ffp-contract=off && ls libgemm.*
cat libgemm.h
sed 's/made by .*/made by .../; s/^Version: .*/Version: .../' libgemm.pc
sed -n '/"functions"/,/"sizes"/p' libgemm.json
grep -c -- '"-ffp-contract=off"' libgemm.json
printf '#include <stdio.h>\n#include "libgemm.h"\nint main(void) {\n  double c[2][2] = {{0}}, a[2][2] = {{1, 2}, {3, 4}}, b[2][2] = {{1, 1}, {0, 1}};\n  gemm(2, 1.0, c, a, b);\n  printf("%%g %%g %%g %%g\\n", c[0][0], c[0][1], c[1][0], c[1][1]);\n  return 0;\n}\n' > main.c
gcc -Wall -Wextra -Werror main.c libgemm.a -fopenmp -lm -o main && ./main
# A model is one function; its operators are not seen from outside.
lozenge compile half.graph --shared -o libhalf.so && ls libhalf.*
sed 's/Made by .* from/Made by ... from/' libhalf.h
sed -n '/"parameter_block"/,/}/p' libhalf.json
nm -D --defined-only libhalf.so | sed 's/.* //'
# What is tested before a region, and what is only assumed.
lozenge compile alias.c --static --assume-no-alias -o libalias.a 2>/dev/null; sed -n '/"conditions"/,/\]/p; /"tested"/,/\]/p' libalias.json
# What is no library.
lozenge compile dot.loz --shared -o dot
lozenge compile dot.loz --shared
lozenge compile dot.loz --shared --static -o libdot.so
lozenge compile dot.loz --shared --emit c -o libdot.so
lozenge compile dot.loz --pkg-config -o dot.c
lozenge compile dot.loz --mode paper --static -o libdot.a
lozenge compile dot.loz --target athread --static -o libdot.a
lozenge compile dot.loz --size n=3 --static -o libdot.a
printf 'int main(void) { int a[4];\n#pragma scop\nfor (int i = 0; i < 4; i++) a[i] = i;\n#pragma endscop\nreturn a[3]; }\n' > whole.c; lozenge compile whole.c --static -o libwhole.a
printf 'static void f(int n, int a[n]) {\n#pragma scop\nfor (int i = 0; i < n; i++) a[i] = i;\n#pragma endscop\n}\n' > own.c; lozenge compile own.c --static -o libown.a
printf 'struct s { int n; };\nvoid g(struct s *p) { p->n = 1; }\nvoid f(int n, int a[n]) {\n#pragma scop\nfor (int i = 0; i < n; i++) a[i] = i;\n#pragma endscop\n}\n' > some.c; lozenge compile some.c --static -o libsome.a; grep -c 'g(' libsome.h; grep 'f(' libsome.h
AR=no-archiver lozenge compile dot.loz --static -o libdot.a; ls libdot.* 2>/dev/null
lozenge compile dot.loz --shared -o libdot.so --cflag=-fno-such-flag 2>&1 | head -1 | sed 's|`.*/|`|'; ls libdot.* 2>/dev/null
mkdir libdot.h; lozenge compile dot.loz --shared -o libdot.so; ls libdot.so 2>/dev/null
# A header that somebody wrote is kept; one that was made is replaced.
echo 'int mine;' > dot.h; lozenge compile dot.loz --static -o dot.a; cat dot.h; ls dot.a 2>/dev/null
rm dot.h; lozenge compile dot.loz --static -o dot.a && lozenge compile dot.loz --static --pkg-config -o dot.a && lozenge compile dot.loz --static --pkg-config -o dot.a && ls dot.*
