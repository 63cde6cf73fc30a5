// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See csv.h.
#include "tests/aa_bench/csv.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/parse.h"
#include "harness/base/text.h"

namespace assay::aa_bench {

const std::string& Csv::text(std::size_t row, std::string_view column) const {
  const auto at = std::find(header.begin(), header.end(), column);
  if (at == header.end()) throw Error(fmt::format("{} has no column {}", file.string(), column));
  return rows.at(row)[static_cast<std::size_t>(at - header.begin())];
}

double Csv::number(std::size_t row, std::string_view column) const {
  const std::optional<double> value = only_number<double>(text(row, column));
  if (!value)
    throw Error(fmt::format("{}, row {}, column {}: '{}' is no number", file.string(), row + 1, column,
                            plain(text(row, column))));
  return *value;
}

Csv read_csv(const std::filesystem::path& file) {
  Csv csv;
  csv.file = file;
  for (const std::string& line : split(read_file(file), '\n')) {
    if (trim(line).empty()) continue;
    std::vector<std::string> fields = split(trim(line), ',');
    if (csv.header.empty())
      csv.header = std::move(fields);
    else if (fields.size() == csv.header.size())
      csv.rows.push_back(std::move(fields));
    else
      throw Error(fmt::format("{}, row {}: {} fields, the header has {}", file.string(), csv.rows.size() + 1,
                              fields.size(), csv.header.size()));
  }
  return csv;
}

}  // namespace assay::aa_bench
