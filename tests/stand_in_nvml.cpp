// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A library with NVML's names that knows one made-up GPU and one it may not look at: what telemetry meets where there
// is no GPU. Only for tests. ASSAY_STAND_IN_NVML=hang: it never answers; =crash: it ends the process; =program: it
// starts one that makes the file ASSAY_STAND_IN_FILE, as the real one starts nvidia-modprobe; =lost: the GPU is lost;
// =mig: one of its instances can't be asked; =instances: it has one; =confidential: it is in confidential mode, and not
// ready; =count: nobody can count the devices.
#include <nvml.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {
bool wished(const char* word) {
  const char* wish = std::getenv("ASSAY_STAND_IN_NVML");
  return wish != nullptr && std::strcmp(wish, word) == 0;
}
}  // namespace

extern "C" {

nvmlReturn_t nvmlInit_v2() {
  if (wished("crash")) std::abort();
  while (wished("hang")) pause();
  if (wished("program")) {
    const pid_t child = fork();
    if (child == 0) {
      execl("/bin/sh", "sh", "-c", ": > \"$ASSAY_STAND_IN_FILE\"", static_cast<char*>(nullptr));
      _exit(1);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) return NVML_ERROR_DRIVER_NOT_LOADED;
  }
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t, nvmlEnableState_t*, nvmlEnableState_t*) {
  return wished("lost") ? NVML_ERROR_GPU_IS_LOST : NVML_ERROR_NOT_SUPPORTED;
}
nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t, nvmlTemperatureSensors_t, unsigned* degrees) {
  *degrees = 40;
  return wished("lost") ? NVML_ERROR_GPU_IS_LOST : NVML_SUCCESS;
}
nvmlReturn_t nvmlSystemGetConfComputeState(nvmlConfComputeSystemState_t* state) {
  state->ccFeature = wished("confidential");
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlSystemGetConfComputeGpusReadyState(unsigned* ready) {
  *ready = NVML_CC_ACCEPTING_CLIENT_REQUESTS_FALSE;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t, unsigned* now, unsigned* later) {
  *now = *later = wished("mig") || wished("instances");
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t, unsigned* count) {
  *count = 3;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t, unsigned index, nvmlDevice_t*) {
  return index == 0 ? NVML_SUCCESS : index == 1 && wished("mig") ? NVML_ERROR_NO_PERMISSION : NVML_ERROR_NOT_FOUND;
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
  return wished("count") ? NVML_ERROR_UNKNOWN : NVML_SUCCESS;
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
