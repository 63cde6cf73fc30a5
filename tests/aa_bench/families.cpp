// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See families.h.
#include "tests/aa_bench/families.h"

#include <cmath>

namespace assay::aa_bench {
namespace {

constexpr double mode_shift = 0.015, mode_chance = 0.3, spike_chance = 0.05, spike_mean = 0.05;
constexpr double tick = 0.0015, rho = 0.8, warm_shift = 0.015, epoch_sd = 0.004;
constexpr double clock_sd = 0.01, clock_error = 0.0002;  // between sessions; of one reading

// Warmth of a side that starts cold: time in units of the time constant runs 0..2 over the first side, on to 4 over
// the second.
double warmth(const Design& design, Place place, std::size_t sample) {
  if (design.warm) return warm_shift;
  const std::size_t all = design.sessions * design.samples;
  const double share = all > 1 ? static_cast<double>(sample) / static_cast<double>(all - 1) : 0;
  return warm_shift * (1 - std::exp(-2 * (share + (place == Place::after ? 1 : 0))));
}

// The part of one sample that is new with each sample.
double within(const Family& family, double previous, bool first, Random& random) {
  switch (family.noise) {
    case Noise::heavy:
      return family.sample_sd * random.student3();
    case Noise::spiky:
      return family.sample_sd * random.normal() + (random.chance(spike_chance) ? random.exponential(spike_mean) : 0);
    case Noise::ar1:
      if (first) return family.sample_sd * random.normal();
      return rho * previous + std::sqrt(1 - rho * rho) * family.sample_sd * random.normal();
    case Noise::bimodal_within:
      return family.sample_sd * random.normal() + (random.chance(mode_chance) ? mode_shift : 0);
    default:
      return family.sample_sd * random.normal();
  }
}

}  // namespace

Side make_side(const Family& family, const Design& design, Place place, double effect, Random& random) {
  Side side{std::vector(design.sessions, std::vector(design.samples, 0.0)),
            std::vector(design.sessions, std::vector(design.samples, 1.0)), 0};
  if (family.noise == Noise::epoch) side.epoch = epoch_sd * random.normal();
  for (std::size_t s = 0; s < design.sessions; ++s) {
    double session = side.epoch + family.session_sd * random.normal();
    if (family.noise == Noise::bimodal_session && random.chance(mode_chance)) session += mode_shift;
    const double clock = family.noise == Noise::clock ? clock_sd * random.normal() : 0;
    double noise = 0;
    for (std::size_t i = 0; i < design.samples; ++i) {
      noise = within(family, noise, i == 0, random);
      double log_time = session - clock + noise;
      if (family.noise == Noise::thermal) log_time += warmth(design, place, s * design.samples + i);
      double& time = side.times[s][i];
      time = std::exp(log_time) * (1 + effect);
      if (family.noise == Noise::ties) time = std::round(time / tick) * tick;
      if (family.noise == Noise::clock) side.clocks[s][i] = std::exp(clock + clock_error * random.normal());
    }
  }
  return side;
}

}  // namespace assay::aa_bench
