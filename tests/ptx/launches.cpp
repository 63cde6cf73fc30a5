// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Between the kernels and libcudart. A symbol of the program comes before the same one of a library, so some of CUDA's
// functions pass here: the one with which nvcc's code announces each kernel, the launch, and the question for the
// number of multiprocessors. And main(): it refuses to run without a device (exit 77), leaves out the tests that are
// for other devices, and after the tests $ASSAY_PTX_KERNELS names every kernel of the program, in which tests it ran
// and whether it failed there; one line each: kernel, its name in C++, test, launches, failures. The test is empty for
// a kernel that nothing launched. A test that fails before any launch does is named: of that no kernel with an unknown
// instruction is the reason.
#include "launches.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "kernels/mma.h"
#include "runtime/rig.h"

namespace assay::ptx {
namespace {

struct Count {
  unsigned launches = 0, failures = 0;
};

struct Kernel {
  std::string name;
  std::map<std::string, Count> tests;
};

// By the address that stands for it on the host. Filled before main().
std::map<const void*, Kernel>& kernels() {
  static std::map<const void*, Kernel> all;
  return all;
}

int processors = 2;

bool has_device_failed() { return next<int()>("cudaDeviceSynchronize")() != 0; }

std::string current_test() {
  const testing::TestInfo* const test = testing::UnitTest::GetInstance()->current_test_info();
  return test != nullptr ? std::string(test->test_suite_name()) + "." + test->name() : "";
}

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return text != nullptr ? text.get() : name;
}

void write_report(const char* path) {
  std::ofstream out(path);
  for (const auto& [address, kernel] : kernels()) {
    const std::string start = kernel.name + "\t" + demangled(kernel.name) + "\t";
    if (kernel.tests.empty()) out << start << "\t0\t0\n";
    for (const auto& [test, count] : kernel.tests) {
      out << start << test << "\t" << count.launches << "\t" << count.failures << "\n";
    }
  }
}

// An error stays until the device is reset; the next test starts without the last one's.
class EachTestOnItsOwn : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override {
    simt::reset();
    set_processors(2);
  }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    is_alone_ |= result.failed() && !has_device_failed();  // GoogleTest doesn't say here which test it is
  }
  void OnTestEnd(const testing::TestInfo&) override {
    if (is_alone_) std::printf("failed before any launch did: %s\n", current_test().c_str());
    is_alone_ = false;
  }

  bool is_alone_ = false;
};

struct Device {
  std::string name;  // empty: there is none
  std::string problem;
  int capability = 0;
};

Device find_device() {
  Device device;
  int count = 0;
  const int error = next<int(int*)>("cudaGetDeviceCount")(&count);
  if (error != 0 || count == 0) {
    const char* const text = error != 0 ? next<const char*(int)>("cudaGetErrorString")(error) : "there are 0 devices";
    device.problem = std::string("cudaGetDeviceCount says ") + std::to_string(error) + ": " + text;
    return device;
  }
  const auto attribute = [](int which) {
    int value = 0;
    next<int(int*, int, int)>("cudaDeviceGetAttribute")(&value, which, 0);
    return value;
  };
  constexpr int major = 75, minor = 76;
  device.capability = 10 * attribute(major) + attribute(minor);
  device.name = "device 0 of " + std::to_string(count) + ", compute capability " +
                std::to_string(device.capability / 10) + "." + std::to_string(device.capability % 10);
  return device;
}

// Tests whose kernels have no code for other devices, by the names that scripts/cmake/AssayCuda.cmake knows. Those of
// fp8 products need a device that has them and the machine code for it. Everything else needs 8.0, as mma does.
struct Needs {
  const char* part;  // of the file's name, or of the test's
  int from, below;
};
constexpr Needs needs[] = {
    {"_hopper_test.cpp", 90, 91},
    {"_bulk_test.cpp", 90, 1000},
#ifdef ASSAY_FOR_A_GPU
    {"Table", 1000, 1000},  // which version a device gets: this program has the code of few
    {"conflicts_test.cpp", 1000, 1000},
#endif
};

bool runs_on(const testing::TestInfo& test, int capability) {
  const std::string file = test.file(), name = test.name();
  for (const Needs& need : needs) {
    const bool is_meant = file.find(need.part) != std::string::npos || name.find(need.part) != std::string::npos;
    if (is_meant && (capability < need.from || need.below <= capability)) return false;
  }
  const bool is_fp8 = name.find("E4m3") != std::string::npos || name.find("E5m2") != std::string::npos;
  return !is_fp8 || kernels::cuda_versions<kernels::MmaOps>.find(capability, &kernels::MmaOps::e4m3) != nullptr;
}

// Added to the filter; how many.
int leave_out_tests_for_others(int capability) {
  std::string names;
  int count = 0;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const testing::TestSuite& suite = *all.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const testing::TestInfo& test = *suite.GetTestInfo(t);
      if (runs_on(test, capability)) continue;
      names += std::string(":") + suite.name() + "." + test.name();
      ++count;
    }
  }
  if (names.empty()) return 0;
  std::string filter = GTEST_FLAG_GET(filter);
  filter += filter.find('-') == std::string::npos ? "-" + names.substr(1) : names;
  GTEST_FLAG_SET(filter, filter);
  return count;
}

}  // namespace

void set_processors(int count) { processors = count; }

}  // namespace assay::ptx

extern "C" {

// The names are CUDA's.
// NOLINTBEGIN(bugprone-reserved-identifier)
void __cudaRegisterFunction(void** image, const char* host, char* device, const char* name, int limit, void* a, void* b,
                            void* c, void* d, int* size) {
  assay::ptx::kernels()[host].name = name;
  using Function = void(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
  assay::ptx::next<Function>("__cudaRegisterFunction")(image, host, device, name, limit, a, b, c, d, size);
}
// NOLINTEND(bugprone-reserved-identifier)

// What goes wrong in a kernel is its own failure, and not the next one's: nothing is under way when a launch returns.
int cudaLaunchKernelExC(const void* config, const void* kernel, void** arguments) {
  const bool had_failed = assay::ptx::has_device_failed();
  const int error =
      assay::ptx::next<int(const void*, const void*, void**)>("cudaLaunchKernelExC")(config, kernel, arguments);
  if (!had_failed) {
    assay::ptx::Count& count = assay::ptx::kernels()[kernel].tests[assay::ptx::current_test()];
    ++count.launches;
    if (error != 0 || assay::ptx::has_device_failed()) ++count.failures;
  }
  return error;
}

int cudaDeviceGetAttribute(int* value, int attribute, int device) {
  constexpr int multiprocessors = 16;
  if (attribute != multiprocessors) {
    return assay::ptx::next<int(int*, int, int)>("cudaDeviceGetAttribute")(value, attribute, device);
  }
  *value = assay::ptx::processors;
  return 0;
}

}  // extern "C"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!testing::GTEST_FLAG(list_tests)) {
    const assay::ptx::Device device = assay::ptx::find_device();
    if (device.name.empty()) {
      std::fprintf(stderr, "no device, so no kernel was tested: %s\n", device.problem.c_str());
      return 77;
    }
    // Not even an older image runs there as it should: in it, what needs 8.0 is left out.
    const auto& versions = assay::kernels::cuda_versions<assay::kernels::MmaOps>;
    if (versions.find(device.capability) == nullptr) {
      std::fprintf(stderr, "%s: no kernel was tested: %s\n", device.name.c_str(),
                   versions.describe("mma", device.capability).c_str());
      return 77;
    }
    const int others = assay::ptx::leave_out_tests_for_others(device.capability);
    std::printf("%s; %d tests are for other devices\n", device.name.c_str(), others);
  }
  testing::UnitTest::GetInstance()->listeners().Append(new assay::ptx::EachTestOnItsOwn);
  const int failed = RUN_ALL_TESTS();
  if (const char* path = std::getenv("ASSAY_PTX_KERNELS")) assay::ptx::write_report(path);
  return failed;
}
