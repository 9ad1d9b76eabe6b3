lozenge --json compile missing.loz
lozenge --json run dot.loops --size n=3 | sed 's/[0-9.e-]*$/.../' | grep -v '^ *\.\.\.$'
lozenge --json test dot.loops
lozenge --json compile
lozenge compile dot.loz --no-such-option --json
lozenge --json
lozenge --json compile dot.loops --emit loops
lozenge compile -- --json
