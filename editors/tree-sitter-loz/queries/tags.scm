(definition name: (identifier) @name) @definition.function
(strategy_definition name: (identifier) @name) @definition.function
(rule_definition name: (identifier) @name) @definition.function
(type_definition name: (identifier) @name) @definition.type
(application function: (identifier) @name) @reference.call
