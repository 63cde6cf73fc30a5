// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See cuda_device.h: facts.
#include "harness/device/cuda_device.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <array>

#include "harness/device/cuda_error.h"
#include "kernels/sm_clock.h"

namespace assay {
namespace {

// 0 where this driver doesn't know the attribute.
double attribute(cudaDeviceAttr which, int number) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, which, number) == cudaSuccess) return value;
  cudaGetLastError();
  return 0;
}

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

void add_facts(DeviceInfo& device, const cudaDeviceProp& p, int number) {
  int driver = 0, runtime = 0;
  ASSAY_CUDA(cudaDriverGetVersion(&driver));
  ASSAY_CUDA(cudaRuntimeGetVersion(&runtime));
  const auto kilo = [&](cudaDeviceAttr which) { return 1e3 * attribute(which, number); };
  device.facts = {{"capability", 10 * p.major + p.minor},
                  {"wgmma", p.major == 9 && p.minor == 0 ? 1 : 0},
                  {"multiprocessors", p.multiProcessorCount},
                  {"threads_per_multiprocessor", p.maxThreadsPerMultiProcessor},
                  {"memory_bytes", static_cast<double>(p.totalGlobalMem)},
                  {"cache.l2_bytes", p.l2CacheSize},
                  {"shared_bytes_per_block", static_cast<double>(p.sharedMemPerBlockOptin)},
                  {"shared_bytes_per_multiprocessor", static_cast<double>(p.sharedMemPerMultiprocessor)},
                  {"clock_hz", kilo(cudaDevAttrClockRate)},
                  {"memory_clock_hz", kilo(cudaDevAttrMemoryClockRate)},
                  {"memory_bus_bits", attribute(cudaDevAttrGlobalMemoryBusWidth, number)},
                  {"ecc_on", p.ECCEnabled},
                  {"integrated", p.integrated},
                  {"copy_engines", p.asyncEngineCount},
                  {"cluster_launch", attribute(cudaDevAttrClusterLaunch, number)},
                  {"driver_cuda_version", driver},
                  {"runtime_cuda_version", runtime},
                  {"has_code", kernels::sm_clock_ops(kernels::Backend::cuda, 10 * p.major + p.minor) != nullptr}};
  for (const char* unknown : {"clock_hz", "memory_clock_hz", "memory_bus_bits"})
    if (device.facts[unknown] <= 0) device.facts.erase(unknown);
}

DeviceInfo describe(const std::string& kind, int number) {
  cudaDeviceProp properties{};
  ASSAY_CUDA(cudaGetDeviceProperties(&properties, number));
  DeviceInfo device;
  device.id = fmt::format("{}:{}", kind, number);
  device.kind = kind;
  device.name = properties.name;
  device.simulated = kind != "cuda";
  std::array<char, 32> address{};
  ASSAY_CUDA(cudaDeviceGetPCIBusId(address.data(), static_cast<int>(address.size()), number));
  device.pci_address = address.data();
  for (char& c : device.pci_address)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');  // as sysfs writes it
  device.uuid = uuid_text(properties.uuid);
  add_facts(device, properties, number);
  return device;
}

}  // namespace

std::string cuda_built_with() { return fmt::format("{}.{}", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10); }

std::vector<DeviceInfo> cuda_devices(const std::string& kind) {
  int count = 0;
  ASSAY_CUDA(cudaGetDeviceCount(&count));
  std::vector<DeviceInfo> devices;
  for (int number = 0; number < count; ++number) devices.push_back(describe(kind, number));
  return devices;
}

}  // namespace assay
