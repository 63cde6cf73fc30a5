// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A contract (`assay accept --rules FILE`), checked against the classes and no benchmark.
#include "harness/verdict/rules.h"
#include "tests/fuzz/fuzz.h"

ASSAY_FUZZ(input) {
  static const assay::ClassTable table = assay::read_class_table(ASSAY_SOURCE_DIR "/results");
  assay::Contract contract = assay::parse_contract(input, "fuzz.toml");
  assay::fuzz::read_or_refuse([&] { assay::check_names(contract, {}, table); });
  assay::DeviceValues device;
  device.device = "cuda:0";
  device.class_id = "h100_sxm5_80gb";
  assay::judge(contract, {device});
}
