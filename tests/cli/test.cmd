lozenge test dot.loops two.loops
lozenge test dot.loops two.loops --sanitize
lozenge test wrong.loops
lozenge test malformed.loops
lozenge test missing.loz
lozenge test wrong.loops --filter '=> 2' --json
lozenge test chain.c gemm.c
lozenge test silent.c
lozenge test dot.loops --filter nothing
lozenge test dot.loops --filter nothing --json | grep ok
lozenge bench dot.loops --filter nothing > bench.txt
# a program that says nothing of its time
lozenge bench argmax.c --quick 2>&1 > bench.txt | grep gcc: ; grep -c 'not compared' bench.txt
