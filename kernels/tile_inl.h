// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The vector core shared by fill, compare and march: a pattern is made in a tile that stays in the L1 cache, then the
// tile is compared with memory, stored to memory, or both. Included once per Highway target (no #pragma once: the
// guard toggles), by .cpp files only.
//
// Philox in vectors: every 64-bit lane holds one counter's word in its low half, and the widening 32-bit multiply
// ignores the high half, so a round is two multiplies, two shifts and two three-way XORs. Lanes are numbered so that
// interleaving within 128 bits yields the blocks in order without a permute across lanes.
#if defined(ASSAY_KERNELS_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_TILE_INL_H_
#undef ASSAY_KERNELS_TILE_INL_H_
#else
#define ASSAY_KERNELS_TILE_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/backend.h"
#include "kernels/bits.h"
#include "kernels/evidence.h"
#include "kernels/philox.h"
#include "kernels/second_read.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline constexpr std::size_t tile_words = 1024;  // 32-bit words a tile is made from: 4 KiB, 8 KiB once they are f64
inline constexpr std::size_t tile_alignment = 128;

// Key and stream, with the key schedule worked out.
struct PhiloxSchedule {
  explicit PhiloxSchedule(Stream s) : id(s.id) {
    const PhiloxKey key = key_of(s);
    for (std::uint32_t r = 0; r < philox_rounds; ++r) {
      k0[r] = static_cast<std::uint32_t>(key.word[0] + r * philox_weyl_0);
      k1[r] = static_cast<std::uint32_t>(key.word[1] + r * philox_weyl_1);
    }
  }
  std::uint64_t k0[philox_rounds];
  std::uint64_t k1[philox_rounds];
  std::uint64_t id;
};

// Words [first_word, first_word + tile_words) of the stream; first_word is a multiple of tile_words.
#if HWY_TARGET == HWY_SCALAR  // no pairs of lanes to interleave: a processor below every vector target
inline void philox_tile(const PhiloxSchedule& s, std::uint64_t first_word, std::uint32_t* tile) {
  const Stream stream{s.k0[0] | s.k1[0] << 32, s.id};
  for (std::size_t i = 0; i < tile_words; i += 4) {
    const PhiloxCounter block = block_at(stream, (first_word + i) / 4);
    for (std::size_t w = 0; w < 4; ++w) tile[i + w] = block.word[w];
  }
}
#else
inline HWY_ATTR void philox_tile(const PhiloxSchedule& s, std::uint64_t first_word, std::uint32_t* HWY_RESTRICT tile) {
  const hn::ScalableTag<std::uint64_t> d;
  const hn::Repartition<std::uint32_t, decltype(d)> d32;
  using V = hn::Vec<decltype(d)>;
  const std::size_t lanes = hn::Lanes(d);
  const V one = hn::Set(d, 1), iota = hn::Iota(d, 0);
  const V odd = hn::Sub(hn::Zero(d), hn::And(iota, one));  // all ones in odd lanes
  const V order = hn::Add(hn::ShiftRight<1>(iota), hn::And(odd, hn::Set(d, lanes / 2)));
  const auto m0 = hn::Set(d32, philox_multiplier_0), m1 = hn::Set(d32, philox_multiplier_1);
  auto* out = reinterpret_cast<std::uint64_t*>(tile);
  for (std::size_t block = 0; block < tile_words / 4; block += lanes, out += 2 * lanes) {
    const V counter = hn::Add(hn::Set(d, first_word / 4 + block), order);
    V x0 = counter, x1 = hn::ShiftRight<32>(counter);
    V x2 = hn::Set(d, s.id), x3 = hn::Set(d, s.id >> 32);
    HWY_UNROLL(10)
    for (int r = 0; r < philox_rounds; ++r) {
      const V p0 = hn::MulEven(hn::BitCast(d32, x0), m0), p1 = hn::MulEven(hn::BitCast(d32, x2), m1);
      x0 = hn::Xor3(hn::ShiftRight<32>(p1), x1, hn::Set(d, s.k0[r]));
      x1 = p1;
      x2 = hn::Xor3(hn::ShiftRight<32>(p0), x3, hn::Set(d, s.k1[r]));
      x3 = p0;
    }
    const auto pack = [&](V low, V high) HWY_ATTR {
      return hn::BitCast(d, hn::OddEven(hn::BitCast(d32, hn::ShiftLeft<32>(high)), hn::BitCast(d32, low)));
    };
    const V a = pack(x0, x1), b = pack(x2, x3);
    hn::Store(hn::InterleaveLower(d, a, b), d, out);
    hn::Store(hn::InterleaveUpper(d, a, b), d, out + lanes);
  }
}
#endif

// The same arithmetic as f32_of and f64_of: exact, so the vector form cannot differ.
inline HWY_ATTR void words_to_f32(const std::uint32_t* HWY_RESTRICT words, float* HWY_RESTRICT out, int bits) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto scale = hn::Set(d, 1.0F / static_cast<float>(1u << (bits - 1)));
  for (std::size_t i = 0; i < tile_words; i += hn::Lanes(d)) {
    const auto word = hn::BitCast(di, hn::Load(hn::RebindToUnsigned<decltype(d)>(), words + i));
    const auto k = hn::Or(hn::ShiftRightSame(word, 32 - bits), hn::Set(di, 1));
    hn::Store(hn::Mul(hn::ConvertTo(d, k), scale), d, out + i);
  }
}

inline HWY_ATTR void words_to_f64(const std::uint32_t* HWY_RESTRICT words, double* HWY_RESTRICT out, int bits) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<std::int32_t, decltype(d)> di;
  const auto scale = hn::Set(d, 1.0 / static_cast<double>(1u << (bits - 1)));
  for (std::size_t i = 0; i < tile_words; i += hn::Lanes(d)) {
    const auto word = hn::BitCast(di, hn::LoadU(hn::Rebind<std::uint32_t, decltype(d)>(), words + i));
    const auto k = hn::Or(hn::ShiftRightSame(word, 32 - bits), hn::Set(di, 1));
    hn::Store(hn::Mul(hn::PromoteTo(d, k), scale), d, out + i);
  }
}

// Makes tiles of elements of a stream in its own buffers, which fit in the L1 cache.
template <class T>
class StreamTiles {
 public:
  static constexpr std::size_t per_tile = std::is_same_v<T, std::uint64_t> ? tile_words / 2 : tile_words;

  StreamTiles(Stream s, int bits) : schedule_(s), bits_(bits) {}

  // Elements [first, first + per_tile), valid until the next call; first is a multiple of per_tile.
  HWY_ATTR const BitsOf<T>* at(std::uint64_t first) {
    philox_tile(schedule_, first * (tile_words / per_tile), words_);
    if constexpr (std::is_same_v<T, float>) words_to_f32(words_, values_, bits_);
    if constexpr (std::is_same_v<T, double>) words_to_f64(words_, values_, bits_);
    if constexpr (std::is_floating_point_v<T>) return reinterpret_cast<const BitsOf<T>*>(values_);
    return reinterpret_cast<const BitsOf<T>*>(words_);
  }

 private:
  PhiloxSchedule schedule_;
  int bits_;
  alignas(tile_alignment) std::uint32_t words_[tile_words];
  alignas(tile_alignment) T values_[std::is_floating_point_v<T> ? tile_words : 1];
};

// Calls use(first, n) for the tiles of a range, the last one first if `descending`; n is `per_tile` but for the last.
template <class Use>
HWY_INLINE HWY_ATTR void for_tiles(Range r, std::size_t per_tile, bool descending, const Use& use) {
  const std::size_t tiles = (r.end - r.begin + per_tile - 1) / per_tile;
  for (std::size_t t = 0; t < tiles; ++t) {
    const std::size_t first = r.begin + (descending ? tiles - 1 - t : t) * per_tile;
    use(first, std::min(per_tile, r.end - first));
  }
}

// Asks for a stretch of memory that apply_tile will read, so that it arrives while its pattern is being made.
template <class T>
HWY_ATTR void prefetch_tile(const T* memory, std::size_t n) {
  for (std::size_t i = 0; i < n; i += 64 / sizeof(T)) hwy::Prefetch(memory + i);
}

// What happens to one stretch of memory.
template <class T>
struct TileStep {
  const T* expect = nullptr;  // compare with this tile, if given
  const T* store = nullptr;   // then store this tile, if given
  bool descending = false;    // last element first
  bool non_temporal = false;  // stores bypass the caches; needs a vector-aligned stretch, else it is ignored
  std::uint64_t pass = 0;
};

// Everything about a wrong element that can be known, from the value that was read.
template <class T>
HWY_NOINLINE void report_wrong(const T* memory, const T* actual, const T* expected, std::size_t n,
                               std::uint64_t first_index, std::uint64_t pass, MismatchReport* report) {
  for (std::size_t i = 0; i < n; ++i) {
    if (actual[i] == expected[i]) continue;
    Mismatch m{first_index + i, expected[i], actual[i], 0, pass};
    if (report->wants(m)) m.second_read = second_read(memory + i);
    report->add(m);
  }
}

// Applies a step to `n` elements (at most a tile) at `memory`, whose first element is number `first_index`.
template <class T>
HWY_ATTR void apply_tile(T* memory, std::size_t n, std::uint64_t first_index, const TileStep<T>& step,
                         MismatchReport* report) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d), vectors = n / lanes;
  const bool stream = step.non_temporal && reinterpret_cast<std::uintptr_t>(memory) % (lanes * sizeof(T)) == 0;
  const auto one_by_one = [&](std::size_t i) {
    const T actual = memory[i];
    if (step.expect && actual != step.expect[i])
      report_wrong(memory + i, &actual, step.expect + i, 1, first_index + i, step.pass, report);
    if (step.store) memory[i] = step.store[i];
  };
  if (step.descending)
    for (std::size_t i = n; i-- > vectors * lanes;) one_by_one(i);
  for (std::size_t v = 0; v < vectors; ++v) {
    const std::size_t i = (step.descending ? vectors - 1 - v : v) * lanes;
    if (step.expect) {
      const auto actual = hn::LoadU(d, memory + i), expected = hn::Load(d, step.expect + i);
      if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Eq(actual, expected)))) {
        HWY_ALIGN T seen[HWY_MAX_BYTES / sizeof(T)];
        hn::Store(actual, d, seen);
        report_wrong(memory + i, seen, step.expect + i, lanes, first_index + i, step.pass, report);
      }
    }
    if (step.store && stream) hn::Stream(hn::Load(d, step.store + i), d, memory + i);
    if (step.store && !stream) hn::StoreU(hn::Load(d, step.store + i), d, memory + i);
  }
  if (!step.descending)
    for (std::size_t i = vectors * lanes; i < n; ++i) one_by_one(i);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#endif
