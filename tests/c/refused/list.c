/* A list: pointers and members of structs. */
struct node {
  double value;
  struct node *next;
};
double kernel_list(struct node *first)
{
  double sum = 0;
  struct node *node = first;
#pragma scop
  while (node) {
    sum += node->value;
    node = node->next;
  }
#pragma endscop
  return sum;
}
