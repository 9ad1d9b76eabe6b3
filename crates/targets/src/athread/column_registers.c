
/* Panels of columns: replies for rows on their way in and out. */
__thread_local volatile int panel_in[SLOTS];
__thread_local volatile int panel_out[SLOTS];

/* The place of what a block of rows has of a panel: one for each pair of remainders, since one of two is used up when the other comes. */
static inline long column_cell(long parts, long block, long panel)
{
  const long one = block % parts, other = panel % parts, most = LOZENGE_MAX(one, other), least = LOZENGE_MIN(one, other);
  return most * (most + 1) / 2 + least;
}

/* Registers from one place in local memory to another. */
static void keep_columns(char *to, const char *from, long words)
{
  doublev4 v;
  for (long word = 0; word < words; word++) {
    simd_loadu(v, from + 32 * word);
    simd_storeu(v, to + 32 * word);
  }
  emulated_compute(4 * words + 8, 0);
}

/* A line through all cores, along the first row, back along the second, and so on. */
static inline long column_place(long core)
{
  const long row = core / 8, column = core % 8;
  return 8 * row + (row % 2 ? 7 - column : column);
}

/* Registers from the core before in the line, if there is one. */
static void take_columns(char *to, long words, long core)
{
  const long row = core / 8, column = core % 8;
  doublev4 v;
  if (core == 0)
    return;
  for (long word = 0; word < words; word++) {
    if (column == (row % 2 ? 7 : 0))
      REG_GETC(v);
    else
      REG_GETR(v);
    simd_storeu(v, to + 32 * word);
  }
  emulated_compute(4 * words + 8, 0);
}

/* Registers to the core after it, if there is one. */
static void send_columns(const char *from, long words, long core, long lines)
{
  const long row = core / 8, column = core % 8;
  doublev4 v;
  for (long word = 0; word < words; word++) {
    simd_loadu(v, from + 32 * word);
    if (column != (row % 2 ? 0 : 7))
      REG_PUTR(v, row % 2 ? column - 1 : column + 1);
    else if (row + 1 < lines)
      REG_PUTC(v, row + 1);
  }
  emulated_compute(4 * words + 8, 0);
}

/* Registers of the last core in the line to all. */
static void spread_columns(char *all, long words, long core, long lines)
{
  const long row = core / 8, column = core % 8, last = lines - 1;
  doublev4 v;
  for (long word = 0; word < words; word++) {
    if (row != last) {
      REG_GETC(v);
      simd_storeu(v, all + 32 * word);
      continue;
    }
    if (column == (last % 2 ? 0 : 7)) {
      simd_loadu(v, all + 32 * word);
      REG_PUTR(v, 8);
    } else {
      REG_GETR(v);
      simd_storeu(v, all + 32 * word);
    }
    /* To each where some cores of the column do not run, and would not take it. */
    if (lines == 8)
      REG_PUTC(v, 8);
    else
      for (long near = 1; near < lines; near++)
        REG_PUTC(v, (int)((row + near) % lines));
  }
  emulated_compute((6 + (row == last && lines < 8 ? 2 * lines : 0)) * words + 8, 0);
}
