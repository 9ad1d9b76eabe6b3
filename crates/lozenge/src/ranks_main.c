/* The driver of one process on several ranks: all read the arrays, the first one writes what comes out. */
#include <mpi.h>
#include <stdio.h>

int lozenge_driver(int argc, char **argv);

int main(int argc, char **argv)
{
    int provided, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank > 0) {
        if (argc > 5)
            argv[5] = "/dev/null";
        if (!freopen("/dev/null", "w", stdout))
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    int status = lozenge_driver(argc, argv);
    if (status != 0)
        MPI_Abort(MPI_COMM_WORLD, status);
    MPI_Finalize();
    return 0;
}
