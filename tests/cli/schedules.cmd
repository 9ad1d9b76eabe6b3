# The three statements of the notes, in each representation.
lozenge schedule notes.loops --as affine
lozenge schedule notes.loops --as kelly
lozenge schedule notes.loops --as 2d+1
lozenge schedule notes.loops --as union-map
lozenge schedule notes.loops
lozenge --json schedule notes.loops --as kelly
# What is printed reads back in, is checked, and is used.
lozenge schedule gemm.c --as kelly > gemm.kelly; cat gemm.kelly; sed 's/(i, j, k)$/(k, i, j)/' gemm.kelly > other.kelly; lozenge schedule gemm.c --schedule other.kelly --as 2d+1
lozenge compile gemm.c --schedule other.kelly --emit loops
lozenge compile two.c --emit schedule > two.tree; lozenge compile two.c --schedule two.tree -o a.c; lozenge compile two.c -o b.c; cmp a.c b.c && echo the same
lozenge schedule prefix.loops --as affine > forward.txt; sed 's/(i)$/(-i)/' forward.txt > backward.txt; cat backward.txt; lozenge compile prefix.loops --schedule backward.txt --emit loops
printf 'kelly [n]\nS(i) -> (i\n' > wrong.txt; lozenge compile prefix.loops --schedule wrong.txt
# Several regions: each under its name.
lozenge schedule two.c --as affine > two.txt; cat two.txt; sed 's/(i, j)$/(j, i)/' two.txt > swapped.txt; lozenge compile two.c --schedule swapped.txt | sed -n '/scop/,/endscop/p'
sed '/^schedule two_1/,$d' two.txt > one.txt; lozenge compile two.c --schedule one.txt
# Dependences.
lozenge deps notes.loops
lozenge --json deps prefix.loops
