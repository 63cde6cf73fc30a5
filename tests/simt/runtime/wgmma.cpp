// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Products of warpgroups, of include/kernels/ptx_hopper.cuh. Each of the four warps multiplies its own 16 rows when it
// waits, and not before all four have begun the same product. Until then its numbers are here and the threads'
// registers hold spoilt bytes. Operands are in dynamic shared memory with the 128-byte swizzle; there is no other
// layout here. Sums are taken in f32 without a defined order, while a device may round elsewhere: kernels are tested
// with integers.
#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "async.h"
#include "kernels/ptx_hopper.cuh"
#include "sanitizers.h"
#include "shared_memory.h"
#include "simt/half.h"
#include "simulated_time.h"

namespace assay::simt {
namespace {

constexpr unsigned lanes = 32, group_warps = 4, warp_rows = 16, k_bytes = 32, all_lanes = 0xFFFFFFFFu;
constexpr unsigned line_bytes = 128, atom_bytes = 1024, granule = 16, group_lines = 8, window = 1u << 18;

unsigned bytes_of(Numbers numbers) {
  return numbers == Numbers::tf32 ? 4 : numbers == Numbers::bf16 || numbers == Numbers::f16 ? 2 : 1;
}

float e4m3_value(std::uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 3 & 15), fraction = static_cast<int>(bits & 7);
  if (exponent == 15 && fraction == 7) return std::nanf("");
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -9)
                                        : std::ldexp(static_cast<float>(8 + fraction), exponent - 10);
  return (bits & 0x80u) != 0 ? -magnitude : magnitude;
}

float value_of(Numbers numbers, const unsigned char* p) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, p, bytes_of(numbers));
  switch (numbers) {
    case Numbers::bf16:
      return static_cast<float>(Bf16::value(bits));
    case Numbers::f16:
      return static_cast<float>(F16::value(bits));
    case Numbers::tf32:
      return std::bit_cast<float>(bits & ~0x1FFFu);
    case Numbers::int8:
      return static_cast<std::int8_t>(bits);
    case Numbers::e4m3:
      return e4m3_value(bits);
  }
  return 0;
}

// Rows `first` to `first` + `count` of A, or columns of B, as a descriptor says where they are.
struct Operand {
  std::uint64_t descriptor = 0;
  Numbers numbers = Numbers::bf16;
  unsigned first = 0, count = 0;

  auto key() const { return std::tuple(descriptor, numbers, first, count); }
  bool operator==(const Operand& o) const { return key() == o.key(); }
  unsigned k() const { return k_bytes / bytes_of(numbers); }
  unsigned begin() const { return static_cast<unsigned>(descriptor & 0x3FFF) * granule; }
  static unsigned char* at(unsigned address) { return static_cast<unsigned char*>(dynamic_shared()) + address; }
  unsigned char* number(unsigned row, unsigned step) const {
    const unsigned address = begin() + row * line_bytes + step * bytes_of(numbers);
    return at(address ^ (address / line_bytes % group_lines) * granule);
  }
  // The bytes it takes, in pieces without gaps.
  template <class Touch>
  void each_piece(const Touch& touch) const {
    for (unsigned row = first; row < first + count; ++row) {
      touch(number(row, 0), granule);
      touch(number(row, k() / 2), granule);
    }
  }
};

// As long as nobody writes to shared memory, what was read from it stays: numbers by k, then by row.
struct Decoded {
  Operand operand;
  std::vector<float> values;
};
// The reads of one operand by one engine (accesses.h), as long as nobody writes; and its clock at the last of them.
struct Marked {
  unsigned series = 0;
  std::uint32_t clock = 0;
  std::uint64_t writes_then = 0;
};
// The sums of a product of two operands, by rows: a loop over the same ones multiplies once.
struct Multiplied {
  Operand a, b;
  std::vector<float> sums;
};
std::vector<std::unique_ptr<Decoded>> decoded;
std::vector<std::unique_ptr<Multiplied>> multiplied;
std::map<std::tuple<unsigned, decltype(Operand().key())>, Marked> marked;
std::uint64_t writes_then = 0;

void forget_numbers() {
  decoded.clear();
  multiplied.clear();
}

void forget_what_changed() {
  if (writes_then == shared_writes()) return;
  writes_then = shared_writes();
  forget_numbers();
}

void mark(const Operand& operand, const Operation& operation, bool is_end) {
  Marked& m = marked[{operation.who, operand.key()}];
  m.clock = std::max(m.clock, operation.clock);
  if (m.series != 0 && m.writes_then == shared_writes() && continue_series(m.series, m.clock)) return;
  m = {begin_series(m.clock), m.clock, shared_writes()};
  Operation watched = operation;
  watched.series = m.series;
  operand.each_piece([&](const unsigned char* p, std::size_t bytes) {
    std::size_t index = 0;
    if (!shared_at(p, &index) || !shared_at(p + bytes - 1, &index)) {
      fail(cudaErrorIllegalAddress, "an operand of wgmma that reaches out of the block's shared memory",
           operation.where);
    }
    access(p, bytes, Access::read, watched, is_end);
  });
}

const float* decode(const Operand& operand) {
  forget_what_changed();
  for (const auto& d : decoded) {
    if (d->operand == operand) return d->values.data();
  }
  auto made = std::make_unique<Decoded>();
  made->operand = operand;
  for (unsigned step = 0; step < operand.k(); ++step) {
    for (unsigned row = operand.first; row < operand.first + operand.count; ++row) {
      made->values.push_back(value_of(operand.numbers, operand.number(row, step)));
    }
  }
  decoded.push_back(std::move(made));
  return decoded.back()->values.data();
}

// The numbers of a warp's threads while products change them, [lane][number].
struct Registers {
  void* of_lane[lanes] = {};
  unsigned count = 0, products = 0;  // under way
  std::vector<std::uint32_t> bits;
};
struct Begun {
  Product product;
  Registers* registers = nullptr;
  Operation operation;
  std::uint64_t number = 0;  // in the order of the warp, from 1
  bool is_done = false;
};
struct WarpState {
  bool is_fenced = false;
  std::uint64_t begun = 0;
  std::vector<Begun> open;
  std::deque<std::vector<Begun>> groups;
  std::vector<std::unique_ptr<Registers>> registers;
};
struct Warpgroup {
  WarpState warps[group_warps];
  std::vector<Product> products;  // in the order in which the first of the warps began them
};
std::deque<Warpgroup> groups_of_block;  // its elements stay where they are

Warpgroup& my_group() {
  const unsigned group = running_thread() / (lanes * group_warps);
  if (groups_of_block.size() <= group) groups_of_block.resize(group + 1);
  return groups_of_block[group];
}
WarpState& my_warp() { return my_group().warps[running_thread() / lanes % group_warps]; }

Operand of_a(const Product& p) {
  return {p.a, p.numbers, running_thread() / lanes % group_warps * warp_rows, warp_rows};
}
Operand of_b(const Product& p) { return {p.b, p.numbers, 0, p.n}; }

void multiply(const float* a, const float* b, unsigned k, unsigned n, float* sums) {
  for (unsigned i = 0; i < warp_rows; ++i) {
    for (unsigned step = 0; step < k; ++step) {
      const float factor = a[step * warp_rows + i];
      for (unsigned j = 0; j < n; ++j) sums[i * n + j] += factor * b[step * n + j];
    }
  }
}

const float* product_of(const Operand& a, const Operand& b) {
  const float *const numbers_of_a = decode(a), *const numbers_of_b = decode(b);  // forgets what changed
  for (const auto& m : multiplied) {
    if (m->a == a && m->b == b) return m->sums.data();
  }
  auto made = std::make_unique<Multiplied>();
  made->a = a;
  made->b = b;
  made->sums.resize(std::size_t{a.count} * b.count);
  multiply(numbers_of_a, numbers_of_b, a.k(), b.count, made->sums.data());
  multiplied.push_back(std::move(made));
  return multiplied.back()->sums.data();
}

void execute(Begun& begun) {
  if (begun.is_done) return;
  begun.is_done = true;
  if constexpr (sanitizes_threads || sanitizes_addresses) forget_numbers();  // then nobody counts the writes
  const Product& p = begun.product;
  mark(of_a(p), begun.operation, true);
  mark(of_b(p), begun.operation, true);
  simulated_ns += std::uint64_t{warp_rows} * p.n * k_bytes / product_bytes_per_ns;
  const float* const sums = product_of(of_a(p), of_b(p));
  Registers& registers = *begun.registers;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    for (unsigned i = 0; i < registers.count; ++i) {
      std::uint32_t& bits = registers.bits[lane * registers.count + i];
      const float sum = sums[(lane / 4 + i / 2 % 2 * 8) * p.n + i / 4 * 8 + lane % 4 * 2 + i % 2];
      if (p.numbers == Numbers::int8) {
        bits = (p.adds ? bits : 0) + static_cast<std::uint32_t>(static_cast<std::int32_t>(sum));
      } else {
        bits = std::bit_cast<std::uint32_t>((p.adds ? std::bit_cast<float>(bits) : 0.0f) + sum);
      }
    }
  }
}

// The threads of a warp come with these.
struct Call {
  const Product* product = nullptr;
  void* d = nullptr;
  Where where;
  std::size_t pending = 0;
};
const Call& call_of(const Exchange* lane) {
  return *reinterpret_cast<const Call*>(static_cast<std::uintptr_t>(lane->value));
}

void check_operand(const Operand& operand, Where where) {
  const unsigned offset = operand.begin() % atom_bytes;
  if (operand.descriptor >> 32 != (std::uint64_t{1} << 30 | atom_bytes / granule) || offset >= line_bytes ||
      offset % k_bytes != 0) {
    fail(cudaErrorMisalignedAddress, "an operand of wgmma that doesn't begin in the first line of 1024 aligned bytes",
         where);
  }
}

Registers* take_registers(Exchange* const (&all)[32], const Product& product, WarpState* warp, Where where) {
  for (const auto& r : warp->registers) {
    if (r->of_lane[0] != call_of(all[0]).d) continue;
    if (r->count != product.n / 2) {
      fail(cudaErrorLaunchFailure, "products of different sizes add to the same registers without a wait", where);
    }
    return r.get();
  }
  if (!warp->is_fenced) {
    fail(cudaErrorLaunchFailure, "a wgmma on registers that the threads may have touched, without wgmma_fence()",
         where);
  }
  auto made = std::make_unique<Registers>();
  made->count = product.n / 2;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    auto* const d = made->of_lane[lane] = call_of(all[lane]).d;
    const std::size_t at = made->bits.size();
    made->bits.resize(at + made->count);
    std::memcpy(&made->bits[at], d, made->count * sizeof(std::uint32_t));
    std::memset(d, spoilt_byte(), made->count * sizeof(std::uint32_t));
  }
  warp->registers.push_back(std::move(made));
  return warp->registers.back().get();
}

bool is_same(const Product& x, const Product& y) {
  return x.numbers == y.numbers && x.n == y.n && x.a == y.a && x.b == y.b && x.adds == y.adds;
}

void begin_product(Exchange* const (&all)[32], std::uint32_t) {
  const Product& product = *call_of(all[0]).product;
  const Where where = call_of(all[0]).where;
  for (const Exchange* lane : all) {
    if (!is_same(product, *call_of(lane).product)) {
      fail(cudaErrorLaunchFailure, "the lanes of a warp begin different products", where);
    }
  }
  check_operand(of_a(product), where);
  check_operand(of_b(product), where);
  Warpgroup& group = my_group();
  WarpState& warp = my_warp();
  if (warp.begun == group.products.size()) {
    group.products.push_back(product);
  } else if (!is_same(group.products[warp.begun], product)) {
    fail(cudaErrorLaunchFailure, "the warps of a warpgroup begin different products", where);
  }
  const unsigned who = Clocks::products_of(running_thread() / lanes);
  Begun begun{product, take_registers(all, product, &warp, where), {}, ++warp.begun, false};
  begun.operation = operation_of(who, static_cast<std::uint32_t>(warp.begun), where);
  ++begun.registers->products;
  mark(of_a(product), begun.operation, false);
  mark(of_b(product), begun.operation, false);
  warp.open.push_back(std::move(begun));
  if (breaks_at_random() && random_numbers()() % 2 == 0) {  // at once, behind those before it
    for (auto& group_before : warp.groups) std::for_each(group_before.begin(), group_before.end(), execute);
    std::for_each(warp.open.begin(), warp.open.end(), execute);
  }
  block().look_again();
}

void close_group(Exchange* const (&)[32], std::uint32_t) {
  WarpState& warp = my_warp();
  warp.groups.push_back(std::move(warp.open));
  warp.open.clear();
}

void give_back(WarpState* warp, const Registers* done) {
  for (unsigned lane = 0; lane < lanes; ++lane) {
    std::memcpy(done->of_lane[lane], &done->bits[lane * done->count], done->count * sizeof(std::uint32_t));
  }
  warp->is_fenced = false;
  std::erase_if(warp->registers, [&](const auto& r) { return r.get() == done; });
}

void end_groups(Exchange* const (&all)[32], std::uint32_t) {
  WarpState& warp = my_warp();
  const unsigned first = running_thread() / lanes * lanes;
  for (; warp.groups.size() > call_of(all[0]).pending; warp.groups.pop_front()) {
    for (Begun& begun : warp.groups.front()) {
      execute(begun);
      for (unsigned lane = 0; lane < lanes; ++lane) {
        clocks().learn(first + lane, begun.operation.who, begun.operation.clock);
      }
      if (--begun.registers->products == 0) give_back(&warp, begun.registers);
    }
  }
}

void meet_with(Call* call, Complete complete, const char* name, Where where) {
  call->where = where;
  Exchange mine;
  mine.value = reinterpret_cast<std::uintptr_t>(call);
  meet(all_lanes, &mine, complete, false, name, where);
}

}  // namespace

void forget_products() {
  groups_of_block.clear();
  forget_numbers();
  marked.clear();
  forget_series();
}

std::string finish_products() {
  for (const Warpgroup& group : groups_of_block) {
    for (const WarpState& warp : group.warps) {
      if (!warp.open.empty()) return "the block ends before a wgmma is committed";
      if (!warp.groups.empty()) return "the block ends while a wgmma is under way: no wgmma_wait";
    }
  }
  return "";
}

std::uint64_t describe_matrix(const void* shared, Where where) {
  const auto offset = static_cast<const unsigned char*>(shared) - Operand::at(0);
  if (offset < 0 || offset >= static_cast<std::ptrdiff_t>(window)) {
    fail(cudaErrorLaunchFailure, "a matrix for wgmma that isn't in dynamic shared memory", where);
  }
  return std::uint64_t{1} << 62 | std::uint64_t{atom_bytes / granule} << 32 | std::uint64_t{1} << 16 |
         static_cast<std::uint64_t>(offset) / granule;
}

void wgmma_fence(Where where) {
  const Unseen unseen;
  Call call;
  meet_with(
      &call, [](Exchange* const(&)[32], std::uint32_t) { my_warp().is_fenced = true; }, "wgmma_fence", where);
}

void wgmma(const Product& product, void* d, Where where) {
  const Unseen unseen;
  use_clocks(where);
  const unsigned group = running_thread() / (lanes * group_warps);
  if (blockDim.x * blockDim.y * blockDim.z < (group + 1) * lanes * group_warps) {
    fail(cudaErrorLaunchFailure, "a wgmma in a block that ends inside of its warpgroup", where);
  }
  Call call{&product, d, where, 0};
  meet_with(&call, begin_product, "wgmma", where);
}

void wgmma_commit(Where where) {
  const Unseen unseen;
  Call call;
  meet_with(&call, close_group, "wgmma_commit", where);
}

void wgmma_wait(std::size_t pending, Where where) {
  const Unseen unseen;
  const WarpState& warp = my_warp();
  // All that must end was begun by the other warps, too.
  std::uint64_t last = 0;
  for (std::size_t i = 0; i + pending < warp.groups.size(); ++i) {
    if (!warp.groups[i].empty()) last = warp.groups[i].back().number;
  }
  const unsigned index = running_thread() / (lanes * group_warps);
  block().wait_until(
      [=] {
        for (const WarpState& other : groups_of_block[index].warps) {
          if (other.begun < last) return false;
        }
        return true;
      },
      "wgmma_wait, for the other warps of its warpgroup,", where);
  Call call;
  call.pending = pending;
  meet_with(&call, end_groups, "wgmma_wait", where);
}

}  // namespace assay::simt
