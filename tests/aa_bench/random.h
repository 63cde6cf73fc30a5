// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Random numbers that are the same everywhere: std::mt19937_64 would be, but the distributions of <random> are not.
// Each trial has a generator of its own, seeded from what it is, so results do not depend on who computes it when.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>

namespace assay::aa_bench {

// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
inline std::uint64_t scramble(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

class Random {
 public:
  // `parts` name the trial: tool, family, effect, number ...
  Random(std::uint64_t seed, std::initializer_list<std::uint64_t> parts) : state_(scramble(seed + step)) {
    for (std::uint64_t part : parts) state_ = scramble(state_ ^ scramble(part + step));
  }

  std::uint64_t bits() { return scramble(state_ += step); }
  // Strictly between 0 and 1.
  double uniform() { return (static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53; }
  std::size_t below(std::size_t n) {
    return static_cast<std::size_t>(static_cast<double>(bits() >> 11) * 0x1p-53 * static_cast<double>(n));
  }
  bool chance(double probability) { return uniform() < probability; }
  double exponential(double mean) { return -mean * std::log(uniform()); }
  // Marsaglia's polar method makes two at once.
  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    double x = 0, y = 0, square = 0;
    do {
      x = 2 * uniform() - 1;
      y = 2 * uniform() - 1;
      square = x * x + y * y;
    } while (square >= 1 || square == 0);
    const double factor = std::sqrt(-2 * std::log(square) / square);
    spare_ = y * factor;
    has_spare_ = true;
    return x * factor;
  }
  // Student's t with 3 degrees of freedom.
  double student3() {
    const double z = normal(), a = normal(), b = normal(), c = normal();
    return z / std::sqrt((a * a + b * b + c * c) / 3);
  }

 private:
  static constexpr std::uint64_t step = 0x9E3779B97F4A7C15u;
  std::uint64_t state_ = 0;
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace assay::aa_bench
