# options that a source would pass over
lozenge run dot.loz --size n=3 -DX
lozenge compile dot.loops --strategy choose
lozenge compile plain.c --type t=f64
lozenge run dot.loz --size n=3 --tile 4
lozenge compile dot.loops --caches 32K,1M
lozenge compile dot.loops --tile 4 --emit schedule | tail -1
lozenge generate mlp --small -o mlp.onnx
lozenge optimize mlp.onnx -o -
lozenge prove dot.loz -o -
lozenge compile mlp.onnx --size batch=2 --target athread -o mlp; ls mlp
lozenge compile mlp.onnx --size batch=2 --threads 2
lozenge compile mlp.onnx --size batch=2 --def dot
lozenge run mlp.onnx --size batch=2 --target athread
lozenge run mlp.onnx --size batch=2 --strategy choose
lozenge generate mlp --nodes 7
lozenge generate chain --nodes 100000000000
lozenge generate --json | head -5
lozenge explain X0008 --json | head -3
# files of another kind, and files in which no case tells that they are wrong
lozenge test mlp.onnx
lozenge fmt plain.c
lozenge test badly-typed.loz
lozenge test badly-typed.loz --json
