// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The parent and a worker talk in JSON lines: the parent writes to the worker's standard input, the worker writes to
// the descriptor named by `--assay-fd N`. Schema: results/schema/worker.v1.json. Anyone can write a worker, in any
// language.
//
//   parent -> worker   {"type":"case","id":7,"case":NAME,"device_set":["cpu:0"],"session":1,"policy":{...},"hold":bool}
//                      {"type":"go","at_monotonic_ns":N}     start the timed part of a held case at this instant
//                      {"type":"stop"}                       end the current case early, with what it has
//                      {"type":"quit"}                       (or end of file) leave
//   worker -> parent   {"type":"hello","schema":"assay.worker.v1","worker":X,"version":V,"commit":C,"pid":P}
//                      {"type":"case_begin","id":7}          set-up starts
//                      {"type":"ready","id":7}               set-up done; a worker with "hold" now waits for `go`
//                      {"type":"heartbeat","id":7,"phase":"measure"}    at least once a second, also during set-up
//                      {"type":"window","id":7,"metric":M,"unit":U,"value":V,"seconds":S}   the latest block, for the
//                      live line
//                      {"type":"record","id":7,"record":{...}}          schema record.v1.json
//                      {"type":"case_end","id":7}
// A line that is not one of these, or a record for another case, is a protocol failure and costs the case. Version and
// commit of `hello` are those of the manifest. Processes that a worker starts and leaves are killed when it has ended.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/base/json.h"

namespace assay {

inline constexpr const char* worker_schema = "assay.worker.v1";

// How long and how often to measure; filled from the profile, sent with every case.
struct Policy {
  double block_s = 0.1;  // a sample is at least this long (and 1000 x the timer's cost and resolution)
  double warmup_min_s = 0.0, warmup_max_s = 1.0;
  double measure_min_s = 0.5, measure_max_s = 2.0;
  std::uint64_t samples_min = 5, samples_max = 1000;
  double relative_error = 0.005;  // standard error of the mean / mean at which enough is known
  std::uint64_t seed = 1;
  std::uint64_t max_memory_bytes = 0;  // 0: what is available
};
Json to_json(const Policy& policy);
Policy policy_from_json(const Json& json);

struct CaseRequest {
  std::uint64_t id = 0;
  std::string case_name;
  std::vector<std::string> device_set;
  int session = 1;
  bool hold = false;
  Policy policy;
};
Json to_json(const CaseRequest& request);
CaseRequest case_request_from_json(const Json& json);

}  // namespace assay
