// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What devices a worker sees, by asking it: `assay-worker-X --devices` in a child with a time limit, so that a driver that
// crashes or hangs costs an answer and nothing else.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/device/device.h"

namespace assay {

struct WorkerAnswer {
  std::string problem;  // "it was killed by SIGSEGV"; "": it answered
  std::vector<DeviceInfo> devices;
};

WorkerAnswer ask_worker(const std::filesystem::path& program, double limit_s);

}  // namespace assay
