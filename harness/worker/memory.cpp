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

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"

namespace assay {
namespace {

constexpr std::size_t page = 4096, huge_page = std::size_t{2} << 20;

std::size_t rounded(std::size_t bytes) {
  const std::size_t unit = bytes >= huge_page ? huge_page : page;
  return std::max(unit, (bytes + unit - 1) / unit * unit);
}

// mmap gives 4 KiB alignment; huge pages need 2 MiB, so the surplus at both ends is given back.
void* map_aligned(std::size_t bytes) {
  const std::size_t extra = bytes >= huge_page ? huge_page : 0;
  void* raw = mmap(nullptr, bytes + extra, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED)
    throw Error(fmt::format("cannot map {} bytes: {}; lower --max-memory or free memory", bytes, std::strerror(errno)));
  if (extra == 0) return raw;
  const auto begin = reinterpret_cast<std::uintptr_t>(raw);
  const std::uintptr_t aligned = (begin + huge_page - 1) / huge_page * huge_page;
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
    const kernels::Range range = kernels::share(bytes, omp_get_thread_num(), omp_get_num_threads(), page);
    std::memset(bytes_of + range.begin, 0xA5, range.end - range.begin);
  }
}

// "VmHWM:   1234 kB" -> bytes
std::uint64_t kib_line(const std::string& text, const char* key) {
  const std::size_t at = text.find(key);
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + std::strlen(key), nullptr, 10) * 1024;
}

}  // namespace

MemoryPool::~MemoryPool() { release_all(); }

void* MemoryPool::lend(std::size_t bytes, Touch touch, int threads, int node) {
  const std::size_t wanted = rounded(bytes);
  Block* best = nullptr;
  for (Block& block : blocks_) {
    const bool same = !block.lent && block.touch == touch && block.threads == threads && block.node == node;
    if (same && block.bytes >= wanted && block.bytes <= wanted + wanted / 4 &&
        (best == nullptr || block.bytes < best->bytes))
      best = &block;
  }
  if (best == nullptr) {
    if (available_memory_bytes() < wanted + wanted / 8) keep_idle(0);
    void* address = map_aligned(wanted);
    blocks_.push_back({address, wanted, touch, threads, node, false, 0});
    best = &blocks_.back();
    if (node >= 0) bind_to_node(address, wanted, node);
  }
  best->lent = true;
  best->unused_cases = 0;
  fill(best->address, bytes, touch, threads);
  return best->address;
}

void MemoryPool::end_case() {
  for (Block& block : blocks_) {
    if (!block.lent) block.unused_cases += 1;
    block.lent = false;
  }
  keep_idle((available_memory_bytes() + idle_bytes()) / 4);
}

void MemoryPool::keep_idle(std::uint64_t bytes) {
  while (idle_bytes() > bytes) {
    const auto oldest = std::max_element(blocks_.begin(), blocks_.end(), [](const Block& a, const Block& b) {
      return std::make_pair(!a.lent, a.unused_cases) < std::make_pair(!b.lent, b.unused_cases);
    });
    munmap(oldest->address, oldest->bytes);
    blocks_.erase(oldest);
  }
}

void MemoryPool::release_all() {
  for (const Block& block : blocks_) munmap(block.address, block.bytes);
  blocks_.clear();
}

std::uint64_t MemoryPool::idle_bytes() const {
  std::uint64_t sum = 0;
  for (const Block& block : blocks_) sum += block.lent ? 0 : block.bytes;
  return sum;
}

std::uint64_t MemoryPool::lent_bytes() const {
  std::uint64_t sum = 0;
  for (const Block& block : blocks_) sum += block.lent ? block.bytes : 0;
  return sum;
}

std::uint64_t available_memory_bytes() {
  std::uint64_t available = kib_line(read_file_or("/proc/meminfo"), "MemAvailable:");
  // cgroup v2: own folder is named in /proc/self/cgroup as "0::/path"; limits of parents bind too.
  std::string path = trim(read_file_or("/proc/self/cgroup"));
  const std::size_t unified = path.find("0::");
  if (unified == std::string::npos) return available;
  path = path.substr(unified + 3, path.find('\n', unified) - unified - 3);
  for (std::filesystem::path group = "/sys/fs/cgroup" + path; group.string().size() >= std::strlen("/sys/fs/cgroup");
       group = group.parent_path()) {
    const std::string limit = trim(read_file_or(group / "memory.max"));
    if (!limit.empty() && limit != "max") {
      const std::uint64_t max = std::strtoull(limit.c_str(), nullptr, 10);
      const std::uint64_t used = std::strtoull(read_file_or(group / "memory.current", "0").c_str(), nullptr, 10);
      available = std::min(available, max > used ? max - used : 0);
    }
  }
  return available;
}

bool reset_resident_peak() {
  std::FILE* file = std::fopen("/proc/self/clear_refs", "w");
  if (file == nullptr) return false;
  const bool written = std::fputs("5", file) >= 0;
  return std::fclose(file) == 0 && written;
}

std::uint64_t resident_peak_bytes() { return kib_line(read_file_or("/proc/self/status"), "VmHWM:"); }
std::uint64_t huge_page_bytes() { return kib_line(read_file_or("/proc/self/smaps_rollup"), "AnonHugePages:"); }

}  // namespace assay
