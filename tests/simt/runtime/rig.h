// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What a test says to the simulated device: in which order threads run, and what went wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace assay::simt {

// The order in which the threads of a block run between two meetings, and the blocks of a grid.
//   in_order, reverse   by their number: what a loop over threads would do, and its mirror image
//   random              any thread that can, with breaks at accesses and atomics
//   priority            one warp as far ahead of the others as it can: shows buffers that are filled again too early
// In the last two work waits in its stream until somebody waits for it (streams.h).
enum class Schedule { in_order, reverse, random, priority };

// Those of this rig. The tests of the families also run in tests/ptx, which has one for a whole process.
struct Schedules {
  const Schedule* first;
  std::size_t count;

  const Schedule* begin() const { return first; }
  const Schedule* end() const { return first + count; }
  Schedule operator[](std::size_t i) const { return first[i % count]; }  // around
};
extern const Schedules all_schedules;
const char* name_of(Schedule schedule);
inline bool is_lazy(Schedule schedule) { return schedule == Schedule::random || schedule == Schedule::priority; }

// Valid from the next call on, after what still waits in streams; `seed` is used by the last two.
void set_schedule(Schedule schedule, std::uint64_t seed = 1);
// As cudaDeviceAttribute says it; small, so that small data goes around the grid more than once.
void set_processors(int count);
// The same of other facts: 10 x major + minor, threads that a multiprocessor keeps, bytes of the last cache.
void set_capability(int capability);
void set_processor_threads(int count);
void set_l2(int bytes);
// As cudaMemGetInfo says it; an allocation beyond it fails.
void set_memory(std::size_t bytes);
// Memory of the device is out of the host's reach outside of the library's calls, as on a GPU: SIGSEGV.
void hide_memory();
// A scripted fault, "CALL:NUMBER", "CALL:hang", or with "@N" behind it only from the N-th such call on: that call returns
// the error, and where it is one that a process can't survive, all calls after it. False: no such form.
bool set_fault(const std::string& text);
// Of all launches from now on only these blocks run, counted along x, then y, then z, as far as they exist; none: all.
// For grids that are too large to run.
void run_only(std::set<std::uint64_t> blocks);
// Counts bank conflicts of shared memory from now on (banks.h), and forgets what was counted. Kernels take long then.
void count_bank_conflicts(bool on);
struct BankConflicts {
  std::string kernel, place;                                  // function; file:line of the access
  std::uint64_t accesses = 0, wavefronts = 0, conflicts = 0;  // of warps; conflicts: wavefronts beyond the least
};
std::vector<BankConflicts> bank_conflicts();  // by kernel and line
// What uninitialised memory holds: not the same in all schedules, so that no kernel is right by luck.
unsigned char spoilt_byte();
// The first fault since the last reset, with kernel, block, thread, file and line; empty: none.
const std::string& fault();
// Forgets a sticky error, which on a GPU takes a new process, and what waits in streams.
void reset();

}  // namespace assay::simt
