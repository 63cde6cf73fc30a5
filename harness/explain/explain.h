// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// `assay explain` as a library: text in, findings out. Reads once, in constant memory.
//
//   Rules rules(results_folder() / "explain");
//   Reader reader(rules, "dmesg.txt");
//   reader.feed(bytes); ...
//   Explanation explanation = reader.finish();
//
// What can't be text (UTF-16, compressed files, programs) is an Error that says how to make text of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "harness/explain/diagnosis.h"
#include "harness/explain/events.h"
#include "harness/explain/lines.h"
#include "harness/explain/scanner.h"
#include "harness/explain/tables.h"

namespace assay::explain {

// One pattern of the tables, compiled.
struct Rule {
  Pattern pattern;
  // Number of each named group, 0 for none.
  int code = 0, name = 0, qualifier = 0, pci = 0, gpu = 0, gpus = 0, rank = 0;
};

// The tables, and the patterns made of them. Making it takes some ten milliseconds.
class Rules {
 public:
  // Error (exit 3) for a table that is damaged.
  explicit Rules(const std::filesystem::path& folder);
  Tables tables;
  std::vector<Rule> logs;  // tried on every line
  Scanner scanner;         // of the same, in the same order
  // Words of people: they need no literal and would find too much in logs. Compiled when they are first asked for.
  struct Prose {
    Rule rule;
    std::unique_ptr<RE2> expression;
  };
  const std::vector<Prose>& prose();

 private:
  std::vector<Pattern> prose_patterns_;
  std::vector<Prose> prose_;
};

struct Explanation {
  std::string input;  // as it is called
  std::uint64_t bytes = 0, lines = 0;
  std::string format;  // "" if not recognised
  std::vector<std::string> notes;
  Diagnosis diagnosis;
};

class Reader {
 public:
  Reader(Rules& rules, std::string input);
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  void feed(std::string_view bytes);
  Explanation finish();  // the end of the input
  Explanation so_far();  // what is known now; more may be fed
  const Events& events() const { return events_; }

 private:
  void line(std::string_view text, std::uint64_t number);
  void matched(const Rule& rule, const RE2& expression, std::string_view text, std::uint64_t number);
  bool repeated(std::string_view text, std::uint64_t number);
  void read_prose();
  void form(const Form& form, const Event& base, std::string_view name, std::string_view text);
  void notice_words(std::string_view text);

  Rules& rules_;
  Lines lines_;
  Events events_;
  std::string input_;
  std::uint64_t bytes_ = 0, nul_ = 0;
  int format_ = -1;
  bool complete_ = false, complains_ = false, blank_ = true;
  std::vector<re2::StringPiece> captured_;
  std::vector<std::pair<std::uint64_t, std::string>> typed_;  // the lines of a small input
  // A storm: what an Xid line of this device, code and shape led to when it was read in full.
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> storm_;
  std::uint64_t shape_ = 0;  // of the current line, 0: no Xid line
};

// "0000:3b:00" of any way to write an address ("00000000:3B:00.0", "3b:00.0"); "" if it is none.
std::string normal_pci(std::string_view text);

}  // namespace assay::explain
