// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A worker as a Google Benchmark program: each case is one benchmark of one iteration with manual time, inside which
// our sampler does all the timing. Names are the bare case names; Google Benchmark would add
// "/iterations:1/manual_time".
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <re2/re2.h>

#include <cstdio>
#include <memory>
#include <optional>

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/worker/worker.h"

namespace assay {
namespace {

// Reports under the bare name.
template <class Base>
class BareNames : public Base {
 public:
  using Base::Base;
  void ReportRuns(const std::vector<benchmark::BenchmarkReporter::Run>& runs) override {
    std::vector<benchmark::BenchmarkReporter::Run> bare = runs;
    for (auto& run : bare) {
      run.run_name.iterations.clear();
      run.run_name.time_type.clear();
    }
    Base::ReportRuns(bare);
  }
};

std::optional<std::string> flag(const std::vector<std::string>& arguments, const std::string& name) {
  for (const std::string& argument : arguments) {
    if (argument == name) return "true";
    if (starts_with(argument, name + "=")) return argument.substr(name.size() + 1);
  }
  return std::nullopt;
}

std::vector<std::string> chosen_cases(const Manifest& manifest, const std::string& filter) {
  const bool negative = starts_with(filter, "-");
  const RE2 pattern(filter == "all" ? "." : negative ? filter.substr(1) : filter, RE2::Quiet);
  if (!pattern.ok()) throw UsageError(fmt::format("--benchmark_filter={}: {}", filter, pattern.error()));
  std::vector<std::string> names;
  for (const BenchmarkInfo& benchmark : manifest.benchmarks)
    for (const CaseInfo& entry : benchmark.cases)
      if (RE2::PartialMatch(entry.name, pattern) != negative && (!benchmark.hidden || entry.name == filter))
        names.push_back(entry.name);
  return names;
}

double median_seconds(const Record& record) {
  std::vector<double> seconds;
  for (const Series& series : record.series)
    for (const Sample& sample : series.samples)
      seconds.push_back(sample.seconds / static_cast<double>(sample.iterations));
  return summarise(seconds).median;
}

void run_one(benchmark::State& state, const std::string& name, const WorkerProgram& program,
             std::vector<Outcome>& outcomes) {
  CaseRequest request;
  request.case_name = name;
  request.device_set = {program.default_device};
  Link nobody;
  Record record;
  if (program.is_over && program.is_over()) {
    record.outcome = Outcome::error;
    record.reason = "the device was lost in a case before, and this process can do no other";
  } else {
    record = program.run_case(request, nobody);
  }
  outcomes.push_back(record.outcome);
  if (record.outcome != Outcome::measured)
    state.SkipWithError(fmt::format("{}: {}", word(record.outcome), record.reason).c_str());
  for (auto _ : state) state.SetIterationTime(record.outcome == Outcome::measured ? median_seconds(record) : 0);
  for (const MetricResult& metric : record.metrics)
    state.counters[metric.metric.name] = summarise(metric.samples).median;
}

std::unique_ptr<benchmark::BenchmarkReporter> reporter(const std::string& format) {
  if (format == "console") return std::make_unique<BareNames<benchmark::ConsoleReporter>>();
  if (format == "json") return std::make_unique<BareNames<benchmark::JSONReporter>>();
  throw UsageError(fmt::format("--benchmark_format={}{}", format, suggestion(format, {"console", "json"})));
}

}  // namespace

int run_by_hand(int argc, char** argv, const WorkerProgram& program) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::string filter = flag(arguments, "--benchmark_filter").value_or("all");
  const std::vector<std::string> names = chosen_cases(program.manifest, filter);
  if (names.empty())
    throw UsageError(fmt::format("--benchmark_filter={} matches no case; --benchmark_list_tests lists them", filter));
  if (flag(arguments, "--benchmark_list_tests").value_or("false") == "true") {
    for (const std::string& name : names) std::puts(name.c_str());
    return exit_code::pass;
  }
  std::vector<Outcome> outcomes;
  for (const std::string& name : names)
    benchmark::RegisterBenchmark(name.c_str(),
                                 [&, name](benchmark::State& state) { run_one(state, name, program, outcomes); })
        ->Iterations(1)
        ->UseManualTime();
  benchmark::Initialize(&argc, argv);
  if (argc > 1)
    throw UsageError(fmt::format("unknown argument {}; --help lists Google Benchmark's flags, worker.h ours", argv[1]));
  const std::unique_ptr<benchmark::BenchmarkReporter> display =
      reporter(flag(arguments, "--benchmark_format").value_or("console"));
  std::unique_ptr<benchmark::BenchmarkReporter> file;
  if (flag(arguments, "--benchmark_out")) file = reporter(flag(arguments, "--benchmark_out_format").value_or("json"));
  benchmark::RunSpecifiedBenchmarks(display.get(), file.get(), "all");
  return code(worst(outcomes));
}

}  // namespace assay
