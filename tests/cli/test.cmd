lozenge test dot.loops two.loops
lozenge test dot.loops two.loops --sanitize
lozenge test wrong.loops
lozenge test malformed.loops
lozenge test missing.loz
lozenge test wrong.loops --filter '=> 2' --json
lozenge test chain.c gemm.c
lozenge test silent.c
# quotients are rounded down in every mode
lozenge test quotients.loz
# one file that can't be read says nothing of the others
mkdir some; printf '\377' > some/a.loz; cp badly-typed.loz some/b.loz; cp quotients.loz some/c.loz; lozenge test some
printf -- '-- test f x=1,2\n-- test f x=1 seed=1,2\n-- test f x=1 mode=fast\ndef f (x: f32): f32 = x\n' > settings.loz; lozenge test settings.loz
lozenge test dot.loops --filter nothing
lozenge test dot.loops --filter nothing --json | grep ok
lozenge bench dot.loops --filter nothing > bench.txt
# a program that says nothing of its time
lozenge bench argmax.c --quick 2>&1 > bench.txt | grep gcc: ; grep -c 'not compared' bench.txt
# conversions have one meaning everywhere, and no undefined one in C
lozenge test conversions.loz --sanitize
# Integers of 64 bits wrap around as those of 32 do, and the sanitizers find nothing.
lozenge test wraps.loz --sanitize
# What C leaves open is told.
lozenge test beyond.c 2>/dev/null | head -4
# A flat array that is not touched at a size of 0 has no elements there.
lozenge test flat.c
# Random places are inside of what they are places in, and rows begin in order.
lozenge test sparse.c
# Two compilers, each case once.
lozenge test dot.loops gemm.c --also-cc clang-16
lozenge test dot.loops --also-cc no-such-compiler
# what is for C files alone
lozenge test quotients.loz --auto
