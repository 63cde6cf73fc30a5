// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A library with NVML's names that knows one made-up GPU and one it may not look at: what telemetry meets where there
// is no GPU. Only for tests. ASSAY_STAND_IN_NVML=hang: it never answers; =crash: it ends the process.
#include <nvml.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {

nvmlReturn_t nvmlInit_v2() {
  const char* wish = std::getenv("ASSAY_STAND_IN_NVML");
  if (wish != nullptr && std::strcmp(wish, "crash") == 0) std::abort();
  while (wish != nullptr && std::strcmp(wish, "hang") == 0) pause();
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlShutdown() { return NVML_SUCCESS; }
const char* nvmlErrorString(nvmlReturn_t) { return "an error of the stand-in"; }
nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned length) {
  std::snprintf(version, length, "999.99.01");
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 13020;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* device) {
  static int gpu = 0;
  *device = reinterpret_cast<nvmlDevice_t>(&gpu);
  return index == 0 ? NVML_SUCCESS : NVML_ERROR_NO_PERMISSION;
}
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t, char* name, unsigned length) {
  std::snprintf(name, length, "Stand-in GPU");
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t, char* uuid, unsigned length) {
  std::snprintf(uuid, length, "GPU-00000000-0000-0000-0000-000000000001");
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t, nvmlPciInfo_t* pci) {
  std::memset(pci, 0, sizeof *pci);
  std::snprintf(pci->busId, sizeof pci->busId, "00000000:17:00.0");
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t, nvmlMemory_t* memory) {
  memory->total = 80ULL << 30;
  memory->free = 79ULL << 30;
  memory->used = 1ULL << 30;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t, unsigned* milliwatts) {
  *milliwatts = 700000;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t, nvmlClockType_t type, unsigned* megahertz) {
  *megahertz = 1980;
  return type == NVML_CLOCK_SM ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}
nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t, int* major, int* minor) {
  *major = 9;
  *minor = 0;
  return NVML_SUCCESS;
}

}  // extern "C"
