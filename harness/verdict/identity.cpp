// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See identity.h. Bounds: a multiprocessor that was never seen isn't there; a pipe of half the lanes shows 50 % and a
// sound one above 95 %, so 90 to 105 % is a match, below 75 % or above 110 % none, and what lies between can't be told.
// Driver and context keep some memory, so 90 % of what is claimed, tested and right, is a match.
#include "harness/verdict/identity.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

const ShownFact& of(const std::vector<ShownFact>& shown, const char* name) {
  static const ShownFact nothing{"", std::nullopt, "the worker said nothing of it"};
  const auto found = std::find_if(shown.begin(), shown.end(), [&](const ShownFact& f) { return f.name == name; });
  return found == shown.end() ? nothing : *found;
}

std::optional<double> claim(const DeviceInfo& device, const char* name) {
  const auto found = device.facts.find(name);
  return found == device.facts.end() || found->second <= 0 ? std::nullopt : std::optional(found->second);
}

IdentityLine begin(const char* name, std::optional<double> claimed, const ShownFact& shown) {
  IdentityLine line{name, claimed, shown.value, Outcome::unknown, shown.how};
  if (!claimed) line.reason = "the device doesn't tell it; measured: " + shown.how;
  return line;
}

bool is_open(const IdentityLine& line) { return line.claimed && line.shown; }

IdentityLine multiprocessors(const DeviceInfo& device, const std::vector<ShownFact>& shown) {
  IdentityLine line = begin("multiprocessors", claim(device, "multiprocessors"), of(shown, "multiprocessors"));
  if (is_open(line)) line.outcome = *line.shown == *line.claimed ? Outcome::match : Outcome::mismatch;
  return line;
}

IdentityLine lanes(const DeviceInfo& device, std::optional<double> claimed, const std::vector<ShownFact>& shown) {
  IdentityLine line = begin("f32_lanes", claimed, of(shown, "f32_lanes"));
  if (!is_open(line)) return line;
  if (device.simulated) {
    line.reason = "the time of a simulated device is made up; " + line.reason;
    return line;
  }
  const double share = *line.shown / *line.claimed;
  if (share >= 0.9 && share <= 1.05) line.outcome = Outcome::match;
  if (share < 0.75 || share > 1.1) line.outcome = Outcome::mismatch;
  line.reason = fmt::format("{:.0f} % of the lanes; {}", share * 100, line.reason);
  return line;
}

IdentityLine memory(const DeviceInfo& device, const std::vector<ShownFact>& shown) {
  const ShownFact& tested = of(shown, "memory_tested_bytes");
  const ShownFact& wrong = of(shown, "memory_wrong_bytes");
  IdentityLine line = begin("memory_bytes", claim(device, "memory_bytes"), tested);
  if (!wrong.value) line.shown = std::nullopt;
  if (!is_open(line)) return line;
  if (*wrong.value > 0) {
    line.outcome = Outcome::mismatch;
    line.shown = *tested.value - *wrong.value;
    line.reason = fmt::format(
        "{:.0f} of {:.0f} bytes came back otherwise: two addresses of the same memory, or broken memory; {}",
        *wrong.value, *tested.value, tested.how);
  } else if (*tested.value >= 0.9 * *line.claimed) {
    line.outcome = Outcome::match;
  } else {
    line.reason = fmt::format("only {:.0f} % of it could be had, and the rest wasn't tested; {}",
                              *tested.value / *line.claimed * 100, tested.how);
  }
  return line;
}

}  // namespace

std::vector<IdentityLine> judge_identity(const DeviceInfo& device, std::optional<double> f32_lanes,
                                         const std::vector<ShownFact>& shown) {
  std::vector<IdentityLine> lines = {multiprocessors(device, shown), lanes(device, f32_lanes, shown),
                                     memory(device, shown)};
  for (const char* later : {"cache.l2_bytes", "memory_bus_bits", "ecc_on", "pcie", "nvlink"})
    lines.push_back({later, claim(device, later), std::nullopt, Outcome::unknown, "this version doesn't measure it"});
  for (IdentityLine& line : lines)
    if (device.simulated && line.outcome == Outcome::match) {
      line.outcome = Outcome::unknown;
      line.reason = "as claimed, but the device is simulated and no card; " + line.reason;
    }
  return lines;
}

}  // namespace assay
