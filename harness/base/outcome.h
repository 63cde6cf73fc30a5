// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Every word an answer can carry, and the exit code it stands for. This table is the only place where a word becomes a
// number: console, JSON and `exit()` all ask it. A case, a record and a run use the same words.
// Trap: a run never says PASS. PASS needs something to be judged against (accept, compare, identify).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace assay {

enum class Outcome {
  measured,
  pass,
  match,
  improved,
  no_regression,
  variance_better,  // 0
  fail,
  mismatch,
  regressed,
  variance_worse,  // 1
  incomplete,
  inconclusive,
  unknown,
  provisional,
  invalid,
  mode_switch,
  not_run,  // 2
  error,    // 3
};

namespace exit_code {
inline constexpr int pass = 0, fail = 1, inconclusive = 2, error = 3, usage = 64, interrupted = 130;
}

// "MEASURED", "NOT_RUN", ... VARIANCE_CHANGED names both directions.
std::string_view word(Outcome outcome);
int code(Outcome outcome);
// How a case can end in a session: MEASURED, FAIL, INVALID, NOT_RUN, ERROR.
bool is_case_outcome(Outcome outcome);
// How a run can end: MEASURED, FAIL, INCOMPLETE, ERROR.
bool is_run_outcome(Outcome outcome);
// The outcome of a word; VARIANCE_CHANGED reads as the worse one. nullopt for a word that isn't in the table.
std::optional<Outcome> outcome_of(std::string_view word);

// Mixed outcomes: 1 before 3 before 2 before 0. Returns the first of the winning code; an empty list is `incomplete`,
// because nothing measured is never a success.
Outcome worst(const std::vector<Outcome>& outcomes);

}  // namespace assay
