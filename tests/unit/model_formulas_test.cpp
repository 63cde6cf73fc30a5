// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Formulas of the models against figures worked out by hand, which stand beside them, and the occupancy against
// NVIDIA's own calculation (cuda_occupancy.h) where a toolkit is here.
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/model/formulas.h"
#include "tests/unit/source_folder.h"

#if __has_include(<cuda_occupancy.h>)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <cuda_occupancy.h>
#pragma GCC diagnostic pop
#define ASSAY_HAVE_CUDA_OCCUPANCY 1
#endif

namespace assay::model {
namespace {

const Hardware& hardware() {
  static const Hardware tables(source_folder() / "results" / "models");
  return tables;
}

Occupancy on(const std::string& capability, double threads, double registers, double shared_bytes) {
  const Multiprocessor* m = hardware().multiprocessor(capability);
  if (m == nullptr) {
    ADD_FAILURE() << "no multiprocessor of " << capability;
    return {};
  }
  return occupancy(*m, {threads, registers, shared_bytes});
}

// The A100 has 2048 threads, 32 blocks, 65536 registers, 164 KiB of shared memory, 1 KiB of it for each block.
TEST(ModelOccupancy, A100) {
  EXPECT_EQ(on("8.0", 256, 32, 0).blocks, 8);  // 8 x 256 x 32 = 65536 registers and 2048 threads
  EXPECT_EQ(on("8.0", 256, 32, 0).by, "threads");
  EXPECT_EQ(on("8.0", 256, 33, 0).blocks,
            6);  // 33 x 32 = 1056, given out as 1280: 12 warps in a quarter of 16384, 48 in all
  EXPECT_EQ(on("8.0", 256, 33, 0).by, "registers");
  EXPECT_EQ(on("8.0", 256, 56, 0).blocks, 4);   // 1792: 9 warps in a quarter, 36 in all, 4 blocks of 8
  EXPECT_EQ(on("8.0", 256, 64, 0).blocks, 4);   // 2048: 8 warps in a quarter
  EXPECT_EQ(on("8.0", 256, 255, 0).blocks, 1);  // 8192 for each warp: two in a quarter
  EXPECT_EQ(on("8.0", 256, 256, 0).blocks, 0);
  EXPECT_EQ(on("8.0", 32, 16, 0).blocks, 32);
  EXPECT_EQ(on("8.0", 32, 16, 0).by, "blocks");
  EXPECT_EQ(on("8.0", 128, 32, 40 * 1024).blocks, 4);  // 41 KiB each, 164 KiB
  EXPECT_EQ(on("8.0", 128, 32, 40 * 1024 + 1).blocks, 3);
  EXPECT_EQ(on("8.0", 128, 32, 163 * 1024).blocks, 1);
  EXPECT_EQ(on("8.0", 128, 32, 163 * 1024 + 1).blocks, 0);
  EXPECT_EQ(on("8.0", 128, 32, 163 * 1024 + 1).by, "shared memory");
}

TEST(ModelOccupancy, OtherCapabilities) {
  EXPECT_EQ(on("9.0", 256, 32, 0).threads, 2048);
  EXPECT_EQ(on("8.9", 256, 32, 0).threads, 1536);  // 1536 threads: 6 blocks
  EXPECT_EQ(on("7.5", 256, 32, 0).threads, 1024);
  EXPECT_EQ(on("8.6", 64, 16, 0).blocks, 16);
  EXPECT_EQ(on("8.9", 64, 16, 0).blocks, 24);
  EXPECT_EQ(on("9.0", 384, 168, 4 * (128 + 256) * 64 * 2).blocks, 1);  // 192 KiB and 1 KiB of 228 KiB
  EXPECT_EQ(on("9.0", 384, 0, 3 * (128 + 64) * 64 * 2).blocks, 3);     // 72 KiB and 1 KiB, three times in 228 KiB
}

// Every kind of block, on every capability, by NVIDIA's own function.
TEST(ModelOccupancy, AsNvidiaCalculatesIt) {
#if defined(ASSAY_HAVE_CUDA_OCCUPANCY)
  int compared = 0;
  for (const Multiprocessor& m : hardware().multiprocessors()) {
    cudaOccDeviceProp device;
    device.computeMajor = std::stoi(m.compute_capability);
    device.computeMinor = m.compute_capability.back() - '0';
    device.maxThreadsPerBlock = 1024;
    device.maxThreadsPerMultiprocessor = static_cast<int>(m.threads);
    device.regsPerBlock = device.regsPerMultiprocessor = static_cast<int>(m.registers);
    device.warpSize = 32;
    device.sharedMemPerBlock = 48 * 1024;
    device.sharedMemPerMultiprocessor = static_cast<std::size_t>(m.shared_bytes);
    device.sharedMemPerBlockOptin = static_cast<std::size_t>(m.shared_bytes_of_a_block);
    device.reservedSharedMemPerBlock = static_cast<std::size_t>(m.shared_bytes_reserved);
    device.numSms = 100;
    for (const int threads : {1, 32, 96, 128, 256, 384, 512, 1024})
      for (int registers = 16; registers <= 255; registers += 7)
        for (const int shared : {0, 64, 2048, 8448, 16416, 49152, 66000, 98304, 100000, 196608}) {
          if (registers * threads > 65536) continue;
          cudaOccFuncAttributes attributes;
          attributes.maxThreadsPerBlock = 1024;
          attributes.numRegs = registers;
          attributes.sharedSizeBytes = 0;
          attributes.partitionedGCConfig = PARTITIONED_GC_OFF;
          attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
          attributes.maxDynamicSharedSizeBytes = static_cast<std::size_t>(m.shared_bytes_of_a_block);
          attributes.numBlockBarriers = 1;
          cudaOccDeviceState state;
          state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
          cudaOccResult result;
          const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &attributes, &state,
                                                                             threads, static_cast<std::size_t>(shared));
          const double ours = occupancy(m, {double(threads), double(registers), double(shared)}).blocks;
          if (error != CUDA_OCC_SUCCESS) {
            EXPECT_EQ(ours, 0) << m.compute_capability << ' ' << threads << ' ' << registers << ' ' << shared;
            continue;
          }
          ++compared;
          EXPECT_EQ(ours, result.activeBlocksPerMultiprocessor)
              << m.compute_capability << ' ' << threads << " threads, " << registers << " registers, " << shared
              << " bytes";
        }
  }
  EXPECT_GT(compared, 10000);
#else
  GTEST_SKIP() << "no cuda_occupancy.h: no CUDA toolkit was found";
#endif
}

TEST(ModelFormulas, LittlesLaw) {
  // An H100: 649.9 cycles at 1755 MHz are 370.3 ns; times 3352 GB/s are 1.241 MB, of which each of 132 has 9404 bytes.
  EXPECT_NEAR(bytes_needed(649.9 / 1.755e9, 3.352e12, 132), 9404, 1);
  // The figure of stream.cu: 3.3 TB/s x 600 ns = 2 MB, 15 KB on each of 132.
  EXPECT_NEAR(bytes_needed(600e-9, 3.3e12, 132), 15000, 1);
}

TEST(ModelFormulas, Waves) {
  // 4096 / 128 = 32 by 4096 / 256 = 16 are 512 tiles: 3.88 waves of 132, so 512 of 528 slots.
  const Waves big = waves(4096, 4096, 128, 256, 132);
  EXPECT_EQ(big.tiles, 512);
  EXPECT_NEAR(big.waves, 3.8788, 1e-4);
  EXPECT_NEAR(big.efficiency, 512.0 / 528, 1e-12);
  // 8192: 2048 tiles, 15.52 waves, 2048 of 2112 slots.
  EXPECT_NEAR(waves(8192, 8192, 128, 256, 132).efficiency, 2048.0 / 2112, 1e-12);
  // 108 multiprocessors with two blocks of 128 x 128: 1024 tiles of 216, 4.74 waves, 1024 of 1080 slots.
  EXPECT_NEAR(waves(4096, 4096, 128, 128, 216).efficiency, 1024.0 / 1080, 1e-12);
  // A matrix that is no multiple: 100 x 100 in tiles of 64 are 4 tiles, of which 10000 of 16384 numbers are needed.
  const Waves edge = waves(100, 100, 64, 64, 4);
  EXPECT_EQ(edge.tiles, 4);
  EXPECT_NEAR(edge.efficiency, 10000.0 / 16384, 1e-12);
}

TEST(ModelFormulas, Stages) {
  // A step of 128 x 64 x 64 on an H100: 2 x 128 x 64 x 64 / (989.5e12 / 132) = 139.9 ns; 674.8 ns are 4.8 of them.
  EXPECT_EQ(stages_needed(674.8e-9, 139.9e-9), 6);
  EXPECT_EQ(stages_needed(560e-9, 560e-9), 2);
  EXPECT_EQ(stages_needed(561e-9, 560e-9), 3);
}

TEST(ModelFormulas, BankTurns) {
  EXPECT_EQ(bank_turns(0), 1);  // all lanes want one word
  EXPECT_EQ(bank_turns(1), 1);
  EXPECT_EQ(bank_turns(2), 2);
  EXPECT_EQ(bank_turns(12), 4);
  EXPECT_EQ(bank_turns(32), 32);
  EXPECT_EQ(bank_turns(33), 1);
  EXPECT_EQ(bank_turns(64), 32);
}

}  // namespace
}  // namespace assay::model
