lozenge compile missing.loz
lozenge compile .
lozenge compile dot.txt
cp dot.loops dot.txt; lozenge compile dot.txt
printf 'fn f() {\n\377}' > bytes.loops; lozenge compile bytes.loops
lozenge compile syntax.loops
lozenge --json compile syntax.loops
lozenge compile dot.loops -o no/such/folder/dot.c
lozenge compile dot.loops -o .
# nothing is left behind where the result can't be put
ls -A | grep -c partial
lozenge compile dot.loops -o dot.c && grep -c 'int dot' dot.c
lozenge compile syntax.loops -o dot.c
# a refused program leaves the old result alone
grep -c 'int dot' dot.c
lozenge compile dot.loops > /dev/full
lozenge compile dot.loops --emit derivation
lozenge compile two.loops --def third
head -c 10000000 /dev/zero | tr '\0' '(' > brackets.loops; lozenge compile brackets.loops | head -c 2000
lozenge compile race.loops -o race.c; test -e race.c || echo nothing is written
lozenge run outside.loops --size n=5
printf 'def f (x: f32): f32 =\n  let a = ((x, x), (x, x)) in let b = ((a, a), (a, a)) in let c = ((b, b), (b, b)) in\n  let d = ((c, c), (c, c)) in let e = ((d, d), (d, d)) in let g = ((e, e), (e, e)) in x\n' > pairs.loz; lozenge compile pairs.loz
