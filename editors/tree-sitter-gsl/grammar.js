/**
 * Graph substitution rules (`.gsl`). The language is described in `docs/gsl.md`; the compiler's own parser is in
 * `crates/gsl/src/parse`. `editors/check-grammars` compares the two on every file of the repository.
 *
 * Patterns and attribute expressions are one category here: which of the two stands at a place is a matter of what its
 * names mean, and an editor does not need to know. So the grammar accepts more than the compiler does.
 */

/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

/** From the loosest to the tightest binding, as in `crates/gsl/src/rule.rs`. */
const PREC = {
  open: 0, // `if` extends as far to the right as possible
  alternative: 1,
  or: 2,
  and: 3,
  not: 4,
  compare: 5,
  join: 6,
  add: 7,
  multiply: 8,
  negate: 9,
  either: 10,
  postfix: 11,
};

const OPERATORS = [
  [PREC.or, "or"],
  [PREC.and, "and"],
  [PREC.compare, choice("==", "!=", "<", "<=", ">", ">=", "in")],
  [PREC.join, "++"],
  [PREC.add, choice("+", "-")],
  [PREC.multiply, choice("*", "/", "//", "%")],
];

/** None or more, with commas between them; a comma may follow the last. */
function list(rule) {
  return optional(seq(rule, repeat(seq(",", rule)), optional(",")));
}

/** A section of a rule: its word, and statements that end at line ends or with `;`. */
function section($, word, statement) {
  return seq(
    word,
    repeat(";"),
    optional(
      seq(statement, repeat(seq($._terminator, statement)), optional($._terminator)),
    ),
  );
}

module.exports = grammar({
  name: "gsl",

  word: ($) => $.identifier,

  extras: ($) => [/[ \t\n\r]/, $.comment],

  // The end of a line where a statement may end: `src/scanner.c`.
  externals: ($) => [$._line_end],

  supertypes: ($) => [$._section, $._expression],

  rules: {
    source_file: ($) => repeat($.rule),

    comment: (_) => token(seq("#", /[^\n]*/)),

    rule: ($) =>
      seq(
        "rule",
        field("name", $.identifier),
        optional($.indices),
        optional($.operator_variables),
        optional($.finite),
        "{",
        $.match,
        repeat($._section),
        "}",
      ),

    finite: (_) => seq("for", "finite"),

    indices: ($) => seq("[", list($.index), "]"),

    index: ($) =>
      seq(
        field("name", $.identifier),
        ":",
        field("low", $._expression),
        optional(seq("..", field("high", optional($._expression)))),
      ),

    operator_variables: ($) => seq("(", list($.operator_variable), ")"),

    operator_variable: ($) =>
      seq(
        field("name", $.identifier),
        ":",
        field("class", $._operator_name),
        repeat(seq("|", field("class", $._operator_name))),
      ),

    _operator_name: ($) => choice($.identifier, $.qualified_name),

    qualified_name: ($) => seq($.identifier, repeat1(seq(".", $.identifier))),

    // Sections and statements.

    _section: ($) => choice($.where, $.keep, $.replace),

    match: ($) => section($, "match", $.binding),

    where: ($) => section($, "where", choice($.let, $.condition)),

    keep: ($) => section($, "keep", $.kept),

    replace: ($) => section($, "replace", choice($.let, $.binding)),

    _terminator: ($) => repeat1(choice($._line_end, ";")),

    condition: ($) => $._expression,

    kept: ($) => seq($.identifier, repeat(seq(",", $.identifier))),

    let: ($) => seq("let", field("name", $.identifier), "=", field("value", $._expression)),

    binding: ($) =>
      seq(
        field("target", choice($._variable, $.tuple_target)),
        "=",
        field("value", $._expression),
      ),

    tuple_target: ($) => seq("(", list(choice($._variable, $.wildcard)), ")"),

    _variable: ($) => choice($.identifier, alias($.instance, $.item)),

    // `y[i]`: the instance of a vertex.
    instance: ($) => seq(field("value", $.identifier), "[", field("index", $._expression), "]"),

    // Patterns and expressions.

    _expression: ($) =>
      choice(
        $.alternatives,
        $.binary,
        $.not,
        $.is,
        $.negation,
        $.if,
        $.case,
        $.either,
        $.call,
        $.field,
        $.item,
        $.slice,
        $.spread,
        $.optional,
        $.comprehension,
        $.tuple,
        $.parenthesized,
        $.wildcard,
        $.identifier,
        $.string,
        $.number,
        $.boolean,
        $.none,
      ),

    alternatives: ($) =>
      prec.left(PREC.alternative, seq($._expression, "|", $._expression)),

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

    not: ($) => prec.right(PREC.not, seq("not", $._expression)),

    is: ($) => prec.left(PREC.compare, seq($._expression, "is", field("kind", $.kind))),

    kind: (_) => choice("parameter", "constant", "variable", "input", "present", "absent"),

    negation: ($) => prec(PREC.negate, seq("-", $._expression)),

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

    case: ($) =>
      seq("case", field("subject", $._variable), "{", field("alternative", $._expression), "}"),

    either: ($) => prec(PREC.either, seq("either", $.call)),

    call: ($) =>
      prec.right(
        PREC.postfix,
        seq(
          field("function", choice($.identifier, $.field, alias("const", $.identifier))),
          field("arguments", $.arguments),
          field("attributes", optional($.attributes)),
        ),
      ),

    arguments: ($) => choice(seq("(", list($._expression), ")"), seq("(", $._each, ")")),

    attributes: ($) => seq("{", list(choice($.attribute, $.like)), "}"),

    attribute: ($) => seq(field("name", $.identifier), ":", field("value", $._expression)),

    like: ($) => seq("..", field("vertex", $._variable)),

    field: ($) =>
      prec.left(PREC.postfix, seq(field("value", $._expression), ".", field("name", $.identifier))),

    item: ($) =>
      prec.left(
        PREC.postfix,
        seq(field("value", $._expression), "[", field("index", $._expression), "]"),
      ),

    slice: ($) =>
      prec.left(
        PREC.postfix,
        seq(
          field("value", $._expression),
          "[",
          field("low", optional($._expression)),
          "..",
          field("high", optional($._expression)),
          "]",
        ),
      ),

    spread: ($) =>
      prec.left(PREC.postfix, seq(field("value", $._expression), "[", "*", "]")),

    optional: ($) => prec(PREC.postfix, seq($.identifier, "?")),

    comprehension: ($) => seq("[", $._each, "]"),

    _each: ($) =>
      seq(
        field("body", $._expression),
        "for",
        field("symbol", $.identifier),
        optional(seq("in", field("over", $._expression))),
        optional(seq("if", field("filter", $._expression))),
      ),

    tuple: ($) => seq("[", list($._expression), "]"),

    parenthesized: ($) => seq("(", list($._expression), ")"),

    wildcard: (_) => "_",

    boolean: (_) => choice("true", "false"),

    none: (_) => "none",

    number: (_) =>
      choice(/[0-9][0-9_]*(\.[0-9][0-9_]*)?([eE][+-]?[0-9][0-9_]*)?/, "inf", "nan"),

    string: (_) => /"([^"\\\n]|\\.)*"/,

    identifier: (_) => /[A-Za-z_][A-Za-z0-9_]*/,
  },
});
