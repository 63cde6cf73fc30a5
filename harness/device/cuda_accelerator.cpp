// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See cuda_device.h: a device in use. One stream for all work of a case, two events for its time. Memory is asked for
// buffer by buffer and given back at the end of the case. Trap: nothing here may leave work in the stream when it
// returns, except allocate() and fill(), which need no answer.
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>

#include "harness/device/cuda_device.h"
#include "harness/device/cuda_error.h"
#include "kernels/sm_clock.h"

namespace assay {
namespace {

// NVIDIA's documentation of cudaEventElapsedTime; a simulated device counts whole nanoseconds.
constexpr double event_resolution_s = 0.5e-6, simulated_resolution_s = 1e-9;

class CudaAccelerator final : public Accelerator {
 public:
  CudaAccelerator(DeviceInfo info, int number) : info_(std::move(info)) {
    ASSAY_CUDA(cudaSetDevice(number));
    // Memory may be used by kernels only behind the fills of allocate(): one blocking order for all of it.
    ASSAY_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    ASSAY_CUDA(cudaEventCreate(&begin_));
    ASSAY_CUDA(cudaEventCreate(&end_));
    clock_ = kernels::sm_clock_ops(kernels::Backend::cuda, static_cast<int>(info_.fact("capability")));
    stamp_count_ = static_cast<std::size_t>(info_.fact("multiprocessors"));
    if (clock_ != nullptr) ASSAY_CUDA(cudaMalloc(&stamps_, stamp_count_ * sizeof *stamps_));
  }
  // Errors have no meaning any more: the process ends, or has told them before.
  ~CudaAccelerator() override {
    for (const Block& block : blocks_) cudaFree(block.begin);
    cudaFree(stamps_);
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
    cudaStreamDestroy(stream_);
  }
  CudaAccelerator(const CudaAccelerator&) = delete;
  CudaAccelerator& operator=(const CudaAccelerator&) = delete;

  const DeviceInfo& info() const override { return info_; }
  void* stream() const override { return stream_; }
  std::string loss() const override { return not_freed_.empty() ? cuda_loss() : not_freed_; }

  std::uint64_t free_bytes() const override {
    std::size_t free = 0, all = 0;
    ASSAY_CUDA(cudaMemGetInfo(&free, &all));
    return free;
  }
  void* allocate(std::size_t bytes) override {
    void* memory = nullptr;
    ASSAY_CUDA(cudaMalloc(&memory, bytes));
    blocks_.push_back({static_cast<std::byte*>(memory), bytes});
    in_use_ += bytes;
    peak_ = std::max(peak_, in_use_);
    fill(memory, 0xA5, bytes);
    return memory;
  }
  void free_all() override {
    for (const Block& block : blocks_)
      if (const cudaError_t error = cudaFree(block.begin); error != cudaSuccess && not_freed_.empty())
        not_freed_ = cuda_sentence(error, "cudaFree");
    blocks_.clear();
    in_use_ = peak_ = 0;
  }
  bool owns(const void* memory) const override {
    const auto* p = static_cast<const std::byte*>(memory);
    return std::any_of(blocks_.begin(), blocks_.end(),
                       [p](const Block& block) { return p >= block.begin && p < block.begin + block.bytes; });
  }
  std::uint64_t peak_bytes() const override { return peak_; }

  void read(void* host, const void* from, std::size_t bytes) override {
    ASSAY_CUDA(cudaMemcpyAsync(host, from, bytes, cudaMemcpyDeviceToHost, stream_));
    ASSAY_CUDA(cudaStreamSynchronize(stream_));
  }
  void write(void* to, const void* host, std::size_t bytes) override {
    ASSAY_CUDA(cudaMemcpyAsync(to, host, bytes, cudaMemcpyHostToDevice, stream_));
    ASSAY_CUDA(cudaStreamSynchronize(stream_));
  }
  void fill(void* to, unsigned char value, std::size_t bytes) override {
    ASSAY_CUDA(cudaMemsetAsync(to, value, bytes, stream_));
  }

  double timed(const std::function<void()>& enqueue) override {
    check_launches("work before the timed region");
    ASSAY_CUDA(cudaEventRecord(begin_, stream_));
    enqueue();
    check_launches("launch of a timed kernel");
    ASSAY_CUDA(cudaEventRecord(end_, stream_));
    ASSAY_CUDA(cudaStreamSynchronize(stream_));
    float ms = 0;
    ASSAY_CUDA(cudaEventElapsedTime(&ms, begin_, end_));
    return static_cast<double>(ms) * 1e-3;
  }
  double resolution_s() const override { return info_.simulated ? simulated_resolution_s : event_resolution_s; }

  std::vector<ClockStamp> stamps() override {
    if (clock_ == nullptr) return {};
    const std::size_t bytes = stamp_count_ * sizeof *stamps_;
    fill(stamps_, 0, bytes);
    clock_->stamp({1, stream_}, stamps_, stamp_count_);
    check_launches("launch of the clock stamps");
    std::vector<kernels::SmClockStamp> read_back(stamp_count_);
    read(read_back.data(), stamps_, bytes);
    std::vector<ClockStamp> stamps;
    for (const kernels::SmClockStamp& stamp : read_back) stamps.push_back({stamp.cycles, stamp.ns});
    return stamps;
  }

 private:
  struct Block {
    std::byte* begin;
    std::size_t bytes;
  };

  DeviceInfo info_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  const kernels::SmClockOps* clock_ = nullptr;
  kernels::SmClockStamp* stamps_ = nullptr;
  std::size_t stamp_count_ = 0;
  std::vector<Block> blocks_;
  std::uint64_t in_use_ = 0, peak_ = 0;
  std::string not_freed_;  // why memory of a case could not be given back
};

}  // namespace

std::unique_ptr<Accelerator> open_cuda_device(const std::string& kind, int number) {
  std::vector<DeviceInfo> devices = cuda_devices(kind);
  if (number < 0 || static_cast<std::size_t>(number) >= devices.size())
    throw Error(fmt::format("{}:{} is not here: the driver sees {} devices", kind, number, devices.size()));
  return std::make_unique<CudaAccelerator>(std::move(devices[static_cast<std::size_t>(number)]), number);
}

}  // namespace assay
