// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What devices a worker sees, by asking it: `assay-worker-X --devices` in a child with a time limit, so that a driver
// that crashes or hangs costs an answer and nothing else; and any other question that is answered by one line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/device/device.h"
#include "harness/device/shown_fact.h"

namespace assay {

struct WorkerAnswer {
  std::string problem;  // "it was killed by SIGSEGV"; "": it answered
  std::vector<DeviceInfo> devices;
};

struct WorkerLine {
  std::vector<std::string> lines;  // the first is the answer; empty: none
  std::string problem;             // "it was killed by SIGSEGV", "it gave no answer within 5 s"
  bool late = false;
  int status = 0;
  std::vector<std::string> last_words;
};
// `options` as a shell takes them: "--probe init".
WorkerLine ask_line(const std::filesystem::path& program, const std::string& options, double limit_s);

WorkerAnswer ask_worker(const std::filesystem::path& program, double limit_s);

struct ShownAnswer {
  std::string problem;  // as above
  std::vector<ShownFact> facts;
};

ShownAnswer ask_shown(const std::filesystem::path& program, const std::string& device, double limit_s);

}  // namespace assay
