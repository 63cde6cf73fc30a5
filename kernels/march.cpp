// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CPU row of kernels/march.h, and the cycles of steps for every backend. Steps that only write bypass the caches when
// the buffer is large; a step that has just read a line stores to it in the ordinary way, which is what writes it back.
#include "kernels/march.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/march.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include "kernels/tile_inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

inline constexpr std::size_t march_tile = tile_words / 2;  // 64-bit words

// Words [first, first + march_tile) of a pattern.
HWY_ATTR void march_pattern_tile(const MarchPattern& p, const PhiloxSchedule& schedule, std::uint64_t first,
                                 std::uint64_t* HWY_RESTRICT tile) {
  const hn::ScalableTag<std::uint64_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto flip = hn::Set(d, p.complement ? ~std::uint64_t{0} : 0);
  if (p.kind == MarchPattern::Kind::philox) philox_tile(schedule, 2 * first, reinterpret_cast<std::uint32_t*>(tile));
  for (std::size_t i = 0; i < march_tile; i += lanes) {
    const auto index = hn::Add(hn::Set(d, first + i), hn::Iota(d, 0));
    auto v = hn::Set(d, p.value);
    if (p.kind == MarchPattern::Kind::own_offset) v = hn::ShiftLeft<3>(index);
    if (p.kind == MarchPattern::Kind::walking_one)
      v = hn::Shl(hn::Set(d, 1), hn::And(hn::Add(index, v), hn::Set(d, 63)));
    if (p.kind == MarchPattern::Kind::philox) v = hn::Load(d, tile + i);
    hn::Store(hn::Xor(v, flip), d, tile + i);
  }
}

// The complement of a whole tile: half of all steps store it, and making a Philox tile twice would cost as much again.
HWY_ATTR void complement_tile(const std::uint64_t* HWY_RESTRICT tile, std::uint64_t* HWY_RESTRICT out) {
  const hn::ScalableTag<std::uint64_t> d;
  for (std::size_t i = 0; i < march_tile; i += hn::Lanes(d)) hn::Store(hn::Not(hn::Load(d, tile + i)), d, out + i);
}

HWY_ATTR void march_share(std::uint64_t* memory, Range r, const MarchStep& step, std::uint64_t pass, bool non_temporal,
                          MismatchReport* report) {
  alignas(tile_alignment) std::uint64_t expect[march_tile], store[march_tile];
  const PhiloxSchedule expect_schedule(step.expect.stream), store_schedule(step.store.stream);
  TileStep<std::uint64_t> tile;
  tile.expect = step.reads ? expect : nullptr;
  tile.store = step.writes ? store : nullptr;
  tile.descending = step.descending;
  tile.non_temporal = non_temporal && !step.reads;
  tile.pass = pass;
  const bool inverts = step.reads && step.writes && step.expect.is_complement_of(step.store);
  for_tiles(r, march_tile, step.descending, [&](std::size_t first, std::size_t n) HWY_ATTR {
    if (step.reads) prefetch_tile(memory + first, n);
    if (step.reads) march_pattern_tile(step.expect, expect_schedule, first, expect);
    if (inverts)
      complement_tile(expect, store);
    else if (step.writes)
      march_pattern_tile(step.store, store_schedule, first, store);
    apply_tile(memory + first, n, first, tile, report);
  });
  if (step.reads) report->compared += r.end - r.begin;
  hwy::FlushStream();
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <omp.h>

#include "kernels/fill.h"

namespace assay::kernels {
namespace {

HWY_EXPORT(march_share);

void cpu_step(std::uint64_t* memory, std::size_t words, const MarchStep& step, std::uint64_t pass,
              MismatchReport* report, const Exec& exec) {
  const bool non_temporal = words * sizeof *memory >= fill_non_temporal_bytes;
#pragma omp parallel num_threads(exec.threads)
  {
    MismatchReport mine;
    const Range r = share(words, omp_get_thread_num(), omp_get_num_threads(), fill_granule);
    HWY_DYNAMIC_DISPATCH(march_share)(memory, r, step, pass, non_temporal, &mine);
#pragma omp critical(assay_march_merge)
    report->merge(mine);
  }
}

constexpr MarchOps cpu_march{cpu_step};

enum class Order { up, down };

// A cycle as it is written on paper: begin with a pattern, turn one into the next, and back into the first.
class Cycle {
 public:
  explicit Cycle(const MarchPattern& first) : now_(first) {}
  Cycle& turn_into(const MarchPattern& next, Order order) {
    steps_.push_back({true, now_, true, next, order == Order::down});
    now_ = next;
    return *this;
  }
  Cycle& invert(Order order) {
    MarchPattern next = now_;
    next.complement = !next.complement;
    return turn_into(next, order);
  }
  const std::vector<MarchStep>& steps() const { return steps_; }

 private:
  MarchPattern now_;
  std::vector<MarchStep> steps_;
};

MarchPattern constant(std::uint64_t value) { return {MarchPattern::Kind::constant, value, {}, false}; }
MarchPattern walking(std::uint64_t bit) { return {MarchPattern::Kind::walking_one, bit, {}, false}; }

}  // namespace

std::vector<MarchStep> march_cycle(MarchTest test, Stream stream) {
  switch (test) {
    case MarchTest::own_address:
      return Cycle({MarchPattern::Kind::own_offset, 0, {}, false}).invert(Order::up).invert(Order::down).steps();
    case MarchTest::moving_inversions:
      return Cycle(constant(0))
          .invert(Order::up)
          .invert(Order::down)
          .turn_into(constant(0x5555555555555555u), Order::up)
          .invert(Order::up)
          .invert(Order::down)
          .turn_into(constant(0), Order::up)
          .steps();
    case MarchTest::walking_ones: {
      Cycle cycle(walking(0));
      for (std::uint64_t bit = 1; bit <= 64; ++bit) cycle.turn_into(walking(bit % 64), Order::up);
      return cycle.steps();
    }
    case MarchTest::random:
      break;
  }
  return Cycle({MarchPattern::Kind::philox, 0, stream, false}).invert(Order::up).invert(Order::down).steps();
}

MarchStep march_begin(const std::vector<MarchStep>& cycle) { return {false, {}, true, cycle.front().expect, false}; }

MarchStep march_end(const MarchStep& last) { return {true, last.store, false, {}, false}; }

std::vector<MarchStep> march_steps(MarchTest test, Stream stream) {
  const std::vector<MarchStep> cycle = march_cycle(test, stream);
  std::vector<MarchStep> steps{march_begin(cycle)};
  steps.insert(steps.end(), cycle.begin(), cycle.end());
  steps.push_back(march_end(cycle.back()));
  return steps;
}

std::uint64_t march_bytes(const std::vector<MarchStep>& steps, std::size_t words) {
  std::uint64_t accesses = 0;
  for (const auto& step : steps) accesses += (step.reads ? 1u : 0u) + (step.writes ? 1u : 0u);
  return accesses * words * sizeof(std::uint64_t);
}

const MarchOps* march_ops(Backend backend, int capability) {
  return ops_for(backend, capability, &cpu_march);
}

}  // namespace assay::kernels
#endif
