; Parameters are known in their definition, names of a `let` in its body, those of a lambda in the lambda.

[
  (definition)
  (lambda)
  (let)
  (strategy_definition)
  (rule_definition)
  (type_definition)
] @local.scope

(size_parameters (identifier) @local.definition)
(rule_sizes (identifier) @local.definition)
(type_parameters name: (identifier) @local.definition)
(parameters name: (identifier) @local.definition)
(lambda parameter: (identifier) @local.definition)
(let pattern: (identifier) @local.definition)
(tuple_pattern (identifier) @local.definition)
(strategy_parameters (identifier) @local.definition)
(type_definition size: (identifier) @local.definition)

(identifier) @local.reference
