// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See sequential.h. The score after information t is a Brownian motion B(t); z = B(t) / sqrt t. Kept is the density of
// B over those who have not crossed yet, on Gauss-Legendre nodes from 9 standard deviations below up to the boundary.
#include "harness/stats/sequential.h"

#include <array>
#include <cmath>
#include <numbers>

#include "harness/stats/check.h"
#include "harness/stats/distributions.h"

namespace assay::stats {
namespace {

// Nodes and weights of 8-point Gauss-Legendre on -1..1 (Abramowitz and Stegun 1964, table 25.4), positive half.
constexpr std::array<double, 4> node{0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363};
constexpr std::array<double, 4> weight{0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};

struct Grid {
  std::vector<double> at, mass;  // mass = density of B times weight
};

double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }

// Density at `b` after a step of standard deviation `step` from where the grid is; at the start all is at 0.
double stepped(const Grid& grid, double b, double step) {
  double sum = 0;
  for (std::size_t i = 0; i < grid.at.size(); ++i) sum += grid.mass[i] * normal_density((b - grid.at[i]) / step);
  return sum / step;
}

double crossing(const Grid& grid, double b, double step) {
  double sum = 0;
  for (std::size_t i = 0; i < grid.at.size(); ++i) sum += grid.mass[i] * normal_upper((b - grid.at[i]) / step);
  return sum;
}

// b with crossing(b) = wanted. Newton inside a bracket that shrinks, so it can't run away.
double boundary(const Grid& grid, double step, double sd, double wanted) {
  double low = -9 * sd, high = 9 * sd, b = 3 * sd;
  for (int i = 0; i < 200 && high - low > 1e-13 * sd; ++i) {
    const double excess = crossing(grid, b, step) - wanted;
    if (std::fabs(excess) < 1e-14 * wanted) break;
    (excess > 0 ? low : high) = b;
    const double density = stepped(grid, b, step);
    const double newton = density > 0 ? b + excess / density : high;
    b = newton > low && newton < high ? newton : (low + high) / 2;
  }
  return b;
}

Grid survivors(const Grid& grid, double step, double sd, double upper) {
  // Panels no wider than half of the step, over which the density can change.
  const double lower = -9 * sd;
  const int panels = std::max(16, static_cast<int>(std::ceil((upper - lower) / (0.5 * step))));
  const double half = (upper - lower) / panels / 2;
  Grid next;
  for (int panel = 0; panel < panels; ++panel) {
    const double centre = lower + (2 * panel + 1) * half;
    for (std::size_t i = 0; i < node.size(); ++i)
      for (double side : {-1.0, 1.0}) {
        const double b = centre + side * node[i] * half;
        next.at.push_back(b);
        next.mass.push_back(stepped(grid, b, step) * weight[i] * half);
      }
  }
  return next;
}

}  // namespace

std::vector<Look> spending_looks(double alpha, std::span<const double> information) {
  const char* what = "a sequential plan";
  require(alpha > 0 && alpha < 0.5, what, "alpha lies between 0 and 0.5, not {}", alpha);
  require(!information.empty() && information.size() <= 50, what, "it has 1 to 50 looks");
  require_finite(information, what);
  const double z_total = normal_quantile(1 - alpha / 2);
  std::vector<Look> looks;
  Grid grid{{0.0}, {1.0}};
  double before = 0, spent = 0;
  for (double t : information) {
    require(t > before && t <= 1, what, "information ascends from above 0 to 1; {} does not fit", t);
    Look look;
    look.information = t;
    const double step = std::sqrt(t - before), sd = std::sqrt(t);
    const double wanted = 2 * normal_upper(z_total / sd) - spent;
    if (wanted < 1e-15) {
      look.z = 8;
    } else {
      look.z = boundary(grid, step, sd, wanted) / sd;
      spent += wanted;
    }
    look.alpha = normal_upper(look.z);
    look.spent = spent;
    looks.push_back(look);
    if (looks.size() < information.size()) grid = survivors(grid, step, sd, look.z * sd);
    before = t;
  }
  return looks;
}

std::vector<Look> session_looks(double alpha, std::size_t first, std::size_t cap) {
  require(first >= 1 && first <= cap, "a sequential plan", "the first look ({}) comes at or before the last ({})",
          first, cap);
  std::vector<double> information;
  for (std::size_t s = first; s <= cap; ++s) information.push_back(static_cast<double>(s) / static_cast<double>(cap));
  return spending_looks(alpha, information);
}

std::vector<Look> looks_against(std::size_t before, double alpha, std::size_t first, std::size_t cap) {
  require(before >= 1 && first >= 1 && first <= cap, "a sequential plan",
          "there are sessions before ({}), and the first look ({}) comes at or before the last ({})", before, first,
          cap);
  const auto variance = [&](std::size_t after) {
    return 1 / static_cast<double>(before) + 1 / static_cast<double>(after);
  };
  std::vector<double> information;
  for (std::size_t k = first; k <= cap; ++k) information.push_back(variance(cap) / variance(k));
  return spending_looks(alpha, information);
}

}  // namespace assay::stats
