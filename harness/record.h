// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The one stored thing: what one case gave in one session, as plain data. One line of records.jsonl is one Record
// (schema results/schema/record.v1.json). All raw samples are kept; every summary can be recomputed from them.
// A worker fills everything but the parts that only the parent knows (`run_id`, `sequence`, `process`, errors of dead
// workers); import fills the same struct from other tools' files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/outcome.h"
#include "harness/manifest.h"
#include "harness/stats/summary.h"

namespace assay {

inline constexpr const char* record_schema = "assay.record.v1";

// Why a sample is not to be trusted blindly; a bit mask. A disturbed sample is kept, flagged and counted.
namespace disturbed {
inline constexpr std::uint32_t involuntary_switches = 1;  // the kernel took the CPU away, for > 0.1 % of the sample
inline constexpr std::uint32_t run_delay = 2;             // threads waited > 1 % of the sample for a CPU
inline constexpr std::uint32_t steal = 4;                 // the hypervisor took the CPU away
inline constexpr std::uint32_t frequency = 8;             // clock before and after differ by more than 2 %
inline constexpr std::uint32_t foreign_load = 16;         // other processes used > 5 % of our CPUs
inline constexpr std::uint32_t shared_core = 32;  // issue ratio below 0.85 of this machine's quiet value: busy sibling
inline constexpr std::uint32_t throttled = 64;  // the device said so, or the CPU quota of a control group held it back
inline constexpr std::uint32_t short_block = 128;  // below 0.9 x the block length asked for: the rate changed
}  // namespace disturbed
// "involuntary_switches", ... in bit order; the names used in records and reports.
const std::vector<std::string>& disturbed_names();

// One block of iterations.
struct Sample {
  double seconds = 0;
  std::uint64_t iterations = 0;
  double clock_hz = 0;     // mean over the CPUs used, before and after; 0: not measured
  double issue_ratio = 0;  // independent FMAs per cycle, as share of the quiet value; 0: not measured
  std::uint32_t disturbed = 0;
};

// What one measure() gave. A case has one series, a sweep has one per point.
struct Series {
  std::string label;   // "" for a case with one series, "bytes:65536" in a sweep
  double block_s = 0;  // how long a sample was meant to be
  double bytes_per_iteration = 0, operations_per_iteration = 0;
  std::vector<Sample> samples;
  std::uint64_t warmup_iterations = 0;
  bool warmup_flat = true;  // false: the warm-up ended by its time limit
  std::string stop_reason;  // relative_error | max_time | max_samples | stopped
  double relative_error = 0;
};

// What a metric could be at most (or at least, for a latency), never taken from measuring the same quantity.
struct Limit {
  std::optional<double> value;
  std::string kind;    // "spec", "attribute_clock", "measured_clock", "none"
  std::string source;  // where the value comes from; without a value, the reason why there is none
};

struct MetricResult {
  Metric metric;
  std::string series;           // label of the series it was derived from; "" also for a single derived value
  std::vector<double> samples;  // per second axis, in metric.unit
  std::string cycle_unit;       // "B/cycle", "cycle"; "" where a clock makes no sense
  std::vector<double> cycle_samples;
  Limit limit;
};

struct CurvePoint {
  double x = 0, y = 0;
};
// Median over limit where higher is better, limit over median where lower is; NaN without a limit.
double share_of_limit(const Metric& metric, const Limit& limit, double median);

struct Curve {
  std::string name, x_name, x_unit, y_name, y_unit;
  std::vector<CurvePoint> points;
};

// Evidence of one wrong element. Values are shown as numbers and as bits.
struct Mismatch {
  std::string buffer;
  std::uint64_t index = 0;
  std::string expected, actual;                      // decimal
  std::string expected_bits, actual_bits, xor_bits;  // "0x..."
  std::string second_read_bits;  // the same word read again: equal to actual = stuck, else transient
};

struct Verification {
  std::string method;  // "bitwise", "relative 1e-5", ... joined by "; " when there are several buffers
  std::uint64_t elements_compared = 0;
  std::uint64_t mismatches = 0;
  std::uint64_t nan_count = 0;
  double max_error = 0;                    // largest relative error seen among bounded comparisons
  std::vector<Mismatch> first_mismatches;  // at most 10
};

struct Failure {
  std::string kind;    // signal | timeout | exit | protocol | library | exception | memory_limit | start | unkillable |
                       // unknown_fact | device (a call of its library failed)
  std::string detail;  // "SIGSEGV", "libopenblas.so.0", "exit status 7", ...
  std::vector<std::string> stderr_tail;
};

struct Fact {
  std::string name, value;
};

// Where the numbers of a record come from that another program measured. Nothing of its work was seen here.
struct Imported {
  std::string format;        // "nvbench": the format of the file, as `assay import --from` has it
  std::string file, xxh3;    // name of the file, and XXH3 of its content
  std::string tool_version;  // of the program that wrote it; "" when the file doesn't say
};

struct Record {
  // what
  std::string run_id;
  std::uint64_t sequence = 0;
  std::string case_name, benchmark;
  std::map<std::string, std::string> params;
  std::string worker, worker_version;
  std::vector<std::string> device_set;
  bool simulated = false;
  std::optional<Imported> imported;  // nullopt: measured here
  int session = 1;
  int process = 1;  // counts workers of this device set over the whole run; samples of two processes are never pooled
  std::string started_at;             // "" only when it was imported from a file that doesn't say
  std::optional<std::int64_t> go_ns;  // CLOCK_MONOTONIC of the common start, when several workers ran together

  // how it ended
  Outcome outcome = Outcome::error;  // MEASURED, FAIL, INVALID, NOT_RUN, ERROR
  std::string reason;                // one sentence; "" for MEASURED
  std::optional<Failure> failure;    // with ERROR

  // what was done
  double setup_s = 0, warmup_s = 0, measure_s = 0, verify_s = 0, wall_s = 0;
  std::uint64_t seed = 0;
  double block_s = 0;
  std::uint64_t iterations = 0;                         // timed ones
  double bytes = 0, operations = 0;                     // of all timed iterations
  std::string bytes_formula, operations_formula, data;  // data: distribution of the inputs
  std::vector<Series> series;
  std::vector<MetricResult> metrics;
  std::vector<Curve> curves;
  Verification verification;

  // where and beside what
  int threads = 0;
  std::vector<int> cpus;  // CPUs really used
  std::uint64_t host_resident_peak_bytes = 0, requested_bytes = 0, huge_page_bytes = 0;
  std::optional<std::uint64_t> device_peak_bytes;
  // What the process held once everything of the case was freed; nullopt: not read.
  std::optional<std::uint64_t> host_resident_rest_bytes, device_rest_bytes;
  std::uint64_t involuntary_switches = 0;
  double run_delay_s = 0, steal_s = 0, foreign_load = 0;  // foreign_load: share of our CPUs used by others
  std::vector<Fact> facts;                                // what varies inside a class: bytes, library, core name
  std::map<std::string, std::string> test_knobs;          // not empty: can never be judged as real
};

Json to_json(const Curve& curve);
Json to_json(const Record& record);
// Read back by record_from_json and for_each_record of parent/run_data.h.

}  // namespace assay
