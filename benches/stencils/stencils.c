/* References for the programs of stencils.loz: DEFINITION__NAME has the parameters of the generated function. `plain` is what a C programmer would write who
   treats borders by themselves, `asked` what asks in each iteration whether there is a neighbour. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int smooth__plain(int64_t n, const float *restrict xs, float *restrict out)
{
    if (n == 1) out[0] = 2.0f * xs[0];
    if (n < 2) return 0;
    out[0] = 2.0f * xs[0] + xs[1];
    for (int64_t i = 1; i < n - 1; i++) out[i] = xs[i - 1] + 2.0f * xs[i] + xs[i + 1];
    out[n - 1] = xs[n - 2] + 2.0f * xs[n - 1];
    return 0;
}

int smooth__asked(int64_t n, const float *restrict xs, float *restrict out)
{
    for (int64_t i = 0; i < n; i++) out[i] = (i > 0 ? xs[i - 1] : 0.0f) + 2.0f * xs[i] + (i < n - 1 ? xs[i + 1] : 0.0f);
    return 0;
}

static float at(int64_t m, int64_t n, const float *xs, int64_t i, int64_t j)
{
    return i >= 0 && i < m && j >= 0 && j < n ? xs[i * n + j] : 0.0f;
}

/* Column by column of the window, as the program adds. */
static float box_at(int64_t m, int64_t n, const float *xs, int64_t i, int64_t j)
{
    float sum = 0.0f;
    for (int64_t b = -1; b <= 1; b++) {
        float column = 0.0f;
        for (int64_t a = -1; a <= 1; a++) column += at(m, n, xs, i + a, j + b);
        sum += column;
    }
    return sum;
}

int box__plain(int64_t m, int64_t n, const float *restrict xs, float *restrict out)
{
    for (int64_t i = 0; i < m; i++) {
        if (i == 0 || i == m - 1 || n < 3) {
            for (int64_t j = 0; j < n; j++) out[i * n + j] = box_at(m, n, xs, i, j);
            continue;
        }
        const float *up = xs + (i - 1) * n, *row = xs + i * n, *down = xs + (i + 1) * n;
        out[i * n] = box_at(m, n, xs, i, 0);
        for (int64_t j = 1; j < n - 1; j++)
            out[i * n + j] = (up[j - 1] + row[j - 1] + down[j - 1]) + (up[j] + row[j] + down[j]) + (up[j + 1] + row[j + 1] + down[j + 1]);
        out[i * n + n - 1] = box_at(m, n, xs, i, n - 1);
    }
    return 0;
}

int box__asked(int64_t m, int64_t n, const float *restrict xs, float *restrict out)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) out[i * n + j] = box_at(m, n, xs, i, j);
    return 0;
}

static int64_t inside(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i > n - 1 ? n - 1 : i;
}

static float cross_at(int64_t m, int64_t n, const float *xs, int64_t i, int64_t j)
{
    const int64_t up = inside(i - 1, m) * n, row = i * n, down = inside(i + 1, m) * n;
    return xs[row + j] + 0.2f * (xs[up + j] + xs[down + j] + xs[row + inside(j - 1, n)] + xs[row + inside(j + 1, n)]);
}

int cross__plain(int64_t m, int64_t n, const float *restrict xs, float *restrict out)
{
    for (int64_t i = 0; i < m; i++) {
        const float *up = xs + inside(i - 1, m) * n, *row = xs + i * n, *down = xs + inside(i + 1, m) * n;
        out[i * n] = cross_at(m, n, xs, i, 0);
        for (int64_t j = 1; j < n - 1; j++) out[i * n + j] = row[j] + 0.2f * (up[j] + down[j] + row[j - 1] + row[j + 1]);
        if (n > 1) out[i * n + n - 1] = cross_at(m, n, xs, i, n - 1);
    }
    return 0;
}

int cross__asked(int64_t m, int64_t n, const float *restrict xs, float *restrict out)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) out[i * n + j] = cross_at(m, n, xs, i, j);
    return 0;
}

int heat__plain(int64_t n, const float *restrict xs, float *restrict out)
{
    float *u = malloc((size_t)n * sizeof *u), *v = malloc((size_t)n * sizeof *v);
    if (u == NULL || v == NULL) {
        free(u);
        free(v);
        return 1;
    }
    memcpy(u, xs, (size_t)n * sizeof *u);
    for (int step = 0; step < 100; step++) {
        v[0] = 0.25f * u[0] + 0.5f * u[0] + 0.25f * u[n > 1 ? 1 : 0];
        for (int64_t i = 1; i < n - 1; i++) v[i] = 0.25f * u[i - 1] + 0.5f * u[i] + 0.25f * u[i + 1];
        if (n > 1) v[n - 1] = 0.25f * u[n - 2] + 0.5f * u[n - 1] + 0.25f * u[n - 1];
        float *other = u;
        u = v;
        v = other;
    }
    memcpy(out, u, (size_t)n * sizeof *u);
    free(u);
    free(v);
    return 0;
}
