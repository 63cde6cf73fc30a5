// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See run_data.h. records.jsonl is read in blocks of a few MiB, so that a file of any size costs the same memory.
#include "harness/parent/run_data.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/open_file.h"
#include "harness/base/parse_json.h"
#include "harness/base/text.h"
#include "harness/parent/coverage.h"
#include "harness/parent/record_reader.h"
#include "harness/parent/store.h"
#include "harness/parent/workers.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t block_bytes = 4 << 20;
// A message of a worker has at most 16 MiB (child.h), and a number is written at most four times as long as it came.
constexpr std::size_t longest_line = 64 << 20;

// Hands out the lines of a file without their newline. Behind each line at least SIMDJSON_PADDING bytes can be read.
class Lines {
 public:
  explicit Lines(const fs::path& path) : path_(path), file_(open_file(path)) {
    if (!file_ && errno != ENOENT) fail();
    // A judge reads thousands of small files: none needs a whole block.
    struct stat found {};
    if (file_ && fstat(file_.get(), &found) == 0 && S_ISREG(found.st_mode))
      bytes_ = static_cast<std::size_t>(found.st_size);
    buffer_.resize(std::min(block_bytes, bytes_ + 1) + simdjson::SIMDJSON_PADDING);
  }
  // When it was opened.
  std::size_t bytes() const { return bytes_; }
  // False at the end. `complete` tells whether the line had its newline.
  bool next(std::string_view& line, bool& complete) {
    for (;;) {
      const void* newline = std::memchr(buffer_.data() + begin_, '\n', end_ - begin_);
      if (newline != nullptr) {
        const auto length = static_cast<std::size_t>(static_cast<const char*>(newline) - (buffer_.data() + begin_));
        line = {buffer_.data() + begin_, length};
        begin_ += length + 1;
        complete = true;
        return true;
      }
      if (!fill()) break;
    }
    line = {buffer_.data() + begin_, end_ - begin_};
    begin_ = end_;
    complete = false;
    return !line.empty();
  }

 private:
  bool fill() {
    if (!file_) return false;
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    if (end_ > longest_line)
      throw Error(fmt::format("{} has a line longer than 64 MiB, so it is no file of records", path_.string()));
    if (end_ + simdjson::SIMDJSON_PADDING == buffer_.size()) buffer_.resize(2 * buffer_.size());
    for (;;) {
      const ssize_t n = ::read(file_.get(), buffer_.data() + end_, buffer_.size() - simdjson::SIMDJSON_PADDING - end_);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail();
      end_ += static_cast<std::size_t>(n);
      return n > 0;
    }
  }
  [[noreturn]] void fail() const {
    throw Error(fmt::format("cannot read {}: {}", path_.string(), std::strerror(errno)));
  }

  fs::path path_;
  Descriptor file_;
  std::string buffer_;
  std::size_t bytes_ = 0, begin_ = 0, end_ = 0;
};

// The records of a file in batches of about a MiB of text.
class Batches {
 public:
  Batches(const fs::path& path, const std::string& run_id) : path_(path), run_id_(run_id), lines_(path) {}
  // Empty at the end of the file.
  std::vector<Record> next() {
    std::vector<Record> batch;
    std::string_view text;
    bool complete = false;
    for (std::size_t bytes = 0; (bytes < batch_bytes || batch.empty()) && lines_.next(text, complete);
         bytes += text.size()) {
      ++number_;
      // What was damaged is no error as long as no other line follows.
      if (!damage_.empty()) fail_in_the_middle();
      read(text, complete, batch);
    }
    return batch;
  }
  const RecordsEnd& end() const { return end_; }
  bool is_one_batch() const { return lines_.bytes() < batch_bytes; }

 private:
  static constexpr std::size_t batch_bytes = 1 << 20;

  void read(std::string_view text, bool complete, std::vector<Record>& batch) try {
    if (!complete) throw DamagedRecord("it has no end");
    Record record = reader_.read_padded(text);
    if (!run_id_.empty() && record.run_id != run_id_)
      throw Error(fmt::format("is a record of run {}, but this folder's plan is of run {}", record.run_id, run_id_));
    batch.push_back(std::move(record));
    ++end_.count;
    end_.good_bytes += text.size() + 1;
  } catch (const DamagedRecord& problem) {
    damage_ = problem.what();
    end_.warning = fmt::format("{} line {} is damaged ({}) and was dropped: the run was cut while writing it",
                               path_.string(), number_, damage_);
  } catch (const Error& problem) {
    throw Error(fmt::format("{} line {}: {}", path_.string(), number_, problem.what()));
  }
  [[noreturn]] void fail_in_the_middle() const {
    throw Error(
        fmt::format("{} line {} is damaged: {}; records after it can't be trusted to be whole, so move the "
                    "folder away and measure again",
                    path_.string(), number_ - 1, damage_));
  }

  fs::path path_;
  std::string run_id_;
  Lines lines_;
  RecordReader reader_;
  RecordsEnd end_;
  std::uint64_t number_ = 0;
  std::string damage_;  // of the line before
};

// A thread that reads some batches ahead while the caller looks at one: reading and writing a report take about as
// long. One thread for the whole file, not one for each batch: a thread that lives for a millisecond stays on the core
// that made it.
class ReadAhead {
 public:
  explicit ReadAhead(Batches& batches) : batches_(batches), thread_([this] { read(); }) {}
  ~ReadAhead() {
    {
      const std::lock_guard lock(guard_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Empty at the end. Throws what reading threw, after all that came before it.
  std::vector<Record> next() {
    std::unique_lock lock(guard_);
    changed_.wait(lock, [this] { return !ready_.empty() || done_; });
    if (ready_.empty()) {
      if (problem_) std::rethrow_exception(problem_);
      return {};
    }
    std::vector<Record> batch = std::move(ready_.front());
    ready_.pop_front();
    changed_.notify_all();
    return batch;
  }

 private:
  static constexpr std::size_t most = 4;

  void read() {
    std::exception_ptr problem;
    try {
      for (std::vector<Record> batch = batches_.next(); !batch.empty(); batch = batches_.next()) {
        std::unique_lock lock(guard_);
        changed_.wait(lock, [this] { return ready_.size() < most || stop_; });
        if (stop_) break;
        ready_.push_back(std::move(batch));
        changed_.notify_all();
      }
    } catch (...) {
      problem = std::current_exception();
    }
    const std::lock_guard lock(guard_);
    problem_ = problem;
    done_ = true;
    changed_.notify_all();
  }

  Batches& batches_;
  std::mutex guard_;
  std::condition_variable changed_;
  std::deque<std::vector<Record>> ready_;
  std::exception_ptr problem_;
  bool done_ = false, stop_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace

RecordsEnd for_each_record(const fs::path& path, const std::string& run_id,
                           const std::function<void(Record&&)>& visit) {
  Batches batches(path, run_id);
  if (batches.is_one_batch()) {  // nothing to read ahead
    for (std::vector<Record> batch = batches.next(); !batch.empty(); batch = batches.next())
      for (Record& record : batch) visit(std::move(record));
  } else {
    ReadAhead ahead(batches);
    for (std::vector<Record> batch = ahead.next(); !batch.empty(); batch = ahead.next())
      for (Record& record : batch) visit(std::move(record));
  }
  return batches.end();
}

RecordsFile read_records(const fs::path& path, const std::string& run_id) {
  RecordsFile file;
  static_cast<RecordsEnd&>(file) =
      for_each_record(path, run_id, [&](Record&& record) { file.records.push_back(std::move(record)); });
  return file;
}

const std::map<std::string, std::vector<std::string>>& run_json_fields() {
  static const std::map<std::string, std::vector<std::string>> fields{
      {"",
       {"schema", "run_id", "outcome", "exit_code", "started_at", "finished_at", "interrupted", "simulated", "imported",
        "test_knobs", "coverage", "environment", "build", "worker_choice", "command_line", "resumed", "quiet_machine",
        "warnings"}},
      {"/coverage", {"required", "measured", "fail", "invalid", "not_run", "error", "not_applicable", "excluded"}},
      {"/environment",
       {"host", "kernel", "architecture", "cpu", "allowed_cpus", "governor", "turbo", "clock_source",
        "transparent_huge_pages", "memory_bytes", "available_bytes", "cgroup", "libraries", "variables"}},
      {"/environment/kernel", {"name", "release", "version"}},
      {"/environment/cpu", {"name", "facts", "labels"}},
      {"/environment/cgroup", {"memory_limit_bytes", "cpu_quota", "cpuset"}},
      {"/build", {"version", "commit", "compiler", "build_type", "architecture", "features"}},
      {"/quiet_machine", {"quiet", "foreign_load", "steal", "load_average", "governor", "reasons"}}};
  return fields;
}

// What parse_json() took is not nested deep enough to exhaust the stack.
Record record_from_json(const Json& json) { return RecordReader().read(line(json)); }

namespace {

// What its schema allows in each object of run.json whose fields are fixed; a unit test holds the two together.
void check_fields(const Json& run) {
  for (const auto& [pointer, fields] : run_json_fields()) {
    const Json::json_pointer place(pointer);
    if (!run.contains(place)) continue;
    for (const auto& [key, value] : run.at(place).items())
      if (std::find(fields.begin(), fields.end(), key) == fields.end())
        throw Error(
            fmt::format("it has '{}/{}', which no run writes; remove it, the records are still there", pointer, key));
  }
}

// run.json is repeated only when it is what a run writes.
void check_run_json(const Json& run, const Plan& plan) {
  if (!run.is_object()) throw Error("it is no object, as a run writes it");
  if (const auto schema = run.at("schema").get<std::string>(); schema != run_schema)
    throw Error(fmt::format("its schema is '{}', this program reads '{}'", schema, run_schema));
  if (const auto id = run.at("run_id").get<std::string>(); id != plan.run_id)
    throw Error(fmt::format("it is of run {}, but plan.json is of run {}", id, plan.run_id));
  check_fields(run);
  run_word(run);
}

// The plan is what a run is judged by, so it must be the one that was written before anything was measured.
void check_plan_is_the_first(const fs::path& folder) {
  const std::string begun = begun_plan_xxh3(folder);
  if (!begun.empty() && begun != file_xxh3(folder / "plan.json"))
    throw Error(
        fmt::format("{}: its plan.json was changed after the run began, so its records prove nothing; only a "
                    "new run can replace it",
                    folder.string()));
  std::error_code unreadable;
  const bool just_begun =
      !fs::exists(folder / "run.json", unreadable) &&
      (!fs::exists(folder / "records.jsonl", unreadable) || fs::is_empty(folder / "records.jsonl", unreadable));
  if (begun.empty() && !just_begun)
    throw Error(
        fmt::format("{}: the first line of its events.jsonl is missing or damaged, so nothing shows that "
                    "plan.json is the plan that the run began with",
                    folder.string()));
}

}  // namespace

namespace {

// Says what is there instead of the folder of a run.
void check_is_a_run(const fs::path& folder) {
  std::error_code problem;
  const fs::file_status found = fs::status(folder, problem);
  const std::string name = plain(folder.string());
  if (found.type() == fs::file_type::not_found)
    throw Error(fmt::format("{} is not there; name the folder that `assay run` wrote", name));
  if (found.type() == fs::file_type::none) throw Error(fmt::format("cannot look at {}: {}", name, problem.message()));
  if (fs::is_regular_file(found))
    throw Error(
        fmt::format("{} is a file, not the folder of a run; `assay import {} --out FOLDER` makes one of what "
                    "another tool measured",
                    name, name));
  if (!fs::is_directory(found))
    throw Error(fmt::format("{} is a FIFO, a device or a socket, not the folder of a run", name));
  const fs::file_status plan = fs::status(folder / "plan.json", problem);
  if (plan.type() == fs::file_type::not_found)
    throw Error(fmt::format("{} has no plan.json, so it is not the folder of a run", name));
  if (plan.type() == fs::file_type::none) throw Error(fmt::format("cannot look into {}: {}", name, problem.message()));
}

}  // namespace

RunData read_run(const fs::path& folder) {
  std::error_code unreadable;
  check_is_a_run(folder);
  RunData data{folder, read_plan(folder / "plan.json"), nullptr, nullptr};
  check_plan_is_the_first(folder);
  data.ended = ended_coverage(folder);
  if (data.plan.against) read_looks(folder, data.plan);
  const fs::path run_json = folder / "run.json";
  if (!fs::exists(run_json, unreadable)) return data;
  const std::string text = read_file(run_json);
  try {
    data.run = parse_json(text);
    check_run_json(data.run, data.plan);
  } catch (const Json::exception& problem) {
    throw Error(fmt::format("{} is damaged: {}; remove it, the records are still there", run_json.string(),
                            reason_of(problem)));
  } catch (const Error& problem) {
    throw Error(fmt::format("{}: {}", run_json.string(), problem.what()));
  }
  return data;
}

}  // namespace assay
