// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A scenario of a device that doesn't exist.
#include "harness/device/scenario.h"
#include "tests/fuzz/fuzz.h"

ASSAY_FUZZ(input) {
  const assay::Scenario scenario = assay::parse_scenario(input, "fuzz.toml");
  assay::fake_manifest(scenario);
}
