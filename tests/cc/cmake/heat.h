void heat(int n, int steps, double *grid, double *next);
