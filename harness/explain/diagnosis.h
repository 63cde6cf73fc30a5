// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// From events to an answer for each device: the first cause, what followed from it, whom to blame, what to do. A cause
// is the event that explains most (Row::weight), the earliest among equals; the loudest and the last don't count. What
// no device owns follows from a device's fault where there is one. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/explain/events.h"
#include "harness/explain/tables.h"

namespace assay::explain {

struct Cause {
  std::string code = "-", kind;
  std::uint64_t line = 0;  // 0: no line shows it
};

struct Quote {
  std::uint64_t line;
  std::string text;
};

struct Finding {
  std::string device;
  Cause first;
  std::vector<Cause> consequences;
  std::string layer, severity, action, confidence, meaning, source;
  std::uint64_t count = 0;    // how often the first cause stands there
  std::vector<Quote> quotes;  // at most five
  const Row* row = nullptr;   // nullptr: "nothing found", or "not understood"
};

struct Diagnosis {
  std::vector<Finding> findings;  // faults first, the worst first
  std::vector<const Row*> used;   // every row that some event was resolved to
};

// What is known of the input as a whole.
struct Input {
  std::string format;      // the program that wrote it, "" if not recognised
  bool complete = false;   // its end is there
  bool complains = false;  // a line has a word like "error" or "failed"
  bool blank = false;      // nothing is in it
};

Diagnosis diagnose(const Tables& tables, const Events& events, const Input& input);

// 0: nothing, or nothing that matters; 1: a fault; 2: something that isn't understood, and no fault.
int exit_code_of(const std::vector<Finding>& findings);

}  // namespace assay::explain
