// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See scanner.h.
#include "harness/explain/scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "harness/base/error.h"

namespace assay::explain {
namespace {

RE2::Options options() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(RE2::Options::EncodingLatin1);  // logs hold bytes that are no UTF-8, and . must match them
  return options;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

// How often four bytes of English and of logs turn up, roughly: the sum of how common each is.
int commonness(std::string_view window) {
  constexpr std::string_view by_frequency = " etaonirs0dlhu1cm2pf.g,:3-vb_4/58w679=yk()[]";
  int sum = 0;
  for (const char c : window) {
    const std::size_t rank = by_frequency.find(c);
    sum += rank == std::string_view::npos ? 0 : static_cast<int>(by_frequency.size() - rank);
  }
  return sum;
}

}  // namespace

Scanner::Scanner(const std::vector<std::string>& expressions)
    : bits_((std::size_t{1} << hash_bits) / 64), first_(std::size_t{1} << hash_bits, -1) {
  for (const std::string& expression : expressions) {
    int id = 0;
    const RE2::ErrorCode problem = set_.Add(expression, options(), &id);
    if (problem != RE2::NoError) throw Error(fmt::format("the pattern '{}' is damaged", expression));
  }
  set_.Compile(&atoms_);
  seen_.resize(atoms_.size());
  for (std::size_t i = 0; i < atoms_.size(); ++i) add_window(i);
}

// 0x20 makes letters lower case and leaves digits and blanks alone. What else it merges is told apart by look().
std::uint32_t Scanner::hash(const char* bytes) {
  std::uint32_t word;
  std::memcpy(&word, bytes, sizeof word);
  return ((word | 0x20202020U) * 0x9E3779B1U) >> (32 - hash_bits);
}

void Scanner::add_window(std::size_t atom) {
  const std::string& text = atoms_[atom];
  std::size_t rarest = 0;
  for (std::size_t i = 1; i + 4 <= text.size(); ++i)
    if (commonness(std::string_view(text).substr(i, 4)) < commonness(std::string_view(text).substr(rarest, 4)))
      rarest = i;
  const std::uint32_t key = hash(text.data() + rarest);
  bits_[key / 64] |= std::uint64_t{1} << (key % 64);
  windows_.push_back({static_cast<std::uint32_t>(atom), static_cast<std::uint32_t>(rarest), first_[key]});
  first_[key] = static_cast<std::int32_t>(windows_.size() - 1);
}

void Scanner::look(std::string_view line, std::size_t at, std::uint32_t key) {
  for (std::int32_t i = first_[key]; i >= 0; i = windows_[static_cast<std::size_t>(i)].next) {
    const Window& window = windows_[static_cast<std::size_t>(i)];
    const std::string& atom = atoms_[window.atom];
    if (seen_[window.atom] == line_ || at < window.offset || at - window.offset + atom.size() > line.size()) continue;
    const char* begin = line.data() + at - window.offset;
    if (!std::equal(atom.begin(), atom.end(), begin, [](char a, char b) { return a == lower(b); })) continue;
    seen_[window.atom] = line_;
    found_.push_back(static_cast<int>(window.atom));
  }
}

const std::vector<int>& Scanner::candidates(std::string_view line) {
  ++line_;
  found_.clear();
  for (std::size_t i = 0; i + 4 <= line.size(); ++i) {
    const std::uint32_t key = hash(line.data() + i);
    if ((bits_[key / 64] >> (key % 64)) & 1U) look(line, i, key);
  }
  if (found_.empty()) return none_;
  std::sort(found_.begin(), found_.end());
  const auto known = known_.find(found_);
  if (known != known_.end()) return known->second;
  if (known_.size() > 10000) known_.clear();  // the input can make up combinations without end
  std::vector<int> patterns;
  set_.AllPotentials(found_, &patterns);
  std::sort(patterns.begin(), patterns.end());
  return known_.emplace(found_, std::move(patterns)).first->second;
}

std::vector<int> Scanner::without_literal() const {
  std::vector<int> patterns;
  set_.AllPotentials({}, &patterns);
  return patterns;
}

}  // namespace assay::explain
