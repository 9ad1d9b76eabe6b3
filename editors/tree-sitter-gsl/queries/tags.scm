(rule name: (identifier) @name) @definition.function
