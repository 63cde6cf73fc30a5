// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See against.h. Trap: every look reads the records back from the folder, so that a verdict is on what is stored and
// `assay compare` finds the same.
#include "harness/commands/against.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/import/import.h"
#include "harness/parent/coverage.h"
#include "harness/parent/workers.h"

namespace assay {
namespace {

SequentialSettings settings_of(const Plan& plan) {
  SequentialSettings settings;
  for (const std::string& margin : plan.against->margins) add_margin(margin, settings.compare);
  settings.cap = static_cast<std::size_t>(plan.sessions);
  return settings;
}

std::string metric_text(const SideKey& key) {
  return fmt::format("{} of {}{}", key.metric, key.case_name, key.series.empty() ? "" : " " + key.series);
}

std::string records_xxh3(const RunData& run) { return file_xxh3(run.records_path()); }

// "latency of memory/latency/size:l1", and that there are more.
std::string some_of(const std::vector<SideKey>& keys) {
  return metric_text(keys.front()) + (keys.size() > 1 ? ", ..." : "");
}

std::size_t most_sessions_of(const Side& side) {
  std::size_t most = 0;
  for (const auto& [key, metric] : side.metrics) most = std::max(most, metric.seconds.size());
  return most;
}

}  // namespace

bool across_hosts(const std::vector<std::string>& changed) {
  return std::find(changed.begin(), changed.end(), "host") != changed.end();
}

BeforeRun read_before(const std::filesystem::path& folder, const std::vector<std::string>& changed) {
  const auto refuse = [&](const char* why) {
    throw Error(
        fmt::format("{} {}, so there is no plan to measure by: measure BEFORE with `assay run`, or measure AFTER with "
                    "that tool and use `assay compare`",
                    folder.string(), why));
  };
  if (is_importable(folder.string())) refuse("is a file of another tool");
  BeforeRun before{read_run(folder), {}, {}};
  if (before.run.plan.imported) refuse("was imported");
  before.side = read_side("BEFORE", {folder.string()}, across_hosts(changed));
  CoverageTally tally(before.run.plan);
  tally_records(before.run, tally, [](std::int64_t, const Record&) {});
  for (std::size_t i = 0; i < before.run.plan.cases.size(); ++i) {
    bool any = false;
    for (int session = 1; session <= before.run.plan.sessions; ++session) {
      const Outcome* outcome = tally.find(i, session);
      any = any || (outcome != nullptr && *outcome == Outcome::measured);
    }
    before.measured.push_back(any);
  }
  return before;
}

Against against_of(const BeforeRun& before, const std::vector<std::string>& margins,
                   const std::vector<std::string>& changed) {
  return {std::filesystem::absolute(before.run.folder), before.run.plan.run_id, records_xxh3(before.run), margins,
          changed};
}

namespace {

std::vector<EnvironmentChange> changes_of(const BeforeRun& before, const RunData& after) {
  const std::vector<std::string>& changed = after.plan.against->changed;
  return environment_changes(before.side.environment, environment_of(after, across_hosts(changed)), changed);
}

}  // namespace

BeforeRun read_before_again(const Against& against) {
  BeforeRun before = read_before(against.folder, against.changed);
  if (before.run.plan.run_id != against.run_id || records_xxh3(before.run) != against.records_xxh3)
    throw Error(fmt::format("{} is not what this run was begun against, so it can't go on; begin a new run",
                            against.folder.string()));
  return before;
}

std::optional<CompareResult> refused_before_measuring(const BeforeRun& before, const RunData& after) {
  check_margins(settings_of(after.plan).compare, before.side.side);
  CompareResult result;
  result.environment = changes_of(before, after);
  result.simulated = before.side.side.simulated;
  const bool simulated_now = std::any_of(after.plan.devices.begin(), after.plan.devices.end(),
                                         [](const DeviceInfo& device) { return device.simulated; });
  result.reason = refusal(result.environment);
  if (simulated_now != result.simulated) result.reason = "one side is simulated and the other is not";
  if (const std::size_t sessions = most_sessions_of(before.side.side); result.reason.empty() && sessions < first_look)
    result.reason =
        fmt::format("BEFORE has {}, and a verdict needs {} on each side: measure BEFORE again with --sessions 5",
                    counted(sessions, "session"), first_look);
  if (result.reason.empty()) return std::nullopt;
  result.reason += "; nothing was measured";
  return result;
}

RunLooks::RunLooks(const BeforeRun& before, const std::filesystem::path& folder, const Plan& plan)
    : before_(before),
      folder_(folder),
      across_hosts_(across_hosts(plan.against->changed)),
      settings_(settings_of(plan)),
      judge_(before.side.side, settings_) {}

std::vector<std::string> RunLooks::doubts() const {
  const Doubtful found = doubtful(before_.side.side, settings_);
  const std::string all = counted(before_.side.side.metrics.size(), "metric");
  std::vector<std::string> texts;
  if (!found.too_few.empty())
    texts.push_back(fmt::format("{} of {} can't be judged: fewer than {} sessions in BEFORE ({})", found.too_few.size(),
                                all, first_look, some_of(found.too_few)));
  if (!found.too_noisy.empty())
    texts.push_back(
        fmt::format("{} of {} may stay open even after {} sessions, for the scatter between those of BEFORE ({}): more "
                    "sessions in BEFORE, or a larger --margin, would help",
                    found.too_noisy.size(), all, settings_.cap, some_of(found.too_noisy)));
  return texts;
}

void RunLooks::look(Plan& plan, int session, Store& store, Progress& progress) {
  if (over_) return;
  after_ = side_through({folder_, plan, nullptr, nullptr}, session, across_hosts_);
  judge_.look(after_, static_cast<std::size_t>(session));
  const std::set<std::string> open = judge_.open_cases();
  over_ = open.empty();
  if (session <= plan.last_look) return;
  std::vector<std::string> decided;
  for (const PlannedCase& c : plan.cases)
    if (c.coverage == Coverage::required && open.count(c.name) == 0 && plan.decided.count(c.name) == 0 &&
        std::find(decided.begin(), decided.end(), c.name) == decided.end())
      decided.push_back(c.name);
  Event event;
  event.kind = "look";
  event.session = session;
  event.detail = line({{"decided", decided}});
  event.text = fmt::format("after session {} of at most {}: {} of {} open", session, plan.sessions, judge_.open(),
                           counted(before_.side.side.metrics.size(), "metric"));
  store.event(event);
  for (const std::string& name : decided) plan.decided.emplace(name, session);
  plan.last_look = session;
  progress.note(event.text);
}

CompareResult RunLooks::result(const RunData& after) const { return judge_.result(after_, changes_of(before_, after)); }

CompareResult look_again(const Side& before, const RunData& after, bool across_hosts,
                         const std::vector<EnvironmentChange>& changes, const CompareSettings& settings) {
  Sequential judge(before, {settings, static_cast<std::size_t>(after.plan.sessions)});
  int last = 0;
  for (const PlannedCase& c : after.plan.cases)
    if (c.coverage == Coverage::required) last = std::max(last, after.plan.sessions_of(c));
  Side side;
  for (int session = 1; session <= last; ++session) {
    side = side_through(after, session, across_hosts);
    judge.look(side, static_cast<std::size_t>(session));
  }
  return judge.result(side, changes);
}

}  // namespace assay
