
/* Panels: the cores have rows of a matrix, `each` of them a core in the order of their numbers, and need columns of them all. */

/* To a core of the line, and from the one as far behind: pieces of some words, from places in groups of `per`, to places that follow each other. Two words
 * are sent before two are taken, so that they are on their way meanwhile: four is what the way holds. */
#define SHIFT(name, PUT, GET, SCOPE)                                                                 \
static void name(char *to, const char *from, long in_group, long per, long group, long pieces, long words, long target, int line) \
{                                                                                                    \
  doublev4 v;                                                                                        \
  const long some = LOZENGE_MIN(words, 2), all = pieces * (words / some);                            \
  long at = 0, in = 0;                                                                               \
  for (long part = 0; part <= all; part++) {                                                         \
    if (part < all) {                                                                                \
      for (long word = 0; word < some; word++) {                                                     \
        simd_loadu(v, from + 32 * (at + word));                                                      \
        PUT(v, target);                                                                              \
      }                                                                                              \
      at += some;                                                                                    \
      if (at == words) {                                                                             \
        at = 0, in++;                                                                                \
        from += in_group;                                                                            \
        if (in == per) {                                                                             \
          in = 0;                                                                                    \
          from += group - per * in_group;                                                            \
        }                                                                                            \
      }                                                                                              \
    }                                                                                                \
    if (part > 0)                                                                                    \
      for (long word = 0; word < some; word++) {                                                     \
        GET(v);                                                                                      \
        simd_storeu(v, to + ((part - 1) * some + word) * 32);                                        \
      }                                                                                              \
    /* A load and a store at any address; the emulator itself counts the words. */                   \
    emulated_compute(4 * some + 6, 0);                                                               \
  }                                                                                                  \
  /* Who goes on to the next place could else overtake what is still on its way. */                  \
  athread_syn(SCOPE, line);                                                                          \
}

SHIFT(shift_along_row, REG_PUTR, REG_GETR, ROW_SCOPE)
SHIFT(shift_along_column, REG_PUTC, REG_GETC, COL_SCOPE)

static void move_pieces(char *to, const char *from, long in_group, long per, long group, long pieces, long words)
{
  for (long piece = 0; piece < pieces; piece++)
    for (long word = 0; word < words; word++) {
      doublev4 v;
      simd_loadu(v, from + piece / per * group + piece % per * in_group + 32 * word);
      simd_storeu(v, to + (piece * words + word) * 32);
    }
  emulated_compute((4 * words + 4) * pieces + 12, 0);
}

/* Core k gets strip k of the columns from `rows` on: `bytes` of each row. Along rows of cores first, what the columns of cores need; then along these, in
 * which there are `lines` cores. */
static void exchange_panel(char *columns, char *half_way, const char *rows, long pitch, long each, long bytes, long core, long lines)
{
  const long row = core / 8, column = core % 8, words = bytes / 32, from_row = lines * each, from_column = 8 * each;
  for (long by = 0; by < 8; by++) {
    char *to = half_way + (column + 8 - by) % 8 * from_row * bytes;
    const char *from = rows + (column + by) % 8 * bytes;
    if (by == 0)
      move_pieces(to, from, 8 * bytes, lines, pitch, from_row, words);
    else
      shift_along_row(to, from, 8 * bytes, lines, pitch, from_row, words, (column + by) % 8, 0xff);
  }
  for (long by = 0; by < lines; by++) {
    char *to = columns + (row + lines - by) % lines * from_column * bytes;
    const char *from = half_way + (row + by) % lines * bytes;
    if (by == 0)
      move_pieces(to, from, lines * bytes, 8, 8 * lines * bytes, from_column, words);
    else
      shift_along_column(to, from, lines * bytes, 8, 8 * lines * bytes, from_column, words, (row + by) % lines, (1 << lines) - 1);
  }
}

/* Every core gets `bytes` from each, in the order of their numbers. */
static void gather_panel(char *all, char *half_way, const char *own, long bytes, long core, long lines)
{
  const long row = core / 8, column = core % 8, words = (bytes + 31) / 32;
  doublev4 v;
  for (long from = 0; from < 8; from++) {
    char *to = half_way + (8 * row + from) * words * 32;
    for (long word = 0; word < words; word++) {
      if (from == column) {
        simd_loadu(v, own + 32 * word);
        REG_PUTR(v, 8);
      } else
        REG_GETR(v);
      simd_storeu(v, to + 32 * word);
    }
    emulated_compute(5 * words + 4, 0);
    athread_syn(ROW_SCOPE, 0xff);
  }
  for (long from = 0; from < lines; from++) {
    char *to = half_way + 8 * from * words * 32;
    for (long word = 0; word < 8 * words; word++) {
      if (from == row) {
        simd_loadu(v, to + 32 * word);
        /* To each where some cores of the column do not run, and would not take it. */
        if (lines == 8)
          REG_PUTC(v, 8);
        else
          for (long near = 1; near < lines; near++)
            REG_PUTC(v, (int)((row + near) % lines));
      } else {
        REG_GETC(v);
        simd_storeu(v, to + 32 * word);
      }
    }
    emulated_compute(24 * words + (from == row && lines < 8 ? 8 * lines * words : 0) + 4, 0);
    athread_syn(COL_SCOPE, (1 << lines) - 1);
  }
  for (long from = 0; from < 8 * lines; from++)
    for (long at = 0; at < bytes; at += 4)
      *(int *)(all + from * bytes + at) = *(int *)(half_way + from * words * 32 + at);
  emulated_compute(8 * lines * (bytes / 2 + 4), 0);
}
