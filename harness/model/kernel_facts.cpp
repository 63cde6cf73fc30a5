// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See kernel_facts.h.
#include "harness/model/kernel_facts.h"

#include <fnmatch.h>

#include <algorithm>

#include "harness/base/csv_file.h"
#include "harness/base/text.h"

namespace assay::model {
namespace {

namespace fs = std::filesystem;

bool exact_only(const std::string& architecture) { return !architecture.empty() && architecture.back() == 'a'; }

std::vector<KernelFacts> read_kernels(const fs::path& path) {
  CsvFile file(path,
               {"file", "kernel", "architecture", "compiler", "threads", "registers", "shared_bytes", "local_bytes",
                "in_flight_bytes"},
               {}, CsvFile::Others::skipped);
  std::vector<KernelFacts> all;
  while (file.next()) {
    KernelFacts& k = all.emplace_back();
    k.file = file.required_text("file");
    k.kernel = file.required_text("kernel");
    k.architecture = file.required_text("architecture");
    k.compiler = file.required_text("compiler");
    k.threads = file.number("threads").value_or(0);
    k.registers = file.required_number("registers");
    k.shared_bytes = file.required_number("shared_bytes");
    k.local_bytes = file.required_number("local_bytes");
    k.in_flight_bytes = file.required_number("in_flight_bytes");
  }
  return all;
}

std::vector<Conflicts> read_conflicts(const fs::path& path) {
  std::vector<Conflicts> all;
  if (!fs::exists(path)) return all;
  CsvFile file(path, {"file", "kernel", "operation", "accesses", "wavefronts", "conflicts", "how"});
  while (file.next()) {
    Conflicts& c = all.emplace_back();
    c.file = file.required_text("file");
    c.kernel = file.required_text("kernel");
    c.operation = file.text("operation");
    c.accesses = file.required_number("accesses");
    c.wavefronts = file.required_number("wavefronts");
    c.conflicts = file.required_number("conflicts");
    if (c.accesses < 1 || c.wavefronts < c.accesses + c.conflicts)
      file.fail("wavefronts", "is at least one for each access, and one for each conflict");
    c.how = file.required_text("how");
  }
  return all;
}

}  // namespace

int capability_number(const std::string& text) {
  int number = 0;
  for (const char c : text)
    if (c >= '0' && c <= '9') number = 10 * number + (c - '0');
  return number;
}

KernelName::KernelName(const std::string& full) {
  const std::size_t open = full.find('<');
  base = full.substr(0, open);
  if (open == std::string::npos) return;
  const std::size_t close = full.rfind('>');
  for (const std::string& part : split(full.substr(open + 1, close - open - 1), ',')) {
    const std::string argument = trim(part);
    const std::size_t colon = argument.rfind("::");
    arguments.push_back(colon == std::string::npos ? argument : argument.substr(colon + 2));
  }
}

KernelTable::KernelTable(const fs::path& kernels, const fs::path& conflicts)
    : kernels_(read_kernels(kernels)), conflicts_(read_conflicts(conflicts)) {}

std::string KernelTable::architecture_for(const std::string& file, const std::string& compute_capability) const {
  const int device = capability_number(compute_capability);
  std::string best;
  for (const KernelFacts& k : kernels_) {
    if (k.file != file) continue;
    const int code = capability_number(k.architecture);
    const bool runs = code / 10 == device / 10 && (exact_only(k.architecture) ? code == device : code <= device);
    if (runs && code >= capability_number(best)) best = k.architecture;
  }
  return best;
}

std::vector<KernelFacts> KernelTable::of(const std::string& file, const std::string& architecture) const {
  std::vector<KernelFacts> result;
  for (const KernelFacts& k : kernels_) {
    if (k.file != file || (!architecture.empty() && k.architecture != architecture)) continue;
    // Two compilers: the first that the table names.
    const bool again =
        std::any_of(result.begin(), result.end(), [&](const KernelFacts& r) { return r.kernel == k.kernel; });
    if (again) continue;
    if (!architecture.empty()) {
      result.push_back(k);
    } else {
      KernelFacts& name = result.emplace_back();
      name.file = k.file;
      name.kernel = k.kernel;
      name.threads = k.threads;
    }
  }
  return result;
}

const Conflicts* KernelTable::conflicts(const std::string& file, const std::string& kernel,
                                        const std::string& operation) const {
  const auto found = std::find_if(conflicts_.begin(), conflicts_.end(), [&](const Conflicts& c) {
    return c.file == file && fnmatch(c.kernel.c_str(), kernel.c_str(), 0) == 0 &&
           (c.operation.empty() || c.operation == operation);
  });
  return found == conflicts_.end() ? nullptr : &*found;
}

}  // namespace assay::model
