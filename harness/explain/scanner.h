// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Some hundred patterns over gigabytes of lines, nearly all of which match none. RE2 says which literals each pattern
// can't do without; lines are searched for those literals only (four bytes at a time through a hash), and patterns
// whose literals are all there are run. Trap: a pattern without a literal of four bytes would never run; a test looks
// for that.
#pragma once

#include <re2/filtered_re2.h>
#include <re2/re2.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay::explain {

class Scanner {
 public:
  // Error for an expression that RE2 refuses.
  explicit Scanner(const std::vector<std::string>& expressions);

  static RE2::Options options();
  // Patterns that may match this line; valid until the next call.
  const std::vector<int>& candidates(std::string_view line);
  const RE2& expression(int pattern) const { return set_.GetRE2(pattern); }
  // Patterns that need no literal, so that candidates() never names them.
  std::vector<int> without_literal() const;

 private:
  struct Window {          // four bytes of an atom, by which it is found
    std::uint32_t atom;    // index of atoms_
    std::uint32_t offset;  // of the window in it
    std::int32_t next;     // index of windows_ with the same hash, -1 for none
    // Up to eight bytes of the atom from the window on, as lowered() makes them: most false alarms end here.
    std::uint64_t bytes, mask;
  };
  void add_windows(std::size_t atom);
  void look(std::string_view line, std::size_t at, std::uint32_t hash);

  static constexpr int shortest_atom = 5;
  re2::FilteredRE2 set_{shortest_atom};
  std::vector<std::string> atoms_;   // in lower case
  std::vector<std::uint64_t> bits_;  // hashes that some window has
  std::vector<std::int32_t> first_;  // by hash: index of windows_
  std::vector<Window> windows_;
  std::vector<std::uint32_t> seen_;  // by atom: the line it was last found in
  std::uint32_t line_ = 0;
  std::vector<int> found_;                              // atoms of the current line
  std::map<std::vector<int>, std::vector<int>> known_;  // atoms -> candidates
  std::vector<int> none_;
};

}  // namespace assay::explain
