// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The command line of one verb. Values stay text and each verb checks its own, so that every complaint is one sentence
// of ours: a UsageError (exit 64) with the nearest names suggested. What splits the words (CLI11) is seen by
// arguments.cpp only: it is slow to compile.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace assay {

class Parser {
 public:
  // `positional_hint` ends the sentence about a word that no option takes: ": cases are chosen with --filter".
  explicit Parser(const std::string& verb, const std::string& positional_hint = "");
  ~Parser();
  // Names are "--output" or "-o,--output". The value is set by parse(), and left alone where the option isn't given.
  void text(const std::string& names, std::string& value);                 // at most once
  void texts(const std::string& names, std::vector<std::string>& values);  // may be given again, one value each time
  void lists(const std::string& names, std::vector<std::string>& values);  // the same, or several values behind it
  void flag(const std::string& name, bool& value);
  void positionals(std::vector<std::string>& values);

  // argv[0] is the verb. False when help was asked for (and printed). UsageError for what no option takes, and for an
  // empty word.
  bool parse(int argc, char** argv);
  bool given(const std::string& name) const;

 private:
  struct Words;
  std::unique_ptr<Words> words_;
};

// UsageErrors that name the option.
std::uint64_t whole_number(const std::string& option, const std::string& text, std::uint64_t least, std::uint64_t most);
void check_word(const std::string& option, const std::string& word, const std::vector<std::string>& known);
// "kernel,driver" and "libraries" are three.
std::vector<std::string> comma_list(const std::vector<std::string>& values);

}  // namespace assay
