/* Pragmas that are nearly those of a region. */
void f(int n, double x[restrict n])
{
#pragma scopp
  for (int i = 0; i < n; i++) x[i] = 1;
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++) x[i] = 1;
#pragma end_scop
#pragma Scop
  for (int i = 0; i < n; i++) x[i] = 1;
#pragma endsocp
#pragma omp parallel for
#pragma loop
#pragma scop here
}
