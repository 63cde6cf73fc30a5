// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// JSON text to Record, strictly: a missing field, an unknown one, a wrong type, a negative time or a word that isn't of
// its list is an error that names the field. Names of cases and devices are judged by who knows the plan (coverage.h).
// The only reader of records, for messages of workers and for files alike; 100,000 records of 4 kB take about a second,
// so the parser and its memory are kept between records.
#pragma once

#include <simdjson.h>

#include <string_view>

#include "harness/base/error.h"
#include "harness/record.h"

namespace assay {

// Text that isn't a record. A foreign schema version is a plain Error: such text is not damaged.
class DamagedRecord : public Error {
 public:
  using Error::Error;
};

class RecordReader {
 public:
  // `text` is one JSON object, and at least simdjson::SIMDJSON_PADDING bytes behind its end can be read.
  Record read_padded(std::string_view text);
  Record read(std::string_view text);

 private:
  simdjson::dom::parser parser_;
};

}  // namespace assay
