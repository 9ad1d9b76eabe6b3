struct stencil {
  int n, steps;
  double *line[2]; /* before even and before odd steps */
};
