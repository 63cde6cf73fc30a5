// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See clock.h.
#include "harness/base/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
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

std::optional<double> unix_time(std::string_view text) {
  double seconds = 0;
  const auto [number_end, problem] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (problem == std::errc() && number_end == text.data() + text.size())
    return std::isfinite(seconds) && seconds >= 0 && seconds < 1e11 ? std::optional(seconds) : std::nullopt;
  const std::string copy(text);
  tm parts{};
  const char* rest =
      strptime(copy.c_str(), copy.find('T') == std::string::npos ? "%Y-%m-%d %T" : "%Y-%m-%dT%T", &parts);
  if (rest == nullptr) return std::nullopt;
  seconds = static_cast<double>(timegm(&parts));
  const char* const end = copy.c_str() + copy.size();
  if (*rest == '.') {
    double fraction = 0;
    const auto [fraction_end, wrong] = std::from_chars(rest, end, fraction, std::chars_format::fixed);
    if (wrong != std::errc() || fraction_end - rest < 2) return std::nullopt;
    seconds += fraction;
    rest = fraction_end;
  }
  const std::string_view zone(rest, static_cast<std::size_t>(end - rest));
  if (zone == "Z") return seconds;
  int hours = 0, minutes = 0, used = 0;
  if (std::sscanf(rest, "%*1[+-]%2d:%2d%n", &hours, &minutes, &used) != 2 || rest + used != end) return std::nullopt;
  return seconds - (*rest == '-' ? -1 : 1) * (hours * 3600.0 + minutes * 60.0);
}

std::string utc_text(double unix_s) {
  const auto whole = static_cast<time_t>(std::floor(unix_s));
  tm parts{};
  gmtime_r(&whole, &parts);
  std::array<char, 64> text{};
  const std::size_t n = strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format("{}.{:03d}Z", std::string_view(text.data(), n),
                     static_cast<int>((unix_s - static_cast<double>(whole)) * 1000));
}

}  // namespace assay
