// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What models stand on: the multiprocessor of each compute capability (results/models/capabilities.csv), figures that
// others measured (results/models/facts.csv: latencies, what an instruction reaches), and bands that others published
// (results/models/published.csv). Data with a source in each row; what isn't there is unknown and never guessed.
// Trap: a fact of one class stands for another one of its capability only where nothing better is known, and then it is
// told whose it is. Latencies are those of an idle device: under load they are longer.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/verdict/classes.h"

namespace assay::model {

struct Multiprocessor {
  std::string compute_capability;
  double threads = 0, blocks = 0, registers = 0, registers_of_a_thread = 0;  // at most, resident
  double shared_bytes = 0, shared_bytes_of_a_block = 0;                      // a block can ask for the second
  double shared_bytes_reserved = 0;                                          // of each block, by the driver
  double schedulers = 0;                                                     // instructions of a warp in a cycle
  std::optional<double> shared_bytes_per_cycle;                              // all banks
  std::map<std::string, double> lanes;  // per cycle: f32, f64, i32, f16x2, bf16x2, rcp
  std::string source;
};

struct Fact {
  std::string of, what;  // class or compute capability; "latency_dram"
  double value = 0;
  std::string unit;  // cycle, ns, B/cycle, FLOP/cycle
  std::optional<double> clock_hz;
  std::string conditions, source;

  // Of a latency: cycles at the clock that they were counted at. nullopt: cycles without a clock.
  std::optional<double> seconds() const;
};

struct Band {
  std::string benchmark, operation, type, class_id, unit;  // unit: B/s or FLOP/s
  double min = 0, median = 0, max = 0;
  int figures = 0, sources = 0;
  std::string above_limit, source;  // why the greatest figure may be above the limit; "": it may not
};

class Hardware {
 public:
  // The folder of the tables: results/models. Error (exit 3) with file, line and column for a damaged one.
  explicit Hardware(const std::filesystem::path& folder);

  const std::vector<Multiprocessor>& multiprocessors() const { return multiprocessors_; }
  const std::vector<Fact>& facts() const { return facts_; }
  const std::vector<Band>& bands() const { return bands_; }
  const Multiprocessor* multiprocessor(const std::string& compute_capability) const;
  // Of the class itself, else of its capability, else of another class of it (the greatest). nullptr: unknown.
  const Fact* fact(const std::string& what, const GpuClass& gpu, const ClassTable& classes) const;
  std::vector<Band> bands_of(const std::string& benchmark, const std::string& class_id) const;

 private:
  std::vector<Multiprocessor> multiprocessors_;
  std::vector<Fact> facts_;
  std::vector<Band> bands_;
};

}  // namespace assay::model
