// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Settings of the rig, launches of simt/api.h (checked as CUDA does), and the text of a fault.
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "grid.h"
#include "memory.h"
#include "simulated_time.h"
#include "state.h"
#include "streams.h"

namespace assay::simt {
namespace {

void end_kernel(const void* kernel, const Fault& fault) {
  Device& d = device();
  const auto coordinates = [](uint3 v) {
    return "(" + std::to_string(v.x) + "," + std::to_string(v.y) + "," + std::to_string(v.z) + ")";
  };
  d.sticky = fault.error;
  if (d.fault.empty()) {
    d.fault = "kernel " + source_of(kernel).function + ", block " + coordinates(fault.block) + ", thread " +
              coordinates(fault.thread) + ", " + (fault.where.empty() ? "somewhere" : fault.where) + ": " + fault.what;
  }
}

constexpr unsigned most_threads = 1024, most_threads_z = 64, most_blocks_yz = 65535, most_blocks_x = 0x7FFFFFFF;

bool is_valid(const Grid& grid) {
  const dim3 &g = grid.blocks, &b = grid.threads, &c = grid.cluster;
  const std::uint64_t threads = std::uint64_t{b.x} * b.y * b.z;
  return threads >= 1 && b.x <= most_threads && b.y <= most_threads && threads <= most_threads &&
         b.z <= most_threads_z && g.x >= 1 && g.y >= 1 && g.z >= 1 && g.x <= most_blocks_x && g.y <= most_blocks_yz &&
         g.z <= most_blocks_yz && c.x >= 1 && c.y >= 1 && c.z >= 1 && g.x % c.x == 0 && g.y % c.y == 0 &&
         g.z % c.z == 0;
}

// A kernel has ended well. Told at once, since a worker ends without a word.
void note_kernel(const void* kernel) {
  Device& d = device();
  if (d.kernel_file.empty() || !d.ran.insert(kernel).second) return;
  std::ofstream(d.kernel_file, std::ios::app) << source_of(kernel).function << "\n";
}

Grid grid_of(const cudaLaunchConfig_t& config, const void* kernel) {
  Grid grid{config.gridDim, config.blockDim, dim3(1), config.dynamicSmemBytes, false, kernel};
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttribute& a = config.attrs[i];
    if (a.id == cudaLaunchAttributeClusterDimension) {
      grid.cluster = dim3(a.val.clusterDim.x, a.val.clusterDim.y, a.val.clusterDim.z);
    }
    if (a.id == cudaLaunchAttributeCooperative) grid.cooperative = a.val.cooperative != 0;
  }
  return grid;
}

// Of those whose blocks must run at the same time.
cudaError_t check_together(const Grid& grid) {
  const Device& d = device();
  const std::uint64_t cluster = std::uint64_t{grid.cluster.x} * grid.cluster.y * grid.cluster.z;
  const std::uint64_t blocks = std::uint64_t{grid.blocks.x} * grid.blocks.y * grid.blocks.z;
  if (cluster > (d.large_clusters.count(grid.kernel) != 0 ? 16u : 8u)) return cudaErrorInvalidClusterSize;
  int most = 0;
  const unsigned threads = grid.threads.x * grid.threads.y * grid.threads.z;
  most_blocks(&most, grid.kernel, static_cast<int>(threads), grid.dynamic_shared_bytes);
  const std::uint64_t room = static_cast<std::uint64_t>(most) * static_cast<std::uint64_t>(d.processors);
  return grid.cooperative && blocks > room ? cudaErrorCooperativeLaunchTooLarge : cudaSuccess;
}

}  // namespace

const char* name_of(Schedule schedule) {
  constexpr std::array<const char*, 4> names = {"in order", "reverse", "random", "priority"};
  return names[static_cast<std::size_t>(schedule)];
}

Device& device() {
  static Device one;
  return one;
}

std::recursive_mutex& Call::mutex() {
  static std::recursive_mutex one;
  return one;
}

cudaError_t done(cudaError_t error) {
  Device& d = device();
  if (const cudaError_t scripted = scripted_fault(); scripted != cudaSuccess) {
    error = scripted;
    if (is_lasting(scripted)) {
      d.sticky = scripted;
      d.fault = cudaGetErrorName(scripted);
    }
  }
  if (d.sticky != cudaSuccess) error = d.sticky;
  if (error != cudaSuccess) d.last = error;
  return error;
}
cudaError_t not_ready() { return device().sticky == cudaSuccess ? cudaErrorNotReady : done(cudaSuccess); }

void set_schedule(Schedule schedule, std::uint64_t seed) {
  const Call call;
  finish_all();
  device().schedule = schedule;
  device().random.seed(seed);
  device().until_break = 1;
}
void hide_memory() { device_memory().hide(); }
void set_processors(int count) { device().processors = count; }
std::uint64_t look_at_clock() { return simulated_ns += look_ns; }
std::uint64_t count_cycles() { return cycles_per_ns * look_at_clock(); }
unsigned processor_count() { return static_cast<unsigned>(device().processors); }
void set_capability(int capability) { device().capability = capability; }
void set_processor_threads(int count) { device().processor_threads = count; }
void set_l2(int bytes) { device().l2_bytes = bytes; }
void set_memory(std::size_t bytes) { device().memory_bytes = bytes; }
void run_only(std::set<std::uint64_t> blocks) {
  const Call call;
  finish_all();
  device().chosen_blocks = std::move(blocks);
}
const std::set<std::uint64_t>& chosen_blocks() { return device().chosen_blocks; }
Schedule schedule() { return device().schedule; }
std::mt19937_64& random_numbers() { return device().random; }
bool breaks_at_random() { return device().schedule == Schedule::random; }
bool is_time_for_a_break() {
  Device& d = device();
  if (d.schedule != Schedule::random || --d.until_break != 0) return false;
  d.until_break = 1 + static_cast<unsigned>(d.random() % 31);
  return true;
}
unsigned char spoilt_byte() {
  constexpr std::array<unsigned char, 4> bytes = {0xFF, 0xCB, 0x7F, 0xFF};
  return bytes[static_cast<std::size_t>(device().schedule)];
}
const std::string& fault() { return device().fault; }
void reset() {
  const Call call;
  drop_all();
  Device& d = device();
  d.last = d.sticky = cudaSuccess;
  d.fault.clear();
}

namespace {

Source look_up(const void* code) {
  char hex[32];
  std::snprintf(hex, sizeof hex, "%p", code);
  Source source{hex, ""};
  Dl_info info{};
  if (code == nullptr || dladdr(code, &info) == 0) return source;
  std::array<char, 4096> program{};
  if (readlink("/proc/self/exe", program.data(), program.size() - 1) <= 0) return source;
  const auto offset = reinterpret_cast<std::uintptr_t>(code) - reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  char number[32];
  std::snprintf(number, sizeof number, "0x%zx", static_cast<std::size_t>(offset));
  FILE* pipe = popen(("addr2line -Cfie '" + std::string(program.data()) + "' " + number + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return source;
  std::array<char, 4096> line{};
  const auto next = [&] {
    std::string text = std::fgets(line.data(), static_cast<int>(line.size()), pipe) != nullptr ? line.data() : "";
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  };
  // The innermost function first; a place in the stand-in's headers is its caller's.
  std::string function = next(), file = next();
  if (!function.empty() && function != "??") source.function = function;
  while (file.find("/tests/simt/include/") != std::string::npos && !next().empty()) file = next();
  pclose(pipe);
  if (!file.empty() && file[0] != '?') source.place = file.substr(0, file.find(' '));
  return source;
}

}  // namespace

// Asked once for each place: addr2line takes longer than a test.
Source source_of(const void* code) {
  static std::map<const void*, Source> known;
  const auto [at, is_new] = known.try_emplace(code);
  if (is_new) at->second = look_up(code);
  return at->second;
}

cudaError_t launch(const cudaLaunchConfig_t& config, const void* kernel, std::function<void()> body,
                   const std::vector<const void*>& pointers) {
  const Call call("cudaLaunchKernelExC");
  Device& d = device();
  if (d.sticky != cudaSuccess) return done(d.sticky);
  if (!is_stream(config.stream)) return done(cudaErrorInvalidResourceHandle);
  const Grid grid = grid_of(config, kernel);
  if (!is_valid(grid)) return done(cudaErrorInvalidConfiguration);
  if (const cudaError_t error = check_together(grid); error != cudaSuccess) return done(error);
  const auto limit = d.dynamic_limits.find(kernel);
  const int most = limit != d.dynamic_limits.end() ? limit->second : usual_dynamic_shared;
  if (config.dynamicSmemBytes > static_cast<std::size_t>(most)) return done(cudaErrorInvalidValue);
  Fault wrong_pointer;
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    if (pointers[i] == nullptr || device_memory().contains(pointers[i], 0)) continue;
    wrong_pointer.error = cudaErrorIllegalAddress;
    wrong_pointer.what = "pointer argument " + std::to_string(i) + " (of " + std::to_string(pointers.size()) +
                         ", counted from 0) points to no memory of the device";
    wrong_pointer.where = "at its launch";
  }
  enqueue(config.stream, [grid, kernel, body = std::move(body), wrong_pointer] {
    simulated_ns += launch_ns;
    const Fault fault = wrong_pointer.error != cudaSuccess ? wrong_pointer : run_grid(grid, body);
    if (fault.error != cudaSuccess)
      end_kernel(kernel, fault);
    else
      note_kernel(kernel);
  });
  return d.sticky != cudaSuccess ? cudaSuccess : done(cudaSuccess);  // the launch itself went well
}

}  // namespace assay::simt
