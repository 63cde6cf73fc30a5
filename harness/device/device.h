// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A device as Assay sees it: an id ("cpu:0", "cuda:0", "simt:0", "fake:FILE.toml"), an identity that survives renumbering, and
// facts. Facts are what needs and limits are judged by, so each is one number under a stable name.
// Facts of a CPU (device/cpu_facts.cpp), of those CPUs that this process may run on: cpus, cores, sockets, numa_nodes,
// smt, memory_bytes, available_bytes, cpu_quota (where a control group limits it), turbo_on (where it can be told),
// cache.l1d_bytes, cache.l2_bytes, cache.l3_bytes (each of one instance) and cache.lN_shared_cpus (how many CPUs share
// it), cache.line_bytes, page_bytes, and cpu.<flag> = 1 for each feature flag (cpu.avx2, cpu.avx512_bf16, ...).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/base/json.h"

namespace assay {

struct DeviceInfo {
  std::string id;
  std::string kind;         // "cpu", "cuda", "simt", "fake": the part before the colon
  std::string name;         // "Intel(R) Xeon(R) Processor"
  bool simulated = false;   // its numbers can never become a baseline, an acceptance or a report of performance
  std::string pci_address;  // "" where there is none
  std::string uuid;
  std::map<std::string, double> facts;
  std::map<std::string, std::string> labels;  // facts that are words: model, microcode, governor, hypervisor

  // The fact, or `fallback` where the device doesn't have it.
  double fact(const std::string& fact_name, double fallback = 0) const;
};

Json to_json(const DeviceInfo& device);
DeviceInfo device_from_json(const Json& json);

// The CPU itself, from sysfs, /proc and the affinity mask; never fails, a fact that can't be read is absent.
DeviceInfo cpu_device();
// The same of the machine whose files lie below `root`, for a process that may run on `cpus` (at least one).
DeviceInfo cpu_device(const std::filesystem::path& root, const std::vector<int>& cpus);
// CPUs this process may run on, in ascending order.
std::vector<int> allowed_cpus();

}  // namespace assay
