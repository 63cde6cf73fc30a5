// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The tables of classes and of PCI ids: classes.csv, then identities.csv.
#include "harness/verdict/classes.h"
#include "tests/fuzz/fuzz.h"

ASSAY_FUZZ(input) {
  const std::vector<std::string> parts = assay::fuzz::parts_of(input);
  const assay::ClassTable table(assay::fuzz::write("classes.csv", parts[0]),
                                assay::fuzz::write("identities.csv", parts.size() > 1 ? parts[1] : ""));
  assay::DeviceKey key;
  key.vendor = "10de";
  key.device = "2330";
  key.name = "NVIDIA H100 80GB HBM3";
  table.match(key);
  assay::DeviceKey by_name;
  by_name.name = key.name;
  table.match(by_name);
}
