// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The Run that a benchmark receives: it fills the case's record while the benchmark works, and judges it at the end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/test_knobs.h"
#include "harness/benchmark.h"
#include "harness/device/accelerator.h"
#include "harness/protocol.h"
#include "harness/record.h"
#include "harness/worker/link.h"
#include "harness/worker/memory.h"
#include "harness/worker/noise.h"
#include "harness/worker/place.h"
#include "harness/worker/registry.h"
#include "harness/worker/sampler.h"

namespace assay {

// What skip() and need_memory() throw: not an error, an ending.
struct CaseSkipped {
  std::string why;
};

class CaseRun final : public Run {
 public:
  // `device`: null on the CPU.
  CaseRun(const CaseOf& which, DeviceInfo info, const CaseRequest& request, MemoryPool& pool, Accelerator* device,
          Link& link, Record& record);

  std::uint64_t seed(std::uint64_t stream) const override;
  std::uint64_t working_set_bytes(const std::string& size) override;
  void need_memory(std::uint64_t bytes) override;

  void bytes_per_iteration(double bytes, const std::string& formula) override;
  void operations_per_iteration(double operations, const std::string& formula) override;
  void data(const std::string& distribution) override { record_.data = distribution; }
  void before_measuring(const std::function<void()>& spoil) override { before_measuring_ = spoil; }
  void after_each_call(const std::function<void()>& gather) override { after_each_call_ = gather; }
  const Series& measure(const Work& work, const std::string& label, double part) override;
  std::uint64_t iterations_done() const override { return iterations_done_; }

  void rate(const std::string& metric, double amount) override;
  void latency(const std::string& metric, double events) override;
  void value(const std::string& metric, double value) override;
  void limit(const std::string& metric, const Limit& limit) override;
  void limit_per_cycle(const std::string& metric, double per_cycle, const std::string& source) override;
  void curve(const Curve& curve) override { record_.curves.push_back(curve); }
  void fact(const std::string& name, const std::string& value) override;

  void verify(const Check<double>& check) override { verify_any(check); }
  void verify(const Check<float>& check) override { verify_any(check); }
  void verify(const Check<std::uint64_t>& check) override { verify_any(check); }
  void verify(const Check<std::uint32_t>& check) override { verify_any(check); }
  void verify(const Check<std::int32_t>& check) override { verify_any(check); }
  void verify(const Check<std::uint16_t>& check) override { verify_any(check); }
  void verify(const Check<std::uint8_t>& check) override { verify_any(check); }
  void mismatches(std::uint64_t compared, std::uint64_t wrong, const std::vector<Mismatch>& first) override;

  [[noreturn]] void skip(const std::string& why) override { throw CaseSkipped{why}; }

  // --- the end of the case ------------------------------------------------------------------------------------------
  // The record's judgement of itself: every metric is there, and so is proof of work.
  void judge();
  // A wrong result outranks whatever else the case ended with.
  void end_as(Outcome outcome, const std::string& reason);
  // What the device refused.
  void end_by(const DeviceError& problem);
  // Whatever became of the case: what was measured and what was used up to here. Gives the memory back; a device that
  // is lost by then is an error of this case, or stands beside its wrong result.
  void close();

 protected:
  void* allocate(std::size_t bytes, Touch touch, int node) override;
  void write(void* to, std::size_t n, std::size_t element_bytes,
             const std::function<void(std::size_t, std::size_t, void*)>& make) override;
  void read(void* host, const void* from, std::size_t bytes) override { place_->read(host, from, bytes); }
  void spoil_bytes(void* memory, std::size_t bytes) override { place_->spoil(memory, bytes); }

 private:
  // Seconds since the last lap.
  double lap();
  SamplerSetting sampler_setting(double part) const;
  MetricResult& add(const std::string& metric);
  MetricResult* find(const std::string& metric);
  // `value` of each sample of the last series, and `per_cycle` of each where the clock was measured beside all of them.
  void add_samples(const std::string& metric, const std::function<double(const Sample&)>& value,
                   const std::function<double(const Sample&)>& per_cycle);
  template <class T>
  void verify_any(const Check<T>& check);

  const Benchmark& benchmark_;
  const CaseRequest& request_;
  TestKnobs knobs_;
  MemoryPool& pool_;
  Accelerator* const accelerator_;
  std::unique_ptr<Place> place_;
  Link& link_;
  Record& record_;
  std::uint64_t seed_;
  std::int64_t lap_ns_;
  NoiseReading noise_before_;
  bool corrupted_ = false, loss_told_ = false;
  double bytes_per_iteration_ = 0, operations_per_iteration_ = 0;
  double most_clock_hz_ = 0;  // of the last series
  std::function<void()> before_measuring_, after_each_call_;
  std::uint64_t iterations_done_ = 0;
  std::vector<std::unique_ptr<Series>> series_;
};

}  // namespace assay
