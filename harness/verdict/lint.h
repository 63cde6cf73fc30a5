// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Is a reference possible at all? Each row of a file is held against the physical limits of its class: above them it
// fails everything, far below it passes everything, and a number whose unit slipped does one of the two. What nobody
// can judge (an unknown class, a metric without a limit) is not flagged, and the reason says so.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/verdict/baseline.h"
#include "harness/verdict/classes.h"

namespace assay {

struct Linted {
  std::uint64_t line = 0;  // in the file; the header is line 1
  bool flag = false;
  std::string reason;   // one sentence, also for rows that aren't flagged
  bool unheld = false;  // no limit is known that it could be held against
};

// A published gate as thresholds files give it; only these columns are read.
struct Threshold {
  std::string provider, gpu_class, shape, metric, op, threshold, unit, gpus, source;
};
Linted lint_threshold(const Threshold& row, const ClassTable& table);

// Columns provider, gpu_class, sku_or_shape, metric, op, threshold, unit, n_gpus, source; others are not looked at.
std::vector<Linted> lint_thresholds(const std::filesystem::path& path, const ClassTable& table);
// A baseline (baseline.h): also what read_baseline() would refuse is a flag here, so that all of it is seen at once.
std::vector<Linted> lint_baseline(const std::filesystem::path& path, const ClassTable& table);
// A reference that can't be judges nobody: Error (exit 3) with the first row that is flagged. Else as read_baseline().
Baseline read_sound_baseline(const std::filesystem::path& path, const ClassTable& table);

// [{line, flag, reason}]: schema results/schema/lint.v1.json.
Json to_json(const std::vector<Linted>& rows);

}  // namespace assay
