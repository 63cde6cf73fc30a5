// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What assay doctor says: findings from below upwards, each with what is wrong, how we know, why it matters and what
// to do; then what could not be known, and advice that needs nothing but a PCI id.
#pragma once

#include <string>
#include <vector>

#include "harness/doctor/check.h"

namespace assay::doctor {

// What fits a card: the oldest driver, toolkits and torch builds; of a family where the card itself isn't known.
struct Advice {
  std::string address, pci_id, product, family, capability, module, oldest_driver, last_branch, oldest_cuda, last_cuda;
  bool exact = false;
  std::vector<std::string> wheels;  // newest first
};
std::vector<Advice> advice_of(const Case& one);

struct Report {
  const Facts& facts;
  const Knowledge& knowledge;
  std::vector<Answer> answers;
  Verdict verdict = Verdict::unknown;
};

std::string to_console(const Report& report);
std::string to_markdown(const Report& report);
Json to_json(const Report& report);
// One screen for a bug report.
std::string versions(const Case& one);

}  // namespace assay::doctor
