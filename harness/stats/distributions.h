// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Probability distributions, from Boost.Math. Only distributions.cpp includes Boost: its templates cost seconds of
// compiling for each file.
// Every argument outside the domain (a probability not strictly between 0 and 1, no degrees of freedom, NaN) is an
// Error with one sentence; so is a value that Boost cannot compute.
#pragma once

#include <cstddef>

namespace assay::stats {

double normal_cdf(double z);
double normal_upper(double z);  // 1 - cdf, exact where the cdf rounds to 1
double normal_quantile(double probability);

// Student's t with any df > 0.
double t_cdf(double t, double df);
double t_quantile(double probability, double df);

// Noncentral t: (Z + noncentrality) / sqrt(chi2(df) / df).
double noncentral_t_cdf(double t, double df, double noncentrality);
double noncentral_t_quantile(double probability, double df, double noncentrality);

// P(F > f) of Fisher's F.
double f_upper(double f, double df1, double df2);

// P(X <= k) for k successes in n trials of probability p (0 and 1 allowed); 0 for a negative k.
double binomial_cdf(std::ptrdiff_t k, std::size_t n, double p);

}  // namespace assay::stats
