// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// GPU classes: what a card is, and what it could do at most. Two tables of facts, results/classes.csv (limits of each
// class) and results/identities.csv (PCI id and subsystem -> product -> class), copied beside the binaries.
//
// The class of a device is decided by its key: vendor, PCI id, subsystem, form factor, memory size, default power
// limit. The name is used only where no PCI id is known. Modes (ECC, MIG, confidential computing, power profile,
// fabric) are no part of the class; they stand beside it and must be equal where things are compared. Traps: one PCI id
// can be two products (A2 and A16), so memory and power decide, and if they don't, the answer is UNKNOWN with the
// candidates; guests of a shared GPU (vGPU) have classes of their own and no limits; a lowered power limit is a mode,
// so the key takes the default limit and not the current one.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/outcome.h"
#include "harness/device/device.h"

namespace assay {

// One line of classes.csv, in SI base units. An empty cell is nullopt: not known, never guessed.
struct GpuClass {
  std::string id, name, name_regex, form_factor;
  std::string compute_capability;                   // "9.0"
  std::optional<double> multiprocessors, l2_bytes;
  std::optional<double> clock_hz, tensor_clock_hz;  // highest clock; the clock that the tensor figures stand for
  std::optional<double> memory_bytes, memory_bytes_per_second;
  std::optional<double> power_w, power_max_w;        // default limit of the card, and the highest that it can be set to
  std::string host_link;                             // "PCIe 5.0 x16", "C2C"
  std::optional<double> host_link_bytes_per_second;  // each way
  int nvlink_generation = 0;                         // 0: none
  std::optional<double> nvlink_bytes_per_second;     // each way, all links together
  std::optional<double> nvlink_links;
  int nvlink_gpus = 0;  // how many GPUs a bridge joins; 0: all of the node
  // Dense operations per second by type: f64, f64_tensor, f32, tf32, f16, f16_f16_sum, bf16, fp8, int8, fp4.
  std::map<std::string, double> operations_per_second;
  std::string notes, source;

  bool bridged() const { return nvlink_gpus > 0; }
};

// One line of identities.csv.
struct Identity {
  std::string vendor, device, subvendor, subdevice;  // "10de", "2330"; "": any
  std::string product, class_id, family, compute_capability, form_factor;
  std::optional<double> memory_gib, power_w;
  std::string notes;
};

// What is known of a device. Empty text and nullopt: not told.
struct DeviceKey {
  std::string vendor, device, subvendor, subdevice;
  std::string form_factor, name;
  std::optional<double> memory_bytes, power_limit_w;
};

// ecc, mig, confidential_computing, power_profile, fabric; only what the device tells.
using Modes = std::map<std::string, std::string>;

struct ClassMatch {
  Outcome outcome = Outcome::unknown;  // match, or unknown
  std::string class_id;                // "" when unknown
  std::string product, family;
  std::vector<std::string> candidates;  // class ids that could be meant, when unknown
  std::string reason;                   // what decided, or what is missing: one sentence
  Modes modes;
};

class ClassTable {
 public:
  // Error (exit 3) with file, line and column for a damaged table.
  ClassTable(const std::filesystem::path& classes, const std::filesystem::path& identities);

  const std::vector<GpuClass>& classes() const { return classes_; }
  const std::vector<Identity>& identities() const { return identities_; }
  // nullptr: no limits are known for it.
  const GpuClass* find(const std::string& id) const;
  // Also classes that only the identities name.
  bool knows(const std::string& id) const;
  std::vector<std::string> ids() const;
  ClassMatch match(const DeviceKey& key) const;

 private:
  ClassMatch match_by_name(const DeviceKey& key) const;

  std::vector<GpuClass> classes_;
  std::vector<Identity> identities_;
};

// ASSAY_RESULTS_DIR, or "results" beside this program: classes.csv, identities.csv, baselines/, rules/.
std::filesystem::path results_folder();
ClassTable read_class_table(const std::filesystem::path& folder = results_folder());

// "volta" (7.0), "turing" (7.5), "ampere", "ada", "hopper", "blackwell": by ranges, so that a capability that nobody
// has seen yet still has its family. "" for what is no capability, "after blackwell" and "before volta" beyond the
// ends.
std::string family_of(const std::string& compute_capability);

// Facts and labels of a device (device/) as a key: labels pci_id and subsystem, facts memory_bytes and
// default_power_limit_w, label form_factor.
DeviceKey key_of(const DeviceInfo& device);
Modes modes_of(const DeviceInfo& device);
std::string to_text(const Modes& modes);  // "ecc=on;mig=off"
// A CPU has no table: "cpu-genuineintel-6-207-2-c2-8gib-vm" is CPUID family, model, stepping, cores, memory,
// hypervisor.
// "" when the device doesn't tell enough.
std::string cpu_class(const DeviceInfo& device);
// The class of any device: the CPU's, a scripted device's label `class`, a GPU's by the table.
ClassMatch class_of(const DeviceInfo& device, const ClassTable& table);
// Can this be the name of a class at all: in the table, or of the full form that a CPU's has? What a scripted device
// calls its class is none: nothing is learnt from it and nothing promised for it.
bool is_class_name(const std::string& id, const ClassTable& table);
// What to write instead of a name that is none: "; did you mean a40?"
std::string class_suggestion(const std::string& id, const ClassTable& table);

}  // namespace assay
