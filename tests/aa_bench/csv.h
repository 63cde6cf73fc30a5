// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The simple CSV files of the public data: a header, no quotes.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay::aa_bench {

struct Csv {
  std::filesystem::path file;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  // An Error names file, line and column.
  const std::string& text(std::size_t row, std::string_view column) const;
  double number(std::size_t row, std::string_view column) const;
};
Csv read_csv(const std::filesystem::path& file);

}  // namespace assay::aa_bench
