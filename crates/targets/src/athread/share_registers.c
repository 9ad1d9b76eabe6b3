
/* A box that all cores of a row or a column need: each brings in a share of its rows, and sends it to the others through registers. */
#define SHARERS 8

/* Elements of this core's share. */
static inline long shared_elements(long rows, long columns, long place)
{
  const long part = (rows + SHARERS - 1) / SHARERS;
  return LOZENGE_MAX(0, LOZENGE_MIN(part, rows - place * part)) * LOZENGE_MAX(0, columns);
}

static inline int get_share(void *share, const void *memory, long rows, long columns, long pitch, long bytes, long place, volatile int *reply)
{
  const long part = (rows + SHARERS - 1) / SHARERS, first = place * part;
  return get_box(share, (const char *)memory + first * pitch * bytes, LOZENGE_MIN(part, rows - first), columns, pitch, bytes, reply);
}

#define SIXTEEN(STEP, move, store)                                                         \
  STEP(0, move, store) STEP(1, move, store) STEP(2, move, store) STEP(3, move, store) \
  STEP(4, move, store) STEP(5, move, store) STEP(6, move, store) STEP(7, move, store) \
  STEP(8, move, store) STEP(9, move, store) STEP(10, move, store) STEP(11, move, store) \
  STEP(12, move, store) STEP(13, move, store) STEP(14, move, store) STEP(15, move, store)
#define TWO(STEP, move, store) STEP(0, move, store) STEP(1, move, store)
#define SEND_WORD(k, move, store)                            \
  simd_load(v, (const doublev4 *)(share + 32 * (word + k))); \
  move(v, 8);                                                \
  store(v, (doublev4 *)(to + 32 * (word + k)));
#define TAKE_WORD(k, move, store) \
  move(v);                        \
  store(v, (doublev4 *)(to + 32 * (word + k)));

#define SHARE_BOX(name, PUT, GET, SCOPE)                                                               \
static void name(char *box, const char *share, long rows, long columns, long bytes, long place)        \
{                                                                                                      \
  if (rows <= 0 || columns <= 0)                                                                       \
    return;                                                                                            \
  const long part = (rows + SHARERS - 1) / SHARERS;                                                    \
  for (long from = 0; from < SHARERS; from++) {                                                        \
    const long mine = LOZENGE_MIN(part, rows - from * part);                                           \
    if (mine <= 0)                                                                                     \
      break;                                                                                           \
    char *to = box + from * part * columns * bytes;                                                    \
    const long words = (mine * columns * bytes + 31) / 32;                                             \
    const int aligned = (unsigned long)to % sizeof(doublev4) == 0;                                     \
    long word = 0;                                                                                     \
    doublev4 v;                                                                                        \
    if (from == place) {                                                                               \
      if (aligned)                                                                                     \
        for (; word + 15 < words; word += 16) {                                                        \
          SIXTEEN(SEND_WORD, PUT, simd_store)                                                            \
        }                                                                                              \
      if (aligned)                                                                                     \
        for (; word + 1 < words; word += 2) {                                                          \
          TWO(SEND_WORD, PUT, simd_store)                                                              \
        }                                                                                              \
      for (; word < words; word++) {                                                                   \
        SEND_WORD(0, PUT, simd_storeu)                                                                 \
      }                                                                                                \
    } else {                                                                                           \
      if (aligned)                                                                                     \
        for (; word + 15 < words; word += 16) {                                                        \
          SIXTEEN(TAKE_WORD, GET, simd_store)                                                            \
        }                                                                                              \
      if (aligned)                                                                                     \
        for (; word + 1 < words; word += 2) {                                                          \
          TWO(TAKE_WORD, GET, simd_store)                                                              \
        }                                                                                              \
      for (; word < words; word++) {                                                                   \
        TAKE_WORD(0, GET, simd_storeu)                                                                 \
      }                                                                                                \
    }                                                                                                  \
    /* A load where it is sent from, and a store; the emulator itself counts the word. */              \
    const long lots = aligned ? words / 16 : 0, twos = aligned ? words % 16 / 2 : 0, mine_too = from == place; \
    const long ones = words - 16 * lots - 2 * twos;                                                     \
    emulated_compute((16 * (mine_too + 1) + 2) * lots + (2 * (mine_too + 1) + 2) * twos + (mine_too + 4) * ones + 14, 0); \
    /* Who sends next could else overtake what is still on its way. */                                 \
    athread_syn(SCOPE, 0xff);                                                                          \
  }                                                                                                    \
}

SHARE_BOX(share_along_row, REG_PUTR, REG_GETR, ROW_SCOPE)
SHARE_BOX(share_along_column, REG_PUTC, REG_GETC, COL_SCOPE)

/* As above, of a share with `pitch` elements between its rows. */
#define FOUR(STEP, move) STEP(0, move) STEP(1, move) STEP(2, move) STEP(3, move)
#define SEND_PIECE(k, move)              \
  simd_loadu(v, from + 32 * (word + k)); \
  move(v, 8);                            \
  simd_storeu(v, to + 32 * (word + k));
#define TAKE_PIECE(k, move) \
  move(v);                  \
  simd_storeu(v, to + 32 * (word + k));

#define SHARE_PIECES(name, PUT, GET, SCOPE)                                                                      \
static inline void name(char *box, const char *share, long pitch, long rows, long columns, long bytes, long place) \
{                                                                                                                \
  if (rows <= 0 || columns <= 0)                                                                                 \
    return;                                                                                                      \
  const long part = (rows + SHARERS - 1) / SHARERS, words = (columns * bytes + 31) / 32;                         \
  const int aligned = ((unsigned long)box | (unsigned long)share | (pitch * bytes) | (columns * bytes)) % 32 == 0; \
  for (long sender = 0; sender < SHARERS; sender++) {                                                            \
    const long mine = LOZENGE_MIN(part, rows - sender * part);                                                   \
    if (mine <= 0)                                                                                               \
      break;                                                                                                     \
    doublev4 v;                                                                                                  \
    const int four = aligned && words == 4;                                                                      \
    for (long row = 0; four && row < mine; row++) {                                                              \
      const char *from = share + row * pitch * bytes;                                                            \
      char *to = box + (sender * part + row) * columns * bytes;                                                  \
      const long word = 0;                                                                                       \
      if (sender == place) {                                                                                     \
        FOUR(SEND_PIECE, PUT)                                                                                    \
      } else {                                                                                                   \
        FOUR(TAKE_PIECE, GET)                                                                                    \
      }                                                                                                          \
    }                                                                                                            \
    for (long row = 0; !four && row < mine; row++) {                                                             \
      const char *from = share + row * pitch * bytes;                                                            \
      char *to = box + (sender * part + row) * columns * bytes;                                                  \
      long word = 0;                                                                                             \
      if (sender == place) {                                                                                     \
        for (; word + 3 < words; word += 4) {                                                                    \
          FOUR(SEND_PIECE, PUT)                                                                                  \
        }                                                                                                        \
        for (; word < words; word++) {                                                                           \
          SEND_PIECE(0, PUT)                                                                                     \
        }                                                                                                        \
      } else {                                                                                                   \
        for (; word + 3 < words; word += 4) {                                                                    \
          FOUR(TAKE_PIECE, GET)                                                                                  \
        }                                                                                                        \
        for (; word < words; word++) {                                                                           \
          TAKE_PIECE(0, GET)                                                                                     \
        }                                                                                                        \
      }                                                                                                          \
    }                                                                                                            \
    /* A load where it is sent from, and a store, of two slots each at any address; the emulator itself counts the word. */ \
    const long each = ((sender == place) + 1) * (aligned ? 1 : 2);                                               \
    emulated_compute((four ? 4 * each + 4 : (4 * each + 2) * (words / 4) + (each + 2) * (words % 4) + 4) * mine + 14, 0); \
    /* Who sends next could else overtake what is still on its way. */                                           \
    athread_syn(SCOPE, 0xff);                                                                                    \
  }                                                                                                              \
}

SHARE_PIECES(share_pieces_along_row, REG_PUTR, REG_GETR, ROW_SCOPE)
SHARE_PIECES(share_pieces_along_column, REG_PUTC, REG_GETC, COL_SCOPE)
