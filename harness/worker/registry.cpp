// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See registry.h. The registry is the one global of the program: a static inside a function, so that it exists before
// the first registration whatever the link order is.
#include "harness/worker/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "harness/base/error.h"
#include "harness/build_info.h"

namespace assay {
namespace {

std::vector<Benchmark>& registry() {
  static std::vector<Benchmark> all;
  return all;
}

// Every combination of parameter values that exists, in declared order, the last parameter varying fastest.
std::vector<std::pair<std::string, Params>> expand(const Benchmark& benchmark, kernels::Backend backend) {
  std::vector<std::pair<std::string, std::map<std::string, std::string>>> partial{{benchmark.name, {}}};
  for (const Param& param : benchmark.params) {
    if (param.only && *param.only != backend) continue;
    std::vector<std::pair<std::string, std::map<std::string, std::string>>> longer;
    for (const auto& [name, values] : partial)
      for (const std::string& value : param.values) {
        longer.emplace_back(name + "/" + param.name + ":" + value, values);
        longer.back().second[param.name] = value;
      }
    partial = std::move(longer);
  }
  std::vector<std::pair<std::string, Params>> cases;
  for (auto& [name, values] : partial) {
    Params params(std::move(values), backend);
    if (!benchmark.exists || benchmark.exists(params)) cases.emplace_back(name, std::move(params));
  }
  return cases;
}

}  // namespace

const std::string& Params::operator[](const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) throw Error(fmt::format("this benchmark has no parameter '{}'", name));
  return found->second;
}

Registration::Registration(const Benchmark& benchmark) {
  std::vector<Benchmark>& all = registry();
  const auto place = std::lower_bound(all.begin(), all.end(), benchmark,
                                      [](const Benchmark& a, const Benchmark& b) { return a.name < b.name; });
  if (place != all.end() && place->name == benchmark.name) {
    std::fprintf(stderr, "two benchmarks are named %s: a name is the path of its file\n", benchmark.name.c_str());
    std::abort();
  }
  all.insert(place, benchmark);
}

const std::vector<Benchmark>& benchmarks() { return registry(); }

std::optional<CaseOf> find_case(const std::string& case_name, kernels::Backend backend) {
  for (const Benchmark& benchmark : benchmarks()) {
    if (case_name.rfind(benchmark.name, 0) != 0) continue;
    for (auto& [name, params] : expand(benchmark, backend))
      if (name == case_name) return CaseOf{&benchmark, params};
  }
  return std::nullopt;
}

Manifest make_manifest(const std::string& worker, const std::string& kind, kernels::Backend backend) {
  Manifest manifest{worker, build_info().version, build_info().commit, {kind}, {}, {}};
  const char* rows = backend == kernels::Backend::cpu ? "cpu" : "cuda";
  for (const Benchmark& benchmark : benchmarks()) {
    if (std::find(benchmark.devices.begin(), benchmark.devices.end(), rows) == benchmark.devices.end()) continue;
    BenchmarkInfo info{benchmark.name, benchmark.summary, benchmark.hidden, {kind}, benchmark.metrics, {}};
    for (const auto& [name, params] : expand(benchmark, backend)) {
      CaseInfo entry;
      entry.name = name;
      entry.params = params.all();
      if (benchmark.needs) entry.needs = benchmark.needs(params);
      if (benchmark.rank) entry.rank = benchmark.rank(params);
      entry.setup_s = benchmark.setup_s;
      entry.share = benchmark.share;
      info.cases.push_back(std::move(entry));
    }
    manifest.benchmarks.push_back(std::move(info));
  }
  return manifest;
}

}  // namespace assay
