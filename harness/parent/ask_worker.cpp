// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See ask_worker.h.
#include "harness/parent/ask_worker.h"

#include <fmt/format.h>
#include <poll.h>

#include <cstdint>
#include <exception>

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/outcome.h"
#include "harness/base/parse_json.h"
#include "harness/base/text.h"
#include "harness/parent/child.h"

namespace assay {
namespace {

WorkerAnswer read_answer(const std::vector<std::string>& lines, int status,
                         const std::vector<std::string>& last_words) {
  WorkerAnswer result;
  const std::string said = last_words.empty() ? "" : last_words.back();
  if (const std::size_t colon = said.find(": ");
      status == exit_code::error && starts_with(said, "assay-worker-") && colon != std::string::npos) {
    result.problem = said.substr(colon + 2);  // it answered, in its way
    return result;
  }
  try {
    if (status != 0) throw Error(fmt::format("it ended with exit status {}", status));
    if (lines.empty()) throw Error("it printed nothing");
    const Json answer = parse_json(lines.front());
    if (answer.at("schema") != "assay.devices.v1") throw Error("its answer has another schema than assay.devices.v1");
    for (const Json& device : answer.at("devices")) result.devices.push_back(device_from_json(device));
  } catch (const std::exception& problem) {
    result.problem = problem.what();
    if (!said.empty()) result.problem += "; its last words: " + said;
  }
  return result;
}

}  // namespace

WorkerLine ask_line(const std::filesystem::path& program, const std::string& options, double limit_s) {
  Child child("/bin/sh", {"-c", "exec \"$0\" " + options + " >&3", program});
  WorkerLine said;
  const std::int64_t begin = monotonic_ns();
  bool open = true;
  while (open && said.lines.empty()) {  // the answer is one line
    const double left_s = limit_s - seconds_since(begin);
    if (left_s <= 0) {
      child.stop(0.2);
      said.problem = fmt::format("it gave no answer within {:.0f} s", limit_s);
      said.late = true;
      return said;
    }
    pollfd wait{child.message_fd(), POLLIN, 0};
    poll(&wait, 1, static_cast<int>(left_s * 1e3) + 1);
    child.receive_errors();
    open = child.receive(said.lines);
  }
  child.leave(1);
  const ChildEnd end = child.wait_over();
  if (end.kind == ChildEnd::Kind::signalled) said.problem = "it was killed by " + signal_name(end.number);
  said.status = end.kind == ChildEnd::Kind::exited ? end.number : 0;
  said.last_words = child.error_tail();
  return said;
}

WorkerAnswer ask_worker(const std::filesystem::path& program, double limit_s) {
  const WorkerLine said = ask_line(program, "--devices", limit_s);
  if (!said.problem.empty()) return {said.problem, {}};
  return read_answer(said.lines, said.status, said.last_words);
}

ShownAnswer ask_shown(const std::filesystem::path& program, const std::string& device, double limit_s) {
  const WorkerLine heard = ask_line(program, "--show " + device, limit_s);
  ShownAnswer result{heard.problem, {}};
  if (!result.problem.empty()) return result;
  try {
    if (heard.status != 0 || heard.lines.empty())
      throw Error(fmt::format("it ended with exit status {}", heard.status));
    const Json answer = parse_json(heard.lines.front());
    if (answer.at("schema") != "assay.shown.v1") throw Error("its answer has another schema than assay.shown.v1");
    for (const Json& fact : answer.at("facts")) result.facts.push_back(shown_fact_from_json(fact));
  } catch (const std::exception& problem) {
    result.problem = problem.what();
    if (!heard.last_words.empty()) result.problem += "; its last words: " + heard.last_words.back();
  }
  return result;
}

}  // namespace assay
