# a model that does not hang together is not rewritten
lozenge optimize circle.graph -o circle.onnx; ls circle.onnx
lozenge optimize aligned.graph -o aligned.onnx; ls aligned.onnx
# operators before version 7 that were the same; a version that nobody knows yet
lozenge optimize old.graph -o old.onnx | grep nodes:; lozenge run old.onnx 2>&1 | grep warning
sed 's/opset "" 3/opset "" 99/' old.graph > new.graph; lozenge optimize new.graph
# no value, no difference: integers are not divided by zero, indices are inside
lozenge optimize divided.graph --check 4 -o divided.onnx | grep check:
lozenge optimize by-zero.graph --check 1
# indices outside are refused: by the compiled model, by the evaluator, and as constants
printf '\223NUMPY\1\0F\0%-69s\n\0\0\0\0\0\0\0\0\377\377\377\377\377\377\377\377' "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }" > inside.npy
printf '\223NUMPY\1\0F\0%-69s\n\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0' "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }" > outside.npy
lozenge run divided.onnx --arg at=inside.npy | grep rows
lozenge run divided.onnx --arg at=outside.npy
# drawn indices are inside of what they are used for, and the node is named where given ones are not
lozenge optimize rows.graph -o rows.onnx | grep nodes:; for seed in 1 2 3 4 5 6; do lozenge run rows.onnx --seed $seed --check | grep check:; done
lozenge run rows.onnx --arg at=outside.npy
lozenge compile divided.onnx | grep -A 3 'lozenge_outside_i64(at'
sed 's/input at: i64\[2\]/init at: i64[2] = [0, -2]/' divided.graph > constant.graph; lozenge optimize constant.graph -o constant.onnx | grep nodes:; lozenge compile constant.onnx
# results that are declared otherwise than they come out, in type, extent or rank; a name there is only a name
sed 's/output y: .*/output y: f32[m]/' declared.graph > named.graph; lozenge optimize named.graph --no-fold -o named.onnx | grep nodes:; lozenge run named.onnx --size n=2 | grep -c '^y'
sed 's/\[n\]/[2]/' declared.graph > right.graph; lozenge optimize right.graph --no-fold -o right.onnx | grep nodes:
LC_ALL=C sed -z 's/\(\x01y\x12.\x0a.\x08\)\x01/\1\x07/' right.onnx > wrong.onnx; lozenge run wrong.onnx; lozenge compile wrong.onnx -o wrong.c; lozenge optimize wrong.onnx --check 1; ls wrong.c
LC_ALL=C sed -z 's/\(\x01y\x12.\x0a.\x08\x01\x12.\x0a.\x08\)\x02/\1\x03/' right.onnx > wrong.onnx; lozenge run wrong.onnx
# an operator that inference does not know, declared as what its program does not make
sed 's/output y: f32/output y: i64/' said.graph > other.graph; lozenge run other.graph
sed 's/output y: f32.*/output y: f32[2]/' said.graph > other.graph; lozenge compile other.graph
# attributes that operators do not have, or of another kind
lozenge run kinds.graph
# calls that do not fit: too many inputs or results, a word that means nothing, an attribute that must be there
lozenge run signature.graph
