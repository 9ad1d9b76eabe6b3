# what is on a page: stages, sections, and whether lines of each stage are tied to others
lozenge explore gemm.c -o gemm.html; grep -o ' id="[^"]*"' gemm.html | tr -d '\n'; echo
for stage in source loops schedule scheduled c; do echo $stage $(sed -n "/id=\"stage-$stage\"/,/<\/section>/p" gemm.html | grep -c 'data-o="1"'); done
lozenge explore dot.loz -o dot.html; grep -o ' id="[^"]*"' dot.html | tr -d '\n'; echo; grep -c '<img ' dot.html
lozenge explore prefix.loops | grep -o ' id="[^"]*"' | tr -d '\n'; echo
lozenge generate mlp --small -o mlp.onnx; lozenge explore mlp.onnx --size batch=2 -o mlp.html; grep -o ' id="[^"]*"' mlp.html | tr -d '\n'; echo
lozenge explore two.c | grep -o '\["region[^]]*\]'
# nothing is loaded, and only what is named by its hash runs
grep -c -e 'src="http' -e 'href="http' -e '@import' -e '<link' gemm.html dot.html mlp.html
grep -o "default-src 'none'; img-src data:; style-src 'sha256-" gemm.html
# a text is no markup
lozenge explore markup.c -o markup.html; grep -c '<script' markup.html; grep -c 'src=x' markup.html; grep -c '<img src=x' markup.html; grep -o '&lt;/pre&gt;&lt;/code&gt;&lt;b&gt;' markup.html | head -1
# what a stage refuses stands in its place
lozenge explore mlp.onnx --size batch=-1 | grep -o 'error\[[A-Z0-9]*\]'
lozenge explore alias.c | grep -o -m 1 'C0501'
lozenge explore badly-typed.loz 2>&1 | head -1
lozenge explore gemm.c -o gemm.c
lozenge explore mlp.onnx --tile 4
lozenge explore dot.loz --measure --size n=10 --reps 2 | grep -o -e 'id="times"' -e '<td>as chosen</td>' -e '<td>agrees</td>'
lozenge explore gemm.c --measure | grep -o 'error\[X0907\]'
