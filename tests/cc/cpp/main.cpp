#include "image.hpp"
#include <iostream>

int main() {
  images::Image<float> image(60, 90);
  for (int k = 0; k < 60 * 90; ++k)
    image.data()[k] = static_cast<float>(k % 17) - 8.0f;
  const auto result = images::blurred(image, 0.125f);
  double sum = 0;
  for (int k = 0; k < 60 * 90; ++k)
    sum += result.data()[k] * (k % 5);
  std::cout.precision(17);
  std::cout << sum << ' ' << images::brightest(result) << '\n';
}
