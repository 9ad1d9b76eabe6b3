# What a command does, on the standard error; the standard output is the same with and without.
LOZENGE_PROGRESS=steps lozenge compile dot.loz -o dot.c
LOZENGE_PROGRESS=steps lozenge compile gemm.c -o gemm-fast.c
LOZENGE_PROGRESS=steps lozenge compile dot.loz 2>/dev/null | cmp - dot.c && echo the same
LOZENGE_PROGRESS=steps lozenge compile dot.loz --quiet -o dot.c
LOZENGE_PROGRESS=steps lozenge run dot.loz --size n=3 --check 2>&1 >/dev/null
LOZENGE_PROGRESS=steps lozenge test dot.loops 2>&1 >/dev/null | sort | uniq
LOZENGE_PROGRESS=steps lozenge compile half.graph -o half.c
LOZENGE_PROGRESS=steps lozenge deps two.c 2>&1 >/dev/null
