// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Errors of CUDA's runtime library, with NVIDIA's numbers. One list, from which the names come too.
#pragma once

#define ASSAY_SIMT_ERRORS(error)                                                                                       \
  error(cudaErrorInvalidValue, 1, "invalid argument") error(cudaErrorMemoryAllocation, 2, "out of memory") error(      \
      cudaErrorInitializationError, 3, "initialization error")                                                         \
      error(cudaErrorInvalidConfiguration, 9, "invalid configuration argument") error(                                 \
          cudaErrorInvalidSymbol, 13, "invalid device symbol") error(cudaErrorInvalidMemcpyDirection, 21,              \
                                                                     "invalid copy direction for memcpy")              \
          error(cudaErrorInsufficientDriver, 35, "the driver is older than the library") error(                        \
              cudaErrorDevicesUnavailable, 46, "the device is busy or unavailable")                                    \
              error(cudaErrorInvalidDeviceFunction, 98, "invalid device function") error(                              \
                  cudaErrorNoDevice, 100, "no CUDA-capable device is detected") error(cudaErrorInvalidDevice, 101,     \
                                                                                      "invalid device ordinal")        \
                  error(cudaErrorNoKernelImageForDevice, 209, "no kernel image for the device") error(                 \
                      cudaErrorECCUncorrectable, 214,                                                                  \
                      "uncorrectable ECC error encountered") error(cudaErrorPeerAccessUnsupported, 217,                \
                                                                   "no peer access between two devices")               \
                      error(cudaErrorUnsupportedPtxVersion, 222, "PTX of an unsupported toolchain") error(             \
                          cudaErrorInvalidResourceHandle, 400,                                                         \
                          "invalid resource handle") error(cudaErrorNotReady, 600, "device not ready")                 \
                          error(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered") error(       \
                              cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")           \
                              error(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated") error(     \
                                  cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")            \
                                  error(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled") error( \
                                      cudaErrorAssert, 710, "device-side assert triggered")                            \
                                      error(cudaErrorHardwareStackError, 714, "hardware stack error") error(           \
                                          cudaErrorIllegalInstruction, 715, "an illegal instruction was encountered")  \
                                          error(cudaErrorMisalignedAddress, 716, "misaligned address")                 \
                                              error(cudaErrorInvalidAddressSpace, 717, "operation on another address space")      \
  error(cudaErrorLaunchFailure, 719, "unspecified launch failure") error(  \
                                                  cudaErrorCooperativeLaunchTooLarge, 720,                             \
                                                  "too many blocks in cooperative launch")                             \
                                                  error(cudaErrorNotPermitted, 800, "operation not permitted")         \
                                                      error(cudaErrorNotSupported, 801, "operation not supported")     \
                                                          error(cudaErrorSystemNotReady, 802,                          \
                                                                "system not yet initialized")                          \
                                                              error(cudaErrorSystemDriverMismatch, 803,                \
                                                                    "driver and display driver mismatch")              \
                                                                  error(cudaErrorInvalidClusterSize, 912,              \
                                                                        "the cluster can't be scheduled")              \
                                                                      error(cudaErrorUnknown, 999, "unknown error")

enum cudaError_t {
  cudaSuccess = 0,
#define ASSAY_SIMT_ERROR(name, number, text) name = number,
  ASSAY_SIMT_ERRORS(ASSAY_SIMT_ERROR)
#undef ASSAY_SIMT_ERROR
};
using cudaError = cudaError_t;
