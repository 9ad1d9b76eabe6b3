
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
