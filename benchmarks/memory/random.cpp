// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// memory/random: single 8-byte words from anywhere (gather), and every stride-th word in order.
//
// Result: `access_rate`, words read per second, and `useful_bandwidth`, 8 bytes for each; higher is better. gather
// takes its indices from a counter that is mixed on the way, gather_table from a table of 32-bit indices, which is read
// as well (not counted). Iteration: n / 16 gathers or ceil(n / stride) reads of n words. Limit: none known;
// memory/stream/op:read is what strides could reach if every line were used whole: from stride 8 on one word of eight
// in a line is. Traps: a gather over small pages measures the page table (fact `huge_page_bytes` of the record);
// strides of 64 words and more defeat prefetchers that stop at a page.
//
// Verified: the sum of all words read, modulo 2^64, over all passes since the warm-up began, against the generator's
// elements. Nothing is written, so there is no other output.
#include "kernels/random.h"

#include <omp.h>

#include <algorithm>
#include <string>

#include "harness/benchmark.h"
#include "kernels/fill.h"
#include "kernels/philox.h"

namespace {

using namespace assay;

// Elements of a stream, with the last block kept: neighbours come out of one block.
class Words {
 public:
  explicit Words(kernels::Stream stream) : stream_(stream) {}
  std::uint64_t at(std::uint64_t i) {
    if (i / 2 != number_) block_ = kernels::block_at(stream_, number_ = i / 2);
    const std::size_t low = i % 2 * 2;
    return block_.word[low] | (static_cast<std::uint64_t>(block_.word[low + 1]) << 32);
  }

 private:
  kernels::Stream stream_;
  std::uint64_t number_ = ~std::uint64_t{0};
  kernels::PhiloxCounter block_{};
};

// The words of `stream` at index_of(0) ... index_of(m - 1), summed on all threads.
template <class IndexOf>
std::uint64_t sum_of(kernels::Stream stream, std::size_t m, int threads, IndexOf&& index_of) {
  std::uint64_t sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
  {
    Words words(stream);
#pragma omp for schedule(static)
    for (std::size_t i = 0; i < m; ++i) sum += words.at(index_of(i));
  }
  return sum;
}

void run_random(Run& run) {
  const std::string& pattern = run.param("pattern");
  const bool gather = pattern == "gather", table = pattern == "gather_table";
  const std::size_t stride = gather || table ? 0 : std::stoul(pattern.substr(sizeof "stride_" - 1));
  const std::size_t n = std::min<std::uint64_t>(run.working_set_bytes(run.param("size")) / 8, 0xFFFFFFFFu);
  const std::size_t m = stride > 0 ? (n + stride - 1) / stride : std::max<std::size_t>(4096, n / 16);
  const kernels::Stream words{run.seed(0), 0}, indices{run.seed(1), 0};

  run.need_memory(n * 8 + (table ? m * 4 : 0));
  const Buffer<std::uint64_t> data = run.buffer<std::uint64_t>(n);
  kernels::fill_ops(kernels::Backend::cpu)->u64(data.data(), n, words, run.exec());
  Buffer<std::uint32_t> index;
  if (table) {
    index = run.buffer<std::uint32_t>(m);
    kernels::fill_ops(kernels::Backend::cpu)->u32(index.data(), m, indices, run.exec());
#pragma omp parallel for num_threads(run.threads()) schedule(static)
    for (std::size_t i = 0; i < m; ++i) index[i] = kernels::below_of(index[i], static_cast<std::uint32_t>(n));
  }
  const auto index_at = [&](std::size_t i) {
    return kernels::below_of(kernels::u32_at(indices, i), static_cast<std::uint32_t>(n));
  };
  run.data("uniform 64-bit words");
  const std::uint64_t sum_of_pass = sum_of(words, m, run.threads(), [&](std::size_t i) {
    if (gather) return kernels::random_index(i, n, indices.seed);
    if (table) return std::uint64_t{index_at(i)};
    return std::uint64_t{i * stride};
  });

  const kernels::RandomOps& ops = *kernels::random_ops(kernels::Backend::cpu);
  std::uint64_t sum = 0;
  run.bytes_per_iteration(8.0 * static_cast<double>(m), "8 B x words read");
  run.operations_per_iteration(static_cast<double>(m), "words read");
  run.measure([&](std::uint64_t iterations) {
    std::uint64_t now = 0;
    if (gather) {
      ops.gather_computed(run.exec(), data.data(), n, indices.seed, m, iterations, &now);
    } else if (table) {
      ops.gather(run.exec(), data.data(), index.data(), m, iterations, &now);
    } else {
      ops.strided(run.exec(), data.data(), n, stride, iterations, &now);
    }
    sum += now;
  });
  run.rate("access_rate", static_cast<double>(m));
  run.rate("useful_bandwidth", 8.0 * static_cast<double>(m));

  const std::uint64_t right = sum_of_pass * run.iterations_done();
  run.verify(Check<std::uint64_t>{"sum", {&sum, 1}, [right](std::size_t, auto out) { out[0] = right; }});
}

bool exists(const Params& params) {
  const bool gather = params["pattern"].rfind("gather", 0) == 0;
  if (params["threads"] == "one") return params["pattern"] == "gather" && params["size"] != "l2";
  return gather || params["size"] == "dram";
}

const Benchmark random_benchmark{
    .name = "memory/random",
    .summary = "single words from anywhere, and at strides",
    .params = {{"pattern",
                {"gather", "gather_table", "stride_1", "stride_2", "stride_4", "stride_8", "stride_16", "stride_128"}},
               {"size", {"l2", "l3", "dram"}},
               {"threads", {"one", "all"}}},
    .metrics = {{"access_rate", "op/s", Better::higher, "8-byte words read per second"},
                {"useful_bandwidth", "B/s", Better::higher, "8 bytes for each word read, per second"}},
    .exists = exists,
    .rank = [](const Params& params) { return params["pattern"] == "gather" ? 45 : 65; },
    .setup_s = 1.0,
    .run = run_random,
};
REGISTER_BENCHMARK(random_benchmark);

}  // namespace
