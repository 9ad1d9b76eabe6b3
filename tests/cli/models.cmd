lozenge generate mlp --small -o mlp.onnx
lozenge run mlp.onnx --size batch=2 --threads 1 --check
lozenge show mlp.onnx --svg -o mlp.svg && grep -c '<rect' mlp.svg
lozenge generate chain --nodes 40 -o chain.onnx
lozenge optimize chain.onnx --check 2 --trace chain.trace -o shorter.onnx | sed '/nodes:/!s/ \+\(ms\|[0-9.]*\)$//'
head -4 chain.trace
# the trace makes the same model of the same one
lozenge optimize chain.onnx --replay chain.trace -o again.onnx > /dev/null; cmp shorter.onnx again.onnx && echo the same
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
# files that are no models, or not whole
head -c 1000 mlp.onnx > cut.onnx; lozenge run cut.onnx
printf '\072\377\377\377\377\007' > claim.onnx; lozenge show claim.onnx --svg; lozenge optimize claim.onnx -o none.onnx; ls none.onnx
lozenge run mlp.onnx --arg y=dot.loz
lozenge fuzz --of models --seconds 1 --seed 5 | sed 's/[0-9]*//g'
lozenge fuzz --of rules --seconds 1 --seed 5 | sed 's/[0-9]*//g'
