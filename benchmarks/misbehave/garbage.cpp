// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// misbehave/garbage (hidden): writes a line that is no message to the descriptor of the protocol. Expected: ERROR of
// kind protocol, the worker replaced, exit code 3.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include "harness/benchmark.h"

namespace {

using namespace assay;

// A benchmark has no business with the protocol, so the descriptor is read from the command line of the process.
int protocol_descriptor() {
  std::ifstream command_line("/proc/self/cmdline");
  const std::string option = "--assay-fd";
  for (std::string word; std::getline(command_line, word, '\0');) {
    if (word.rfind(option + "=", 0) == 0) return std::atoi(word.c_str() + option.size() + 1);
    if (word == option && std::getline(command_line, word, '\0')) return std::atoi(word.c_str());
  }
  throw std::runtime_error("not started by assay: there is no protocol to disturb");
}

void run_garbage(Run& run) {
  run.operations_per_iteration(1, "nothing");
  run.measure([fd = protocol_descriptor()](std::uint64_t) {
    const std::string rubbish = "\x01\xff{ this is no message\n";
    if (write(fd, rubbish.data(), rubbish.size()) < 0) throw std::runtime_error("the descriptor takes nothing");
    for (;;) pause();
  });
}

const Benchmark garbage{
    .name = "misbehave/garbage", .summary = "writes rubbish into the protocol", .hidden = true, .run = run_garbage};
REGISTER_BENCHMARK(garbage);

}  // namespace
