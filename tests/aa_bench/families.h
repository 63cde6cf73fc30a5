// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The noise of machines, as eleven families of made-up measurements: times about 1, lower is better. Sizes are those of
// public GPU measurements: 0.1..0.2 % inside a process, 0.1..0.3 % from process to process on a quiet device.
//
//   y = exp(session + within) (1 + effect),  session ~ N(0, session_sd) once a session, within ~ N(0, sample_sd)
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "tests/aa_bench/random.h"

namespace assay::aa_bench {

enum class Noise {
  normal,
  heavy,            // within: Student's t with 3 degrees of freedom
  spiky,            // 5 % of the samples take Exp(5 %) longer
  ties,             // a timer that ticks every 0.15 %
  ar1,              // neighbouring samples resemble each other, rho = 0.8
  bimodal_within,   // 30 % of the samples take 1.5 % longer
  bimodal_session,  // 30 % of the sessions do
  thermal,          // a cold machine is up to 1.5 % faster and warms up while it is measured
  epoch,            // each side has a shift of its own, N(0, 0.4 %): a reboot, a driver, a season
  clock,            // the clock differs by 1 % (sd) from session to session; cycles don't
};

struct Family {
  std::string_view name;
  Noise noise = Noise::normal;
  double session_sd = 0, sample_sd = 0;
};
inline constexpr std::array<Family, 11> families = {{
    {"iid", Noise::normal, 0, 0.002},
    {"heavy", Noise::heavy, 0, 0.002},
    {"spiky", Noise::spiky, 0, 0.002},
    {"ties", Noise::ties, 0, 0.001},
    {"ar1", Noise::ar1, 0, 0.005},
    {"bimodal_within", Noise::bimodal_within, 0, 0.002},
    {"bimodal_session", Noise::bimodal_session, 0, 0.002},
    {"session", Noise::normal, 0.003, 0.002},
    {"thermal", Noise::thermal, 0.001, 0.002},
    {"epoch", Noise::epoch, 0.002, 0.002},
    {"noisy", Noise::normal, 0.01, 0.02},
}};
inline constexpr Family clock_family = {"clock", Noise::clock, 0.002, 0.002};

inline constexpr std::array<double, 8> effects = {-0.03, 0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1};

// What is measured on one side.
struct Design {
  std::size_t sessions = 5, samples = 20;
  bool warm = true;  // each session waits for a steady state; else the machine starts cold and nothing cools in between
};

struct Side {
  std::vector<std::vector<double>> times;   // [session][sample], seconds
  std::vector<std::vector<double>> clocks;  // beside each sample; all 1 but for Noise::clock
  double epoch = 0;                         // the shift that everything on this side has, logs
};
enum class Place { before, after };
Side make_side(const Family& family, const Design& design, Place place, double effect, Random& random);

}  // namespace assay::aa_bench
