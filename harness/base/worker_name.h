// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Names of workers. Those that differ in the number at their end alone are alternatives: one worker, made with several
// versions of a library, of which one serves a device (parent/worker_choice.h).
#pragma once

#include <string>

namespace assay {

// "cuda13" -> "cuda"
inline std::string without_number(const std::string& worker) {
  return worker.substr(0, worker.find_last_not_of("0123456789") + 1);
}
inline bool are_alternatives(const std::string& worker, const std::string& other) {
  return without_number(worker) == without_number(other);
}

}  // namespace assay
