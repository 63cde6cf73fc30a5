// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What stands around the driver: a container, the daemons that a GPU server needs, packages, the clock, the kernel's
// log. Trap: inside a container /proc is its own, so daemons of the host can't be seen from there.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <set>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/parse.h"
#include "harness/base/text.h"
#include "harness/doctor/facts.h"
#include "harness/explain/explain.h"

namespace assay::doctor {
namespace {

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

Fact<std::string> container_kind(const Root& root) {
  const auto is = [](const char* kind, const std::string& source) { return Fact<std::string>::of(kind, source); };
  const Environment& environment = *root.environment();
  if (environment.count("KUBERNETES_SERVICE_HOST") > 0) return is("kubernetes", "environment");
  if (environment.count("APPTAINER_NAME") > 0 || environment.count("SINGULARITY_NAME") > 0 ||
      root.exists("/.singularity.d"))
    return is("apptainer", "/.singularity.d");
  if (root.exists("/.dockerenv")) return is("docker", "/.dockerenv");
  if (root.exists("/run/.containerenv")) return is("podman", "/run/.containerenv");
  const Fact<std::string> groups = root.text("/proc/1/cgroup");
  for (const auto& [part, kind] : {std::pair{"kubepods", "kubernetes"},
                                   {"docker", "docker"},
                                   {"libpod", "podman"},
                                   {"lxc", "lxc"},
                                   {"containerd", "containerd"}})
    if (has(*groups, part)) return is(kind, "/proc/1/cgroup");
  if (const auto set = environment.find("container"); set != environment.end())
    return is(set->second.c_str(), "environment");
  // None of the signs is there; is that known of each?
  if (groups.unknown()) return Fact<std::string>::not_known(groups.state, "/proc/1/cgroup");
  for (const char* sign : {"/.singularity.d", "/.dockerenv", "/run/.containerenv"})
    if (const Fact<Status> status = root.status(sign); status.unknown())
      return Fact<std::string>::not_known(status.state, sign);
  if (!root.environment()) return Fact<std::string>::not_known(root.environment().state, root.environment().source);
  return Fact<std::string>::not_known(Known::absent, "/proc/1/cgroup");
}

// "size=65536k" of a tmpfs.
std::optional<std::uint64_t> tmpfs_bytes(const std::string& options) {
  for (const std::string& option : split(options, ',')) {
    if (!starts_with(option, "size=")) continue;
    std::string_view rest;
    const auto value = leading_number<std::uint64_t>(std::string_view(option).substr(5), &rest);
    if (!value) return std::nullopt;
    return *value * (rest == "k" ? 1024 : rest == "m" ? 1 << 20 : rest == "g" ? 1 << 30 : 1);
  }
  return std::nullopt;
}

void read_mounts(const Root& root, Facts& facts) {
  Container& container = facts.container;
  container.driver_mounts = {root.mounts().state, {}, root.mounts().source};
  container.shm_bytes = Fact<std::uint64_t>::not_known(root.mounts() ? Known::absent : root.mounts().state, "/dev/shm");
  for (const Mount& mount : *root.mounts()) {
    const std::string name = mount.path.substr(mount.path.rfind('/') + 1);
    if (starts_with(name, "libcuda.so") || starts_with(name, "libnvidia-ml.so") ||
        starts_with(mount.path, "/dev/nvidia"))
      container.driver_mounts.value.push_back(mount.path);
    if (mount.path == "/dev/shm" && mount.type == "tmpfs")
      if (const auto bytes = tmpfs_bytes(mount.options))
        container.shm_bytes = Fact<std::uint64_t>::of(*bytes, "/dev/shm");
  }
}

// "Max locked memory  8388608  8388608  bytes": the soft limit.
std::optional<std::uint64_t> memlock_in(const std::string& text) {
  for (const std::string& row : split(text, '\n')) {
    if (!starts_with(row, "Max locked memory")) continue;
    const std::string rest = trim(row.substr(17));
    return starts_with(rest, "unlimited") ? std::optional(~std::uint64_t{0}) : leading_number<std::uint64_t>(rest);
  }
  return std::nullopt;
}

void read_processes(const Root& root, Facts& facts) {
  const Fact<std::vector<std::string>> all = root.list("/proc");
  facts.cluster.processes = {all.state, {}, "/proc"};
  // The mount option hidepid leaves only one's own processes.
  if (all && !root.exists("/proc/1/comm")) facts.cluster.processes.state = Known::denied;
  for (const std::string& id : *all) {
    if (id.empty() || id[0] < '0' || id[0] > '9') continue;
    const Fact<std::string> name = root.line("/proc/" + id + "/comm");
    if (starts_with(*name, "nv") || starts_with(*name, "slurmd") || starts_with(*name, "kubelet"))
      facts.cluster.processes.value.push_back({*name, id});
  }
}

// Paragraphs of "Package: X" and "Version: Y".
std::optional<std::map<std::string, std::string>> packages_in(const std::string& text) {
  std::map<std::string, std::string> packages;
  std::string package;
  bool installed = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view row(text.data() + begin, end - begin);
    begin = end + 1;
    if (starts_with(row, "Package: ")) package = row.substr(9);
    if (starts_with(row, "Status: ")) installed = row.find(" installed") != std::string_view::npos;
    if (starts_with(row, "Version: ") && installed &&
        (has(package, "nvidia") || starts_with(package, "cuda-") || starts_with(package, "libnccl") ||
         starts_with(package, "libcudnn")))
      packages[package] = row.substr(9);
  }
  return packages;
}

void read_clock(const Root& root, Facts& facts) {
  Cluster& cluster = facts.cluster;
  if (root.is_this_machine()) {
    timex state{};
    const int answer = adjtimex(&state);
    cluster.clock_synchronised =
        answer < 0 ? Fact<bool>::not_known(Known::denied, "adjtimex")
                   : Fact<bool>::of(answer != TIME_ERROR && (state.status & STA_UNSYNC) == 0, "adjtimex");
    cluster.clock_s = Fact<double>::of(
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(), "clock");
    return;
  }
  const Fact<std::string> text = root.text("/.assay/clock.json");
  const auto field = [](auto value, const char* name) {
    using T = decltype(value);
    return [name](const std::string& json) -> std::optional<T> {
      const Json parsed = Json::parse(json, nullptr, false);
      if (!parsed.is_object() || !parsed.contains(name) || parsed[name].is_string()) return std::nullopt;
      return parsed[name].template get<T>();
    };
  };
  cluster.clock_synchronised = text.as(field(bool{}, "synchronised"));
  cluster.clock_s = text.as(field(double{}, "seconds"));
}

}  // namespace

bool Cluster::runs(const std::string& process) const {
  // The kernel keeps 15 characters of a name.
  return std::any_of(processes->begin(), processes->end(),
                     [&](const Process& one) { return one.name == process.substr(0, 15); });
}

void gather_surroundings(const Root& root, Facts& facts) {
  read_mounts(root, facts);
  Container& container = facts.container;
  container.kind = container_kind(root);
  container.device_rules = root.text("/sys/fs/cgroup/devices/devices.list").as([](const std::string& text) {
    return std::optional(split(text, '\n'));
  });
  container.memlock_bytes = root.text("/proc/self/limits").as(memlock_in);
  Cluster& cluster = facts.cluster;
  read_processes(root, facts);
  cluster.packages = root.text("/var/lib/dpkg/status", 32 << 20).as(packages_in);
  cluster.imex_nodes = root.text("/etc/nvidia-imex/nodes_config.cfg");
  cluster.slurm_gres = root.text("/etc/slurm/gres.conf");
  cluster.vgpu_configuration = root.text("/etc/nvidia/gridd.conf");
  read_clock(root, facts);
}

namespace {

struct Log {
  Fact<std::string> text;
  bool whole = false;
};

// The ring of the kernel's messages. Each read() gives one; its text stands behind a semicolon.
Log read_ring() {
  const Descriptor ring(open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!ring)
    return {Fact<std::string>::not_known(errno == ENOENT                     ? Known::absent
                                         : errno == EPERM || errno == EACCES ? Known::denied
                                                                             : Known::unreadable,
                                         "/dev/kmsg")};
  std::string text;
  bool whole = true;
  char record[8192];
  for (int records = 0; records < 1'000'000; ++records) {
    const ssize_t size = read(ring.get(), record, sizeof record);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EPIPE) {  // overwritten meanwhile: the next one
      whole = false;
      continue;
    }
    if (size < 0 && errno != EAGAIN && text.empty())  // the kernel may allow to open it, and not to read
      return {Fact<std::string>::not_known(errno == EPERM || errno == EACCES ? Known::denied : Known::unreadable,
                                           "/dev/kmsg")};
    if (size < 0 && errno == EAGAIN) return {Fact<std::string>::of(text, "/dev/kmsg"), whole};
    if (size <= 0) break;
    text.append(record, static_cast<std::size_t>(size));
  }
  return {Fact<std::string>::of(text, "/dev/kmsg")};
}

// Its last part, where the news is.
Log read_log(const Root& root, const std::string& path) {
  constexpr std::uint64_t most = 64 << 20;
  const Fact<Status> status = root.status(path);
  if (!status) return {Fact<std::string>::not_known(status.state, path)};
  // What is no plain file has no size: a ring that is a device of another machine.
  const std::uint64_t begin = status->size > most ? status->size - most : 0;
  return {root.bytes(path, begin, most), true};
}

// Cuts what is of an earlier start. True if the rest begins with this one.
bool cut_to_last_start(const std::string& kernel, std::string& text) {
  const std::string first_line = "Linux version " + kernel;
  const std::size_t start = text.rfind(first_line);
  if (kernel.empty() || start == std::string::npos) return false;
  const std::size_t line = text.rfind('\n', start);
  text.erase(0, line == std::string::npos ? 0 : line + 1);
  return true;
}

// "6,1234,5678,-;text" -> "text"; lines that begin with a blank are more about the one before.
std::string texts_of(const std::string& records) {
  std::string texts;
  for (const std::string& row : split(records, '\n')) {
    const std::size_t semicolon = row.find(';');
    const bool record = !row.empty() && row[0] >= '0' && row[0] <= '9' && semicolon != std::string::npos &&
                        row.find_first_not_of("0123456789,-c=") == semicolon;
    if (starts_with(row, " ")) continue;
    texts += (record ? row.substr(semicolon + 1) : row) + "\n";
  }
  return texts;
}

}  // namespace

void gather_log(const Root& root, const std::filesystem::path& rules, Facts& facts) {
  if (rules.empty()) return;
  Log best = root.is_this_machine() ? read_ring() : read_log(root, "/dev/kmsg");
  best.whole = best.text && cut_to_last_start(*facts.system.kernel, best.text.value) && best.whole;
  for (const char* file : {"/var/log/kern.log", "/var/log/dmesg"}) {
    if (best.whole) break;
    Log other = read_log(root, file);
    if (!other.text || other.text->empty()) continue;
    other.whole = cut_to_last_start(*facts.system.kernel, other.text.value) && file != std::string("/var/log/dmesg");
    if (other.whole || !best.text || best.text->empty()) best = std::move(other);  // dmesg ends when the start was done
  }
  Fact<std::string>& log = best.text;
  if (log && log->empty()) log = Fact<std::string>::not_known(Known::unreadable, log.source + ", which is empty,");
  facts.log_is_whole = best.whole;
  facts.log = {log.state, {}, log.source};
  if (!log) return;
  explain::Rules tables(rules);
  explain::Reader reader(tables, log.source);
  reader.feed(texts_of(*log));
  for (const explain::Finding& finding : reader.finish().diagnosis.findings) {
    if (finding.row == nullptr || finding.first.kind == "none") continue;
    const std::string line = finding.quotes.empty() ? "" : plain(finding.quotes.front().text);
    facts.log.value.push_back({finding.device, finding.first.kind, finding.first.code, finding.layer, finding.severity,
                               finding.action, finding.meaning, line});
  }
}

Facts gather(const Root& root, const GatherOptions& options) {
  Facts facts;
  facts.environment = {root.environment().state, {}, root.environment().source};
  for (const std::string& name : options.variables)
    if (const auto set = root.environment()->find(name); set != root.environment()->end())
      facts.environment.value.insert(*set);
  gather_bus(root, facts);
  gather_system(root, facts);
  gather_driver(root, options, facts);
  gather_frameworks(root, facts);
  gather_libraries(root, facts);
  gather_surroundings(root, facts);
  gather_log(root, options.rules, facts);
  gather_probes(root, options, facts);
  facts.silent_mounts = root.silent_mounts();
  return facts;
}

}  // namespace assay::doctor
