# a file name is no response file and no option of the C compiler
cp flat.c @w.c; printf -- '-wrapper\nsh,-c,touch>RAN\nflat.c\n' > w.c; lozenge compile @w.c | grep -c parallel; test -e RAN && echo a command was run
printf -- '-DN=wrong' > w.c; printf '#include "own.h"\n%s\n#include "none.h"\n' "$(cat flat.c)" > @w.c; echo 'int own;' > own.h; lozenge compile @w.c
cp flat.c ./-k.c; lozenge compile -- -k.c | grep -c parallel; mkdir =h; cp flat.c =h/k.c; lozenge test =h/k.c | tail -1
# nor text of the build script, nor of the comments and directives of what is generated
cp flat.c './k$(touch RAN)`touch RAN`".c'; lozenge compile './k$(touch RAN)`touch RAN`".c' --target athread -o out --json | grep _; printf '#!/bin/sh\n' > sw5cc; chmod +x sw5cc; PATH=.:$PATH sh out/build.sh; test -e RAN && echo a command was run
mkdir "it's \$(touch RAN)"; cp flat.c "it's \$(touch RAN)/k.c"; printf '\n' > "it's \$(touch RAN)/own.h"; sed -i '1i #include "own.h"' "it's \$(touch RAN)/k.c"; lozenge compile "it's \$(touch RAN)/k.c" --target athread -o out2; grep -o "it'.*RAN.*" out2/build.sh; PATH=.:$PATH sh out2/build.sh; test -e RAN && echo a command was run
# a name that is not UTF-8; one of 250 bytes, as the system allows
cp flat.c "$(printf '\377.c')"; lozenge compile "$(printf '\377.c')" -o "$(printf '\376.c')" && ls | grep -c -a "$(printf '\376')"
n=$(printf 'a%.0s' $(seq 250)); lozenge compile flat.c -o $n.c && ls | grep -c aaaaaaaaaaaaaaaa
# a link as the output is followed, whether or not it leads to a file
ln -s new.c link.c; lozenge compile flat.c -o link.c; lozenge compile flat.c -o link.c; test -L link.c -a -f new.c && echo followed
ln -s circle-a circle-b; ln -s circle-b circle-a; lozenge compile flat.c -o circle-a
# a source is not replaced, whatever its name: the file, a link, a hard link, what is imported, a schedule, rules, a trace
cp flat.c same.c; ln -s same.c soft.c; ln same.c hard.c; cp same.c before.c
lozenge compile same.c -o same.c
lozenge compile same.c -o ./soft.c
lozenge compile hard.c -o same.c; cmp same.c before.c && echo the same
lozenge compile dot.loops -o dot.loops
lozenge compile dot.loz --emit header -o dot.loz
printf 'import "dot.loz"\ndef twice (x: f32): f32 = x + x\n' > importer.loz; lozenge compile importer.loz --def twice -o dot.loz
lozenge schedule same.c > times; lozenge compile same.c --schedule times -o times
lozenge show same.c --svg -o same.c
lozenge compile half.graph -o half.graph
cp "$LIBRARY"/gsl/$(ls "$LIBRARY"/gsl | head -1) r.gsl; lozenge generate chain --nodes 3 -o m.onnx && lozenge optimize m.onnx --rules r.gsl -o r.gsl
# models may be replaced by the optimized ones
lozenge optimize m.onnx -o m.onnx
# a program that imports a device ends
printf 'import "/dev/zero"\ndef twice (x: f32): f32 = x + x\n' > device.loz; lozenge compile device.loz
# headers of different functions have different guards
printf 'def plus_a [n] (xs: [n]f32): [n]f32 = mapSeq (\\x -> x + 1) xs\n' > a.loz; printf 'def plus_b [n] (xs: [n]f32): [n]f32 = mapSeq (\\x -> x + 2) xs\n' > b.loz
for x in a b; do lozenge compile $x.loz --emit header -o $x.h; done; printf '#include "a.h"\n#include "b.h"\nint main(void) { float x[2] = {1, 2}, y[2]; return plus_a(2, x, y) || plus_b(2, x, y); }\n' > both.c; gcc -Wall -Werror -c both.c && echo both are there
