# Accepted, bit for bit; and up to laws of addition, which are listed.
lozenge prove "$LIBRARY/paper.loz" --def dl_mul_dl
lozenge prove sums.loz --def lanes
lozenge prove sums.loz --def tree
lozenge prove sums.loz --def threads
lozenge prove sums.loz --def flat
lozenge prove "$LIBRARY/products.loz" --def dproduct_fast

# Rejected.
lozenge prove sums.loz --def whole_lanes

# Places that are data.
lozenge prove scatter.loz --def rows_placed
