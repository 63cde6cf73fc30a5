// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What is known of cards, drivers, toolkits and wheels: tables in results/doctor/, with a source in each row, beside
// identities.csv, which says what a PCI id is. A card that no table knows is answered by its family, and said to be.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/doctor/facts.h"
#include "harness/verdict/classes.h"

namespace assay::doctor {

// Of capabilities.csv: the first CUDA that has code for it, and the drivers that run it.
struct Capability {
  std::string capability, family, oldest_cuda, last_cuda, oldest_driver, last_branch;
  std::string module;  // proprietary, both, open
  std::string source;
};

struct Card {
  std::string product;     // "NVIDIA H100 80GB HBM3"; "" unknown
  std::string family;      // "hopper"; "" unknown
  std::string capability;  // "9.0"; "" unknown
  std::string class_id, form_factor;
  bool exact = false;  // the PCI id is in the table; else the family was guessed by the range of the id
  bool vgpu = false, geforce = false;
  const Capability* row = nullptr;
};

struct CudaRelease {
  std::string cuda, native_driver, minimum_driver, source;
};

struct WheelTag {
  std::string tag;                // "cu130"
  std::vector<std::string> sass;  // capabilities that it has code for
  std::string ptx;                // from which the driver can make code; "" none
  std::string minimum_driver, note, source;
  std::vector<std::string> by_release = {};  // capabilities that only some releases of torch have code for
};

struct Trap {
  std::string variable, when, value, severity, what, why, action, source;
};

struct KnownDriver {
  std::string driver, fixed_in, what, source;
};

struct NvmlCode {
  int code;
  std::string name, meaning, action;
};

class Knowledge {
 public:
  // `results`: the folder of classes.csv. Error (exit 3) for a damaged table.
  explicit Knowledge(const std::filesystem::path& results);

  Card card(const PciDevice& gpu) const;
  // The row of a capability, or of the nearest below it with the same major number; nullptr: none.
  const Capability* capability(const std::string& capability) const;
  // Of "13.0" or "13.0.2"; nullptr: not in the table.
  const CudaRelease* cuda(const std::string& version) const;
  // The newest CUDA that a driver knows natively; nullptr: none.
  const CudaRelease* newest_for(const std::string& driver) const;
  // The oldest driver that starts anything built with this CUDA, also of a release that the table lacks; "".
  std::string minimum_driver(const std::string& cuda_version) const;
  const WheelTag* wheel(const std::string& cuda_version) const;
  // Tags with code for this capability, newest first.
  std::vector<std::string> wheels_for(const std::string& capability) const;
  const NvmlCode* nvml(int code) const;
  std::vector<std::string> variables() const;

  std::vector<Capability> capabilities;
  std::vector<CudaRelease> releases;
  std::vector<WheelTag> wheels;
  std::vector<Trap> traps;
  std::vector<KnownDriver> drivers;
  std::vector<NvmlCode> nvml_codes;

 private:
  ClassTable classes_;
};

// Family and capability of a PCI id that no table has, by its range; "" and "" where that says nothing.
std::pair<std::string, std::string> guess(unsigned long id);
// Below 0, 0, above 0: numbers between dots, so 575.51.03 < 575.57 and "13.0" < "13.0.2".
int compare_versions(const std::string& a, const std::string& b);
// Of the wheel's code, and PTX.
bool runs_on(const WheelTag& wheel, const std::string& capability);

}  // namespace assay::doctor
