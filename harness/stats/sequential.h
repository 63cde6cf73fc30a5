// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Looking more than once. Whoever tests after every new session and stops at the first p below 0.01 is wrong far more
// often than 1 in 100. These boundaries share the error out over all looks that were planned.
//
// Lan and DeMets (1983) with the spending function of O'Brien and Fleming's type, alpha(t) = 2 (1 - Phi(z_{1-alpha/2} /
// sqrt t)): next to nothing is spent early, so the last look costs little against a single test. Boundaries by the
// recursive integration of Armitage, McPherson and Rowe (1969), see Jennison and Turnbull, Group Sequential Methods
// (2000), chapter 19. Each side of a two-sided question spends its own alpha.
//
// With few sessions the statistic is a t, not a z: use t_quantile(1 - look.alpha, df), the significance-level approach
// (Jennison and Turnbull 2000, section 3.8).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace assay::stats {

struct Look {
  double information = 0;  // share of the planned total, 0..1
  double z = 0;            // boundary: the claim stands if z is above it
  double alpha = 0;        // one-sided level of a test at this look alone: 1 - Phi(z)
  double spent = 0;        // error spent up to and with this look
};
// alpha one-sided, between 0 and 0.5; information strictly ascending, above 0, at most 1; at most 50 looks. The
// numbers of a look do not depend on later ones. An early look that may spend less than 1e-15 gets z = 8 and spends
// nothing. Costs milliseconds: once for a plan, not once for each metric.
std::vector<Look> spending_looks(double alpha, std::span<const double> information);
// A look after each session from `first` to `cap`, information = sessions / cap.
std::vector<Look> session_looks(double alpha, std::size_t first = 3, std::size_t cap = 12);
// The same where the other side is finished, with `before` sessions that are in every look. After k new ones the
// variance of the difference is s^2 (1/before + 1/k), so a look has (1/before + 1/cap) / (1/before + 1/k) of the
// information, more than k / cap: against 5 sessions the third of 12 has 53 %. The covariance of the differences at two
// looks is the variance of the later one, so their increments are independent, as the boundary wants.
std::vector<Look> looks_against(std::size_t before, double alpha, std::size_t first = 3, std::size_t cap = 12);

}  // namespace assay::stats
