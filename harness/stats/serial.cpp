// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See serial.h.
#include "harness/stats/serial.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "harness/stats/check.h"
#include "harness/stats/moments.h"

namespace assay::stats {
namespace {

// Sum of products of deviations `lag` apart.
double products(std::span<const double> values, double mean, std::size_t lag) {
  double sum = 0;
  for (std::size_t i = lag; i < values.size(); ++i) sum += (values[i] - mean) * (values[i - lag] - mean);
  return sum;
}

// Equal values may differ from their rounded mean; that is no spread.
bool all_equal(std::span<const double> values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

SerialMean with_inflation(std::span<const double> values, double mean, double rho, double inflation) {
  const auto n = static_cast<double>(values.size());
  SerialMean result{mean, 0, n, rho};
  result.effective_n = std::max(n / std::max(inflation, 1.0), 1.0);
  result.error = std::sqrt(products(values, mean, 0) / (n - 1) / result.effective_n);
  return result;
}

}  // namespace

std::optional<double> autocorrelation(std::span<const double> values, std::size_t lag) {
  require_finite(values, "the autocorrelation");
  if (values.size() < 3 || lag >= values.size()) return std::nullopt;
  if (all_equal(values)) return 0;
  const double mean = mean_of(values);
  return products(values, mean, lag) / products(values, mean, 0);
}

std::optional<SerialMean> mean_ar1(std::span<const double> values) {
  const std::optional<double> rho = autocorrelation(values, 1);
  if (!rho) return std::nullopt;
  if (all_equal(values)) return SerialMean{values[0], 0, static_cast<double>(values.size()), 0};
  const double corrected = std::clamp(*rho + (1 + 3 * *rho) / static_cast<double>(values.size()), 0.0, 0.99);
  return with_inflation(values, mean_of(values), *rho, (1 + corrected) / (1 - corrected));
}

std::optional<SerialMean> mean_bartlett(std::span<const double> values) {
  const std::optional<double> rho = autocorrelation(values, 1);
  if (!rho) return std::nullopt;
  const auto n = static_cast<double>(values.size());
  if (all_equal(values)) return SerialMean{values[0], 0, n, 0};
  const auto lags = std::min(static_cast<std::size_t>(4 * std::pow(n / 100, 2.0 / 9)), values.size() - 1);
  const double mean = mean_of(values), squares = products(values, mean, 0);
  double inflation = 1;
  for (std::size_t lag = 1; lag <= lags; ++lag)
    inflation +=
        2 * (1 - static_cast<double>(lag) / static_cast<double>(lags + 1)) * products(values, mean, lag) / squares;
  return with_inflation(values, mean, *rho, inflation);
}

std::optional<std::size_t> block_length(std::span<const double> values, double most) {
  require_finite(values, "the block length");
  constexpr std::size_t fewest_blocks = 16;
  std::vector<double> blocks(values.begin(), values.end());
  for (std::size_t length = 1; blocks.size() >= fewest_blocks; length *= 2) {
    if (*autocorrelation(blocks, 1) < most) return length;
    for (std::size_t i = 0; i + 1 < blocks.size(); i += 2) blocks[i / 2] = (blocks[i] + blocks[i + 1]) / 2;
    blocks.resize(blocks.size() / 2);
  }
  return std::nullopt;
}

}  // namespace assay::stats
