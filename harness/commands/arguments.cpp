// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See arguments.h. Traps of CLI11: an option that takes several values eats what follows it, so repeatable options take
// one value each time (allow_extra_args(false)), but where a verb has no other words; a value that begins with '-' is
// taken for an option: write
// --filter=-x.
#include "harness/commands/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <limits>

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/commands/verbs.h"

namespace assay {

struct Parser::Words {
  Words(const std::string& name, const std::string& hint)
      : verb(name), positional_hint(hint), app("", "assay " + name) {}

  void add(const std::string& names, CLI::Option* option) {
    option->multi_option_policy(option->get_expected_max() > 1 ? CLI::MultiOptionPolicy::TakeAll
                                                               : CLI::MultiOptionPolicy::Throw);
    for (const std::string& name : split(names, ',')) known.push_back(name);
  }
  [[noreturn]] void unexpected(const std::string& text) const {
    const std::string name = text.substr(0, text.find('='));
    if (starts_with(name, "-"))
      throw UsageError(fmt::format("{} has no option '{}'{}", verb, name, suggestion(name, known)));
    throw UsageError(fmt::format("'{}' was not expected{}; see `assay help {}`", text, positional_hint, verb));
  }

  // An unset variable of a shell is a word, too, and means nothing that anybody wants.
  void refuse_empty_words() const {
    for (const std::string& name : known)
      for (const std::string& value : app[name]->results())
        if (value.empty())
          throw UsageError(
              fmt::format("{} needs a value and got an empty word, as of a variable that isn't set", name));
    if (positionals != nullptr && std::find(positionals->begin(), positionals->end(), "") != positionals->end())
      throw UsageError(
          fmt::format("{} got an empty word, as of a variable that isn't set; see `assay help {}`", verb, verb));
  }

  std::string verb, positional_hint;
  CLI::App app;
  const std::vector<std::string>* positionals = nullptr;
  bool help = false;
  std::vector<std::string> known;
};

Parser::Parser(const std::string& verb, const std::string& positional_hint)
    : words_(std::make_unique<Words>(verb, positional_hint)) {
  words_->app.set_help_flag();
  words_->app.add_flag("-h,--help", words_->help);
}
Parser::~Parser() = default;

void Parser::text(const std::string& names, std::string& value) {
  words_->add(names, words_->app.add_option(names, value));
}
void Parser::texts(const std::string& names, std::vector<std::string>& values) {
  words_->add(names, words_->app.add_option(names, values)->allow_extra_args(false));
}
void Parser::lists(const std::string& names, std::vector<std::string>& values) {
  words_->add(names, words_->app.add_option(names, values));
}
void Parser::flag(const std::string& name, bool& value) { words_->add(name, words_->app.add_flag(name, value)); }
void Parser::positionals(std::vector<std::string>& values) {
  words_->app.add_option("things", values);
  words_->positionals = &values;
}

bool Parser::parse(int argc, char** argv) {
  try {
    words_->app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    const std::vector<std::string> rest = words_->app.remaining();
    words_->unexpected(!rest.empty() ? rest.front() : argc > 1 ? argv[1] : "");
  } catch (const CLI::ArgumentMismatch& problem) {
    // "--rules: At Most 1 required but received 2"
    const std::string text = problem.what();
    if (text.find("At Most 1 required") == std::string::npos)
      throw UsageError(fmt::format("{}; see `assay help {}`", trim(text), words_->verb));
    throw UsageError(fmt::format("{} was given twice, and takes one value", text.substr(0, text.find(':'))));
  } catch (const CLI::ParseError& problem) {
    std::string text = problem.what();
    std::replace(text.begin(), text.end(), '\n', ' ');
    throw UsageError(fmt::format("{}; see `assay help {}`", trim(text), words_->verb));
  }
  if (!words_->help) words_->refuse_empty_words();
  if (words_->help) std::fputs(help_text(words_->verb).c_str(), stdout);
  return !words_->help;
}

bool Parser::given(const std::string& name) const { return words_->app.count(name) > 0; }

std::uint64_t whole_number(const std::string& option, const std::string& text, std::uint64_t least,
                           std::uint64_t most) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (text.empty() || result.ec != std::errc() || result.ptr != end || value < least || value > most)
    throw UsageError(fmt::format("{} '{}' must be a whole number {}", option, text,
                                 most == std::numeric_limits<std::uint64_t>::max()
                                     ? fmt::format("from {}", least)
                                     : fmt::format("from {} to {}", least, most)));
  return value;
}

void check_word(const std::string& option, const std::string& word, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), word) == known.end())
    throw UsageError(fmt::format("{} '{}' is not known{}", option, word, suggestion(word, known)));
}

std::vector<std::string> comma_list(const std::vector<std::string>& values) {
  std::vector<std::string> words;
  for (const std::string& value : values)
    for (const std::string& word : split(value, ',')) words.push_back(trim(word));
  return words;
}

}  // namespace assay
