// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The rig sees the defects of code for 9.0: mbarriers, bulk copies and products of warpgroups. As in rig_test.cpp each
// kernel is right with Defect::none, in every schedule, and has one defect otherwise.
#include "in_order.h"
#include "kernels/bits.h"
#include "kernels/ptx_hopper.cuh"
#include "kernels/tensor_map.cuh"

namespace assay::kernels {
namespace {

using simt::all_schedules;
using simt::DeviceArray;
using simt::fault;
using simt::name_of;
using simt::reset;
using simt::Schedule;
using simt::set_schedule;
using simt::succeed;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

class SimtHopperRig : public simt::InOrder {};

// Runs in each schedule: what `launch_it` launches must end in a fault whose text fits.
template <class Launch, class Matcher>
void expect_fault_everywhere(const Launch& launch_it, const Matcher& text) {
  for (const Schedule schedule : all_schedules) {
    reset();
    set_schedule(schedule);
    succeed(launch_it());
    EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess) << name_of(schedule);
    EXPECT_THAT(fault(), AllOf(HasSubstr("kernel "), text)) << name_of(schedule);
  }
}

std::vector<unsigned> counted(std::size_t n) {
  std::vector<unsigned> numbers(n);
  for (std::size_t i = 0; i < n; ++i) numbers[i] = static_cast<unsigned>(i * 7 + 1);
  return numbers;
}

// --- bulk copies through a ring of two tiles

enum class Defect {
  none,
  no_wait,         // for the data
  wrong_parity,    // of that wait
  no_expectation,  // of the bytes
  too_few_bytes,   // expected
  too_many_bytes,
  refilled_early,  // before all consumers have read
  not_published,   // the barriers
  no_barrier,      // behind their initialisation
  unaligned,       // the global side
  odd_size,
  not_waited_for,  // at the end
};

constexpr unsigned tile_words = 64, tile_bytes = 4 * tile_words, tiles = 6, ring = 2;

template <Defect defect>
__global__ void through_a_ring(const unsigned* from, unsigned* to) {
  unsigned char* const memory = dynamic_shared<unsigned char>();
  auto* const full = reinterpret_cast<Mbarrier*>(memory + ring * tile_bytes);
  Mbarrier* const empty = full + ring;
  const auto stage = [&](unsigned i) { return reinterpret_cast<unsigned*>(memory + i % ring * tile_bytes); };
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < ring; ++s) {
      init_barrier(full + s, 1);
      init_barrier(empty + s, tile_words);
    }
    if (defect != Defect::not_published) publish_barriers();
  }
  if (defect != Defect::no_barrier) __syncthreads();
  if (threadIdx.x >= tile_words) {  // the producer's warp
    if (threadIdx.x != tile_words) return;
    for (unsigned i = 0; i < tiles; ++i) {
      Mbarrier* const b = full + i % ring;
      if (defect != Defect::refilled_early) wait_barrier(empty + i % ring, i / ring % 2 ^ 1);
      const unsigned expected = defect == Defect::too_few_bytes    ? tile_bytes - 16
                                : defect == Defect::too_many_bytes ? tile_bytes + 16
                                                                   : tile_bytes;
      if (defect != Defect::no_expectation) arrive_expecting(b, expected);
      load_bulk<Hint::normal>(stage(i), from + i * tile_words + (defect == Defect::unaligned ? 1 : 0),
                              defect == Defect::odd_size ? tile_bytes - 8 : tile_bytes, b);
      if (defect == Defect::no_expectation) arrive(b);
    }
    return;
  }
  for (unsigned i = 0; i < tiles; ++i) {
    if (defect == Defect::not_waited_for) continue;
    if (defect != Defect::no_wait) {
      wait_barrier(full + i % ring, (i / ring + (defect == Defect::wrong_parity ? 1 : 0)) % 2);
    }
    to[i * tile_words + threadIdx.x] = stage(i)[tile_words - 1 - threadIdx.x];
    arrive(empty + i % ring);
  }
}

template <Defect defect>
cudaError_t run_ring(DeviceArray<unsigned>* from, DeviceArray<unsigned>* to) {
  const Shape shape{dim3(1), dim3(tile_words + 32), ring * tile_bytes + 2 * ring * sizeof(Mbarrier)};
  return launch(through_a_ring<defect>, shape, nullptr, from->data(), to->data());
}

TEST_F(SimtHopperRig, ARingOfBulkCopiesIsRightInEverySchedule) {
  const std::vector<unsigned> numbers = counted(tiles * tile_words);
  for (const Schedule schedule : all_schedules) {
    for (unsigned seed = 1; seed <= 10; ++seed) {
      set_schedule(schedule, seed);
      DeviceArray<unsigned> from(numbers), to(numbers.size());
      succeed(run_ring<Defect::none>(&from, &to));
      const std::vector<unsigned> result = to.values();
      ASSERT_EQ(fault(), "") << name_of(schedule);
      for (unsigned i = 0; i < result.size(); ++i) {
        ASSERT_EQ(result[i], numbers[i / tile_words * tile_words + tile_words - 1 - i % tile_words]);
      }
    }
  }
}

template <Defect defect, class Matcher>
void expect_defect_of_ring(const Matcher& text) {
  reset();
  DeviceArray<unsigned> from(counted(tiles * tile_words)), to(tiles * tile_words);
  expect_fault_everywhere([&] { return run_ring<defect>(&from, &to); }, text);
}

TEST_F(SimtHopperRig, DefectsOfARingAreSeen) {
  const auto too_early = AnyOf(HasSubstr("race on shared memory"), HasSubstr("nobody in this block has written"),
                               HasSubstr("ends before the copies that belong to it"),
                               HasSubstr("the phase that a thread waited for has passed"));
  expect_defect_of_ring<Defect::no_wait>(too_early);
  expect_defect_of_ring<Defect::wrong_parity>(AnyOf(too_early, HasSubstr("deadlock")));
  expect_defect_of_ring<Defect::no_expectation>(
      AnyOf(HasSubstr("not all their bytes were announced"), HasSubstr("deadlock")));
  expect_defect_of_ring<Defect::too_few_bytes>(AnyOf(HasSubstr("deadlock"), too_early));
  expect_defect_of_ring<Defect::too_many_bytes>(
      AllOf(HasSubstr("deadlock"), HasSubstr("wait in wait_barrier at "), HasSubstr("0 arrivals and 16 bytes")));
  expect_defect_of_ring<Defect::refilled_early>(too_early);
  expect_defect_of_ring<Defect::not_published>(HasSubstr("publish_barriers() is missing"));
  expect_defect_of_ring<Defect::no_barrier>(AnyOf(HasSubstr("race"), HasSubstr("nobody in this block has")));
  expect_defect_of_ring<Defect::unaligned>(HasSubstr("global side is not aligned to 16 bytes"));
  expect_defect_of_ring<Defect::odd_size>(HasSubstr("no multiple of 16 bytes"));
  expect_defect_of_ring<Defect::not_waited_for>(
      AnyOf(HasSubstr("deadlock"), HasSubstr("the block ends while copies into its shared memory are under way")));
}

// --- bulk stores

enum class StoreDefect { none, no_fence, no_barrier, no_wait, overwritten_early, not_committed, outside };

template <StoreDefect defect>
__global__ void store_twice(unsigned* to) {
  auto* const tile = dynamic_shared<unsigned>();
  for (unsigned i = 0; i < 2; ++i) {
    tile[threadIdx.x] = 100 * i + threadIdx.x;
    if (defect != StoreDefect::no_fence) fence_async();
    if (defect != StoreDefect::no_barrier) __syncthreads();
    if (threadIdx.x == 0) {
      store_bulk<Hint::normal>(to + i * tile_words + (defect == StoreDefect::outside ? tile_words : 0), tile,
                               tile_bytes);
      if (defect != StoreDefect::not_committed) commit_bulk();
      if (defect != StoreDefect::no_wait && (defect != StoreDefect::overwritten_early || i == 1)) wait_bulk_read<0>();
    }
    __syncthreads();
  }
}

TEST_F(SimtHopperRig, DefectsOfBulkStoresAreSeen) {
  const Shape shape{dim3(1), dim3(tile_words), tile_bytes};
  for (const Schedule schedule : all_schedules) {
    set_schedule(schedule);
    DeviceArray<unsigned> to(2 * tile_words);
    succeed(launch(store_twice<StoreDefect::none>, shape, nullptr, to.data()));
    EXPECT_EQ(to.values()[tile_words + 5], 105u) << fault();
  }
  reset();
  DeviceArray<unsigned> to(2 * tile_words);
  const auto expect = [&](void (*kernel)(unsigned*), const auto& text) {
    expect_fault_everywhere([&] { return launch(kernel, shape, nullptr, to.data()); }, text);
  };
  expect(store_twice<StoreDefect::no_fence>, HasSubstr("without fence_async() by that thread in between"));
  expect(store_twice<StoreDefect::no_barrier>,
         AnyOf(HasSubstr("race on shared memory"), HasSubstr("nobody in this block has written")));
  expect(store_twice<StoreDefect::no_wait>, HasSubstr("race on shared memory"));
  expect(store_twice<StoreDefect::overwritten_early>, HasSubstr("race on shared memory"));
  expect(store_twice<StoreDefect::not_committed>,
         AnyOf(HasSubstr("race"), HasSubstr("before a bulk store is committed")));
  expect(store_twice<StoreDefect::outside>, HasSubstr("a bulk copy of 256 bytes from or to"));
}

// --- products: C (64 x 64) = A (64 x 128) * B (128 x 64), boxes of 64 columns; B by columns

enum class ProductDefect {
  none,
  no_fence,
  no_commit,
  no_wait,
  wrong_step,
  off_its_atom,
  half_a_warpgroup,
};

constexpr unsigned box_bytes = 64 * 128;

template <ProductDefect defect>
__global__ void multiply(const __grid_constant__ CUtensorMap of_a, const __grid_constant__ CUtensorMap of_b, float* c) {
  unsigned char* const memory = dynamic_shared<unsigned char>();
  auto* const full = reinterpret_cast<Mbarrier*>(memory + 4 * box_bytes);
  if (threadIdx.x == 0) {
    init_barrier(full, 1);
    publish_barriers();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    arrive_expecting(full, 4 * box_bytes);
    for (int i = 0; i < 2; ++i) {
      load_box(memory + i * box_bytes, &of_a, 64 * i, 0, full);
      load_box(memory + (2 + i) * box_bytes, &of_b, 64 * i, 0, full);
    }
  }
  wait_barrier(full, 0);
  float d[32] = {};
  if (defect == ProductDefect::half_a_warpgroup && threadIdx.x >= 64) return;
  if (defect != ProductDefect::no_fence) wgmma_fence();
  for (unsigned step = 0; step < 8; ++step) {
    const unsigned box = step / 4, in_box = step % 4;
    const unsigned step_bytes = defect == ProductDefect::wrong_step ? 64 : 32;
    const unsigned off = defect == ProductDefect::off_its_atom ? 128 : 0;
    const std::uint64_t a = describe_matrix(memory + box * box_bytes) + matrix_step(32) * in_box;
    const std::uint64_t b = describe_matrix(memory + (2 + box) * box_bytes + off);
    wgmma_bf16(d, a, b + matrix_step(step_bytes) * (in_box % 2) + matrix_step(64) * (in_box / 2), 1);
  }
  if (defect != ProductDefect::no_commit) wgmma_commit();
  if (defect != ProductDefect::no_wait) wgmma_wait<0>();
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4 + i / 2 % 2 * 8;
    c[row * 64 + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
  }
}

struct Matrices {
  std::vector<std::uint16_t> a, b;  // 64 x 128, and 128 x 64 by columns
  std::vector<float> c;
  Matrices() : a(64 * 128), b(64 * 128), c(64 * 64) {
    for (int i = 0; i < 64; ++i) {
      for (int k = 0; k < 128; ++k) {
        a[i * 128 + k] = to_bf16(static_cast<float>((i * 5 + k * 3) % 17 - 8)).bits;
        b[i * 128 + k] = to_bf16(static_cast<float>((i * 7 + k * 11) % 19 - 9)).bits;
      }
    }
    for (int i = 0; i < 64; ++i) {
      for (int j = 0; j < 64; ++j) {
        for (int k = 0; k < 128; ++k) {
          c[i * 64 + j] += static_cast<float>(((i * 5 + k * 3) % 17 - 8) * ((j * 7 + k * 11) % 19 - 9));
        }
      }
    }
  }
};

template <ProductDefect defect>
std::vector<float> product(const Matrices& m, bool swizzled = true) {
  DeviceArray<std::uint16_t> a(m.a), b(m.b);
  DeviceArray<float> c(m.c.size());
  CUtensorMap of_a, of_b;
  EXPECT_TRUE(make_map(&of_a, {a.data(), 64, 128}, 64));
  EXPECT_TRUE(make_map(&of_b, {b.data(), 64, 128}, 64));
  if (!swizzled) {
    const cuuint64_t size[] = {128, 64}, row_bytes[] = {256};
    const cuuint32_t box[] = {64, 64}, step[] = {1, 1};
    EXPECT_EQ(cuTensorMapEncodeTiled(&of_a, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, a.data(), size, row_bytes, box, step,
                                     CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                     CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
              CUDA_SUCCESS);
  }
  const Shape shape{dim3(1), dim3(128), 4 * box_bytes + sizeof(Mbarrier)};
  succeed(cudaFuncSetAttribute(multiply<defect>, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
  succeed(launch(multiply<defect>, shape, nullptr, of_a, of_b, c.data()));
  if (cudaDeviceSynchronize() != cudaSuccess) return {};
  return c.values();
}

TEST_F(SimtHopperRig, ProductsOfAWarpgroupAreRight) {
  const Matrices m;
  for (const Schedule schedule : all_schedules) {
    set_schedule(schedule);
    EXPECT_EQ(product<ProductDefect::none>(m), m.c) << name_of(schedule) << fault();
  }
}

template <ProductDefect defect, class Matcher>
void expect_defect_of_product(const Matrices& m, const Matcher& text) {
  for (const Schedule schedule : all_schedules) {
    reset();
    set_schedule(schedule);
    EXPECT_NE(product<defect>(m), m.c) << name_of(schedule);
    EXPECT_THAT(fault(), text) << name_of(schedule);
  }
}

TEST_F(SimtHopperRig, DefectsOfProductsAreSeen) {
  const Matrices m;
  expect_defect_of_product<ProductDefect::no_fence>(m, HasSubstr("without wgmma_fence()"));
  expect_defect_of_product<ProductDefect::no_commit>(m, HasSubstr("before a wgmma is committed"));
  expect_defect_of_product<ProductDefect::no_wait>(m, HasSubstr("no wgmma_wait"));
  expect_defect_of_product<ProductDefect::wrong_step>(m, testing::_);
  expect_defect_of_product<ProductDefect::off_its_atom>(m, HasSubstr("first line of 1024 aligned bytes"));
  expect_defect_of_product<ProductDefect::half_a_warpgroup>(
      m, AllOf(HasSubstr("deadlock"), HasSubstr("wgmma_wait, for the other warps of its warpgroup,")));
  for (const Schedule schedule : all_schedules) {
    reset();
    set_schedule(schedule);
    EXPECT_NE(product<ProductDefect::none>(m, false), m.c) << name_of(schedule);
  }
}

// --- what is known of operands: two products of the same ones, which each warp then writes over

enum class OperandDefect { none, written_early, written_after_a_read, of_the_block_before };

template <OperandDefect defect>
__global__ void multiply_twice(float* c) {
  unsigned char* const memory = dynamic_shared<unsigned char>();
  auto* const words = reinterpret_cast<unsigned*>(memory);
  const unsigned lane = threadIdx.x % 32, line = threadIdx.x / 32 * 16 + lane % 16;
  unsigned* const mine = words + line * 32 + line % 8 * 4;             // of A, the first of the line
  unsigned* const beside = words + line * 32 + (line % 8 ^ 4) * 4;  // of the next but one product in k
  if (defect != OperandDefect::of_the_block_before || blockIdx.x == 0) {
    for (unsigned i = threadIdx.x; i < 2 * box_bytes / 4; i += blockDim.x) words[i] = 0;
  }
  fence_async();
  __syncthreads();
  const std::uint64_t a = describe_matrix(memory), b = describe_matrix(memory + box_bytes);
  float d[32] = {};
  wgmma_fence();
  wgmma_bf16(d, a, b, 1);
  wgmma_commit();
  if (defect == OperandDefect::written_after_a_read) {
    wgmma_wait<0>();
    if (lane < 16) d[0] += static_cast<float>(*mine);
    wgmma_fence();
  }
  wgmma_bf16(d, a, b, 1);
  wgmma_commit();
  if (lane < 16 && defect != OperandDefect::of_the_block_before) *beside = 1;
  if (defect == OperandDefect::written_early) wgmma_wait<1>();
  if (defect == OperandDefect::none) wgmma_wait<0>();
  if (lane < 16 && defect != OperandDefect::of_the_block_before) *mine = 1;
  wgmma_wait<0>();
  for (unsigned i = 0; i < 32; ++i) c[(blockIdx.x * 32 + i) * 128 + threadIdx.x] = d[i];
}

template <OperandDefect defect>
std::string fault_of_operands(Schedule schedule, unsigned seed) {
  reset();
  set_schedule(schedule, seed);
  DeviceArray<float> c(2 * 32 * 128);
  succeed(launch(multiply_twice<defect>, {dim3(2), dim3(128), 2 * box_bytes}, nullptr, c.data()));
  cudaDeviceSynchronize();
  return fault();
}

TEST_F(SimtHopperRig, OperandsAreWatchedUntilTheLastProductOfThem) {
  const auto race = AllOf(HasSubstr("race on shared memory: a write"), HasSubstr("an asynchronous operation reads"));
  for (const Schedule schedule : all_schedules) {
    for (unsigned seed = 1; seed <= (simt::is_lazy(schedule) ? 4 : 1); ++seed) {
      SCOPED_TRACE(std::string(name_of(schedule)) + ", " + std::to_string(seed));
      EXPECT_EQ(fault_of_operands<OperandDefect::none>(schedule, seed), "");
      EXPECT_THAT(fault_of_operands<OperandDefect::written_early>(schedule, seed), race);
      EXPECT_THAT(fault_of_operands<OperandDefect::written_after_a_read>(schedule, seed), race);
      EXPECT_THAT(fault_of_operands<OperandDefect::of_the_block_before>(schedule, seed),
                  HasSubstr("nobody in this block has written"));
    }
  }
}

}  // namespace
}  // namespace assay::kernels
