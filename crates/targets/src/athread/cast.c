
/* All cores meet. What was waited for before is there for all of them behind it. */
#define MEET() athread_syn(ARRAY_SCOPE, 0xffff)

/* A box for all cores, at the same place of each: some of them bring in half a row each, others in the next step. */
static inline int cast_box(void *local, const void *memory, long rows, long columns, long pitch, long bytes, long core, long step, volatile int *reply)
{
  const long cores = CORE_ROWS * CORE_COLUMNS, parts = 2 * rows, half = (columns + 7) / 8 * 4;
  int sent = 0;
  if (rows <= 0 || columns <= 0)
    return 0;
  for (long part = (core + cores - step * parts % cores) % cores; part < parts; part += cores) {
    const long row = part / 2, first = part % 2 * half, length = LOZENGE_MIN(half, columns - first);
    if (length > 0) {
      athread_get(BCAST_MODE, (char *)memory + (row * pitch + first) * bytes, (char *)local + (row * columns + first) * bytes, (int)(length * bytes),
                  (void *)reply, (char)((1 << CORE_ROWS) - 1), 0, 0);
      sent++;
    }
  }
  return sent;
}

/* Rows that take turns: `place` has `steps` steps of each row. Two of them at a time are copied to the box; when the last have been copied, the row asks for those that
 * follow. Of each row: steps that are in its place, those of them that have been copied, and the next step of a copy. */
__thread_local volatile int turn_reply[2];
__thread_local int turn_sent[2], turn_steps[TURN_ROWS], turn_copied[TURN_ROWS], turn_next[TURN_ROWS];

static void ask_row(double *place, const double *memory, long row, long all, long pitch, long columns, long steps, long step)
{
  turn_copied[row] = 0;
  turn_sent[step % 2] += get_box(place + row * columns * steps, memory + row * pitch + columns * step, 1,
                                 LOZENGE_MIN(columns * turn_steps[row], all - columns * step), pitch, 8, &turn_reply[step % 2]);
}

/* From the first step on: fewer steps for most rows, so that they ask again at different times; no two cores in the same order. */
static void first_row(double *place, const double *memory, long row, long all, long pitch, long columns, long steps, long core)
{
  const long cores = CORE_ROWS * CORE_COLUMNS;
  turn_steps[row] = (int)(steps - (row * cores + core * 37 % cores) * (steps - 1) / (TURN_ROWS * cores));
  turn_next[row] = 0;
  ask_row(place, memory, row, all, pitch, columns, steps, 0);
}

static void first_rows(double *place, const double *memory, long rows, long all, long pitch, long columns, long steps, long core)
{
  for (int half = 0; half < 2; half++)
    turn_reply[half] = turn_sent[half] = 0;
  for (long row = 0; row < rows; row++)
    first_row(place, memory, row, all, pitch, columns, steps, core);
}

/* The rows of a step, multiplied with a number. The next step has its rows in the other half of the box, beside them. `again`: after the last step comes the first. */
static void turn_rows(double *box, double *place, const double *memory, long rows, long all, long pitch, long columns, long steps, long core, long step, long last,
                      long half, int again, double times)
{
  const long apart = (columns + 3) / 4 * 4;
  const doublev4 factors = simd_set_doublev4(times, times, times, times);
  long words = 0, turned = 0;
  doublev4 v;
  dma_wait(&turn_reply[step % 2], turn_sent[step % 2]);
  for (long row = 0; row < rows; row++) {
    const double *from = place + row * columns * steps + columns * turn_copied[row];
    double *to = box + 2 * apart * row;
    if (turn_next[row] != step)
      continue;
    /* An odd number of steps begins with one. */
    const long next = step + (turn_copied[row] == 0 && turn_steps[row] % 2 ? 1 : 2);
    for (long own = step; own < next; own++) {
      for (long column = 0; column < LOZENGE_MIN(columns, all - columns * own); column += 4) {
        simd_loadu(v, from + column);
        v = simd_vmuld(v, factors);
        simd_store(v, to + column);
        words++;
      }
      from += columns;
      to += half ? -apart : apart;
    }
    turn_copied[row] += (int)(next - step);
    turned++;
  }
  emulated_compute(3 * words + 10 * turned + 6 * LOZENGE_MAX(0, rows) + 24, 4 * words);
  /* What is broadcast has been asked for before, and needs the memory first. */
  for (long row = 0; row < rows; row++) {
    if (turn_next[row] != step)
      continue;
    turn_next[row] += turn_copied[row] == 1 ? 1 : 2;
    if (turn_next[row] >= last) {
      if (again)
        first_row(place, memory, row, all, pitch, columns, steps, core);
    } else if (turn_copied[row] == turn_steps[row]) {
      turn_steps[row] = (int)steps;
      ask_row(place, memory, row, all, pitch, columns, steps, turn_next[row]);
    }
  }
}
