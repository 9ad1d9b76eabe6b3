// Statements of a rule end where a line ends. Inside brackets, and behind a binary operator, line ends mean nothing: there the
// parser does not ask for one, and they are white space.

#include "tree_sitter/parser.h"

enum TokenType { LINE_END };

void *tree_sitter_gsl_external_scanner_create(void) { return NULL; }

void tree_sitter_gsl_external_scanner_destroy(void *payload) { (void)payload; }

unsigned tree_sitter_gsl_external_scanner_serialize(void *payload, char *buffer) {
  (void)payload;
  (void)buffer;
  return 0;
}

void tree_sitter_gsl_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
  (void)payload;
  (void)buffer;
  (void)length;
}

bool tree_sitter_gsl_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid_symbols) {
  (void)payload;
  if (!valid_symbols[LINE_END]) return false;
  while (lexer->lookahead == ' ' || lexer->lookahead == '\t' || lexer->lookahead == '\r') {
    lexer->advance(lexer, true);
  }
  if (lexer->lookahead != '\n') return false;
  lexer->advance(lexer, false);
  lexer->result_symbol = LINE_END;
  return true;
}
