// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A profile of the user's (ASSAY_PROFILE_DIR).
#include "harness/parent/profile.h"
#include "tests/fuzz/fuzz.h"

ASSAY_FUZZ(input) {
  assay::fuzz::write("fuzz.toml", input);
  setenv("ASSAY_PROFILE_DIR", assay::fuzz::folder().c_str(), 1);
  assay::read_profile("fuzz");
}
