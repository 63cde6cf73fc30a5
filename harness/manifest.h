// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What a worker can do, as data: `assay-worker-X.manifest.json`, written by the build beside the worker
// (`assay-worker-X --manifest`) and read by the parent, which plans and lists from it without ever loading a worker. A
// worker that can't start therefore yields ERROR for the cases of its manifest instead of making them vanish.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/base/better.h"
#include "harness/base/json.h"

namespace assay {

struct Metric {
  std::string name;  // "bandwidth"
  std::string unit;  // "B/s", "s", "FLOP/s", "B": SI base units
  Better better = Better::higher;
  std::string summary;
};

// A device fact that a case needs; unmet, the case is `not_applicable` and the plan shows the fact.
struct Need {
  std::string fact;
  double at_least = 1;
  std::string why;  // "BF16 arithmetic needs AVX512-BF16"
};

struct CaseInfo {
  std::string name;                           // "memory/stream/op:triad/type:f64/size:dram/threads:all"
  std::map<std::string, std::string> params;  // op -> triad
  std::vector<Need> needs;
  int rank = 50;         // order of what tells most under --budget: lower first
  double setup_s = 0.1;  // rough cost of set-up and verification
  double share = 1;      // how many times the profile's measuring time this case takes
};

struct BenchmarkInfo {
  std::string name;  // "memory/stream"
  std::string summary;
  bool hidden = false;
  std::vector<std::string> devices;  // kinds it has a row for
  std::vector<Metric> metrics;
  std::vector<CaseInfo> cases;
};

struct Manifest {
  std::string worker;  // X of assay-worker-X
  std::string version;
  std::string commit;
  std::vector<std::string> devices;          // device kinds it serves: "cpu"
  std::map<std::string, std::string> built;  // what it was built with: "openblas" -> "0.3.21", "onednn" -> "" (absent)
  std::vector<BenchmarkInfo> benchmarks;     // sorted by name
};

inline constexpr const char* manifest_schema = "assay.manifest.v1";

Json to_json(const Metric& metric);
Json to_json(const Need& need);
Json to_json(const Manifest& manifest);
// Error (exit 3) naming `path` and the value for damaged JSON, another schema version, and whatever
// results/schema/manifest.v1.json forbids or no plan could be made of: times and shares without measure, a name twice.
Manifest read_manifest(const std::filesystem::path& path);

}  // namespace assay
