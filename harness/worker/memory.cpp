// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See memory.h.
#include "harness/worker/memory.h"

#include <fmt/format.h>
#include <omp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "harness/base/cgroup.h"
#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"

namespace assay {
namespace {

// 4 KiB on x86-64, up to 64 KiB on ARM.
std::size_t page() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// 2 MiB with small pages of 4 KiB. With 64 KiB it is 512 MiB: too much to round a buffer up to, so there we align to 2
// MiB and do without.
std::size_t huge_page() {
  static const std::size_t bytes = [] {
    const std::size_t unit =
        std::strtoull(read_file_or("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size").c_str(), nullptr, 10);
    return unit > 0 && unit <= std::size_t{32} << 20 ? unit : std::size_t{2} << 20;
  }();
  return bytes;
}

std::size_t rounded(std::size_t bytes) {
  const std::size_t unit = bytes >= huge_page() ? huge_page() : page();
  return std::max(unit, (bytes + unit - 1) / unit * unit);
}

// mmap gives 4 KiB alignment; huge pages need 2 MiB, so the surplus at both ends is given back.
void* map_aligned(std::size_t bytes) {
  const std::size_t extra = bytes >= huge_page() ? huge_page() : 0;
  void* raw = mmap(nullptr, bytes + extra, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED)
    throw Error(fmt::format("cannot map {} bytes: {}; lower --max-memory or free memory", bytes, std::strerror(errno)));
  if (extra == 0) return raw;
  const auto begin = reinterpret_cast<std::uintptr_t>(raw);
  const std::uintptr_t aligned = (begin + huge_page() - 1) / huge_page() * huge_page();
  if (aligned > begin) munmap(raw, aligned - begin);
  if (aligned + bytes < begin + bytes + extra)
    munmap(reinterpret_cast<void*>(aligned + bytes), begin + extra - aligned);
  void* block = reinterpret_cast<void*>(aligned);
  madvise(block, bytes, MADV_HUGEPAGE);  // refused where there are none: then pages are small, and the record says so
  return block;
}

// mbind(MPOL_BIND) by system call: no libnuma needed for one call.
void bind_to_node(void* block, std::size_t bytes, int node) {
#ifdef SYS_mbind
  constexpr int mpol_bind = 2;
  std::vector<unsigned long> mask(static_cast<std::size_t>(node) / (8 * sizeof(unsigned long)) + 1);
  mask.back() = 1UL << (static_cast<std::size_t>(node) % (8 * sizeof(unsigned long)));
  if (syscall(SYS_mbind, block, bytes, mpol_bind, mask.data(), mask.size() * 8 * sizeof(unsigned long) + 1, 0U) != 0)
    throw Error(fmt::format("cannot bind memory to NUMA node {}: {}", node, std::strerror(errno)));
#else
  throw Error(fmt::format("this system has no call to bind memory to NUMA node {}", node));
#endif
}

void fill(void* block, std::size_t bytes, Touch touch, int threads) {
  auto* bytes_of = static_cast<unsigned char*>(block);
  const int team = touch == Touch::by_main ? 1 : threads;
#pragma omp parallel num_threads(team)
  {
    const kernels::Range range = kernels::share(bytes, omp_get_thread_num(), omp_get_num_threads(), page());
    std::memset(bytes_of + range.begin, 0xA5, range.end - range.begin);
  }
}

// "VmHWM:   1234 kB" -> bytes
std::uint64_t kib_line(const std::string& text, const char* key) {
  const std::size_t at = text.find(key);
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + std::strlen(key), nullptr, 10) * 1024;
}

// Where all memory is equally far, it doesn't matter which thread touched it first. "0" is one node, "0-1" or "0,2" are
// several.
bool several_nodes() {
  static const bool several =
      read_file_or("/sys/devices/system/node/has_memory").find_first_of(",-") != std::string::npos;
  return several;
}

}  // namespace

MemoryPool::~MemoryPool() { release_all(); }

MemoryPool::Area* MemoryPool::find(std::size_t bytes, Touch touch, int threads, int node) {
  Area* best = nullptr;
  for (Area& area : areas_) {
    const bool placed = area.node == node && (!several_nodes() || (area.touch == touch && area.threads == threads));
    if (placed && area.bytes - area.used >= bytes &&
        (best == nullptr || area.bytes - area.used < best->bytes - best->used))
      best = &area;
  }
  return best;
}

MemoryPool::Area& MemoryPool::map(std::size_t bytes, Touch touch, int threads, int node) {
  if (available_() < bytes + bytes / 8) keep_idle(0);
  auto* begin = static_cast<std::byte*>(map_aligned(bytes));
  areas_.push_back({begin, bytes, 0, 0, touch, threads, -2, 0});
  if (node >= 0) bind_to_node(begin, bytes, node);
  areas_.back().node = node;  // only now: an area that could not be bound must not pass for one that is
  return areas_.back();
}

void MemoryPool::reserve(std::size_t bytes, Touch touch, int threads, int node) {
  if (bytes < huge_page()) return;
  const std::size_t wanted = rounded(bytes) + 8 * huge_page();  // each buffer is rounded up by itself
  if (find(wanted, touch, threads, node) == nullptr) map(wanted, touch, threads, node);
}

void* MemoryPool::lend(std::size_t bytes, Touch touch, int threads, int node) {
  const std::size_t wanted = rounded(bytes);
  Area* area = find(wanted, touch, threads, node);
  if (area == nullptr) area = &map(wanted, touch, threads, node);
  // Small buffers share an area with large ones, whose beginnings stay on huge pages.
  if (wanted >= huge_page()) area->used = (area->used + huge_page() - 1) / huge_page() * huge_page();
  if (area->bytes - std::min(area->bytes, area->used) < wanted) area = &map(wanted, touch, threads, node);
  void* block = area->begin + area->used;
  area->used += wanted;
  area->touched = std::max(area->touched, area->used);
  area->unused_cases = 0;
  fill(block, bytes, touch, threads);
  return block;
}

void MemoryPool::end_case() {
  for (Area& area : areas_) {
    if (area.used == 0) area.unused_cases += 1;
    area.used = 0;
    if (several_nodes() && madvise(area.begin, area.touched, MADV_DONTNEED) == 0) area.touched = 0;
  }
  keep_idle((available_() + resident_bytes()) / 4);
}

// Gives areas that nobody uses back to the system until at most `bytes` are idle.
void MemoryPool::keep_idle(std::uint64_t bytes) {
  while (idle_resident_bytes() > bytes) {
    auto oldest = areas_.end();
    for (auto area = areas_.begin(); area != areas_.end(); ++area)
      if (area->used == 0 && (oldest == areas_.end() || area->unused_cases > oldest->unused_cases)) oldest = area;
    if (oldest == areas_.end()) return;  // the rest is in use
    munmap(oldest->begin, oldest->bytes);
    areas_.erase(oldest);
  }
}

void MemoryPool::release_all() {
  for (const Area& area : areas_) munmap(area.begin, area.bytes);
  areas_.clear();
}

std::uint64_t MemoryPool::idle_bytes() const {
  std::uint64_t sum = 0;
  for (const Area& area : areas_) sum += area.bytes - area.used;
  return sum;
}

std::uint64_t MemoryPool::lent_bytes() const {
  std::uint64_t sum = 0;
  for (const Area& area : areas_) sum += area.used;
  return sum;
}

std::uint64_t MemoryPool::resident_bytes() const {
  std::uint64_t sum = 0;
  for (const Area& area : areas_) sum += area.touched;
  return sum;
}

std::uint64_t MemoryPool::idle_resident_bytes() const {
  std::uint64_t sum = 0;
  for (const Area& area : areas_) sum += area.touched - area.used;
  return sum;
}

// /proc/self/smaps tells it for each mapping, and a mapping may hold several areas that happen to be neighbours.
std::uint64_t MemoryPool::huge_page_bytes() const {
  std::uint64_t sum = 0, shared_with_us = 0;
  for (const std::string& row : split(read_file_or("/proc/self/smaps"), '\n')) {
    unsigned long begin = 0, end = 0, kib = 0;
    if (std::sscanf(row.c_str(), "%lx-%lx ", &begin, &end) == 2) {
      shared_with_us = 0;
      for (const Area& area : areas_) {
        const auto from = std::max<std::uint64_t>(reinterpret_cast<std::uintptr_t>(area.begin), begin);
        const auto to = std::min<std::uint64_t>(reinterpret_cast<std::uintptr_t>(area.begin + area.used), end);
        if (to > from) shared_with_us += to - from;
      }
    } else if (std::sscanf(row.c_str(), "AnonHugePages: %lu kB", &kib) == 1) {
      sum += std::min<std::uint64_t>(std::uint64_t{kib} * 1024, shared_with_us);
    }
  }
  return sum;
}

std::uint64_t available_memory_bytes() {
  static const Cgroup cgroup;
  const std::uint64_t available = kib_line(read_file_or("/proc/meminfo"), "MemAvailable:");
  return std::min(available, cgroup.memory_available().value_or(available));
}

bool reset_resident_peak() {
  std::FILE* file = std::fopen("/proc/self/clear_refs", "w");
  if (file == nullptr) return false;
  const bool written = std::fputs("5", file) >= 0;
  return std::fclose(file) == 0 && written;
}

std::uint64_t resident_peak_bytes() { return kib_line(read_file_or("/proc/self/status"), "VmHWM:"); }

std::uint64_t resident_bytes() { return kib_line(read_file_or("/proc/self/status"), "VmRSS:"); }

}  // namespace assay
