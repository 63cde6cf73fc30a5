// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// assay explain: what a log or an error text means. Its tables are read here and nowhere else, so that other verbs
// don't pay for them. Trap: a word that looks like the path of a file which isn't there is a mistake, not a text.
#include "harness/explain/explain.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <thread>
#include <utility>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/open_file.h"
#include "harness/base/outcome.h"
#include "harness/base/text.h"
#include "harness/commands/arguments.h"
#include "harness/commands/verb.h"
#include "harness/explain/report.h"
#include "harness/parent/interrupt.h"
#include "harness/verdict/classes.h"

namespace assay {
namespace {

using explain::Explanation;
using explain::Reader;
using explain::Rules;

std::string help() {
  return R"(assay explain: what a log or an error text means, whom to blame, and what to do first.

usage: assay explain FILE|-|TEXT... [options]

  --format console|json   (default: console)
  --follow                go on reading as the file grows (or standard input), and say what is new

FILE is a kernel log (dmesg, journalctl -k, syslog), the output of a program that failed, nvidia-smi
(table, -q, -x), dcgmi diag, NCCL's log, lspci -vvv, ibstat, Slurm's or Kubernetes' messages. What is
no file is read as text.

examples
  dmesg | assay explain -
  assay explain /var/log/kern.log job-4711.out
  assay explain "Xid 79"
  assay explain CUDA error 802
  nvidia-smi -q | assay explain - --format json
  journalctl -k -f | assay explain - --follow

For each device: the first cause, what followed from it, the layer to blame (hardware, bus, firmware,
kernel-module, driver-api, runtime, library, framework, container, scheduler, network, application,
configuration), severity, action, confidence, and the lines. high: rules and text agree; low: a guess.
Exit code 0: nothing, or nothing that matters; 1: a fault; 2: something that isn't understood; 3: it
can't be read; 64: wrong usage.
)";
}

struct ExplainOptions {
  std::vector<std::string> words;
  std::string format = "console";
  bool follow = false;
};

bool looks_like_a_path(const std::string& word) {
  for (const char* end : {".log", ".txt", ".out", ".err", ".json", ".xml", ".csv"})
    if (word.size() > std::strlen(end) && word.compare(word.size() - std::strlen(end), std::string::npos, end) == 0 &&
        word.find(' ') == std::string::npos)
      return true;
  return starts_with(word, "/") || starts_with(word, "./") || starts_with(word, "../");
}

// Files, "-", and everything else as one text.
struct Inputs {
  std::vector<std::string> files;
  std::string text;
};

Inputs inputs_of(const std::vector<std::string>& words) {
  Inputs inputs;
  for (const std::string& word : words) {
    if (word == "-" || access(word.c_str(), F_OK) == 0)
      inputs.files.push_back(word);
    else if (looks_like_a_path(word))
      throw Error(
          fmt::format("cannot read {}: {}; a text that isn't a file is given in quotes", word, std::strerror(errno)));
    else
      inputs.text += (inputs.text.empty() ? "" : " ") + word;
  }
  return inputs;
}

Descriptor open_input(const std::string& name) {
  if (name == "-") return Descriptor(dup(0));
  Descriptor file = open_file(name);
  if (!file) throw Error(fmt::format("cannot read {}: {}", name, std::strerror(errno)));
  return file;
}

// One block; 0 at the end.
std::size_t read_block(const Descriptor& file, const std::string& name, std::vector<char>& block) {
  for (;;) {
    const ssize_t count = read(file.get(), block.data(), block.size());
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) throw Error(fmt::format("cannot read {}: {}", name, std::strerror(errno)));
  }
}

// Waits until there is something to read, a signal, or `most`.
void wait_for(const Descriptor& file, std::chrono::milliseconds most) {
  pollfd waited[] = {{file.get(), POLLIN, 0}, {InterruptGuard::wake_fd(), POLLIN, 0}};
  poll(waited, 2, static_cast<int>(most.count()));
}

std::string shown_name(const std::string& file) { return file == "-" ? "standard input" : file; }

Explanation explain_file(Rules& rules, const std::string& name) {
  const Descriptor file = open_input(name);
  Reader reader(rules, shown_name(name));
  std::vector<char> block(std::size_t{1} << 18);
  while (const std::size_t count = read_block(file, name, block)) reader.feed({block.data(), count});
  return reader.finish();
}

Explanation explain_text(Rules& rules, const std::string& text) {
  Reader reader(rules, "text");
  reader.feed(text);
  return reader.finish();
}

// Says each finding when it is new or its first cause has changed.
int follow(Rules& rules, const std::string& name, bool json) {
  const Descriptor file = open_input(name);
  Reader reader(rules, shown_name(name));
  std::vector<char> block(std::size_t{1} << 18);
  std::map<std::string, std::string> said;
  std::vector<Explanation> last;
  const InterruptGuard guard;
  while (InterruptGuard::count() == 0) {
    if (name == "-") wait_for(file, std::chrono::hours(1));
    if (InterruptGuard::count() > 0) break;
    const std::size_t count = read_block(file, name, block);
    if (count == 0) {
      if (name == "-") break;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      continue;
    }
    reader.feed({block.data(), count});
    last = {reader.so_far()};
    for (const explain::Finding& finding : last.front().diagnosis.findings) {
      if (finding.row == nullptr || finding.first.kind == "none") continue;
      const std::string line = explain::headline(finding);
      if (std::exchange(said[finding.device], line) == line) continue;
      if (json)
        fmt::print("{}\n", assay::line(explain::to_json(last)));
      else
        fmt::print("line {}  {}\n", finding.first.line, line);
    }
    std::fflush(stdout);
  }
  return InterruptGuard::count() > 0 ? exit_code::interrupted
         : last.empty()              ? exit_code::pass
                                     : explain::exit_code_of(last);
}

int command_explain(const ExplainOptions& options) {
  const Inputs inputs = inputs_of(options.words);
  Rules rules(results_folder() / "explain");
  if (options.follow) {
    if (inputs.files.size() != 1 || !inputs.text.empty()) throw UsageError("--follow takes one file, or -");
    return follow(rules, inputs.files.front(), options.format == "json");
  }
  std::vector<Explanation> explanations;
  for (const std::string& file : inputs.files) explanations.push_back(explain_file(rules, file));
  if (!inputs.text.empty()) explanations.push_back(explain_text(rules, inputs.text));
  const int code = explain::exit_code_of(explanations);
  if (options.format == "json") {
    fmt::print("{}\n", explain::to_json(explanations).dump(2, ' ', false, Json::error_handler_t::replace));
    return code;
  }
  for (std::size_t i = 0; i < explanations.size(); ++i)
    fmt::print("{}{}", i == 0 ? "" : "\n", explain::to_text(explanations[i]));
  const std::string_view answer = code == exit_code::pass   ? "no fault found"
                                  : code == exit_code::fail ? word(Outcome::fail)
                                                            : word(Outcome::unknown);
  fmt::print("\n{} (exit code {})\n", answer, code);
  return code;
}

int from_command_line(int argc, char** argv) {
  ExplainOptions options;
  Parser parser("explain");
  parser.positionals(options.words);
  parser.text("--format", options.format);
  parser.flag("--follow", options.follow);
  if (!parser.parse(argc, argv)) return exit_code::pass;
  check_word("--format", options.format, {"console", "json"});
  if (options.words.empty()) throw UsageError("explain needs a file, - or a text; see `assay help explain`");
  return command_explain(options);
}

}  // namespace

extern const Verb explain_verb{"explain", "what a log or an error text means, and what to do first", help,
                               from_command_line};

}  // namespace assay
