enum { BLOCK = 16 };

struct remote {
  int n; /* 8 blocks */
  double *a, *b, *c;
};
