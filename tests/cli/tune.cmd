# Candidates are measured, and all have the results of the compiler's choice. Which is fastest depends on the machine.
lozenge tune wave.c --reps 1 -o found.tune --json > told.json; echo "exit $?"; grep -o '"same_results": [a-z]*' told.json | sort -u; grep -o '"candidate": "[^"]*"' told.json | sort
lozenge tune dot.loz --size n=100 --reps 1 --candidates 2 | grep -o "the compiler's choice  "
# A schedule holds for the text that was measured.
printf '// Schedules chosen by measurement (lozenge tune).\nschedule wave_0\n// text 0123456789abcdef\n' > wave.c.tune; lozenge schedule wave.c --no-config >> wave.c.tune; lozenge compile wave.c > there.c; lozenge compile wave.c --no-config | cmp - there.c && echo the same C
# What is asked for by name goes before it.
lozenge compile wave.c --schedule none | grep -c 'omp'
# What cannot be tuned.
lozenge tune wave.c --schedule none
lozenge tune gemm.c
printf 'mine\n' > mine.txt; lozenge tune wave.c -o mine.txt; cat mine.txt
lozenge tune sparse.c --size n=10 --size val_length=100 --size x_length=10 --size col_length=100
