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
