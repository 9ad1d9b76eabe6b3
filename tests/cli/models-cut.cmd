# a branch that does not fit the sizes stands in the way only where it is taken
lozenge compile rates.graph --size n=2 | grep -A 3 'does not fit'
lozenge run rates.graph --size n=2
lozenge run rates.graph --size n=1 --check | grep check
# the same where only a branch in it tells that; the name `?` is no name, so two extents differ
lozenge compile nested.graph --size x.0=2 --size x.1=3 | grep 'does not fit these'
lozenge run nested.graph --size x.0=1 --size x.1=3 --check 2>&1 | grep -e check -e warning
lozenge compile nested.graph --strict --size x.0=1 --size '?=3' | grep -c '^int nested'
# an input becomes a constant, and the branch is decided
lozenge optimize rates.graph --const rate=16000 --size n=2 --check 2 -o fixed.graph | grep -e nodes: -e check:; grep -e input -e ' = ' fixed.graph
lozenge optimize rates.graph --const rate=0.5
lozenge optimize rates.graph --const rat=1
lozenge optimize rates.graph --const x=1
lozenge optimize rates.graph --const rate
# other outputs, and only what they need
lozenge optimize rates.graph --outputs z,slow --size n=1 -o cut.graph | grep nodes:; grep output cut.graph; lozenge optimize rates.graph --outputs slow --check 1 | grep -e nodes: -e check:
lozenge optimize rates.graph --outputs nothing
# how far a rule comes at a node
lozenge optimize nearly.graph --why trans_trans@second --why trans_trans@c --why relu_relu@d --why relu_relu@r --why relu_relu@a
lozenge --json optimize nearly.graph --why relu_relu@r
lozenge optimize nearly.graph --why relu_relu@nowhere; lozenge optimize nearly.graph --why no_rule@r; lozenge optimize nearly.graph --why r
# what only models have
lozenge compile dot.loz --prefix other; lozenge run dot.loz --strict
lozenge run dot.loz --size n=2 --check ort; lozenge run dot.loz --size n=2 --profile
# the time of each call, with its node
lozenge run scaled.graph --profile --reps 3 --threads 1 | sed -n 's/^4 .* % *the/4 ... % the/p' | sort
lozenge --json run scaled.graph --profile --reps 3 --threads 1 | sed -n '/"profile"/,/\]/p' | grep -e node -e function | sort
# onnxruntime, which Python runs: here, programs that say that it is missing, that it refuses, and that give arrays
printf '#!/bin/sh\necho "missing: no module named onnxruntime"; exit 7\n' > missing; printf '#!/bin/sh\necho "refused: no such operator"; exit 8\n' > refusing; chmod +x missing refusing
LOZENGE_PYTHON=./missing lozenge run scaled.graph --check ort
LOZENGE_PYTHON=./refusing lozenge run scaled.graph --check=ort
LOZENGE_PYTHON=./nobody lozenge run scaled.graph --check=ort
lozenge run scaled.graph --out same.npy > told; sed 's/0.5/0.501/' scaled.graph > other.graph; lozenge run other.graph --out other.npy > told
printf '#!/bin/sh\ncp "$WANTED" "$4/out0.npy"; ls "$4"; echo "onnxruntime 1"\n' > giving; chmod +x giving
LOZENGE_PYTHON=./giving WANTED=same.npy lozenge run scaled.graph --check ort | sed '/^time/d'
LOZENGE_PYTHON=./giving WANTED=other.npy lozenge run scaled.graph --check ort | sed '/^time/d'
LOZENGE_PYTHON=./giving WANTED=same.npy lozenge --json run scaled.graph --check ort | sed -n '/"onnxruntime"/,/^  }/p'
# bodies of branches and loops are graphs like others
lozenge optimize bodies.graph --check 4 -o bodies.onnx | grep -v -e '^time' | sed 's/ *[0-9.]*$//'; lozenge run bodies.onnx --check | grep check
lozenge optimize bodies.graph -o shorter.graph >told; sed -n '/then_branch/,$p' shorter.graph
lozenge optimize bodies.graph --limit 2 | grep nodes; lozenge optimize bodies.graph --trace told | grep nodes
# a newer version of the operators, also in bodies
lozenge optimize older.graph --upgrade 21 --no-fold --check 2 -o newer.graph | grep -e nodes: -e check:; cat newer.graph
lozenge optimize older.graph --upgrade 7
lozenge optimize older.graph --upgrade 99
# numbers of 16 bits
lozenge optimize rates.graph --const rate=16000 --size n=1 --fp16 --check 2 -o shorter.graph 2>&1 | grep -e note: -e check:; cat shorter.graph
