// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See explain.h.
#include "harness/explain/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "harness/base/error.h"
#include "harness/base/text.h"

namespace assay::explain {
namespace {

constexpr std::size_t small_input = 1000;  // bytes: what a person typed or pasted (context "short")

std::vector<Rule> of_logs(const std::vector<Pattern>& patterns) {
  std::vector<Rule> rules;
  for (const Pattern& pattern : patterns)
    if (!pattern.prose) rules.push_back({pattern});
  return rules;
}

std::vector<std::string> expressions(const std::vector<Rule>& rules) {
  std::vector<std::string> all;
  for (const Rule& rule : rules) all.push_back(rule.pattern.expression);
  return all;
}

void number_groups(Rule& rule, const RE2& expression) {
  for (const auto& [name, number] : expression.NamedCapturingGroups()) {
    int* slot = name == "code"        ? &rule.code
                : name == "name"      ? &rule.name
                : name == "qualifier" ? &rule.qualifier
                : name == "pci"       ? &rule.pci
                : name == "gpu"       ? &rule.gpu
                : name == "gpus"      ? &rule.gpus
                : name == "rank"      ? &rule.rank
                                      : nullptr;
    if (slot == nullptr) throw Error(fmt::format("the pattern '{}' has a group '{}'", rule.pattern.expression, name));
    *slot = number;
  }
}

// What makes two Xid lines the same but for numbers: all up to the code, and the letters beyond f after it. 0: no Xid.
std::uint64_t shape_of(std::string_view text) {
  constexpr std::string_view opening = "Xid (PCI:";
  const std::size_t begin = text.find(opening);
  if (begin == std::string_view::npos) return 0;
  const std::size_t comma = text.find(',', begin);
  const std::size_t end = comma == std::string_view::npos ? text.size() : comma;
  std::uint64_t hash = 14695981039346656037U;
  for (std::size_t i = begin + opening.size(); i < end; ++i)
    hash = (hash ^ static_cast<unsigned char>(text[i])) * 1099511628211U;
  for (std::size_t i = end; i < text.size(); ++i) {
    const char c = text[i];
    if ((c > 'f' && c <= 'z') || (c >= 'A' && c <= 'Z')) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  return hash | 1U;
}

// What is no text is refused with the command that makes text of it.
void refuse_what_is_no_text(const std::string& input, std::string_view head) {
  struct Magic {
    std::string_view bytes, what, advice;
  };
  static constexpr std::array<Magic, 8> magics = {{
      {"\xFF\xFE", "UTF-16", "iconv -f UTF-16 -t UTF-8 FILE | assay explain -"},
      {"\xFE\xFF", "UTF-16", "iconv -f UTF-16 -t UTF-8 FILE | assay explain -"},
      {"\x1F\x8B", "compressed by gzip", "zcat FILE | assay explain -"},
      {"\x28\xB5\x2F\xFD", "compressed by zstd", "zstdcat FILE | assay explain -"},
      {"\xFD"
       "7zXZ",
       "compressed by xz", "xzcat FILE | assay explain -"},
      {"PK\x03\x04", "a ZIP archive", "unzip -p FILE | assay explain -"},
      {"LPKSHHRH", "a binary journal", "journalctl --file FILE | assay explain -"},
      {"\x7F"
       "ELF",
       "a program", "give the text that it printed"},
  }};
  for (const Magic& magic : magics)
    if (starts_with(head, magic.bytes))
      throw Error(fmt::format("{} is {}, no text: {}", input, magic.what, magic.advice));
  head = head.substr(0, 4096);
  std::size_t control = 0, nul = 0, odd_nul = 0;
  for (std::size_t i = 0; i < head.size(); ++i) {
    const auto c = static_cast<unsigned char>(head[i]);
    if (c == 0) ++nul, odd_nul += i % 2;
    control += (c < 32 && c != '\n' && c != '\r' && c != '\t' && c != 27 && c != 0) ? 1 : 0;
  }
  if (nul > head.size() / 3 && nul < head.size() * 2 / 3 && (odd_nul == nul || odd_nul == 0))
    throw Error(fmt::format("{} is UTF-16, no text: iconv -f UTF-16LE -t UTF-8 FILE | assay explain -", input));
  if (control > (head.size() - nul) / 10)
    throw Error(fmt::format("{} is binary, no text: give a log, or what a program printed", input));
}

std::string_view view(const re2::StringPiece& piece) { return {piece.data(), piece.size()}; }

}  // namespace

std::string normal_pci(std::string_view text) {
  std::string result;
  for (const char c : text.substr(0, text.find('.')))
    result.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  const auto colons = std::count(result.begin(), result.end(), ':');
  if (colons == 1) result = "0000:" + result;
  const std::size_t domain = result.find(':');
  if (colons < 1 || colons > 2 || domain < 4) return {};
  return result.substr(domain - 4);
}

Rules::Rules(const std::filesystem::path& folder)
    : tables(Tables::read(folder)), logs(of_logs(tables.patterns())), scanner(expressions(logs)) {
  for (std::size_t i = 0; i < logs.size(); ++i) number_groups(logs[i], scanner.expression(static_cast<int>(i)));
  for (const Pattern& pattern : tables.patterns())
    if (pattern.prose) prose_patterns_.push_back(pattern);
}

const std::vector<Rules::Prose>& Rules::prose() {
  for (; prose_.size() < prose_patterns_.size();) {
    Prose prose{{prose_patterns_[prose_.size()]}, nullptr};
    prose.expression = std::make_unique<RE2>(prose.rule.pattern.expression, Scanner::options());
    if (!prose.expression->ok()) throw Error(fmt::format("the pattern '{}' is damaged", prose.rule.pattern.expression));
    number_groups(prose.rule, *prose.expression);
    prose_.push_back(std::move(prose));
  }
  return prose_;
}

Reader::Reader(Rules& rules, std::string input)
    : rules_(rules),
      lines_([this](std::string_view text, std::uint64_t number) { line(text, number); }),
      input_(std::move(input)) {}

void Reader::feed(std::string_view bytes) {
  if (bytes_ == 0) refuse_what_is_no_text(input_, bytes);
  bytes_ += bytes.size();
  lines_.feed(bytes);
}

void Reader::line(std::string_view text, std::uint64_t number) {
  blank_ = blank_ && text.find_first_not_of(" \t\r") == std::string_view::npos;
  if (repeated(text, number)) return;
  events_.begin_line();
  for (const int pattern : rules_.scanner.candidates(text)) {
    const Rule& rule = rules_.logs[static_cast<std::size_t>(pattern)];
    if (rule.pattern.origin == Origin::format && format_ >= 0) continue;
    matched(rule, rules_.scanner.expression(pattern), text, number);
  }
  if (shape_ != 0 && storm_.size() < Events::most && events_.all_kept()) storm_[shape_] = events_.touched();
  if (bytes_ <= small_input) typed_.emplace_back(number, text);
  if (!complains_ && bytes_ < 1024 * 1024) notice_words(text);
}

// Is it an Xid line as there was one before, but for numbers that don't count? Then only its events are counted.
bool Reader::repeated(std::string_view text, std::uint64_t number) {
  shape_ = shape_of(text);
  if (shape_ == 0) return false;
  const auto known = storm_.find(shape_);
  if (known == storm_.end()) return false;
  events_.again(known->second, number);
  return true;
}

// Only for inputs of which nothing is known: is there a complaint that no rule understood?
void Reader::notice_words(std::string_view text) {
  static const RE2 words(
      "(?i)error|fail|fault|fatal|cannot|can't|unable|hang|hung|crash|abort|died|lost|slow|unknown|"
      "invalid|timeout|timed out|denied|refused|xid|wrong|missing|not found|never|False");
  complains_ = RE2::PartialMatch({text.data(), text.size()}, words);
}

void Reader::matched(const Rule& rule, const RE2& expression, std::string_view text, std::uint64_t number) {
  captured_.assign(static_cast<std::size_t>(expression.NumberOfCapturingGroups()) + 1, {});
  if (!expression.Match({text.data(), text.size()}, 0, text.size(), RE2::UNANCHORED, captured_.data(),
                        static_cast<int>(captured_.size())))
    return;
  const auto group = [&](int index) {
    return index == 0 ? std::string_view() : view(captured_[static_cast<std::size_t>(index)]);
  };
  Event event;
  event.line = number;
  event.qualifier = group(rule.qualifier);
  if (const std::string pci = normal_pci(group(rule.pci)); !pci.empty())
    event.device = pci;
  else if (!group(rule.gpu).empty())
    event.device = fmt::format("gpu {}", group(rule.gpu));
  else if (!group(rule.rank).empty())
    event.device = fmt::format("rank {}", group(rule.rank));

  const Pattern& source = rule.pattern;
  switch (source.origin) {
    case Origin::format:
      if (format_ < 0) format_ = static_cast<int>(source.index);
      break;
    case Origin::complete:
      complete_ = complete_ || format_ == static_cast<int>(source.index);
      break;
    case Origin::text: {
      const Row& row = rules_.tables.texts[source.index];
      if (row.kind == "context") return events_.context(row.code);
      event.text = static_cast<int>(source.index);
      event.scope = row.scope;
      event.qualifier.clear();
      events_.add(std::move(event), text);
      break;
    }
    case Origin::form: {
      event.code = group(rule.code);
      const Form& form = rules_.tables.forms[source.index];
      if (!group(rule.gpus).empty())
        for (const std::string& gpu : split(group(rule.gpus), ',')) events_.mention("gpu " + trim(gpu), number, false);
      else
        this->form(form, event, group(rule.name), text);
      break;
    }
  }
}

void Reader::form(const Form& form, const Event& base, std::string_view name, std::string_view text) {
  if (form.table == "device") {
    if (!base.device.empty()) events_.mention(base.device, base.line, form.scope == "section");
    return;
  }
  if (form.table == "section") return events_.section(base.device);
  if (form.table == "elsewhere") return events_.section("");  // the section of a device that is no GPU
  Event event = base;
  event.table = form.table;
  event.scope = form.scope;
  if (!event.code.empty()) event.printed = form.prefix + event.code;
  event.code = event.printed;
  if (!name.empty()) {
    const std::string code = rules_.tables.code_of_name(form.table, name);
    if (code.empty() && event.code.empty()) return;  // words that mean nothing here
    if (!code.empty()) event.code = code;
  }
  events_.add(std::move(event), text);
}

void Reader::read_prose() {
  if (bytes_ > small_input || format_ >= 0) return;
  events_.context("short");
  for (const Rules::Prose& prose : rules_.prose())
    for (const auto& [number, text] : typed_) matched(prose.rule, *prose.expression, text, number);
}

Explanation Reader::finish() {
  lines_.finish();
  read_prose();
  events_.finish();
  return so_far();
}

Explanation Reader::so_far() {
  Explanation result;
  result.input = input_;
  result.bytes = bytes_;
  result.lines = lines_.number();
  if (format_ >= 0) {
    const Format& format = rules_.tables.formats[static_cast<std::size_t>(format_)];
    result.format = format.name;
    if (format.complete.empty()) complete_ = true;
  }
  if (lines_.split() > 0)
    result.notes.push_back(fmt::format("{} longer than 64 KiB: read in pieces", counted(lines_.split(), "line")));
  if (events_.dropped() > 0)
    result.notes.push_back(fmt::format("{} different events were too many to keep", events_.dropped()));
  result.diagnosis = diagnose(rules_.tables, events_, {result.format, complete_, complains_, blank_});
  return result;
}

}  // namespace assay::explain
