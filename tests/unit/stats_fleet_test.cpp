// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Outliers of a fleet by hand; thresholds and reliability against scipy 1.17.1 (t.ppf, spearmanr).
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "harness/base/error.h"
#include "harness/stats/fleet.h"
#include "tests/unit/stats_near.h"

namespace assay::stats {
namespace {

std::vector<double> fleet(std::size_t n) {
  std::vector<double> logs;
  for (std::size_t i = 0; i < n; ++i) logs.push_back(0.001 * static_cast<double>(i % 5));
  return logs;
}

TEST(StatsFleet, RobustZ) {
  const std::vector<double> z = robust_z(std::vector<double>{0, 1, 2, 3, 10}, Better::lower);
  expect_relative(z[4], 8 / 1.482602218505602);
  expect_relative(robust_z(std::vector<double>{0, 1, 2, 3, 10}, Better::higher)[4], -z[4]);
  // A quiet fleet: the floor is the scale.
  expect_relative(robust_z(std::vector<double>{1, 1, 1, 1.02}, Better::lower)[3], 0.02 / (std::log(1.01) / 6));
}

TEST(StatsFleet, TheSlowOneIsFoundAndTheFastOneIsNot) {
  std::vector<double> logs = fleet(20);
  logs[7] += 0.03;
  logs[3] -= 0.03;
  const auto found = stragglers(logs, Better::lower);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->front().index, 7U);
  EXPECT_NEAR(found->front().excess, 0.03, 1e-12);
  EXPECT_EQ(stragglers(logs, Better::higher)->front().index, 3U);
}

TEST(StatsFleet, BelowTheFloorNobodyIsToBlame) {
  std::vector<double> logs(20, 0.0);
  logs[7] = 0.009;
  EXPECT_TRUE(stragglers(logs, Better::lower)->empty());
  logs[7] = 0.011;
  EXPECT_EQ(stragglers(logs, Better::lower)->size(), 1U);
}

TEST(StatsFleet, SmallFleetsNeedMore) {
  EXPECT_EQ(straggler_threshold(16), 4);
  EXPECT_EQ(straggler_threshold(300), 4);
  expect_relative(straggler_threshold(3), 5.339332783810267);  // t.ppf(1 - .05 / 3, 2)
  expect_relative(straggler_threshold(4), 4.176534846104503);
  EXPECT_EQ(straggler_threshold(8), 4);  // t.ppf(1 - .05 / 8, 7) is 3.3
  EXPECT_THROW(straggler_threshold(2), Error);
}

TEST(StatsFleet, HalvesAreOddAndEvenSessions) {
  const std::vector<double> sessions{1, 2, 4, 8, 16};
  EXPECT_EQ(mean_of_half(sessions, Half::all), 31.0 / 5);
  EXPECT_EQ(mean_of_half(sessions, Half::odd), 7);
  EXPECT_EQ(mean_of_half(sessions, Half::even), 5);
  EXPECT_FALSE(mean_of_half(std::vector<double>{1}, Half::even));
  EXPECT_FALSE(mean_of_half({}, Half::all));
}

TEST(StatsFleet, AStragglerIsSeenTwiceWhenBothHalvesShowIt) {
  std::vector<std::vector<double>> devices(20, {0, 0, 0, 0});
  devices[3] = {};                        // nobody knows
  devices[4] = {0};                       // in no even half
  devices[7] = {0.05, 0.05, 0.05, 0.05};  // in both
  devices[9] = {0.06, 0.06, 0, 0};        // a drift: in both
  devices[11] = {0.05, 0, 0.05, 0};       // in one
  devices[13] = {0.06};                   // once
  const std::vector<SeenStraggler> seen = seen_stragglers(devices, Better::lower);
  std::vector<std::pair<std::size_t, bool>> found;
  for (const SeenStraggler& s : seen) found.emplace_back(s.index, s.twice);
  EXPECT_EQ(found, (std::vector<std::pair<std::size_t, bool>>{{13, false}, {7, true}, {9, true}, {11, false}}));
  EXPECT_NEAR(seen[1].excess, 0.05, 1e-12);
  EXPECT_TRUE(seen_stragglers(devices, Better::higher).empty());
  EXPECT_TRUE(seen_stragglers(std::vector<std::vector<double>>{{0, 0}, {1, 1}, {}}, Better::lower).empty());
}

TEST(StatsFleet, Reliability) {
  // spearmanr(mean of sessions 1 and 3, mean of sessions 2 and 4)
  const std::vector<std::vector<double>> sessions{{1, 2, 3, 1}, {2, 2, 2, 4}, {5, 3, 4, 4}, {3, 6, 6, 5}, {9, 8, 7, 9}};
  expect_relative(*split_half_reliability(sessions), 0.9486832980505137);
  EXPECT_FALSE(split_half_reliability(std::vector<std::vector<double>>{{1, 2}, {2, 3}, {3, 4}}));
  EXPECT_FALSE(split_half_reliability(std::vector<std::vector<double>>{{1, 2}, {2, 3}, {3, 4}, {4}}));
  EXPECT_FALSE(split_half_reliability(std::vector<std::vector<double>>{{1, 2}, {1, 3}, {1, 4}, {1, 5}}));
  EXPECT_FALSE(split_half_reliability({}));
}

TEST(StatsFleet, BadInput) {
  EXPECT_FALSE(stragglers(std::vector<double>{1, 2}, Better::lower));
  EXPECT_FALSE(stragglers({}, Better::lower));
  EXPECT_THROW(stragglers(std::vector<double>{1, 2, nan}, Better::lower), Error);
  EXPECT_THROW(stragglers(fleet(9), Better::lower, {4, 0}), Error);
  EXPECT_TRUE(stragglers(std::vector<double>(5, 1.0), Better::lower)->empty());
  EXPECT_TRUE(stragglers(fleet(1000000), Better::lower)->empty());
}

}  // namespace
}  // namespace assay::stats
