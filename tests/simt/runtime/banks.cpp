// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "banks.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "block.h"

namespace assay::simt {
namespace {

constexpr std::size_t bank_bytes = 4, banks = 32;

struct Access {
  unsigned lane;
  std::size_t index, bytes;
};

struct Counts {
  std::uint64_t accesses = 0, wavefronts = 0, least = 0;
};

// One place of the machine code.
struct Site {
  std::unordered_map<unsigned, std::uint64_t> turn;                        // by thread: which access is its next
  std::map<std::pair<unsigned, std::uint64_t>, std::vector<Access>> open;  // by warp and turn
};

struct Counter {
  bool on = false;
  const void* kernel = nullptr;
  std::unordered_map<const void*, Site> sites;
  std::map<std::pair<const void*, const void*>, Counts> counts;  // by kernel and code
};

Counter& counter() {
  static Counter one;
  return one;
}

// The lanes [first, last) at once.
void count_part(const std::vector<Access>& lanes, unsigned first, unsigned last, Counts* counts) {
  std::array<std::vector<std::size_t>, banks> words;
  bool any = false;
  for (const Access& a : lanes) {
    if (a.lane < first || a.lane >= last) continue;
    any = true;
    for (std::size_t word = a.index / bank_bytes; word <= (a.index + a.bytes - 1) / bank_bytes; ++word) {
      std::vector<std::size_t>& of_bank = words[word % banks];
      if (std::find(of_bank.begin(), of_bank.end(), word) == of_bank.end()) of_bank.push_back(word);
    }
  }
  if (!any) return;
  std::size_t most = 0;
  for (const auto& of_bank : words) most = std::max(most, of_bank.size());
  counts->wavefronts += most;
  ++counts->least;
}

void count_warp(const std::vector<Access>& lanes, Counts* counts) {
  ++counts->accesses;
  const std::size_t bytes = std::max_element(lanes.begin(), lanes.end(), [](const Access& a, const Access& b) {
                              return a.bytes < b.bytes;
                            })->bytes;
  const unsigned parts = bytes <= bank_bytes ? 1 : bytes <= 2 * bank_bytes ? 2 : 4;
  for (unsigned part = 0; part < parts; ++part) {
    count_part(lanes, part * warp_size / parts, (part + 1) * warp_size / parts, counts);
  }
}

}  // namespace

bool counts_banks() { return counter().on; }

void count_banks(unsigned thread, std::size_t index, std::size_t bytes, const void* code) {
  Counter& c = counter();
  Site& site = c.sites[code];
  const std::pair<unsigned, std::uint64_t> key{thread / warp_size, site.turn[thread]++};
  std::vector<Access>& lanes = site.open[key];
  lanes.push_back({thread % warp_size, index, bytes});
  if (lanes.size() < warp_size) return;
  count_warp(lanes, &c.counts[{c.kernel, code}]);
  site.open.erase(key);
}

void end_counted_blocks() {
  Counter& c = counter();
  if (!c.on) return;
  for (const auto& [code, site] : c.sites) {
    for (const auto& [key, lanes] : site.open) count_warp(lanes, &c.counts[{c.kernel, code}]);
  }
  c.sites.clear();
}

void begin_counted_kernel(const void* kernel) { counter().kernel = kernel; }

void count_bank_conflicts(bool on) {
  counter() = {};
  counter().on = on;
}

std::vector<BankConflicts> bank_conflicts() {
  std::map<std::pair<std::string, std::string>, Counts> by_line;
  for (const auto& [key, counts] : counter().counts) {
    const auto* call = static_cast<const char*>(key.second) - 1;  // code is where the call returns to
    Counts& line = by_line[{source_of(key.first).function, source_of(call).place}];
    line.accesses += counts.accesses;
    line.wavefronts += counts.wavefronts;
    line.least += counts.least;
  }
  std::vector<BankConflicts> result;
  for (const auto& [key, counts] : by_line) {
    result.push_back({key.first, key.second, counts.accesses, counts.wavefronts, counts.wavefronts - counts.least});
  }
  return result;
}

}  // namespace assay::simt
