/* Layers of neural networks, as small C programs write them: rows are pointers into flat arrays. */
#include "driver.h"

void matmul(float *xout, float *x, float *w, int n, int d)
{
#pragma scop
  for (int i = 0; i < d; i++) {
    float val = 0.0f;
    for (int j = 0; j < n; j++) {
      val += w[i * n + j] * x[j];
    }
    xout[i] = val;
  }
#pragma endscop
}
RUN(matmul, 600, matmul(F(0), F(1), F(2), n, n))

void rmsnorm(float *o, float *x, float *weight, int size)
{
#pragma scop
  float ss = 0.0f;
  for (int j = 0; j < size; j++) {
    ss += x[j] * x[j];
  }
  ss /= size;
  ss += 1e-5f;
  ss = 1.0f / sqrtf(ss);
  for (int j = 0; j < size; j++) {
    o[j] = weight[j] * (ss * x[j]);
  }
#pragma endscop
}
RUN(rmsnorm, 4000, rmsnorm(F(0), F(1), F(2), n))

void softmax(float *x, int size)
{
#pragma scop
  float max_val = x[0];
  for (int i = 1; i < size; i++) {
    if (x[i] > max_val) {
      max_val = x[i];
    }
  }
  float sum = 0.0f;
  for (int i = 0; i < size; i++) {
    x[i] = expf(x[i] - max_val);
    sum += x[i];
  }
  for (int i = 0; i < size; i++) {
    x[i] /= sum;
  }
#pragma endscop
}
RUN(softmax, 4000, softmax(F(0), n))

void layernorm_forward(float *out, float *mean, float *rstd, float *inp, float *weight, float *bias, int BB, int T, int C)
{
  float eps = 1e-5f;
#pragma scop
  for (int b = 0; b < BB; b++) {
    for (int t = 0; t < T; t++) {
      float *x = inp + b * T * C + t * C;
      float m = 0.0f;
      for (int i = 0; i < C; i++) {
        m += x[i];
      }
      m = m / C;
      float v = 0.0f;
      for (int i = 0; i < C; i++) {
        float xshift = x[i] - m;
        v += xshift * xshift;
      }
      v = v / C;
      float s = 1.0f / sqrtf(v + eps);
      float *out_bt = out + b * T * C + t * C;
      for (int i = 0; i < C; i++) {
        float norm = (s * (x[i] - m));
        float o = norm * weight[i] + bias[i];
        out_bt[i] = o;
      }
      mean[b * T + t] = m;
      rstd[b * T + t] = s;
    }
  }
#pragma endscop
}
RUN(layernorm_forward, 80, layernorm_forward(F(0), F(1), F(2), F(3), F(4), F(5), n < 3 ? n : 3, n, n))

void layernorm_backward(float *dinp, float *dweight, float *dbias, float *dout, float *inp, float *weight, int T, int C)
{
#pragma scop
  for (int t = 0; t < T; t++) {
    float *dout_t = dout + t * C;
    float *inp_t = inp + t * C;
    float *dinp_t = dinp + t * C;
    float dnorm_mean = 0.0f;
    float dnorm_norm_mean = 0.0f;
    for (int i = 0; i < C; i++) {
      float norm = inp_t[i] * 0.5f;
      float dnorm_i = weight[i] * dout_t[i];
      dnorm_mean += dnorm_i;
      dnorm_norm_mean += dnorm_i * norm;
    }
    dnorm_mean = dnorm_mean / C;
    dnorm_norm_mean = dnorm_norm_mean / C;
    for (int i = 0; i < C; i++) {
      float norm = inp_t[i] * 0.5f;
      float dnorm_i = weight[i] * dout_t[i];
      dbias[i] += dout_t[i];
      dweight[i] += norm * dout_t[i];
      float dval = 0.0f;
      dval += dnorm_i;
      dval -= dnorm_mean;
      dval -= norm * dnorm_norm_mean;
      dinp_t[i] += dval;
    }
  }
#pragma endscop
}
RUN(layernorm_backward, 200, layernorm_backward(F(0), F(1), F(2), F(3), F(4), F(5), n, n))

void encoder_forward(float *out, int *inp, float *wte, float *wpe, int BB, int T, int C)
{
#pragma scop
  for (int b = 0; b < BB; b++) {
    for (int t = 0; t < T; t++) {
      float *out_bt = out + b * T * C + t * C;
      int ix = inp[b * T + t];
      float *wte_ix = wte + ix * C;
      float *wpe_t = wpe + t * C;
      for (int i = 0; i < C; i++) {
        out_bt[i] = wte_ix[i] + wpe_t[i];
      }
    }
  }
#pragma endscop
}
RUN(encoder_forward, 200, encoder_forward(F(0), I(0), F(1), F(2), n < 2 ? n : 2, n, n))

void residual_forward(float *out, float *inp1, float *inp2, int N)
{
#pragma scop
  for (int i = 0; i < N; i++) {
    out[i] = inp1[i] + inp2[i];
  }
#pragma endscop
}
RUN(residual_forward, 20000, residual_forward(F(0), F(1), F(2), n))

void gelu_forward(float *out, float *inp, int N)
{
#pragma scop
  for (int i = 0; i < N; i++) {
    float x = inp[i];
    float cube = 0.044715f * x * x * x;
    out[i] = 0.5f * x * (1.0f + tanhf(0.797884f * (x + cube)));
  }
#pragma endscop
}
RUN(gelu_forward, 4000, gelu_forward(F(0), F(1), n))

void attention_forward(float *out, float *preatt, float *att, float *inp, int T, int C, int NH)
{
  int C3 = C * 3;
  int hs = C / NH;
  float scale = 1.0 / sqrtf(hs);
#pragma scop
  for (int t = 0; t < T; t++) {
    for (int h = 0; h < NH; h++) {
      float *query_t = inp + t * C3 + h * hs;
      float *preatt_bth = preatt + h * T * T + t * T;
      float *att_bth = att + h * T * T + t * T;
      float maxval = -10000.0f;
      for (int t2 = 0; t2 <= t; t2++) {
        float *key_t2 = inp + t2 * C3 + h * hs + C;
        float val = 0.0f;
        for (int i = 0; i < hs; i++) {
          val += query_t[i] * key_t2[i];
        }
        val *= scale;
        if (val > maxval) {
          maxval = val;
        }
        preatt_bth[t2] = val;
      }
      float expsum = 0.0f;
      for (int t2 = 0; t2 <= t; t2++) {
        float expv = expf(preatt_bth[t2] - maxval);
        expsum += expv;
        att_bth[t2] = expv;
      }
      float expsum_inv = expsum == 0.0f ? 0.0f : 1.0f / expsum;
      for (int t2 = 0; t2 < T; t2++) {
        if (t2 <= t) {
          att_bth[t2] *= expsum_inv;
        } else {
          att_bth[t2] = 0.0f;
        }
      }
      float *out_bth = out + t * C + h * hs;
      for (int i = 0; i < hs; i++) { out_bth[i] = 0.0f; }
      for (int t2 = 0; t2 <= t; t2++) {
        float *value_t2 = inp + t2 * C3 + h * hs + C * 2;
        float att_btht2 = att_bth[t2];
        for (int i = 0; i < hs; i++) {
          out_bth[i] += att_btht2 * value_t2[i];
        }
      }
    }
  }
#pragma endscop
}
RUN(attention_forward, 64, attention_forward(F(0), F(1), F(2), F(3), n, n / 2 * 2, 2))

void crossentropy_forward(float *losses, float *probs, int *targets, int BB, int T, int V)
{
#pragma scop
  for (int b = 0; b < BB; b++) {
    for (int t = 0; t < T; t++) {
      float *probs_bt = probs + b * T * V + t * V;
      int ix = targets[b * T + t];
      losses[b * T + t] = -logf(probs_bt[ix]);
    }
  }
#pragma endscop
}
RUN(crossentropy_forward, 100, crossentropy_forward(F(0), F(1), I(0), n < 3 ? n : 3, n, n))

void adamw(float *params, float *grads, float *m_memory, float *v_memory, int num, float lr, float beta1, float beta2, float eps, float wd)
{
#pragma scop
  for (int i = 0; i < num; i++) {
    float param = params[i];
    float grad = grads[i];
    float m = beta1 * m_memory[i] + (1.0f - beta1) * grad;
    float v = beta2 * v_memory[i] + (1.0f - beta2) * grad * grad;
    float m_hat = m / (1.0f - beta1);
    float v_hat = v / (1.0f - beta2);
    m_memory[i] = m;
    v_memory[i] = v;
    params[i] -= lr * (m_hat / (sqrtf(v_hat) + eps) + wd * param);
  }
#pragma endscop
}
RUN(adamw, 10000, adamw(F(0), F(1), F(2), F(3), n, 0.01f, 0.9f, 0.99f, 1e-8f, 0.1f))

void swiglu(float *hb, float *hb2, int hidden_dim)
{
#pragma scop
  for (int i = 0; i < hidden_dim; i++) {
    float val = hb[i];
    val *= (1.0f / (1.0f + expf(-val)));
    val *= hb2[i];
    hb[i] = val;
  }
#pragma endscop
}
RUN(swiglu, 4000, swiglu(F(0), F(1), n))

void quantize(signed char *q, float *s, float *x, int n, int gs)
{
  int num_groups = n / gs;
#pragma scop
  for (int group = 0; group < num_groups; group++) {
    float wmax = 0.0;
    for (int i = 0; i < gs; i++) {
      float val = fabs(x[group * gs + i]);
      if (val > wmax) {
        wmax = val;
      }
    }
    float scale = wmax / 127.0f;
    s[group] = scale;
    for (int i = 0; i < gs; i++) {
      float quant_value = x[group * gs + i] / scale;
      signed char quantized = (signed char)quant_value;
      q[group * gs + i] = quantized;
    }
  }
#pragma endscop
}
RUN(quantize, 8000, quantize((signed char *)B(0), F(0), F(1), n, 8))

void dequantize(signed char *q, float *s, float *x, int n, int gs)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    x[i] = q[i] * s[i / 32];
  }
#pragma endscop
  (void)gs;
}
RUN(dequantize, 20000, dequantize((signed char *)B(0), F(0), F(1), n, 32))

void rope(float *q, float *k, int dim, int head_size, int pos)
{
#pragma scop
  for (int i = 0; i < dim; i += 2) {
    int head_dim = i % head_size;
    float freq = 1.0f / powf(10000.0f, head_dim / (float)head_size);
    float val = pos * freq;
    float fcr = cosf(val);
    float fci = sinf(val);
    float v0 = q[i];
    float v1 = q[i + 1];
    q[i] = v0 * fcr - v1 * fci;
    q[i + 1] = v0 * fci + v1 * fcr;
    v0 = k[i];
    v1 = k[i + 1];
    k[i] = v0 * fcr - v1 * fci;
    k[i + 1] = v0 * fci + v1 * fcr;
  }
#pragma endscop
}
RUN(rope, 1000, rope(F(0), F(1), n, 8, 3))

void matmul_backward(float *dinp, float *dweight, float *dbias, float *dout, float *inp, float *weight, int T, int C, int OC)
{
#pragma scop
  for (int t = 0; t < T; t++) {
    float *dout_bt = dout + t * OC;
    float *dinp_bt = dinp + t * C;
    for (int o = 0; o < OC; o++) {
      float *wrow = weight + o * C;
      float d = dout_bt[o];
      for (int i = 0; i < C; i++) {
        dinp_bt[i] += wrow[i] * d;
      }
    }
  }
  for (int o = 0; o < OC; o++) {
    for (int t = 0; t < T; t++) {
      float *dout_bt = dout + t * OC;
      float *inp_bt = inp + t * C;
      float *dwrow = dweight + o * C;
      float d = dout_bt[o];
      dbias[o] += d;
      for (int i = 0; i < C; i++) {
        dwrow[i] += inp_bt[i] * d;
      }
    }
  }
#pragma endscop
}
RUN(matmul_backward, 120, matmul_backward(F(0), F(1), F(2), F(3), F(4), F(5), n, n, n))

void conv2d(float *out, const float *in, const float *w, const float *bias, int C, int H, int W, int K, int R, int stride)
{
  int OH = (H - R) / stride + 1;
  int OW = (W - R) / stride + 1;
#pragma scop
  for (int k = 0; k < K; k++)
    for (int y = 0; y < OH; y++)
      for (int x = 0; x < OW; x++) {
        float sum = bias[k];
        for (int c = 0; c < C; c++)
          for (int r = 0; r < R; r++)
            for (int s = 0; s < R; s++)
              sum += in[(c * H + y * stride + r) * W + x * stride + s] * w[((k * C + c) * R + r) * R + s];
        out[(k * OH + y) * OW + x] = sum;
      }
#pragma endscop
}
RUN(conv2d, 40, if (n >= 3) conv2d(F(0), F(1), F(2), F(3), 4, n, n, 4, 3, 1))

void conv2d_strided(float *out, const float *in, const float *w, int C, int H, int W, int K, int R)
{
  const int OH = (H - R) / 2 + 1, OW = (W - R) / 2 + 1;
#pragma scop
  for (int k = 0; k < K; ++k)
    for (int c = 0; c < C; ++c)
      for (int y = 0; y < OH; ++y)
        for (int x = 0; x < OW; ++x)
          for (int r = 0; r < R; ++r)
            for (int s = 0; s < R; ++s)
              out[k * OH * OW + y * OW + x] +=
                  in[c * H * W + (2 * y + r) * W + 2 * x + s] * w[k * C * R * R + c * R * R + r * R + s];
#pragma endscop
}
RUN(conv2d_strided, 40, if (n >= 3) conv2d_strided(F(0), F(1), F(2), 4, n, n, 4, 3))

void depthwise(float *y, float *x, float *w, int c, int h, int width)
{
#pragma scop
  for (int k = 0; k < c; k++) {
    for (int i = 1; i < h - 1; i++) {
      for (int j = 1; j < width - 1; j++) {
        float acc = 0;
        for (int p = -1; p <= 1; p++)
          for (int q = -1; q <= 1; q++)
            acc += x[k * h * width + (i + p) * width + (j + q)] * w[k * 9 + (p + 1) * 3 + (q + 1)];
        y[k * h * width + i * width + j] = acc;
      }
    }
  }
#pragma endscop
}
RUN(depthwise, 60, depthwise(F(0), F(1), F(2), n < 4 ? n : 4, n, n))

void maxpool(float *out, float *in, int c, int h, int w)
{
  int oh = h / 2, ow = w / 2;
#pragma scop
  for (int k = 0; k < c; k++)
    for (int i = 0; i < oh; i++)
      for (int j = 0; j < ow; j++) {
        float max = -1e30f;
        for (int a = 0; a < 2; a++)
          for (int b = 0; b < 2; b++) {
            float v = in[(k * h + i * 2 + a) * w + j * 2 + b];
            max = v > max ? v : max;
          }
        out[(k * oh + i) * ow + j] = max;
      }
#pragma endscop
}
RUN(maxpool, 100, maxpool(F(0), F(1), n < 4 ? n : 4, n, n))

void global_average(float *out, float *in, int c, int hw)
{
#pragma scop
  for (int k = 0; k < c; ++k) {
    out[k] = 0;
    for (int i = 0; i < hw; ++i)
      out[k] += in[i + hw * k];
    out[k] /= hw;
  }
#pragma endscop
}
RUN(global_average, 300, global_average(F(0), F(1), n, n))

void lstm_cell(float *h, float *c, const float *gates, int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    float ig = 1.f / (1.f + expf(-gates[i]));
    float fg = 1.f / (1.f + expf(-gates[n + i]));
    float cg = tanhf(gates[2 * n + i]);
    float og = 1.f / (1.f + expf(-gates[3 * n + i]));
    c[i] = fg * c[i] + ig * cg;
    h[i] = og * tanhf(c[i]);
  }
#pragma endscop
}
RUN(lstm_cell, 2000, lstm_cell(F(0), F(1), F(2), n))

void knn_distances(double *dist, double *train, double *query, int n, int d)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int k = 0; k < d; k++) {
      double diff = train[i * d + k] - query[k];
      s += diff * diff;
    }
    dist[i] = sqrt(s);
  }
#pragma endscop
}
RUN(knn_distances, 400, knn_distances(D(0), D(1), D(2), n, n))

void kmeans_assign(int *label, double *points, double *centers, int n, int k, int d)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double best = 1e300;
    int which = 0;
    for (int c = 0; c < k; c++) {
      double s = 0.0;
      for (int j = 0; j < d; j++)
        s += (points[i * d + j] - centers[c * d + j]) * (points[i * d + j] - centers[c * d + j]);
      if (s < best) {
        best = s;
        which = c;
      }
    }
    label[i] = which;
  }
#pragma endscop
}
RUN(kmeans_assign, 200, kmeans_assign(I(0), D(0), D(1), n, n < 8 ? n : 8, n < 16 ? n : 16))

void kmeans_update(double *centers, int *counts, double *points, int *label, int n, int k, int d)
{
#pragma scop
  for (int c = 0; c < k; c++) {
    counts[c] = 0;
    for (int j = 0; j < d; j++)
      centers[c * d + j] = 0;
  }
  for (int i = 0; i < n; i++) {
    counts[label[i]]++;
    for (int j = 0; j < d; j++)
      centers[label[i] * d + j] += points[i * d + j];
  }
#pragma endscop
}
RUN(kmeans_update, 300, kmeans_update(D(0), I(0), D(1), I(1), n, n, n))

void perceptron(double *w, double **x, double *t, int n, int d, double rate)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double out = 0.0;
    for (int j = 0; j < d; j++)
      out += w[j] * x[i][j];
    double err = t[i] - out;
    for (int j = 0; j < d; j++)
      w[j] += rate * err * x[i][j];
  }
#pragma endscop
}
RUN(perceptron, 300, perceptron(D(0), ROWS(1), D(2), n, n, 0.01))
