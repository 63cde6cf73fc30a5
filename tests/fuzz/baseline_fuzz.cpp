// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A baseline. What was read must be written and read alike.
#include "harness/verdict/baseline.h"
#include "tests/fuzz/fuzz.h"

ASSAY_FUZZ(input) {
  static const assay::ClassTable table = assay::read_class_table(ASSAY_SOURCE_DIR "/results");
  const std::filesystem::path path = assay::fuzz::write("fuzz.csv", input);
  assay::fuzz::read_or_refuse([&] { assay::visit_baseline(path, table, [](auto, const auto*, const auto&) {}); });
  const std::string written = to_csv(assay::read_baseline(path, table));
  assay::fuzz::write("fuzz.csv", written);
  if (to_csv(assay::read_baseline(path, table)) != written) std::abort();
}
