// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See list_model.h.
#include "harness/commands/list_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/error.h"
#include "harness/base/outcome.h"
#include "harness/base/printed_json.h"
#include "harness/base/text.h"
#include "harness/model/model.h"
#include "harness/report/model.h"

namespace assay {
namespace {

constexpr std::size_t most_candidates = 12;

std::string some_of(std::vector<std::string> names) {
  const std::size_t all = names.size();
  if (all > most_candidates) names.resize(most_candidates);
  return join(names, ", ") + (all > most_candidates ? fmt::format(" and {} more", all - most_candidates) : "");
}

// The one class that is meant.
const GpuClass& class_meant(const std::string& text, const ClassTable& table) {
  if (const GpuClass* exact = table.find(text)) return *exact;
  std::vector<std::string> beginning, holding;
  for (const GpuClass& gpu : table.classes()) {
    if (starts_with(gpu.id, text)) beginning.push_back(gpu.id);
    if (gpu.id.find(text) != std::string::npos) holding.push_back(gpu.id);
  }
  const std::vector<std::string>& candidates = beginning.empty() ? holding : beginning;
  if (candidates.size() == 1) return *table.find(candidates.front());
  if (candidates.size() > 1)
    throw UsageError(fmt::format("--class {} can be {}: name one", shown(text), some_of(candidates)));
  if (table.knows(text))
    throw UsageError(
        fmt::format("--class {}: its PCI ids are known, but no facts of it are in results/classes.csv", shown(text)));
  if (starts_with(text, "cpu"))
    throw UsageError(fmt::format(
        "--class {}: models are of CUDA kernels, so of classes of GPUs: assay list --classes '*'", shown(text)));
  throw UsageError(fmt::format("there is no class of GPUs called {}{}", shown(text), class_suggestion(text, table)));
}

void check_benchmark(const std::string& benchmark) {
  const std::vector<std::string> names = model::modelled_benchmarks();
  if (std::find(names.begin(), names.end(), benchmark) == names.end())
    throw UsageError(fmt::format("there is no model of {}{}; there are: {}", shown(benchmark),
                                 suggestion(benchmark, names), join(names, ", ")));
}

}  // namespace

int print_model_page(const std::string& benchmark, const std::string& class_text, const std::string& format,
                     std::ostream& out) {
  check_benchmark(benchmark);
  const model::Tables tables = model::read_tables(results_folder());
  const model::Page page = model::page_of(benchmark, class_meant(class_text, tables.classes), tables);
  if (format == "json")
    out << printed(to_json(page), 2) << '\n';
  else
    print_model(page, out);
  out.flush();
  if (!out) throw Error("cannot write to standard output");
  return exit_code::pass;
}

}  // namespace assay
