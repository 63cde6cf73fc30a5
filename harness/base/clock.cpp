// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See clock.h.
#include "harness/base/clock.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace assay {
namespace {

std::string utc(const char* format, bool milliseconds) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  std::array<char, 64> text{};
  const std::size_t n = strftime(text.data(), text.size(), format, &parts);
  std::string result(text.data(), n);
  if (milliseconds) {
    std::array<char, 16> fraction{};
    std::snprintf(fraction.data(), fraction.size(), ".%03dZ", static_cast<int>(now.tv_nsec / 1'000'000 % 1000));
    result += fraction.data();
  }
  return result;
}

TimerCost measure_timer() {
  constexpr int readings = 2000;
  std::int64_t step = 1'000'000, last = monotonic_ns();
  const std::int64_t begin = last;
  for (int i = 0; i < readings; ++i) {
    const std::int64_t now = monotonic_ns();
    if (now > last) step = std::min(step, now - last);
    last = now;
  }
  return {static_cast<double>(step) * 1e-9, static_cast<double>(last - begin) * 1e-9 / readings};
}

}  // namespace

std::string utc_now() { return utc("%Y-%m-%dT%H:%M:%S", true); }
std::string utc_compact() { return utc("%Y%m%dT%H%M%SZ", false); }

TimerCost timer_cost() {
  static const TimerCost cost = measure_timer();
  return cost;
}

}  // namespace assay
