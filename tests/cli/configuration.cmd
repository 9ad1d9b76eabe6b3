# A file in the folder of the input, or above it.
mkdir -p project/deep; cp gemm.c dot.loz project/deep; printf 'target = "athread"\n' > project/lozenge.toml; cd project/deep; lozenge compile gemm.c -o out 2>/dev/null; ls out
cd project/deep; lozenge compile gemm.c --target openmp | grep -c 'omp parallel'
cd project/deep; lozenge compile gemm.c --no-config | grep -c 'omp parallel'
cd project/deep; printf '' > lozenge.toml; lozenge compile gemm.c | grep -c 'omp parallel'; rm lozenge.toml
# The machine: the environment goes before it.
printf '[machine]\ncaches = "4K,16K"\nregisters = "16x16"\n' > project/lozenge.toml; unset LOZENGE_CACHES LOZENGE_REGISTERS; lozenge compile --no-config --caches 4K,16K wave.c > there.c; cp wave.c project; lozenge compile project/wave.c | cmp - there.c && echo the same tiles
# Flags of the C compiler, for libraries and runs.
printf 'flags = ["-O1", "-fno-unroll-loops"]\n' > project/lozenge.toml; lozenge compile project/deep/dot.loz --static -o libdot.a; sed -n '/"flags"/,/\]/p' libdot.json
lozenge compile project/deep/dot.loz --static -o libdot.a --no-config; grep -c unroll libdot.json
# What it says is checked.
printf 'flags = []\ncc = "gcc"\n' > project/lozenge.toml; lozenge compile project/deep/dot.loz
printf '[machine]\ncores = 3\n' > project/lozenge.toml; lozenge compile project/deep/dot.loz
printf 'flags = ["-O2", "-fplugin=./evil.so"]\n' > project/lozenge.toml; lozenge run project/deep/dot.loz --size n=3
printf 'target = 3\n' > project/lozenge.toml; lozenge compile project/deep/dot.loz
printf 'target = "gpu"\n' > project/lozenge.toml; lozenge compile project/deep/dot.loz
printf '[machine]\ncaches = "much"\n' > project/lozenge.toml; lozenge compile project/deep/dot.loz
printf '= 3\n' > project/lozenge.toml; lozenge compile project/deep/dot.loz
printf 'target = "\377"\n' > project/lozenge.toml; lozenge compile project/deep/dot.loz
head -c 100000 /dev/zero > project/lozenge.toml; lozenge compile project/deep/dot.loz
lozenge compile project/deep/dot.loz --no-config | head -1
# A compiler is named on the command line.
lozenge run dot.loz --size n=3 --cc no-compiler
CC=no-compiler lozenge run dot.loz --size n=3 --cc gcc | head -1
