/* </script><script>document.title = "wrong"</script> <img src=x onerror="document.title = 'wrong'"> */
void scale(int n, double *restrict a) {
#pragma scop
  for (int i = 0; i < n; i++) a[i] = 2 * a[i]; // </pre></code><b>
#pragma endscop
}
