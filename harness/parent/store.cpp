// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See store.h.
#include "harness/parent/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/parse_json.h"
#include "harness/base/text.h"
#include "harness/parent/run_data.h"
#include "harness/parent/workers.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const fs::path& path) {
  const int reason = errno;
  throw StoreError(fmt::format("cannot write {}: {}; {}", path.string(), std::strerror(reason), write_advice(reason)));
}

Json or_null(int number) { return number == 0 ? Json(nullptr) : Json(number); }

// Cuts a damaged last line off a file of lines.
void keep_whole_lines(const fs::path& path) {
  const std::string content = read_file_or(path);
  const std::size_t end = content.rfind('\n');
  const std::size_t good = end == std::string::npos ? 0 : end + 1;
  if (good < content.size() && truncate(path.c_str(), static_cast<off_t>(good)) != 0) cannot_write(path);
}

std::string events_text(const fs::path& folder) {
  const fs::path file = folder / "events.jsonl";
  std::error_code unreadable;
  return fs::exists(file, unreadable) ? read_file(file) : std::string();
}

// Whatever is there instead of the line that was written: it proves nothing, and is no reason to end in another way.
std::string text_in(const Json& event, const char* key) {
  if (!event.is_object()) return {};
  const auto found = event.find(key);
  return found != event.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Event begin_event(const fs::path& folder, const Plan& plan) {
  Event begin;
  begin.kind = "run_begin";
  begin.text = fmt::format("run {} begins", plan.run_id);
  begin.detail = file_xxh3(folder / "plan.json");
  return begin;
}

[[noreturn]] void not_empty(const fs::path& folder) {
  throw Error(
      fmt::format("--out {} is not empty, and nothing is overwritten; name another folder, or continue a run with "
                  "--resume",
                  folder.string()));
}

[[noreturn]] void somebody_writes(const fs::path& folder) {
  throw Error(fmt::format("another assay is writing to {}; wait for it, or stop it", folder.string()));
}

// An advisory lock on the folder itself, so that nothing of it has to be made or removed. Network file systems may
// refuse to lock a folder; there the lock on records.jsonl and the publication of plan.json decide.
Descriptor lock_folder(const fs::path& folder) {
  Descriptor lock(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock) throw Error(fmt::format("cannot open the folder {}: {}", folder.string(), std::strerror(errno)));
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) somebody_writes(folder);
  return lock;
}

// The file is there whole or not at all, and one that is there stays as it is.
void publish(const fs::path& path, const std::string& content, const Descriptor& folder) {
  const fs::path beside = path.string() + fmt::format(".{}", getpid());
  try {
    write_file_atomically(beside, content);
  } catch (const Error&) {
    unlink((beside.string() + ".new").c_str());
    throw;
  }
  int failed = renameat2(AT_FDCWD, beside.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE);
  if (failed != 0 && (errno == EINVAL || errno == ENOSYS)) {  // a file system that can't say so
    failed = link(beside.c_str(), path.c_str());
    if (failed == 0) unlink(beside.c_str());
  }
  if (failed == 0) {
    fsync(folder.get());
    return;
  }
  const int reason = errno;
  unlink(beside.c_str());
  if (reason == EEXIST) not_empty(path.parent_path());
  errno = reason;
  cannot_write(path);
}

void make_folder(const fs::path& folder) {
  std::error_code failed;
  if (fs::exists(folder, failed) && !fs::is_directory(folder, failed))
    throw Error(fmt::format("--out {}: this is a file; name a folder that isn't there yet", folder.string()));
  fs::create_directories(folder, failed);
  if (failed)
    throw Error(
        fmt::format("cannot make the folder {}: {}; name another with --out", folder.string(), failed.message()));
}

}  // namespace

LineFile::LineFile(fs::path path, bool durable)
    : path_(std::move(path)),
      file_(open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644)),
      durable_(durable) {
  if (!file_) cannot_write(path_);
  struct stat found {};  // what a resumed folder has under this name may be anything: a link, a FIFO, a device
  if (fstat(file_.get(), &found) != 0) cannot_write(path_);
  if (!S_ISREG(found.st_mode))
    throw StoreError(fmt::format("{} is no file, so nothing is written to it", path_.string()));
}

void LineFile::append(const std::string& text) {
  const std::string whole = text + "\n";
  const off_t before = lseek(file_.get(), 0, SEEK_END);
  std::size_t done = 0;
  while (done < whole.size()) {  // again only after a short write: what stopped it then says its name
    const ssize_t n = write(file_.get(), whole.data() + done, whole.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  if (done == whole.size() && (!durable_ || fsync(file_.get()) == 0)) return;
  const int reason = errno;
  if (before >= 0 && ftruncate(file_.get(), before) != 0) {
    // The damaged line stays and is dropped when the run is read or resumed.
  }
  errno = reason;
  cannot_write(path_);
}

Store::Store(Descriptor lock, const fs::path& folder, const Plan& plan, std::uint64_t next_sequence)
    : lock_(std::move(lock)),
      folder_(folder),
      run_id_(plan.run_id),
      sequence_(next_sequence),
      records_(folder / "records.jsonl", true),
      events_(folder / "events.jsonl", true),
      telemetry_(folder / "telemetry.jsonl", false) {
  if (flock(records_.fd(), LOCK_EX | LOCK_NB) != 0) somebody_writes(folder);
  sync_folder(folder);  // the names of the three files
}

Store Store::create(const fs::path& folder, const Plan& plan) {
  make_folder(folder);
  Descriptor lock = lock_folder(folder);
  std::error_code failed;
  if (!fs::is_empty(folder, failed) || failed) {
    if (failed) throw Error(fmt::format("--out {}: {}", folder.string(), failed.message()));
    not_empty(folder);
  }
  const fs::path file = folder / "plan.json";
  publish(file, to_json(plan).dump(2) + "\n", lock);
  Store store(std::move(lock), folder, plan, 1);
  store.event(begin_event(folder, plan));
  return store;
}

Store Store::reopen(const fs::path& folder, const Plan& plan, std::uint64_t good_bytes, std::uint64_t next_sequence) {
  Store store(lock_folder(folder), folder, plan, next_sequence);
  // What was read before the lock was held may have grown since.
  if (for_each_record(folder / "records.jsonl", plan.run_id, [](Record&&) {}).good_bytes != good_bytes)
    throw Error(fmt::format("{} was written to while it was read; try again", folder.string()));
  struct stat now {};
  const fs::path records = folder / "records.jsonl";
  if (fstat(store.records_.fd(), &now) == 0 && static_cast<std::uint64_t>(now.st_size) > good_bytes &&
      ftruncate(store.records_.fd(), static_cast<off_t>(good_bytes)) != 0)
    cannot_write(records);
  for (const char* name : {"events.jsonl", "telemetry.jsonl"}) keep_whole_lines(folder / name);
  // Cut before its first event, thus before its first record: it begins now.
  if (good_bytes == 0 && begun_plan_xxh3(folder).empty()) store.event(begin_event(folder, plan));
  Event again;
  again.kind = "run_resume";
  again.text = fmt::format("run {} goes on after {} records", plan.run_id, next_sequence - 1);
  store.event(again);
  return store;
}

void Store::append(Record& record) {
  record.run_id = run_id_;
  record.sequence = sequence_;
  records_.append(line(to_json(record)));
  ++sequence_;
}

void Store::append(std::vector<Record>& records) {
  constexpr std::size_t write_bytes = 4 << 20;
  std::string text;
  for (Record& record : records) {
    record.run_id = run_id_;
    record.sequence = sequence_++;
    if (!text.empty()) text += '\n';
    text += line(to_json(record));
    if (text.size() < write_bytes && &record != &records.back()) continue;
    records_.append(text);
    text.clear();
  }
}

void Store::event(const Event& e) {
  events_.append(line({{"schema", event_schema},
                       {"run_id", run_id_},
                       {"at", utc_now()},
                       {"event", e.kind},
                       {"text", e.text},
                       {"detail", text_or_null(e.detail)},
                       {"case", text_or_null(e.case_name)},
                       {"worker", text_or_null(e.worker)},
                       {"device_set", e.device_set},
                       {"session", or_null(e.session)},
                       {"process", or_null(e.process)},
                       {"pid", or_null(e.pid)}}));
}

void Store::telemetry(Json values) {
  Json whole{{"schema", telemetry_schema}, {"run_id", run_id_}, {"at", utc_now()}, {"monotonic_ns", monotonic_ns()}};
  whole.update(values);
  telemetry_.append(line(whole));
}

void Store::write_run(const Json& run) { write_file_atomically(folder_ / "run.json", run.dump(2) + "\n"); }

std::string begun_plan_xxh3(const fs::path& folder) {
  const std::string content = events_text(folder);
  const Json first = parse_json(content.substr(0, content.find('\n')), false);
  return text_in(first, "event") == "run_begin" ? text_in(first, "detail") : std::string();
}

Json ended_coverage(const fs::path& folder) {
  Json coverage = nullptr;
  for (const std::string& text : split(events_text(folder), '\n')) {
    if (text.find("run_") == std::string::npos) continue;  // nearly all of them are of workers
    const Json event = parse_json(text, false);
    const std::string kind = text_in(event, "event"), detail = text_in(event, "detail");
    if (kind == "run_begin" || kind == "run_resume") coverage = nullptr;
    if (kind == "run_end" && !detail.empty()) coverage = parse_json(detail, false);
  }
  return coverage;
}

void read_looks(const fs::path& folder, Plan& plan) {
  for (const std::string& text : split(events_text(folder), '\n')) {
    if (text.find("\"look\"") == std::string::npos) continue;
    const Json event = parse_json(text, false);
    if (text_in(event, "event") != "look") continue;
    try {
      const int session = event.at("session").get<int>();
      const Json detail = parse_json(text_in(event, "detail"));
      if (session < 1 || session > plan.sessions) continue;
      for (const Json& name : detail.at("decided")) plan.decided.emplace(name.get<std::string>(), session);
      plan.last_look = std::max(plan.last_look, session);
    } catch (const Json::exception&) {
    }
  }
}

}  // namespace assay
