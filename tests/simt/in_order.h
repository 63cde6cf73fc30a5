// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the rig itself begin with: no fault, no work that waits, threads in order; and so they leave it. With
// the includes and names that they share.
#pragma once

#include <cuda_runtime.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "device_array.h"
#include "kernels/launch.cuh"
#include "runtime/rig.h"

namespace assay::simt {

class InOrder : public testing::Test {
 protected:
  void SetUp() override { begin(); }
  void TearDown() override { begin(); }

 private:
  static void begin() {
    reset();
    set_schedule(Schedule::in_order);
  }
};

}  // namespace assay::simt
