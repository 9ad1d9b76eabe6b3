lozenge run dot.loops --size n=5 --check
lozenge run dot.loops --size n=1 --seed 2
lozenge run dot.loops
lozenge run dot.loops --size n=5 --size n=6
lozenge run dot.loops --size k=5
lozenge run dot.loops --size n=-1
lozenge run dot.loops --size n=0 --check
lozenge run dot.loops --size n=100000000000000 | head -1
lozenge run two.loops --size n=3
lozenge run two.loops --def scale --size n=20 --size m=10 --out a.npy --check
lozenge run two.loops --def scale --arg a=a.npy --threads 2 --reps 3
lozenge run two.loops --def swap --size n=4 --out p.npy
lozenge run two.loops --def swap --arg xs=p.npy --check
# arrays that do not fit
lozenge run two.loops --def scale --arg a=p.npy
lozenge run dot.loops --arg xs=a.npy
lozenge run dot.loops --size n=3 --out x.npy && lozenge run two.loops --def scale --arg k=x.npy
lozenge run two.loops --def scale --arg a=a.npy --size n=21
lozenge run two.loops --def scale --arg b=a.npy
lozenge run two.loops --def scale --arg a=missing.npy
lozenge run two.loops --def scale --arg a=dot.loops
head -c 200 a.npy > short.npy; lozenge run two.loops --def scale --arg a=short.npy
# values on the command line
lozenge run two.loops --def scale --arg k=0.5 --arg 'a=[[1, 2], [3, 4]]' --check
lozenge run two.loops --def scale --arg k=1e999 --arg 'a=[[1, 2], [3, 4]]'
lozenge run two.loops --def scale --arg k=true --size n=2 --size m=2
lozenge run two.loops --def scale --arg 'a=[[1, 2], [3]]'
CC=no-such-compiler lozenge run dot.loops --size n=5
CC=false lozenge run dot.loops --size n=5
lozenge run dot.loops --size n=5 --out no/such/folder/x.npy
ls /tmp | grep -c "lozenge-$$-"
lozenge run products.c
# choices of what is read, in short loops: compilers that unroll these make wrong vectors of them
for n in 0 1 12 103; do lozenge run leaky.loz --size n=$n --check | tail -1; for d in choices_0 choices_1; do lozenge run choices.c --def $d --size n=$n --check | tail -1; done; done
