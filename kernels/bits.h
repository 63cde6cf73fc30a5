// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Numbers as bit patterns, and bf16, which is the upper half of an f32. Trap: to_bf16 cuts and doesn't round, so it is
// right only for values that bf16 can hold (8 significant bits), such as the small integers of the benchmarks.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/host_device.h"

namespace assay::kernels {

// The unsigned integer of T's size: what is stored and compared.
template <class T>
using BitsOf = std::conditional_t<
    sizeof(T) == 8, std::uint64_t,
    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;

template <class T>
ASSAY_HOST_DEVICE inline BitsOf<T> bits_of(T value) {
  static_assert(sizeof(T) == sizeof(BitsOf<T>));
  BitsOf<T> bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

struct Bf16 {
  std::uint16_t bits;
};

inline Bf16 to_bf16(float value) { return {static_cast<std::uint16_t>(bits_of(value) >> 16)}; }

inline float from_bf16(Bf16 value) {
  const std::uint32_t bits = static_cast<std::uint32_t>(value.bits) << 16;
  float result;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}

// The f16 of a value that it can hold: 0, or at least 2^-14 and below 2^16, with 11 significant bits.
inline std::uint16_t to_f16(float value) {
  const std::uint32_t bits = bits_of(value), exponent = bits >> 23 & 255;
  const std::uint32_t magnitude = exponent == 0 ? 0 : (exponent - 112) << 10 | (bits >> 13 & 1023);
  return static_cast<std::uint16_t>((bits >> 16 & 0x8000u) | magnitude);
}

// A number of a sign, some bits of exponent and some of fraction, without infinities and what is no number.
template <int exponent_bits, int fraction_bits>
inline double from_bits(unsigned bits) {
  constexpr int last_place = 2 - (1 << (exponent_bits - 1)) - fraction_bits;  // of numbers below the smallest normal one
  const int exponent = static_cast<int>(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = static_cast<int>(bits) & ((1 << fraction_bits) - 1), hidden = 1 << fraction_bits;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, last_place) : std::ldexp(fraction + hidden, last_place + exponent - 1);
  return (bits >> (exponent_bits + fraction_bits) & 1) != 0 ? -magnitude : magnitude;
}
inline double from_f16(std::uint16_t bits) { return from_bits<5, 10>(bits); }
inline double from_e4m3(std::uint8_t bits) { return from_bits<4, 3>(bits); }  // up to 448
inline double from_e5m2(std::uint8_t bits) { return from_bits<5, 2>(bits); }
inline double from_e2m1(unsigned bits) { return from_bits<2, 1>(bits); }  // 0, .5, 1, 1.5, 2, 3, 4, 6

}  // namespace assay::kernels
