// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// f16 and bf16 as the device computes with them: by the bits of a double, so that it shares no code with the reference
// it is compared with (kernels/fma.cpp, kernels/mma.cpp).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace assay::simt {

// exponent_bits and fraction_bits: of the 16, beside the sign.
template <int exponent_bits, int fraction_bits>
struct Half {
  static constexpr int bias = (1 << (exponent_bits - 1)) - 1;
  static constexpr std::uint32_t infinity = ((1u << exponent_bits) - 1) << fraction_bits;

  static double value(std::uint32_t bits) {
    const std::uint64_t sign = (bits >> 15 & 1ull) << 63;
    const std::uint32_t magnitude = bits & 0x7FFFu;
    if (magnitude < 1u << fraction_bits) {  // below the smallest normal one
      return std::copysign(static_cast<double>(magnitude) * smallest(), std::bit_cast<double>(sign));
    }
    const std::uint64_t exponent =
        (magnitude >> fraction_bits) + (magnitude >= infinity ? 2047 - infinity_exponent : 1023 - bias);
    return std::bit_cast<double>(sign | exponent << 52 |
                                 static_cast<std::uint64_t>(magnitude & ((1u << fraction_bits) - 1))
                                     << (52 - fraction_bits));
  }

  // To the nearest, ties to even.
  static std::uint32_t rounded(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const auto sign = static_cast<std::uint32_t>(bits >> 63) << 15;
    std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63);
    if (magnitude >= std::uint64_t{2047} << 52)
      return sign | infinity | (std::isnan(x) ? 1u << (fraction_bits - 1) : 0);
    if (magnitude < static_cast<std::uint64_t>(1024 - bias) << 52) {
      // The sum's last place is `smallest`, and the addition rounds.
      const double shift = smallest() * 0x1p52;
      return sign | static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(std::abs(x) + shift) & 0xFFFFu);
    }
    constexpr int dropped = 52 - fraction_bits;
    magnitude -= static_cast<std::uint64_t>(1023 - bias) << 52;
    magnitude += (std::uint64_t{1} << (dropped - 1)) - 1 + (magnitude >> dropped & 1);
    const auto result = static_cast<std::uint32_t>(magnitude >> dropped);
    return sign | (result < infinity ? result : infinity);
  }

 private:
  static constexpr std::uint32_t infinity_exponent = (1u << exponent_bits) - 1;
  static constexpr double smallest() {  // the last place of numbers below the smallest normal one
    return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + 1 - bias - fraction_bits) << 52);
  }
};
using F16 = Half<5, 10>;
using Bf16 = Half<8, 7>;

// Two in a word, low half first. Exact up to the one rounding as long as the product and the sum fit 53 bits.
template <class Format>
std::uint32_t multiply_add_pair(std::uint32_t x, std::uint32_t a, std::uint32_t b) {
  const auto half = [](std::uint32_t p, std::uint32_t q, std::uint32_t r) {
    return Format::rounded(Format::value(p & 0xFFFFu) * Format::value(q & 0xFFFFu) + Format::value(r & 0xFFFFu));
  };
  return half(x, a, b) | half(x >> 16, a >> 16, b >> 16) << 16;
}

}  // namespace assay::simt
