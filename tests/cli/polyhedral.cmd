lozenge poly 'card({ A[i, j] : 0 <= i < 3 and 0 <= j <= i })'
lozenge poly '{ [i] : 0 <= i < '
lozenge deps gemm.c --dataflow
lozenge compile alias.c --assume-no-alias --emit schedule > a.tree; lozenge compile alias.c --assume-no-alias --schedule a.tree | grep -c 'omp parallel for'
echo 'domain nonsense' > bad.tree; lozenge compile gemm.c --schedule bad.tree
lozenge explain two.c
lozenge explain largest.c
lozenge compile largest.c --emit loops --reassociate
lozenge explain gemm.c
