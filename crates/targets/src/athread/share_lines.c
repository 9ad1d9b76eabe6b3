
static inline void share_along_row(char *box, char *share, long rows, long columns, long bytes, long place)
{
  if (columns > 0)
    exchange_row(box, share, rows, columns * bytes, SHARE_PART(rows, CORE_COLUMNS), place);
}

static inline void share_along_column(char *box, char *share, long rows, long columns, long bytes, long place)
{
  if (columns > 0)
    exchange_column(box, share, rows, columns * bytes, SHARE_PART(rows, CORE_ROWS), place);
}

/* Columns of cores first, each a part of the box; then these parts along rows. */
static inline void share_among_all(char *box, char *share, long rows, long columns, long bytes, long core)
{
  const long part = SHARE_PART(rows, CORE_COLUMNS), place = core % CORE_COLUMNS, left = LOZENGE_MIN(part, rows - place * part);
  char *own = box + place * part * columns * bytes;
  if (columns <= 0)
    return;
  if (CORE_ROWS > 1)
    exchange_column(own, share, left, columns * bytes, SHARE_PART(part, CORE_ROWS), core / CORE_COLUMNS);
  exchange_row(box, CORE_ROWS > 1 ? own : share, rows, columns * bytes, part, place);
}
