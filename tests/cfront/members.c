// Members of structures: arrays of them, one within another, behind pointers, as sizes, and what of them may overlap.
typedef struct { double x, y; } pair;
struct cell { pair at; float w[3]; int kind; unsigned flag : 1; struct cell *next; };
struct grid { int n; double *data; double *restrict other; double dx, sum; struct cell cells[20]; };
typedef struct late late;
struct late { double first; };
struct cell all[10][8];

void arrays(int n, struct cell *p, struct cell *q)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    p[i].at.x = p[i].at.y + q[i].w[2];
    all[i][2].kind += q[i].kind;
    for (int k = 0; k < 3; k++)
      p[i].w[k] = 0;
  }
#pragma endscop
}

/* Alone they are objects; a pointer that is a member points anywhere, unless it says `restrict`. */
void objects(struct grid *restrict g, struct grid h, late *l)
{
#pragma scop
  g->sum = 0;
  for (int i = 0; i < g->n; i++) {
    g->sum += g->dx * g->data[i];
    g->other[i] = h.other[i] * l->first;
    g->cells[i].kind = h.cells[i].kind + h.n;
    (*g).dx = 0;
  }
#pragma endscop
}

/* Rows of a structure's size, and flat ones. */
void rows(struct grid *g, double (*restrict a)[g->n], struct cell *restrict c, int m)
{
#pragma scop
  for (int i = 0; i < m; i++)
    for (int j = 0; j < g->n; j++) {
      a[i][j] = g->data[i * g->n + j];
      c[i * g->n + j].kind = 1;
    }
#pragma endscop
}

/* What is dead after the region is a local variable of it. */
double dead(int n, double *restrict a)
{
  pair t = {0, 0}, kept = {0, 0};
#pragma scop
  for (int i = 0; i < n; i++) {
    t.x = a[i] * a[i];
    kept.y += t.x;
    a[i] = t.x + 1;
  }
#pragma endscop
  return kept.y;
}

/* New memory that is handed on stays that of its pointer. */
void init(int n, pair *p);
void fresh(int n)
{
  pair *p = malloc(sizeof *p * n), *q = malloc(sizeof *q * n);
  init(n, p);
  init(n, q);
#pragma scop
  for (int i = 0; i < n; i++) {
    p[i].x = q[i].x;
    q[i].y = p[i].y;
  }
#pragma endscop
}

/* As values: assigned as a whole, declared, chosen; one with a pointer, or with members without a name, is left alone. */
struct point { double x, y; int tag[2]; };
struct mixed { int kind; union { int a; float b; }; };
void values(int n, struct point *restrict p, const struct point *restrict q, const int *restrict at)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    struct point a = q[at[i]], b = {a.y}, both[2];
    both[0] = a.x > 0 ? a : b;
    p[i] = both[0];
  }
#pragma endscop
}
void not_values(int n, struct mixed *restrict p, struct mixed *restrict q, struct cell *restrict c)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    p[i] = q[i];
    c[i] = c[i + 1];
  }
#pragma endscop
}
void own_subscript(int n, struct point *restrict p)
{
#pragma scop
  for (int i = 0; i < n; i++)
    p[i] = p[p[i].tag[0]];
#pragma endscop
}
