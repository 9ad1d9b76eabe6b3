/* C += A * B by ScaLAPACK's pdgemm, with all messages counted: PMPI stands between the library and
 * MPI. Prints the time, messages and bytes, and the most bytes that a rank received.
 *
 * pdgemm ROWS COLUMNS N BLOCK REPETITIONS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
void Cblacs_gridinfo(int context, int *rows, int *columns, int *row, int *column);
int numroc_(const int *n, const int *nb, const int *process, const int *source, const int *processes);
void descinit_(int *desc, const int *m, const int *n, const int *mb, const int *nb, const int *rsrc, const int *csrc,
               const int *context, const int *lld, int *info);
void pdgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k, const double *alpha,
             const double *a, const int *ia, const int *ja, const int *da, const double *b, const int *ib,
             const int *jb, const int *db, const double *beta, double *c, const int *ic, const int *jc, const int *dc);

/* Messages and bytes that this rank sent, and bytes that came to it. */
static long long sent, sent_bytes, received;

static long long bytes_of(int count, MPI_Datatype type)
{
    int size = 0;
    PMPI_Type_size(type, &size);
    return (long long)count * size;
}

static void out(int count, MPI_Datatype type)
{
    sent++;
    sent_bytes += bytes_of(count, type);
}

int MPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    out(count, type);
    return PMPI_Send(data, count, type, to, tag, comm);
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    out(count, type);
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Rsend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    out(count, type);
    return PMPI_Rsend(data, count, type, to, tag, comm);
}

int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Status own;
    int error = PMPI_Recv(data, count, type, from, tag, comm, &own), got = 0;
    PMPI_Get_count(&own, type, &got);
    received += bytes_of(got, type);
    if (status != MPI_STATUS_IGNORE)
        *status = own;
    return error;
}

/* A broadcast is one message to each rank but the root, whoever passes it on. */
int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    if (rank != root) {
        out(count, type);
        received += bytes_of(count, type);
    }
    return PMPI_Bcast(data, count, type, root, comm);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc < 6)
        MPI_Abort(MPI_COMM_WORLD, 2);
    int rows = atoi(argv[1]), columns = atoi(argv[2]), n = atoi(argv[3]), block = atoi(argv[4]);
    int context, row, column, zero = 0, one = 1, info, desc[9], rank;
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, "Row", rows, columns);
    Cblacs_gridinfo(context, &rows, &columns, &row, &column);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int m = numroc_(&n, &block, &row, &zero, &rows), q = numroc_(&n, &block, &column, &zero, &columns);
    int leading = m > 1 ? m : 1;
    descinit_(desc, &n, &n, &block, &block, &zero, &zero, &context, &leading, &info);
    size_t elements = (size_t)leading * (size_t)(q > 1 ? q : 1);
    double *a = malloc(elements * sizeof *a), *b = malloc(elements * sizeof *b), *c = malloc(elements * sizeof *c);
    if (!a || !b || !c || info != 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    for (size_t k = 0; k < elements; k++) {
        a[k] = (double)(k % 17) - 8;
        b[k] = (double)(k % 13) - 6;
        c[k] = 0;
    }
    double alpha = 1, beta = 1;
    for (int repetition = 0; repetition < atoi(argv[5]); repetition++) {
        sent = sent_bytes = received = 0;
        PMPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        pdgemm_("N", "N", &n, &n, &n, &alpha, a, &one, &one, desc, b, &one, &one, desc, &beta, c, &one, &one, desc);
        double own = MPI_Wtime() - begin, longest;
        PMPI_Reduce(&own, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0)
            printf("time %.9f\n", longest);
    }
    long long mine[2] = { sent, sent_bytes }, all[2], most;
    PMPI_Reduce(mine, all, 2, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    PMPI_Reduce(&received, &most, 1, MPI_LONG_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("messages %lld\nbytes %lld\nmost %lld\n", all[0], all[1], most);
    free(a);
    free(b);
    free(c);
    MPI_Finalize();
    return 0;
}
