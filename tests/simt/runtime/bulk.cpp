// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Bulk copies of include/kernels/ptx_hopper.cuh. Loads into shared memory wait in one queue of the block until no
// thread can go on without one; stores wait in groups of their thread.
#include <algorithm>
#include <cstring>
#include <deque>
#include <vector>

#include "async.h"
#include "kernels/ptx_hopper.cuh"
#include "memory.h"
#include "sanitizers.h"
#include "shared_memory.h"
#include "tensor_map.h"

namespace assay::simt {
namespace {

constexpr std::size_t engine_bytes = 16, swizzle_bytes = 128, swizzle_atom = 1024, box_alignment = 128;

// One line in shared memory: `bytes` of which the first `inside` come from memory, the others are zeros.
struct Line {
  char* to = nullptr;
  const char* from = nullptr;
  std::size_t bytes = 0, inside = 0;
  bool swizzled = false;
};
struct Load {
  std::vector<Line> lines;
  std::size_t bytes = 0;
  void* barrier = nullptr;
  Operation operation;
};
std::vector<Load>& loads() {
  static std::vector<Load> all;
  return all;
}

struct Store {
  char* to = nullptr;
  const char* from = nullptr;
  std::vector<char> data;  // as the engine has read it
  Operation operation;
};
using Group = std::vector<Store>;
struct Stores {
  Group open;
  std::deque<Group> unread, unwritten;
};
bool left_over = false;  // by a block that stored, perhaps
std::vector<Stores>& all_stores() {
  static std::vector<Stores> stores;
  return stores;
}

void finish(const Load& load) {
  for (const Line& line : load.lines) {
    if (line.inside != 0) access(line.from, line.inside, Access::read, load.operation, true);
    access(line.to, line.bytes, Access::write, load.operation, true);
    const auto number = reinterpret_cast<std::uintptr_t>(line.to) / swizzle_bytes % 8;
    for (std::size_t at = 0; at < line.bytes; at += engine_bytes) {
      char* const to = line.to + (line.swizzled ? (at / engine_bytes ^ number) * engine_bytes : at);
      const std::size_t here = at < line.inside ? std::min(engine_bytes, line.inside - at) : 0;
      if (here != 0) std::memcpy(to, line.from + at, here);
      std::memset(to + here, 0, engine_bytes - here);
    }
  }
  end_load(load.barrier, load.bytes, load.operation);
}

void begin(Load load) {
  for (const Line& line : load.lines) {
    access(line.to, line.bytes, Access::write, load.operation, false);
    std::memset(line.to, spoilt_byte(), line.bytes);
  }
  if (breaks_at_random() && random_numbers()() % 2 == 0) {
    finish(load);
  } else {
    loads().push_back(std::move(load));
  }
}

void check_shared(const void* p, std::size_t bytes, std::size_t alignment, Where where) {
  std::size_t first = 0, last = 0;
  if (!shared_at(p, &first) || !shared_at(static_cast<const char*>(p) + bytes - 1, &last)) {
    fail(cudaErrorIllegalAddress, "a bulk copy whose shared side is not in shared memory", where);
  }
  if (reinterpret_cast<std::uintptr_t>(p) % alignment != 0) {
    fail_with(cudaErrorMisalignedAddress,
              "a bulk copy whose shared side is not aligned to " + std::to_string(alignment) + " bytes", where);
  }
}

void check_copy(const void* global, const void* shared, std::size_t bytes, Where where) {
  if (bytes == 0 || bytes % engine_bytes != 0) {
    fail(cudaErrorLaunchFailure, "a bulk copy of a size that is no multiple of 16 bytes, or 0", where);
  }
  check_shared(shared, bytes, engine_bytes, where);
  if (reinterpret_cast<std::uintptr_t>(global) % engine_bytes != 0) {
    fail(cudaErrorMisalignedAddress, "a bulk copy whose global side is not aligned to 16 bytes", where);
  }
  if (!device_memory().contains(global, bytes)) {
    fail_with(cudaErrorIllegalAddress,
              "a bulk copy of " + std::to_string(bytes) + " bytes from or to " + device_memory().describe(global) +
                  ", which does not hold them all",
              where);
  }
}

void read_shared(Store* store) {
  access(store->from, store->data.size(), Access::read, store->operation, true);
  std::memcpy(store->data.data(), store->from, store->data.size());
}

void write_global(const Group& group) {
  for (const Store& store : group) std::memcpy(store.to, store.data.data(), store.data.size());
}

}  // namespace

void forget_bulk(unsigned threads) {
  loads().clear();
  if (all_stores().size() < threads) all_stores().resize(threads);
  if (!left_over) return;
  left_over = false;
  for (Stores& stores : all_stores()) stores = {};
}

std::string finish_bulk() {
  if (!loads().empty()) return "the block ends while copies into its shared memory are under way";
  if (!left_over) return "";
  for (Stores& stores : all_stores()) {
    if (!stores.open.empty()) return "the block ends before a bulk store is committed";
    if (!stores.unread.empty()) return "the block ends while bulk stores read its shared memory: no wait_bulk_read";
    for (const Group& group : stores.unwritten) write_global(group);
    stores.unwritten.clear();
  }
  return "";
}

bool has_copies() { return !loads().empty(); }

void finish_one_copy() {
  if (loads().empty()) return;
  const bool any = schedule() == Schedule::random || schedule() == Schedule::priority;
  const std::size_t which = any ? random_numbers()() % loads().size() : 0;
  const Load load = std::move(loads()[which]);
  loads().erase(loads().begin() + static_cast<std::ptrdiff_t>(which));
  finish(load);
}

void fence_async() { clocks().fence(running_thread()); }

void load_bulk(void* shared, const void* global, unsigned bytes, void* barrier, Where where) {
  const Unseen unseen;
  check_copy(global, shared, bytes, where);
  Line line{static_cast<char*>(shared), static_cast<const char*>(global), bytes, bytes, false};
  begin({{line}, bytes, barrier, begin_load(barrier, where)});
}

void load_box(void* shared, const CUtensorMap* opaque, int x, int y, void* barrier, Where where) {
  const Unseen unseen;
  TensorMap map;
  std::memcpy(static_cast<void*>(&map), opaque, sizeof map);
  if (map.magic != TensorMap::magic_number) {
    fail(cudaErrorLaunchFailure, "a map that cuTensorMapEncodeTiled has not made", where);
  }
  const std::size_t line_bytes = std::size_t{map.box_columns} * map.element_bytes, bytes = line_bytes * map.box_rows;
  check_shared(shared, bytes, map.swizzled ? swizzle_atom : box_alignment, where);
  if (map.swizzled && line_bytes != swizzle_bytes) {
    fail(cudaErrorLaunchFailure, "the rig swizzles boxes of 128 bytes a row only", where);
  }
  Load load{{}, bytes, barrier, begin_load(barrier, where)};
  for (std::uint32_t i = 0; i < map.box_rows; ++i) {
    Line line{static_cast<char*>(shared) + i * line_bytes, nullptr, line_bytes, 0, map.swizzled};
    const std::int64_t row = std::int64_t{y} + i, columns = static_cast<std::int64_t>(map.columns);
    if (x < 0 || row < 0) fail(cudaErrorLaunchFailure, "the rig has no boxes that begin before their matrix", where);
    if (row < static_cast<std::int64_t>(map.rows) && x < columns) {
      line.from = map.base + static_cast<std::uint64_t>(row) * map.row_bytes +
                  static_cast<std::uint64_t>(x) * map.element_bytes;
      line.inside = std::min(line_bytes, static_cast<std::size_t>(columns - x) * map.element_bytes);
      if (!device_memory().contains(line.from, line.inside)) {
        fail_with(cudaErrorIllegalAddress, "a box of a matrix that reaches into " + device_memory().describe(line.from),
                  where);
      }
    }
    load.lines.push_back(line);
  }
  begin(std::move(load));
}

void store_bulk(void* global, const void* shared, unsigned bytes, Where where) {
  const Unseen unseen;
  check_copy(global, shared, bytes, where);
  use_clocks(where);
  left_over = true;
  static std::uint32_t number = 0;
  Store store{static_cast<char*>(global), static_cast<const char*>(shared), std::vector<char>(bytes),
              operation_of(Clocks::stores_of(running_thread() / 32), ++number, where)};
  access(shared, bytes, Access::read, store.operation, false);
  access(global, bytes, Access::write, store.operation, false);
  all_stores()[running_thread()].open.push_back(std::move(store));
}

void commit_bulk() {
  const Unseen unseen;
  Stores& mine = all_stores()[running_thread()];
  mine.unread.push_back(std::move(mine.open));
  mine.open.clear();
}

void wait_bulk(std::size_t pending, bool only_read) {
  const Unseen unseen;
  Stores& mine = all_stores()[running_thread()];
  for (; mine.unread.size() > pending; mine.unread.pop_front()) {
    for (Store& store : mine.unread.front()) {
      read_shared(&store);
      clocks().learn(running_thread(), store.operation.who, store.operation.clock);
    }
    mine.unwritten.push_back(std::move(mine.unread.front()));
  }
  if (only_read) return;
  for (; mine.unwritten.size() + mine.unread.size() > pending; mine.unwritten.pop_front()) {
    write_global(mine.unwritten.front());
  }
}

}  // namespace assay::simt
