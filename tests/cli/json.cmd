lozenge --json compile missing.loz
lozenge --json run dot.loops --size n=3 | sed 's/[0-9.e-]*$/.../' | grep -v '^ *\.\.\.$'
lozenge --json test dot.loops
