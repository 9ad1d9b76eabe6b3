/* Index arithmetic as in darknet: one flat array, positions computed from several loop variables. */
#include "driver.h"

void forward_shortcut(int w1, int h1, int c1, float *add, int w2, int h2, int c2, float s1, float s2, float *out)
{
  int stride = w1 / w2;
  int sample = w2 / w1;
  if (stride < 1) stride = 1;
  if (sample < 1) sample = 1;
  int minw = (w1 < w2) ? w1 : w2;
  int minh = (h1 < h2) ? h1 : h2;
  int minc = (c1 < c2) ? c1 : c2;
#pragma scop
  int i, j, k;
  for (k = 0; k < minc; ++k) {
    for (j = 0; j < minh; ++j) {
      for (i = 0; i < minw; ++i) {
        int out_index = i * sample + w2 * (j * sample + h2 * k);
        int add_index = i * stride + w1 * (j * stride + h1 * k);
        out[out_index] = s1 * out[out_index] + s2 * add[add_index];
      }
    }
  }
#pragma endscop
}
RUN(forward_shortcut, 60, if (n > 0) forward_shortcut(n, n, 4, F(0), n, n, 4, 0.5f, 0.25f, F(1)))

void mean_cpu(float *x, int batch, int filters, int spatial, float *mean)
{
  float scale = 1. / (batch * spatial);
#pragma scop
  int i, j, k;
  for (i = 0; i < filters; ++i) {
    mean[i] = 0;
    for (j = 0; j < batch; ++j) {
      for (k = 0; k < spatial; ++k) {
        int index = j * filters * spatial + i * spatial + k;
        mean[i] += x[index];
      }
    }
    mean[i] *= scale;
  }
#pragma endscop
}
RUN(mean_cpu, 200, if (n > 0) mean_cpu(F(0), n < 4 ? n : 4, n, n, F(1)))

void variance_cpu(float *x, float *mean, int batch, int filters, int spatial, float *variance)
{
  float scale = 1. / (batch * spatial + 1);
#pragma scop
  int i, j, k;
  for (i = 0; i < filters; ++i) {
    variance[i] = 0;
    for (j = 0; j < batch; ++j) {
      for (k = 0; k < spatial; ++k) {
        int index = j * filters * spatial + i * spatial + k;
        variance[i] += powf((x[index] - mean[i]), 2);
      }
    }
    variance[i] *= scale;
  }
#pragma endscop
}
RUN(variance_cpu, 100, variance_cpu(F(0), F(1), n < 4 ? n : 4, n, n, F(2)))

void normalize_cpu(float *x, float *mean, float *variance, int batch, int filters, int spatial)
{
#pragma scop
  int b, f, i;
  for (b = 0; b < batch; ++b) {
    for (f = 0; f < filters; ++f) {
      for (i = 0; i < spatial; ++i) {
        int index = b * filters * spatial + f * spatial + i;
        x[index] = (x[index] - mean[f]) / (sqrt(variance[f]) + .000001f);
      }
    }
  }
#pragma endscop
}
RUN(normalize_cpu, 100, normalize_cpu(F(0), F(1), F(2), n < 4 ? n : 4, n, n))

void axpy_cpu(int N, float ALPHA, float *X, int INCX, float *Y, int INCY)
{
#pragma scop
  int i;
  for (i = 0; i < N; ++i) Y[i * INCY] += ALPHA * X[i * INCX];
#pragma endscop
}
RUN(axpy_cpu, 10000, axpy_cpu(n, 0.5f, F(0), 2, F(1), 1))

void copy_cpu(int N, float *X, int INCX, float *Y, int INCY)
{
#pragma scop
  int i;
  for (i = 0; i < N; ++i) Y[i * INCY] = X[i * INCX];
#pragma endscop
}
RUN(copy_cpu, 10000, copy_cpu(n, F(0), 1, F(1), 1))

void flatten(float *x, float *swap, int size, int layers, int batch)
{
#pragma scop
  int i, c, b;
  for (b = 0; b < batch; ++b) {
    for (c = 0; c < layers; ++c) {
      for (i = 0; i < size; ++i) {
        int i1 = b * layers * size + c * size + i;
        int i2 = b * layers * size + i * layers + c;
        swap[i2] = x[i1];
      }
    }
  }
  memcpy(x, swap, size * layers * batch * sizeof(float));
#pragma endscop
}
RUN(flatten, 200, flatten(F(0), F(1), n, n, n < 4 ? n : 4))

void add_bias(float *output, float *biases, int batch, int n, int size)
{
#pragma scop
  int i, j, b;
  for (b = 0; b < batch; ++b) {
    for (i = 0; i < n; ++i) {
      for (j = 0; j < size; ++j) {
        output[(b * n + i) * size + j] += biases[i];
      }
    }
  }
#pragma endscop
}
RUN(add_bias, 200, add_bias(F(0), F(1), n < 4 ? n : 4, n, n))

void backward_bias(float *bias_updates, float *delta, int batch, int n, int size)
{
#pragma scop
  int i, b, k;
  for (b = 0; b < batch; ++b) {
    for (i = 0; i < n; ++i) {
      for (k = 0; k < size; ++k) {
        bias_updates[i] += delta[size * (i + b * n) + k];
      }
    }
  }
#pragma endscop
}
RUN(backward_bias, 200, backward_bias(F(0), F(1), n < 4 ? n : 4, n, n))

void upsample_cpu(float *in, int w, int h, int c, int batch, int stride, float scale, float *out)
{
#pragma scop
  int i, j, k, b;
  for (b = 0; b < batch; ++b) {
    for (k = 0; k < c; ++k) {
      for (j = 0; j < h * stride; ++j) {
        for (i = 0; i < w * stride; ++i) {
          int in_index = b * w * h * c + k * w * h + (j / stride) * w + i / stride;
          int out_index = b * w * h * c * stride * stride + k * w * h * stride * stride + j * w * stride + i;
          out[out_index] = scale * in[in_index];
        }
      }
    }
  }
#pragma endscop
}
RUN(upsample_cpu, 60, upsample_cpu(F(0), n, n, n < 4 ? n : 4, 1, 2, 0.5f, F(1)))

void im2col_cpu(float *data_im, int channels, int height, int width, int ksize, float *data_col)
{
  int c, h, w;
  int height_col = height - ksize + 1;
  int width_col = width - ksize + 1;
  int channels_col = channels * ksize * ksize;
#pragma scop
  for (c = 0; c < channels_col; ++c) {
    int w_offset = c % ksize;
    int h_offset = (c / ksize) % ksize;
    int c_im = c / ksize / ksize;
    for (h = 0; h < height_col; ++h) {
      for (w = 0; w < width_col; ++w) {
        int im_row = h_offset + h;
        int im_col = w_offset + w;
        int col_index = (c * height_col + h) * width_col + w;
        data_col[col_index] = data_im[im_col + width * (im_row + height * c_im)];
      }
    }
  }
#pragma endscop
}
RUN(im2col_cpu, 60, if (n >= 3) im2col_cpu(F(0), 3, n, n, 3, F(1)))

void im2col_k3(float *data_im, int channels, int height, int width, float *data_col)
{
  int c, h, w;
  int height_col = height - 2;
  int width_col = width - 2;
#pragma scop
  for (c = 0; c < channels * 9; ++c) {
    int w_offset = c % 3;
    int h_offset = (c / 3) % 3;
    int c_im = c / 9;
    for (h = 0; h < height_col; ++h) {
      for (w = 0; w < width_col; ++w) {
        data_col[(c * height_col + h) * width_col + w] =
            data_im[w_offset + w + width * (h_offset + h + height * c_im)];
      }
    }
  }
#pragma endscop
}
RUN(im2col_k3, 60, if (n >= 3) im2col_k3(F(0), 3, n, n, F(1)))

void gemm_nn(int M, int N, int K, float ALPHA, float *A, int lda, float *B, int ldb, float *C, int ldc)
{
  int i, j, k;
#pragma scop
  for (i = 0; i < M; ++i) {
    for (k = 0; k < K; ++k) {
      float A_PART = ALPHA * A[i * lda + k];
      for (j = 0; j < N; ++j) {
        C[i * ldc + j] += A_PART * B[k * ldb + j];
      }
    }
  }
#pragma endscop
}
RUN(gemm_nn, 160, gemm_nn(n, n, n, 1.5f, F(0), n, F(1), n, F(2), n))

void gemm_nt(int M, int N, int K, float ALPHA, float *A, int lda, float *B, int ldb, float *C, int ldc)
{
  int i, j, k;
#pragma scop
  for (i = 0; i < M; ++i) {
    for (j = 0; j < N; ++j) {
      float sum = 0;
      for (k = 0; k < K; ++k) {
        sum += ALPHA * A[i * lda + k] * B[j * ldb + k];
      }
      C[i * ldc + j] += sum;
    }
  }
#pragma endscop
}
RUN(gemm_nt, 120, gemm_nt(n, n, n, 1.5f, F(0), n, F(1), n, F(2), n))

void gemm_tt(int M, int N, int K, float ALPHA, float *A, int lda, float *B, int ldb, float *C, int ldc)
{
  int i, j, k;
#pragma scop
  for (i = 0; i < M; ++i) {
    for (j = 0; j < N; ++j) {
      register float sum = 0;
      for (k = 0; k < K; ++k) {
        sum += ALPHA * A[i + k * lda] * B[k + j * ldb];
      }
      C[i * ldc + j] += sum;
    }
  }
#pragma endscop
}
RUN(gemm_tt, 120, gemm_tt(n, n, n, 1.5f, F(0), n, F(1), n, F(2), n))

void forward_avgpool(float *output, float *input, int batch, int c, int h, int w)
{
  int b, i, k;
#pragma scop
  for (b = 0; b < batch; ++b) {
    for (k = 0; k < c; ++k) {
      int out_index = k + b * c;
      output[out_index] = 0;
      for (i = 0; i < h * w; ++i) {
        int in_index = i + h * w * (k + b * c);
        output[out_index] += input[in_index];
      }
      output[out_index] /= h * w;
    }
  }
#pragma endscop
}
RUN(forward_avgpool, 60, forward_avgpool(F(0), F(1), n < 2 ? n : 2, n, n, n))

void forward_maxpool(float *output, int *indexes, float *input, int batch, int c, int h, int w, int size, int stride)
{
  int b, i, j, k, m, n;
  int w_offset = -size / 2;
  int h_offset = -size / 2;
#pragma scop
  for (b = 0; b < batch; ++b) {
    for (k = 0; k < c; ++k) {
      for (i = 0; i < h; ++i) {
        for (j = 0; j < w; ++j) {
          int out_index = j + w * (i + h * (k + c * b));
          float max = -1e30f;
          int max_i = -1;
          for (n = 0; n < size; ++n) {
            for (m = 0; m < size; ++m) {
              int cur_h = h_offset + i * stride + n;
              int cur_w = w_offset + j * stride + m;
              int index = cur_w + w * (cur_h + h * (k + b * c));
              int valid = (cur_h >= 0 && cur_h < h && cur_w >= 0 && cur_w < w);
              float val = (valid != 0) ? input[index] : -1e30f;
              max_i = (val > max) ? index : max_i;
              max = (val > max) ? val : max;
            }
          }
          output[out_index] = max;
          indexes[out_index] = max_i;
        }
      }
    }
  }
#pragma endscop
}
RUN(forward_maxpool, 30, forward_maxpool(F(0), I(0), F(1), 1, n < 3 ? n : 3, n, n, 3, 1))

void activate_leaky(float *x, const int n)
{
  int i;
#pragma scop
  for (i = 0; i < n; ++i) {
    x[i] = (x[i] > 0) ? x[i] : .1 * x[i];
  }
#pragma endscop
}
RUN(activate_leaky, 20000, activate_leaky(F(0), n))

static inline float logistic(float x) { return 1. / (1. + exp(-x)); }

void activate_logistic(float *x, const int n)
{
  int i;
#pragma scop
  for (i = 0; i < n; ++i) {
    x[i] = logistic(x[i]);
  }
#pragma endscop
}
RUN(activate_logistic, 4000, activate_logistic(F(0), n))

void l2_cpu(int n, float *pred, float *truth, float *delta, float *error)
{
  int i;
#pragma scop
  for (i = 0; i < n; ++i) {
    float diff = truth[i] - pred[i];
    error[i] = diff * diff;
    delta[i] = diff;
  }
#pragma endscop
}
RUN(l2_cpu, 20000, l2_cpu(n, F(0), F(1), F(2), F(3)))

void smooth_l1_cpu(int n, float *pred, float *truth, float *delta, float *error)
{
  int i;
#pragma scop
  for (i = 0; i < n; ++i) {
    float diff = truth[i] - pred[i];
    float abs_val = fabs(diff);
    if (abs_val < 1) {
      error[i] = diff * diff;
      delta[i] = diff;
    } else {
      error[i] = 2 * abs_val - 1;
      delta[i] = (diff > 0) ? 1 : -1;
    }
  }
#pragma endscop
}
RUN(smooth_l1_cpu, 20000, smooth_l1_cpu(n, F(0), F(1), F(2), F(3)))

void reorg_cpu(float *x, int w, int h, int c, int batch, int stride, int forward, float *out)
{
  int b, i, j, k;
  int out_c = c / (stride * stride);
#pragma scop
  for (b = 0; b < batch; ++b) {
    for (k = 0; k < c; ++k) {
      for (j = 0; j < h; ++j) {
        for (i = 0; i < w; ++i) {
          int in_index = i + w * (j + h * (k + c * b));
          int c2 = k % out_c;
          int offset = k / out_c;
          int w2 = i * stride + offset % stride;
          int h2 = j * stride + offset / stride;
          int out_index = w2 + w * stride * (h2 + h * stride * (c2 + out_c * b));
          if (forward) out[out_index] = x[in_index];
          else out[in_index] = x[out_index];
        }
      }
    }
  }
#pragma endscop
}
RUN(reorg_cpu, 40, reorg_cpu(F(0), n, n, 4, 1, 2, 0, F(1)))

void fill_cpu(int N, float ALPHA, float *X, int INCX)
{
  int i;
#pragma scop
  for (i = 0; i < N; ++i) X[i * INCX] = ALPHA;
#pragma endscop
}
RUN(fill_cpu, 20000, fill_cpu(n, 0.125f, F(0), 1))

float dot_cpu(int N, float *X, int INCX, float *Y, int INCY)
{
  int i;
  float dot = 0;
#pragma scop
  for (i = 0; i < N; ++i) dot += X[i * INCX] * Y[i * INCY];
#pragma endscop
  return dot;
}
RUN(dot_cpu, 10000, F(2)[0] = dot_cpu(n, F(0), 1, F(1), 1))

void get_embedding(float *src, int src_w, int src_h, int src_c, int embedding_size, int cur_w, int cur_h, float *dst)
{
  int i;
#pragma scop
  for (i = 0; i < embedding_size; ++i) {
    const float v = src[i * src_w * src_h + cur_h * src_w + cur_w];
    dst[i] = v;
  }
#pragma endscop
  (void)src_c;
}
RUN(get_embedding, 90, if (n > 1) get_embedding(F(0), n, n, n, n, 1, 1, F(1)))
