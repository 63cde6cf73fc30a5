// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See distributions.h. Boost's own exceptions become an Error here, so nobody else has to know it.
#include "harness/stats/distributions.h"

#include <fmt/format.h>

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "harness/base/error.h"
#include "harness/stats/check.h"

namespace assay::stats {
namespace {

namespace bm = boost::math;

template <class Function>
double computed(const char* what, Function function) {
  double value = 0;
  try {
    value = function();
  } catch (const std::exception& e) {
    throw Error(fmt::format("{} can't be computed: {}", what, e.what()));
  }
  require(std::isfinite(value), what, "the result is not finite");
  return value;
}

void require_probability(double p, const char* what) {
  require(p > 0 && p < 1, what, "a probability lies between 0 and 1, not {}", p);
}
void require_df(double df, const char* what) {
  require(df > 0 && std::isfinite(df), what, "degrees of freedom are above 0, not {}", df);
}
void require_number(double x, const char* what) { require_finite({&x, 1}, what); }

}  // namespace

double normal_cdf(double z) { return normal_upper(-z); }

double normal_upper(double z) {
  require_number(z, "the normal distribution");
  return std::erfc(z / std::sqrt(2.0)) / 2;
}

double normal_quantile(double probability) {
  const char* what = "the normal quantile";
  require_probability(probability, what);
  return computed(what, [&] { return bm::quantile(bm::normal(), probability); });
}

double t_cdf(double t, double df) {
  const char* what = "Student's t";
  require_number(t, what);
  require_df(df, what);
  return computed(what, [&] { return bm::cdf(bm::students_t(df), t); });
}

double t_quantile(double probability, double df) {
  const char* what = "the quantile of Student's t";
  require_probability(probability, what);
  require_df(df, what);
  return computed(what, [&] { return bm::quantile(bm::students_t(df), probability); });
}

double noncentral_t_cdf(double t, double df, double noncentrality) {
  const char* what = "the noncentral t";
  require_number(t, what);
  require_number(noncentrality, what);
  require_df(df, what);
  return computed(what, [&] { return bm::cdf(bm::non_central_t(df, noncentrality), t); });
}

double noncentral_t_quantile(double probability, double df, double noncentrality) {
  const char* what = "the quantile of the noncentral t";
  require_probability(probability, what);
  require_number(noncentrality, what);
  require_df(df, what);
  return computed(what, [&] { return bm::quantile(bm::non_central_t(df, noncentrality), probability); });
}

double f_upper(double f, double df1, double df2) {
  const char* what = "Fisher's F";
  require(f >= 0 && std::isfinite(f), what, "F is never {}", f);
  require_df(df1, what);
  require_df(df2, what);
  return computed(what, [&] { return bm::cdf(bm::complement(bm::fisher_f(df1, df2), f)); });
}

double binomial_cdf(std::ptrdiff_t k, std::size_t n, double p) {
  const char* what = "the binomial distribution";
  require(p >= 0 && p <= 1, what, "a probability lies between 0 and 1, not {}", p);
  if (k < 0) return 0;
  if (static_cast<std::size_t>(k) >= n) return 1;
  return computed(what, [&] { return bm::cdf(bm::binomial(static_cast<double>(n), p), static_cast<double>(k)); });
}

}  // namespace assay::stats
