// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See worker_environment.h.
#include "harness/parent/worker_environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "harness/base/text.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, 8> ignored{"OMP_NUM_THREADS", "OMP_THREAD_LIMIT",    "OMP_DYNAMIC",
                                                  "OMP_PROC_BIND",   "OMP_PLACES",          "GOMP_CPU_AFFINITY",
                                                  "KMP_AFFINITY",    "OPENBLAS_NUM_THREADS"};
constexpr std::array<std::string_view, 9> prefixes{"OMP_",    "GOMP_",   "KMP_", "OPENBLAS_",      "DNNL_",
                                                   "ONEDNN_", "MALLOC_", "LD_",  "GLIBC_TUNABLES="};

std::string_view name_of(std::string_view variable) { return variable.substr(0, variable.find('=')); }

bool is_ignored(std::string_view variable) {
  return std::find(ignored.begin(), ignored.end(), name_of(variable)) != ignored.end();
}

std::vector<std::string_view> variables(bool ignored_ones) {
  std::vector<std::string_view> result;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (is_ignored(*entry) == ignored_ones) result.emplace_back(*entry);
  return result;
}

}  // namespace

std::vector<std::string> worker_environment() {
  const std::vector<std::string_view> kept = variables(false);
  return {kept.begin(), kept.end()};
}

std::vector<std::string> ignored_variables() {
  std::vector<std::string> names;
  for (const std::string_view variable : variables(true)) names.emplace_back(name_of(variable));
  std::sort(names.begin(), names.end());
  return names;
}

std::map<std::string, std::string> library_variables() {
  std::map<std::string, std::string> result;
  for (const std::string_view variable : variables(false)) {
    const auto begins = [&](std::string_view prefix) { return starts_with(variable, prefix); };
    if (std::any_of(prefixes.begin(), prefixes.end(), begins) && name_of(variable).size() < variable.size())
      result.emplace(name_of(variable), plain(variable.substr(name_of(variable).size() + 1)));
  }
  return result;
}

}  // namespace assay
