lozenge explain X0103
lozenge explain x9999
lozenge explain
lozenge explain model.onnx
# bytes between caches, beside what any order moves
lozenge explain gemm.c --movement --caches 4K,64K --size n=96
lozenge explain gemm.c --movement --size ni=3
lozenge explain X0103 --movement
lozenge bench gemm.c row.c --movement --filter row
lozenge bench row.c --movement --filter nothing
