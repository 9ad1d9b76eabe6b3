# Bytes are computed with as C does, in int, and converted where they are stored.
lozenge compile bytes.c --emit loops --schedule none
lozenge compile bytes.c -o bytes-out.c && sed -n '/scop:/,/endscop/p' bytes-out.c
# A pointer to characters may point to anything.
lozenge compile bytes.c -DPOINTERS -o bytes-out.c
# The cores are not given them.
lozenge compile bytes.c --target athread -o cores
