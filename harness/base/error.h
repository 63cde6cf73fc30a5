// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The exceptions of the program. `main` is the only place that catches them all; it prints one sentence and exits with
// the code that the type carries. Inside a worker an exception ends one case.
// A message says what happened, where, and what to do: "cannot write R/plan.json: No space left on device; free some
// space or name another folder with --out".
#pragma once

#include <stdexcept>
#include <string>

#include "harness/base/outcome.h"

namespace assay {

// Could not measure: a missing worker, an unwritable folder, damaged data. Exit code 3 unless said otherwise.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, int code = exit_code::error) : std::runtime_error(message), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

// The command line is wrong: exit code 64, with the nearest names suggested.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(message, exit_code::usage) {}
};

}  // namespace assay
