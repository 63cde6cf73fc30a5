// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See check.h.
#include "harness/stats/check.h"

#include <fmt/format.h>

#include <cmath>

#include "harness/base/error.h"

namespace assay::stats {

void require_finite(std::span<const double> values, const char* what) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      throw Error(fmt::format("{} needs finite numbers; value {} of {} is {}", what, i + 1, values.size(), values[i]));
}

void refuse(const char* what, const std::string& rule) { throw Error(fmt::format("{}: {}", what, rule)); }

}  // namespace assay::stats
