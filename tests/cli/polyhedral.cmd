lozenge poly 'card({ A[i, j] : 0 <= i < 3 and 0 <= j <= i })'
lozenge poly '{ [i] : 0 <= i < '
lozenge deps gemm.c --dataflow
lozenge compile gemm.c --emit schedule > gemm.tree; lozenge compile gemm.c --schedule gemm.tree | grep -c 'omp parallel for'
echo 'domain nonsense' > bad.tree; lozenge compile gemm.c --schedule bad.tree
