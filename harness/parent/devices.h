// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What `--device` names becomes facts: `cpu:0` (the whole CPU), `fake:FILE.toml` (a scripted device), `simt:0` (the CUDA
// kernels on the CPU). Only for the last, and for GPUs once a worker serves them, is a worker asked, in a child with a time
// limit. A device that was named and isn't there is an Error (exit 3), a kind that nobody knows a UsageError (exit 64).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "harness/device/device.h"
#include "harness/parent/workers.h"

namespace assay {

struct FoundDevice {
  DeviceInfo info;
  std::optional<Manifest> rows;  // a scripted device brings its own; all others have those of the workers' manifests
};

// The kinds a device can have, for suggestions.
std::vector<std::string> device_kinds();
// Kinds whose devices are nothing of this machine: they are shown and used only when they are named.
inline bool is_rehearsal(const std::string& kind) { return kind == "fake" || kind == "simt"; }
// `named` empty: the best that is here and has a worker. A scenario of several devices gives several.
std::vector<FoundDevice> find_devices(const std::vector<std::string>& named);

// The devices of an earlier run, in its order, wherever they are now: by UUID, else by PCI address, else (the CPU) by
// id. nullopt: it isn't here. Errors as of find_devices.
std::vector<std::optional<FoundDevice>> find_again(const std::vector<DeviceInfo>& before);

// The metrics that a benchmark owes on a device, by (device id, worker, benchmark): what a record is checked against.
using DeclaredMetrics = std::map<std::tuple<std::string, std::string, std::string>, std::vector<Metric>>;
DeclaredMetrics declared_metrics(const std::vector<WorkerFile>& workers, const std::vector<FoundDevice>& devices);
// The manifest that counts for `worker` on `device`.
const Manifest& rows_of(const WorkerFile& worker, const FoundDevice& device);

}  // namespace assay
