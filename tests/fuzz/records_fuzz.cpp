// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A line of records.jsonl, and the same through the reader of other JSON. What was read must be written and read alike.
#include "harness/parent/record_reader.h"
#include "harness/parent/run_data.h"
#include "tests/fuzz/fuzz.h"

ASSAY_FUZZ(input) {
  static assay::RecordReader reader;
  const assay::Record record = reader.read(input);
  const std::string written = assay::line(assay::to_json(record));
  if (assay::line(assay::to_json(reader.read(written))) != written) std::abort();
}
