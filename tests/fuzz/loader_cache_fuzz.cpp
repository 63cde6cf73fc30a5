// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The bytes of /etc/ld.so.cache, and the small texts of assay doctor.
#include "harness/doctor/check.h"
#include "harness/doctor/elf.h"
#include "tests/fuzz/fuzz.h"

ASSAY_FUZZ(input) {
  assay::doctor::parse_loader_cache(input);
  assay::doctor::parse_environment(input);
  assay::doctor::parse_requirements(input);
}
