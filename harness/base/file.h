// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Files with their errors: every failure says what, where and what to do.
#pragma once

#include <filesystem>
#include <string>

namespace assay {

// An owned descriptor; -1 is "none".
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { reset(); }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  void reset();

 private:
  int fd_;
};

// The whole file. Error (exit 3) when it can't be read.
std::string read_file(const std::filesystem::path& path);
// The whole file, or `fallback` when it isn't there or can't be read: for /proc and /sys, where absence is an answer.
std::string read_file_or(const std::filesystem::path& path, const std::string& fallback = {});
// Writes beside, fsyncs, renames: after a cut at any moment the old or the new content is there, never a mixture.
void write_file_atomically(const std::filesystem::path& path, const std::string& content);
// A file that was made or renamed in this folder survives a power cut only after this.
void sync_folder(const std::filesystem::path& folder);
// What to do about a file that can't be written for this reason (errno): "free some space, or name another folder ..."
std::string write_advice(int reason);
// Descriptors 0, 1 and 2 that the caller closed are opened, so that no file of ours takes their numbers and gets what
// is printed: on /dev/null, and standard output on /dev/full, where a lost result shows as an error of write(). First
// of all in main.
void open_standard_descriptors();
// The folder of the running program (/proc/self/exe): workers and profiles are looked for beside it.
std::filesystem::path program_folder();

}  // namespace assay
