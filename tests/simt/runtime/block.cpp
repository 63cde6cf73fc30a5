// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "block.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "async.h"
#include "clocks.h"
#include "grid.h"
#include "state.h"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace assay::simt {
namespace {

constexpr const char* cluster_barrier = "the barrier of the cluster";

std::string place_and_thread(const Thread& thread) {
  return "thread (" + std::to_string(thread.index.x) + "," + std::to_string(thread.index.y) + "," +
         std::to_string(thread.index.z) + ") in " + thread.waits_in + " at " + place(thread.where);
}

}  // namespace

std::string place(const Where& where) { return std::string(where.file_name()) + ":" + std::to_string(where.line()); }

unsigned pick_lane(std::uint32_t lanes) {
  if (schedule() == Schedule::in_order) return static_cast<unsigned>(std::countr_zero(lanes));
  if (schedule() == Schedule::reverse) return 31u - static_cast<unsigned>(std::countl_zero(lanes));
  for (auto skip = random_numbers()() % static_cast<unsigned>(std::popcount(lanes)); skip > 0; --skip)
    lanes &= lanes - 1;
  return static_cast<unsigned>(std::countr_zero(lanes));
}

void Block::begin(uint3 index, std::uint32_t number, Cluster* cluster) {
  const unsigned count = blockDim.x * blockDim.y * blockDim.z, warps = (count + warp_size - 1) / warp_size;
  threads_.resize(count);
  for (unsigned t = 0; t < count; ++t) {
    threads_[t].state = State::fresh;
    threads_[t].has_arrived = false;
    // On a card that claims too many multiprocessors blocks share one, and the stamp of its clock.
    threads_[t].is_fenced = device().claimed_processors != 0;
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
  index_ = index;
  number_ = number;
  cluster_ = cluster;
  here_ = count;
  at_barrier_ = 0;
  last_barrier_ = new_number();
  last_cluster_barrier_ = group_begin();
  looking_.clear();
  is_helping_ = false;
}

bool Block::can_run() const {
  const auto warps = (threads_.size() + warp_size - 1) / warp_size;
  return std::any_of(warps_, warps_ + warps, [](const Warp& warp) { return warp.can_run != 0; });
}

unsigned Block::pick() const {
  std::uint32_t ready_warps = 0;
  const auto warps = static_cast<unsigned>((threads_.size() + warp_size - 1) / warp_size);
  for (unsigned i = 0; i < warps; ++i) {
    if (warps_[warp_order_[i]].can_run != 0) {
      ready_warps |= 1u << i;
      if (schedule() == Schedule::in_order || schedule() == Schedule::priority) break;  // the first is the one
    }
  }
  const unsigned warp = warp_order_[pick_lane(ready_warps)];
  return warp * warp_size + pick_lane(warps_[warp].can_run);
}

void Block::run_thread() {
  const unsigned t = pick();
  now_ = &threads_[t];
  threadIdx = now_->index;
  blockIdx = index_;
  warps_[t / warp_size].can_run &= ~bit();
  if (now_->state == State::fresh) {
    releases(&begin_order_);
    stacks().start(slot_ * most_warps * warp_size + t, &now_->context, entry);
  }
  now_->state = State::ready;
  switch_context(scheduler(), &now_->context);
  now_ = nullptr;
}

void Block::entry() {
  begin_fiber();
  acquires(&block().begin_order_);
  kernel_body()();
  Block& b = block();
  releases(&b.end_order_);
  begin_unseen();
  b.check_exit();
  end_unseen();
  b.leave(State::done);
  std::abort();  // nobody comes back to a thread that is done
}

// Nobody may still count on a thread that leaves the kernel.
void Block::check_exit() {
  Warp& warp = warps_[number() / warp_size];
  warp.here &= ~bit();
  --here_;
  if (at_barrier_ != 0) {
    fail(cudaErrorLaunchFailure, "a thread leaves the kernel while others wait at a barrier", "the end of the kernel");
  }
  for (const Meeting& meeting : warp.meetings) {
    if ((meeting.mask & bit()) != 0 && meeting.arrived != 0) {
      fail(cudaErrorLaunchFailure, std::string("a lane leaves the kernel that others wait for in ") + meeting.name,
           place(meeting.where));
    }
  }
  if (cluster_->arrived != 0) {
    fail(cudaErrorLaunchFailure,
         "a thread leaves the kernel while others wait at the barrier of the "
         "cluster",
         "the end of the kernel");
  }
  --cluster_->here;
  note_progress();
}

bool Block::wake_paused() {
  bool any = false;
  for (Warp& warp : warps_) {
    any = any || warp.paused != 0;
    warp.can_run |= warp.paused;
    warp.paused = 0;
  }
  return any;
}

void Block::count_waiting(std::map<std::string, unsigned>* groups, Fault* first) const {
  for (const Thread& t : threads_) {
    if (t.state != State::waits) continue;
    if (groups->empty()) {
      first->thread = t.index;
      first->block = index_;
      first->where = place(t.where);
    }
    ++(*groups)[std::string(t.waits_in) + " at " + place(t.where)];
  }
}

void Block::leave(State state) {
  Thread* me = now_;
  me->state = state;
  switch_context(&me->context, scheduler());
}

void Block::wait_here(const char* name, Where where) {
  now_->waits_in = name;
  now_->where = where;
  leave(State::waits);
}

void Block::wait_until(const std::function<bool()>& is_done, const char* name, Where where) {
  while (!is_done()) {
    looking_.push_back(number());
    wait_here(name, where);
    if (is_helping_) {
      is_helping_ = false;
      finish_one_copy();
    }
  }
}

void Block::look_again() {
  for (const unsigned thread : looking_) wake(thread);
  looking_.clear();
  note_progress();
}

// Copies are under way that nobody has seen the end of: as late as they may, one of those who wait for them makes it.
bool Block::wake_to_help() {
  if (looking_.empty() || !has_copies()) return false;
  is_helping_ = true;
  wake(looking_.back());
  looking_.pop_back();
  return true;
}

void Block::pause(Where where) {
  now_->where = where;
  now_->waits_in = "a spin loop";
  warps_[number() / warp_size].paused |= bit();
  leave(State::paused);
}

void Block::take_a_break() {
  warps_[number() / warp_size].can_run |= bit();
  leave(State::ready);
}

void Block::fail(cudaError_t error, std::string what, std::string where) {
  note_fault({error, std::move(what), std::move(where), index_, now_->index});
  switch_context(&now_->context, scheduler());
  std::abort();
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
  char* const order = &barrier_order_[turn_];
  releases(order);
  if (++at_barrier_ < here_) {
    wait_here("a barrier", where);
  } else {
    finish_barrier();
  }
  acquires(order);
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
  turn_ = 1 - turn_;
  last_barrier_ = new_number();
  clocks().barrier();
  note_progress();
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
  char* const order = &warp.order[warp.synchronised % 2];
  if (orders_memory) releases(order);
  if (meeting->arrived != mask) {
    wait_here(name, where);
    if (orders_memory) acquires(order);
    return;
  }
  complete(meeting->lanes, mask);
  if (orders_memory) acquires(order);
  if (orders_memory && mask == warp.here) ++warp.synchronised;
  if (orders_memory) clocks().meet(number() / warp_size * warp_size, mask);
  for (std::uint32_t rest = mask & ~bit(); rest != 0; rest &= rest - 1) {
    wake(number() / warp_size * warp_size + static_cast<unsigned>(std::countr_zero(rest)));
  }
  meeting->arrived = 0;
  note_progress();
  if (breaks_at_random()) take_a_break();
}

void Block::cluster_arrive(Where where) {
  if (now_->has_arrived) {
    fail(cudaErrorLaunchFailure, "a second arrival at the barrier of the cluster without a wait", place(where));
  }
  unsigned all = 0;
  for (const Block* b : cluster_->blocks) all += static_cast<unsigned>(b->threads_.size());
  if (cluster_->here != all) {
    fail(cudaErrorLaunchFailure, "a barrier of the cluster after one of its threads has left the kernel", place(where));
  }
  now_->has_arrived = true;
  now_->passed_before = cluster_->passed;
  if (++cluster_->arrived == all) finish_cluster_barrier(cluster_);
}

void Block::cluster_wait(Where where) {
  if (!now_->has_arrived) {
    fail(cudaErrorLaunchFailure, "a wait for the barrier of the cluster without an arrival", place(where));
  }
  now_->has_arrived = false;
  now_->is_fenced = true;  // global memory too is ordered by it; see accesses.h
  if (now_->passed_before == cluster_->passed) wait_here(cluster_barrier, where);
}

void Block::pass_cluster_barrier(std::uint64_t number) {
  last_cluster_barrier_ = number;
  last_barrier_ = new_number();
  for (unsigned t = 0; t < threads_.size(); ++t) {
    if (threads_[t].state == State::waits && threads_[t].waits_in == cluster_barrier) wake(t);
  }
}

BlockNumbers Block::numbers() const { return {number_, first_block_of_launch(), now_->is_fenced}; }

Now Block::now() const {
  return {{last_barrier_, warps_[number() / warp_size].synchronised, last_cluster_barrier_},
          group_begin(),
          running_thread()};
}

}  // namespace assay::simt
