#pragma once
#include <cstddef>
#include <vector>

namespace images {

/// An image in grey, row by row.
template <typename Pixel> class Image {
public:
  Image(int height, int width)
      : height_(height), width_(width), pixels_(static_cast<std::size_t>(height) * width) {}
  int height() const { return height_; }
  int width() const { return width_; }
  Pixel *data() { return pixels_.data(); }
  const Pixel *data() const { return pixels_.data(); }

private:
  int height_, width_;
  std::vector<Pixel> pixels_;
};

Image<float> blurred(const Image<float> &image, float weight);
float brightest(const Image<float> &image);

} // namespace images
