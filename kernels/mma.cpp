// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What the tensor cores must give, by plain loops over integers.
#include "kernels/mma.h"

#include <vector>

#include "kernels/bits.h"

namespace assay::kernels {
namespace {

template <class In, class Out, class Bits, class Value>
void expected(const MmaRow<In, Out, Bits>& row, std::size_t blocks, std::size_t passes, const In* a, const In* b,
              const Out* c, Bits* sums, Value value) {
  for (std::size_t tile = 0; tile < blocks * row.warps * row.chains; ++tile) {
    const In* const of_warp = a + tile / row.chains % row.warps * row.m * row.k;
    const In* const of_chain = b + tile % row.chains * row.n * row.k;
    for (std::size_t i = 0; i < row.m; ++i) {
      for (std::size_t j = 0; j < row.n; ++j, ++c, ++sums) {
        std::int64_t dot = 0;
        for (std::size_t k = 0; k < row.k; ++k) {
          dot += static_cast<std::int64_t>(value(of_warp[i * row.k + k])) *
                 static_cast<std::int64_t>(value(of_chain[j * row.k + k]));
        }
        const auto end = static_cast<Out>(static_cast<std::int64_t>(*c) + static_cast<std::int64_t>(mma_steps) * dot);
        *sums = static_cast<Bits>(passes) * static_cast<Bits>(bits_of(end));
      }
    }
  }
}

const auto as_it_is = [](auto x) { return x; };

}  // namespace

const MmaOps* mma_ops(Backend backend, int capability) { return ops_for<MmaOps>(backend, capability, nullptr); }

void mma_expected_bf16(const MmaHalfRow& row, std::size_t blocks, std::size_t passes, const std::uint16_t* a,
                       const std::uint16_t* b, const float* c, std::uint32_t* sums) {
  expected(row, blocks, passes, a, b, c, sums, [](std::uint16_t bits) { return from_bf16({bits}); });
}
void mma_expected_f16(const MmaHalfRow& row, std::size_t blocks, std::size_t passes, const std::uint16_t* a,
                      const std::uint16_t* b, const float* c, std::uint32_t* sums) {
  expected(row, blocks, passes, a, b, c, sums, from_f16);
}
void mma_expected_tf32(const MmaTf32Row& row, std::size_t blocks, std::size_t passes, const float* a, const float* b,
                       const float* c, std::uint32_t* sums) {
  expected(row, blocks, passes, a, b, c, sums, as_it_is);
}
void mma_expected_f64(const MmaF64Row& row, std::size_t blocks, std::size_t passes, const double* a, const double* b,
                      const double* c, std::uint64_t* sums) {
  expected(row, blocks, passes, a, b, c, sums, as_it_is);
}
void mma_expected_int8(const MmaInt8Row& row, std::size_t blocks, std::size_t passes, const std::int8_t* a,
                       const std::int8_t* b, const std::int32_t* c, std::uint32_t* sums) {
  expected(row, blocks, passes, a, b, c, sums, as_it_is);
}
void mma_expected_e4m3(const MmaFp8Row& row, std::size_t blocks, std::size_t passes, const std::uint8_t* a,
                       const std::uint8_t* b, const float* c, std::uint32_t* sums) {
  expected(row, blocks, passes, a, b, c, sums, from_e4m3);
}
void mma_expected_e5m2(const MmaFp8Row& row, std::size_t blocks, std::size_t passes, const std::uint8_t* a,
                       const std::uint8_t* b, const float* c, std::uint32_t* sums) {
  expected(row, blocks, passes, a, b, c, sums, from_e5m2);
}
void mma_expected_e2m1(const MmaFp4Row& row, std::size_t blocks, std::size_t passes, const std::uint8_t* a,
                       const std::uint8_t* b, const float* c, std::uint32_t* sums) {
  const auto apart = [](const std::uint8_t* pairs, std::size_t numbers) {
    std::vector<std::uint8_t> each(numbers);
    for (std::size_t i = 0; i < numbers; ++i) each[i] = static_cast<std::uint8_t>(pairs[i / 2] >> i % 2 * 4 & 15);
    return each;
  };
  const std::vector<std::uint8_t> of_a = apart(a, row.warps * row.m * row.k);
  const std::vector<std::uint8_t> of_b = apart(b, row.chains * row.n * row.k);
  expected(row, blocks, passes, of_a.data(), of_b.data(), c, sums, from_e2m1);
}

}  // namespace assay::kernels
