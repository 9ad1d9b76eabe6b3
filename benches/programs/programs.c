/* References for the programs of programs.loz: DEFINITION__plain has the parameters of the generated function, and is what a C programmer
   would write first, for one thread. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int softmax__plain(int64_t m, int64_t n, const float *restrict a, float *restrict out)
{
    for (int64_t i = 0; i < m; i++) {
        const float *row = a + i * n;
        float top = -INFINITY, total = 0;
        for (int64_t j = 0; j < n; j++) top = row[j] > top ? row[j] : top;
        for (int64_t j = 0; j < n; j++) total += out[i * n + j] = expf(row[j] - top);
        for (int64_t j = 0; j < n; j++) out[i * n + j] /= total;
    }
    return 0;
}

int layer_norm__plain(int64_t m, int64_t n, const float *restrict gain, const float *restrict shift, const float *restrict a, float *restrict out)
{
    for (int64_t i = 0; i < m; i++) {
        const float *row = a + i * n;
        float mean = 0, variance = 0;
        for (int64_t j = 0; j < n; j++) mean += row[j];
        mean /= n;
        for (int64_t j = 0; j < n; j++) variance += (row[j] - mean) * (row[j] - mean);
        const float factor = 1 / sqrtf(variance / n + 0.00001f);
        for (int64_t j = 0; j < n; j++) out[i * n + j] = (row[j] - mean) * factor * gain[j] + shift[j];
    }
    return 0;
}

int attention__plain(int64_t n, int64_t d, const float *restrict q, const float *restrict k, const float *restrict v, float *restrict out)
{
    float *exps = malloc(n * sizeof *exps);
    for (int64_t i = 0; i < n; i++) {
        float top = -INFINITY, total = 0;
        for (int64_t j = 0; j < n; j++) {
            float s = 0;
            for (int64_t l = 0; l < d; l++) s += q[i * d + l] * k[j * d + l];
            exps[j] = s;
            top = s > top ? s : top;
        }
        for (int64_t j = 0; j < n; j++) total += exps[j] = expf((exps[j] - top) / sqrtf(d));
        for (int64_t l = 0; l < d; l++) out[i * d + l] = 0;
        for (int64_t j = 0; j < n; j++)
            for (int64_t l = 0; l < d; l++) out[i * d + l] += exps[j] * v[j * d + l];
        for (int64_t l = 0; l < d; l++) out[i * d + l] /= total;
    }
    free(exps);
    return 0;
}

int convolution__plain(int64_t c, int64_t o, int64_t h, int64_t w, const float *restrict weights, const float *restrict image, float *restrict out)
{
    for (int64_t f = 0; f < o; f++)
        for (int64_t y = 0; y < h - 2; y++)
            for (int64_t x = 0; x < w - 2; x++) {
                float s = 0;
                for (int64_t l = 0; l < c; l++)
                    for (int64_t a = 0; a < 3; a++)
                        for (int64_t b = 0; b < 3; b++)
                            s += weights[((f * c + l) * 3 + a) * 3 + b] * image[(l * h + y + a) * w + x + b];
                out[(f * (h - 2) + y) * (w - 2) + x] = s;
            }
    return 0;
}

int frequencies__plain(int64_t n, int64_t k, const int64_t *restrict xs, int64_t *restrict out)
{
    for (int64_t i = 0; i < k; i++) out[i] = 0;
    for (int64_t i = 0; i < n; i++) out[xs[i]]++;
    return 0;
}

int prefix__plain(int64_t n, const int64_t *restrict xs, int64_t *restrict out)
{
    int64_t s = 0;
    for (int64_t i = 0; i < n; i++) out[i] = s += xs[i];
    return 0;
}

int sparse__plain(int64_t n, int64_t m, int64_t p, const int64_t *restrict rows, const int64_t *restrict columns, const double *restrict values, const double *restrict x, double *restrict out)
{
    for (int64_t i = 0; i < m; i++) out[i] = 0;
    for (int64_t e = 0; e < n; e++) out[rows[e]] += values[e] * x[columns[e]];
    return 0;
}

static double normal(double x)
{
    const double k = 1 / (1 + 0.2316419 * fabs(x));
    const double p = ((((1.330274429 * k - 1.821255978) * k + 1.781477937) * k - 0.356563782) * k + 0.319381530) * k;
    const double tail = 0.3989422804014327 * exp(-x * x / 2) * p;
    return x < 0 ? tail : 1 - tail;
}

int prices__plain(int64_t n, const double *restrict spots, const double *restrict times, double *restrict out)
{
    const double rate = 0.01, volatility = 0.2, strike = 10;
    for (int64_t i = 0; i < n; i++) {
        const double spot = 10 + fabs(spots[i]), time = 0.1 + fabs(times[i]), root = volatility * sqrt(time);
        const double d1 = (log(spot / strike) + (rate + volatility * volatility / 2) * time) / root;
        out[i] = spot * normal(d1) - strike * exp(-rate * time) * normal(d1 - root);
    }
    return 0;
}

int escape__plain(int64_t h, int64_t w, const double *restrict ys, const double *restrict xs, int32_t *restrict out)
{
    for (int64_t i = 0; i < h; i++)
        for (int64_t j = 0; j < w; j++) {
            double zr = 0, zi = 0;
            int k = 0;
            while (k < 200 && zr * zr + zi * zi <= 4) {
                const double next = zr * zr - zi * zi + xs[j];
                zi = 2 * zr * zi + ys[i];
                zr = next;
                k++;
            }
            out[i * w + j] = k;
        }
    return 0;
}

int accelerations__plain(int64_t n, const double *restrict bodies, double *restrict out)
{
    for (int64_t i = 0; i < n; i++) {
        double ax = 0, ay = 0, az = 0;
        for (int64_t j = 0; j < n; j++) {
            const double dx = bodies[4 * j + 1] - bodies[4 * i + 1], dy = bodies[4 * j + 2] - bodies[4 * i + 2], dz = bodies[4 * j + 3] - bodies[4 * i + 3];
            const double square = dx * dx + dy * dy + dz * dz + 0.01 * 0.01;
            const double f = square > 0 ? bodies[4 * j] / (square * sqrt(square)) : 0;
            ax += f * dx;
            ay += f * dy;
            az += f * dz;
        }
        out[3 * i] = ax;
        out[3 * i + 1] = ay;
        out[3 * i + 2] = az;
    }
    return 0;
}

static void product(int64_t n, const uint64_t *restrict a, const uint64_t *restrict b, uint64_t *restrict c)
{
    memset(c, 0, n * n * sizeof *c);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n; k++)
            for (int64_t j = 0; j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];
}

int power__plain(int64_t n, const int64_t *restrict a, int64_t *restrict out)
{
    uint64_t *square = malloc(n * n * 8), *result = calloc(n * n, 8), *next = malloc(n * n * 8), *swap;
    memcpy(square, a, n * n * 8);
    for (int64_t i = 0; i < n; i++) result[i * n + i] = 1;
    for (int rest = 100; rest > 0; rest /= 2) {
        if (rest % 2 == 1) {
            product(n, result, square, next);
            swap = result, result = next, next = swap;
        }
        product(n, square, square, next);
        swap = square, square = next, next = swap;
    }
    memcpy(out, result, n * n * 8);
    free(square), free(result), free(next);
    return 0;
}

int relaxation__plain(int64_t n, const float *restrict a, float *restrict out)
{
    const int64_t w = n + 2;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            out[i * n + j] = 0.25f * (a[i * w + j + 1] + a[(i + 1) * w + j] + a[(i + 1) * w + j + 2] + a[(i + 2) * w + j + 1]);
    return 0;
}

int products__plain(int64_t b, int64_t n, const float *restrict xs, const float *restrict ys, float *restrict out)
{
    memset(out, 0, b * n * n * sizeof *out);
    for (int64_t l = 0; l < b; l++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t k = 0; k < n; k++)
                for (int64_t j = 0; j < n; j++) out[(l * n + i) * n + j] += xs[(l * n + i) * n + k] * ys[(l * n + k) * n + j];
    return 0;
}

struct place { float value; int64_t at; };

int largest_at__plain(int64_t n, const float *restrict xs, struct place *restrict out)
{
    float best = -INFINITY;
    int64_t at = -1;
    for (int64_t i = 0; i < n; i++)
        if (xs[i] > best) best = xs[i], at = i;
    out->value = best;
    out->at = at;
    return 0;
}

/* Radix sort in four passes, as the program has it. */
int sorted__plain(int64_t n, const int32_t *restrict xs, int32_t *restrict out)
{
    uint32_t *from = malloc(n * 4 + 4), *to = malloc(n * 4 + 4), *swap;
    for (int64_t i = 0; i < n; i++) from[i] = (uint32_t)xs[i] * 12345u ^ 0x80000000u;
    for (int shift = 0; shift < 32; shift += 8) {
        int64_t places[257] = {0};
        for (int64_t i = 0; i < n; i++) places[(from[i] >> shift & 255) + 1]++;
        for (int k = 0; k < 256; k++) places[k + 1] += places[k];
        for (int64_t i = 0; i < n; i++) to[places[from[i] >> shift & 255]++] = from[i];
        swap = from, from = to, to = swap;
    }
    for (int64_t i = 0; i < n; i++) out[i] = (int32_t)(from[i] ^ 0x80000000u);
    free(from), free(to);
    return 0;
}

int solved__plain(int64_t n, const double *restrict l, const double *restrict b, double *restrict out)
{
    for (int64_t i = 0; i < n; i++) {
        double s = 0;
        for (int64_t j = 0; j < i; j++) s += l[i * n + j] * out[j];
        out[i] = b[i] - s / 100;
    }
    return 0;
}

int transform__plain(int64_t h, const double *restrict xs, double *restrict out)
{
    double *from = malloc(4 * h * 8), *to = malloc(4 * h * 8), *twiddles = malloc(2 * h * 8), *swap;
    for (int64_t i = 0; i < h; i++) {
        const double angle = -3.141592653589793 * i / h;
        twiddles[2 * i] = cos(angle);
        twiddles[2 * i + 1] = sin(angle);
    }
    memcpy(from, xs, 4 * h * 8);
    int64_t m = 1;
    for (int stage = 0; stage < 16; stage++, m *= 2) {
        for (int64_t j = 0; j < h / m; j++) {
            const double wr = twiddles[2 * j * m], wi = twiddles[2 * j * m + 1];
            for (int64_t k = 0; k < m; k++) {
                const double *a = from + 2 * (j * m + k), *b = a + 2 * h;
                double *sum = to + 2 * (2 * j * m + k), *rest = sum + 2 * m;
                const double re = a[0] - b[0], im = a[1] - b[1];
                sum[0] = a[0] + b[0];
                sum[1] = a[1] + b[1];
                rest[0] = re * wr - im * wi;
                rest[1] = re * wi + im * wr;
            }
        }
        swap = from, from = to, to = swap;
    }
    memcpy(out, from, 4 * h * 8);
    free(from), free(to), free(twiddles);
    return 0;
}

int clusters__plain(int64_t n, int64_t k, int64_t d, const double *restrict points, const double *restrict centres, double *restrict out)
{
    double *sums = calloc(k * d + 1, 8);
    int64_t *counts = calloc(k + 1, 8);
    for (int64_t i = 0; i < n; i++) {
        double best = INFINITY;
        int64_t at = 0;
        for (int64_t c = 0; c < k; c++) {
            double far = 0;
            for (int64_t l = 0; l < d; l++) far += (points[i * d + l] - centres[c * d + l]) * (points[i * d + l] - centres[c * d + l]);
            if (far < best) best = far, at = c;
        }
        counts[at]++;
        for (int64_t l = 0; l < d; l++) sums[at * d + l] += points[i * d + l];
    }
    for (int64_t c = 0; c < k; c++)
        for (int64_t l = 0; l < d; l++) out[c * d + l] = counts[c] > 0 ? sums[c * d + l] / counts[c] : centres[c * d + l];
    free(sums), free(counts);
    return 0;
}

int neighbours__plain(int64_t h, int64_t w, const int32_t *restrict cells, int32_t *restrict out)
{
    for (int64_t i = 0; i < h; i++) {
        const int32_t *up = cells + (i + h - 1) % h * w, *row = cells + i * w, *down = cells + (i + 1) % h * w;
        for (int64_t j = 0; j < w; j++) {
            const int64_t l = j == 0 ? w - 1 : j - 1, r = j == w - 1 ? 0 : j + 1;
            const int32_t around = up[l] + up[j] + up[r] + row[l] + row[r] + down[l] + down[j] + down[r];
            out[i * w + j] = around == 3 || (around == 2 && row[j] == 1);
        }
    }
    return 0;
}

int subsequence__plain(int64_t m, int64_t n, const int32_t *restrict xs, const int32_t *restrict ys, int64_t *restrict out)
{
    int64_t *row = calloc(n + 1, 8), best = 0;
    for (int64_t i = 0; i < m; i++) {
        int64_t diagonal = 0;
        for (int64_t j = 1; j <= n; j++) {
            const int64_t above = row[j];
            int64_t here = ((xs[i] % 4 + 4) % 4 == (ys[j - 1] % 4 + 4) % 4) ? diagonal + 1 : above;
            if (row[j - 1] > here) here = row[j - 1];
            row[j] = here;
            diagonal = above;
        }
    }
    for (int64_t j = 1; j <= n; j++) best = row[j] > best ? row[j] : best;
    *out = best;
    free(row);
    return 0;
}
