// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// memory/random: single 8-byte words from anywhere (gather), and every stride-th word in order.
//
// Result: `access_rate`, words read per second, and `useful_bandwidth`, 8 bytes for each; higher is better. gather
// takes its indices from a counter that is mixed on the way, gather_table from a table of 32-bit indices, which is read
// as well (not counted). Iteration: n / 8 gathers from n words, or ceil(n / stride) words; a stride of more than a line
// sweeps again and again, each time from another line, until every line was read once, and both lines of a pair long
// after each other. So each case in DRAM touches at least four times the last cache (fact `touched_bytes`: the lines
// read at least once in an iteration). Limit: none known; memory/stream/op:read is what strides could reach if every
// line were used whole: from stride 8 on one word of eight in a line is. Traps: a gather over small pages measures the
// page table (field `huge_page_bytes` of the record); strides of 64 words and more defeat prefetchers that stop at a
// page.
//
// Devices have size:l2 and size:dram, no threads, and strides up to 8 words; theirs is a sector of 32 bytes, four words.
//
// Verified: the sum of all words read, modulo 2^64, over all passes, against the generator's elements. Nothing is
// written, so there is no other output.
#include "kernels/random.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/benchmark.h"
#include "kernels/fill.h"
#include "kernels/philox.h"

namespace {

using namespace assay;

constexpr std::size_t line = 8;  // words

// Sweeps with a stride of one line or more: how many it takes to read every line, and where the k-th one begins. Lines
// with even numbers come first (prefetchers fetch lines in pairs), and each sweep reads another word of its lines, so
// that the sum tells one stride from another.
constexpr std::size_t sweeps_of(std::size_t stride) { return std::max<std::size_t>(1, stride / line); }
constexpr std::size_t begin_of(std::size_t sweep, std::size_t sweeps) {
  const std::size_t first_line = 2 * sweep % sweeps + 2 * sweep / sweeps;
  return line * first_line + first_line % line;
}

// What an iteration reads: the sum of the words, and how many lines they lie in.
struct Pass {
  std::uint64_t sum = 0;
  std::uint64_t touched_bytes = 0;
};
template <class IndexOf>
Pass expected_pass(kernels::Stream stream, std::size_t n, std::size_t m, int threads, IndexOf&& index_of) {
  std::vector<std::uint8_t> touched(n / line + 1, 0);
  std::uint64_t sum = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sum)
  for (std::size_t i = 0; i < m; ++i) {
    const std::uint64_t index = index_of(i);
    sum += kernels::u64_at(stream, index);
    std::atomic_ref(touched[index / line]).store(1, std::memory_order_relaxed);
  }
  return {sum, 8 * line * static_cast<std::uint64_t>(std::count(touched.begin(), touched.end(), 1))};
}

void run_random(Run& run) {
  const std::string &pattern = run.param("pattern"), &size = run.param("size");
  const bool gather = pattern == "gather", table = pattern == "gather_table";
  const std::size_t stride = gather || table ? 0 : std::stoul(pattern.substr(sizeof "stride_" - 1));
  // As many gathers as there are lines leave out a third of them: from twice as many they touch enough.
  const std::uint64_t wanted = run.working_set_bytes(size), bytes = wanted * (size == "dram" && stride == 0 ? 2 : 1);
  const std::size_t n = std::min<std::uint64_t>(bytes / 8, 0xFFFFFFFFu) / 128 * 128;
  const std::size_t m = stride > 0 ? n / std::min(stride, line) : std::max<std::size_t>(4096, n / line);
  const kernels::Stream words{run.seed(0), 0}, indices{run.seed(1), 0};
  run.fact("working_set_bytes", std::to_string(8 * n));

  run.need_memory(n * 8 + (table ? m * 4 : 0));
  const Buffer<std::uint64_t> data = run.buffer<std::uint64_t>(n);
  run.rows("fill", kernels::fill_ops).u64(data.data(), n, words, run.exec());
  Buffer<std::uint32_t> index;
  if (table) {
    run.set(index = run.buffer<std::uint32_t>(m), [&](std::size_t first, std::span<std::uint32_t> out) {
      kernels::for_each_word(indices, first, out.size(), [&](std::size_t i, std::uint32_t word) {
        out[i - first] = kernels::below_of(word, static_cast<std::uint32_t>(n));
      });
    });
  }
  run.data("uniform 64-bit words");
  const std::size_t sweeps = sweeps_of(stride);
  const Pass pass = expected_pass(words, n, m, run.threads(), [&](std::size_t i) -> std::uint64_t {
    if (gather) return kernels::random_index(i, n, indices.seed);
    if (table) return kernels::below_of(kernels::u32_at(indices, i), static_cast<std::uint32_t>(n));
    return stride < line ? i * stride : i * line + i % sweeps % line;
  });
  run.fact("touched_bytes", std::to_string(pass.touched_bytes));
  if (size == "dram" && pass.touched_bytes < wanted) throw std::runtime_error("an iteration fits into the caches");

  const kernels::RandomOps& ops = run.rows("random", kernels::random_ops);
  const Buffer<std::uint64_t> now = run.buffer<std::uint64_t>(1);  // what one call of a row leaves
  std::uint64_t sum = 0;
  run.bytes_per_iteration(8.0 * static_cast<double>(m), "8 B x words read");
  run.operations_per_iteration(static_cast<double>(m), "words read");
  if (sweeps == 1) run.after_each_call([&] { sum += run.get(now)[0]; });
  run.measure([&](std::uint64_t iterations) {
    if (gather) {
      ops.gather_computed(run.exec(), data.data(), n, indices.seed, m, iterations, now.data());
    } else if (table) {
      ops.gather(run.exec(), data.data(), index.data(), m, iterations, now.data());
    } else if (sweeps == 1) {
      ops.strided(run.exec(), data.data(), n, stride, iterations, now.data());
    } else {  // on the CPU, where a row has done its work when it returns
      for (std::uint64_t k = 0; k < iterations * sweeps; ++k) {
        const std::size_t begin = begin_of(k % sweeps, sweeps);
        ops.strided(run.exec(), data.data() + begin, n - begin, stride, 1, now.data());
        sum += now[0];
      }
    }
  });
  run.rate("access_rate", static_cast<double>(m));
  run.rate("useful_bandwidth", 8.0 * static_cast<double>(m));

  const std::uint64_t right = pass.sum * run.iterations_done();
  run.verify(Check<std::uint64_t>{"sum", {&sum, 1}, [right](std::size_t, auto out) { out[0] = right; }});
}

bool exists(const Params& params) {
  const bool gather = params["pattern"].rfind("gather", 0) == 0;
  // What sweeps several times over the data adds up on the host in between.
  if (!params.on_cpu())
    return params["size"] == "dram" ? params["pattern"] != "stride_16" && params["pattern"] != "stride_128"
                                    : params["size"] == "l2" && gather;
  if (params["threads"] == "one") return params["pattern"] == "gather" && params["size"] != "l2";
  return gather || params["size"] == "dram";
}

const Benchmark random_benchmark{
    .name = "memory/random",
    .summary = "single words from anywhere, and at strides",
    .devices = {"cpu", "cuda"},
    .params = {{"pattern",
                {"gather", "gather_table", "stride_1", "stride_2", "stride_4", "stride_8", "stride_16", "stride_128"}},
               {"size", {"l2", "l3", "dram"}},
               {"threads", {"one", "all"}, kernels::Backend::cpu}},
    .metrics = {{"access_rate", "op/s", Better::higher, "8-byte words read per second"},
                {"useful_bandwidth", "B/s", Better::higher, "8 bytes for each word read, per second"}},
    .exists = exists,
    .needs = [](const Params& params) { return cache_needs(params["size"]); },
    .rank = [](const Params& params) { return params["pattern"] == "gather" ? 45 : 65; },
    .setup_s = 1.0,
    .run = run_random,
};
REGISTER_BENCHMARK(random_benchmark);

}  // namespace
