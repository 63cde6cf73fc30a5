// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The word table of outcome.h.
#include "harness/base/outcome.h"

#include <array>

namespace assay {
namespace {

struct Row {
  Outcome outcome;
  std::string_view word;
  int code;
};

constexpr std::array<Row, 18> table{{
    {Outcome::measured, "MEASURED", exit_code::pass},
    {Outcome::pass, "PASS", exit_code::pass},
    {Outcome::match, "MATCH", exit_code::pass},
    {Outcome::improved, "IMPROVED", exit_code::pass},
    {Outcome::no_regression, "NO_REGRESSION", exit_code::pass},
    {Outcome::variance_better, "VARIANCE_CHANGED", exit_code::pass},
    {Outcome::fail, "FAIL", exit_code::fail},
    {Outcome::mismatch, "MISMATCH", exit_code::fail},
    {Outcome::regressed, "REGRESSED", exit_code::fail},
    {Outcome::variance_worse, "VARIANCE_CHANGED", exit_code::fail},
    {Outcome::incomplete, "INCOMPLETE", exit_code::inconclusive},
    {Outcome::inconclusive, "INCONCLUSIVE", exit_code::inconclusive},
    {Outcome::unknown, "UNKNOWN", exit_code::inconclusive},
    {Outcome::provisional, "PROVISIONAL", exit_code::inconclusive},
    {Outcome::invalid, "INVALID", exit_code::inconclusive},
    {Outcome::mode_switch, "MODE_SWITCH", exit_code::inconclusive},
    {Outcome::not_run, "NOT_RUN", exit_code::inconclusive},
    {Outcome::error, "ERROR", exit_code::error},
}};

constexpr const Row& row(Outcome outcome) { return table[static_cast<std::size_t>(outcome)]; }

constexpr bool in_order() {
  for (std::size_t i = 0; i < table.size(); ++i)
    if (static_cast<std::size_t>(table[i].outcome) != i) return false;
  return true;
}
static_assert(in_order(), "the table follows the enumeration");

}  // namespace

std::string_view word(Outcome outcome) { return row(outcome).word; }
int code(Outcome outcome) { return row(outcome).code; }

bool is_case_outcome(Outcome o) {
  return o == Outcome::measured || o == Outcome::fail || o == Outcome::invalid || o == Outcome::not_run ||
         o == Outcome::error;
}

bool is_run_outcome(Outcome o) {
  return o == Outcome::measured || o == Outcome::fail || o == Outcome::incomplete || o == Outcome::error;
}

std::optional<Outcome> outcome_of(std::string_view text) {
  std::optional<Outcome> found;
  for (const Row& r : table)
    if (r.word == text) found = r.outcome;  // the last one wins: VARIANCE_CHANGED reads as the worse
  return found;
}

Outcome worst(const std::vector<Outcome>& outcomes) {
  for (int wanted : {exit_code::fail, exit_code::error, exit_code::inconclusive, exit_code::pass})
    for (Outcome o : outcomes)
      if (code(o) == wanted) return o;
  return Outcome::incomplete;
}

}  // namespace assay
