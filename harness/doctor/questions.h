// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Questions that checks of several layers ask, each answered in one place. Whatever returns false or nothing has noted
// in the result why: not known, or not applicable.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>

#include "harness/doctor/check.h"

namespace assay::doctor {

// "" not set.
std::string variable(const Facts& facts, const char* name);

inline bool in_container(const Case& one) { return static_cast<bool>(one.facts.container.kind); }

// "0000:3b:00.0 (NVIDIA H100 80GB HBM3)"
std::string name_of(const Case& one, const PciDevice& gpu);

// Of NVML, by its address; nullptr: none.
const DeviceInfo* seen_by_nvml(const Facts& facts, const std::string& address);
// As NVML says it: "9.0"; "" it doesn't.
std::string capability_of(const DeviceInfo& device);

// The card. Where no table has its id, what NVML says of its capability counts.
Card identify(const Case& one, const PciDevice& gpu);
// The same for a check: a guess by the range of the id, and a card whose capability has no row, are noted as not known,
// so that something may be found with it, and never passed on it.
Card card_of(const Case& one, const PciDevice& gpu, Result& result);

// Does a network card reach memory by itself? "No" is not applicable.
bool has_rdma(const Case& one, Result& result);

// Is the loader's choice known? It is not without the libraries, the processor they are for, and LD_LIBRARY_PATH.
bool know_loader(const Case& one, Result& result);

// Asks NVML's facts of each GPU; `found` answers "" for nothing. A fact whose call failed is not known. One that a GPU
// does not have by itself is not asked of it, unless another GPU of its kind has it.
using FoundOnGpu = std::function<std::string(const DeviceInfo&)>;
void each_gpu(const Case& one, Result& result, std::initializer_list<const char*> facts, const FoundOnGpu& found);

}  // namespace assay::doctor
