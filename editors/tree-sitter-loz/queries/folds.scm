[
  (definition)
  (strategy_definition)
  (rule_definition)
  (let)
  (lambda)
] @fold
