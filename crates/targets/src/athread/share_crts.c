
/* The exchange: each core of a line in turn hands its part to the others. Where not all cores of the chip's line take part, it goes to each that does. */
static __thread_local crts_rply_t parts_sent, parts_received;

#define EXCHANGE(name, broadcast, wait_for_line, NUMBER, CORES)                                                              \
static void name(char *box, char *share, long rows, long row_bytes, long part, long place)                                   \
{                                                                                                                            \
  int sent = 0, received = 0;                                                                                                \
  if (CORES == 8) {                                                                                                          \
    for (long from = 0; from < CORES && from * part < rows; from++)                                                          \
      broadcast(box + from * part * row_bytes, share, (int)(LOZENGE_MIN(part, rows - from * part) * row_bytes), (int)from);  \
    return;                                                                                                                  \
  }                                                                                                                          \
  parts_sent = 0;                                                                                                            \
  parts_received = 0;                                                                                                        \
  /* All of them have used what was there before. */                                                                         \
  wait_for_line();                                                                                                           \
  for (long from = 0; from < CORES && from * part < rows; from++) {                                                          \
    const long bytes = LOZENGE_MIN(part, rows - from * part) * row_bytes;                                                    \
    char *to = box + from * part * row_bytes;                                                                                \
    if (from != place) {                                                                                                     \
      received++;                                                                                                            \
      continue;                                                                                                              \
    }                                                                                                                        \
    for (long other = 0; other < CORES; other++)                                                                             \
      if (other != place) {                                                                                                  \
        CRTS_rma_iput(share, &parts_sent, (int)bytes, NUMBER(other), to, &parts_received);                                   \
        sent++;                                                                                                              \
      }                                                                                                                      \
    CRTS_rma_wait_value(&parts_sent, sent);                                                                                  \
    for (long k = 0; k < bytes && to != share; k++)                                                                          \
      to[k] = share[k];                                                                                                      \
    emulated_compute(to != share ? bytes / 16 + 14 : 14, 0);                                                                 \
  }                                                                                                                          \
  CRTS_rma_wait_value(&parts_received, received);                                                                            \
}

#define IN_ROW(other) ((int)(CRTS_tid / 8 * 8 + (other)))
#define IN_COLUMN(other) ((int)(8 * (other) + CRTS_tid % 8))
EXCHANGE(exchange_row, CRTS_rma_row_bcast_coll, CRTS_ssync_row, IN_ROW, CORE_COLUMNS)
EXCHANGE(exchange_column, CRTS_rma_col_bcast_coll, CRTS_ssync_col, IN_COLUMN, CORE_ROWS)
