// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The pages of the models: single figures by hand, and all classes x benchmarks held against what can't be otherwise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "harness/base/text.h"
#include "harness/model/device_model.h"
#include "harness/model/model.h"
#include "tests/unit/source_folder.h"

namespace assay::model {
namespace {

const Tables& tables() {
  static const Tables all = read_tables(source_folder() / "results");
  return all;
}

Page page(const std::string& benchmark, const std::string& class_id) {
  const GpuClass* gpu = tables().classes.find(class_id);
  EXPECT_NE(gpu, nullptr) << class_id;
  return gpu == nullptr ? Page{} : page_of(benchmark, *gpu, tables());
}

const KernelModel* kernel(const Page& page, const std::string& version, const std::string& operation,
                          const std::string& type) {
  for (const KernelModel& k : page.kernels)
    if (k.work.version == version && k.work.operation == operation && k.work.type == type) return &k;
  ADD_FAILURE() << page.benchmark << " has no " << version << ' ' << operation << ' ' << type;
  return nullptr;
}

double rate(const std::vector<Ceiling>& ceilings, const std::string& name) {
  for (const Ceiling& c : ceilings)
    if (c.name == name) return c.rate.value_or(std::nan(""));
  return std::nan("");
}

TEST(ModelKernels, Names) {
  const KernelName name("map_vector<Map::triad, Hint::streaming, 4, double>");
  EXPECT_EQ(name.base, "map_vector");
  EXPECT_THAT(name.arguments, testing::ElementsAre("triad", "streaming", "4", "double"));
  EXPECT_EQ(KernelName("march_pair").base, "march_pair");
  EXPECT_EQ(KernelName("march_pair").argument(0), "");
}

TEST(ModelKernels, MachineCodeOfACapability) {
  const KernelTable& kernels = tables().kernels;
  EXPECT_EQ(kernels.architecture_for("stream.cu", "8.0"), "80");
  EXPECT_EQ(kernels.architecture_for("stream.cu", "9.0").substr(0, 2), "90");
  EXPECT_EQ(kernels.architecture_for("stream.cu", "8.9").substr(0, 1), "8");
  EXPECT_EQ(kernels.architecture_for("stream.cu", "7.0"), "") << "nvcc 13 makes no code for 7.0";
  EXPECT_EQ(kernels.architecture_for("no.cu", "8.0"), "");
}

// Deep triad on an H100: 24 bytes for 16 read, a third of the traffic is written; 56 registers let four blocks of eight
// in.
TEST(ModelPages, DeepTriadOnAnH100) {
  const Page p = page("memory/stream", "h100_sxm5_80gb");
  const KernelModel* k = kernel(p, "deep", "triad", "f64");
  ASSERT_NE(k, nullptr);
  EXPECT_EQ(k->work.amount, 24);
  EXPECT_EQ(k->work.read_bytes, 16);
  ASSERT_TRUE(k->fits && k->in_flight);
  EXPECT_EQ(k->facts.registers, 56);
  EXPECT_EQ(k->resident_blocks, 4);
  EXPECT_EQ(k->in_flight->have_bytes, 1024 * 128);
  // 649.9 cycles at 1755 MHz x 3352 GB/s x 2/3 / 132
  EXPECT_NEAR(k->in_flight->need_bytes, 6269, 1);
  EXPECT_TRUE(k->in_flight->enough());
  ASSERT_NE(binding(k->ceilings), nullptr);
  EXPECT_EQ(binding(k->ceilings)->name, "DRAM");
  EXPECT_NEAR(*binding(k->ceilings)->rate, 3.352e12, 1e6);
}

// One f32 for each thread: 2048 x 4 bytes on each multiprocessor, of 9404 that the latency asks for.
TEST(ModelPages, ScalarReadsWaitForLatency) {
  const Page p = page("memory/stream", "h100_sxm5_80gb");
  const KernelModel* k = kernel(p, "scalar", "read", "f32");
  ASSERT_TRUE(k != nullptr && k->in_flight);
  EXPECT_EQ(k->in_flight->have_bytes, 8192);
  EXPECT_NEAR(k->in_flight->need_bytes, 9404, 1);
  EXPECT_FALSE(k->in_flight->enough());
  EXPECT_EQ(binding(k->ceilings)->name, "latency");
  EXPECT_NEAR(*binding(k->ceilings)->rate, 8192 * 132 / (649.9 / 1.755e9), 1e7);
  EXPECT_FALSE(kernel(p, "deep", "write", "f64")->in_flight) << "stores wait for nothing";
}

TEST(ModelPages, FmaChains) {
  const Page a100 = page("compute/fma", "a100_sxm4_80gb");
  // 108 x 64 lanes x 2 x 1.41 GHz = 19.49 TFLOP/s. One chain: 2048 threads on a multiprocessor, 4 cycles a step: 512
  // lanes, eight times the 64 there are, so the pipe binds.
  EXPECT_NEAR(rate(kernel(a100, "one", "", "f32")->ceilings, "f32 pipe"), 19.49e12, 1e10);
  EXPECT_NEAR(rate(kernel(a100, "one", "", "f32")->ceilings, "latency"), 8 * 19.49e12, 1e11);
  // A V100's f64: 512 chains of 8 cycles are 64 lanes for 32; its machine code isn't in the table, so nobody knows.
  EXPECT_TRUE(std::isnan(rate(kernel(page("compute/fma", "v100_sxm2_16gb"), "one", "", "f64")->ceilings, "latency")));
}

// mma.sync on Hopper is code for 8.0: 2680 of 4096 FLOP in a cycle; .97 of the peak is out of its reach.
TEST(ModelPages, MmaSyncOnHopper) {
  const Page p = page("compute/mma", "h100_sxm5_80gb");
  const KernelModel* k = kernel(p, "eight", "", "bf16");
  ASSERT_NE(k, nullptr);
  EXPECT_NEAR(rate(k->ceilings, "mma.sync"), 2680.0 * 132 * 1.83e9, 1e9);
  EXPECT_EQ(binding(k->ceilings)->name, "mma.sync");
  // One chain: 64 warps x 4096 FLOP in 25.1 cycles.
  EXPECT_NEAR(rate(kernel(p, "one", "", "bf16")->ceilings, "latency"), 64 * 4096 / 25.1 * 132 * 1.83e9, 1e11);
  // By wgmma (mma_hopper.cu) .97 of the peak is in reach.
  const bool has_wgmma = std::any_of(p.kernels.begin(), p.kernels.end(), [](const KernelModel& m) {
    return m.work.version == "wgmma_256" && m.work.type == "bf16";
  });
  ASSERT_TRUE(has_wgmma);
  ASSERT_FALSE(p.goals.empty());
  EXPECT_EQ(p.goals.front().allowed, Allowed::not_forbidden) << p.goals.front().why;
  const Page ampere = page("compute/mma", "a100_sxm4_80gb");
  EXPECT_EQ(ampere.goals.front().allowed, Allowed::not_forbidden) << ampere.goals.front().why;
  EXPECT_TRUE(page("compute/mma", "t4").kernels.empty()) << "no such instructions before 8.0";
}

TEST(ModelPages, TransposeConflicts) {
  const Page p = page("memory/transpose", "a100_sxm4_80gb");
  // 4 bytes in and 32 x 4 out of shared memory for each word: 108 x 128 x 1.41 GHz / 132 x 8 = 1.18 TB/s.
  EXPECT_NEAR(rate(kernel(p, "tiled", "", "u32")->ceilings, "shared memory"), 108 * 128 * 1.41e9 / 132 * 8, 1e6);
  EXPECT_EQ(binding(kernel(p, "tiled", "", "u32")->ceilings)->name, "shared memory");
  EXPECT_EQ(binding(kernel(p, "padded", "", "u32")->ceilings)->name, "DRAM");
}

// One kernel, and conflicts of each stride: 8 reads of 8 warps, each in gcd(stride, 32) turns.
TEST(ModelPages, ConflictsAreThoseOfTheOperation) {
  const Page p = page("memory/shared", "a100_sxm4_80gb");
  for (const auto& [stride, turns] : std::map<std::string, int>{{"1", 1}, {"2", 2}, {"8", 8}, {"32", 32}, {"33", 1}})
    for (const char* version : {"modulo", "unrolled"}) {
      const KernelModel* k = kernel(p, version, "stride:" + stride, "u32");
      ASSERT_TRUE(k != nullptr && k->conflicts) << version << " at stride " << stride;
      EXPECT_EQ(k->conflicts->conflicts, 8 * 8 * (turns - 1)) << version << " at stride " << stride;
    }
}

// Plans and kernels without machine code for the class reach nothing.
TEST(ModelPages, OnlyWhatIsBuiltMeetsAGoal) {
  const GpuClass& h100 = *tables().classes.find("h100_sxm5_80gb");
  Page p = page_of("compute/gemm", h100, tables());
  const auto goals = [&] { return goals_of(DeviceModel(h100, tables()), p); };
  ASSERT_FALSE(goals().empty());
  EXPECT_EQ(goals().front().allowed, Allowed::not_forbidden) << goals().front().why;
  for (TileModel& t : p.tiles)
    if (t.facts) t.facts->architecture.clear();
  for (const Goal& g : goals()) {
    EXPECT_EQ(g.allowed, Allowed::unknown) << g.text;
    EXPECT_THAT(g.why, testing::StartsWith("not built here")) << g.text;
  }
  for (const char* benchmark : {"memory/stream", "compute/mma"})
    for (const char* unbuilt : {"v100_sxm2_16gb", "b200_sxm"})
      for (const Goal& g : page(benchmark, unbuilt).goals) {
        if (starts_with(g.text, "e")) continue;  // tcgen05 is built
        EXPECT_EQ(g.allowed, Allowed::unknown) << unbuilt << ": " << g.text;
        EXPECT_THAT(g.why, testing::StartsWith("not built here")) << unbuilt << ": " << g.text;
      }
}

Tile planned(double m, double n, double k, double stages) {
  Tile t;
  t.version = "planned";
  t.type = "bf16";
  t.m = m;
  t.n = n;
  t.k = k;
  t.stages = stages;
  t.threads = 384;
  t.shared_bytes = stages * t.stage_bytes();
  t.warp_m = 64;
  t.warp_n = n;
  t.feed = "tma";
  t.instruction = "wgmma";
  return t;
}

// 128 x 256 x 64 on an H100. A stage is 48 KiB, four of them are one block. wgmma does 4055 FLOP in a cycle, so a step
// of 2 x 128 x 256 x 64 takes 1034.4 cycles, 565.2 ns at 1.83 GHz. A box of 32 KiB comes after 598 + 4.8 x 32 = 751.6
// ns: 2 steps.
TEST(ModelTiles, WideTilesOnAnH100) {
  const DeviceModel h100(*tables().classes.find("h100_sxm5_80gb"), tables());
  const TileModel t = tile_model(h100, planned(128, 256, 64, 4), 4096);
  EXPECT_EQ(t.stage_bytes, 49152);
  EXPECT_EQ(t.fits.blocks, 1);
  EXPECT_EQ(t.waves.tiles, 512);
  ASSERT_TRUE(t.step_s && t.latency_s && t.stages_needed && t.in_flight);
  EXPECT_NEAR(*t.step_s, 565.2e-9, 0.2e-9);
  EXPECT_NEAR(*t.latency_s, 751.6e-9, 0.1e-9);
  EXPECT_EQ(*t.stages_needed, 3);
  EXPECT_EQ(t.in_flight->have_bytes, 3 * 49152);
  EXPECT_TRUE(t.in_flight->enough());
  EXPECT_EQ(binding(t.ceilings)->name, "tiles");
  EXPECT_NEAR(*binding(t.ceilings)->rate, 4055.0 * 132 * 1.83e9 * 512 / 528, 1e9);
  // 64 + 256 numbers of two bytes for 64 x 256 multiply-adds: 128 bytes in a cycle allow 6553.6 FLOP.
  EXPECT_NEAR(rate(t.ceilings, "shared memory"), 6553.6 * 132 * 1.98e9, 1e9);
}

// Tiles of 128 x 64 take a quarter of that time for a step (2 x 128 x 64 x 64 at 3996 in a cycle are 143.4 ns), and
// their loads come hardly sooner.
TEST(ModelTiles, NarrowTilesNeedDeepRings) {
  const DeviceModel h100(*tables().classes.find("h100_sxm5_80gb"), tables());
  Tile narrow = planned(128, 64, 64, 2);
  narrow.shared_bytes = 200 * 1024;  // one block on a multiprocessor
  const TileModel two = tile_model(h100, narrow, 8192);
  EXPECT_NEAR(*two.step_s, 143.4e-9, 0.1e-9);
  EXPECT_NEAR(*two.latency_s, 674.8e-9, 0.1e-9);
  EXPECT_EQ(*two.stages_needed, 6);
  EXPECT_FALSE(two.in_flight->enough());
  EXPECT_EQ(binding(two.ceilings)->name, "ring");
  EXPECT_NEAR(*binding(two.ceilings)->rate, 2 / (674.8e-9 + 143.39e-9) * 2 * 128 * 64 * 64 * 132, 5e11);
}

// The pipeline of gemm.cu on an A100: 250 registers let one block of 256 threads in. 512 tiles of 128 x 256 are 4.74
// waves of 108; a step of 2 x 128 x 256 x 32 takes 725.9 ns of the peak, a load 570.2 cycles at 1410 MHz: two stages
// would do.
TEST(ModelTiles, PipelineOnAnA100) {
  const Page p = page("compute/gemm", "a100_sxm4_80gb");
  const auto t = std::find_if(p.tiles.begin(), p.tiles.end(),
                              [](const TileModel& m) { return m.tile.version == "pipeline" && m.n == 4096; });
  ASSERT_NE(t, p.tiles.end());
  ASSERT_TRUE(t->facts && t->step_s && t->stages_needed);
  EXPECT_EQ(t->fits.blocks, 1);
  EXPECT_EQ(t->fits.by, "registers");
  EXPECT_NEAR(t->waves.waves, 4.7407, 1e-4);
  EXPECT_NEAR(*t->step_s, 725.9e-9, 0.1e-9);
  EXPECT_EQ(*t->stages_needed, 2);
  EXPECT_EQ(binding(t->ceilings)->name, "tiles");
  EXPECT_NEAR(*binding(t->ceilings)->rate, 312e12 * 512 / 540, 1e9);
  ASSERT_TRUE(t->conflicts);
  EXPECT_EQ(t->conflicts->conflicts, 0);
}

// --- kernels of 9.0, from their names alone

KernelModel on_an_h100(const std::string& benchmark, const std::string& file, const std::string& name, double threads,
                       double registers) {
  static const DeviceModel h100(*tables().classes.find("h100_sxm5_80gb"), tables());
  KernelFacts facts;
  facts.file = file;
  facts.kernel = name;
  facts.architecture = "90a";
  facts.threads = threads;
  facts.registers = registers;
  const std::vector<Work> work = family_of_benchmark(benchmark)->work(file, KernelName(name));
  EXPECT_EQ(work.size(), 1u) << name;
  return work.empty() ? KernelModel{} : kernel_model(h100, facts, work[0]);
}

// 64 x 256 x 16 by wgmma: 524288 FLOP for 10240 bytes of shared memory, which gives 128 of them in a cycle.
TEST(ModelHopper, Wgmma) {
  const KernelModel wide = on_an_h100("compute/mma", "mma_hopper.cu", "run_wgmma<GroupBf16, 256>", 256, 168);
  EXPECT_EQ(wide.work.amount, 524288);
  EXPECT_EQ(wide.resident_blocks, 1);
  EXPECT_EQ(binding(wide.ceilings)->name, "wgmma n256");
  EXPECT_NEAR(*binding(wide.ceilings)->rate / 989.5e12, 0.99, 0.001);
  EXPECT_NEAR(rate(wide.ceilings, "shared memory"), 132 * 1.98e9 * 128 / 10240 * 524288, 1e9);
  // 64 x 64: 4096 bytes in 32 cycles, all that shared memory gives.
  const KernelModel narrow = on_an_h100("compute/mma", "mma_hopper.cu", "run_wgmma<GroupBf16, 64>", 256, 90);
  EXPECT_NEAR(rate(narrow.ceilings, "shared memory"), 132 * 1.98e9 * 4096, 1e9);
  EXPECT_TRUE(std::isnan(
      rate(on_an_h100("compute/mma", "mma_hopper.cu", "run_wgmma<GroupInt8, 64>", 256, 90).ceilings, "wgmma n64")));
}

// fp8 begins with 8.9, tcgen05 with 10.0 and ends with 11.0; code for 8.0 of an fp8 kernel is an empty body and counts
// for none.
TEST(ModelPages, InstructionsOfSomeDevicesOnly) {
  const auto versions = [](const char* class_id, const std::string& type) {
    std::set<std::string> found;
    for (const KernelModel& k : page("compute/mma", class_id).kernels)
      if (k.work.type == type) found.insert(k.work.version);
    return found;
  };
  EXPECT_TRUE(versions("a100_sxm4_80gb", "e4m3").empty());
  EXPECT_EQ(versions("l40s", "e4m3"), (std::set<std::string>{"one", "four", "eight"}));
  EXPECT_EQ(versions("b200_sxm", "e2m1"), std::set<std::string>{"tcgen05"});
  EXPECT_TRUE(versions("rtx_5090", "e2m1").empty());
  const Page l40s = page("compute/mma", "l40s");
  EXPECT_EQ(kernel(l40s, "four", "", "e4m3")->facts.known(),
            tables().kernels.architecture_for("mma.cu", "8.9") == "89");
  EXPECT_TRUE(kernel(l40s, "four", "", "bf16")->facts.known());
  // 128 x 256 x 64 numbers of half a byte.
  EXPECT_EQ(kernel(page("compute/mma", "b200_sxm"), "tcgen05", "", "e2m1")->work.amount, 2.0 * 128 * 256 * 64);
}

// Three blocks with three stages of 16 KiB under way; the copy engine answers after 598 ns.
TEST(ModelHopper, BulkTriad) {
  const KernelModel k =
      on_an_h100("memory/stream", "stream_bulk.cu", "change_tiles<Tiles::triad, Hint::streaming, double>", 256, 40);
  EXPECT_EQ(k.work.amount, 24);
  EXPECT_EQ(k.resident_blocks, 3);
  ASSERT_TRUE(k.in_flight);
  EXPECT_EQ(k.in_flight->have_bytes, 3 * 3 * 16384);
  EXPECT_NEAR(k.in_flight->need_bytes, 598e-9 * 3.352e12 * 2 / 3 / 132, 1);
  EXPECT_EQ(binding(k.ceilings)->name, "DRAM");
  const KernelModel reads =
      on_an_h100("memory/stream", "stream_bulk.cu", "read_tiles<Hint::streaming, float>", 256, 40);
  EXPECT_EQ(reads.work.operation, "read");
  EXPECT_EQ(reads.work.type, "f32");
  EXPECT_EQ(reads.work.written_bytes, 0);
}

// --- all of them

void check_ceilings(const std::vector<Ceiling>& ceilings, const std::string& where) {
  ASSERT_FALSE(ceilings.empty()) << where;
  const Ceiling* least = binding(ceilings);
  for (const Ceiling& c : ceilings) {
    EXPECT_FALSE(c.how.empty()) << where << ' ' << c.name;
    if (!c.rate) continue;
    EXPECT_TRUE(std::isfinite(*c.rate) && *c.rate > 0) << where << ' ' << c.name;
    EXPECT_LE(*least->rate, *c.rate) << where << ' ' << c.name;
  }
}

void check_kernel(const KernelModel& k, const GpuClass& gpu, const std::string& where) {
  check_ceilings(k.ceilings, where);
  EXPECT_GT(k.work.amount, 0) << where;
  const Ceiling* least = binding(k.ceilings);
  if (least != nullptr && k.work.unit == "B/s" && k.work.read_bytes + k.work.written_bytes > 0 &&
      gpu.memory_bytes_per_second) {
    EXPECT_LE(*least->rate, *gpu.memory_bytes_per_second * (1 + 1e-9)) << where << ": faster than its memory";
  }
  EXPECT_TRUE(k.in_flight || !k.in_flight_unknown.empty()) << where << ": neither a verdict nor a reason";
  if (!k.fits) {
    EXPECT_EQ(k.resident_blocks, 0) << where;
    return;
  }
  const Multiprocessor* m = tables().hardware.multiprocessor(gpu.compute_capability);
  ASSERT_NE(m, nullptr) << where;
  EXPECT_GE(k.resident_blocks, 1) << where << ": doesn't fit at all, by " << k.fits->by;
  EXPECT_LE(k.resident_blocks, m->blocks) << where;
  EXPECT_LE(k.resident_threads(), m->threads) << where;
  EXPECT_LE(k.resident_threads() * k.facts.registers, m->registers) << where;
  EXPECT_LE(k.resident_blocks * k.facts.shared_bytes, m->shared_bytes) << where;
}

TEST(ModelPages, AllClassesAndBenchmarksHoldTogether) {
  std::size_t kernels = 0, tiles = 0;
  for (const std::string& benchmark : modelled_benchmarks())
    for (const GpuClass& gpu : tables().classes.classes()) {
      const Page p = page_of(benchmark, gpu, tables());
      const std::string where = benchmark + " on " + gpu.id;
      EXPECT_FALSE(p.kernels.empty() && p.tiles.empty() && p.unknown.empty()) << where << ": empty, and no reason";
      for (const KernelModel& k : p.kernels) {
        check_kernel(k, gpu, where + ", " + k.facts.kernel + " " + k.work.operation);
        ++kernels;
      }
      for (const TileModel& t : p.tiles) {
        if (t.fits.blocks > 0) check_ceilings(t.ceilings, where + ", " + t.tile.version);
        EXPECT_LE(t.waves.efficiency, 1) << where;
        ++tiles;
      }
      for (const Goal& g : p.goals) EXPECT_FALSE(g.why.empty()) << where << ": " << g.text;
    }
  EXPECT_GT(kernels, 10000u);
  EXPECT_GT(tiles, 300u);
}

// What others published lies below the limit, or the row says why it doesn't; and no row says it without need.
TEST(ModelPages, PublishedFiguresKeepTheLimits) {
  std::size_t rows = 0;
  for (const Band& b : tables().hardware.bands()) {
    const GpuClass* gpu = tables().classes.find(b.class_id);
    ASSERT_NE(gpu, nullptr) << b.class_id;
    const Page p = page_of(b.benchmark, *gpu, tables());
    for (const BandModel& m : p.bands) {
      if (m.band.operation != b.operation || m.band.type != b.type || !m.limit) continue;
      ++rows;
      EXPECT_EQ(m.band.max > *m.limit, !m.band.above_limit.empty())
          << b.benchmark << ' ' << b.operation << ' ' << b.type << " on " << b.class_id << ": " << m.band.max << " of "
          << *m.limit;
    }
  }
  EXPECT_GT(rows, 90u);
}

// The width of the pipes (capabilities.csv) and the makers' figures of the classes (classes.csv) are two sources of one
// thing. Known differences stand here with their reason.
TEST(ModelHardware, PipesAgreeWithTheMakersFigures) {
  const std::set<std::string> differing{"rtx_2080_ti f64",  // 1:32 of another clock: 0.42 published, 0.445 by 1635 MHz
                                        "a10 f64",          // published as 1:32 of f32, where GA102 has 1:64
                                        "a10m f64",         // the same
                                        "b200_sxm f32",     // 80 published, 74.4 by 148 multiprocessors at 1965 MHz
                                        "b300_sxm f64",     // 1.25 published, 1.20 by 148 multiprocessors at 2032 MHz
                                        "l4 f64",  // 0.49 published, 0.47 by 58 multiprocessors; other sources have 60
                                        "h800_sxm5_80gb f64"};  // cut down for export
  std::size_t compared = 0;
  for (const GpuClass& gpu : tables().classes.classes()) {
    const DeviceModel device(gpu, tables());
    for (const char* type : {"f32", "f64"}) {
      const auto maker = gpu.operations_per_second.find(type);
      const Ceiling ours = pipe_ceiling(device, type, 2, 1);
      if (maker == gpu.operations_per_second.end() || !ours.rate) continue;
      ++compared;
      const double ratio = *ours.rate / maker->second;
      EXPECT_EQ(std::abs(ratio - 1) > 0.03, differing.count(gpu.id + " " + type) == 1)
          << gpu.id << ' ' << type << ": " << ratio;
    }
  }
  EXPECT_GT(compared, 180u);
}

TEST(ModelHardware, FactsSayWhoseTheyAre) {
  const GpuClass& sxm = *tables().classes.find("h100_sxm5_80gb");
  const Fact* dram = tables().hardware.fact("latency_dram", sxm, tables().classes);
  ASSERT_NE(dram, nullptr);
  EXPECT_EQ(dram->of, "h100_pcie_80gb");
  EXPECT_NEAR(*dram->seconds(), 370.3e-9, 0.1e-9);
  EXPECT_EQ(tables().hardware.fact("latency_dram", *tables().classes.find("a100_sxm4_80gb"), tables().classes)->of,
            "a100_sxm4_80gb");
  EXPECT_EQ(tables().hardware.fact("latency_dram", *tables().classes.find("rtx_5090"), tables().classes), nullptr);
  for (const Fact& f : tables().hardware.facts())
    EXPECT_TRUE(tables().classes.find(f.of) != nullptr || tables().hardware.multiprocessor(f.of) != nullptr) << f.of;
}

}  // namespace
}  // namespace assay::model
