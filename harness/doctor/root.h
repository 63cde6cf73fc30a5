// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The machine whose files are read: "/" is this one, any other folder stands for another, with its environment beside
// it. Every reader of doctor/ goes through here, so three things hold everywhere: links stay inside of the folder and
// never loop; nothing on a file system that may not answer (NFS, FUSE, autofs, ...) is touched by this process itself,
// a child with a deadline does that; and an answer that isn't there says why.
//
// What a folder can't hold stands in DIR/.assay/ (never read of "/"; see tests/fixtures/machines/README.md):
//   nodes   "dev/nvidia0 195 0 0666 0 0": device nodes: number, mode (octal), owner, group
//   states  "denied proc/cmdline", "late home/me", "unreadable sys/x": what could not be read there
//   nvml.json, clock.json: what NVML and the clock said
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/doctor/fact.h"

namespace assay::doctor {

struct Mount {
  std::string path, type, source, options;  // options: of the mount and of its file system, joined by a comma
};

struct Status {
  enum class Kind { file, folder, link, device, other } kind = Kind::other;
  std::uint64_t device = 0, inode = 0, size = 0;
  unsigned major = 0, minor = 0, mode = 0, user = 0, group = 0;
  bool may_read_and_write = false;  // by this process
};

using Environment = std::map<std::string, std::string>;

class Root {
 public:
  // `environment`: of the process that is asked about.
  Root(const std::filesystem::path& folder, Fact<Environment> environment);
  ~Root();

  bool is_this_machine() const { return folder_.empty(); }
  const Fact<Environment>& environment() const { return environment_; }
  // As the machine sees itself; of "/" what was read before anything else was touched.
  const Fact<std::vector<Mount>>& mounts() const { return mounts_; }

  // Paths are absolute, from the root of the machine. All follow links, except link() and node() in the last step.
  Fact<std::string> text(const std::string& path, std::uint64_t most = 1 << 20) const;
  Fact<std::string> bytes(const std::string& path, std::uint64_t offset, std::uint64_t size) const;
  Fact<std::string> line(const std::string& path) const;                 // the first, without blanks around it
  Fact<double> number(const std::string& path) const;                    // that the file begins with
  Fact<std::vector<std::string>> list(const std::string& folder) const;  // names, sorted
  Fact<std::string> link(const std::string& path) const;                 // the last name of what it points to
  Fact<std::string> resolved(const std::string& path) const;             // without any links
  Fact<Status> status(const std::string& path) const;
  Fact<Status> node(const std::string& path) const;
  bool exists(const std::string& path) const { return static_cast<bool>(status(path)); }
  // The paths that are there, or of which nobody can say; `*` stands for any characters of one name, as in fnmatch(3).
  std::vector<std::string> glob(const std::string& pattern) const;
  // Mount points that a child was asked about so far, and those of them that did not answer.
  std::vector<std::string> asked_by_children() const;
  std::vector<std::string> silent_mounts() const;

 private:
  enum class Kind : char { read, list, link, resolve, status };
  struct Answer {
    Known state;
    std::string text;
  };
  struct Asker;
  void read_marks();  // of .assay
  Answer ask(Kind kind, const std::string& path, std::uint64_t offset = 0, std::uint64_t size = 0) const;

  std::string folder_;  // "" for "/"
  Fact<Environment> environment_;
  Fact<std::vector<Mount>> mounts_;
  std::vector<std::string> risky_, safe_;                         // mount points, on this machine
  std::map<std::string, Known> states_;                           // of .assay/states
  std::map<std::string, Status> nodes_;                           // of .assay/nodes
  mutable std::map<std::string, std::unique_ptr<Asker>> askers_;  // by risky mount point
};

// NAME=VALUE, a line or a NUL behind each.
Environment parse_environment(const std::string& text);

}  // namespace assay::doctor
