
/* Boxes that several cores need alike: each brings in a share of their rows. */
#define SHARE_PART(rows, cores) (((rows) + (cores) - 1) / (cores))

/* Rows of this core's share, and the first of them. */
static inline long share_rows_along_row(long rows, long place, long *first)
{
  *first = place * SHARE_PART(rows, CORE_COLUMNS);
  return LOZENGE_MAX(0, LOZENGE_MIN(SHARE_PART(rows, CORE_COLUMNS), rows - *first));
}

static inline long share_rows_along_column(long rows, long place, long *first)
{
  *first = place * SHARE_PART(rows, CORE_ROWS);
  return LOZENGE_MAX(0, LOZENGE_MIN(SHARE_PART(rows, CORE_ROWS), rows - *first));
}

/* A part for each column of cores, cut again for the cores of the column. */
static inline long share_rows_among_all(long rows, long core, long *first)
{
  const long all = SHARE_PART(rows, CORE_COLUMNS), from = core % CORE_COLUMNS * all, part = SHARE_PART(all, CORE_ROWS);
  *first = from + core / CORE_COLUMNS * part;
  return LOZENGE_MAX(0, LOZENGE_MIN(part, LOZENGE_MIN(from + all, rows) - *first));
}

/* A box of this core alone. */
static inline long share_rows_by_itself(long rows, long core, long *first)
{
  (void)core;
  *first = 0;
  return LOZENGE_MAX(0, rows);
}

#define SHARES(line)                                                                                                       \
  static inline long shared_elements_##line(long rows, long columns, long place)                                           \
  {                                                                                                                        \
    long first;                                                                                                            \
    return share_rows_##line(rows, place, &first) * LOZENGE_MAX(0, columns);                                               \
  }                                                                                                                        \
  static inline int get_share_##line(void *share, const void *memory, long rows, long columns, long pitch, long bytes,     \
                                     long place, REPLY *reply)                                                             \
  {                                                                                                                        \
    long first;                                                                                                            \
    const long mine = share_rows_##line(rows, place, &first);                                                              \
    return get_box(share, (const char *)memory + first * pitch * bytes, mine, columns, pitch, bytes, reply);               \
  }

SHARES(along_row)
SHARES(along_column)
SHARES(among_all)
SHARES(by_itself)

/* From the place where it came in, with `pitch` elements between its rows, to where it is used. Whole words go beyond the end of each row. */
static inline void share_pieces_by_itself(char *box, const char *share, long pitch, long rows, long columns, long bytes, long core)
{
  const long words = (columns * bytes + 31) / 32;
  doublev4 v;
  (void)core;
  if (rows <= 0 || columns <= 0)
    return;
  for (long row = 0; row < rows; row++)
    for (long word = 0; word < words; word++) {
      simd_loadu(v, share + row * pitch * bytes + 32 * word);
      simd_storeu(v, box + row * columns * bytes + 32 * word);
    }
  emulated_compute((4 * words + 4) * rows + 4, 0);
}

static inline void share_by_itself(char *box, const char *share, long rows, long columns, long bytes, long core)
{
  share_pieces_by_itself(box, share, columns, rows, columns, bytes, core);
}
