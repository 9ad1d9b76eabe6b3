
/* As above, of a share with `pitch` elements between its rows. */
#define SHARE_PIECES(name, SEND, GET, SCOPE, CORES)                                                                              \
static inline void name(char *box, const char *share, long pitch, long rows, long columns, long bytes, long place)               \
{                                                                                                                                \
  if (rows <= 0 || columns <= 0)                                                                                                 \
    return;                                                                                                                      \
  const long part = SHARE_PART(rows, CORES), words = (columns * bytes + 31) / 32;                                                \
  const int aligned = ((unsigned long)box | (unsigned long)share | (pitch * bytes) | (columns * bytes)) % 32 == 0;               \
  for (long sender = 0; sender < CORES && sender * part < rows; sender++) {                                                      \
    const long mine = LOZENGE_MIN(part, rows - sender * part);                                                                   \
    const long here = place;                                                                                                     \
    doublev4 v;                                                                                                                  \
    const int four = aligned && words == 4;                                                                                      \
    for (long row = 0; four && row < mine; row++) {                                                                              \
      const char *from = share + row * pitch * bytes;                                                                            \
      char *to_box = box + (sender * part + row) * columns * bytes;                                                              \
      const long word = 0;                                                                                                       \
      if (sender == place) {                                                                                                     \
        FOUR(SEND_PIECE, SEND)                                                                                                   \
      } else {                                                                                                                   \
        FOUR(TAKE_PIECE, GET)                                                                                                    \
      }                                                                                                                          \
    }                                                                                                                            \
    for (long row = 0; !four && row < mine; row++) {                                                                             \
      const char *from = share + row * pitch * bytes;                                                                            \
      char *to_box = box + (sender * part + row) * columns * bytes;                                                              \
      long word = 0;                                                                                                             \
      if (sender == place) {                                                                                                     \
        for (; word + 3 < words; word += 4) {                                                                                    \
          FOUR(SEND_PIECE, SEND)                                                                                                 \
        }                                                                                                                        \
        for (; word < words; word++) {                                                                                           \
          SEND_PIECE(0, SEND)                                                                                                    \
        }                                                                                                                        \
      } else {                                                                                                                   \
        for (; word + 3 < words; word += 4) {                                                                                    \
          FOUR(TAKE_PIECE, GET)                                                                                                  \
        }                                                                                                                        \
        for (; word < words; word++) {                                                                                           \
          TAKE_PIECE(0, GET)                                                                                                     \
        }                                                                                                                        \
      }                                                                                                                          \
    }                                                                                                                            \
    (void)here;                                                                                                                  \
    /* A load where it is sent from, and a store, of two slots each at any address; the emulator itself counts the word. */      \
    const long each = ((sender == place) + 1) * (aligned ? 1 : 2);                                                               \
    emulated_compute((four ? 4 * each + 4 : (4 * each + 2) * (words / 4) + (each + 2) * (words % 4) + 4) * mine + 14, 0);        \
    /* Who sends next could else overtake what is still on its way. */                                                           \
    athread_syn(SCOPE, (1 << CORES) - 1);                                                                                        \
  }                                                                                                                              \
}

SHARE_PIECES(share_pieces_along_row, SEND_ROW, REG_GETR, ROW_SCOPE, CORE_COLUMNS)
SHARE_PIECES(share_pieces_along_column, SEND_COLUMN, REG_GETC, COL_SCOPE, CORE_ROWS)
