// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See tables.h.
#include "harness/explain/tables.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cctype>

#include "harness/base/csv_file.h"
#include "harness/base/text.h"

namespace assay::explain {
namespace {

constexpr char pci_pattern[] = "(?P<pci>(?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2})(?:\\.[0-9a-fA-F])?";

const std::vector<std::string> layers = {"hardware", "bus",         "firmware",      "kernel-module", "driver-api",
                                         "runtime",  "library",     "framework",     "container",     "scheduler",
                                         "network",  "application", "configuration", "none",          "unknown"};
const std::vector<std::string> severities = {"none",   "ignore", "application", "restart-process", "reset-gpu",
                                             "reboot", "drain",  "replace",     "escalate",        "fix-config"};
const std::vector<std::string> actions = {
    "none",    "watch",    "restart-process", "fix-application", "reset-gpu", "reboot",     "check-hardware",
    "replace", "escalate", "install",         "upgrade",         "downgrade", "fix-config", "collect"};
const std::vector<std::string> scopes = {"", "gpu", "next", "section", "host"};

bool known(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

void check(const CsvFile& file, const Row& row) {
  if (!known(layers, row.layer)) file.fail("layer", row.layer + " is no layer");
  if (!known(severities, row.severity)) file.fail("severity", row.severity + " is no severity");
  if (!known({"high", "medium", "low"}, row.confidence)) file.fail("confidence", "high, medium or low");
  for (const std::string& word : split(row.action.substr(0, row.action.find(':')), '|'))
    if (!known(actions, word)) file.fail("action", word + " is no action");
}

// The columns that codes and texts share.
Row read_row(const CsvFile& file) {
  Row row;
  row.code = file.text("code");
  for (const std::string& flag : split(file.text("when"), ' '))
    if (!flag.empty()) row.when.push_back(flag);
  row.kind = file.required_text("kind");
  row.weight = static_cast<int>(file.required_number("weight"));
  row.layer = file.required_text("layer");
  row.severity = file.required_text("severity");
  row.action = file.required_text("action");
  row.confidence = file.required_text("confidence");
  row.meaning = file.required_text("meaning");
  row.source = file.required_text("source");
  row.example = file.required_text("example");
  check(file, row);
  return row;
}

const std::vector<std::string> row_columns = {"code",   "when",       "kind",    "weight", "layer",  "severity",
                                              "action", "confidence", "meaning", "source", "example"};

std::vector<std::string> with(std::vector<std::string> columns, const std::vector<std::string>& more) {
  columns.insert(columns.end(), more.begin(), more.end());
  return columns;
}

}  // namespace

Tables Tables::read(const std::filesystem::path& folder) {
  Tables tables;
  CsvFile forms(folder / "forms.csv", {"table", "pattern", "scope", "when", "prefix", "example"});
  while (forms.next())
    tables.forms.push_back({forms.required_text("table"), forms.required_text("pattern"), forms.text("scope"),
                            forms.text("when"), forms.text("prefix"), forms.required_text("example")});
  CsvFile codes(folder / "codes.csv", with({"table", "names"}, row_columns));
  while (codes.next()) {
    Row row = read_row(codes);
    row.table = codes.required_text("table");
    for (const std::string& name : split(codes.text("names"), '|'))
      if (starts_with(name, "~"))
        row.own_names.push_back(lower(name.substr(1)));
      else if (!name.empty())
        row.names.push_back(lower(name));
    tables.codes.push_back(std::move(row));
  }
  CsvFile texts(folder / "texts.csv", with({"pattern", "scope"}, row_columns));
  while (texts.next()) {
    Row row = read_row(texts);
    row.scope = texts.text("scope");
    if (!known(scopes, row.scope)) texts.fail("scope", row.scope + " is no scope");
    row.pattern = texts.required_text("pattern");
    tables.texts.push_back(std::move(row));
  }
  CsvFile formats(folder / "formats.csv", {"format", "pattern", "complete", "example"});
  while (formats.next())
    tables.formats.push_back({formats.required_text("format"), formats.required_text("pattern"),
                              formats.text("complete"), formats.required_text("example")});
  return tables;
}

std::string Tables::expand(const std::string& pattern) const {
  std::string result = pattern;
  for (std::size_t at; (at = result.find("{pci}")) != std::string::npos;) result.replace(at, 5, pci_pattern);
  const std::string opening = "{names:";
  const std::size_t at = result.find(opening);
  if (at == std::string::npos) return result;
  const std::size_t end = result.find('}', at);
  const std::string table = result.substr(at + opening.size(), end - at - opening.size());
  std::vector<std::string> names;
  for (const Row& row : codes)
    if (row.table == table) names.insert(names.end(), row.names.begin(), row.names.end());
  std::sort(names.begin(), names.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  for (std::string& name : names) name = RE2::QuoteMeta(name);
  return result.replace(at, end + 1 - at, join(names, "|"));
}

std::vector<Pattern> Tables::patterns() const {
  std::vector<Pattern> all;
  for (std::size_t i = 0; i < forms.size(); ++i)
    all.push_back({Origin::form, i, expand(forms[i].pattern), forms[i].when == "short"});
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const bool prose = std::find(texts[i].when.begin(), texts[i].when.end(), "short") != texts[i].when.end();
    all.push_back({Origin::text, i, expand(texts[i].pattern), prose});
  }
  for (std::size_t i = 0; i < formats.size(); ++i) {
    all.push_back({Origin::format, i, expand(formats[i].pattern)});
    if (!formats[i].complete.empty()) all.push_back({Origin::complete, i, expand(formats[i].complete)});
  }
  return all;
}

bool holds(const Row& row, const std::set<std::string>& context) {
  return std::all_of(row.when.begin(), row.when.end(), [&](const std::string& flag) {
    return flag.front() == '!' ? context.count(flag.substr(1)) == 0 : context.count(flag) == 1;
  });
}

const Row* Tables::find(std::string_view table, std::string_view code, std::string_view qualifier,
                        const std::set<std::string>& context) const {
  std::vector<std::string> keys;
  if (!qualifier.empty()) keys.push_back(fmt::format("{}/{}", code, lower(qualifier)));
  keys.emplace_back(code);
  if (const std::size_t colon = code.find(':'); colon != std::string_view::npos)
    keys.push_back("*" + std::string(code.substr(colon)));
  if (!qualifier.empty()) keys.push_back("*/" + lower(qualifier));
  keys.emplace_back("*");
  for (const std::string& key : keys)
    for (const Row& row : codes)
      if (row.table == table && row.code == key && holds(row, context)) return &row;
  return nullptr;
}

std::string Tables::code_of_name(std::string_view table, std::string_view text) const {
  const std::string wanted = lower(text);
  std::string code;
  std::size_t longest = 0;
  for (const Row& row : codes) {
    if (row.table != table) continue;
    for (const auto* names : {&row.names, &row.own_names})
      for (const std::string& name : *names)
        if (name.size() > longest && starts_with(wanted, name)) {
          longest = name.size();
          code = row.code;
        }
  }
  return code;
}

}  // namespace assay::explain
