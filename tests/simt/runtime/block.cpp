// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "block.h"

#include <algorithm>
#include <array>
#include <bit>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <utility>

#include "accesses.h"
#include "memory.h"
#include "shared_memory.h"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace assay::simt {
namespace {

constexpr unsigned warp_size = 32, most_warps = 32;
constexpr std::uint64_t most_idle_rounds = 1'000'000;  // all threads spin: nobody will end that

enum class State { fresh, ready, waits, paused, done };

struct Thread {
  State state = State::fresh;
  uint3 index;
  Context context;
  const char* waits_in = "";
  Where where;
  bool vote = false;
  bool is_fenced = false;
};

// Lanes on their way to one function.
struct Meeting {
  std::uint32_t mask = 0, arrived = 0;
  const char* name = "";
  Where where;
  Exchange* lanes[warp_size] = {};
};

struct Warp {
  std::uint32_t can_run = 0, paused = 0, here = 0;  // lanes; `here`: exist and have not left
  std::uint64_t synchronised = 0;                   // how many __syncwarp of all its lanes
  std::vector<Meeting> meetings;
};

std::string place(const Where& where) { return std::string(where.file_name()) + ":" + std::to_string(where.line()); }

std::string place_and_thread(const Thread& thread) {
  return "thread (" + std::to_string(thread.index.x) + "," + std::to_string(thread.index.y) + "," +
         std::to_string(thread.index.z) + ") in " + thread.waits_in + " at " + place(thread.where);
}

class Block {
 public:
  Fault run(uint3 index, const std::function<void()>& body);
  void wait_here(const char* name, Where where) {
    now_->waits_in = name;
    now_->where = where;
    leave(State::waits);
  }
  int barrier(Vote vote, bool predicate, Where where);
  void meet(std::uint32_t mask, Exchange* mine, Complete complete, bool orders_memory, const char* name, Where where);
  void pause(Where where) {
    now_->where = where;
    now_->waits_in = "a spin loop";
    warps_[number() / warp_size].paused |= bit();
    leave(State::paused);
  }
  void take_a_break() {
    warps_[number() / warp_size].can_run |= bit();
    leave(State::ready);
  }
  [[noreturn]] void fail(cudaError_t error, std::string what, std::string where);
  // In a signal handler, so it notes and no more; landed() makes the report.
  void note_fault(int signal, const void* address, const void* code) {
    fault_signal_ = signal;
    fault_address_ = address;
    fault_code_ = code;
  }
  Fault landed();
  unsigned number() const { return static_cast<unsigned>(now_ - threads_.data()); }
  bool is_running() const { return now_ != nullptr; }
  void fence() { now_->is_fenced = true; }
  void begin_launch() { numbers_.first_of_launch = numbers_.block + 1; }
  BlockNumbers numbers() const { return {numbers_.block, numbers_.first_of_launch, now_->is_fenced}; }
  Now now() const { return {{barriers_, warps_[number() / warp_size].synchronised}, block_begin_, number()}; }
  sigjmp_buf landing;  // where a fault of the machine goes on

 private:
  void leave(State state) {
    Thread* me = now_;
    me->state = state;
    switch_context(&me->context, &scheduler_);
  }
  void wake(unsigned thread) {
    threads_[thread].state = State::ready;
    warps_[thread / warp_size].can_run |= 1u << thread % warp_size;
  }
  std::uint32_t bit() const { return 1u << number() % warp_size; }
  bool pick(unsigned* thread);
  unsigned pick_lane(std::uint32_t lanes) const;
  bool wake_paused();
  void report_deadlock();
  void finish_barrier();
  static void entry();

  std::vector<Thread> threads_;
  Warp warps_[most_warps];
  unsigned warp_order_[most_warps] = {};
  Stacks stacks_;
  Context scheduler_;
  const std::function<void()>* body_ = nullptr;
  Thread* now_ = nullptr;
  unsigned here_ = 0, at_barrier_ = 0;  // threads
  const Thread* first_at_barrier_ = nullptr;
  int barrier_result_ = 0;
  Vote barrier_vote_ = Vote::none;
  std::uint64_t idle_rounds_ = 0;
  std::uint64_t barriers_ = 0, block_begin_ = 0;  // of the whole program; 0 is before all blocks
  BlockNumbers numbers_;
  Fault fault_;
  int fault_signal_ = 0;
  const void* fault_address_ = nullptr;
  const void* fault_code_ = nullptr;
};

Block& block() {
  static Block one;
  return one;
}

void Block::entry() {
  Block& b = block();
  (*b.body_)();
  Warp& warp = b.warps_[b.number() / warp_size];
  warp.here &= ~b.bit();
  --b.here_;
  if (b.at_barrier_ != 0) {
    b.fail(cudaErrorLaunchFailure, "a thread leaves the kernel while others wait at a barrier",
           "the end of the kernel");
  }
  for (const Meeting& meeting : warp.meetings) {
    if ((meeting.mask & b.bit()) != 0 && meeting.arrived != 0) {
      b.fail(cudaErrorLaunchFailure, std::string("a lane leaves the kernel that others wait for in ") + meeting.name,
             place(meeting.where));
    }
  }
  b.idle_rounds_ = 0;
  b.leave(State::done);
  std::abort();  // nobody comes back to a thread that is done
}

Fault Block::run(uint3 index, const std::function<void()>& body) {
  const unsigned count = blockDim.x * blockDim.y * blockDim.z, warps = (count + warp_size - 1) / warp_size;
  threads_.resize(count);
  for (unsigned t = 0; t < count; ++t) {
    threads_[t].state = State::fresh;
    threads_[t].is_fenced = false;
    threads_[t].index = {t % blockDim.x, t / blockDim.x % blockDim.y, t / (blockDim.x * blockDim.y)};
  }
  for (unsigned w = 0; w < most_warps; ++w) {
    const unsigned lanes = w < warps ? std::min(warp_size, count - w * warp_size) : 0;
    const std::uint32_t all = lanes == warp_size ? ~0u : (1u << lanes) - 1;
    warps_[w].can_run = warps_[w].here = all;
    warps_[w].paused = 0;
    warps_[w].meetings.clear();
    warp_order_[w] = w;
  }
  if (schedule() == Schedule::priority) std::shuffle(warp_order_, warp_order_ + warps, random_numbers());
  body_ = &body;
  here_ = count;
  at_barrier_ = 0;
  idle_rounds_ = 0;
  fault_ = {};
  block_begin_ = ++barriers_;
  ++numbers_.block;
  watch_again();
  blockIdx = index;
  forget_copies(count);
  while (here_ > 0 && fault_.error == cudaSuccess) {
    unsigned t = 0;
    if (!pick(&t)) {
      if (wake_paused()) continue;
      report_deadlock();
      break;
    }
    now_ = &threads_[t];
    threadIdx = now_->index;
    warps_[t / warp_size].can_run &= ~bit();
    if (now_->state == State::fresh) stacks_.start(t, &now_->context, entry);
    now_->state = State::ready;
    switch_context(&scheduler_, &now_->context);
    now_ = nullptr;
  }
  return fault_;
}

unsigned Block::pick_lane(std::uint32_t lanes) const {
  if (schedule() == Schedule::in_order) return static_cast<unsigned>(std::countr_zero(lanes));
  if (schedule() == Schedule::reverse) return 31u - static_cast<unsigned>(std::countl_zero(lanes));
  for (auto skip = random_numbers()() % static_cast<unsigned>(std::popcount(lanes)); skip > 0; --skip)
    lanes &= lanes - 1;
  return static_cast<unsigned>(std::countr_zero(lanes));
}

bool Block::pick(unsigned* thread) {
  std::uint32_t ready_warps = 0;
  const auto warps = static_cast<unsigned>((threads_.size() + warp_size - 1) / warp_size);
  for (unsigned i = 0; i < warps; ++i) {
    if (warps_[warp_order_[i]].can_run != 0) {
      ready_warps |= 1u << i;
      if (schedule() == Schedule::in_order || schedule() == Schedule::priority) break;  // the first is the one
    }
  }
  if (ready_warps == 0) return false;
  const unsigned warp = warp_order_[pick_lane(ready_warps)];
  *thread = warp * warp_size + pick_lane(warps_[warp].can_run);
  return true;
}

bool Block::wake_paused() {
  bool any = false;
  for (Warp& warp : warps_) {
    any = any || warp.paused != 0;
    warp.can_run |= warp.paused;
    warp.paused = 0;
  }
  if (!any || ++idle_rounds_ <= most_idle_rounds) return any;
  fault_.error = cudaErrorLaunchTimeout;
  fault_.what = "all threads that are left spin, and nobody can end it";
  fault_.block = blockIdx;
  return false;
}

void Block::report_deadlock() {
  if (fault_.error != cudaSuccess) return;
  std::map<std::string, unsigned> groups;
  for (const Thread& t : threads_) {
    if (t.state == State::waits) ++groups[std::string(t.waits_in) + " at " + place(t.where)];
  }
  fault_.error = cudaErrorLaunchTimeout;
  fault_.what = "deadlock:";
  for (const auto& [where, count] : groups) fault_.what += " " + std::to_string(count) + " wait in " + where + ";";
  for (const Thread& t : threads_) {
    if (t.state != State::waits) continue;
    fault_.thread = t.index;
    fault_.where = place(t.where);
    break;
  }
  fault_.block = blockIdx;
}

void Block::fail(cudaError_t error, std::string what, std::string where) {
  fault_ = {error, std::move(what), std::move(where), blockIdx, now_->index};
  switch_context(&now_->context, &scheduler_);
  std::abort();
}

Fault Block::landed() {
  Fault fault{cudaErrorIllegalAddress, "an index outside of its array", source_of(fault_code_).place, blockIdx,
              now_->index};
  if (fault_signal_ != SIGILL) {
    fault.what = "an access to " + (stacks_.is_guard(fault_address_) ? "the page below its stack"
                                                                     : device_memory().describe(fault_address_));
  }
  now_ = nullptr;
  return fault;
}

int Block::barrier(Vote vote, bool predicate, Where where) {
  if (here_ != threads_.size()) {
    fail(cudaErrorLaunchFailure, "a barrier after a thread of the block has left the kernel", place(where));
  }
  if (at_barrier_ == 0) {
    first_at_barrier_ = now_;
  } else if (const Where& other = first_at_barrier_->where;
             other.line() != where.line() || other.column() != where.column()) {
    fail(cudaErrorLaunchFailure, "divergent barrier: " + place_and_thread(*first_at_barrier_), place(where));
  }
  now_->vote = predicate;
  barrier_vote_ = vote;
  if (++at_barrier_ < here_) {
    wait_here("a barrier", where);
    return barrier_result_;
  }
  finish_barrier();
  return barrier_result_;
}

void Block::finish_barrier() {
  int votes = 0;
  for (unsigned t = 0; t < threads_.size(); ++t) {
    votes += threads_[t].vote ? 1 : 0;
    if (&threads_[t] != now_) wake(t);
  }
  const int all = static_cast<int>(threads_.size());
  barrier_result_ = barrier_vote_ == Vote::count ? votes : barrier_vote_ == Vote::all ? votes == all : votes != 0;
  at_barrier_ = 0;
  ++barriers_;
  idle_rounds_ = 0;
  if (breaks_at_random()) take_a_break();
}

void Block::meet(std::uint32_t mask, Exchange* mine, Complete complete, bool orders_memory, const char* name,
                 Where where) {
  Warp& warp = warps_[number() / warp_size];
  const unsigned me = number() % warp_size;
  if ((mask & bit()) == 0)
    fail(cudaErrorLaunchFailure, std::string(name) + ": the mask leaves out its own lane", place(where));
  if ((mask & ~warp.here) != 0) {
    fail(cudaErrorLaunchFailure,
         std::string(name) + ": the mask names lane " + std::to_string(std::countr_zero(mask & ~warp.here)) +
             ", which doesn't exist or has left the kernel",
         place(where));
  }
  Meeting* meeting = nullptr;
  for (Meeting& m : warp.meetings) {
    if (m.arrived == 0 || m.mask == mask) meeting = &m;
    if (m.arrived != 0 && m.mask == mask) break;
  }
  if (meeting == nullptr) meeting = &warp.meetings.emplace_back();
  if (meeting->arrived == 0) {
    meeting->mask = mask;
    meeting->name = name;
    meeting->where = where;
  } else if (std::strcmp(meeting->name, name) != 0 || meeting->where.line() != where.line()) {
    fail(cudaErrorLaunchFailure,
         std::string("lanes of a warp meet in ") + name + " and in " + meeting->name + " at " + place(meeting->where),
         place(where));
  }
  meeting->lanes[me] = mine;
  meeting->arrived |= bit();
  if (meeting->arrived != mask) {
    wait_here(name, where);
    return;
  }
  complete(meeting->lanes, mask);
  if (orders_memory && mask == warp.here) ++warp.synchronised;
  for (std::uint32_t rest = mask & ~bit(); rest != 0; rest &= rest - 1) {
    wake(number() / warp_size * warp_size + static_cast<unsigned>(std::countr_zero(rest)));
  }
  meeting->arrived = 0;
  idle_rounds_ = 0;
  if (breaks_at_random()) take_a_break();
}

// A kernel touched what it may not: noted, and on with the scheduler, on its own stack. Anything else is a crash of
// ours.
void on_fault(int signal, siginfo_t* info, void* machine) {
  Block& b = block();
  if (!b.is_running()) {
    std::signal(signal, SIG_DFL);
    return;
  }
  static_cast<void>(machine);
#if defined(__x86_64__)
  const void* code = reinterpret_cast<void*>(static_cast<ucontext_t*>(machine)->uc_mcontext.gregs[REG_RIP]);
#else
  const void* code = nullptr;
#endif
  b.note_fault(signal, info->si_addr, code);
  siglongjmp(b.landing, 1);
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

// The number of the block that is the i-th to run.
std::uint64_t block_at_turn(std::uint64_t i, std::uint64_t count, std::uint64_t step, std::uint64_t offset) {
  if (schedule() == Schedule::reverse) return count - 1 - i;
  return schedule() == Schedule::in_order ? i : (i * step + offset) % count;
}

Fault run_block(std::uint64_t number, std::size_t dynamic_shared_bytes, const std::function<void()>& body) {
  const uint3 index{static_cast<unsigned>(number % gridDim.x), static_cast<unsigned>(number / gridDim.x % gridDim.y),
                    static_cast<unsigned>(number / gridDim.x / gridDim.y)};
  spoil_shared(dynamic_shared_bytes);
  Fault fault = block().run(index, body);
  if (fault.error != cudaSuccess) return fault;
  std::string damage = shared_damage();
  if (!damage.empty()) fault = {cudaErrorIllegalAddress, std::move(damage), "", index, {}};
  return fault;
}

Fault run_blocks(std::size_t dynamic_shared_bytes, const std::function<void()>& body) {
  const std::uint64_t count = std::uint64_t{gridDim.x} * gridDim.y * gridDim.z;
  block().begin_launch();
  Fault fault;
  if (!chosen_blocks().empty()) {
    for (const std::uint64_t number : chosen_blocks()) {
      if (number < count) fault = run_block(number, dynamic_shared_bytes, body);
      if (fault.error != cudaSuccess) break;
    }
    return fault;
  }
  // A step without a common divisor visits all blocks once, in an order that is none.
  std::uint64_t step = random_numbers()() % count | 1u;
  while (std::gcd(step, count) != 1) step += 2;
  const std::uint64_t offset = random_numbers()() % count;
  for (std::uint64_t turn = 0; turn < count && fault.error == cudaSuccess; ++turn) {
    fault = run_block(block_at_turn(turn, count, step, offset), dynamic_shared_bytes, body);
  }
  return fault;
}

}  // namespace

Fault run_grid(const cudaLaunchConfig_t& config, const std::function<void()>& body) {
  blockDim = config.blockDim;
  gridDim = config.gridDim;
  const FaultHandler handler;
  if (sigsetjmp(block().landing, 1) != 0) return block().landed();
  return run_blocks(config.dynamicSmemBytes, body);
}

unsigned running_thread() { return block().number(); }

// What kernels call
// ----------------------------------------------------------------------------------------------------

int barrier(Vote vote, bool predicate, Where where) { return block().barrier(vote, predicate, where); }
void meet(std::uint32_t mask, Exchange* mine, Complete complete, bool orders_memory, const char* name, Where where) {
  block().meet(mask, mine, complete, orders_memory, name, where);
}
bool is_running() { return block().is_running(); }
Now this_moment() { return block().now(); }
BlockNumbers block_numbers() { return block().numbers(); }
void break_at_random() {
  if (is_time_for_a_break()) block().take_a_break();
}
void fail_at(cudaError_t error, const std::string& what, const void* code) {
  const auto* call = static_cast<const char*>(code) - 1;  // code is where the call returns to
  block().fail(error, what, source_of(call).place);
}
unsigned lane() { return block().number() % warp_size; }
void pause(Where where) { block().pause(where); }
void fence() { block().fence(); }
void atomic_access(const void* p, std::size_t bytes) { access(p, bytes, Access::atomic, __builtin_return_address(0)); }
void fail(cudaError_t error, const char* what, Where where) { block().fail(error, what, place(where)); }

void shuffle_lanes(Exchange* const (&lanes)[32], std::uint32_t mask) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    Exchange* reader = lanes[std::countr_zero(rest)];
    if ((mask >> reader->source & 1) != 0) reader->result = lanes[reader->source]->value;
  }
}

void ballot_lanes(Exchange* const (&lanes)[32], std::uint32_t mask) {
  std::uint32_t votes = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (lanes[lane]->value != 0) votes |= 1u << lane;
  }
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) lanes[std::countr_zero(rest)]->result = votes;
}

}  // namespace assay::simt
