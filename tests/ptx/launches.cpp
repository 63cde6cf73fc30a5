// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Between the kernels and libcudart. A symbol of the program comes before the same one of a library, so some of CUDA's
// functions pass here: those with which nvcc's code announces its PTX and each kernel, the launch, and the question for
// the number of multiprocessors. And main(): after the tests, $ASSAY_PTX_KERNELS names every kernel of the program, in
// which tests it ran and whether it failed there; one line each: kernel, its name in C++, test, launches, failures. The
// test is empty for a kernel that nothing launched.
#include "launches.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <list>
#include <map>
#include <memory>
#include <string>

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

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

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
};

}  // namespace

void set_processors(int count) { processors = count; }

}  // namespace assay::ptx

extern "C" {

// The names are CUDA's.
// NOLINTBEGIN(bugprone-reserved-identifier)
void** __cudaRegisterFatBinary(void* wrapper) {
  struct Wrapper {
    int magic, version;
    const char* image;
    void* file;
  };
  static std::list<Wrapper> kept;
  Wrapper& copy = kept.emplace_back(*static_cast<const Wrapper*>(wrapper));
  copy.image = assay::ptx::image_for_interpreter(copy.image);
  return assay::ptx::next<void**(void*)>("__cudaRegisterFatBinary")(&copy);
}
void __cudaRegisterFunction(void** image, const char* host, char* device, const char* name, int limit, void* a, void* b,
                            void* c, void* d, int* size) {
  assay::ptx::kernels()[host].name = name;
  using Function = void(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
  assay::ptx::next<Function>("__cudaRegisterFunction")(image, host, device, name, limit, a, b, c, d, size);
}
// NOLINTEND(bugprone-reserved-identifier)

// The interpreter has done the work when a launch returns.
int cudaLaunchKernelExC(const void* config, const void* kernel, void** arguments) {
  const auto error_of_device = [] { return assay::ptx::next<int(void*)>("cudaStreamQuery")(nullptr); };
  const bool had_failed = error_of_device() != 0;
  const int error =
      assay::ptx::next<int(const void*, const void*, void**)>("cudaLaunchKernelExC")(config, kernel, arguments);
  if (!had_failed) {
    assay::ptx::Count& count = assay::ptx::kernels()[kernel].tests[assay::ptx::current_test()];
    ++count.launches;
    if (error != 0 || error_of_device() != 0) ++count.failures;
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
  testing::UnitTest::GetInstance()->listeners().Append(new assay::ptx::EachTestOnItsOwn);
  const int failed = RUN_ALL_TESTS();
  if (const char* path = std::getenv("ASSAY_PTX_KERNELS")) assay::ptx::write_report(path);
  return failed;
}
