// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Streams, events and copies of the rig: a host that forgets to wait is seen, one that waits as CUDA says never is. And
// what the simulated device says about itself.
#include <cstring>

#include "in_order.h"

namespace assay::simt {
namespace {

using kernels::launch;
using testing::HasSubstr;

__global__ void set_to(unsigned* data, unsigned value) { *data = value; }
__global__ void copy_and_add(unsigned* to, const unsigned* from) { *to = *from + 1; }

// Memory that the host may read and write as well, with a first value.
class Shared {
 public:
  explicit Shared(unsigned value, bool managed = true) : managed_(managed) {
    succeed(managed ? cudaMallocManaged(&p_, sizeof *p_) : cudaMallocHost(&p_, sizeof *p_));
    *p_ = value;
  }
  ~Shared() { managed_ ? cudaFree(p_) : cudaFreeHost(p_); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  unsigned* data() const { return p_; }
  unsigned now() const { return *p_; }
  void set(unsigned value) { *p_ = value; }

 private:
  unsigned* p_ = nullptr;
  bool managed_;
};

class NewStream {
 public:
  explicit NewStream(unsigned flags = cudaStreamNonBlocking) { succeed(cudaStreamCreateWithFlags(&stream_, flags)); }
  ~NewStream() { cudaStreamDestroy(stream_); }
  NewStream(const NewStream&) = delete;
  NewStream& operator=(const NewStream&) = delete;
  operator cudaStream_t() const { return stream_; }  // as CUDA's own

 private:
  cudaStream_t stream_ = nullptr;
};

class NewEvent {
 public:
  NewEvent() { succeed(cudaEventCreate(&event_)); }
  ~NewEvent() { cudaEventDestroy(event_); }
  NewEvent(const NewEvent&) = delete;
  NewEvent& operator=(const NewEvent&) = delete;
  operator cudaEvent_t() const { return event_; }  // NOLINT: as CUDA's own

 private:
  cudaEvent_t event_ = nullptr;
};

void start(void (*kernel)(unsigned*, unsigned), cudaStream_t stream, unsigned* data, unsigned value) {
  succeed(launch(kernel, {dim3(1), dim3(1)}, stream, data, value));
}
void start_copy(cudaStream_t stream, unsigned* to, const unsigned* from) {
  succeed(launch(copy_and_add, {dim3(1), dim3(1)}, stream, to, from));
}

class SimtStreams : public InOrder {
 protected:
  // How many of 40 random orders and of all others give another value than `expected`.
  template <class Run>
  static int that_differ(unsigned expected, const Run& run) {
    int differ = 0;
    for (const Schedule schedule : {Schedule::in_order, Schedule::reverse, Schedule::priority}) {
      set_schedule(schedule);
      differ += run() != expected ? 1 : 0;
    }
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      set_schedule(Schedule::random, seed);
      differ += run() != expected ? 1 : 0;
    }
    return differ;
  }
};

TEST_F(SimtStreams, AHostThatForgetsToWaitReadsWhatWasThere) {
  for (const Schedule schedule : all_schedules) {
    set_schedule(schedule);
    Shared data(7), pinned(7, false);
    DeviceArray<unsigned> source(std::vector<unsigned>(1, 5));
    start(set_to, nullptr, data.data(), 5);
    succeed(cudaMemcpyAsync(pinned.data(), source.data(), 4, cudaMemcpyDeviceToHost));
    const unsigned early = is_lazy(schedule) ? 7 : 5;
    EXPECT_EQ(data.now(), early) << name_of(schedule);
    EXPECT_EQ(pinned.now(), early) << name_of(schedule);
    succeed(cudaDeviceSynchronize());
    EXPECT_EQ(data.now(), 5u) << name_of(schedule);
    EXPECT_EQ(pinned.now(), 5u) << name_of(schedule);
  }
}

TEST_F(SimtStreams, WaitingForAnotherStreamIsNotWaitingForThisOne) {
  set_schedule(Schedule::priority);
  Shared data(7);
  const NewStream mine, other;
  start(set_to, mine, data.data(), 5);
  start(set_to, other, data.data(), 6);
  succeed(cudaStreamSynchronize(other));
  EXPECT_EQ(data.now(), 6u);
  succeed(cudaStreamSynchronize(mine));
  EXPECT_EQ(data.now(), 5u) << "two streams have no order";
}

TEST_F(SimtStreams, AnEventOrdersTwoStreamsAndNothingElseDoes) {
  const auto run = [](bool waits) {
    Shared first(1), second(1);
    const NewStream producer, consumer;
    const NewEvent made;
    start(set_to, producer, first.data(), 10);
    succeed(cudaEventRecord(made, producer));
    if (waits) succeed(cudaStreamWaitEvent(consumer, made));
    start_copy(consumer, second.data(), first.data());
    start(set_to, producer, first.data(), 20);  // behind the event: free to come before or after the copy
    succeed(cudaStreamSynchronize(consumer));
    const unsigned result = second.now();
    succeed(cudaDeviceSynchronize());
    return result == 21 ? 11 : result;
  };
  EXPECT_EQ(that_differ(11, [&] { return run(true); }), 0);
  EXPECT_GT(that_differ(11, [&] { return run(false); }), 5);
}

TEST_F(SimtStreams, TheDefaultStreamWaitsForAllThatAreNotNonBlocking) {
  const auto run = [](unsigned flags, bool default_first) {
    Shared first(1), second(1);
    const NewStream stream(flags);
    start(set_to, default_first ? nullptr : static_cast<cudaStream_t>(stream), first.data(), 10);
    start_copy(default_first ? static_cast<cudaStream_t>(stream) : nullptr, second.data(), first.data());
    succeed(cudaDeviceSynchronize());
    return second.now();
  };
  for (const bool default_first : {false, true}) {
    EXPECT_EQ(that_differ(11, [&] { return run(cudaStreamDefault, default_first); }), 0);
    EXPECT_GT(that_differ(11, [&] { return run(cudaStreamNonBlocking, default_first); }), 5);
  }
}

TEST_F(SimtStreams, OrdinaryMemoryIsReadByTheCallPinnedMemoryLater) {
  set_schedule(Schedule::priority);
  unsigned ordinary = 3;
  Shared pinned(3, false);
  DeviceArray<unsigned> from_ordinary(1), from_pinned(1);
  succeed(cudaMemcpyAsync(from_ordinary.data(), &ordinary, 4, cudaMemcpyHostToDevice));
  succeed(cudaMemcpyAsync(from_pinned.data(), pinned.data(), 4, cudaMemcpyHostToDevice));
  ordinary = 4;
  pinned.set(4);
  EXPECT_EQ(from_ordinary.values()[0], 3u);
  EXPECT_EQ(from_pinned.values()[0], 4u);
}

TEST_F(SimtStreams, EventsTellWhenAndPollingEnds) {
  for (const Schedule schedule : all_schedules) {
    set_schedule(schedule);
    Shared data(0);
    const NewStream stream;
    const NewEvent begin, end, never;
    succeed(cudaEventRecord(begin, stream));
    for (unsigned k = 0; k < 3; ++k) start(set_to, stream, data.data(), k);
    succeed(cudaEventRecord(end, stream));
    float ms = -1;
    EXPECT_EQ(cudaEventElapsedTime(&ms, begin, end), is_lazy(schedule) ? cudaErrorNotReady : cudaSuccess);
    int asked = 1;
    while (cudaEventQuery(end) == cudaErrorNotReady) ++asked;
    EXPECT_EQ(asked > 1, is_lazy(schedule)) << name_of(schedule);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "not ready is no error";
    succeed(cudaEventElapsedTime(&ms, begin, end));
    EXPECT_GE(ms, 0);
    EXPECT_EQ(data.now(), 2u);
    EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
    EXPECT_EQ(cudaEventElapsedTime(&ms, begin, never), cudaErrorInvalidResourceHandle);
    cudaGetLastError();
    succeed(cudaEventSynchronize(never));
  }
}

TEST_F(SimtStreams, ADestroyedStreamStillEndsItsWork) {
  set_schedule(Schedule::random);
  Shared data(0);
  cudaStream_t stream = nullptr;
  succeed(cudaStreamCreate(&stream));
  start(set_to, stream, data.data(), 5);
  succeed(cudaStreamDestroy(stream));
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(launch(set_to, {dim3(1), dim3(1)}, stream, data.data(), 1u), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
  succeed(cudaDeviceSynchronize());
  EXPECT_EQ(data.now(), 5u);
}

TEST_F(SimtStreams, MemoryIsFreedInTheOrderOfItsStream) {
  set_schedule(Schedule::priority);
  const NewStream stream, other;
  unsigned* memory = nullptr;
  succeed(cudaMallocAsync(&memory, 4, stream));
  start(set_to, stream, memory, 5);
  succeed(cudaFreeAsync(memory, stream));
  start(set_to, other, memory, 6);  // nothing makes it wait for the other stream, nor the other for it
  succeed(cudaStreamSynchronize(stream));
  EXPECT_EQ(cudaStreamSynchronize(other), cudaErrorIllegalAddress);
  EXPECT_THAT(fault(), HasSubstr("memory of the device that is not allocated"));
}

TEST_F(SimtStreams, AFaultIsToldByTheCallThatWaitsAndEndsAll) {
  for (const Schedule schedule : {Schedule::random, Schedule::priority}) {
    reset();
    set_schedule(schedule);
    Shared data(7);
    start(set_to, nullptr, nullptr, 1);
    start(set_to, nullptr, data.data(), 5);
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    EXPECT_EQ(data.now(), 7u) << "what came behind the fault never ran";
    EXPECT_THAT(cudaGetErrorString(cudaErrorIllegalAddress), HasSubstr("a null pointer"));
  }
}

TEST_F(SimtStreams, AFunctionOfTheHostRunsInItsTurn) {
  set_schedule(Schedule::random);
  Shared data(0);
  start(set_to, nullptr, data.data(), 5);
  succeed(cudaLaunchHostFunc(
      nullptr, [](void* p) { *static_cast<unsigned*>(p) *= 3; }, data.data()));
  start_copy(nullptr, data.data(), data.data());
  succeed(cudaStreamSynchronize(nullptr));
  EXPECT_EQ(data.now(), 16u);
}

// The device ----------------------------------------------------------------------------------------------------------

TEST_F(SimtStreams, MemoryHasAKindAndALimit) {
  unsigned ordinary = 0;
  const Shared managed(0), pinned(0, false);
  const auto kind = [](const void* p) {
    cudaPointerAttributes attributes{};
    succeed(cudaPointerGetAttributes(&attributes, p));
    return attributes.type;
  };
  EXPECT_EQ(kind(&ordinary), cudaMemoryTypeUnregistered);
  EXPECT_EQ(kind(managed.data()), cudaMemoryTypeManaged);
  EXPECT_EQ(kind(pinned.data()), cudaMemoryTypeHost);
  EXPECT_EQ(cudaFree(pinned.data()), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(managed.data()), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(&ordinary, pinned.data(), 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  succeed(cudaMemcpy(&ordinary, pinned.data(), 4, cudaMemcpyDefault));
  cudaGetLastError();

  std::size_t before = 0, after = 0, all = 0;
  succeed(cudaMemGetInfo(&before, &all));
  const DeviceArray<char> some(10000);
  succeed(cudaMemGetInfo(&after, nullptr));
  EXPECT_GE(before - after, 10000u);
  set_memory(1 << 20);
  void* more = nullptr;
  EXPECT_EQ(cudaMalloc(&more, 1 << 20), cudaErrorMemoryAllocation);
  EXPECT_EQ(more, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  set_memory(all);
}

TEST_F(SimtStreams, TheDeviceKnowsItself) {
  cudaDeviceProp properties{};
  succeed(cudaGetDeviceProperties(&properties, 0));
  EXPECT_THAT(properties.name, HasSubstr("SIMT rig"));
  int major = 0, number = 7, can = 7;
  succeed(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  EXPECT_EQ(major, properties.major);
  EXPECT_EQ(cudaDeviceGetAttribute(&major, static_cast<cudaDeviceAttr>(127), 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
  char id[16];
  succeed(cudaDeviceGetPCIBusId(id, sizeof id, 0));
  succeed(cudaDeviceGetByPCIBusId(&number, id));
  EXPECT_EQ(number, 0);
  succeed(cudaDeviceCanAccessPeer(&can, 0, 0));
  EXPECT_EQ(can, 0);
  cudaFuncAttributes attributes{};
  succeed(cudaFuncGetAttributes(&attributes, set_to));
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 48 << 10);
  int blocks = 0;
  succeed(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, set_to, 256, 100 << 10));
  EXPECT_EQ(blocks, 2);  // of 228 KiB
  EXPECT_STREQ(cudaGetErrorName(cudaErrorNotReady), "cudaErrorNotReady");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
}

}  // namespace
}  // namespace assay::simt
