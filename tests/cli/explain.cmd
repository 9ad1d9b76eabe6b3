lozenge explain X0103
lozenge explain x9999
lozenge explain
lozenge explain model.onnx
