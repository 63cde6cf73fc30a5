// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What `--device` names becomes facts: `cpu:0` (the whole CPU), `fake:FILE.toml` (a scripted device), `simt:0` (the
// CUDA kernels on the CPU), `cuda:0` (a GPU). For the last two the workers are asked (worker_choice.h). A device that
// was named and isn't there is an Error (exit 3), a kind that nobody knows a UsageError (exit 64).
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
  std::string worker =
      "";  // of workers that are alternatives (cuda12, cuda13) the one that serves it; "": nobody was asked
  std::string why = "";  // that one: "the newest that can: assay-worker-cuda13: cudaGetDeviceCount: ... (35)"
};

// The workers that somebody decided for already, and the words for it in run.json.
struct WorkerWish {
  std::vector<std::string> names;
  std::string why = "";
};

// The kinds a device can have, for suggestions.
std::vector<std::string> device_kinds();
// Kinds whose devices are nothing of this machine: they are shown and used only when they are named.
inline bool is_rehearsal(const std::string& kind) { return kind == "fake" || kind == "simt"; }
// `named` empty: all GPUs that a worker sees, else the CPU, as where the wanted worker is none for GPUs; `of_gpus` is
// then what the workers for GPUs said. A scenario of several devices gives several.
std::vector<FoundDevice> find_devices(const std::vector<std::string>& named, const WorkerWish& only = {},
                                      std::string* of_gpus = nullptr);

// A sentence for each of the GPUs on the PCI bus that isn't among the measured devices, with what find_devices said
// of_gpus. It names the address: the numbers of the bus needn't be those of the devices.
std::vector<std::string> unmeasured_gpus(const std::vector<DeviceInfo>& on_bus,
                                         const std::vector<FoundDevice>& measured, const std::string& of_gpus);

// The devices of an earlier run, in its order, wherever they are now: by UUID, else by PCI address, else (the CPU) by
// id. nullopt: it isn't here, but others of its kind are. Errors as of find_devices.
std::vector<std::optional<FoundDevice>> find_again(const std::vector<DeviceInfo>& before, const WorkerWish& only = {});

// The metrics that a benchmark owes on a device, by (device id, worker, benchmark): what a record is checked against.
using DeclaredMetrics = std::map<std::tuple<std::string, std::string, std::string>, std::vector<Metric>>;
DeclaredMetrics declared_metrics(const std::vector<WorkerFile>& workers, const std::vector<FoundDevice>& devices);
// The manifest that counts for `worker` on `device`.
const Manifest& rows_of(const WorkerFile& worker, const FoundDevice& device);

}  // namespace assay
