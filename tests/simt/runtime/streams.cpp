// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "streams.h"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>
#include <vector>

#include "memory.h"
#include "simulated_time.h"
#include "state.h"

namespace {

struct Work {
  std::function<void()> run;
  std::vector<std::shared_ptr<Work>> after;  // beside the one before it in its stream
  bool is_done = false;
};
using WorkPointer = std::shared_ptr<Work>;

bool is_done(const WorkPointer& work) { return work == nullptr || work->is_done; }

}  // namespace

struct CUstream_st {
  bool blocking = true;  // keeps the order with the default stream
  int priority = 0;
  bool destroyed = false;  // but its work isn't over
  std::deque<WorkPointer> works;
};

struct CUevent_st {
  bool timed = true;
  // Of the last record.
  WorkPointer work;
  std::shared_ptr<std::uint64_t> time;
};

namespace assay::simt {
namespace {

constexpr int greatest_priority = -5;

struct Streams {
  CUstream_st legacy, per_thread;
  std::vector<std::unique_ptr<CUstream_st>> made;
  std::set<CUevent_st*> events;

  CUstream_st* find(cudaStream_t stream) {
    if (stream == nullptr || stream == cudaStreamLegacy) return &legacy;
    if (stream == cudaStreamPerThread) return &per_thread;
    const auto found = std::find_if(made.begin(), made.end(), [&](const auto& s) { return s.get() == stream; });
    return found != made.end() && !stream->destroyed ? stream : nullptr;
  }
  template <class Do>
  void each(const Do& act) {
    act(legacy);
    act(per_thread);
    for (const auto& s : made) act(*s);
  }
  void forget_destroyed() {
    std::erase_if(made, [](const auto& s) { return s->destroyed && s->works.empty(); });
  }
};

Streams& streams() {
  static Streams all;
  return all;
}

bool can_run(const CUstream_st& stream) {
  return !stream.works.empty() &&
         std::all_of(stream.works.front()->after.begin(), stream.works.front()->after.end(), is_done);
}

// The streams of which something must run before the first `count` entries of `target` are done, all of them.
void needed_for(CUstream_st* target, std::size_t count, std::set<CUstream_st*>* needed) {
  if (count == 0 || !needed->insert(target).second) return;
  for (std::size_t i = 0; i < count; ++i) {
    for (const WorkPointer& other : target->works[i]->after) {
      if (is_done(other)) continue;
      streams().each([&](CUstream_st& s) {
        const auto place = std::find(s.works.begin(), s.works.end(), other);
        if (place != s.works.end()) needed_for(&s, static_cast<std::size_t>(place - s.works.begin()) + 1, needed);
      });
    }
  }
}

void run_first(CUstream_st* stream) {
  const WorkPointer work = stream->works.front();
  const std::function<void()> run = std::move(work->run);
  if (device().sticky == cudaSuccess && run) {
    const DeviceMemory::Shown shown;
    run();
  }
  work->after.clear();
  work->is_done = true;
  stream->works.pop_front();
  if (device().sticky != cudaSuccess) drop_all();
}

// One entry, of these streams (none: of any). False: none waits there.
bool run_one(const std::set<CUstream_st*>& of) {
  std::vector<CUstream_st*> ready;
  streams().each([&](CUstream_st& s) {
    if (can_run(s) && (of.empty() || of.count(&s) != 0)) ready.push_back(&s);
  });
  if (ready.empty()) return false;
  run_first(ready[device().random() % ready.size()]);
  return true;
}

void finish(const WorkPointer& work, CUstream_st* stream) {
  while (!is_done(work)) {
    std::set<CUstream_st*> needed;
    if (device().schedule != Schedule::random) {
      const auto place = std::find(stream->works.begin(), stream->works.end(), work);
      needed_for(stream, static_cast<std::size_t>(place - stream->works.begin()) + 1, &needed);
    }
    if (!run_one(needed)) break;
  }
  streams().forget_destroyed();
}

WorkPointer append(CUstream_st* stream, std::function<void()> run, const WorkPointer& other = nullptr) {
  auto work = std::make_shared<Work>();
  work->run = std::move(run);
  const auto wait_for = [&](const WorkPointer& w) {
    if (!is_done(w)) work->after.push_back(w);
  };
  wait_for(other);
  Streams& all = streams();
  if (stream == &all.legacy) {
    all.each([&](CUstream_st& s) {
      if (s.blocking && &s != stream && !s.works.empty()) wait_for(s.works.back());
    });
  } else if (stream->blocking && !all.legacy.works.empty()) {
    wait_for(all.legacy.works.back());
  }
  stream->works.push_back(work);
  if (!is_lazy(device().schedule)) finish(work, stream);
  return work;
}

// Polling gets somewhere: one entry for each question.
cudaError_t answer(const WorkPointer& work) {
  if (!is_done(work)) run_one({});
  return is_done(work) ? done(cudaSuccess) : not_ready();
}

CUstream_st* stream_of(const WorkPointer& work) {
  CUstream_st* found = nullptr;
  streams().each([&](CUstream_st& s) {
    if (std::find(s.works.begin(), s.works.end(), work) != s.works.end()) found = &s;
  });
  return found;
}

bool is_event(cudaEvent_t event) { return streams().events.count(event) != 0; }

}  // namespace

bool is_stream(cudaStream_t stream) { return streams().find(stream) != nullptr; }

void enqueue(cudaStream_t stream, std::function<void()> run) { append(streams().find(stream), std::move(run)); }

void finish(cudaStream_t stream) {
  CUstream_st* const s = streams().find(stream);
  if (!s->works.empty()) finish(WorkPointer(s->works.back()), s);
}

void finish_all() {
  while (run_one({})) {
  }
  streams().forget_destroyed();
}

void drop_all() {
  streams().each([](CUstream_st& s) {
    for (const WorkPointer& work : s.works) {
      work->run = nullptr;
      work->after.clear();
      work->is_done = true;
    }
    s.works.clear();
  });
  streams().forget_destroyed();
}

}  // namespace assay::simt

using namespace assay::simt;  // NOLINT: the calls below are all that follows

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  const Call call;
  if (stream == nullptr || flags > cudaStreamNonBlocking) return done(cudaErrorInvalidValue);
  streams().made.push_back(std::make_unique<CUstream_st>());
  *stream = streams().made.back().get();
  (*stream)->blocking = flags == cudaStreamDefault;
  (*stream)->priority = std::clamp(priority, greatest_priority, 0);
  return done(cudaSuccess);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  const Call call;
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = greatest_priority;
  return done(cudaSuccess);
}
// Returns at once, as CUDA does: what waits in the stream still runs some time.
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const Call call;
  CUstream_st* const s = streams().find(stream);
  if (s == nullptr || s == &streams().legacy || s == &streams().per_thread) return done(cudaErrorInvalidResourceHandle);
  s->destroyed = true;
  streams().forget_destroyed();
  return done(cudaSuccess);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const Call call;
  if (!is_stream(stream)) return done(cudaErrorInvalidResourceHandle);
  finish(stream);
  return done(cudaSuccess);
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const Call call;
  CUstream_st* const s = streams().find(stream);
  if (s == nullptr) return done(cudaErrorInvalidResourceHandle);
  return s->works.empty() ? done(cudaSuccess) : answer(WorkPointer(s->works.back()));
}
// An event that was never recorded is over.
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  const Call call;
  if (!is_stream(stream) || !is_event(event)) return done(cudaErrorInvalidResourceHandle);
  if (flags != 0) return done(cudaErrorInvalidValue);
  append(streams().find(stream), nullptr, event->work);
  return done(cudaSuccess);
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* argument) {
  const Call call;
  if (!is_stream(stream)) return done(cudaErrorInvalidResourceHandle);
  if (function == nullptr) return done(cudaErrorInvalidValue);
  enqueue(stream, [function, argument] { function(argument); });
  return done(cudaSuccess);
}
cudaError_t cudaDeviceSynchronize() {
  const Call call;
  finish_all();
  return done(cudaSuccess);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  const Call call;
  if (event == nullptr || flags > (cudaEventBlockingSync | cudaEventDisableTiming)) return done(cudaErrorInvalidValue);
  *event = new CUevent_st;
  (*event)->timed = (flags & cudaEventDisableTiming) == 0;
  streams().events.insert(*event);
  return done(cudaSuccess);
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const Call call;
  if (streams().events.erase(event) == 0) return done(cudaErrorInvalidResourceHandle);
  delete event;
  return done(cudaSuccess);
}
// The time is the simulated one, when the entry runs: it grows with the work, and says nothing about a GPU.
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const Call call;
  if (!is_stream(stream) || !is_event(event)) return done(cudaErrorInvalidResourceHandle);
  const auto time = event->time = std::make_shared<std::uint64_t>();
  event->work = append(streams().find(stream), [time] { *time = simulated_ns; });
  return done(cudaSuccess);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const Call call;
  if (!is_event(event)) return done(cudaErrorInvalidResourceHandle);
  if (!is_done(event->work)) finish(event->work, stream_of(event->work));
  return done(cudaSuccess);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  const Call call;
  return is_event(event) ? answer(event->work) : done(cudaErrorInvalidResourceHandle);
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t begin, cudaEvent_t end) {
  const Call call;
  if (ms == nullptr) return done(cudaErrorInvalidValue);
  for (const cudaEvent_t event : {begin, end}) {
    if (!is_event(event) || !event->timed || event->work == nullptr) return done(cudaErrorInvalidResourceHandle);
  }
  if (!is_done(begin->work) || !is_done(end->work)) return not_ready();
  *ms = static_cast<float>(static_cast<double>(*end->time - *begin->time) * 1e-6);
  return done(cudaSuccess);
}
