// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Means of a series whose neighbours resemble each other. The textbook error sd / sqrt(n) is then too small, often by a
// factor of 3; what follows says how much the samples are worth.
// Negative correlation is not used to claim a smaller error: effective_n is never above n.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace assay::stats {

// Correlation of the series with itself `lag` later, with the sum over n - lag products and the sum of squares over n
// (Box and Jenkins 1970). 0 if all values are equal. nullopt: lag >= n or n < 3.
std::optional<double> autocorrelation(std::span<const double> values, std::size_t lag);

struct SerialMean {
  double mean = 0;
  double error = 0;        // standard error of the mean
  double effective_n = 0;  // 1..n
  double rho = 0;          // lag-1 autocorrelation
};
// As an AR(1) process: n_eff = n (1 - rho) / (1 + rho) (Bartlett 1935), rho corrected for its bias in short series by
// + (1 + 3 rho) / n (Kendall 1954), between 0 and 0.99. nullopt: fewer than 3 values.
std::optional<SerialMean> mean_ar1(std::span<const double> values);
// Without a model: variance of the mean with Bartlett's weights over the first L = floor(4 (n / 100)^(2/9)) lags
// (Newey and West 1987, 1994). nullopt: fewer than 3 values.
std::optional<SerialMean> mean_bartlett(std::span<const double> values);

// Samples for each block so that neighbouring block means resemble each other less than `most`: doubled from 1 until
// it holds, with at least 16 blocks left. nullopt: no such length in this series (it is too short, or it drifts).
std::optional<std::size_t> block_length(std::span<const double> values, double most = 0.2);

}  // namespace assay::stats
