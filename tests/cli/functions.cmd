# a model that brings a function along, which it calls twice: with an attribute, and with the function's default
printf '\010\010:S\012\032\012\001x\022\001a"\001f*\013\012\001k\025\000\000\000@\240\001\001:\002my\012\015\012\001a\022\001y"\001f:\002my\022\004mainZ\017\012\001x\022\012\012\010\010\001\022\004\012\002\010\002b\017\012\001y\022\012\012\010\010\001\022\004\012\002\010\002B\004\012\000\020\017B\006\012\002my\020\001\312\001T\012\001f"\001x*\001y:\015\012\001x\022\001t"\003Neg:\000:#\012\001t\022\001y"\011LeakyRelu*\016\012\005alpha\240\001\001\252\001\001k:\000J\004\012\000\020\017R\002myZ\013\012\001k\025\000\000\000?\240\001\001' > functions.onnx
printf '\223NUMPY\1\0F\0%-69s\n\0\0\200\77\0\0\0\300' "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }" > x.npy
lozenge run functions.onnx --arg x=x.npy --check
lozenge compile functions.onnx | grep 'makes `'
lozenge show functions.onnx --svg | grep -c 'my.f'
lozenge optimize functions.onnx --check 1 -o flat.onnx | grep -e nodes: -e check:; lozenge run flat.onnx --arg x=x.npy | grep y; grep -c my.f flat.onnx
