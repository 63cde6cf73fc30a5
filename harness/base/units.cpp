// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See units.h.
#include "harness/base/units.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/error.h"
#include "harness/base/parse.h"

namespace assay {
namespace {

// Splits "2.5min" into its number and its unit; the whole text must be used up by the two.
std::pair<double, std::string> split_quantity(const std::string& text) {
  std::string_view unit;
  const std::optional<double> value = leading_number<double>(text, &unit);
  if (!value || !std::isfinite(*value) || std::signbit(*value)) return {-1, text};
  return {*value, std::string(unit)};
}

double lookup(const std::string& text, const std::vector<std::pair<std::string, double>>& units, const char* what,
              const char* example) {
  const auto [value, unit] = split_quantity(text);
  if (value >= 0)
    for (const auto& [name, factor] : units)
      if (unit == name && std::isfinite(value * factor)) return value * factor;
  throw UsageError(fmt::format("'{}' is not a {}; write for example {}", text, what, example));
}

}  // namespace

double parse_duration_s(const std::string& text) {
  static const std::vector<std::pair<std::string, double>> units{{"ms", 1e-3}, {"s", 1},    {"min", 60},
                                                                 {"m", 60},    {"h", 3600}, {"d", 86400}};
  return lookup(text, units, "duration", "250ms, 30s, 2min, 1.5h or 1d");
}

std::uint64_t parse_bytes(const std::string& text) {
  static const std::vector<std::pair<std::string, double>> units{{"", 1},
                                                                 {"B", 1},
                                                                 {"kB", 1e3},
                                                                 {"KB", 1e3},
                                                                 {"MB", 1e6},
                                                                 {"GB", 1e9},
                                                                 {"TB", 1e12},
                                                                 {"KiB", 1024},
                                                                 {"MiB", 1048576.0},
                                                                 {"GiB", 1073741824.0},
                                                                 {"TiB", 1099511627776.0}};
  const double bytes = lookup(text, units, "size", "512MiB, 4GiB or 2GB");
  if (bytes >= 1.8e19) throw UsageError(fmt::format("'{}' is more bytes than any machine has", text));
  return static_cast<std::uint64_t>(bytes);
}

std::string format_quantity(double value, const std::string& unit) {
  if (!std::isfinite(value)) return "-";
  struct Prefix {
    double factor;
    const char* text;
  };
  static constexpr std::array<Prefix, 9> prefixes{
      {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "u"}, {1e-9, "n"}}};
  const double size = std::fabs(value);
  // A ratio, or a value per cycle, reads best unscaled.
  const bool scaled = !unit.empty() && unit != "%" && unit != "1" && unit.find("/cycle") == std::string::npos;
  const Prefix* chosen = &prefixes[5];
  if (scaled && size > 0) {
    chosen = &prefixes.back();
    for (const Prefix& p : prefixes)
      if (size >= p.factor * 0.99995) {
        chosen = &p;
        break;
      }
    if (unit == "B" || unit[0] == 'B')
      if (chosen->factor < 1) chosen = &prefixes[5];  // there are no millibytes
  }
  const double scaled_value = value / chosen->factor;
  const double magnitude = std::fabs(scaled_value);
  const int digits = magnitude >= 99.95 || magnitude == 0 ? 0 : magnitude >= 9.995 ? 1 : 2;
  // Beyond the prefixes: neither hundreds of digits nor "0.00".
  const bool beyond = magnitude >= (scaled ? 1e6 : 1e15) || (scaled && magnitude > 0 && magnitude < 0.005);
  return fmt::format("{}{}{}{}",
                     beyond ? fmt::format("{:.3g}", scaled_value) : fmt::format("{:.{}f}", scaled_value, digits),
                     unit.empty() || unit == "1" ? "" : " ", chosen->text, unit == "1" ? "" : unit);
}

std::string format_factor(double factor) {
  if (!std::isfinite(factor)) return "-";
  return std::fabs(factor) < 99.5 ? fmt::format("{:.2g}", factor) : fmt::format("{:.0f}", factor);  // else "1e+02"
}

std::string format_percent(double share) {
  const double percent = 100 * std::fabs(share);
  if (!std::isfinite(percent)) return "-";
  return percent > 0 && percent < 0.01 ? "below 0.01 %" : format_factor(percent) + " %";
}

std::string format_change(double share) {
  const double percent = 100 * share;
  if (!std::isfinite(percent)) return "-";
  if (std::fabs(percent) < 0.005) return "0.00 %";
  return std::fabs(percent) < 99.995 ? fmt::format("{:+.2f} %", percent) : fmt::format("{:+.0f} %", percent);
}

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string format_bytes(double bytes) {
  static constexpr std::array<const char*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit == 0 || bytes >= 100 ? 0 : 1, units[unit]);
}

}  // namespace assay
