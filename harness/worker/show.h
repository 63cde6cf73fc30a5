// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What a device shows of itself by working (device/shown_fact.h), for `assay identify`. Some seconds; it takes nearly
// all free memory of the device, so nothing else should run there.
#pragma once

#include <vector>

#include "harness/device/accelerator.h"
#include "harness/device/shown_fact.h"

namespace assay {

// All facts, in a fixed order. One that can't be measured says why and has no value; none throws.
std::vector<ShownFact> show_facts(Accelerator& device);

}  // namespace assay
