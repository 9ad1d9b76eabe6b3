
/* A box that all cores of a row or a column need: each brings in a share of its rows, and hands it to the others. */
#define SHARERS 8

/* Elements of this core's share. */
static inline long shared_elements(long rows, long columns, long place)
{
  const long part = (rows + SHARERS - 1) / SHARERS;
  return LOZENGE_MAX(0, LOZENGE_MIN(part, rows - place * part)) * LOZENGE_MAX(0, columns);
}

static inline int get_share(void *share, const void *memory, long rows, long columns, long pitch, long bytes, long place, crts_rply_t *reply)
{
  const long part = (rows + SHARERS - 1) / SHARERS, first = place * part;
  return get_box(share, (const char *)memory + first * pitch * bytes, LOZENGE_MIN(part, rows - first), columns, pitch, bytes, reply);
}

#define SHARE_BOX(name, broadcast)                                                                \
  static void name(char *box, const char *share, long rows, long columns, long bytes, long place) \
  {                                                                                               \
    (void)place;                                                                                  \
    if (rows <= 0 || columns <= 0)                                                                \
      return;                                                                                     \
    const long part = (rows + SHARERS - 1) / SHARERS;                                             \
    for (long from = 0; from * part < rows; from++)                                               \
      broadcast(box + from * part * columns * bytes, (void *)share,                               \
                (int)(LOZENGE_MIN(part, rows - from * part) * columns * bytes), (int)from);       \
  }

SHARE_BOX(share_along_row, CRTS_rma_row_bcast_coll)
SHARE_BOX(share_along_column, CRTS_rma_col_bcast_coll)
