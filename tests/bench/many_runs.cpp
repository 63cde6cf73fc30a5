// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// many_runs RUN OUT NUMBER CASES: a fleet made out of one measured run, for tests/bench/judge. Writes OUT/fleet (each
// run by a machine of its own) and OUT/boots (the same records by one machine, so that they can stand on one side of a
// comparison). Every record is one of RUN with its times stretched by a factor of its own, in all the places in which a
// time counts, so that the gates believe it. What is measured here is the judge, never a machine: the folders claim to
// be real, so throw them away.
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/parent/coverage.h"
#include "harness/parent/run_data.h"
#include "harness/parent/workers.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

struct Template {
  Plan plan;
  Json run;
  std::vector<Record> records;
};

// The first `cases` cases that RUN measured; its other cases stay in the plan, as left out.
Template read_template(const fs::path& folder, std::size_t cases) {
  const RunData data = read_run(folder);
  Template from{data.plan, data.run, {}};
  for (PlannedCase& planned : from.plan.cases)
    if (planned.coverage == Coverage::required) planned.coverage = Coverage::excluded, planned.reason = "filter";
  CoverageTally tally(data.plan);
  tally_records(data, tally, [&](std::int64_t index, Record&& record) {
    if (index < 0 || record.session != 1 || record.outcome != Outcome::measured || from.records.size() == cases) return;
    PlannedCase& planned = from.plan.cases[static_cast<std::size_t>(index)];
    planned.coverage = Coverage::required;
    planned.reason.clear();
    record.sequence = from.records.size() + 1;
    record.process = 1;
    from.records.push_back(std::move(record));
  });
  if (from.records.size() < cases)
    throw Error(fmt::format("{} measured {} cases, {} are needed", folder.string(), from.records.size(), cases));
  from.plan.sessions = 1;
  return from;
}

// Standard deviation as share of the mean.
double spread_of(const std::vector<double>& values) {
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double n = static_cast<double>(values.size()), mean = sum / n;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return values.size() < 2 ? 0 : std::sqrt(squares / (n - 1)) / mean;
}

// Slower by `factor` (above 1, so that nothing comes out beyond its limit), and each sample by as much of its own as
// they scatter: the same samples in the same order would be a copy, stretched or not.
Record stretched(Record record, double factor, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const auto stretch = [&](const std::vector<double>& values) {
    std::vector<double> factors(values.size());
    const double spread = std::max(0.004, spread_of(values));
    for (double& one : factors) one = factor * (1 + spread * std::fabs(normal(random)));
    return factors;
  };
  const auto apply = [](MetricResult& result, const std::vector<double>& factors) {
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const double by = result.metric.better == Better::lower ? factors[i] : 1 / factors[i];
      if (i < result.samples.size()) result.samples[i] *= by;
      if (i < result.cycle_samples.size()) result.cycle_samples[i] *= by;
    }
  };
  const double before = record.measure_s;
  for (const Series& series : record.series)
    for (const Sample& sample : series.samples) record.measure_s -= sample.seconds;
  std::set<const MetricResult*> done;
  for (Series& series : record.series) {
    std::vector<double> seconds;
    for (const Sample& sample : series.samples) seconds.push_back(sample.seconds);
    const std::vector<double> factors = stretch(seconds);
    for (std::size_t i = 0; i < factors.size(); ++i) record.measure_s += series.samples[i].seconds *= factors[i];
    for (MetricResult& result : record.metrics)
      if (result.series == series.label && result.samples.size() == factors.size() && done.insert(&result).second)
        apply(result, factors);
  }
  for (MetricResult& result : record.metrics)
    if (done.count(&result) == 0) apply(result, stretch(result.samples));
  record.wall_s += record.measure_s - before;
  return record;
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw Error(fmt::format("cannot write {}", path.string()));
}

std::string event(const Plan& plan, const char* kind, const std::string& detail) {
  return line({{"schema", "assay.event.v1"},
               {"run_id", plan.run_id},
               {"at", plan.created_at},
               {"event", kind},
               {"text", kind},
               {"detail", detail},
               {"case", nullptr},
               {"worker", nullptr},
               {"device_set", Json::array()},
               {"session", nullptr},
               {"process", nullptr},
               {"pid", nullptr}}) +
         "\n";
}

// All of a folder but its records.
void write_frame(const fs::path& folder, const Template& from, const std::string& run_id, const std::string& host) {
  fs::create_directories(folder);
  Plan plan = from.plan;
  plan.run_id = run_id;
  plan.origin.host = host;
  write(folder / "plan.json", to_json(plan).dump(2) + "\n");
  CoverageCounts counts;
  counts.required = counts.measured = from.records.size();
  for (const PlannedCase& planned : plan.cases) {
    if (planned.coverage == Coverage::excluded) ++counts.excluded;
    if (planned.coverage == Coverage::not_applicable) ++counts.not_applicable;
  }
  write(folder / "events.jsonl",
        event(plan, "run_begin", file_xxh3(folder / "plan.json")) + event(plan, "run_end", line(to_json(counts))));
  Json run = from.run;
  run["run_id"] = run_id;
  run["outcome"] = word(Outcome::measured);
  run["exit_code"] = 0;
  run["coverage"] = to_json(counts);
  run["environment"]["host"] = host;
  write(folder / "run.json", run.dump(2) + "\n");
}

void write_run(const fs::path& out, const Template& from, std::size_t number) {
  const std::string name = fmt::format("run-{:06}", number);
  std::mt19937_64 random(number);
  std::normal_distribution<double> normal;
  const double machine = 0.05 + 0.003 * normal(random);
  std::string text;
  for (const Record& record : from.records) {
    Record one = stretched(record, std::exp(std::max(0.001, machine + 0.002 * normal(random))), random);
    one.run_id = name;
    text += line(to_json(one)) + "\n";
  }
  write_frame(out / "fleet" / name, from, name, fmt::format("node-{:06}", number));
  write(out / "fleet" / name / "records.jsonl", text);
  write_frame(out / "boots" / name, from, name, "node-000001");
  fs::create_hard_link(out / "fleet" / name / "records.jsonl", out / "boots" / name / "records.jsonl");
}

int main_(int argc, char** argv) {
  if (argc != 5) throw UsageError("usage: many_runs RUN OUT NUMBER CASES");
  const fs::path out = argv[2];
  const auto number = static_cast<std::size_t>(std::atoll(argv[3]));
  const Template from = read_template(argv[1], static_cast<std::size_t>(std::atoll(argv[4])));
  std::vector<std::thread> threads;
  const std::size_t count = std::max(1U, std::thread::hardware_concurrency());
  for (std::size_t t = 0; t < count; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = 1 + t; i <= number; i += count) write_run(out, from, i);
    });
  for (std::thread& thread : threads) thread.join();
  return 0;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) try { return assay::main_(argc, argv); } catch (const std::exception& problem) {
  fmt::print(stderr, "many_runs: {}\n", problem.what());
  return 3;
}
