
/* The exchange: each core of a line in turn sends its part to the others through registers. Words for all others go out at once where all cores of the chip's
 * line take part; else one for each, since a core that does not run would never take its word: by places on the chip, which those of shares need not be. */
#if CORE_COLUMNS == 8
#define SEND_ROW(v, place) REG_PUTR(v, 8);
#define ROW_PLACE 0
#else
#define ROW_PLACE (CORE_NUMBER % 8)
#define SEND_ROW(v, place) \
  for (int near = 1; near < CORE_COLUMNS; near++) \
    REG_PUTR(v, (int)((place + near) % CORE_COLUMNS));
#endif
#if CORE_ROWS == 8
#define SEND_COLUMN(v, place) REG_PUTC(v, 8);
#define COLUMN_PLACE 0
#else
#define COLUMN_PLACE (CORE_NUMBER / 8)
#define SEND_COLUMN(v, place) \
  for (int near = 1; near < CORE_ROWS; near++) \
    REG_PUTC(v, (int)((place + near) % CORE_ROWS));
#endif

#define SIXTEEN(STEP, move)                                                        \
  STEP(0, move) STEP(1, move) STEP(2, move) STEP(3, move) STEP(4, move)            \
  STEP(5, move) STEP(6, move) STEP(7, move) STEP(8, move) STEP(9, move)            \
  STEP(10, move) STEP(11, move) STEP(12, move) STEP(13, move) STEP(14, move) STEP(15, move)
#define FOUR(STEP, move) STEP(0, move) STEP(1, move) STEP(2, move) STEP(3, move)
#define TWO(STEP, move) STEP(0, move) STEP(1, move)
#define SEND_WORD(k, move)                                 \
  simd_load(v, (const doublev4 *)(from + 32 * (word + k))); \
  move(v, here)                                            \
  simd_store(v, (doublev4 *)(to_box + 32 * (word + k)));
#define TAKE_WORD(k, move) \
  move(v);                 \
  simd_store(v, (doublev4 *)(to_box + 32 * (word + k)));
/* At any address, by two slots each. */
#define SEND_PIECE(k, move)              \
  simd_loadu(v, from + 32 * (word + k)); \
  move(v, here)                          \
  simd_storeu(v, to_box + 32 * (word + k));
#define TAKE_PIECE(k, move) \
  move(v);                  \
  simd_storeu(v, to_box + 32 * (word + k));

/* Parts of `part` rows that follow each other; this core's is at `share`, which may be its place in the box. */
#define EXCHANGE(name, SEND, GET, SCOPE, CORES, PLACE)                                                                  \
static void name(char *box, char *share, long rows, long row_bytes, long part, long place)                              \
{                                                                                                                       \
  const int in_place = share == box + place * part * row_bytes;                                                         \
  const long here = PLACE;                                                                                              \
  doublev4 v, head;                                                                                                     \
  /* Whole words of the part before this one go beyond its end. */                                                      \
  const char *first = in_place && place * part < rows ? share : box;                                                    \
  simd_loadu(head, first);                                                                                              \
  (void)here;                                                                                                           \
  for (long sender = 0; sender < CORES && sender * part < rows; sender++) {                                             \
    const int mine = sender == place;                                                                                   \
    char *to_box = box + sender * part * row_bytes;                                                                     \
    const char *from = share;                                                                                           \
    const long words = (LOZENGE_MIN(part, rows - sender * part) * row_bytes + 31) / 32;                                 \
    const int aligned = (unsigned long)to_box % sizeof(doublev4) == 0;                                                  \
    long word = 0;                                                                                                      \
    if (mine) {                                                                                                         \
      if (in_place) {                                                                                                   \
        simd_storeu(head, share);                                                                                       \
      }                                                                                                                 \
      if (aligned)                                                                                                      \
        for (; word + 15 < words; word += 16) {                                                                         \
          SIXTEEN(SEND_WORD, SEND)                                                                                      \
        }                                                                                                               \
      if (aligned)                                                                                                      \
        for (; word + 1 < words; word += 2) {                                                                           \
          TWO(SEND_WORD, SEND)                                                                                          \
        }                                                                                                               \
      for (; word < words; word++) {                                                                                    \
        SEND_PIECE(0, SEND)                                                                                             \
      }                                                                                                                 \
    } else {                                                                                                            \
      if (aligned)                                                                                                      \
        for (; word + 15 < words; word += 16) {                                                                         \
          SIXTEEN(TAKE_WORD, GET)                                                                                       \
        }                                                                                                               \
      if (aligned)                                                                                                      \
        for (; word + 1 < words; word += 2) {                                                                           \
          TWO(TAKE_WORD, GET)                                                                                           \
        }                                                                                                               \
      for (; word < words; word++) {                                                                                    \
        TAKE_PIECE(0, GET)                                                                                              \
      }                                                                                                                 \
    }                                                                                                                   \
    /* A load where it is sent from, and a store; the emulator itself counts the words, not whom to. */                               \
    const long lots = aligned ? words / 16 : 0, twos = aligned ? words % 16 / 2 : 0, ones = words - 16 * lots - 2 * twos; \
    emulated_compute((16 * (mine + 1) + 2) * lots + (2 * (mine + 1) + 2) * twos + (2 * mine + 4) * ones + (mine && CORES < 8 ? CORES * words : 0) + 14, 0);       \
    /* Who sends next could else overtake what is still on its way. */                                                  \
    athread_syn(SCOPE, (1 << CORES) - 1);                                                                               \
  }                                                                                                                     \
}

EXCHANGE(exchange_row, SEND_ROW, REG_GETR, ROW_SCOPE, CORE_COLUMNS, ROW_PLACE)
EXCHANGE(exchange_column, SEND_COLUMN, REG_GETC, COL_SCOPE, CORE_ROWS, COLUMN_PLACE)
