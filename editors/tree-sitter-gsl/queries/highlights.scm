; The last pattern that fits a node decides in most editors, so the general ones come first.

(identifier) @variable

(field name: (identifier) @property)
(attribute name: (identifier) @property)

(call function: (identifier) @function.call)
(call function: (field name: (identifier) @function.call))
; Operators are written with a capital letter.
((call function: (identifier) @type) (#match? @type "^[A-Z]"))
((call function: (field name: (identifier) @type)) (#match? @type "^[A-Z]"))
(operator_variable class: (identifier) @type)
(operator_variable class: (qualified_name) @type)
(operator_variable name: (identifier) @variable.parameter)
(index name: (identifier) @variable.parameter)

; The functions of attribute expressions: a test compares this list with the compiler's table.
((call function: (identifier) @function.builtin)
  (#any-of? @function.builtin
    "len" "range" "reverse" "zip" "min" "max" "sum" "product" "all" "any" "abs" "sort" "sqrt"
    "remap" "float" "int" "join" "const"))

(rule name: (identifier) @function)

(kind) @type.builtin
(wildcard) @character.special

["rule" "match" "where" "keep" "replace" "let"] @keyword
["if" "then" "else" "case" "either"] @keyword.conditional
["for" "finite"] @keyword
["and" "or" "not" "in" "is"] @keyword.operator

(comment) @comment
(string) @string
(number) @number
(boolean) @boolean
(none) @constant.builtin

(binary operator: ["==" "!=" "<" "<=" ">" ">=" "++" "+" "-" "*" "/" "//" "%"] @operator)
(negation "-" @operator)
["=" "|" "?" ".."] @operator
(spread "*" @operator)
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ":" ";" "."] @punctuation.delimiter
