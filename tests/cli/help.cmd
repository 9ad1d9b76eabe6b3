lozenge
lozenge --help
lozenge compile --help
lozenge run --help
lozenge explain --help
lozenge test --help
lozenge nonsense
lozenge run dot.loops --size n
lozenge run dot.loops --size n=many
lozenge run dot.loops --threads 0
lozenge --version | cut -d' ' -f1,2
lozenge completions bash | head -1
lozenge completions nonsense 2>&1 | head -2
lozenge man -o pages && ls pages | wc -l && grep -c '^.TH lozenge-run 1' pages/lozenge-run.1
