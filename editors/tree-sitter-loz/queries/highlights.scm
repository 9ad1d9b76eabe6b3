; Names. The last pattern that fits a node decides in most editors, so the general ones come first.

(identifier) @variable

(parameters name: (identifier) @variable.parameter)
(lambda parameter: (identifier) @variable.parameter)
(lambda parameter: (tuple_pattern (identifier) @variable.parameter))
(size_parameters (identifier) @constant)
(rule_sizes (identifier) @constant)
(size_function_type size: (identifier) @constant)
(strategy_parameters (identifier) @variable.parameter)

(application function: (identifier) @function.call)
(pipe function: (identifier) @function.call)
(pipe function: (application function: (identifier) @function.call))

; The primitives of the language: a test compares this list with the compiler's table.
((identifier) @function.builtin
  (#any-of? @function.builtin
    "neg" "add" "sub" "mul" "div" "mod" "min" "max" "abs" "sqrt" "exp" "log" "tanh" "sin" "cos"
    "atan" "tan" "asin" "acos" "sinh" "cosh" "exp2" "expm1" "log2" "log10" "log1p" "atan2" "hypot"
    "floor" "ceil" "round" "trunc" "pow" "fmod" "bitAnd" "bitOr" "bitXor" "shiftLeft" "shiftRight"
    "bits32" "bits64" "float32" "float64" "eq" "ne" "lt" "le" "gt" "ge" "and" "or" "not" "select"
    "zero" "one" "f32" "f64" "i32" "i64" "i8" "u8" "i16" "u16" "u32" "u64" "f16" "pair" "fst" "snd"
    "map" "mapSeq" "mapPar" "mapVec"
    "mapUnroll" "reduce" "reduceSeq" "reduceUnroll" "reducePar" "scanSeq" "scanPar"
    "reduceByIndex" "reduceByIndexPar" "generate" "iota"
    "iterate" "zip" "unzip" "split" "join" "transpose" "transPar" "reverse" "reverseSeq" "copy"
    "copySeq" "slide" "pad" "padClamp" "concat" "take" "drop" "gather" "scatter" "reorder" "idx"
    "idxpred" "addidx" "subidx" "mulidx" "dividx" "toIdx" "toMem" "asVector" "asScalar" "splat"))

(definition name: (identifier) @function)
(strategy_definition name: (identifier) @function)
(rule_definition name: (identifier) @function)
(strategy_definition definition: (identifier) @function.call)
(rule name: (identifier) @function.call)
(rule name: (builtin) @function.builtin)

; Types.

(scalar_type) @type.builtin
(named_type name: (identifier) @type)
(type_definition name: (identifier) @type)
(type_definition size: (identifier) @constant)
(type_parameters name: (identifier) @type)
(type_parameters constraint: (identifier) @type.builtin)
["idx" "vec"] @type.builtin

; Words.

["def" "type" "strategy" "rule" "let" "in" "where" "for" "reassociate"] @keyword
"import" @keyword.import
["if" "then" "else"] @keyword.conditional
(combinator name: _ @keyword)
["child" "at" "named" "position" "root" "inside"] @keyword

; Literals.

(comment) @comment
(string) @string
(number) @number
(natural) @number
(boolean) @boolean
(hole) @character.special

; Signs.

(binary operator: _ @operator)
(unary operator: _ @operator)
(section operator: _ @operator)
(size_operation ["+" "-" "*" "/" "%"] @operator)
["|>" "<+" "->" "\\" "="] @operator
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ":" ";" "." ".."] @punctuation.delimiter

; Fields of records.

(field name: (identifier) @variable.member)
(field_value name: (identifier) @variable.member)
(field_pattern name: (identifier) @variable.member)
(record_type name: (identifier) @variable.member)
