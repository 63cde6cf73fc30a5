// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What a worker says: its manifest, then lines of its protocol.
#include "harness/manifest.h"
#include "harness/parent/messages.h"
#include "tests/fuzz/fuzz.h"

ASSAY_FUZZ(input) {
  const std::vector<std::string> parts = assay::fuzz::parts_of(input);
  const std::filesystem::path path = assay::fuzz::write("manifest.json", parts[0]);
  assay::fuzz::read_or_refuse([&] { assay::read_manifest(path); });
  for (std::size_t i = 1; i < parts.size(); ++i) assay::fuzz::read_or_refuse([&] { assay::parse_message(parts[i]); });
}
