// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The simulated device as assay-worker-simt has it: so small that benchmarks which size themselves by their device end
// soon. Set before main() runs, since manifests and facts are asked first. From the environment:
//   ASSAY_SIMT_CAPABILITY=9.0    compute capability, which chooses among the versions of a kernel
//   ASSAY_SIMT_SCHEDULE=NAME     in_order (the default), reverse, random, priority (runtime/rig.h)
//   ASSAY_SIMT_KERNELS=FILE      gets a line for each kernel that ran: the name of its function
//   ASSAY_SIMT_CLAIMS=4          a forged card: it says that it has so many multiprocessors (it has two)
//   ASSAY_SIMT_REAL_MEMORY=4194304   another one: of the 16 MiB that it says it has, each 4 MiB are the same ones
//   ASSAY_SIMT_FAULT=CALL:NUMBER@N   a scripted fault (the same): cudaGetDeviceCount:100, cudaStreamSynchronize:hang@40,
//                                    from the N-th such call on, or cudaMalloc:2@3-3, of the third one alone
// Its memory is out of the host's reach: whoever touches it outside of a kernel or a copy is ended, as on a GPU.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "runtime/memory.h"
#include "runtime/rig.h"
#include "runtime/state.h"

namespace assay::simt {
namespace {

constexpr int processors = 2, processor_threads = 256, l2_bytes = 32 << 10;
constexpr std::size_t memory_bytes = std::size_t{16} << 20;

[[noreturn]] void refuse(const char* name, const std::string& value, const char* wanted) {
  std::fprintf(stderr, "assay-worker-simt: %s is '%s'; it must be %s\n", name, value.c_str(), wanted);
  std::exit(64);
}

std::string variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

// "9.0" -> 90
int capability_of(const std::string& text) {
  int major = 0, minor = 0, end = 0;
  if (std::sscanf(text.c_str(), "%2d.%1d%n", &major, &minor, &end) != 2 || end != static_cast<int>(text.size()) ||
      major < 1 || minor < 0)
    refuse("ASSAY_SIMT_CAPABILITY", text, "a compute capability such as 9.0");
  return 10 * major + minor;
}

Schedule schedule_of(const std::string& text) {
  for (const Schedule schedule : all_schedules) {
    std::string name = name_of(schedule);
    for (char& c : name)
      if (c == ' ') c = '_';
    if (name == text) return schedule;
  }
  refuse("ASSAY_SIMT_SCHEDULE", text, "in_order, reverse, random or priority");
}

// A whole number above 0; 0 where it isn't set.
std::size_t count_of(const char* name) {
  const std::string text = variable(name, "");
  if (text.empty()) return 0;
  char* end = nullptr;
  const unsigned long count = std::strtoul(text.c_str(), &end, 10);
  if (*end != '\0' || count == 0 || count > memory_bytes) refuse(name, text, "a whole number above 0");
  return count;
}

[[maybe_unused]] const bool is_set = [] {
  set_processors(processors);
  set_processor_threads(processor_threads);
  set_l2(l2_bytes);
  set_memory(memory_bytes);
  set_capability(capability_of(variable("ASSAY_SIMT_CAPABILITY", "9.0")));
  set_schedule(schedule_of(variable("ASSAY_SIMT_SCHEDULE", "in_order")));
  if (const std::string fault = variable("ASSAY_SIMT_FAULT", ""); !fault.empty() && !set_fault(fault))
    refuse("ASSAY_SIMT_FAULT", fault, "CALL:NUMBER or CALL:hang, with @N or @N-M behind it or without");
  device().kernel_file = variable("ASSAY_SIMT_KERNELS", "");
  device().claimed_processors = static_cast<int>(count_of("ASSAY_SIMT_CLAIMS"));
  if (const std::size_t bytes = count_of("ASSAY_SIMT_REAL_MEMORY"); bytes != 0) device_memory().repeat_after(bytes);
  hide_memory();
  return true;
}();

}  // namespace
}  // namespace assay::simt
