// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What `assay explain` knows, as data: four CSV files in results/explain/, read only when the verb runs. A new rule is
// a row with its example; a test runs every example.
//
//   forms.csv    how a line looks that carries a number or a name (one row a form), and the table to look it up in
//   codes.csv    what the numbers and names of each table mean
//   texts.csv    lines that mean one thing, without a number; also context ("this is a container") and noise
//   formats.csv  which program wrote the input, so that "nothing found" can be said of something that was understood
//
// Patterns are RE2. {pci} stands for a PCI address (group pci), {names:TABLE} for all names of a table that may be
// recognised anywhere. Groups that count: code, name, qualifier, pci, gpu, gpus, rank.
#pragma once

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::explain {

// What a row says of a fault. The words are those of results/schema/explain.v1.json.
struct Row {
  std::string table;                   // of codes.csv; "" for a text
  std::string code;                    // as it is shown. Texts: "*" takes the number that stands beside it
  std::vector<std::string> names;      // recognised wherever they stand
  std::vector<std::string> own_names;  // recognised only where a form captures a name
  std::string pattern;                 // of texts
  std::vector<std::string> when;       // context that must be there; "!x": must not be
  std::string kind, scope, layer, severity, action, confidence, meaning, source, example;
  // Which of several explanations is the cause: 9 says why in its words, 7 hardware, 5 a program's fault, 3 what a
  // library says after something else failed, 2 follows from others, 0 is no fault.
  int weight = 0;
};

struct Form {
  std::string table, pattern, scope, when, prefix, example;
};

struct Format {
  std::string name, pattern, complete, example;
};

// Where a pattern of the scanner comes from.
enum class Origin { form, text, format, complete };
struct Pattern {
  Origin origin;
  std::size_t index;  // in forms, texts or formats
  std::string expression;
  bool prose = false;  // only for what a person typed ("short" among its conditions)
};

class Tables {
 public:
  // Error (exit 3) with file and line for a table that is damaged.
  static Tables read(const std::filesystem::path& folder);

  std::vector<Form> forms;
  std::vector<Row> codes, texts;
  std::vector<Format> formats;

  std::vector<Pattern> patterns() const;
  // The row of a table for a code as it was captured: exact, with its qualifier, then the table's defaults ("*:0x65",
  // "*/fatal", "*"). Rows whose context isn't there are passed over. nullptr: the table has no default.
  const Row* find(std::string_view table, std::string_view code, std::string_view qualifier,
                  const std::set<std::string>& context) const;
  // The code whose name `text` begins with, in any case; the longest name wins. "" for none.
  std::string code_of_name(std::string_view table, std::string_view text) const;

 private:
  std::string expand(const std::string& pattern) const;
};

// Does the context have all that the row asks for?
bool holds(const Row& row, const std::set<std::string>& context);

}  // namespace assay::explain
