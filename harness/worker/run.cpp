// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See run.h.
#include "harness/worker/run.h"

#include <fmt/format.h>

#include <exception>
#include <optional>

#include "harness/base/clock.h"
#include "harness/build_info.h"
#include "harness/worker/case_run.h"
#include "harness/worker/registry.h"

namespace assay {
namespace {

// Runs the benchmark and takes every way in which it can end.
void run_benchmark(const Benchmark& benchmark, CaseRun& run) {
  try {
    benchmark.run(run);
    run.judge();
  } catch (const CaseSkipped& skipped) {
    run.end_as(Outcome::not_run, skipped.why);
  } catch (const DeviceError& problem) {
    run.end_by(problem);
  } catch (const std::exception& problem) {
    run.end_as(Outcome::error, problem.what());
  } catch (...) {
    run.end_as(Outcome::error, "the benchmark threw something that is no std::exception");
  }
  run.close();
}

void error_record(Record& record, const std::string& what, const char* kind = "exception") {
  record.outcome = Outcome::error;
  record.reason = what;
  record.failure = Failure{kind, what, {}};
}

}  // namespace

// Gathered once, before the first team is pinned: afterwards the main thread's mask is narrow.
const DeviceInfo& this_cpu() {
  static const DeviceInfo device = cpu_device();
  return device;
}

const std::vector<int>& worker_cpus() {
  static const std::vector<int> cpus = allowed_cpus();
  return cpus;
}

Record run_case(const CaseRequest& request, const std::string& worker, MemoryPool& pool, Link& link,
                const std::function<Accelerator&()>& open) {
  Record record;
  record.case_name = request.case_name;
  record.worker = worker;
  record.worker_version = build_info().version;
  record.device_set = request.device_set;
  record.session = request.session;
  record.started_at = utc_now();
  const std::int64_t begin = monotonic_ns();
  const std::optional<CaseOf> which =
      find_case(request.case_name, open ? kernels::Backend::cuda : kernels::Backend::cpu);
  if (!which) {
    const std::size_t subject = request.case_name.find('/');  // "memory/stream" of "memory/stream/op:copy"
    record.benchmark = request.case_name.substr(0, request.case_name.find('/', subject + 1));
    error_record(record, fmt::format("this worker has no case named {}", request.case_name));
    return record;
  }
  record.benchmark = which->benchmark->name;
  record.params = which->params.all();
  link.phase("setup");
  worker_cpus();
  this_cpu();
  if (!reset_resident_peak())
    record.facts.push_back({"host_resident_peak", "of the whole process: this kernel doesn't reset it"});
  try {
    Accelerator* device = open ? &open() : nullptr;
    record.simulated = device != nullptr && device->info().simulated;
    CaseRun run(*which, device == nullptr ? this_cpu() : device->info(), request, pool, device, link, record);
    run_benchmark(*which->benchmark, run);
  } catch (const DeviceError& problem) {  // it can't be opened
    error_record(record, problem.what(), "device");
  } catch (const std::exception& problem) {  // before the benchmark began: a knob, a CPU that refuses
    error_record(record, problem.what());
  }
  pool.end_case();
  const std::uint64_t resident = resident_bytes(), idle = pool.idle_resident_bytes();
  if (resident > 0) record.host_resident_rest_bytes = resident > idle ? resident - idle : 0;
  record.wall_s = seconds_since(begin);
  return record;
}

}  // namespace assay
