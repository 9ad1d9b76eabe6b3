lozenge poly 'card({ A[i, j] : 0 <= i < 3 and 0 <= j <= i })'
lozenge poly '{ [i] : 0 <= i < '
lozenge deps gemm.c --dataflow
lozenge compile alias.c --assume-no-alias --emit schedule > a.tree; lozenge compile alias.c --assume-no-alias --schedule a.tree | grep -c 'omp parallel for'
echo 'domain nonsense' > bad.tree; lozenge compile gemm.c --schedule bad.tree
lozenge explain two.c
lozenge explain largest.c
lozenge compile largest.c --emit loops --reassociate
lozenge explain gemm.c
# a source that each step sets anew: what the text has in parallel stays so
lozenge explain source.c
for n in 1 2 17; do lozenge run source.c --size t=5 --size n=$n --check | tail -1; done
