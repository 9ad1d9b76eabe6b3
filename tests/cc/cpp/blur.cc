#include "image.hpp"
#include <algorithm>
#include <cmath>

namespace images {

namespace {
constexpr int RADIUS = 1;
}

Image<float> blurred(const Image<float> &image, const float weight) {
  const int h = image.height(), w = image.width();
  Image<float> result(h, w);
  const float *in = image.data();
  float *out = result.data();
#pragma scop
  for (int y = RADIUS; y < h - RADIUS; ++y)
    for (int x = RADIUS; x < w - RADIUS; ++x) {
      float sum = 0;
      for (int dy = -RADIUS; dy <= RADIUS; ++dy)
        for (int dx = -RADIUS; dx <= RADIUS; ++dx)
          sum += std::abs(in[(y + dy) * w + x + dx]);
      out[y * w + x] = std::sqrt(weight * sum);
    }
#pragma endscop
  return result;
}

float brightest(const Image<float> &image) {
  float most = 0;
  for (int k = 0; k < image.height() * image.width(); ++k)
    most = std::max(most, image.data()[k]);
  return most;
}

} // namespace images
