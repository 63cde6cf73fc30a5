// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What a person sees on standard error while a run works: one live line on a terminal, a plain line per case elsewhere,
// warnings only with --quiet. NO_COLOR is honoured. Nothing here is ever read by a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/record.h"

namespace assay {

class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void begin(std::size_t jobs, std::size_t done, double estimate_s);
  void left(std::size_t jobs, double estimate_s);  // fewer than was thought
  void note(const std::string& text);              // not with --quiet
  void warning(const std::string& text);           // always
  void job_begin(const std::string& what, double estimate_s);
  void window(const std::string& text) { rate_ = text; }
  void phase(const std::string& text) { phase_ = text; }
  void job_end(const Record& record, const std::string& session);  // "session 3 of 5", or ""
  void tick();                                                     // redraws the live line, at most some times a second

 private:
  void clear();
  std::string colored(const std::string& text, int color) const;

  bool quiet_, terminal_, color_;
  std::size_t jobs_ = 0, done_ = 0;
  double estimate_s_ = 0, left_s_ = 0, current_s_ = 0;
  std::int64_t begin_ns_ = 0, job_ns_ = 0, drawn_ns_ = 0;
  std::string what_, rate_, phase_;
  bool line_is_up_ = false;
};

// "bandwidth 23.4 GB/s": the first metric's median; the reason where there is none.
std::string short_result(const Record& record);

}  // namespace assay
