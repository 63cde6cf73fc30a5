// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What may never come back is done by a child: a copy of this process without any of its descriptors, killed at its
// deadline, and left behind where even that doesn't help (a process that waits in the kernel for a file system that is
// gone can't be ended by anybody). The child only computes a text and leaves; it never returns into the caller.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>

#include "harness/base/file.h"

namespace assay::doctor {

// From here on this process, and what it starts, can't start a program; for a child. False: refused here.
bool forbid_programs();

class Watched {
 public:
  // Starts a child that answers each question with one text until it is destroyed. `patience_s` is for all of its
  // answers together: what is slow each time is as good as silent.
  Watched(std::function<std::string(const std::string&)> answer, double patience_s);
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched();

  // False: no answer, now or ever; `reason()` says why.
  bool ask(std::string_view question, std::string& answer);
  const std::string& reason() const { return reason_; }
  bool late() const { return late_; }

 private:
  bool transfer(char* data, std::size_t size, bool out);
  void give_up(const std::string& reason);

  pid_t pid_ = -1;
  Descriptor channel_;
  double patience_s_;
  std::string reason_;
  bool late_ = false;
};

}  // namespace assay::doctor
