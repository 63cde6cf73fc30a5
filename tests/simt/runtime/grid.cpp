// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "grid.h"

#include <algorithm>
#include <array>
#include <csetjmp>
#include <csignal>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "accesses.h"
#include "async.h"
#include "banks.h"
#include "memory.h"
#include "shared_memory.h"

namespace assay::simt {
namespace {

constexpr std::uint64_t most_idle_rounds = 1'000'000;  // all threads spin: nobody will end that
constexpr unsigned turns_of_a_block = 16;              // in the random schedule, about

// What runs now.
struct Running {
  std::vector<std::unique_ptr<Block>> blocks;  // by slot, `count` of them in use
  unsigned count = 0;
  std::vector<unsigned> order;  // slots
  Block* now = nullptr;
  std::vector<Cluster> clusters;
  const std::function<void()>* body = nullptr;
  Stacks stacks;
  Context scheduler;
  std::uint64_t idle_rounds = 0;
  std::uint64_t numbers = 0,
                group_begin = 0;  // of barriers; 0 is before all blocks
  std::uint32_t last_block = 0, first_of_launch = 0;
  Fault fault;
  // Of a fault of the machine: noted in a signal handler, made a report later.
  sigjmp_buf landing;
  int signal = 0;
  const void* address = nullptr;
  const void* code = nullptr;
};

Running& running() {
  static Running one;
  return one;
}

// The block that goes on: null if all wait.
Block* next_block() {
  Running& r = running();
  if (r.count == 1) return r.blocks[0]->can_run() ? r.blocks[0].get() : nullptr;
  if (schedule() == Schedule::random && r.now != nullptr && random_numbers()() % turns_of_a_block != 0 &&
      r.now->can_run()) {
    return r.now;
  }
  if (schedule() == Schedule::random) std::shuffle(r.order.begin(), r.order.end(), random_numbers());
  for (const unsigned slot : r.order) {
    if (r.blocks[slot]->can_run()) return r.blocks[slot].get();
  }
  return nullptr;
}

bool wake_paused() {
  Running& r = running();
  bool any = false;
  for (unsigned i = 0; i < r.count; ++i) any = r.blocks[i]->wake_paused() || any;
  if (!any || ++r.idle_rounds <= most_idle_rounds) return any;
  r.fault = {
      cudaErrorLaunchTimeout, "all threads that are left spin, and nobody can end it", "", r.blocks[0]->index(), {}};
  return false;
}

void report_deadlock() {
  Running& r = running();
  if (r.fault.error != cudaSuccess) return;
  std::map<std::string, unsigned> groups;
  for (unsigned i = 0; i < r.count; ++i) r.blocks[i]->count_waiting(&groups, &r.fault);
  r.fault.error = cudaErrorLaunchTimeout;
  r.fault.what = "deadlock:";
  for (const auto& [where, count] : groups) r.fault.what += " " + std::to_string(count) + " wait in " + where + ";";
  r.fault.what += describe_barriers();
}

bool all_over() {
  const Running& r = running();
  return std::all_of(r.blocks.begin(), r.blocks.begin() + r.count, [](const auto& b) { return b->has_ended(); });
}

void run_until_over() {
  Running& r = running();
  while (r.fault.error == cudaSuccess && !all_over()) {
    Block* const next = next_block();
    if (next == nullptr) {
      if ((r.count == 1 && r.blocks[0]->wake_to_help()) || wake_paused()) continue;
      report_deadlock();
      break;
    }
    r.now = next;
    select_shared(next->slot());
    next->run_thread();
  }
}

uint3 index_of(std::uint64_t number) {
  return {static_cast<unsigned>(number % gridDim.x), static_cast<unsigned>(number / gridDim.x % gridDim.y),
          static_cast<unsigned>(number / gridDim.x / gridDim.y)};
}

// How many clusters, or blocks without them, a grid has along each axis.
dim3 clusters_of(const Grid& grid) {
  return {grid.blocks.x / grid.cluster.x, grid.blocks.y / grid.cluster.y, grid.blocks.z / grid.cluster.z};
}

// Block number of the grid, by cluster and rank in it; x is the first to count.
uint3 block_of(const Grid& grid, std::uint64_t cluster, unsigned rank) {
  const dim3 c = grid.cluster, all = clusters_of(grid);
  return {static_cast<unsigned>(cluster % all.x) * c.x + rank % c.x,
          static_cast<unsigned>(cluster / all.x % all.y) * c.y + rank / c.x % c.y,
          static_cast<unsigned>(cluster / all.x / all.y) * c.z + rank / (c.x * c.y)};
}

// Clusters [first, first + count) together.
void run_group(const Grid& grid, std::uint64_t first, std::uint64_t count) {
  Running& r = running();
  const unsigned size = grid.cluster.x * grid.cluster.y * grid.cluster.z;
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  r.count = static_cast<unsigned>(count) * size;
  while (r.blocks.size() < r.count) r.blocks.push_back(std::make_unique<Block>(static_cast<unsigned>(r.blocks.size())));
  r.clusters.resize(count);
  r.fault = {};
  r.now = nullptr;
  r.idle_rounds = 0;
  r.group_begin = new_number();
  begin_shared(r.count, grid.dynamic_shared_bytes);
  watch_again();
  forget_copies(r.count * most_warps * warp_size);
  forget_asynchronous(threads);
  for (std::uint64_t c = 0; c < count; ++c) {
    Cluster& cluster = r.clusters[c];
    cluster = {{}, size * threads, 0, 0};
    for (unsigned rank = 0; rank < size; ++rank) {
      Block& b = *r.blocks[c * size + rank];
      b.begin(block_of(grid, first + c, rank), ++r.last_block, &cluster);
      cluster.blocks.push_back(&b);
    }
  }
  r.order.resize(r.count);
  std::iota(r.order.begin(), r.order.end(), 0u);
  if (schedule() == Schedule::reverse) std::reverse(r.order.begin(), r.order.end());
  if (schedule() == Schedule::priority) std::shuffle(r.order.begin(), r.order.end(), random_numbers());
  run_until_over();
  for (unsigned i = 0; i < r.count; ++i) r.blocks[i]->acquire_end();
  if (r.fault.error == cudaSuccess) {
    std::string unfinished = finish_asynchronous();
    if (!unfinished.empty()) {
      r.fault = {cudaErrorLaunchFailure, std::move(unfinished), "the end of the block", r.blocks[0]->index(), {}};
    }
  }
  end_counted_blocks();
  r.now = nullptr;
  std::string damage = shared_damage();
  if (r.fault.error == cudaSuccess && !damage.empty()) {
    r.fault = {cudaErrorIllegalAddress, std::move(damage), "", r.blocks[0]->index(), {}};
  }
}

// The cluster that is the i-th to run.
std::uint64_t cluster_at_turn(std::uint64_t i, std::uint64_t count, std::uint64_t step, std::uint64_t offset) {
  if (schedule() == Schedule::reverse) return count - 1 - i;
  return schedule() == Schedule::in_order ? i : (i * step + offset) % count;
}

std::uint64_t cluster_of(const Grid& grid, std::uint64_t block) {
  const uint3 i = index_of(block);
  const dim3 all = clusters_of(grid);
  return (std::uint64_t{i.z / grid.cluster.z} * all.y + i.y / grid.cluster.y) * all.x + i.x / grid.cluster.x;
}

void run_groups(const Grid& grid) {
  const dim3 all = clusters_of(grid);
  const std::uint64_t count = std::uint64_t{all.x} * all.y * all.z;
  const std::uint64_t blocks = std::uint64_t{gridDim.x} * gridDim.y * gridDim.z;
  Running& r = running();
  r.first_of_launch = r.last_block + 1;
  if (grid.cooperative) return run_group(grid, 0, count);
  if (!chosen_blocks().empty()) {
    std::set<std::uint64_t> chosen;
    for (const std::uint64_t number : chosen_blocks()) {
      if (number < blocks) chosen.insert(cluster_of(grid, number));
    }
    for (const std::uint64_t cluster : chosen) {
      if (r.fault.error == cudaSuccess) run_group(grid, cluster, 1);
    }
    return;
  }
  // A step without a common divisor visits all once, in an order that is none.
  std::uint64_t step = random_numbers()() % count | 1u;
  while (std::gcd(step, count) != 1) step += 2;
  const std::uint64_t offset = random_numbers()() % count;
  for (std::uint64_t turn = 0; turn < count && r.fault.error == cudaSuccess; ++turn) {
    run_group(grid, cluster_at_turn(turn, count, step, offset), 1);
  }
}

// A kernel touched what it may not: noted, and on with run_grid, on its own stack. Anything else is a crash of ours.
void on_fault(int signal, siginfo_t* info, void* machine) {
  Running& r = running();
  if (!is_running()) {
    std::signal(signal, SIG_DFL);
    return;
  }
  static_cast<void>(machine);
  r.signal = signal;
  r.address = info->si_addr;
#if defined(__x86_64__)
  r.code = reinterpret_cast<void*>(static_cast<ucontext_t*>(machine)->uc_mcontext.gregs[REG_RIP]);
#else
  r.code = nullptr;
#endif
  siglongjmp(r.landing, 1);
}

class FaultHandler {
 public:
  FaultHandler() {
    static std::array<char, std::size_t{1} << 16> stack;
    stack_t alternate{};
    alternate.ss_sp = stack.data();
    alternate.ss_size = stack.size();
    sigaltstack(&alternate, &old_stack_);
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, &old_segv_);
    sigaction(SIGBUS, &action, &old_bus_);
    sigaction(SIGILL, &action, &old_ill_);
  }
  ~FaultHandler() {
    sigaction(SIGSEGV, &old_segv_, nullptr);
    sigaction(SIGBUS, &old_bus_, nullptr);
    sigaction(SIGILL, &old_ill_, nullptr);
    sigaltstack(&old_stack_, nullptr);
  }

 private:
  stack_t old_stack_{};
  struct sigaction old_segv_ {
  }, old_bus_{}, old_ill_{};
};

void report_fault_of_the_machine() {
  Running& r = running();
  r.fault = {cudaErrorIllegalAddress, "an index outside of its array", source_of(r.code).place, block().index(),
             block().thread_index()};
  if (r.signal != SIGILL) {
    r.fault.what = "an access to " +
                   (r.stacks.is_guard(r.address) ? "the page below its stack" : device_memory().describe(r.address));
  }
  r.now = nullptr;
}

}  // namespace

Fault run_grid(const Grid& grid, const std::function<void()>& body) {
  blockDim = grid.threads;
  gridDim = grid.blocks;
  Running& r = running();
  r.body = &body;
  r.fault = {};
  begin_counted_kernel(grid.kernel);
  const FaultHandler handler;
  describe_own_stack(&r.scheduler);
  if (sigsetjmp(r.landing, 1) == 0) {
    run_groups(grid);
  } else {
    arrive_by_jump(&r.scheduler);
    report_fault_of_the_machine();
  }
  return r.fault;
}

bool is_running() { return running().now != nullptr && running().now->is_running(); }
Block& block() { return *running().now; }
const std::function<void()>& kernel_body() { return *running().body; }
Stacks& stacks() { return running().stacks; }
Context* scheduler() { return &running().scheduler; }
std::uint64_t new_number() { return ++running().numbers; }
std::uint32_t first_block_of_launch() { return running().first_of_launch; }
std::uint64_t group_begin() { return running().group_begin; }
Block& block_in_slot(unsigned slot) { return *running().blocks[slot]; }
unsigned blocks_together() { return running().count; }
void note_progress() { running().idle_rounds = 0; }
void note_fault(const Fault& fault) { running().fault = fault; }
unsigned running_thread() { return block().slot() * most_warps * warp_size + block().number(); }

void finish_cluster_barrier(Cluster* cluster) {
  ++cluster->passed;
  cluster->arrived = 0;
  const std::uint64_t number = new_number();
  for (Block* b : cluster->blocks) b->pass_cluster_barrier(number);
  note_progress();
}

void fail_at(cudaError_t error, const std::string& what, const void* code) {
  const auto* call = static_cast<const char*>(code) - 1;  // code is where the call returns to
  block().fail(error, what, source_of(call).place);
}

void fail_with(cudaError_t error, const std::string& what, Where where) { block().fail(error, what, place(where)); }

}  // namespace assay::simt
