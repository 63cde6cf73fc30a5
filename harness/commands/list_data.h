// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What `assay list` shows, gathered from manifests, profiles, references, sysfs and NVML. No worker is started for it,
// except by `probe_worker`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/commands/list_judges.h"
#include "harness/device/device.h"
#include "harness/manifest.h"
#include "harness/telemetry/nvml.h"

namespace assay {

struct ListOptions {
  std::string format = "console";  // console | json
  std::vector<std::string> devices;
  bool probe = false;  // start workers to ask them (otherwise never)
  bool hidden = false;
};

struct ListedWorker {
  std::string name, path, version, commit;
  std::string problem;  // "": it can run
  std::vector<std::string> devices;
  std::map<std::string, std::string> built;
  std::size_t benchmarks = 0, cases = 0;
};

enum class Status { available, not_applicable, error };
std::string_view word(Status status);

struct ListedCase {
  std::string name, worker;
  std::string device;  // "": no device of a kind that the worker serves is here
  Status status = Status::available;
  std::string reason;
};

struct ListedBenchmark {
  BenchmarkInfo info;  // its cases are not used: `cases` has them, per worker and device
  std::vector<ListedCase> cases;
};

struct ListedProfile {
  std::string name, summary;
  int sessions = 1;
  std::string problem;  // why it can't be used: "quick.toml:3: ..."; "" when it can
};

struct Probed {
  std::string worker, problem;  // "": it answered
  std::vector<DeviceInfo> devices;
};

struct Listing {
  std::vector<ListedWorker> workers;
  std::vector<DeviceInfo> devices;
  NvmlAnswer nvml;
  std::vector<ListedProfile> profiles;
  std::vector<ListedBenchmark> benchmarks;  // sorted by name
  std::vector<Probed> probes;               // with --probe
  ListedJudges judges;
};

// UsageError or Error for a device that is named and unknown or absent.
Listing gather(const ListOptions& options);
// Starts `assay-worker-X --devices` in a child, for at most `limit_s`.
Probed probe_worker(const ListedWorker& worker, double limit_s);

Json to_json(const Listing& listing);  // schema list.v1.json
void print_listing(const Listing& listing, std::ostream& out);

}  // namespace assay
