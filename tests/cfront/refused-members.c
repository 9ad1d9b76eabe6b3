// Members that are not understood: of unions, of bits, of what has no declaration, of one element by two names; structures as values; rows that pointers name.
struct cell { double x; unsigned flag : 3; volatile double v; struct cell *next; double *row; };
union number { double real; long whole; };
struct hidden;
struct cell make(int k);

void members(int n, struct cell *restrict p, union number *restrict u, struct hidden *h, double a[restrict n])
{
  struct cell t;
#pragma scop
  for (int i = 0; i < n; i++) {
    a[i] = u[i].real;
    a[i] = p[i].flag;
    a[i] = p[i].v;
    a[i] = p[i].none;
    a[i] = h->x;
    a[i] = make(i).x;
    a[i] = p[i].next->x;
    a[i] = p[i].row[2];
    a[i] = a[i].x;
    t = p[i];
    struct cell inside;
    inside.x = 1;
  }
#pragma endscop
}

void mixed(int n, struct cell *restrict p)
{
#pragma scop
  for (int i = 0; i < n; i++)
    p[i].x = 1;
  p->x = 2;
#pragma endscop
}

/* What changed between the declaration of an array and the region was its shape. */
struct grid { int n; };
void resize(struct grid *g);
void changed(struct grid *g)
{
  double a[g->n];
  resize(g);
#pragma scop
  for (int i = 0; i < g->n; i++)
    a[i] = 1;
#pragma endscop
}

void bound(union number *u, double a[restrict 10])
{
#pragma scop
  for (int i = 0; i < u->whole; i++)
    a[i] = 1;
#pragma endscop
}
