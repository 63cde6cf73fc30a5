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

#include <cerrno>
#include <cstring>
#include <utility>

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/parent/workers.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const fs::path& path) {
  throw Error(fmt::format("cannot write {}: {}; free some space, or name another folder with --out", path.string(),
                          std::strerror(errno)));
}

Json or_null(int number) { return number == 0 ? Json(nullptr) : Json(number); }

// Cuts a damaged last line off a file of lines.
void keep_whole_lines(const fs::path& path) {
  const std::string content = read_file_or(path);
  const std::size_t end = content.rfind('\n');
  const std::size_t good = end == std::string::npos ? 0 : end + 1;
  if (good < content.size() && truncate(path.c_str(), static_cast<off_t>(good)) != 0) cannot_write(path);
}

Event begin_event(const fs::path& folder, const Plan& plan) {
  Event begin;
  begin.kind = "run_begin";
  begin.text = fmt::format("run {} begins", plan.run_id);
  begin.detail = file_xxh3(folder / "plan.json");
  return begin;
}

void make_folder(const fs::path& folder) {
  std::error_code failed;
  if (fs::exists(folder, failed)) {
    if (!fs::is_directory(folder, failed))
      throw Error(fmt::format("--out {}: this is a file; name a folder that isn't there yet", folder.string()));
    if (!fs::is_empty(folder, failed) || failed)
      throw Error(
          failed ? fmt::format("--out {}: {}", folder.string(), failed.message())
                 : fmt::format("--out {} is not empty, and nothing is overwritten; name another folder, or continue "
                               "a run with --resume",
                               folder.string()));
  }
  fs::create_directories(folder, failed);
  if (failed)
    throw Error(
        fmt::format("cannot make the folder {}: {}; name another with --out", folder.string(), failed.message()));
}

}  // namespace

LineFile::LineFile(fs::path path, bool durable)
    : path_(std::move(path)),
      file_(open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)),
      durable_(durable) {
  if (!file_) cannot_write(path_);
}

void LineFile::append(const std::string& text) {
  const std::string whole = text + "\n";
  const off_t before = lseek(file_.get(), 0, SEEK_END);
  ssize_t n;
  do n = write(file_.get(), whole.data(), whole.size());
  while (n < 0 && errno == EINTR);
  if (n == static_cast<ssize_t>(whole.size()) && (!durable_ || fsync(file_.get()) == 0)) return;
  const int reason = n >= 0 && n < static_cast<ssize_t>(whole.size()) ? ENOSPC : errno;
  if (before >= 0 && ftruncate(file_.get(), before) != 0) {
    // The damaged line stays and is dropped when the run is read or resumed.
  }
  errno = reason;
  cannot_write(path_);
}

Store::Store(const fs::path& folder, const Plan& plan, std::uint64_t next_sequence)
    : folder_(folder),
      run_id_(plan.run_id),
      sequence_(next_sequence),
      records_(folder / "records.jsonl", true),
      events_(folder / "events.jsonl", true),
      telemetry_(folder / "telemetry.jsonl", false) {
  if (flock(records_.fd(), LOCK_EX | LOCK_NB) != 0)
    throw Error(fmt::format("another assay is writing to {}; wait for it, or stop it", folder.string()));
}

Store Store::create(const fs::path& folder, const Plan& plan) {
  make_folder(folder);
  const fs::path file = folder / "plan.json";
  write_file_atomically(file, to_json(plan).dump(2) + "\n");
  Store store(folder, plan, 1);
  store.event(begin_event(folder, plan));
  return store;
}

Store Store::reopen(const fs::path& folder, const Plan& plan, std::uint64_t good_bytes, std::uint64_t next_sequence) {
  Store store(folder, plan, next_sequence);
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
  const std::string content = read_file_or(folder / "events.jsonl");
  const Json first = Json::parse(content.substr(0, content.find('\n')), nullptr, false);
  // Whatever is there instead of the line that was written: it proves nothing, and is no reason to end in another way.
  const auto text = [&first](const char* key) {
    const auto found = first.find(key);
    return found != first.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  return first.is_object() && text("event") == "run_begin" ? text("detail") : std::string();
}

}  // namespace assay
