// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// All benchmarks of a worker, sorted by name; filled before main by REGISTER_BENCHMARK.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/benchmark.h"
#include "harness/manifest.h"

namespace assay {

const std::vector<Benchmark>& benchmarks();

// One case: the benchmark and the values of its parameters.
struct CaseOf {
  const Benchmark* benchmark;
  Params params;
};
// nullopt for a name no benchmark has.
std::optional<CaseOf> find_case(const std::string& case_name, kernels::Backend backend = kernels::Backend::cpu);

// What the build writes beside the worker: the benchmarks that have rows for `backend`, on devices of the kind that it
// serves ("cpu", "cuda", and "simt" with the rows of cuda). Libraries (`built`) are the worker's to fill in.
Manifest make_manifest(const std::string& worker, const std::string& kind,
                       kernels::Backend backend = kernels::Backend::cpu);

}  // namespace assay
