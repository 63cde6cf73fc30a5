// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See pci_config.h. Extended capabilities are a chain from 0x100 on; that of ACS is 0x000d, its control word 6 behind.
#include "harness/doctor/pci_config.h"

#include <algorithm>

namespace assay::doctor {
namespace {

constexpr std::size_t whole = 4096, chain = 0x100, control = 6;
constexpr unsigned acs = 0x000d, redirect = 0x000c;  // of requests or completions between peers

}  // namespace

bool all_ones(const std::string& config) {
  return config.size() >= 4 && std::all_of(config.begin(), config.begin() + 4, [](char c) { return c == '\xff'; });
}

std::optional<bool> redirects(const std::string& config) {
  if (config.size() < whole) return std::nullopt;
  const auto word_at = [&](std::size_t at) {
    return static_cast<unsigned>(static_cast<unsigned char>(config[at])) |
           static_cast<unsigned>(static_cast<unsigned char>(config[at + 1])) << 8;
  };
  std::size_t at = chain;
  for (int most = 0; most < 100 && at >= chain && at + 8 <= config.size(); ++most) {
    if (word_at(at) == acs) return (word_at(at + control) & redirect) != 0;
    at = word_at(at + 2) >> 4;
  }
  return false;
}

std::string config_that_says(std::size_t bytes, bool ones, bool acs_redirects) {
  std::string config(std::min(bytes, whole), '\0');
  if (ones) std::fill_n(config.begin(), std::min<std::size_t>(config.size(), 4), '\xff');
  if (acs_redirects && config.size() == whole) {
    config[chain] = static_cast<char>(acs);
    config[chain + control] = static_cast<char>(redirect);
  }
  return config;
}

}  // namespace assay::doctor
