// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Models on paper: what a kernel could reach on a class of GPUs at most, which limit binds, and what keeps it from
// there. A model is never a measurement: everything that shows one says so. Each limit ("ceiling") is a rate by one
// formula from facts with sources; the rate of the model is the least of those that are known. A fact that nobody has
// makes a ceiling unknown, with the reason, and the model's rate is then only "at most". Traps: clocks are the highest
// of the class, which real work doesn't keep; latencies are those of an idle device, so "enough bytes under way" is
// needed and not sufficient; L2's rate is the best that others saw, no formula.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/model/families.h"
#include "harness/model/formulas.h"
#include "harness/model/hardware.h"
#include "harness/model/kernel_facts.h"
#include "harness/model/tiles.h"
#include "harness/verdict/classes.h"

namespace assay::model {

// One limit of a rate, in the unit of the work. rate: nullopt, unknown; `how` then says what is missing.
struct Ceiling {
  std::string name;  // DRAM, latency, f32 pipe, tensor cores, mma.sync, shared memory, ...
  std::optional<double> rate;
  std::string how;
};

// The least that is known; nullptr: none is.
const Ceiling* binding(const std::vector<Ceiling>& ceilings);

struct InFlight {
  double have_bytes = 0, need_bytes = 0;  // on each multiprocessor
  bool enough() const { return have_bytes >= need_bytes; }
};

struct KernelModel {
  Work work;
  KernelFacts facts;
  std::optional<Occupancy> fits;  // nullopt: the capability's multiprocessor isn't known
  double resident_blocks = 0;     // of those that are launched
  std::optional<InFlight> in_flight;
  std::string in_flight_unknown;  // why there is no verdict
  std::vector<Ceiling> ceilings;
  std::optional<Conflicts> conflicts;  // nullopt: not counted

  double resident_threads() const { return resident_blocks * facts.threads; }
};

// A matrix product of n x n x n by one kind of tile.
struct TileModel {
  Tile tile;
  double n = 0;
  std::optional<KernelFacts> facts;  // nullopt: no such kernel in the table
  // Is there machine code of it that the class runs?
  bool built() const { return facts && facts->known(); }
  Occupancy fits;
  std::string fits_note;  // registers are not known, so they don't count
  Waves waves;
  double stage_bytes = 0, shared_bytes = 0;
  std::optional<double> step_s, latency_s, stages_needed;
  std::optional<InFlight> in_flight;
  std::optional<Conflicts> conflicts;  // nullopt: not counted
  std::vector<Ceiling> ceilings;
};

struct BandModel {
  Band band;
  std::optional<double> limit;  // of hardware, in the band's unit
  std::string limit_name;
};

enum class Allowed { not_forbidden, forbidden, unknown };
std::string_view word(Allowed allowed);
struct Goal {
  std::string text;
  Allowed allowed = Allowed::unknown;
  std::string why;
};

// A fact of the class that the page stands on.
struct Given {
  std::string name;
  std::optional<double> value;
  std::string unit, source;  // source: of the fact, or why it isn't known
};

struct Page {
  std::string benchmark;
  GpuClass gpu;
  std::vector<Given> given;
  std::vector<KernelModel> kernels;
  std::vector<TileModel> tiles;
  std::vector<BandModel> bands;
  std::vector<Goal> goals;
  std::vector<std::string> unknown;  // sentences
};

struct Tables {
  ClassTable classes;
  Hardware hardware;
  KernelTable kernels;
  std::vector<Tile> tiles;
};
// From the folder of results. Error (exit 3) for a damaged table.
Tables read_tables(const std::filesystem::path& results);

// Benchmarks with a model: those of families(), and compute/gemm.
std::vector<std::string> modelled_benchmarks();
// `benchmark` is one of them.
Page page_of(const std::string& benchmark, const GpuClass& gpu, const Tables& tables);

}  // namespace assay::model
