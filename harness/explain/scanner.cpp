// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See scanner.h.
#include "harness/explain/scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "harness/base/error.h"

namespace assay::explain {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

// Little-endian machines have the first byte lowest, as the shifts of candidates() expect.
static_assert(std::endian::native == std::endian::little);
template <class T>
T load(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

// 0x20 makes letters lower case and leaves digits and blanks alone. What else it merges is told apart in the end.
std::uint64_t lowered(std::uint64_t bytes) { return bytes | 0x2020202020202020U; }

// The same for upper and lower case, as lowered() is. Not a member: -fPIC would keep it from being inlined.
constexpr int hash_bits = 16;
std::uint32_t hash(std::uint32_t window) { return ((window | 0x20202020U) * 0x9E3779B1U) >> (32 - hash_bits); }

// How often some bytes of English and of logs turn up, roughly: the sum of how common each is.
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

RE2::Options Scanner::options() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(RE2::Options::EncodingLatin1);  // logs hold bytes that are no UTF-8, and . must match them
  return options;
}

Scanner::Scanner(const std::vector<std::string>& expressions)
    : bits_((std::size_t{1} << hash_bits) / 64), first_(std::size_t{1} << hash_bits, -1) {
  for (const std::string& expression : expressions) {
    int id = 0;
    const RE2::ErrorCode problem = set_.Add(expression, options(), &id);
    if (problem != RE2::NoError) throw Error(fmt::format("the pattern '{}' is damaged", expression));
  }
  set_.Compile(&atoms_);
  seen_.resize(atoms_.size());
  for (std::size_t i = 0; i < atoms_.size(); ++i) add_windows(i);
}

// The two neighbouring windows that are rarest: one of them begins at an even place of a line.
void Scanner::add_windows(std::size_t atom) {
  const std::string_view text = atoms_[atom];
  const auto commoner = [&](std::size_t at) {
    return std::max(commonness(text.substr(at, 4)), commonness(text.substr(at + 1, 4)));
  };
  std::size_t rarest = 0;
  for (std::size_t i = 1; i + shortest_atom <= text.size(); ++i)
    if (commoner(i) < commoner(rarest)) rarest = i;
  for (const std::size_t offset : {rarest, rarest + 1}) {
    const std::uint32_t key = hash(load<std::uint32_t>(text.data() + offset));
    bits_[key / 64] |= std::uint64_t{1} << (key % 64);
    char next[8] = {};
    const std::size_t known = std::min(sizeof next, text.size() - offset);
    std::memcpy(next, text.data() + offset, known);
    const std::uint64_t mask = known == sizeof next ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * known)) - 1;
    windows_.push_back({static_cast<std::uint32_t>(atom), static_cast<std::uint32_t>(offset), first_[key],
                        lowered(load<std::uint64_t>(next)) & mask, mask});
    first_[key] = static_cast<std::int32_t>(windows_.size() - 1);
  }
}

void Scanner::look(std::string_view line, std::size_t at, std::uint32_t key) {
  const bool inside = at + 8 <= line.size();
  const std::uint64_t bytes = inside ? lowered(load<std::uint64_t>(line.data() + at)) : 0;
  for (std::int32_t i = first_[key]; i >= 0; i = windows_[static_cast<std::size_t>(i)].next) {
    const Window& window = windows_[static_cast<std::size_t>(i)];
    if (inside && (bytes & window.mask) != window.bytes) continue;
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
  const auto known_window = [bits = bits_.data()](std::uint32_t key) {
    return ((bits[key / 64] >> (key % 64)) & 1U) != 0;
  };
  std::size_t i = 0;
  for (; i + 8 <= line.size(); i += 4) {
    const auto bytes = load<std::uint64_t>(line.data() + i);
    const std::uint32_t first = hash(static_cast<std::uint32_t>(bytes));
    const std::uint32_t second = hash(static_cast<std::uint32_t>(bytes >> 16));
    if (known_window(first)) look(line, i, first);
    if (known_window(second)) look(line, i + 2, second);
  }
  for (; i + 4 <= line.size(); i += 2) {
    const std::uint32_t key = hash(load<std::uint32_t>(line.data() + i));
    if (known_window(key)) look(line, i, key);
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
