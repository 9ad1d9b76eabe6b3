/**
 * Functional matrix programs (`.loz`). The language is described in `docs/language.md`, strategies in
 * `docs/strategies.md`; the compiler's own parser is in `crates/functional/src/syntax` and
 * `crates/functional/src/strategy/parse.rs`. `editors/check-grammars` compares the two on every file of the repository.
 */

/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

/** From the loosest to the tightest binding, as in `docs/language.md`. */
const PREC = {
  open: 0, // lambda, let and if extend as far to the right as possible
  pipe: 1,
  or: 2,
  and: 3,
  compare: 4,
  add: 5,
  multiply: 6,
  unary: 7,
  power: 8,
  apply: 9,
};

const OPERATORS = [
  [PREC.or, "||"],
  [PREC.and, "&&"],
  [PREC.compare, choice("==", "!=", "<", "<=", ">", ">=")],
  [PREC.add, choice("+", "-")],
  [PREC.multiply, choice("*", "/", "%")],
];

/** Operators that are functions in parentheses: `(+)`. */
const SECTIONS = ["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||"];

/** Words in front of a strategy. */
const COMBINATORS = [
  "try",
  "repeat",
  "not",
  "topDown",
  "bottomUp",
  "everywhere",
  "normalise",
  "all",
  "one",
];

/** One or more, with commas between them. */
function commaSep(rule) {
  return seq(rule, repeat(seq(",", rule)));
}

module.exports = grammar({
  name: "loz",

  word: ($) => $.identifier,

  extras: ($) => [/[ \t\n\f\r]/, $.comment],

  supertypes: ($) => [$._item, $._expression, $._atom, $._type, $._pattern, $._strategy],

  rules: {
    source_file: ($) => repeat($._item),

    _item: ($) =>
      choice(
        $.definition,
        $.type_definition,
        $.import,
        $.strategy_definition,
        $.rule_definition,
      ),

    comment: (_) => token(seq("--", /[^\n]*/)),

    import: ($) => seq("import", field("path", $.string)),

    string: (_) => /"[^"\n]*"/,

    type_definition: ($) =>
      seq(
        "type",
        field("name", $.identifier),
        field("size", repeat($.identifier)),
        "=",
        field("body", choice($._type, $.record_type)),
      ),

    record_type: ($) =>
      seq(
        "{",
        commaSep(seq(field("name", repeat1($.identifier)), ":", field("type", $._type))),
        "}",
      ),

    // Definitions.

    definition: ($) =>
      seq(
        "def",
        field("name", $.identifier),
        repeat(choice($.size_parameters, $.type_parameters, $.parameters)),
        optional(seq(":", field("result", $._type))),
        optional($.facts),
        "=",
        field("body", $._expression),
      ),

    size_parameters: ($) => seq("[", repeat1($.identifier), "]"),

    type_parameters: ($) =>
      seq(
        "{",
        field("name", repeat1($.identifier)),
        optional(seq(":", field("constraint", $.identifier))),
        "}",
      ),

    parameters: ($) =>
      seq("(", field("name", repeat1($.identifier)), ":", field("type", $._type), ")"),

    facts: ($) => seq("where", commaSep($._expression)),

    // Rules.

    rule_definition: ($) =>
      seq(
        "rule",
        field("name", $.identifier),
        repeat(choice($.rule_sizes, $.size_parameters, $.type_parameters, $.parameters)),
        ":",
        optional("reassociate"),
        field("left", $._expression),
        "->",
        field("right", $._expression),
        optional($.facts),
      ),

    rule_sizes: ($) => seq("(", commaSep($.identifier), ")"),

    // Types.

    _type: ($) => choice($.function_type, $.size_function_type, $._plain_type),

    function_type: ($) =>
      prec.right(seq(field("from", $._plain_type), "->", field("to", $._type))),

    size_function_type: ($) =>
      prec.right(seq("{", field("size", $.identifier), "}", "->", field("to", $._type))),

    _plain_type: ($) =>
      choice(
        $.scalar_type,
        $.index_type,
        $.vector_type,
        $.array_type,
        $.pair_type,
        $.parenthesized_type,
        $.named_type,
      ),

    scalar_type: (_) => choice("f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bool"),

    index_type: ($) => seq("idx", field("size", $._size_atom)),

    vector_type: ($) => seq("vec", field("size", $._size_atom), field("element", $._plain_type)),

    array_type: ($) =>
      seq("[", field("length", $._expression), "]", field("element", $._plain_type)),

    pair_type: ($) => seq("(", $._type, repeat1(seq(",", $._type)), ")"),

    parenthesized_type: ($) => seq("(", $._type, ")"),

    named_type: ($) =>
      prec.right(seq(field("name", $.identifier), field("size", repeat($._size_atom)))),

    _size_atom: ($) => choice($.identifier, $.number, $.hole, $.parenthesized, $.tuple),

    // Expressions.

    _expression: ($) =>
      choice($.lambda, $.let, $.if, $.pipe, $.binary, $.unary, $.power, $.application, $._atom),

    lambda: ($) =>
      prec.right(
        PREC.open,
        seq("\\", field("parameter", repeat1($._pattern)), "->", field("body", $._expression)),
      ),

    let: ($) =>
      prec.right(
        PREC.open,
        seq(
          "let",
          field("pattern", $._pattern),
          optional(seq(":", field("type", $._type))),
          "=",
          field("value", $._expression),
          "in",
          field("body", $._expression),
        ),
      ),

    if: ($) =>
      prec.right(
        PREC.open,
        seq(
          "if",
          field("condition", $._expression),
          "then",
          field("consequence", $._expression),
          "else",
          field("alternative", $._expression),
        ),
      ),

    pipe: ($) =>
      prec.left(
        PREC.pipe,
        seq(field("argument", $._expression), "|>", field("function", $._expression)),
      ),

    binary: ($) =>
      choice(
        ...OPERATORS.map(([level, operator]) =>
          prec.left(
            level,
            seq(
              field("left", $._expression),
              field("operator", operator),
              field("right", $._expression),
            ),
          ),
        ),
      ),

    unary: ($) =>
      prec(PREC.unary, seq(field("operator", choice("-", "!")), field("operand", $._expression))),

    power: ($) =>
      prec(PREC.power, seq(field("base", $._expression), "^", field("exponent", $.number))),

    application: ($) =>
      prec.right(
        PREC.apply,
        seq(field("function", $._atom), field("argument", repeat1($._atom))),
      ),

    _atom: ($) =>
      choice(
        $.index,
        $.identifier,
        $.number,
        $.boolean,
        $.hole,
        $.section,
        $.parenthesized,
        $.ascription,
        $.tuple,
        $.array,
        $.record,
        $.field,
      ),

    // A subscript stands directly behind its array; `f [x]` applies `f` to an array.
    index: ($) =>
      seq(field("array", $._atom), token.immediate("["), commaSep(field("subscript", $._expression)), "]"),

    // So does a field of a record.
    field: ($) => seq(field("record", $._atom), token.immediate("."), field("name", $.identifier)),

    record: ($) =>
      seq(
        "{",
        choice(
          seq(commaSep($.field_value), optional(seq(",", $.other_fields))),
          $.other_fields,
        ),
        "}",
      ),

    field_value: ($) =>
      seq(field("name", $.identifier), optional(seq("=", field("value", $._expression)))),

    other_fields: ($) => seq("..", field("record", $._expression)),

    array: ($) => seq("[", commaSep(field("element", $._expression)), "]"),

    section: ($) => seq("(", field("operator", choice(...SECTIONS)), ")"),

    parenthesized: ($) => seq("(", $._expression, ")"),

    ascription: ($) => seq("(", field("value", $._expression), ":", field("type", $._type), ")"),

    tuple: ($) => seq("(", $._expression, repeat1(seq(",", $._expression)), ")"),

    hole: (_) => "_",

    boolean: (_) => choice("true", "false"),

    number: ($) =>
      choice(
        /[0-9][0-9_]*(\.[0-9][0-9_]*)?([eE][+-]?[0-9][0-9_]*)?([fiu](8|16|32|64))?/,
        "inf",
        "nan",
      ),

    identifier: (_) => /[A-Za-z_][A-Za-z0-9_]*/,

    // Patterns.

    _pattern: ($) => choice($.identifier, $.hole, $.tuple_pattern, $.record_pattern),

    record_pattern: ($) => seq("{", commaSep($.field_pattern), "}"),

    field_pattern: ($) =>
      seq(field("name", $.identifier), optional(seq("=", field("pattern", $._pattern)))),

    tuple_pattern: ($) => seq("(", commaSep($._pattern), ")"),

    // Strategies. Their words are reserved only where a strategy stands.

    strategy_definition: ($) =>
      seq(
        "strategy",
        field("name", $.identifier),
        "=",
        optional(seq("for", field("definition", $.identifier), optional(":"))),
        optional("reassociate"),
        optional($.strategy_parameters),
        field("body", $._strategies),
      ),

    strategy_parameters: ($) => seq("\\", repeat($.identifier), "->"),

    _strategies: ($) => choice($._strategy, $.sequence),

    sequence: ($) =>
      choice(
        seq($._strategy, repeat1(seq(";", $._strategy)), optional(";")),
        seq($._strategy, ";"),
      ),

    _strategy: ($) => choice($.alternatives, $._strategy_prefix),

    alternatives: ($) => seq($._strategy_prefix, repeat1(seq("<+", $._strategy_prefix))),

    _strategy_prefix: ($) =>
      choice($.combinator, $.child, $.at_position, $.at, $.rule, $.strategy_group),

    combinator: ($) =>
      seq(
        field("name", choice(...COMBINATORS)),
        field("strategy", $._strategy_prefix),
      ),

    child: ($) =>
      seq("child", field("number", $.natural), field("strategy", $._strategy_prefix)),

    at_position: ($) =>
      seq("at", "position", field("position", $.position), field("strategy", $._strategy_prefix)),

    position: ($) => choice("root", seq($.natural, repeat(seq(".", $.natural)))),

    at: ($) =>
      seq(
        choice("at", "inside"),
        field("place", choice($.identifier, alias("let", $.identifier))),
        optional(seq("named", field("variable", $.identifier))),
        field("number", optional($.natural)),
        field("strategy", $._strategy_prefix),
      ),

    rule: ($) =>
      prec.right(
        seq(
          field("name", choice($.identifier, alias(choice("id", "fail", "choose"), $.builtin))),
          optional($.rule_arguments),
        ),
      ),

    rule_arguments: ($) => seq("(", commaSep($._size), ")"),

    strategy_group: ($) => seq("(", $._strategies, ")"),

    natural: (_) => /[0-9]+/,

    _size: ($) =>
      choice($.identifier, $.natural, $.size_operation, $.parenthesized_size),

    parenthesized_size: ($) => seq("(", $._size, ")"),

    size_operation: ($) =>
      choice(
        prec.left(PREC.add, seq($._size, choice("+", "-"), $._size)),
        prec.left(PREC.multiply, seq($._size, choice("*", "/", "%"), $._size)),
      ),
  },
});
