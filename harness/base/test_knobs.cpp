// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See test_knobs.h.
#include "harness/base/test_knobs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>

#include "harness/base/error.h"
#include "harness/base/parse.h"
#include "harness/base/text.h"

extern char** environ;

namespace assay {
namespace {

constexpr const char *corrupt_name = "ASSAY_TEST_CORRUPT", *slowdown_name = "ASSAY_TEST_SLOWDOWN";

double slowdown_from(const std::string& text) {
  const std::optional<double> value = only_number<double>(text);
  if (!value || !(*value >= 1 && *value <= 100))
    throw UsageError(fmt::format("{} is '{}'; it must be a number from 1 to 100", slowdown_name, text));
  return *value;
}

}  // namespace

std::map<std::string, std::string> TestKnobs::as_text() const {
  std::map<std::string, std::string> text;
  if (!corrupt.empty()) text[corrupt_name] = corrupt;
  if (slowdown != 1) text[slowdown_name] = fmt::format("{}", slowdown);
  return text;
}

std::map<std::string, std::string> test_variables() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (starts_with(text, "ASSAY_TEST_") && equals != std::string::npos)
      variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return variables;
}

TestKnobs read_test_knobs() {
  TestKnobs knobs;
  for (const auto& [name, value] : test_variables()) {
    if (name == corrupt_name) {
      if (value.empty()) throw UsageError(fmt::format("{} is empty; it names a benchmark or a case", name));
      knobs.corrupt = value;
    } else if (name == slowdown_name) {
      knobs.slowdown = slowdown_from(value);
    } else {
      throw UsageError(
          fmt::format("there is no test variable {}{}", name, suggestion(name, {corrupt_name, slowdown_name})));
    }
  }
  return knobs;
}

}  // namespace assay
