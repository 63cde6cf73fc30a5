// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// transfer/memcpy: copies inside host memory, by the C library's memcpy and by our own with non-temporal stores, over
// sizes, and to another NUMA node.
//
// Result: `bandwidth`, bytes copied per second, higher is better. A copied byte counts once, though it is read and
// written: memory/stream's copy counts it twice. Formula: size per iteration.
// Limit: none known. Reference: half of memory/stream/op:copy.
// Traps: glibc takes non-temporal stores from a size that depends on the cache it believes to own, so its curve has a
// step there; the same two buffers are copied again and again, so small sizes show the caches.
//
// Verified: every byte of the destination against the generator's words.
#include "kernels/memcpy.h"

#include <sched.h>

#include <fstream>
#include <string>

#include "harness/benchmark.h"
#include "kernels/fill.h"
#include "kernels/numa.h"
#include "kernels/philox.h"

namespace {

using namespace assay;

std::size_t bytes_of(Run& run) {
  const std::string& size = run.param("size");
  if (size == "4KiB") return std::size_t{4} << 10;
  if (size == "256KiB") return std::size_t{256} << 10;
  if (size == "16MiB") return std::size_t{16} << 20;
  return run.working_set_bytes("dram") / 2 / 4096 * 4096;
}

// A node with memory that is not the one of this thread.
int other_node(Run& run) {
  unsigned cpu = 0, own = 0;
  std::string nodes;
  std::getline(std::ifstream("/sys/devices/system/node/has_memory"), nodes);
  const int node = getcpu(&cpu, &own) == 0 ? kernels::other_node(nodes, static_cast<int>(own)) : -1;
  if (node < 0) run.skip("no other NUMA node with memory was found");
  return node;
}

void run_memcpy(Run& run) {
  const std::size_t bytes = bytes_of(run), n = bytes / sizeof(std::uint64_t);
  const kernels::Stream stream{run.seed(), 0};
  run.need_memory(2 * bytes);
  const int node = run.param("to") == "other_node" ? other_node(run) : -1;
  const Buffer<std::uint64_t> from = run.buffer<std::uint64_t>(n);
  const Buffer<std::uint64_t> to = run.buffer<std::uint64_t>(n, Touch::by_share, node);
  kernels::fill_ops(kernels::Backend::cpu)->u64(from.data(), n, stream, run.exec());
  run.data("uniform 64-bit words");
  run.fact("bytes", std::to_string(bytes));
  if (node >= 0) run.fact("to_node", std::to_string(node));

  const kernels::MemcpyOps& ops = *kernels::memcpy_ops(kernels::Backend::cpu);
  const kernels::CopyFunction copy = run.param("method") == "libc" ? ops.libc : ops.non_temporal;
  run.bytes_per_iteration(static_cast<double>(bytes), "bytes copied");
  run.before_measuring([&] { kernels::spoil(to.data(), bytes, run.exec()); });
  run.measure([&](std::uint64_t iterations) { copy(run.exec(), to.data(), from.data(), bytes, iterations); });
  run.rate("bandwidth", static_cast<double>(bytes));
  run.limit("bandwidth", {std::nullopt, "none", "the memory's channels and rate are not readable without root"});

  run.verify(Check<std::uint64_t>{"to", to, [stream](std::size_t first, std::span<std::uint64_t> out) {
                                    kernels::for_each_u64(
                                        stream, first, out.size(),
                                        [&](std::size_t i, std::uint64_t word) { out[i - first] = word; });
                                  }});
}

bool exists(const Params& params) {
  const bool dram = params["size"] == "dram", libc = params["method"] == "libc", one = params["threads"] == "one";
  if (params["to"] == "other_node") return dram && one;
  return dram || (libc && one);  // non-temporal stores are wrong in caches, and threads are for DRAM
}

std::vector<Need> needs_of(const Params& params) {
  if (params["to"] == "other_node") return {{"numa_nodes", 2, "another NUMA node is needed to copy to"}};
  return {};
}

const Benchmark memcpy_benchmark{
    .name = "transfer/memcpy",
    .summary = "copies inside host memory: the C library's and with non-temporal stores",
    .params = {{"method", {"libc", "non_temporal"}},
               {"to", {"local", "other_node"}},
               {"size", {"4KiB", "256KiB", "16MiB", "dram"}},
               {"threads", {"one", "all"}}},
    .metrics = {{"bandwidth", "B/s", Better::higher, "bytes copied per second, each counted once"}},
    .exists = exists,
    .needs = needs_of,
    .rank = [](const Params& params) { return params["size"] == "dram" ? 35 : 55; },
    .setup_s = 0.8,
    .run = run_memcpy,
};
REGISTER_BENCHMARK(memcpy_benchmark);

}  // namespace
