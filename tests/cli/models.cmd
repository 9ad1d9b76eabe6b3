lozenge generate mlp --small -o mlp.onnx
lozenge run mlp.onnx --size batch=2 --threads 1 --check
LOZENGE_REGISTERS=many lozenge run mlp.onnx --size batch=2
lozenge show mlp.onnx --svg -o mlp.svg && grep -c '<rect' mlp.svg
lozenge generate chain --nodes 40 -o chain.onnx
lozenge optimize chain.onnx --check 2 --trace chain.trace -o shorter.onnx | sed '/nodes:/!s/ \+\(ms\|[0-9.]*\)$//'
head -4 chain.trace
# the trace makes the same model of the same one
lozenge optimize chain.onnx --replay chain.trace -o again.onnx | head -1; cmp shorter.onnx again.onnx && echo the same
lozenge optimize chain.onnx --rules softmax.gsl -o wrong.onnx; ls wrong.onnx
# of an operator that nobody knows nothing can be said
lozenge optimize chain.onnx --rules odd.gsl -o odd.onnx 2>&1 | head -2
lozenge optimize chain.onnx --rules endless.gsl --ignore-cost -o endless.onnx; ls endless.onnx
lozenge check-rules odd.gsl
# an extent that is a number: what is computed of shapes goes; other names stay as they are
lozenge optimize shapes.graph | grep nodes:
lozenge optimize shapes.graph --size batch=3 --check 1 -o three.onnx | grep -e nodes: -e check:
lozenge show three.onnx --svg -o three.svg; grep -o '3, n' three.svg | sort -u
lozenge optimize shapes.graph --size batches=3
lozenge optimize shapes.graph --size batch=-3
# extents that are not known, of positions cut out, do not keep what is over the last axis from being recognised
lozenge generate bert --small -o bert.onnx; lozenge optimize bert.onnx | grep -e layer_norm -e nodes: | sed "s/ *[0-9.]*$//"
# files that are no models, or not whole
head -c 1000 mlp.onnx > cut.onnx; lozenge run cut.onnx
printf '\072\377\377\377\377\007' > claim.onnx; lozenge show claim.onnx --svg; lozenge optimize claim.onnx -o none.onnx; ls none.onnx
lozenge run mlp.onnx --arg y=dot.loz
lozenge fuzz --of models --seconds 1 --seed 5 | sed 's/[0-9]*//g'
lozenge fuzz --of rules --seconds 1 --seed 5 | sed 's/[0-9]*//g'
# extents without a name, a default that is given a value, a parameter that is an output
lozenge optimize inputs.graph --no-fold -o inputs.onnx | head -1
lozenge run inputs.onnx
lozenge run inputs.onnx --size x.0=-1
lozenge run inputs.onnx --size x.0=1 --check --out a.npy
printf '\223NUMPY\1\0F\0%-69s\n\0\0\200\77\0\0\0\100' "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }" > b.npy
printf '\223NUMPY\1\0F\0%-69s\n\0\0\200\77\0\0\0\100\0\0\200\77\0\0\0\100' "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }" > x.npy
lozenge run inputs.onnx --arg x=x.npy --check
lozenge run inputs.onnx --arg x=x.npy --arg b=b.npy --check
lozenge run inputs.onnx --arg x=x.npy --size x.0=3
# values of the command line are arrays as well
lozenge run inputs.onnx --arg x=[[0.5,-1],[2,-0]] --check
lozenge run inputs.onnx --arg x=[[0.5,-1],[2]]
# bytes are bytes
lozenge optimize bytes-in.graph --no-fold -o bytes-in.onnx | head -1
printf '\223NUMPY\1\0F\0%-69s\n\7\377' "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }" > u.npy
lozenge run bytes-in.onnx --arg x=u.npy --check; lozenge run bytes-in.onnx --arg x=[7,256]
# parameters in a file of their own come along
lozenge optimize outside.graph --no-fold --rule abs_abs -o outside.onnx | head -1; printf '\0\0\200\77\0\0\0\100' > outside.bin
mkdir elsewhere; lozenge optimize outside.onnx -o elsewhere/outside.onnx | grep -o '^neg_neg'; lozenge run elsewhere/outside.onnx --arg x=b.npy --check
echo other > elsewhere/outside.bin; lozenge optimize outside.onnx -o elsewhere/outside.onnx
# types that the language lacks are carried by others
lozenge optimize bytes.graph --check 2 -o bytes.onnx | grep check
printf '\223NUMPY\1\0F\0%-69s\n\310\0\0\0\7\0\0\0' "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }" > bytes.npy
printf '\223NUMPY\1\0F\0%-69s\n\0\1\0\0\7\0\0\0' "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }" > words.npy
lozenge run bytes.onnx --arg x=bytes.npy --check
lozenge run bytes.onnx --arg x=words.npy --check
# results go to files by their names, without what file names lack; names that are the same then get a number
lozenge optimize outputs.graph --no-fold -o outputs.onnx | head -1; lozenge run outputs.onnx --out to.npy | grep wrote; ls to.*
# places of slices are clamped, downward too
lozenge optimize slices.graph -o slices.onnx | head -1; lozenge run slices.onnx --check | sed '/^time/d'
# half precision is compared as numbers, within what its digits allow
lozenge optimize half.graph --check 3 -o half.onnx | grep -e nodes: -e check:
sed 's/f16/bf16/' half.graph > bfloat.graph; lozenge optimize bfloat.graph --check 3 | grep check:
lozenge optimize half.graph --check 3 --tolerance 1e-7
lozenge optimize half.graph --check 1 --tolerance 1x
lozenge --json optimize half.graph --check 1 --tolerance 0.5 | sed -n '/"check"/,/},/p' | grep -v greatest
# extents that fit are looked for; where there are none, it is said what was tried
lozenge optimize baked.graph --check 1 | grep check:
sed 's/8\]/1000000]/' baked.graph > never.graph; lozenge optimize never.graph --check 1
# integers come from the whole range of their type, and places are inside
lozenge optimize twice.graph --check 4 | grep check:
lozenge optimize twice.graph --rules twice.gsl --unchecked --check 1 -o wrong.onnx; ls wrong.onnx
# quantised parameters stay so, also where the model is compiled without them
lozenge optimize quantised.graph --check 1 -o quantised.onnx | grep -e nodes: -e check:
lozenge run quantised.onnx --size n=1 --check | grep check:
# the textual form is a model as any other, wherever a model is taken
lozenge generate mlp --small -o mlp.graph
lozenge run mlp.graph --size batch=2 --check | grep check:
lozenge show mlp.graph --svg | grep -c '<rect'; lozenge compile mlp.graph --size batch=2 --emit header | grep -c '('
lozenge optimize mlp.graph -o shorter.graph | grep nodes:; tail -3 shorter.graph | head -1
lozenge explain mlp.graph
printf 'model ir 9\nopset "" 18\ngraph g {\n  y = Relu x\n}\n' > wrong.graph; lozenge run wrong.graph
lozenge generate mlp --small > mlp.txt; lozenge run mlp.txt
# two results without dimensions beside each other
lozenge run range.graph --check | tail -1
# extents that follow from constants that follow from extents
lozenge run extents-of-extents.graph --check | tail -1
# an operator that inference does not know, with a declared result
lozenge run said.graph --check | tail -1
# the smaller of a number and the elements of a short row
lozenge run least.graph --threads 1 --check | tail -1
