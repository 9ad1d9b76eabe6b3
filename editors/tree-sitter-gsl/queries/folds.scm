[
  (rule)
  (match)
  (where)
  (replace)
] @fold
