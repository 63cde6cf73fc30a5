// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See progress.h.
#include "harness/parent/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/base/units.h"

namespace assay {
namespace {

constexpr int red = 31, green = 32, yellow = 33;
constexpr double redraw_s = 0.2;

int color_of(Outcome outcome) {
  switch (code(outcome)) {
    case exit_code::pass:
      return green;
    case exit_code::inconclusive:
      return yellow;
    default:
      return red;
  }
}

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

// At most `bytes` of it, whole characters.
std::string_view cut(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0U) == 0x80) --bytes;
  return text.substr(0, bytes);
}

void print(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace

std::string short_result(const Record& record) {
  if (!record.reason.empty()) return record.reason;
  if (record.metrics.empty()) return {};
  const MetricResult& first = record.metrics.front();
  return fmt::format("{} {}", first.metric.name, format_quantity(summarise(first.samples).median, first.metric.unit));
}

Progress::Progress(bool quiet) : quiet_(quiet) {
  const char* term = std::getenv("TERM");
  const bool dumb = term != nullptr && std::string(term) == "dumb";
  terminal_ = isatty(STDERR_FILENO) == 1 && !dumb;
  const char* no_color = std::getenv("NO_COLOR");
  color_ = terminal_ && (no_color == nullptr || *no_color == '\0');
}

std::string Progress::colored(const std::string& text, int color) const {
  return color_ ? fmt::format("\x1b[{}m{}\x1b[0m", color, text) : text;
}

void Progress::clear() {
  if (line_is_up_) print("\r\x1b[K");
  line_is_up_ = false;
}

void Progress::begin(std::size_t jobs, std::size_t done, double estimate_s) {
  jobs_ = jobs;
  done_ = done;
  estimate_s_ = left_s_ = estimate_s;
  begin_ns_ = monotonic_ns();
}

void Progress::left(std::size_t jobs, double estimate_s) {
  estimate_s_ -= left_s_ - estimate_s;  // what was done so far stays in it: the pace is told from that
  left_s_ = estimate_s;
  jobs_ = done_ + jobs;
}

void Progress::note(const std::string& text) {
  if (quiet_) return;
  clear();
  print(plain(text) + "\n");
}

void Progress::warning(const std::string& text) {
  clear();
  print(fmt::format("{}: {}\n", colored("warning", yellow), plain(text)));
}

void Progress::job_begin(const std::string& what, double estimate_s) {
  what_ = what;
  current_s_ = estimate_s;
  rate_.clear();
  phase_ = "start";
  job_ns_ = monotonic_ns();
  tick();
}

void Progress::job_end(const Record& record, const std::string& session) {
  ++done_;
  left_s_ = std::max(0.0, left_s_ - current_s_);
  if (quiet_) return;
  const std::string outcome(word(record.outcome));
  std::string what = fmt::format("{} on {}", record.case_name, join(record.device_set, "+"));
  if (!session.empty()) what += ", " + session;
  clear();
  print(fmt::format("[{:>{}}/{}] {} {}: {} ({})\n", done_, std::to_string(jobs_).size(), jobs_,
                    colored(fmt::format("{:<8}", outcome), color_of(record.outcome)), plain(what),
                    plain(short_result(record)), format_duration(seconds_since(job_ns_))));
}

void Progress::tick() {
  if (quiet_ || !terminal_ || what_.empty()) return;
  if (line_is_up_ && seconds_since(drawn_ns_) < redraw_s) return;
  drawn_ns_ = monotonic_ns();
  // The pace so far corrects the plan's estimate, once there is enough of it.
  const double elapsed = seconds_since(begin_ns_), planned = estimate_s_ - left_s_;
  const double pace = planned > 5 ? std::clamp(elapsed / planned, 0.2, 10.0) : 1;
  const double left = pace * std::max(0.0, left_s_ - std::min(current_s_, seconds_since(job_ns_)));
  const std::string text =
      plain(fmt::format("[{}/{}] {}  {}  {} elapsed, about {} left", done_ + 1, jobs_, what_,
                        rate_.empty() ? phase_ : rate_, format_duration(elapsed), format_duration(left)));
  print(fmt::format("\r\x1b[K{}", cut(text, terminal_width() - 1)));
  line_is_up_ = true;
}

}  // namespace assay
