// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See open_file.h.
#include "harness/base/open_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

#include "harness/base/error.h"

namespace assay {

Descriptor open_file(const std::filesystem::path& path) {
  Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));  // a FIFO would wait for a writer here
  struct stat found {};
  if (!file || fstat(file.get(), &found) != 0) return Descriptor();
  if (S_ISREG(found.st_mode)) return file;
  if (!S_ISDIR(found.st_mode))
    throw Error(fmt::format("{} is a FIFO, a device or a socket, which is not read; put a file there", path.string()));
  errno = EISDIR;
  return Descriptor();
}

}  // namespace assay
