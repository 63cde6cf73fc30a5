// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// peer_loops --list | NAME... [--threads N] [--size N] [--samples N] [--block-ms N] [--cpu-time]
// Runs the named loops and prints one line of JSON for each. A sample is one block of iterations, at least block-ms
// long; `best` is the fastest sample, as STREAM and BabelStream report it. The first block is dropped.
// With several names the blocks take turns (A B A B ...), so that a disturbance meets all of them; --cpu-time leaves
// out the time in which other programs had the CPU.
#include "peer_loops.h"

#include <sys/mman.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "kernels/backend.h"

namespace assay::bench {

std::vector<Item>& items() {
  static std::vector<Item> all;
  return all;
}

Array::Array(std::size_t bytes, int threads) {
  constexpr std::size_t huge = std::size_t{2} << 20;
  memory_ = std::aligned_alloc(huge, (bytes + huge) / huge * huge);
  if (!memory_) throw std::runtime_error("out of memory");
  madvise(memory_, (bytes + huge) / huge * huge, MADV_HUGEPAGE);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int thread = 0; thread < threads; ++thread) {
    const kernels::Range mine = kernels::share(bytes / 8, thread, threads, 8);
    for (std::size_t i = mine.begin; i < mine.end; ++i) as<double>()[i] = 1 + static_cast<double>(i % 8);
  }
}

Array::~Array() { std::free(memory_); }

namespace {

bool cpu_time = false;  // set once, from the command line

double now_s() {
  timespec time;
  clock_gettime(cpu_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds_of(const Loop& loop, std::uint64_t iterations) {
  const double begin = now_s();
  loop.run(iterations);
  return now_s() - begin;
}

struct Running {
  std::string name;
  Loop loop;
  std::uint64_t iterations = 1;
  std::vector<double> rates;
};

// Grows the block until the fastest of three tries is long enough: a single slow try must not make all blocks short.
Running start(const Item& item, const Setup& setup, double block_s) {
  Running running{item.name, item.prepare(setup), 1, {}};
  running.loop.run(1);
  while (true) {
    double s = seconds_of(running.loop, running.iterations);
    for (int again = 0; again < 2 && s >= block_s; ++again) {
      s = std::min(s, seconds_of(running.loop, running.iterations));
    }
    if (s >= block_s) return running;
    const double factor = std::clamp(1.2 * block_s / std::max(s, 1e-9), 1.5, 100.0);
    running.iterations = static_cast<std::uint64_t>(static_cast<double>(running.iterations) * factor) + 1;
  }
}

void print(Running& running, const Setup& setup) {
  std::vector<double> sorted = running.rates;
  std::sort(sorted.begin(), sorted.end());
  const nlohmann::ordered_json line = {{"name", running.name},      {"threads", setup.threads},
                                       {"size", setup.size},        {"unit", running.loop.unit},
                                       {"note", running.loop.note}, {"iterations", running.iterations},
                                       {"best", sorted.back()},     {"median", sorted[sorted.size() / 2]},
                                       {"samples", running.rates}};
  std::cout << line.dump() << std::endl;
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  using namespace assay::bench;
  CLI::App app("Plain loops around kernels and library calls, for comparison with other programs");
  std::vector<std::string> names;
  Setup setup;
  int samples = 20;
  double block_ms = 10;
  bool list = false;
  app.add_option("name", names, "loops to run, in turns");
  app.add_flag("--list", list, "names of all loops");
  app.add_option("--threads", setup.threads, "OpenMP threads")->check(CLI::PositiveNumber);
  app.add_option("--size", setup.size, "size: bytes per array, rows of a matrix; 0: the loop's own");
  app.add_option("--samples", samples, "timed blocks per loop")->check(CLI::PositiveNumber);
  app.add_option("--block-ms", block_ms, "least length of a block");
  app.add_flag("--cpu-time", cpu_time, "CPU time of all threads of the process instead of wall time");
  CLI11_PARSE(app, argc, argv);
  auto& all = items();
  std::sort(all.begin(), all.end(), [](const Item& a, const Item& b) { return a.name < b.name; });
  if (list) {
    for (const Item& item : all) std::cout << item.name << "\n";
    return 0;
  }
  std::vector<Running> running;
  for (const std::string& name : names) {
    const auto item = std::find_if(all.begin(), all.end(), [&](const Item& i) { return i.name == name; });
    if (item == all.end()) {
      std::fprintf(stderr, "peer_loops: no loop '%s' (see --list)\n", name.c_str());
      return 64;
    }
    running.push_back(start(*item, setup, block_ms / 1000));
  }
  for (int sample = 0; sample < samples; ++sample) {
    for (Running& r : running) {
      const double s = seconds_of(r.loop, r.iterations);
      r.rates.push_back(r.loop.work_per_iteration * static_cast<double>(r.iterations) / s);
    }
  }
  for (Running& r : running) print(r, setup);
  return 0;
}
