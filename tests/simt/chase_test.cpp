// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The CUDA pointer chase arrives where the order says, for several chains at once.
#include "kernels/chase.h"

#include <gtest/gtest.h>

#include <vector>

#include "device_array.h"
#include "runtime/rig.h"

namespace assay::kernels {
namespace {

using simt::DeviceArray;

TEST(SimtChase, ArrivesWhereTheOrderSays) {
  const ChaseOps* ops = simt::last_version<ChaseOps>();
  ASSERT_NE(ops, nullptr);
  simt::reset();
  for (const simt::Schedule schedule : simt::all_schedules) {
    simt::set_schedule(schedule);
    for (const std::size_t n : {1, 2, 3, 257, 5000}) {
      std::vector<std::uint32_t> order(n);
      chase_order(order.data(), n, 7);
      DeviceArray<std::uint32_t> device_order(order);
      DeviceArray<ChaseLine> lines(n);
      ops->link({1, nullptr}, lines.data(), device_order.data(), n);
      for (const std::uint64_t steps : {0, 1, 15, 16, 17, 1000}) {
        std::vector<ChaseLine*> begin, end;
        for (std::size_t chain = 0; chain < 3; ++chain) {
          begin.push_back(lines.data() + order[chain * 5 % n]);
          end.push_back(lines.data() + order[(chain * 5 + steps) % n]);
        }
        DeviceArray<ChaseLine*> position(begin);
        ops->run({3, nullptr}, position.data(), steps);
        simt::succeed(cudaGetLastError());
        ASSERT_EQ(position.values(), end) << "n " << n << " steps " << steps;
      }
    }
  }
  ops->link({1, nullptr}, nullptr, nullptr, 0);
  simt::succeed(cudaGetLastError());
}

}  // namespace
}  // namespace assay::kernels
