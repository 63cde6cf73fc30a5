// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A device with memory and a queue of its own, as a worker uses it. The one there is, is CUDA's (cuda_accelerator.h); this
// header names nothing of it, so that what times and verifies is compiled without a toolkit. A call that fails throws
// DeviceError. Everything is called from the main thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/base/error.h"
#include "harness/device/device.h"

namespace assay {

// "cudaMemcpy: cudaErrorIllegalAddress (700): an illegal memory access was encountered". `lasting`: every later call of
// this process fails, too, so that only a new process can go on.
class DeviceError : public Error {
 public:
  DeviceError(const std::string& message, int number, bool lasting)
      : Error(message), number_(number), lasting_(lasting) {}
  int number() const { return number_; }
  bool lasting() const { return lasting_; }

 private:
  int number_;
  bool lasting_;
};

// Both clocks of a multiprocessor at one instant.
struct ClockStamp {
  std::uint64_t cycles = 0;  // of its own clock
  std::uint64_t ns = 0;      // of the device's timer; 0: this multiprocessor was not seen
};

class Accelerator {
 public:
  virtual ~Accelerator() = default;
  virtual const DeviceInfo& info() const = 0;
  virtual void* stream() const = 0;
  // Why the device is of no use to this process any more: an error of a kernel, or worse, or memory that it would not
  // take back. Empty: it is of use.
  virtual std::string loss() const = 0;

  // --- memory of the case -----------------------------------------------------------------------------------------
  virtual std::uint64_t free_bytes() const = 0;  // as the driver sees it
  // Poisoned with 0xA5, aligned to 256 bytes.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void free_all() = 0;  // never throws: what goes wrong is told by loss()
  virtual bool owns(const void* memory) const = 0;
  // Most bytes that were allocated at once since the last free_all().
  virtual std::uint64_t peak_bytes() const = 0;
  // After all work before; they return when it is done.
  virtual void read(void* host, const void* from, std::size_t bytes) = 0;
  virtual void write(void* to, const void* host, std::size_t bytes) = 0;
  virtual void fill(void* to, unsigned char value, std::size_t bytes) = 0;

  // --- time -------------------------------------------------------------------------------------------------------
  // Seconds between two events around what `enqueue` puts into the stream; waits for it.
  virtual double timed(const std::function<void()>& enqueue) = 0;
  // Shortest time that timed() tells from another.
  virtual double resolution_s() const = 0;
  // By multiprocessor; empty where this build has no kernel for it.
  virtual std::vector<ClockStamp> stamps() = 0;
};

}  // namespace assay
