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

std::vector<std::string> expressions(const std::vector<Pattern>& patterns) {
  std::vector<std::string> all;
  for (const Pattern& pattern : patterns) all.push_back(pattern.expression);
  return all;
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
    : tables(Tables::read(folder)), patterns(tables.patterns()), scanner(expressions(patterns)) {
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    Groups found;
    for (const auto& [name, number] : scanner.expression(static_cast<int>(i)).NamedCapturingGroups()) {
      int* slot = name == "code"        ? &found.code
                  : name == "name"      ? &found.name
                  : name == "qualifier" ? &found.qualifier
                  : name == "pci"       ? &found.pci
                  : name == "gpu"       ? &found.gpu
                  : name == "gpus"      ? &found.gpus
                  : name == "rank"      ? &found.rank
                                        : nullptr;
      if (slot == nullptr) throw Error(fmt::format("the pattern '{}' has a group '{}'", patterns[i].expression, name));
      *slot = number;
    }
    groups.push_back(found);
  }
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
  for (const int pattern : rules_.scanner.candidates(text)) matched(static_cast<std::size_t>(pattern), text, number);
  if (!complains_ && bytes_ < 1024 * 1024) notice_words(text);
}

// Only for inputs of which nothing is known: is there a complaint that no rule understood?
void Reader::notice_words(std::string_view text) {
  static const RE2 words(
      "(?i)error|fail|fault|fatal|cannot|can't|unable|hang|hung|crash|abort|died|lost|slow|unknown|"
      "invalid|timeout|timed out|denied|refused|xid|wrong|missing|not found|never|False");
  complains_ = RE2::PartialMatch({text.data(), text.size()}, words);
}

void Reader::matched(std::size_t pattern, std::string_view text, std::uint64_t number) {
  const RE2& expression = rules_.scanner.expression(static_cast<int>(pattern));
  captured_.assign(static_cast<std::size_t>(expression.NumberOfCapturingGroups()) + 1, {});
  if (!expression.Match({text.data(), text.size()}, 0, text.size(), RE2::UNANCHORED, captured_.data(),
                        static_cast<int>(captured_.size())))
    return;
  const Rules::Groups& groups = rules_.groups[pattern];
  const auto group = [&](int index) {
    return index == 0 ? std::string_view() : view(captured_[static_cast<std::size_t>(index)]);
  };
  Event event;
  event.line = number;
  event.qualifier = group(groups.qualifier);
  if (const std::string pci = normal_pci(group(groups.pci)); !pci.empty())
    event.device = pci;
  else if (!group(groups.gpu).empty())
    event.device = fmt::format("gpu {}", group(groups.gpu));
  else if (!group(groups.rank).empty())
    event.device = fmt::format("rank {}", group(groups.rank));

  const Pattern& source = rules_.patterns[pattern];
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
      event.code = group(groups.code);
      const Form& form = rules_.tables.forms[source.index];
      if (!group(groups.gpus).empty())
        for (const std::string& gpu : split(group(groups.gpus), ','))
          events_.mention("gpu " + trim(gpu), number, false);
      else
        this->form(form, event, group(groups.name), text);
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

Explanation Reader::finish() {
  lines_.finish();
  events_.finish();
  return so_far();
}

Explanation Reader::so_far() {
  if (bytes_ <= small_input && format_ < 0) events_.context("short");
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
  result.diagnosis = diagnose(rules_.tables, events_, {result.format, complete_, complains_});
  return result;
}

}  // namespace assay::explain
