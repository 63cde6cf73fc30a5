// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// aa-bench [--seed N] [--pairs N] [--quick] [--json FILE] [--check]
// How often our verdicts and those of other tools are right, on made-up noise whose truth is known and on public data
// of machines where nothing changed. Ours are the functions of harness/stats that the product calls. Trap: figures
// count only for seeds that nobody tuned with: 1-99 are for tuning, 1001 is the one that is reported.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <thread>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "tests/aa_bench/report.h"

namespace assay::aa_bench {
namespace {

struct Options {
  Settings settings;
  bool quick = false, check = false, quiet = false;
  std::string json, data = ASSAY_REFERENCE_DATA;
};

void stage(const Options& options, const char* name, const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  if (!options.quiet) std::fprintf(stderr, "%-10s %6.1f s\n", name, took.count());
}

Results measure(const Options& options) {
  Results results;
  const Settings& settings = results.settings = options.settings;
  if (std::filesystem::exists(options.data)) results.data = std::filesystem::weakly_canonical(options.data).string();
  std::vector<Tool> tools = peers();
  tools.insert(tools.begin(), ours());
  stage(options, "pairs", [&] { results.tools = judge_pairs(tools, settings); });
  stage(options, "variants", [&] { results.variants = judge_pairs(variants(), settings); });
  stage(options, "clock", [&] {
    parallel_for(tools.size(), settings.threads, [&](std::size_t t) {
      results.tools[t].clock = judge_clock(t == 0 ? ours_cycles() : tools[t], settings);
    });
  });
  stage(options, "suites", [&] {
    for (const Tool& tool : tools) results.suites[tool.name] = judge_suites(tool, false, settings);
    results.suites_with_epoch = judge_suites(tools.front(), true, settings);
  });
  stage(options, "fleets", [&] { results.fleets = judge_fleets(make_fleets(options.data, settings.seed), settings); });
  stage(options, "series", [&] { results.series = judge_series(settings); });
  stage(options, "real", [&] { results.real = judge_real(options.data, settings); });
  return results;
}

int report(const Options& options, const Results& results) {
  std::fputs(as_tables(results).c_str(), stdout);
  if (!options.json.empty()) write_file_atomically(options.json, as_json(results));
  if (!options.check) return exit_code::pass;
  bool missed = false;
  for (const Goal& goal : goals_of(scores_of(results), results.settings)) {
    if (!goal.clearly_missed()) continue;
    std::fprintf(stderr, "aa-bench: %s misses its goal by more than chance\n", goal.score.c_str());
    missed = true;
  }
  return missed ? exit_code::fail : exit_code::pass;
}

int run(int argc, char** argv) {
  Options options;
  Settings& settings = options.settings;
  settings.threads = std::max(1U, std::thread::hardware_concurrency());
  CLI::App app("How often our verdicts and those of other tools are right", "aa-bench");
  app.add_option("--seed", settings.seed, "of all random numbers; 1-99 for tuning, 1001 is reported")
      ->capture_default_str();
  auto* pairs = app.add_option("--pairs", settings.pairs, "pairs a cell (fewer for slow tools)");
  pairs->check(CLI::Range(10, 1000000))->capture_default_str();
  app.add_flag("--quick", options.quick, "200 pairs: below a minute, for a first look")->excludes(pairs);
  app.add_option("--json", options.json, "every number, into this file");
  app.add_option("--data", options.data, "folder of the public data sets")->capture_default_str();
  app.add_option("--threads", settings.threads, "results do not depend on it")->check(CLI::Range(1, 1024));
  app.add_flag("--check", options.check, "exit 1 if a goal is missed by more than three standard errors");
  app.add_flag("--quiet", options.quiet, "no progress on standard error");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? exit_code::pass : exit_code::usage;
  }
  if (options.quick) settings.pairs = 200;
  return report(options, measure(options));
}

}  // namespace
}  // namespace assay::aa_bench

int main(int argc, char** argv) {
  try {
    return assay::aa_bench::run(argc, argv);
  } catch (const assay::Error& problem) {
    std::fprintf(stderr, "aa-bench: %s\n", problem.what());
    return problem.code();
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "aa-bench: %s\n", problem.what());
    return assay::exit_code::error;
  }
}
