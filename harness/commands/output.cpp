// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See output.h.
#include "harness/commands/output.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "harness/base/error.h"
#include "harness/base/file.h"

namespace assay {
namespace {

[[noreturn]] void cannot_write(const std::string& path) {
  throw Error(fmt::format("cannot write {}: {}; name another file with -o", path, std::strerror(errno)));
}

void write_to_file(const std::string& path, const std::function<void(std::ostream&)>& write) {
  std::error_code unreadable;
  const bool special = std::filesystem::exists(path, unreadable) &&
                       !std::filesystem::is_regular_file(path, unreadable) &&
                       !std::filesystem::is_directory(path, unreadable);
  if (!special && !Descriptor(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644))) {
    if (errno == EEXIST) throw Error(fmt::format("{} exists and is not overwritten; name another file with -o", path));
    cannot_write(path);
  }
  // A pipe that nobody reads would hold us until somebody does.
  const Descriptor probe(special ? open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC) : -1);
  if (special && !probe) {
    if (errno == ENXIO) throw Error(fmt::format("cannot write {}: nobody reads this pipe", path));
    cannot_write(path);
  }
  try {
    std::ofstream file(path);
    write(file);
    file.flush();
    if (!file) cannot_write(path);
  } catch (...) {
    if (!special) std::filesystem::remove(path, unreadable);
    throw;
  }
}

}  // namespace

void write_output(const std::string& path, const std::function<void(std::ostream&)>& write) {
  if (!path.empty()) return write_to_file(path, write);
  write(std::cout);
  std::cout.flush();
  if (!std::cout) throw Error("cannot write to standard output");
}

}  // namespace assay
