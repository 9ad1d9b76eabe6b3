lozenge compile dot.loz
lozenge compile dot.loz --mode paper --emit loops
lozenge run dot.loz --size n=100 --check
lozenge test dot.loz
lozenge compile dot.loz --def dott
printf 'def f (x: f32): f32 =\n  x + y\n' > unbound.loz; lozenge compile unbound.loz
printf 'def f [n] [m] (x: [n]f32) (y: [m]f32): [n]f32 =\n  mapSeq (\\p -> fst p + snd p) (zip x y)\n' > sizes.loz; lozenge compile sizes.loz
printf 'def f [n] (x: [n]f32): [n]f32 =\n  map (\\p -> p + 1) x\n' > strategy.loz; lozenge compile strategy.loz
lozenge compile strategy.loz --strategy none
printf 'def f (x: f32): f32 =\n  \377' > bytes.loz; lozenge compile bytes.loz
head -c 10000000 /dev/zero | tr '\0' '(' > brackets.loz; lozenge compile brackets.loz 2>&1 | head -c 1000
(printf 'def f (x: f32): f32 = '; head -c 100000 /dev/zero | tr '\0' '('; printf x; head -c 100000 /dev/zero | tr '\0' ')') > deep.loz; lozenge compile deep.loz 2>&1 | head -c 1000
(printf 'def f (x: f32): f32 = x'; for k in $(seq 1 3000); do printf ' + x'; done) > long.loz; lozenge compile long.loz 2>&1 | head -c 300
lozenge compile dot.loz --def dot -o dot.c && lozenge compile dot.loz --def dot --emit main -o main.c && gcc -O2 -fopenmp dot.c main.c -o quick -lm && ./quick 1000 | grep -c checksum
lozenge compile dot.loz --def dot --emit main --mode paper
# layout, derivations, strategies
printf 'def   f  (x: f32): f32 = x+1\n' > layout.loz; lozenge fmt --check layout.loz
lozenge fmt layout.loz && cat layout.loz
lozenge fmt --check layout.loz
lozenge explain dot.loz --mode paper | head -6
lozenge compile dot.loz --def dot --strategy 'sumLanes(8)'
lozenge compile strategy.loz --strategy auto --emit trace
lozenge compile strategy.loz --schedule auto | grep -c 'omp parallel for'
lozenge fuzz --seed 5 --seconds 0
# nothing to compile is no success
: > nothing.loz; lozenge compile nothing.loz; lozenge explain nothing.loz
# Nests with look-ups are scheduled; one that the model cannot hold (it writes where data says) stays as it is, and others are scheduled.
lozenge compile gathers.loz --def gathered --schedule auto | grep -A 3 'omp parallel for$'
lozenge compile gathers.loz --def both --schedule auto --emit loops | grep -B 1 -A 1 'xs.is\|mark'
lozenge run gathers.loz --def both --schedule auto --size n=23 --size m=7 --size k=33 --check | tail -1
lozenge compile gathers.loz --def placed --schedule auto --emit loops | grep -B 1 -A 1 '\[is\[\|mark'
# a trace is replayed on its definition, and on no other
lozenge compile strategy.loz --strategy auto --emit trace > strategy.trace; lozenge compile strategy.loz --replay strategy.trace --emit functional
lozenge compile dot.loz --def dot --replay strategy.trace
lozenge compile strategy.loz --replay dot.loz
# what occurs twice is computed once, what is not used is not computed
printf 'def norm [n] (xs: [n]f32): [n]f32 =\n  let unused = reduceSeq max 0 xs in\n  mapSeq (\\x -> x / reduceSeq (+) 1 xs + reduceSeq (+) 1 xs) xs\n' > twice.loz; lozenge compile twice.loz --emit functional; lozenge compile twice.loz --emit trace; lozenge run twice.loz --size n=9 --check | tail -1; lozenge compile twice.loz --strategy none --emit functional
# a sum of many terms
(printf 'def f (x: f32): f32 = x'; for k in $(seq 1 3000); do printf ' + x * %s' $k; done) > long-sum.loz; lozenge run long-sum.loz --arg x=0.5 --check | tail -1
