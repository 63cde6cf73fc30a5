// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Lets a worker try the devices for assay doctor, one child for each probe, from the lowest link up to the first that
// fails; a child that doesn't answer is ended at its deadline, or left behind.
#pragma once

#include <string>
#include <vector>

#include "harness/doctor/facts.h"

namespace assay {

// `worker`: its name; "" or "cuda": the newest for CUDA devices that the driver runs and that has code for
// them, else the one that got furthest. Absent where there is none.
doctor::Fact<std::vector<doctor::ProbeResult>> try_devices(const std::string& worker, double limit_s);

}  // namespace assay
