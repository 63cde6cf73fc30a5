// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See model.h: the page of a benchmark and a class.
#include "harness/model/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "harness/model/device_model.h"

namespace assay::model {
namespace {

const char* const gemm = "compute/gemm";

void say_once(std::vector<std::string>& sentences, const std::string& sentence) {
  if (std::find(sentences.begin(), sentences.end(), sentence) == sentences.end()) sentences.push_back(sentence);
}

void add_class_facts(Page& page) {
  const GpuClass& gpu = page.gpu;
  const std::string source = "results/classes.csv: " + gpu.source, none = "results/classes.csv doesn't have it";
  const auto add = [&](const char* name, const std::optional<double>& value, const char* unit) {
    page.given.push_back({name, value, unit, value ? source : none});
  };
  add("multiprocessors", gpu.multiprocessors, "");
  add("highest clock", gpu.clock_hz, "Hz");
  if (gpu.tensor_clock_hz) add("clock of the tensor figures", gpu.tensor_clock_hz, "Hz");
  add("memory bandwidth", gpu.memory_bytes_per_second, "B/s");
  add("L2", gpu.l2_bytes, "B");
}

void add_measured_facts(const DeviceModel& device, const std::vector<std::string>& names, Page& page) {
  for (const std::string& name : names) {
    const Fact* fact = device.fact(name);
    if (fact == nullptr)
      page.given.push_back({name, std::nullopt, "", missing_fact(device, name)});
    else if (const auto seconds = fact->seconds())
      page.given.push_back({name, seconds, "s", told(*fact)});
    else
      page.given.push_back({name, fact->value, fact->unit, told(*fact)});
  }
}

// Which facts of others a page stands on.
std::vector<std::string> fact_names(const std::string& benchmark) {
  if (benchmark == gemm) return {"latency_dram", "latency_tma", "l2_read_per_cycle", "l2_tma_read"};
  if (benchmark == "compute/fma") return {"latency_f32", "latency_f64"};
  if (benchmark == "compute/mma") return {"latency_mma_16bit"};
  if (benchmark == "memory/latency") return {"latency_l1", "latency_l2", "latency_dram"};
  if (benchmark == "memory/shared" || benchmark == "memory/atomics") return {};
  return {"latency_dram"};
}

void add_kernels(const DeviceModel& device, const Family& family, Page& page) {
  const int capability = capability_number(device.gpu.compute_capability);
  for (const std::string& file : family.files) {
    const std::string architecture = device.tables.kernels.architecture_for(file, device.gpu.compute_capability);
    for (const KernelFacts& facts : device.tables.kernels.of(file, architecture))
      for (const Work& work : family.work(file, KernelName(facts.kernel))) {
        if (capability < work.from_capability || capability >= work.below_capability) continue;
        KernelFacts code = facts;
        // Code for older devices leaves the bodies of newer kernels out.
        if (capability_number(code.architecture) < work.from_capability) code = KernelFacts{file, facts.kernel, "", ""};
        if (!code.known())
          say_once(page.unknown,
                   fmt::format("results/kernels.csv has no machine code of {} that capability {} runs: no "
                               "registers, no occupancy, no bytes under way",
                               file, device.gpu.compute_capability));
        page.kernels.push_back(kernel_model(device, code, work));
      }
  }
  if (page.kernels.empty())
    say_once(page.unknown, fmt::format("capability {} has none of these instructions", device.gpu.compute_capability));
  const auto order = [](const KernelModel& m) { return std::tie(m.work.operation, m.work.type); };
  std::stable_sort(page.kernels.begin(), page.kernels.end(),
                   [&](const KernelModel& a, const KernelModel& b) { return order(a) < order(b); });
}

// Can a device of this capability run it at all?
bool runs(const Tile& tile, const std::string& capability) {
  const std::string family = family_of(capability);
  if (tile.instruction == "wgmma") return family == "hopper";
  if (tile.type == "bf16" && tile.instruction != "fma")
    return family != "before volta" && family != "volta" && family != "turing";
  return true;
}

void add_tiles(const DeviceModel& device, Page& page) {
  for (const double n : {4096.0, 8192.0})
    for (const Tile& tile : device.tables.tiles)
      if (runs(tile, device.gpu.compute_capability)) page.tiles.push_back(tile_model(device, tile, n));
  if (page.tiles.empty())
    say_once(page.unknown, fmt::format("no version of results/models/tiles.csv runs on capability {}",
                                       device.gpu.compute_capability));
  for (const TileModel& t : page.tiles)
    if (!t.built()) {
      say_once(page.unknown,
               "registers of the versions that are not built here: they count with those of their sums, the least");
      break;
    }
}

void add_bands(const DeviceModel& device, Page& page) {
  for (Band& band : device.tables.hardware.bands_of(page.benchmark, device.gpu.id)) {
    BandModel b{std::move(band), std::nullopt, ""};
    Ceiling limit;
    if (b.band.unit == "B/s")
      limit = dram_ceiling(device, 1, 1);
    else if (page.benchmark == "compute/fma" || b.band.type == "f32")
      limit = pipe_ceiling(device, b.band.type, 2, 1);
    else
      limit = tensor_ceiling(device, b.band.type == "16-bit" ? "f16" : b.band.type);
    b.limit = limit.rate;
    b.limit_name = limit.rate ? limit.name : limit.how;
    page.bands.push_back(std::move(b));
  }
  if (page.bands.empty())
    say_once(page.unknown, "nobody is known to have published figures of this benchmark for this class");
}

// Why ceilings are unknown, each reason once.
void collect_unknown(Page& page) {
  const auto collect = [&](const std::vector<Ceiling>& ceilings) {
    for (const Ceiling& c : ceilings)
      if (!c.rate) say_once(page.unknown, fmt::format("limit by {}: {}", c.name, c.how));
  };
  for (const KernelModel& k : page.kernels) collect(k.ceilings);
  for (const TileModel& t : page.tiles) collect(t.ceilings);
  for (const KernelModel& k : page.kernels)
    if (!k.conflicts && k.work.shared_bytes + k.facts.shared_bytes > 0)
      say_once(page.unknown,
               "bank conflicts of some versions: not counted in tests/simt; limits take those of the formula");
}

}  // namespace

Tables read_tables(const std::filesystem::path& results) {
  const std::filesystem::path models = results / "models";
  return {read_class_table(results), Hardware(models), KernelTable(results / "kernels.csv", models / "conflicts.csv"),
          read_tiles(models / "tiles.csv")};
}

std::vector<std::string> modelled_benchmarks() {
  std::vector<std::string> names{gemm};
  for (const Family& family : families()) names.push_back(family.benchmark);
  std::sort(names.begin(), names.end());
  return names;
}

Page page_of(const std::string& benchmark, const GpuClass& gpu, const Tables& tables) {
  const DeviceModel device(gpu, tables);
  Page page;
  page.benchmark = benchmark;
  page.gpu = gpu;
  add_class_facts(page);
  add_measured_facts(device, fact_names(benchmark), page);
  if (const Family* family = family_of_benchmark(benchmark)) add_kernels(device, *family, page);
  if (benchmark == gemm) add_tiles(device, page);
  add_bands(device, page);
  collect_unknown(page);
  page.goals = goals_of(device, page);
  return page;
}

}  // namespace assay::model
