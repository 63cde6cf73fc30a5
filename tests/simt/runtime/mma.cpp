// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// mma.sync of include/kernels/ptx.cuh: the 32 lanes of a warp meet, the last one multiplies for all. Which lane holds
// what is the PTX manual's, written down once for all types by words of the registers (f64: of 8 bytes, else of 4).
// Sums are exact before they are rounded once, while a device may round in between: kernels are tested with integers.
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/ptx.cuh"
#include "simt/half.h"
#include "simulated_time.h"

namespace assay::simt {
namespace {

// One type of product: m and the words of a row of A or of a column of B; how many numbers a word holds, and which.
struct Bf16Product {
  static constexpr int m = 16, row_words = 8, in_word = 2;
  using Word = std::uint32_t;
  using Out = float;
  static double number(Word word, int i) { return Bf16::value(word >> 16 * i & 0xFFFFu); }
};
struct F16Product : Bf16Product {
  static double number(Word word, int i) { return F16::value(word >> 16 * i & 0xFFFFu); }
};
struct Tf32Product : Bf16Product {
  static constexpr int in_word = 1;
  static double number(Word word, int) { return static_cast<double>(std::bit_cast<float>(word & ~0x1FFFu)); }
};
struct Int8Product : Bf16Product {
  static constexpr int in_word = 4;
  using Out = std::int32_t;
  static std::int64_t number(Word word, int i) { return static_cast<std::int8_t>(word >> 8 * i & 0xFFu); }
};
// fp8 by its bits in an f16: e5m2 is its upper half; e4m3 has one exponent bit less, so a bias of 7 and not 15.
struct E4m3Product : Bf16Product {
  static constexpr int in_word = 4;
  static double number(Word word, int i) {
    const Word byte = word >> 8 * i & 0xFFu;
    return 256 * F16::value((byte & 0x80u) << 8 | (byte & 0x7Fu) << 7);
  }
};
struct E5m2Product : Bf16Product {
  static constexpr int in_word = 4;
  static double number(Word word, int i) { return F16::value((word >> 8 * i & 0xFFu) << 8); }
};
struct F64Product {
  static constexpr int m = 8, row_words = 4, in_word = 1;
  using Word = double;
  using Out = double;
  static double number(Word word, int) { return word; }
};

struct Operands {
  void* d;
  const void *a, *b;
};

template <class Product>
void multiply(Exchange* const (&lanes)[32], std::uint32_t) {
  using Word = typename Product::Word;
  using Out = typename Product::Out;
  using Wide = std::conditional_t<std::is_integral_v<Out>, std::int64_t, double>;
  constexpr int k = Product::row_words * Product::in_word, halves = Product::m / 8;
  simulated_ns += Product::m * 8 * Product::row_words * sizeof(Word) / product_bytes_per_ns;
  Wide a[Product::m][k], b[8][k];
  const auto operands = [&](int lane) {
    return reinterpret_cast<const Operands*>(static_cast<std::uintptr_t>(lanes[lane]->value));
  };
  const auto unpack = [](Word word, Wide* to) {
    for (int i = 0; i < Product::in_word; ++i) to[i] = Product::number(word, i);
  };
  for (int lane = 0; lane < 32; ++lane) {
    const int g = lane / 4, t = lane % 4;
    const auto* of_a = static_cast<const Word*>(operands(lane)->a);
    const auto* of_b = static_cast<const Word*>(operands(lane)->b);
    for (int word = t; word < Product::row_words; word += 4) {
      for (int half = 0; half < halves; ++half) unpack(*of_a++, &a[g + 8 * half][word * Product::in_word]);
      unpack(*of_b++, &b[g][word * Product::in_word]);
    }
  }
  for (int lane = 0; lane < 32; ++lane) {
    auto* d = static_cast<Out*>(operands(lane)->d);
    for (int half = 0; half < halves; ++half) {
      for (int column = lane % 4 * 2; column < lane % 4 * 2 + 2; ++column, ++d) {
        Wide sum = *d;
        for (int i = 0; i < k; ++i) sum += a[lane / 4 + 8 * half][i] * b[column][i];
        *d = static_cast<Out>(sum);
      }
    }
  }
}

template <class Product>
void meet_for(void* d, const void* a, const void* b, const char* name, Where where) {
  Operands operands{d, a, b};
  Exchange mine;
  mine.value = reinterpret_cast<std::uintptr_t>(&operands);
  meet(0xFFFFFFFFu, &mine, multiply<Product>, false, name, where);
}

}  // namespace
}  // namespace assay::simt

namespace assay::kernels {

void mma_bf16(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2], simt::Where where) {
  simt::meet_for<simt::Bf16Product>(d, a, b, "mma_bf16", where);
}
void mma_f16(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2], simt::Where where) {
  simt::meet_for<simt::F16Product>(d, a, b, "mma_f16", where);
}
void mma_tf32(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2], simt::Where where) {
  simt::meet_for<simt::Tf32Product>(d, a, b, "mma_tf32", where);
}
void mma_f64(double (&d)[2], const double (&a)[1], const double (&b)[1], simt::Where where) {
  simt::meet_for<simt::F64Product>(d, a, b, "mma_f64", where);
}
void mma_int8(std::int32_t (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2], simt::Where where) {
  simt::meet_for<simt::Int8Product>(d, a, b, "mma_int8", where);
}
void mma_e4m3(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2], simt::Where where) {
  simt::meet_for<simt::E4m3Product>(d, a, b, "mma_e4m3", where);
}
void mma_e5m2(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2], simt::Where where) {
  simt::meet_for<simt::E5m2Product>(d, a, b, "mma_e5m2", where);
}

}  // namespace assay::kernels
