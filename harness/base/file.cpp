// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See file.h.
#include "harness/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "harness/base/error.h"
#include "harness/base/open_file.h"

namespace assay {
namespace {

bool read_all(const std::filesystem::path& path, std::string& content) {
  const Descriptor file = open_file(path);
  if (!file) return false;
  std::array<char, 65536> chunk{};
  for (;;) {
    const ssize_t n = read(file.get(), chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    if (n == 0) return true;
    content.append(chunk.data(), static_cast<std::size_t>(n));
  }
}

[[noreturn]] void cannot_write(const std::filesystem::path& path) {
  const int reason = errno;
  throw Error(fmt::format("cannot write {}: {}; {}", path.string(), std::strerror(reason), write_advice(reason)));
}

void write_all(int fd, const std::string& content, const std::filesystem::path& path) {
  for (std::size_t done = 0; done < content.size();) {
    const ssize_t n = write(fd, content.data() + done, content.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) cannot_write(path);
    done += static_cast<std::size_t>(n);
  }
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

void Descriptor::reset() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

std::string read_file(const std::filesystem::path& path) {
  std::string content;
  if (!read_all(path, content)) throw Error(fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)));
  return content;
}

std::string read_file_or(const std::filesystem::path& path, const std::string& fallback) try {
  std::string content;
  return read_all(path, content) ? content : fallback;
} catch (const Error&) {  // no file: a container may have put a device over one of /proc
  return fallback;
}

void write_file_atomically(const std::filesystem::path& path, const std::string& content) {
  const std::filesystem::path beside = path.string() + ".new";
  // What is left there of a write that was cut goes, by its name only: a link there may lead to somebody's file.
  unlink(beside.c_str());
  Descriptor file(open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file) cannot_write(path);
  write_all(file.get(), content, path);
  if (fsync(file.get()) != 0 || rename(beside.c_str(), path.c_str()) != 0) cannot_write(path);
  sync_folder(path.parent_path());
}

void sync_folder(const std::filesystem::path& folder) {
  const Descriptor fd(open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd) fsync(fd.get());  // a file system that can't do this for folders has nothing better
}

std::string write_advice(int reason) {
  switch (reason) {
    case ENOSPC:
    case EDQUOT:
      return "free some space, or name another folder with --out";
    case EACCES:
    case EPERM:
      return "get the right to write there, or name another folder with --out";
    case EROFS:
      return "what is mounted there is read-only; name another folder with --out";
    case EFBIG:
      return "raise the limit on the size of files (ulimit -f), or name another folder with --out";
    default:
      return "name another folder with --out";
  }
}

void open_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is taken, which is this one. Without /dev any other file will do that can't be written.
    if (open(fd == 1 ? "/dev/full" : "/dev/null", O_RDWR) < 0 && open("/", O_RDONLY) < 0) return;
  }
}

std::filesystem::path program_folder() {
  std::error_code failed;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? std::filesystem::current_path() : self.parent_path();
}

}  // namespace assay
