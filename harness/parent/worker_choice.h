// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Which worker serves a device where several could: cuda12 and cuda13 are one worker, made with two versions of CUDA,
// and a driver runs those that it is new enough for. Each is asked, in a child with a time limit, so what can run is
// found out and not looked up: the newest that sees the device and has machine code for it is taken, and why is kept
// for run.json.
#pragma once

#include <string>
#include <vector>

#include "harness/parent/devices.h"

namespace assay {

// May this worker measure on this device? It serves the kind, and no alternative of it (base/worker_name.h) was chosen.
bool may_serve(const WorkerFile& worker, const FoundDevice& device);

struct ServedDevices {
  std::vector<FoundDevice> devices;  // that the workers see, each with its worker
  std::string problems;              // what they say who can't: "; assay-worker-cuda13: ..."
  bool asked = false;                // there is a worker for this kind
};
// `only`: the worker to take where it is one for this kind of device.
ServedDevices ask_workers(const std::string& kind, const std::vector<WorkerFile>& workers, const WorkerWish& only);

}  // namespace assay
