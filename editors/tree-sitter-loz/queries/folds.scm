[
  (definition)
  (strategy_definition)
  (let)
  (lambda)
] @fold
