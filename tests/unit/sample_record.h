// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Records, plans and run folders for tests. `full_record` has every part filled, so that a field lost on the way shows.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "harness/base/file.h"
#include "harness/parent/plan.h"
#include "harness/parent/workers.h"
#include "harness/record.h"
#include "tests/unit/source_folder.h"

namespace assay::testing {

inline const std::string bandwidth_case = "memory/stream/op:triad/type:f64/size:dram/threads:all";

inline Series sample_series(const std::string& label, std::size_t n) {
  Series series;
  series.label = label;
  series.block_s = 0.1;
  series.bytes_per_iteration = 3 * 8 * 1048576.0;
  series.operations_per_iteration = 2 * 1048576.0;
  for (std::size_t i = 0; i < n; ++i)
    series.samples.push_back({0.1 + 0.001 * static_cast<double>(i), 1000 + i, 3.1e9, 0.97, i == 1 ? 12U : 0U});
  series.warmup_iterations = 2000;
  series.stop_reason = "relative_error";
  series.relative_error = 0.0031;
  return series;
}

inline MetricResult sample_metric(const std::string& name, std::size_t n) {
  MetricResult result;
  result.metric = {name, "B/s", Better::higher, ""};
  for (std::size_t i = 0; i < n; ++i) {
    result.samples.push_back(1.0e10 * (1 + 0.01 * static_cast<double>(i)) / 3);
    result.cycle_samples.push_back(result.samples.back() / 3.1e9);  // the clock of sample_series
  }
  result.cycle_unit = "B/cycle";
  result.limit = {2.5e10, "spec", "2 channels x 8 B x 1.6e9 transfers/s"};
  return result;
}

// MEASURED, with `n` samples in one series and two metrics.
inline Record measured_record(std::size_t n = 4) {
  Record r;
  r.run_id = "20261130T170501Z-4711";
  r.sequence = 1;
  r.case_name = bandwidth_case;
  r.benchmark = "memory/stream";
  r.params = {{"op", "triad"}, {"type", "f64"}, {"size", "dram"}, {"threads", "all"}};
  r.worker = "cpu";
  r.worker_version = "0.1.0";
  r.device_set = {"cpu:0"};
  r.started_at = "2026-11-30T17:05:01.123Z";
  r.outcome = Outcome::measured;
  r.setup_s = 0.25;
  r.warmup_s = 0.5;
  r.measure_s = 2.125;
  r.verify_s = 0.0625;
  r.wall_s = 3;
  r.seed = 18446744073709551615ULL;
  r.block_s = 0.1;
  r.iterations = 4006;
  r.bytes = 4006 * 3 * 8 * 1048576.0;
  r.bytes_formula = "3 x 8 B x n";
  r.operations = 4006 * 2 * 1048576.0;
  r.operations_formula = "2 n";
  r.data = "uniform k/32768, k in [-32768, 32767]";
  r.series = {sample_series("", n)};
  r.metrics = {sample_metric("bandwidth", n), sample_metric("bandwidth_burst", n)};
  r.verification.method = "bitwise";
  r.verification.elements_compared = 1048576;
  r.threads = 2;
  r.cpus = {0, 1};
  r.host_resident_peak_bytes = 123456789;
  r.requested_bytes = 100000000;
  r.huge_page_bytes = 67108864;
  r.host_resident_rest_bytes = 23456789;
  r.involuntary_switches = 2;
  r.run_delay_s = 0.001;
  r.facts = {{"working_set_bytes", "100663296"}, {"library", "none"}};
  return r;
}

// FAIL, with everything that MEASURED doesn't have as well.
inline Record full_record() {
  Record r = measured_record();
  r.simulated = true;
  r.go_ns = -5;
  r.outcome = Outcome::fail;
  r.reason = "1 of 1048576 elements differ, \"triad\"; first at 17";
  r.curves = {{"latency", "working_set", "B", "latency", "s", {{1024, 1e-9}, {2048, 1.25e-9}}}};
  r.verification.mismatches = 1;
  r.verification.nan_count = 1;
  r.verification.max_error = 0.5;
  r.verification.first_mismatches = {
      {"a", 17, "1.5", "nan", "0x3ff8000000000000", "0x7ff8000000000000", "0x4000000000000000", "0x7ff8000000000000"}};
  r.device_peak_bytes = 1048576;
  r.steal_s = 0.002;
  r.foreign_load = 0.03;
  r.test_knobs = {{"ASSAY_TEST_CORRUPT", "memory/stream"}};
  return r;
}

inline Record error_record() {
  Record r = measured_record(0);
  r.outcome = Outcome::error;
  r.reason = "the worker was killed by SIGSEGV";
  r.failure = Failure{"signal", "SIGSEGV", {"about to crash, \"now\"", "line two"}};
  r.series.clear();
  r.metrics.clear();
  r.verification = {};
  r.iterations = 0;
  return r;
}

inline Plan sample_plan() {
  Plan plan;
  plan.run_id = "20261130T170501Z-4711";
  plan.created_at = "2026-11-30T17:05:01Z";
  plan.profile = "quick";
  plan.policy.seed = measured_record().seed;
  DeviceInfo device;
  device.id = "cpu:0";
  device.kind = "cpu";
  device.name = "Test Processor";
  device.facts = {{"cpus", 2}};
  plan.devices = {device};
  plan.workers = {{"cpu", "assay-worker-cpu", "0.1.0", "abc", "0123456789abcdef", "fedcba9876543210", ""}};
  plan.origin = {"0.1.0", "abc", "0123456789abcdef", "node1", "Linux 6.1.0 #1", "x86_64"};
  PlannedCase planned;
  planned.name = bandwidth_case;
  planned.benchmark = "memory/stream";
  planned.worker = "cpu";
  planned.device_set = {"cpu:0"};
  planned.estimate_s = 3;
  planned.deadline_s = 60;
  plan.cases = {planned};
  return plan;
}

// A folder of its own, removed with its contents.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "assay-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline void write_run(const std::filesystem::path& folder, const Plan& plan, const std::vector<Record>& records) {
  std::filesystem::create_directories(folder);
  write_file_atomically(folder / "plan.json", line(to_json(plan)));
  std::string text;
  for (const Record& record : records) text += line(to_json(record)) + "\n";
  write_file_atomically(folder / "records.jsonl", text);
  const Json begin{{"event", "run_begin"}, {"detail", file_xxh3(folder / "plan.json")}};
  write_file_atomically(folder / "events.jsonl", line(begin) + "\n");
}

}  // namespace assay::testing
