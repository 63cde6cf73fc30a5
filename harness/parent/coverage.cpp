// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See coverage.h.
#include "harness/parent/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/parent/gates.h"

namespace assay {
namespace {

void set_key(std::string& key, const std::string& case_name, const std::vector<std::string>& device_set) {
  key = case_name;
  for (const std::string& device : device_set) (key += '\n') += device;
}

// What the run itself would have refused from its worker.
void check_is_planned(const Record& record, const PlannedCase& planned, const Plan& plan) {
  const auto same = [](const char* what, const std::string& is, const std::string& wanted) {
    if (is != wanted)
      throw Error(fmt::format("has the {} '{}', where the plan has '{}': it was changed", what, is, wanted));
  };
  same("worker", record.worker, planned.worker);
  same("benchmark", record.benchmark, planned.benchmark);
  for (const PlannedWorker& worker : plan.workers)
    if (worker.name == planned.worker) same("worker_version", record.worker_version, worker.version);
  if (record.outcome != Outcome::measured && record.outcome != Outcome::fail && record.outcome != Outcome::invalid)
    return;  // nothing was done with them
  same("seed", std::to_string(record.seed), std::to_string(plan.policy.seed));
  if (record.params != params_of(planned)) throw Error("has the parameters of another case: it was changed");
}

}  // namespace

Json to_json(const CoverageCounts& c) {
  return {{"required", c.required},
          {"measured", c.measured},
          {"fail", c.fail},
          {"invalid", c.invalid},
          {"not_run", c.not_run},
          {"error", c.error},
          {"not_applicable", c.not_applicable},
          {"excluded", c.excluded}};
}

CoverageCounts coverage_of(const Json& json) {
  const auto count = [&json](const char* key) { return json.at(key).get<std::uint64_t>(); };
  return {count("required"), count("measured"), count("fail"),           count("invalid"),
          count("not_run"),  count("error"),    count("not_applicable"), count("excluded")};
}

Outcome outcome_of(const CoverageCounts& c, bool interrupted) {
  if (c.fail > 0) return Outcome::fail;
  if (c.error > 0) return Outcome::error;
  return c.required > 0 && c.measured == c.required && !interrupted ? Outcome::measured : Outcome::incomplete;
}

std::string coverage_line(const Plan& plan, const CoverageCounts& c) {
  std::vector<std::string> parts;
  const auto part = [&](std::uint64_t count, const char* what) {
    if (count > 0) parts.push_back(fmt::format("{} {}", count, what));
  };
  parts.push_back(fmt::format("{} measured", c.measured));
  part(c.fail, "failed");
  part(c.invalid, "invalid");
  part(c.not_run, "not run");
  part(c.error, "with an error");
  std::string text = fmt::format("{} required = {}", c.required, join(parts, " + "));
  if (plan.sessions > 1)
    text += fmt::format(" ({} {} sessions)", plan.imported || plan.against ? "each case in up to" : "each case in",
                        plan.sessions);
  if (c.not_applicable > 0) text += fmt::format("; {} not applicable", c.not_applicable);
  if (c.excluded > 0) {
    std::map<std::string, std::uint64_t> by_reason;
    for (const PlannedCase& planned : plan.cases)
      if (planned.coverage == Coverage::excluded) ++by_reason[planned.reason];
    std::vector<std::string> reasons;
    for (const auto& [reason, count] : by_reason)
      reasons.push_back(reason == "hidden"    ? fmt::format("{} hidden", count)
                        : reason == "against" ? fmt::format("{} not measured before", count)
                                              : fmt::format("{} by {}", count, reason));
    text += fmt::format("; {} left out ({})", c.excluded, join(reasons, ", "));
  }
  return text;
}

bool RunWord::agrees(const CoverageCounts& counts) const {
  return outcome == outcome_of(counts, interrupted) && coverage == counts &&
         exit_code == (interrupted ? exit_code::interrupted : code(outcome));
}

RunWord run_word(const Json& run) {
  RunWord said;
  const Json& text = run.at("outcome");
  const std::optional<Outcome> outcome = text.is_string() ? outcome_of(text.get<std::string>()) : std::nullopt;
  if (!outcome || !is_run_outcome(*outcome))
    throw Error(
        fmt::format("its outcome {} is no outcome of a run; remove it, the records are still there", line(text)));
  said.outcome = *outcome;
  said.exit_code = run.at("exit_code").get<int>();
  said.interrupted = run.at("interrupted").get<bool>();
  said.coverage = coverage_of(run.at("coverage"));
  return said;
}

std::string unlike_its_end(const RunData& run, const CoverageCounts& counts) {
  if (run.ended.is_null()) return {};
  try {
    const CoverageCounts ended = coverage_of(run.ended);
    if (ended == counts) return {};
    return fmt::format(
        "events.jsonl says that the run ended with {} of {} measured ({} failed, {} with an error), but "
        "the records have {} of {} ({} and {})",
        ended.measured, ended.required, ended.fail, ended.error, counts.measured, counts.required, counts.fail,
        counts.error);
  } catch (const Json::exception&) {
    return "the end of the run in events.jsonl is damaged";
  }
}

std::string device_set_name(const std::vector<std::string>& device_set) { return join(device_set, "+"); }

CoverageTally::CoverageTally(const Plan& plan) : plan_(plan), endings_(plan.cases.size()) {
  for (std::size_t i = 0; i < plan.cases.size(); ++i) {
    set_key(key_, plan.cases[i].name, plan.cases[i].device_set);
    index_.emplace(key_, i);
    if (plan.cases[i].coverage == Coverage::required) endings_[i].resize(static_cast<std::size_t>(plan.sessions));
  }
}

std::int64_t CoverageTally::add(const Record& record) {
  if (record.sequence != size_ + 1)
    throw Error(fmt::format("is record {}, where record {} belongs: records were added, removed or moved",
                            record.sequence, size_ + 1));
  if (record.session < 1 || record.session > plan_.sessions)
    throw Error(fmt::format("is of session {}, but the plan has {}", record.session, plan_.sessions));
  if (record.imported.has_value() != plan_.imported.has_value())
    throw Error(record.imported ? "says that it was imported, but the plan is one to measure by"
                                : "doesn't say that it was imported, but the plan is of an import");
  set_key(key_, record.case_name, record.device_set);
  const auto found = index_.find(key_);
  if (found != index_.end() && plan_.cases[found->second].coverage == Coverage::required) {
    if (const int most = plan_.sessions_of(plan_.cases[found->second]); record.session > most)
      throw Error(
          fmt::format("is of session {} of {}, which was decided after {}", record.session, record.case_name, most));
    Ending& ending = endings_[found->second][static_cast<std::size_t>(record.session) - 1];
    if (ending.there)
      throw Error(fmt::format("is a second record of {} on {} in session {}, which ended as {} before",
                              record.case_name, device_set_name(record.device_set), record.session,
                              word(ending.outcome)));
    ending = {true, record.outcome};
  }
  ++size_;
  return found == index_.end() ? -1 : static_cast<std::int64_t>(found->second);
}

const Outcome* CoverageTally::find(std::size_t case_index, int session) const {
  const std::vector<Ending>& sessions = endings_.at(case_index);
  if (session < 1 || static_cast<std::size_t>(session) > sessions.size()) return nullptr;
  const Ending& ending = sessions[static_cast<std::size_t>(session) - 1];
  return ending.there ? &ending.outcome : nullptr;
}

RecordsEnd tally_records(const RunData& run, CoverageTally& tally,
                         const std::function<void(std::int64_t index, Record&&)>& visit) {
  return for_each_record(run.records_path(), run.plan.run_id, [&](Record&& record) {
    apply_gates(record);
    std::int64_t index = -1;
    try {
      index = tally.add(record);
      if (index >= 0) check_is_planned(record, run.plan.cases[static_cast<std::size_t>(index)], run.plan);
    } catch (const Error& problem) {  // one record a line, so far all of them in order
      throw Error(fmt::format("{} line {} {}", run.records_path().string(), tally.size() + (index < 0 ? 1 : 0),
                              problem.what()));
    }
    visit(index, std::move(record));
  });
}

CoverageCounts CoverageTally::counts() const {
  CoverageCounts counts;
  for (const PlannedCase& planned : plan_.cases) {
    if (planned.coverage == Coverage::not_applicable) ++counts.not_applicable;
    if (planned.coverage == Coverage::excluded) ++counts.excluded;
  }
  for (std::size_t i = 0; i < endings_.size(); ++i) {
    const int owed = std::min(static_cast<int>(endings_[i].size()), plan_.sessions_of(plan_.cases[i]));
    for (int session = 0; session < owed; ++session) {
      const Ending& ending = endings_[i][static_cast<std::size_t>(session)];
      if (plan_.imported && !ending.there) continue;  // nobody asked for more than the files have
      ++counts.required;
      switch (ending.there ? ending.outcome : Outcome::not_run) {
        case Outcome::measured:
          ++counts.measured;
          break;
        case Outcome::fail:
          ++counts.fail;
          break;
        case Outcome::invalid:
          ++counts.invalid;
          break;
        case Outcome::error:
          ++counts.error;
          break;
        default:
          ++counts.not_run;
      }
    }
  }
  return counts;
}

}  // namespace assay
