// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Manifests, options and devices become a plan: a pure function, nothing is started. In this order each case is asked:
// is it hidden, is it filtered out, has the device a row for it, are its needs met, did the profile choose it, does it
// fit into the budget. The first "no" is its reason: who filters reads only of what they asked for.
#include "harness/parent/plan.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <tuple>

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/test_knobs.h"
#include "harness/base/text.h"
#include "harness/build_info.h"
#include "harness/parent/devices.h"
#include "harness/parent/profile.h"
#include "harness/parent/worker_choice.h"
#include "harness/parent/workers.h"

namespace assay {
namespace {

constexpr double process_start_s = 0.3;  // of a worker, shared out over the cases of its session

// A case on its way into the plan, with what only planning needs.
struct Candidate {
  PlannedCase planned;
  const CaseInfo* info = nullptr;
  bool hidden = false;
};

class Patterns {
 public:
  Patterns(const std::vector<std::string>& texts, const std::string& where) : texts_(texts) {
    RE2::Options quiet;
    quiet.set_log_errors(false);
    for (const std::string& text : texts) {
      patterns_.push_back(std::make_unique<RE2>(text, quiet));
      if (!patterns_.back()->ok())
        throw UsageError(
            fmt::format("{} '{}' is no regular expression (RE2): {}", where, text, patterns_.back()->error()));
    }
  }
  bool empty() const { return patterns_.empty(); }
  bool matches(const std::string& name) const {
    return std::any_of(patterns_.begin(), patterns_.end(),
                       [&](const auto& pattern) { return RE2::PartialMatch(name, *pattern); });
  }
  // The texts that match none of `names`.
  std::vector<std::string> idle(const std::set<std::string>& names) const {
    std::vector<std::string> result;
    for (std::size_t i = 0; i < patterns_.size(); ++i)
      if (std::none_of(names.begin(), names.end(),
                       [&](const std::string& n) { return RE2::PartialMatch(n, *patterns_[i]); }))
        result.push_back(texts_[i]);
    return result;
  }

 private:
  std::vector<std::string> texts_;
  std::vector<std::unique_ptr<RE2>> patterns_;
};

bool contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

void exclude(PlannedCase& c, const std::string& reason, const std::string& text) {
  c.coverage = Coverage::excluded;
  c.reason = reason;
  c.text = text;
  c.fact.clear();  // the device isn't asked for what is left out
}

// One session: the longest time a case may take, and what it is expected to take.
double longest_s(const CaseInfo& c, const Policy& p) {
  return c.setup_s + c.share * (p.warmup_max_s + p.measure_max_s);
}
double expected_s(const CaseInfo& c, const Policy& p) {
  const double warmup = std::clamp(5 * p.block_s, p.warmup_min_s, std::max(p.warmup_min_s, p.warmup_max_s));
  return c.setup_s + c.share * (warmup + (p.measure_min_s + p.measure_max_s) / 2);
}

// All cases of `worker` on `device`; a case that an earlier (preferred) worker already covers there is left to that
// one.
void collect(const WorkerFile& worker, const FoundDevice& found, const Profile& profile,
             std::vector<Candidate>& candidates) {
  const DeviceInfo& device = found.info;
  std::set<std::string> covered;
  for (const Candidate& c : candidates)
    if (c.planned.device_set.front() == device.id) covered.insert(c.planned.name);
  const double scale = patience_scale();
  for (const BenchmarkInfo& benchmark : rows_of(worker, found).benchmarks)
    for (const CaseInfo& info : benchmark.cases) {
      if (covered.count(info.name) > 0) continue;
      Candidate candidate;
      candidate.info = &info;
      candidate.hidden = benchmark.hidden;
      PlannedCase& c = candidate.planned;
      c.name = info.name;
      c.benchmark = benchmark.name;
      c.worker = worker.manifest.worker;
      c.device_set = {device.id};
      c.estimate_s = expected_s(info, profile.policy);
      c.deadline_s = scale * (profile.deadline_factor * longest_s(info, profile.policy) + profile.deadline_extra_s);
      judge_row(c, benchmark, info, device);
      candidates.push_back(std::move(candidate));
    }
}

// Those who can run first, then by name, the last first: cuda13 before cuda12.
std::vector<const WorkerFile*> preferred(const std::vector<WorkerFile>& workers, const std::string& only) {
  std::vector<const WorkerFile*> order;
  std::vector<std::string> names;
  for (const WorkerFile& worker : workers) {
    names.push_back(worker.manifest.worker);
    if (only.empty() || worker.manifest.worker == only) order.push_back(&worker);
  }
  if (!only.empty() && order.empty())
    throw UsageError(fmt::format("there is no worker '{}'{}", only, suggestion(only, names)));
  std::stable_sort(order.begin(), order.end(), [](const WorkerFile* a, const WorkerFile* b) {
    return std::tuple(!a->problem.empty(), b->manifest.worker) < std::tuple(!b->problem.empty(), a->manifest.worker);
  });
  return order;
}

// What a person may have meant: heads of case names as long as `wanted` ("memory/stream"), parts ("op:triad"), whole
// names.
std::vector<std::string> like(const std::string& wanted, const std::set<std::string>& names) {
  const auto slashes = static_cast<std::size_t>(std::count(wanted.begin(), wanted.end(), '/'));
  std::vector<std::string> words;
  const auto add = [&](const std::string& word) {
    if (!contains(words, word)) words.push_back(word);
  };
  for (const std::string& name : names) {
    std::vector<std::string> parts = split(name, '/');
    for (const std::string& part : parts) add(part);
    parts.resize(std::min(parts.size(), slashes + 1));
    add(join(parts, "/"));
  }
  for (const std::string& name : names) add(name);
  return words;
}

void check_filters(const Patterns& filters, const std::vector<Candidate>& candidates, bool hidden, const char* flag) {
  std::set<std::string> names, unseen;
  for (const Candidate& c : candidates) (hidden || !c.hidden ? names : unseen).insert(c.planned.name);
  for (const std::string& text : filters.idle(names)) {
    if (!contains(filters.idle(unseen), text))
      throw UsageError(fmt::format("{} '{}' matches no case but hidden ones; --hidden brings them in", flag, text));
    const std::string near = suggestion(text, like(text, names));
    throw UsageError(
        fmt::format("{} '{}' matches no case{}", flag, text,
                    near.find("did you mean") != std::string::npos ? near : "; `assay list` shows them all"));
  }
}

// Keeps the cases that tell most within `budget_s`; the others are excluded for `reason`. A case is kept on all devices
// or on none, for half a node can't be judged; every device keeps one.
void fit_budget(std::vector<Candidate>& candidates, double budget_s, int sessions, bool concurrent,
                const std::string& reason, const std::string& text) {
  struct Group {
    int rank = 0;
    double cost_s = 0;  // of a session
    std::vector<Candidate*> members;
  };
  std::vector<Group> groups;
  std::map<std::string, std::size_t> group_of;  // by case
  std::set<std::string> devices;
  for (Candidate& c : candidates) {
    if (c.planned.coverage != Coverage::required) continue;
    devices.insert(c.planned.device_set.front());
    const auto [at, is_new] = group_of.emplace(c.planned.name, groups.size());
    if (is_new) groups.push_back({c.info->rank, 0, {}});
    Group& group = groups[at->second];
    group.rank = std::min(group.rank, c.info->rank);
    group.cost_s = concurrent ? std::max(group.cost_s, c.planned.estimate_s) : group.cost_s + c.planned.estimate_s;
    group.members.push_back(&c);
  }
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.rank < b.rank; });
  const std::size_t one_by_one = concurrent ? 1 : devices.size();
  double sum = process_start_s * sessions * static_cast<double>(one_by_one);
  for (const Group& group : groups) {
    const double with = sum + group.cost_s * sessions;
    const bool first_of_a_device = std::any_of(group.members.begin(), group.members.end(), [&](const Candidate* c) {
      return devices.count(c->planned.device_set.front()) != 0;
    });
    if (with > budget_s && !first_of_a_device) {
      for (Candidate* c : group.members) exclude(c->planned, reason, text);
      continue;
    }
    sum = with;
    for (const Candidate* c : group.members) devices.erase(c->planned.device_set.front());
  }
}

void select(std::vector<Candidate>& candidates, const PlanOptions& options, const Profile& profile, int sessions) {
  const Patterns filters(options.filters, "--filter"), excludes(options.excludes, "--exclude");
  const Patterns chosen(profile.filters, "profile " + profile.name),
      left_out(profile.excludes, "profile " + profile.name);
  check_filters(filters, candidates, options.hidden, "--filter");
  check_filters(excludes, candidates, options.hidden, "--exclude");
  const bool own_choice = filters.empty();
  const std::string by_profile = fmt::format("not among the cases of profile {}", profile.name);
  for (Candidate& candidate : candidates) {
    PlannedCase& c = candidate.planned;
    if (candidate.hidden && !options.hidden)
      exclude(c, "hidden", "for tests of Assay itself; --hidden brings it in");
    else if (!filters.empty() && !filters.matches(c.name))
      exclude(c, "filter", "no --filter matches");
    else if (excludes.matches(c.name))
      exclude(c, "filter", "an --exclude matches");
    else if (c.coverage == Coverage::required && own_choice &&
             ((!chosen.empty() && !chosen.matches(c.name)) || left_out.matches(c.name)))
      exclude(c, "profile", by_profile);
  }
  if (own_choice && profile.budget_s && !options.budget_s) {
    std::set<std::string> devices;
    for (const Candidate& c : candidates) devices.insert(c.planned.device_set.front());
    const double times =
        static_cast<double>(sessions) / profile.sessions * static_cast<double>(options.concurrent ? 1 : devices.size());
    fit_budget(
        candidates, times * *profile.budget_s, sessions, options.concurrent, "profile",
        fmt::format("profile {} keeps the cases that tell most within {:.0f} s a device{}", profile.name,
                    *profile.budget_s, profile.sessions == 1 ? "" : fmt::format(" and {} sessions", profile.sessions)));
  }
  if (options.budget_s)
    fit_budget(candidates, *options.budget_s, sessions, options.concurrent, "budget",
               fmt::format("other cases tell more within the budget of {:.6g} s", *options.budget_s));
}

// Running order: device by device, worker by worker, so that one process serves a session; under a budget by rank.
void order(std::vector<Candidate>& candidates, const std::vector<FoundDevice>& devices, bool by_rank) {
  const auto place = [&](const Candidate& c) {
    std::size_t i = 0;
    while (i < devices.size() && devices[i].info.id != c.planned.device_set.front()) ++i;
    return i;
  };
  std::stable_sort(candidates.begin(), candidates.end(), [&](const Candidate& a, const Candidate& b) {
    return std::tuple(place(a), a.planned.worker, by_rank ? a.info->rank : 0) <
           std::tuple(place(b), b.planned.worker, by_rank ? b.info->rank : 0);
  });
}

// What the device says of a fact, NaN when it doesn't. A CPU lists only the flags that it has, and no device has a
// build's facts: there absence is an answer, 0.
double told(const DeviceInfo& device, const std::string& fact) {
  if (const auto found = device.facts.find(fact); found != device.facts.end()) return found->second;
  const auto any_flag = device.facts.lower_bound("cpu.");
  const bool flags_listed = any_flag != device.facts.end() && starts_with(any_flag->first, "cpu.");
  if (starts_with(fact, "build.") || (starts_with(fact, "cpu.") && flags_listed)) return 0;
  return std::numeric_limits<double>::quiet_NaN();
}

// A test that wants a wrong result must get one: a name that nothing planned has would flip no bit.
void check_corrupt(const std::string& wanted, const std::vector<Candidate>& candidates) {
  if (wanted.empty()) return;
  std::vector<std::string> names;
  for (const Candidate& c : candidates) {
    if (c.planned.coverage != Coverage::required) continue;
    if (c.planned.name == wanted || c.planned.benchmark == wanted) return;
    for (const std::string& name : {c.planned.benchmark, c.planned.name})
      if (!contains(names, name)) names.push_back(name);
  }
  throw UsageError(fmt::format("ASSAY_TEST_CORRUPT names '{}', and no such benchmark or case is planned{}", wanted,
                               suggestion(wanted, names)));
}

}  // namespace

void judge_row(PlannedCase& c, const BenchmarkInfo& benchmark, const CaseInfo& info, const DeviceInfo& device) {
  if (!contains(benchmark.devices, device.kind)) {
    c.coverage = Coverage::not_applicable;
    c.reason = "no_row";
    c.text = fmt::format("{} has no row for {} devices", benchmark.name, device.kind);
    return;
  }
  for (const Need& need : info.needs) {
    const double value = told(device, need.fact);
    if (value >= need.at_least) continue;
    if (std::isnan(value)) {
      c.reason = "unknown_fact";
      c.fact = need.fact;
      c.fact_value = value;
      c.fact_needed = need.at_least;
      c.text = fmt::format("the device does not tell {}; {:.6g} needed: {}", need.fact, need.at_least, need.why);
      continue;  // another need may be unmet for certain
    }
    c.coverage = Coverage::not_applicable;
    c.reason = "missing_fact";
    c.fact = need.fact;
    c.fact_value = value;
    c.fact_needed = need.at_least;
    c.text = fmt::format("{} is {:.6g}, {:.6g} needed: {}", need.fact, value, need.at_least, need.why);
    return;
  }
}

std::map<std::string, std::string> params_of(const std::string& case_name, const std::string& benchmark) {
  std::map<std::string, std::string> params;
  if (case_name.size() <= benchmark.size()) return params;
  for (const std::string& part : split(case_name.substr(benchmark.size() + 1), '/'))
    if (const std::size_t colon = part.find(':'); colon != std::string::npos && colon > 0)
      params[part.substr(0, colon)] = part.substr(colon + 1);
  return params;
}

std::map<std::string, std::string> params_of(const PlannedCase& planned) {
  return params_of(planned.name, planned.benchmark);
}

Origin origin() {
  static const std::string binary_xxh3 = file_xxh3("/proc/self/exe");
  utsname system{};
  uname(&system);
  return {build_info().version,
          build_info().commit,
          binary_xxh3,
          system.nodename,
          fmt::format("{} {} {}", system.sysname, system.release, system.version),
          system.machine};
}

std::map<std::string, std::string> test_knobs() { return test_variables(); }

std::string new_run_id() {
  std::uint32_t random = 0;  // not std::random_device, for which libstdc++ needs a newer glibc (scripts/package)
  if (getrandom(&random, sizeof random, 0) != sizeof random) random = static_cast<std::uint32_t>(monotonic_ns());
  return fmt::format("{}-{}-{:08x}", utc_compact(), getpid(), random);
}

Plan make_plan(const PlanOptions& options, const Profile& profile, const std::vector<WorkerFile>& workers,
               const std::vector<FoundDevice>& devices) {
  Plan plan;
  plan.run_id = new_run_id();
  plan.created_at = utc_now();
  plan.origin = origin();
  plan.profile = profile.name;
  plan.policy = profile.policy;
  plan.sessions = options.sessions.value_or(profile.sessions);
  plan.seed = options.seed.value_or(1);
  plan.budget_s = options.budget_s;
  plan.max_memory_bytes = options.max_memory_bytes;
  plan.policy.seed = plan.seed;
  plan.policy.max_memory_bytes = plan.max_memory_bytes;
  plan.filters = options.filters;
  plan.excludes = options.excludes;
  plan.concurrent = options.concurrent;
  const double scale = patience_scale();
  plan.patience = {scale * profile.patience.heartbeat_s, scale * profile.patience.start_s, profile.patience.grace_s};
  const TestKnobs knobs = read_test_knobs();
  plan.test_knobs = test_knobs();
  for (const FoundDevice& device : devices) plan.devices.push_back(device.info);

  std::vector<Candidate> candidates;
  const std::vector<const WorkerFile*> usable = preferred(workers, options.worker);
  for (const FoundDevice& device : devices) {
    const std::size_t before = candidates.size();
    for (const WorkerFile* worker : usable)
      if (may_serve(*worker, device)) collect(*worker, device, profile, candidates);
    if (candidates.size() == before)
      throw Error(
          fmt::format("no worker serves {} ({} devices) in {}; build it, or name its folder with ASSAY_WORKER_DIR",
                      device.info.id, device.info.kind, worker_folder().string()));
  }
  select(candidates, options, profile, plan.sessions);
  order(candidates, devices, options.budget_s.has_value());
  check_corrupt(knobs.corrupt, candidates);

  std::set<std::string> used;
  for (Candidate& c : candidates) {
    if (c.planned.coverage == Coverage::required) used.insert(c.planned.worker);
    plan.cases.push_back(std::move(c.planned));
  }
  if (used.empty())
    throw Error("nothing is left to measure: every case is excluded or not applicable here; --dry-run shows why");
  for (const WorkerFile& worker : workers)
    if (used.count(worker.manifest.worker) > 0)
      plan.workers.push_back({worker.manifest.worker, std::filesystem::absolute(worker.path), worker.manifest.version,
                              worker.manifest.commit, file_xxh3(worker.path), file_xxh3(manifest_of(worker.path)),
                              worker.problem});
  return plan;
}

}  // namespace assay
