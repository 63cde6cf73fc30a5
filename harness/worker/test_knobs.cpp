// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See test_knobs.h.
#include "harness/worker/test_knobs.h"

#include <fmt/format.h>

#include <cstdlib>

#include "harness/base/error.h"

namespace assay {

std::map<std::string, std::string> TestKnobs::as_text() const {
  std::map<std::string, std::string> text;
  if (!corrupt.empty()) text["ASSAY_TEST_CORRUPT"] = corrupt;
  if (slowdown != 1) text["ASSAY_TEST_SLOWDOWN"] = fmt::format("{}", slowdown);
  return text;
}

TestKnobs test_knobs() {
  TestKnobs knobs;
  if (const char* corrupt = std::getenv("ASSAY_TEST_CORRUPT")) knobs.corrupt = corrupt;
  if (const char* slowdown = std::getenv("ASSAY_TEST_SLOWDOWN")) {
    char* end = nullptr;
    knobs.slowdown = std::strtod(slowdown, &end);
    if (end == slowdown || *end != '\0' || !(knobs.slowdown >= 1 && knobs.slowdown <= 100))
      throw Error(fmt::format("ASSAY_TEST_SLOWDOWN is '{}'; it must be a number from 1 to 100", slowdown));
  }
  return knobs;
}

}  // namespace assay
