# what is looked at between passes
lozenge compile gemm.c --target athread --verify
lozenge compile dot.loz --def dot --print-after unroll-and-jamm
lozenge compile dot.loz --def dot --verify -o verified.c
lozenge compile gemm.c --verify -o verified.c
