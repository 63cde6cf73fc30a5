// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// One block: its threads are fibers, which go on until they must wait for others. Which one is next is the schedule's
// choice. Stricter than a GPU on purpose: threads may leave a kernel only when no barrier is still to come, and a mask
// may name only lanes that exist and are still there. Which block runs: grid.h.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "cuda_runtime.h"
#include "fiber.h"
#include "rig.h"

namespace assay::simt {

inline constexpr unsigned warp_size = 32, most_warps = 32;

struct Fault {
  cudaError_t error = cudaSuccess;
  std::string what;
  std::string where;  // file:line
  uint3 block, thread;
};

enum class State { fresh, ready, waits, paused, done };

struct Thread {
  State state = State::fresh;
  bool has_arrived = false;  // at the barrier of the cluster, which it hasn't waited for
  uint3 index;
  Context context;
  const char* waits_in = "";
  Where where;
  bool vote = false;
  std::uint64_t passed_before = 0;  // barriers of the cluster, when it arrived at one
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
  char order[2] = {};  // for releases() and acquires(): this __syncwarp, the next one
  std::uint32_t can_run = 0, paused = 0,
                here = 0;          // lanes; `here`: exist and have not left
  std::uint64_t synchronised = 0;  // how many __syncwarp of all its lanes
  std::vector<Meeting> meetings;
};

// Order in time, for accesses.cpp: two accesses of one block are ordered by a barrier if the first number differs, of
// one warp if the second one does, of one cluster if the third one does. No two barriers of the program share a number.
struct Moment {
  std::uint64_t barrier = 0, warp = 0, cluster = 0;
};
struct Now {
  Moment when;
  std::uint64_t group_begin = 0;  // number at which the blocks that run together began
  unsigned thread = 0;            // of all that run together
};
// For global memory: each block of the program has a number of its own.
struct BlockNumbers {
  std::uint32_t block = 0, first_of_launch = 0;
  bool is_fenced = false;  // this thread has called __threadfence
};

struct Cluster;

class Block {
 public:
  explicit Block(unsigned slot) : slot_(slot) {}

  // All threads of it, before their first instruction.
  void begin(uint3 index, std::uint32_t number, Cluster* cluster);
  bool can_run() const;
  void acquire_end() { acquires(&end_order_); }
  bool has_ended() const { return here_ == 0; }  // all its threads have left
  // One thread that can, until it waits, pauses or ends.
  void run_thread();
  bool wake_paused();
  void pass_cluster_barrier(std::uint64_t number);
  // The threads that wait, by what for and where.
  void count_waiting(std::map<std::string, unsigned>* groups, Fault* first) const;

  // What the running thread does.
  int barrier(Vote vote, bool predicate, Where where);
  void meet(std::uint32_t mask, Exchange* mine, Complete complete, bool orders_memory, const char* name, Where where);
  void pause(Where where);
  void take_a_break();
  void cluster_arrive(Where where);
  void cluster_wait(Where where);
  void fence() { now_->is_fenced = true; }
  // The running thread waits until `is_done`, which is asked again at each look_again() of another thread.
  void wait_until(const std::function<bool()>& is_done, const char* name, Where where);
  void look_again();
  bool wake_to_help();
  [[noreturn]] void fail(cudaError_t error, std::string what, std::string where);

  bool is_running() const { return now_ != nullptr; }
  unsigned slot() const { return slot_; }  // its place among the blocks that run together
  unsigned number() const { return static_cast<unsigned>(now_ - threads_.data()); }
  uint3 index() const { return index_; }
  uint3 thread_index() const { return now_->index; }
  Cluster* cluster() const { return cluster_; }
  BlockNumbers numbers() const;
  Now now() const;

 private:
  void leave(State state);
  void wake(unsigned thread) {
    threads_[thread].state = State::ready;
    warps_[thread / warp_size].can_run |= 1u << thread % warp_size;
  }
  std::uint32_t bit() const { return 1u << number() % warp_size; }
  void wait_here(const char* name, Where where);
  unsigned pick() const;
  void finish_barrier();
  void check_exit();
  static void entry();

  const unsigned slot_;
  uint3 index_;
  std::uint32_t number_ = 0;
  Cluster* cluster_ = nullptr;
  std::vector<Thread> threads_;
  Warp warps_[most_warps];
  unsigned warp_order_[most_warps] = {};
  Thread* now_ = nullptr;
  unsigned here_ = 0, at_barrier_ = 0;  // threads
  const Thread* first_at_barrier_ = nullptr;
  int barrier_result_ = 0;
  Vote barrier_vote_ = Vote::none;
  std::vector<unsigned> looking_;                                 // threads in wait_until
  bool is_helping_ = false;                                       // the one that goes on next
  char begin_order_ = 0, end_order_ = 0, barrier_order_[2] = {};  // for releases() and acquires()
  unsigned turn_ = 0;                                             // which of the two
  std::uint64_t last_barrier_ = 0, last_cluster_barrier_ = 0;     // numbers
};

std::string place(const Where& where);
// Of these lanes (or of other things, up to 32), by the schedule.
unsigned pick_lane(std::uint32_t lanes);

// Of the schedule (api.cpp).
std::mt19937_64& random_numbers();
Schedule schedule();
bool breaks_at_random();
const std::set<std::uint64_t>& chosen_blocks();  // by run_only
bool is_time_for_a_break();                      // at one access of 16, if so

// Function and file:line of machine code, as far as addr2line knows them.
struct Source {
  std::string function, place;
};
Source source_of(const void* code);

}  // namespace assay::simt
