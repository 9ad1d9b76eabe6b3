# what is asked of loops is done, and checked
lozenge compile asked.c
sed 's/x\[i\]\[k\]/c[k][i]/' asked.c > m.c; lozenge compile m.c
sed 's/parallel/paralel/; s/unroll(4)/unroll(0)/' asked.c > m.c; lozenge compile m.c -o none.c; test -e none.c || echo nothing is written
sed 's/tile(32, 16)/tile(8, 8, 8, 8)/' asked.c > m.c; lozenge compile m.c
# pragmas of other compilers in a region go with its text
sed 's/#pragma lozenge .*/#pragma GCC ivdep/' asked.c > m.c; lozenge compile m.c 2>&1 | grep -c C0503
# lines lead to the original
lozenge compile asked.c --lines 2>/dev/null | head -24
