// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What another tool wrote; ASSAY_FORMAT is the importer. Two files where the input is in two parts.
#include "harness/import/import.h"
#include "tests/fuzz/fuzz.h"

ASSAY_FUZZ(input) {
  std::vector<std::filesystem::path> files;
  for (const std::string& part : assay::fuzz::parts_of(input)) {
    files.push_back(assay::fuzz::write("part" + std::to_string(files.size()), part));
    if (files.size() == 3) break;
  }
  assay::fuzz::read_or_refuse([&] { assay::import_files(files); });  // by its content, perhaps another one
  const assay::ImportedRun run = assay::import_files(files, ASSAY_FORMAT);
  assay::line(assay::to_json(run.plan));
  for (const assay::Record& record : run.records) assay::line(assay::to_json(record));
}
