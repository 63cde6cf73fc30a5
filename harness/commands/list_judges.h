// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What the judges know, as `assay list` shows it: the tables of classes, the baselines and the packs of rules that are
// here, and the class of each device. A file that can't be read is shown with its problem in its place.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/commands/matched.h"
#include "harness/device/device.h"

namespace assay {

struct ListedBaseline {
  std::string class_id, path;
  std::size_t metrics = 0, provisional = 0;  // all rows; those that stand on too few devices
  int devices = 0;                           // of the row with the most
  std::string problem;                       // "": it can be used
};

struct ListedPack {
  std::string name, summary;
  std::size_t rules = 0, quarantined = 0;
  std::size_t measurable = 0;        // rules that ask for what a benchmark of this version measures
  std::vector<std::string> classes;  // that rules are for, sorted
  std::string problem;               // "": it can be used
};

struct ListedJudges {
  std::size_t gpu_classes = 0, identities = 0;
  std::string problem;           // why the tables can't be read, and no device has a class; "" when they can
  std::vector<Matched> matches;  // one for each device
  std::vector<ListedBaseline> baselines;
  std::vector<ListedPack> packs;
};

ListedJudges gather_judges(const std::vector<DeviceInfo>& devices);
Json to_json(const ListedJudges& judges);
void print_judges(const ListedJudges& judges, std::ostream& out);

}  // namespace assay
