# a model that does not hang together is not rewritten
lozenge optimize circle.graph -o circle.onnx; ls circle.onnx
lozenge optimize aligned.graph -o aligned.onnx; ls aligned.onnx
# operators before version 7 that were the same; a version that nobody knows yet
lozenge optimize old.graph -o old.onnx | grep nodes:; lozenge run old.onnx 2>&1 | grep warning
sed 's/opset "" 3/opset "" 99/' old.graph > new.graph; lozenge optimize new.graph
