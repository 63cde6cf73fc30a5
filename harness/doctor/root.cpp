// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See root.h. Every path is walked name by name, and the mount table is asked before each step: lstat(2) on a mount
// point that doesn't answer hangs, and nothing can end it. Trap: what is mounted last on a path is what counts.
#include "harness/doctor/root.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/parse.h"
#include "harness/base/text.h"
#include "harness/doctor/watched.h"

namespace assay::doctor {
namespace {

constexpr int most_links = 40;          // as the kernel
constexpr double mount_patience_s = 1;  // for all that is asked of one file system
constexpr std::size_t most_names = 1 << 19;  // bytes of a folder's names

// Answers come over a network or from another process.
bool is_risky(const std::string& type) {
  static const std::set<std::string> types = {
      "nfs",      "nfs4", "cifs",     "smb3",    "smbfs",     "autofs", "lustre",   "gpfs",  "beegfs",
      "ceph",     "fuse", "afs",      "fuseblk", "glusterfs", "ncpfs",  "orangefs", "panfs", "wekafs",
      "9p2000.L", "9p",   "virtiofs", "gfs2",    "ocfs2",     "vboxsf", "pvfs2",    "coda"};
  return types.count(type) > 0 || starts_with(type, "fuse.");
}

// "\040" in the mount table is a blank.
std::string unescaped(const std::string& text) {
  std::string plain_text;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = [&](std::size_t at) { return text[at] >= '0' && text[at] <= '7'; };
    if (text[i] == '\\' && i + 3 < text.size() && digit(i + 1) && digit(i + 2) && digit(i + 3)) {
      plain_text += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      plain_text += text[i];
    }
  }
  return plain_text;
}

// 36 35 98:0 /root /point options optional... - type source options
std::optional<std::vector<Mount>> parse_mounts(const std::string& text) {
  std::vector<Mount> mounts;
  for (const std::string& row : split(text, '\n')) {
    const std::size_t dash = row.find(" - ");
    const std::vector<std::string> before = split(row.substr(0, dash), ' ');
    if (dash == std::string::npos || before.size() < 6) continue;
    const std::vector<std::string> behind = split(row.substr(dash + 3), ' ');
    if (behind.size() < 2) continue;
    mounts.push_back({unescaped(before[4]), behind[0], unescaped(behind[1]),
                      before[5] + (behind.size() > 2 ? "," + behind[2] : "")});
  }
  return mounts;
}

Known known_of(int error) {
  if (error == ENOENT || error == ENOTDIR) return Known::absent;
  if (error == EACCES || error == EPERM) return Known::denied;
  return Known::unreadable;
}

bool is_below(const std::string& path, const std::string& folder) {
  return path == folder || (starts_with(path, folder) && (folder.back() == '/' || path[folder.size()] == '/'));
}

// Where a path leads, on this machine.
struct Place {
  Known state = Known::value;
  std::string real;   // from the root of the machine, without links
  std::string risky;  // the mount point that must be asked by a child
};

class Walk {
 public:
  // `mount_of`: the risky mount that a path of this machine is on, or "".
  template <class MountOf>
  static Place to(const std::string& folder, const std::string& path, bool follow_last, const MountOf& mount_of) {
    std::vector<std::string> names = split(path, '/');
    std::reverse(names.begin(), names.end());
    std::string real;
    int links = 0;
    while (!names.empty()) {
      const std::string name = names.back();
      names.pop_back();
      if (name.empty() || name == ".") continue;
      if (name == "..") {
        real.erase(std::min(real.rfind('/'), real.size()));
        continue;
      }
      const std::string next = real + "/" + name, here = folder + next;
      if (const std::string risky = mount_of(here); !risky.empty()) return {Known::value, next, risky};
      struct stat status;
      if (lstat(here.c_str(), &status) != 0) return {known_of(errno), next, ""};
      if (!S_ISLNK(status.st_mode) || (names.empty() && !follow_last)) {
        real = next;
        continue;
      }
      std::array<char, 4096> target;
      const ssize_t size = readlink(here.c_str(), target.data(), target.size());
      if (size < 0) return {known_of(errno), next, ""};
      if (++links > most_links) return {Known::unreadable, next, ""};
      std::vector<std::string> more = split(std::string_view(target.data(), static_cast<std::size_t>(size)), '/');
      if (target[0] == '/') real.clear();
      names.insert(names.end(), more.rbegin(), more.rend());
    }
    if (real.empty()) return {Known::value, "/", mount_of(folder.empty() ? "/" : folder)};
    return {Known::value, real, ""};
  }
};

std::string read_here(const std::string& path, std::uint64_t offset, std::uint64_t size, int& error) {
  // O_NONBLOCK: a FIFO or a device could make open() wait.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY));
  struct stat status;
  if (!file || fstat(file.get(), &status) != 0) {
    error = errno;
    return {};
  }
  if (!S_ISREG(status.st_mode)) {
    error = EINVAL;
    return {};
  }
  std::string text;
  std::vector<char> block(static_cast<std::size_t>(std::min<std::uint64_t>(size, std::uint64_t{1} << 16)));
  while (text.size() < size) {
    const std::size_t part = static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), size - text.size()));
    const ssize_t count = pread(file.get(), block.data(), part, static_cast<off_t>(offset + text.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      error = errno;
      return {};
    }
    if (count == 0) break;
    text.append(block.data(), static_cast<std::size_t>(count));
  }
  return text;
}

std::string list_here(const std::string& path, int& error) {
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) {
    error = errno;
    return {};
  }
  std::string names;
  errno = 0;  // readdir(3) answers an error as it answers the end
  while (const dirent* entry = readdir(folder)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.append(name).push_back('/');
    errno = names.size() > most_names ? E2BIG : 0;
    if (errno != 0) break;
  }
  error = errno;
  closedir(folder);
  return names;
}

std::string status_here(const std::string& path, int& error) {
  struct stat status;
  if (lstat(path.c_str(), &status) != 0) {
    error = errno;
    return {};
  }
  const mode_t type = status.st_mode & S_IFMT;
  Status answer;
  answer.kind = type == S_IFREG                      ? Status::Kind::file
                : type == S_IFDIR                    ? Status::Kind::folder
                : type == S_IFLNK                    ? Status::Kind::link
                : type == S_IFCHR || type == S_IFBLK ? Status::Kind::device
                                                     : Status::Kind::other;
  answer.device = status.st_dev;
  answer.inode = status.st_ino;
  answer.size = static_cast<std::uint64_t>(status.st_size);
  answer.major = major(status.st_rdev);
  answer.minor = minor(status.st_rdev);
  answer.mode = status.st_mode & 07777;
  answer.user = status.st_uid;
  answer.group = status.st_gid;
  answer.may_read_and_write = faccessat(AT_FDCWD, path.c_str(), R_OK | W_OK, AT_EACCESS) == 0;
  return {reinterpret_cast<const char*>(&answer), sizeof answer};
}

}  // namespace

std::string_view word(Known known) {
  constexpr std::string_view words[] = {"value", "absent", "denied", "late", "unreadable", "not_in_bundle"};
  return words[static_cast<int>(known)];
}

std::string_view phrase(Known known) {
  constexpr std::string_view phrases[] = {"is known",
                                          "is not there",
                                          "may not be read by this user",
                                          "did not answer in time",
                                          "can't be understood",
                                          "is not in the bundle"};
  return phrases[static_cast<int>(known)];
}

Environment parse_environment(const std::string& text) {
  Environment environment;
  const char separator = text.find('\0') != std::string::npos ? '\0' : '\n';
  for (const std::string& row : split(text, separator))
    if (const std::size_t equals = row.find('='); equals != std::string::npos && equals > 0)
      environment[row.substr(0, equals)] = row.substr(equals + 1);
  return environment;
}

// Does one thing, without asking where: in this process, or in a child.
struct Root::Asker {
  explicit Asker(const std::string& folder)
      : child([folder](const std::string& question) { return answer(folder, question); }, mount_patience_s) {}

  static std::string perform(const std::string& folder, Kind kind, const std::string& real, std::uint64_t offset,
                             std::uint64_t size, int& error) {
    const std::string here = folder + real;
    switch (kind) {
      case Kind::read:
        return read_here(here, offset, size, error);
      case Kind::list:
        return list_here(here, error);
      case Kind::status:
        return status_here(here, error);
      case Kind::resolve:
        return real;
      case Kind::link: {
        std::array<char, 4096> target;
        const ssize_t length = readlink(here.c_str(), target.data(), target.size());
        error = length < 0 ? (errno == EINVAL ? ENOENT : errno) : 0;
        return length < 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(length));
      }
    }
    return {};
  }

  // A question is kind, offset, size and path; an answer the state and its text.
  static std::string question(Kind kind, const std::string& path, std::uint64_t offset, std::uint64_t size) {
    std::string text(1, static_cast<char>(kind));
    text.append(reinterpret_cast<const char*>(&offset), sizeof offset);
    return text.append(reinterpret_cast<const char*>(&size), sizeof size).append(path);
  }
  static std::string answer(const std::string& folder, const std::string& question) {
    std::uint64_t offset = 0, size = 0;
    const Kind kind = static_cast<Kind>(question[0]);
    std::memcpy(&offset, question.data() + 1, sizeof offset);
    std::memcpy(&size, question.data() + 1 + sizeof offset, sizeof size);
    const auto nowhere = [](const std::string&) { return std::string(); };
    const Place place =
        Walk::to(folder, question.substr(1 + 2 * sizeof size), kind != Kind::link && kind != Kind::status, nowhere);
    if (place.state != Known::value) return std::string(1, static_cast<char>(place.state));
    int error = 0;
    std::string text = perform(folder, kind, place.real, offset, size, error);
    return std::string(1, static_cast<char>(error == 0 ? Known::value : known_of(error))) + text;
  }

  Watched child;
};

Root::Root(const std::filesystem::path& folder, Fact<Environment> environment) : environment_(std::move(environment)) {
  std::error_code failed;
  folder_ = std::filesystem::absolute(folder, failed).lexically_normal().string();
  while (!folder_.empty() && folder_.back() == '/') folder_.pop_back();

  const auto own = parse_mounts(read_file_or("/proc/self/mountinfo"));
  std::map<std::string, bool> points;
  for (const Mount& mount : own.value_or(std::vector<Mount>())) points[mount.path] = is_risky(mount.type);
  const auto sort = [&] {
    risky_.clear();
    safe_.clear();
    for (const auto& [point, risky] : points) (risky ? risky_ : safe_).push_back(point);
  };
  sort();
  if (!is_this_machine()) read_marks();
  mounts_ = text("/proc/self/mountinfo").as(parse_mounts);
  mounts_.source = "/proc/self/mountinfo";
  if (is_this_machine() || !mounts_) return;
  for (const Mount& mount : *mounts_)
    if (mount.path != "/") points[folder_ + mount.path] = is_risky(mount.type);
  sort();
}

void Root::read_marks() {
  if (const Fact<std::string> nodes = text("/.assay/nodes"))
    for (const std::string& row : split(*nodes, '\n')) {
      const std::vector<std::string> words = split(row, ' ');
      if (words.size() < 6) continue;
      Status status;
      status.kind = Status::Kind::device;
      status.major = only_number<unsigned>(words[1]).value_or(0);
      status.minor = only_number<unsigned>(words[2]).value_or(0);
      status.mode = static_cast<unsigned>(std::strtoul(words[3].c_str(), nullptr, 8));
      status.user = only_number<unsigned>(words[4]).value_or(0);
      status.group = only_number<unsigned>(words[5]).value_or(0);
      status.may_read_and_write = (status.mode & 06) == 06;  // as anybody
      nodes_["/" + words[0]] = status;
    }
  if (const Fact<std::string> states = text("/.assay/states"))
    for (const std::string& row : split(*states, '\n'))
      for (const Known known : {Known::absent, Known::denied, Known::late, Known::unreadable})
        if (starts_with(row, std::string(word(known)) + " "))
          states_["/" + trim(row.substr(word(known).size()))] = known;
}

Root::~Root() = default;

Root::Answer Root::ask(Kind kind, const std::string& path, std::uint64_t offset, std::uint64_t size) const {
  for (const auto& [marked, known] : states_)
    if (is_below(path, marked)) return {known, {}};
  const auto mount_of = [&](const std::string& here) -> std::string {
    const auto longest = [&](const std::vector<std::string>& points) {
      std::string best;
      for (const std::string& point : points)
        if (point.size() > best.size() && is_below(here, point)) best = point;
      return best;
    };
    const std::string risky = risky_.empty() ? "" : longest(risky_);
    return risky.size() > longest(safe_).size() ? risky : "";
  };
  const Place place = Walk::to(folder_, path, kind != Kind::link && kind != Kind::status, mount_of);
  if (place.state != Known::value) return {place.state, {}};
  int error = 0;
  if (place.risky.empty()) {
    std::string text = Asker::perform(folder_, kind, place.real, offset, size, error);
    return error == 0 ? Answer{Known::value, std::move(text)} : Answer{known_of(error), {}};
  }
  std::unique_ptr<Asker>& asker = askers_[place.risky];
  if (asker == nullptr) asker = std::make_unique<Asker>(folder_);
  std::string text;
  if (!asker->child.ask(Asker::question(kind, path, offset, size), text) || text.empty())
    return {asker->child.late() ? Known::late : Known::unreadable, {}};
  return {static_cast<Known>(text[0]), text.substr(1)};
}

Fact<std::string> Root::bytes(const std::string& path, std::uint64_t offset, std::uint64_t size) const {
  Answer answer = ask(Kind::read, path, offset, size);
  return {answer.state, std::move(answer.text), path};
}

Fact<std::string> Root::text(const std::string& path, std::uint64_t most) const { return bytes(path, 0, most); }

Fact<std::string> Root::line(const std::string& path) const {
  return text(path, 1 << 16).as([](const std::string& all) {
    return std::optional(trim(all.substr(0, all.find('\n'))));
  });
}

Fact<double> Root::number(const std::string& path) const {
  return line(path).as([](const std::string& text) { return leading_number<double>(text); });
}

Fact<std::vector<std::string>> Root::list(const std::string& folder) const {
  Answer answer = ask(Kind::list, folder);
  std::vector<std::string> names = split(answer.text, '/');
  names.erase(std::remove(names.begin(), names.end(), ""), names.end());
  if (!Fact<int>{answer.state}.unknown())
    for (const auto& [path, status] : nodes_)
      if (path.substr(0, path.rfind('/')) == folder) {
        names.push_back(path.substr(folder.size() + 1));
        answer.state = Known::value;
      }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return {answer.state, std::move(names), folder};
}

Fact<std::string> Root::link(const std::string& path) const {
  Answer answer = ask(Kind::link, path);
  return {answer.state, answer.text.substr(answer.text.rfind('/') + 1), path};
}

Fact<std::string> Root::resolved(const std::string& path) const {
  Answer answer = ask(Kind::resolve, path);
  return {answer.state, std::move(answer.text), path};
}

Fact<Status> Root::node(const std::string& path) const {
  if (const auto marked = nodes_.find(path); marked != nodes_.end() && states_.count(path) == 0)
    return Fact<Status>::of(marked->second, path);
  const Answer answer = ask(Kind::status, path);
  Status status;
  if (answer.state == Known::value && answer.text.size() == sizeof status)
    std::memcpy(&status, answer.text.data(), sizeof status);
  return {answer.state, status, path};
}

Fact<Status> Root::status(const std::string& path) const {
  if (nodes_.count(path) > 0) return node(path);
  const Fact<std::string> real = resolved(path);
  if (!real) return Fact<Status>::not_known(real.state, path);
  Fact<Status> status = node(*real);
  status.source = path;
  return status;
}

std::vector<std::string> Root::glob(const std::string& pattern) const {
  std::vector<std::string> found = {""};
  for (const std::string& part : split(pattern, '/')) {
    if (part.empty()) continue;
    std::vector<std::string> next;
    for (const std::string& folder : found) {
      if (part.find('*') == std::string::npos) {
        next.push_back(folder + "/" + part);
        continue;
      }
      const Fact<std::vector<std::string>> names = list(folder.empty() ? "/" : folder);
      // What lies below a folder that can't be listed can't be told: whoever reads on gets the same answer there.
      if (names.unknown()) next.push_back(folder + "/" + part);
      for (const std::string& name : *names)
        if (fnmatch(part.c_str(), name.c_str(), FNM_PERIOD) == 0) next.push_back(folder + "/" + name);
    }
    found = std::move(next);
  }
  found.erase(std::remove_if(found.begin(), found.end(),
                             [&](const std::string& path) { return status(path).state == Known::absent; }),
              found.end());
  return found;
}

std::vector<std::string> Root::asked_by_children() const {
  std::vector<std::string> asked;
  for (const auto& [point, asker] : askers_) asked.push_back(point.substr(folder_.size()));
  return asked;
}

std::vector<std::string> Root::silent_mounts() const {
  std::vector<std::string> silent;
  for (const auto& [point, asker] : askers_)
    if (asker->child.late()) silent.push_back(point.substr(folder_.size()));
  return silent;
}

}  // namespace assay::doctor
