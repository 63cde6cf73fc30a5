// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The author's header: everything a benchmark needs, and the only header of the harness that a benchmark includes.
// A benchmark is one file under benchmarks/<subject>/; it ends in one `Benchmark` with named fields and one register
// line. `run` reads in short paragraphs: parameters, buffers, measure, metrics, verify. benchmarks/README.md builds
// one.
//
// The harness owns time: `run.measure(work)` warms up, sizes blocks, samples, watches the clock and the noise, and
// stops. The harness owns truth: `run.verify(...)` compares the timed run's own output, all of it, with what the
// author's expectation says, and this is the one place where a test may flip a bit (ASSAY_TEST_CORRUPT).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "harness/device/device.h"
#include "harness/manifest.h"
#include "harness/record.h"
#include "kernels/backend.h"

namespace assay {

// `only`: the names of cases on the other backend don't have it (a GPU has no threads:one).
struct Param {
  std::string name;
  std::vector<std::string> values;
  std::optional<kernels::Backend> only = std::nullopt;
};

// The values of one case, by parameter name, and what it runs on: kernels::Backend::cuda has cases of its own.
class Params {
 public:
  Params() = default;
  explicit Params(std::map<std::string, std::string> values, kernels::Backend backend = kernels::Backend::cpu)
      : values_(std::move(values)), backend_(backend) {}
  // Error for a name that the benchmark didn't declare: an author's mistake, which ends the case.
  const std::string& operator[](const std::string& name) const;
  bool has(const std::string& name) const { return values_.count(name) > 0; }
  const std::map<std::string, std::string>& all() const { return values_; }
  kernels::Backend backend() const { return backend_; }
  bool on_cpu() const { return backend_ == kernels::Backend::cpu; }

 private:
  std::map<std::string, std::string> values_;
  kernels::Backend backend_ = kernels::Backend::cpu;
};

class Run;

struct Benchmark {
  std::string name;     // path without ending: "memory/stream"
  std::string summary;  // one line for `assay list`
  std::vector<std::string> devices = {"cpu"};  // kinds that it has rows for: "cpu", "cuda"
  std::vector<Param> params = {};
  std::vector<Metric> metrics = {};
  std::function<bool(const Params&)> exists = nullptr;              // which combinations are cases; null: all
  std::function<std::vector<Need>(const Params&)> needs = nullptr;  // unmet: not_applicable, with the fact
  std::function<int(const Params&)> rank = nullptr;                 // order under --budget, lower first; null: 50
  double setup_s = 0.1;                                             // rough cost of set-up and verification of a case
  double share = 1;                                                 // measuring time as multiple of the profile's
  bool hidden = false;
  std::function<void(Run&)> run = nullptr;
};

// What the size words l1, l2 and l3 of Run::working_set_bytes need, for Benchmark::needs: that there is such a cache and
// that its size is known.
inline std::vector<Need> cache_needs(const std::string& size) {
  if (size == "l1") return {{"cache.l1d_bytes", 1, "the size of the first data cache must be known"}};
  if (size != "l2" && size != "l3") return {};
  return {{"cache." + size + "_bytes", 1, "the size of the " + size + " cache must be known"}};
}

// What a device's DRAM can do, from its attributes: two transfers per clock on each wire of the bus.
inline Limit dram_limit(const DeviceInfo& device) {
  const double hertz = device.fact("memory_clock_hz"), bits = device.fact("memory_bus_bits");
  if (hertz <= 0 || bits <= 0) return {std::nullopt, "none", "the device doesn't tell its memory's clock and width"};
  return {2 * hertz * bits / 8, "attribute_clock", "2 x memory clock x bus width, from the device's attributes"};
}

// Output of the timed run against its expectation. `expect(first, out)` writes what elements first.. must be; it is
// called from several threads, in chunks, and must use other code than the kernel under test. Bounds of 0 mean bit for
// bit. Memory of a device is copied back for it.
template <class T>
struct Check {
  std::string buffer;   // its name in the evidence
  std::span<T> actual;  // all that was written (mutable: the place where a test plants a flipped bit)
  std::function<void(std::size_t first, std::span<T> out)> expect;
  double absolute_bound = 0;
  double relative_bound = 0;
};

// Aligned memory, first touched by the threads that will use it (kernels::share), huge pages where they can be had; on a
// device its own memory, which kernels use and the host can't: Run::set and Run::get are the way in and out. Kept by the
// worker and handed to the next case that asks for as much: contents are undefined.
template <class T>
using Buffer = std::span<T>;

enum class Touch { by_share, by_main };

class Run {
 public:
  virtual ~Run() = default;

  // --- parameters -----------------------------------------------------------------------------------------------
  const Params& params() const { return params_; }
  const std::string& param(const std::string& name) const { return params_[name]; }
  const DeviceInfo& device() const { return device_; }
  // 1 for threads:one, every allowed CPU for threads:all; 1 without that parameter; every allowed CPU for cases of a
  // device, where they make expectations. OpenMP threads are pinned to cpus().
  int threads() const { return threads_; }
  kernels::Backend backend() const { return params_.backend(); }
  bool on_cpu() const { return params_.on_cpu(); }
  // How rows run: on threads() of the CPU, or on the device's stream.
  kernels::Exec exec() const { return {threads_, stream_}; }
  // For families whose CUDA rows count blocks: as many blocks of `block_threads` threads as the device keeps resident.
  kernels::Exec exec_blocks(int block_threads) const {
    if (on_cpu()) return exec();
    const int each = static_cast<int>(device_.fact("threads_per_multiprocessor")) / block_threads;
    return {static_cast<int>(device_.fact("multiprocessors")) * (each > 1 ? each : 1), stream_};
  }
  // The rows of a family for this device: `run.rows("stream", kernels::stream_ops<double>)`. The record tells which
  // version of a CUDA family it is (fact `kernel.stream`). Ends the case as NOT_RUN, with the reason, where there is none.
  template <class Ops>
  const Ops& rows(const std::string& family, const Ops* (*lookup)(kernels::Backend, int)) {
    const int capability = static_cast<int>(device_.fact("capability"));
    const Ops* ops = lookup(backend(), capability);
    const std::string about = on_cpu() ? "this build has no CPU rows of " + family
                                       : kernels::cuda_versions<Ops>.describe(family.c_str(), capability);
    if (ops == nullptr) skip(about);
    if (!on_cpu()) fact("kernel." + family, about);
    return *ops;
  }
  // One version of a CUDA family, by its name: `run.version<kernels::GemmBf16Ops>("gemm_bf16", "tiled")`.
  template <class Ops>
  const Ops& version(const std::string& family, const std::string& name) {
    return *device_version<Ops>(family, name.c_str()).ops;
  }
  // One row, of a family whose versions needn't have all and that has CUDA rows only, from the best version that has it:
  // `run.rows("mma", &kernels::MmaOps::f64)`. The record tells which that is.
  template <class Ops, class Row>
  const Row& rows(const std::string& family, const Row* Ops::*row) {
    return *(device_version<Ops>(family, row).ops->*row);
  }
  const std::vector<int>& cpus() const { return cpus_; }
  // Seed of this run for stream `stream`; the same on every machine for the same --seed and case.
  virtual std::uint64_t seed(std::uint64_t stream = 0) const = 0;
  // Bytes for a size word: l1, l2, l3 are half of what the CPUs in use have of that cache, dram is 4 x the last cache
  // that they reach (at least 256 MiB), for all buffers of the case together; a device has l2 and dram, and at least
  // 256 MiB or a sixteenth of its memory. Ends the case as NOT_RUN where the size of a cache isn't known. Recorded as
  // fact "working_set_bytes".
  virtual std::uint64_t working_set_bytes(const std::string& size) = 0;

  // --- buffers --------------------------------------------------------------------------------------------------
  // Ends the case as NOT_RUN with the numbers when `bytes` is more than there is (or --max-memory allows). Call it with
  // the sum before the first buffer; buffer() calls it for its own size too.
  virtual void need_memory(std::uint64_t bytes) = 0;
  // 64-byte aligned (page aligned from 1 MiB on). `node`: NUMA node, -1 for local.
  template <class T>
  Buffer<T> buffer(std::size_t n, Touch touch = Touch::by_share, int node = -1) {
    return {static_cast<T*>(allocate(n * sizeof(T), touch, node)), n};
  }
  // One with these elements.
  template <class T>
  Buffer<T> buffer_with(const std::vector<T>& elements) {
    const Buffer<T> made = buffer<T>(elements.size());
    set(made, [&elements](std::size_t first, std::span<T> out) {
      std::copy_n(elements.begin() + static_cast<std::ptrdiff_t>(first), out.size(), out.begin());
    });
    return made;
  }
  // Writes elements first.. of a buffer as `make` gives them, called from several threads, in chunks.
  template <class T>
  void set(Buffer<T> to, const std::type_identity_t<std::function<void(std::size_t first, std::span<T> out)>>& make) {
    write(to.data(), to.size(), sizeof(T), [&](std::size_t first, std::size_t n, void* out) {
      make(first, std::span<T>(static_cast<T*>(out), n));
    });
  }
  // A copy for the host of what a buffer holds; on a device after all work before it.
  template <class T>
  std::vector<T> get(Buffer<T> from) {
    std::vector<T> elements(from.size());
    read(elements.data(), from.data(), from.size_bytes());
    return elements;
  }
  // Overwrites a buffer with bytes that are no benchmark's answer: what is right afterwards was written afterwards.
  template <class T>
  void spoil(Buffer<T> buffer) {
    spoil_bytes(buffer.data(), buffer.size_bytes());
  }

  // --- measuring ------------------------------------------------------------------------------------------------
  // What one iteration of the next measure() does: proof of work, and the base of rates. Formulas are words: "3 x 8 B x
  // n". Both hold until they are changed.
  virtual void bytes_per_iteration(double bytes, const std::string& formula) = 0;
  virtual void operations_per_iteration(double operations, const std::string& formula) = 0;
  // Distribution of the inputs, for the record: "uniform k/32768, k in [-32768, 32767]".
  virtual void data(const std::string& distribution) = 0;
  // What is to be done between the warm-up and the first sample of every measure() from here on: fill the outputs with
  // something else, so that a right answer left over from the warm-up proves nothing. Not timed.
  virtual void before_measuring(const std::function<void()>& spoil) = 0;
  // What is to be done after each call of `work`, when all its work has ended: add up what one call left. Not timed.
  virtual void after_each_call(const std::function<void()>& gather) = 0;
  // The only timed region: `work(n)` does n iterations; on a device it enqueues them, and its time is that between two
  // events around them. `work` must then have launched something: rows of the CPU would time the wrong machine. `label` names a point of a sweep; `part` is its share of the
  // case's time (1/points). The returned series lives as long as the Run.
  virtual const Series& measure(const std::function<void(std::uint64_t iterations)>& work,
                                const std::string& label = "", double part = 1) = 0;
  // Iterations done by the last measure() since before_measuring(), or without one since its beginning, warm-up
  // included: what an accumulating output must show. Always odd.
  virtual std::uint64_t iterations_done() const = 0;

  // --- metrics (names declared in Benchmark::metrics) -------------------------------------------------------------
  // amount x iterations / seconds for each sample of the last series; per cycle as amount x iterations / (seconds x
  // clock).
  virtual void rate(const std::string& metric, double amount_per_iteration) = 0;
  // seconds / (iterations x events); per cycle as cycles per event.
  virtual void latency(const std::string& metric, double events_per_iteration) = 0;
  // One derived value (a knee, a ratio).
  virtual void value(const std::string& metric, double value) = 0;
  // A physical limit of a metric, never from measuring the same quantity; without a call the record says "no limit
  // known".
  virtual void limit(const std::string& metric, const Limit& limit) = 0;
  // A limit that is known per cycle: `per_cycle` of all threads together x the highest clock beside the samples. 0 when
  // it is not known: then `source` is the reason.
  virtual void limit_per_cycle(const std::string& metric, double per_cycle, const std::string& source) = 0;
  virtual void curve(const Curve& curve) = 0;
  virtual void fact(const std::string& name, const std::string& value) = 0;

  // --- truth ----------------------------------------------------------------------------------------------------
  virtual void verify(const Check<double>& check) = 0;
  virtual void verify(const Check<float>& check) = 0;
  virtual void verify(const Check<std::uint64_t>& check) = 0;
  virtual void verify(const Check<std::uint32_t>& check) = 0;
  virtual void verify(const Check<std::int32_t>& check) = 0;
  virtual void verify(const Check<std::uint16_t>& check) = 0;
  virtual void verify(const Check<std::uint8_t>& check) = 0;
  // What the timed kernel itself compared (a memory march): how many elements, how many were wrong, and evidence.
  virtual void mismatches(std::uint64_t compared, std::uint64_t wrong, const std::vector<Mismatch>& first) = 0;

  // Ends the case as NOT_RUN: it can't be done here, and only now it shows (a library refuses, no huge pages).
  [[noreturn]] virtual void skip(const std::string& why) = 0;

 protected:
  // `which`: a row, or the name of a version.
  template <class Ops, class Which>
  const kernels::CudaVersion<Ops>& device_version(const std::string& family, Which which) {
    if (on_cpu()) skip("this build has no CPU rows of " + family);
    const int capability = static_cast<int>(device_.fact("capability"));
    const kernels::CudaVersion<Ops>* version = kernels::cuda_versions<Ops>.find(capability, which);
    const std::string about = kernels::cuda_versions<Ops>.describe(family.c_str(), capability, which);
    if (version == nullptr) skip(about);
    fact("kernel." + family, about);
    return *version;
  }
  Run(Params params, DeviceInfo device) : params_(std::move(params)), device_(std::move(device)) {}
  virtual void* allocate(std::size_t bytes, Touch touch, int node) = 0;
  virtual void write(void* to, std::size_t n, std::size_t element_bytes,
                     const std::function<void(std::size_t first, std::size_t n, void* out)>& make) = 0;
  virtual void read(void* host, const void* from, std::size_t bytes) = 0;
  virtual void spoil_bytes(void* memory, std::size_t bytes) = 0;

  Params params_;
  DeviceInfo device_;
  int threads_ = 1;
  void* stream_ = nullptr;
  std::vector<int> cpus_;
};

// Keeps a benchmark in the registry (registry.h); a name that is used twice is an author's mistake and ends the program
// at its start, with the name.
struct Registration {
  explicit Registration(const Benchmark& benchmark);
};
#define ASSAY_CONCAT_2(a, b) a##b
#define ASSAY_CONCAT(a, b) ASSAY_CONCAT_2(a, b)
#define REGISTER_BENCHMARK(benchmark) const ::assay::Registration ASSAY_CONCAT(registration_, __LINE__)(benchmark)

}  // namespace assay
