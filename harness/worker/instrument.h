// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What times a block of iterations, and what is read beside a sample: the clock of whatever did the work, and what
// disturbed it. One for the CPU, one for devices.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "harness/device/accelerator.h"
#include "harness/record.h"

namespace assay {

using Work = std::function<void(std::uint64_t iterations)>;

class Instrument {
 public:
  virtual ~Instrument() = default;
  // The shortest block that is resolved well enough: 1000 times what one reading costs and tells.
  virtual double resolvable_s() const = 0;
  // Seconds of n iterations, all of them done when it returns.
  virtual double seconds_of(const Work& work, std::uint64_t n) = 0;
  virtual void before_sample() = 0;
  // Sets what was seen beside the sample: clock, issue ratio, disturbances.
  virtual void after_sample(Sample& sample) = 0;
  // The highest clock beside the samples, 0: not measured.
  virtual double most_hertz() const = 0;
};

// `cpus`: those of the OpenMP team.
std::unique_ptr<Instrument> host_instrument(const std::vector<int>& cpus);
std::unique_ptr<Instrument> device_instrument(Accelerator& device);

}  // namespace assay
