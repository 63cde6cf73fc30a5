// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See scenario.h. Reading goes top down: device, benchmarks, overrides; then everything that names something else is
// checked against it (a pattern that matches no case, a metric that no benchmark has), since a typo there would turn a
// fault test into one that tests nothing.
#include "harness/device/scenario.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <set>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/parse.h"
#include "harness/base/text.h"
#include "harness/base/toml_table.h"
#include "harness/build_info.h"
#include "harness/device/default_scenario.h"

namespace assay {
namespace {

struct SignalName {
  const char* name;
  int number;
};
constexpr std::array<SignalName, 6> signals{
    {{"SIGSEGV", 11}, {"SIGABRT", 6}, {"SIGKILL", 9}, {"SIGBUS", 7}, {"SIGILL", 4}, {"SIGTERM", 15}}};

// FNV-1a, 64 bits (Fowler, Noll, Vo): enough to tell two texts apart, and in no other part of the program.
std::uint64_t digest_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

void read_model(TomlTable& table, FakeModel& model) {
  for (const FakeModelKey& key : fake_model_keys())
    if (const auto value = table.number(key.name, key.least, key.most)) model.*key.member = *value;
}

std::vector<DeviceInfo> read_devices(TomlTable& top, Scenario& scenario) {
  DeviceInfo device;
  device.kind = "fake";
  device.simulated = true;
  const auto count = static_cast<int>(top.integer("count", 1, 1024).value_or(1));
  std::string device_class = "fake", driver = "1.0", pci = "0000:f0:00.0", uuid = "FAKE-00000000";
  device.name = "Fake device";
  if (std::optional<TomlTable> table = top.table("device")) {
    device.name = table->text("name").value_or(device.name);
    device_class = table->text("class").value_or(device_class);
    driver = table->text("driver").value_or(driver);
    pci = table->text("pci_address").value_or(pci);
    uuid = table->text("uuid").value_or(uuid);
    scenario.clock_hz = table->number("clock_hz", 1e3, 1e12).value_or(scenario.clock_hz);
    device.facts = table->numbers("facts");
    device.labels = table->words_by_name("labels");
    table->finish();
  }
  device.facts.emplace("clock_hz", scenario.clock_hz);
  device.facts.emplace("memory_bytes", 16e9);
  device.labels["class"] = device_class;
  device.labels["driver"] = driver;
  device.labels["scenario"] = fmt::format("{} {:016x}", scenario.name, scenario.digest);
  std::vector<DeviceInfo> devices;
  for (int i = 0; i < count; ++i) {
    device.id = "fake:" + scenario.file + (count == 1 ? "" : fmt::format("#{}", i));
    device.pci_address = count == 1 ? pci : fmt::format("{}:{:02x}:00.0", pci.substr(0, pci.find(':')), i + 1);
    device.uuid = count == 1 ? uuid : fmt::format("{}-{}", uuid, i);
    devices.push_back(device);
  }
  return devices;
}

Better better_of(TomlTable& table, const std::string& unit) {
  const std::string fallback = unit == "s" ? "lower" : "higher";
  return table.word("better", {"higher", "lower"}).value_or(fallback) == "lower" ? Better::lower : Better::higher;
}

FakeMetric read_metric(TomlTable& table) {
  FakeMetric metric;
  metric.metric.name = table.required_text("name");
  metric.metric.unit = table.required_text("unit");
  metric.metric.better = better_of(table, metric.metric.unit);
  metric.metric.summary = table.text("summary").value_or("");
  metric.median = table.required_number("median", 1e-15, 1e24);
  metric.limit = table.number("limit", 1e-15, 1e24);
  metric.limit_source = table.text("limit_source").value_or(metric.limit ? "the scenario" : "the scenario names none");
  table.finish();
  return metric;
}

// "op:triad/type:f64" -> {op: triad, type: f64}
std::map<std::string, std::string> params_of(const TomlTable& table, const std::string& text) {
  std::map<std::string, std::string> params;
  for (const std::string& part : split(text, '/')) {
    const std::size_t colon = part.find(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == part.size())
      table.fail("cases", fmt::format("'{}' is not made of NAME:VALUE parts separated by /", text));
    if (!params.emplace(part.substr(0, colon), part.substr(colon + 1)).second)
      table.fail("cases", fmt::format("'{}' has the same name twice", text));
  }
  return params;
}

void read_cases(TomlTable& table, const FakeModel& model, BenchmarkInfo& info) {
  CaseInfo common;
  common.rank = static_cast<int>(table.integer("rank", 0, 1000).value_or(common.rank));
  common.share = table.number("share", 1e-6, 1e6).value_or(common.share);
  common.setup_s = model.setup_s + model.verify_s;
  for (TomlTable& need : table.tables("needs")) {
    const std::string fact = need.required_text("fact");
    const double at_least = need.number("at_least", -1e300, 1e300).value_or(1);
    common.needs.push_back({fact, at_least, need.required_text("why")});
    need.finish();
  }
  std::set<std::string> seen;
  for (const std::string& text : table.texts("cases").value_or(std::vector<std::string>{""})) {
    CaseInfo one = common;
    one.name = text.empty() ? info.name : info.name + "/" + text;
    if (!text.empty()) one.params = params_of(table, text);
    if (!seen.insert(one.name).second) table.fail("cases", fmt::format("'{}' stands there twice", text));
    info.cases.push_back(one);
  }
  if (info.cases.empty()) table.fail("cases", "the list is empty; leave the key out for one case without parameters");
}

FakeBenchmark read_benchmark(TomlTable& table, const FakeModel& model) {
  FakeBenchmark benchmark;
  benchmark.model = model;
  read_model(table, benchmark.model);
  BenchmarkInfo& info = benchmark.info;
  info.name = table.required_text("name");
  info.summary = table.text("summary").value_or("scripted");
  info.hidden = table.boolean("hidden").value_or(false);
  info.devices = {"fake"};
  for (TomlTable& metric : table.tables("metric")) {
    benchmark.metrics.push_back(read_metric(metric));
    for (const Metric& earlier : info.metrics)
      if (earlier.name == benchmark.metrics.back().metric.name)
        table.fail("metric", fmt::format("'{}' stands there twice", earlier.name));
    info.metrics.push_back(benchmark.metrics.back().metric);
  }
  if (info.metrics.empty()) table.fail("metric", "is missing; a benchmark needs at least one [[benchmark.metric]]");
  read_cases(table, benchmark.model, info);
  table.finish();
  return benchmark;
}

// The keys of a fault are refused where there is none to read them.
std::optional<FakeFault> read_fault(TomlTable& table) {
  const std::optional<std::string> word = table.word("fault", fake_fault_names());
  FakeFault fault;
  std::vector<std::string> names;
  for (const SignalName& s : signals) names.emplace_back(s.name);
  const auto signal = table.word("signal", names);
  for (const SignalName& s : signals)
    if (signal && *signal == s.name) fault.signal = s.number;
  fault.phase = table.word("phase", {"setup", "warmup", "measure", "verify"}).value_or(fault.phase);
  fault.exit_code = static_cast<int>(table.integer("exit_code", 0, 255).value_or(fault.exit_code));
  fault.text = table.text("text").value_or("");
  fault.error_output = table.text("error_output").value_or("");
  fault.metric = table.text("metric").value_or("");
  fault.delay_s = table.number("delay_s", 0, 3600).value_or(fault.delay_s);
  fault.mismatches = static_cast<std::uint64_t>(table.integer("mismatches", 1, 1'000'000'000).value_or(1));
  if (!word) {
    for (const char* key : {"signal", "phase", "exit_code", "text", "error_output", "metric", "delay_s", "mismatches"})
      if (table.has(key)) table.fail(key, "has no meaning without the key fault");
    return std::nullopt;
  }
  const auto& words = fake_fault_names();
  fault.kind = static_cast<FakeFaultKind>(std::find(words.begin(), words.end(), *word) - words.begin());
  return fault;
}

FakeOverride read_override(TomlTable& table, const Scenario& scenario) {
  FakeOverride change;
  change.cases = table.text("cases").value_or("*");
  if (const auto device = table.integer("device", 0, static_cast<std::int64_t>(scenario.devices.size()) - 1))
    change.device = static_cast<int>(*device);
  if (const auto session = table.integer("session", 1, 1'000'000)) change.session = static_cast<int>(*session);
  for (const FakeModelKey& key : fake_model_keys())
    if (const auto value = table.number(key.name, key.least, key.most)) change.values.emplace_back(&key, *value);
  change.fault = read_fault(table);
  change.facts = table.words_by_name("facts");
  table.finish();
  if (change.values.empty() && !change.fault && change.facts.empty())
    table.fail("cases", "this [[override]] changes nothing");
  bool matches = false, has_metric = !change.fault || change.fault->kind != FakeFaultKind::missing_metric;
  for (const FakeBenchmark& b : scenario.benchmarks)
    for (const CaseInfo& c : b.info.cases)
      if (fnmatch(change.cases.c_str(), c.name.c_str(), 0) == 0) {
        matches = true;
        for (const FakeMetric& m : b.metrics) has_metric = has_metric || m.metric.name == change.fault->metric;
      }
  if (!matches) table.fail("cases", fmt::format("'{}' matches no case of this scenario", change.cases));
  if (!has_metric) table.fail("metric", fmt::format("no case has the metric '{}'", change.fault->metric));
  return change;
}

}  // namespace

const std::vector<FakeModelKey>& fake_model_keys() {
  using M = FakeModel;
  constexpr double ever = 1e9, bytes = 1e18;
  static const std::vector<FakeModelKey> keys{
      {"speed", &M::speed, 1e-6, 1e6},
      {"iteration_s", &M::iteration_s, 1e-9, 1e3},
      {"session_sd", &M::session_sd, 0, 2},
      {"noise_sd", &M::noise_sd, 0, 2},
      {"rho", &M::rho, -0.999, 0.999},
      {"epoch_sd", &M::epoch_sd, 0, 2},
      {"device_sd", &M::device_sd, 0, 2},
      {"tail_degrees", &M::tail_degrees, 0, 100},
      {"outlier_probability", &M::outlier_probability, 0, 1},
      {"outlier_mean", &M::outlier_mean, 0, 10},
      {"sample_mode_probability", &M::sample_mode_probability, 0, 1},
      {"sample_mode_shift", &M::sample_mode_shift, -5, 5},
      {"session_mode_probability", &M::session_mode_probability, 0, 1},
      {"session_mode_shift", &M::session_mode_shift, -5, 5},
      {"tick", &M::tick, 0, 1},
      {"warmup_shift", &M::warmup_shift, -5, 5},
      {"warmup_tau_s", &M::warmup_tau_s, 1e-6, ever},
      {"step", &M::step, -5, 5},
      {"step_from_s", &M::step_from_s, 0, ever},
      {"step_until_s", &M::step_until_s, 0, ever},
      {"decay", &M::decay, -5, 5},
      {"decay_from_s", &M::decay_from_s, 0, ever},
      {"decay_until_s", &M::decay_until_s, 0, ever},
      {"clock_measured", &M::clock_measured, 0, 1},
      {"clock_sd", &M::clock_sd, 0, 2},
      {"clock_factor", &M::clock_factor, 1e-3, 1e3},
      {"clock_from_s", &M::clock_from_s, 0, ever},
      {"clock_until_s", &M::clock_until_s, 0, ever},
      {"clock_elasticity", &M::clock_elasticity, -1, 2},
      {"throttled", &M::throttled, 0, 1},
      {"issue_ratio", &M::issue_ratio, 0, 2},
      {"disturbed_probability", &M::disturbed_probability, 0, 1},
      {"disturbed_shift", &M::disturbed_shift, -5, 5},
      {"setup_s", &M::setup_s, 0, ever},
      {"verify_s", &M::verify_s, 0, ever},
      {"host_bytes", &M::host_bytes, 0, bytes},
      {"requested_bytes", &M::requested_bytes, 0, bytes},
      {"device_bytes", &M::device_bytes, 0, bytes},
      {"leak_bytes", &M::leak_bytes, 0, bytes},
      {"elements", &M::elements, 0, bytes},
  };
  return keys;
}

const std::vector<std::string>& fake_fault_names() {
  static const std::vector<std::string> names{
      "none",         "crash",          "exit",           "hang",           "silent",     "exception",  "garbage",
      "wrong_result", "missing_record", "missing_metric", "foreign_record", "no_samples", "slow_start", "skip"};
  return names;
}

Scenario parse_scenario(const std::string& text, const std::string& file) {
  const toml::table document = parse_toml(text, file);
  TomlTable top(document, file);
  Scenario scenario;
  scenario.file = file;
  scenario.digest = digest_of(text);
  scenario.name = top.required_text("name");
  scenario.seed = static_cast<std::uint64_t>(top.integer("seed", 0, INT64_MAX).value_or(1));
  scenario.real_time_factor = top.number("real_time_factor", 0, 1000).value_or(0);
  scenario.devices = read_devices(top, scenario);
  FakeModel model;
  if (std::optional<TomlTable> table = top.table("model")) {
    read_model(*table, model);
    table->finish();
  }
  for (TomlTable& table : top.tables("benchmark")) {
    scenario.benchmarks.push_back(read_benchmark(table, model));
    for (std::size_t i = 0; i + 1 < scenario.benchmarks.size(); ++i)
      if (scenario.benchmarks[i].info.name == scenario.benchmarks.back().info.name)
        table.fail("name", fmt::format("'{}' stands there twice", scenario.benchmarks[i].info.name));
  }
  if (scenario.benchmarks.empty()) top.fail("benchmark", "is missing; a scenario needs at least one [[benchmark]]");
  std::sort(scenario.benchmarks.begin(), scenario.benchmarks.end(),
            [](const FakeBenchmark& a, const FakeBenchmark& b) { return a.info.name < b.info.name; });
  for (TomlTable& table : top.tables("override")) scenario.overrides.push_back(read_override(table, scenario));
  top.finish();
  return scenario;
}

namespace {

struct FakeId {
  std::string file, index;  // index: "" for all
};

FakeId split_id(const std::string& device_id) {
  std::string file = starts_with(device_id, "fake:") ? device_id.substr(5) : device_id;
  const std::size_t hash = file.rfind('#');
  if (hash == std::string::npos || hash + 1 == file.size() ||
      file.find_first_not_of("0123456789", hash + 1) != std::string::npos)
    return {file, ""};
  return {file.substr(0, hash), file.substr(hash + 1)};
}

}  // namespace

Scenario read_scenario(const std::string& device_id) {
  const FakeId id = split_id(device_id);
  if (id.file == "default") return parse_scenario(default_scenario, "default");
  std::error_code failed;
  if (!std::filesystem::is_regular_file(id.file, failed))
    throw Error(fmt::format("there is no device {}: no file {}; name a scenario (fake:FILE.toml), or fake:default",
                            device_id, id.file.empty() ? "was named" : id.file));
  return parse_scenario(read_file(id.file), id.file);
}

std::vector<DeviceInfo> fake_devices(const std::string& device_id) {
  const Scenario scenario = read_scenario(device_id);
  if (split_id(device_id).index.empty()) return scenario.devices;
  DeviceInfo device = scenario.devices[static_cast<std::size_t>(fake_device_index(scenario, device_id))];
  device.id = device_id;
  return {device};
}

int fake_device_index(const Scenario& scenario, const std::string& device_id) {
  const std::string index = split_id(device_id).index;
  const std::size_t count = scenario.devices.size();
  const std::optional<std::size_t> number = index.empty() ? 0 : only_number<std::size_t>(index);
  if (!number || *number >= count || (index.empty() && count != 1))
    throw Error(fmt::format("there is no device {}: {} has {} (#0 to #{})", device_id, scenario.file,
                            counted(count, "device"), count - 1));
  return static_cast<int>(*number);
}

Manifest fake_manifest(const Scenario& scenario) {
  Manifest manifest;
  manifest.worker = "fake";
  manifest.version = build_info().version;
  manifest.commit = build_info().commit;
  manifest.devices = {"fake"};
  for (const FakeBenchmark& b : scenario.benchmarks) manifest.benchmarks.push_back(b.info);
  return manifest;
}

FakeCase fake_case(const Scenario& scenario, const std::string& case_name, int device, int session) {
  FakeCase result;
  std::vector<std::string> names;
  for (const FakeBenchmark& b : scenario.benchmarks)
    for (const CaseInfo& c : b.info.cases) {
      names.push_back(c.name);
      if (c.name == case_name) {
        result.benchmark = &b;
        result.info = &c;
        result.model = b.model;
      }
    }
  if (result.info == nullptr)
    throw Error(fmt::format("{} has no case {}{}", scenario.file, case_name, suggestion(case_name, names)));
  for (const FakeOverride& change : scenario.overrides) {
    if (fnmatch(change.cases.c_str(), case_name.c_str(), 0) != 0) continue;
    if ((change.device && *change.device != device) || (change.session && *change.session != session)) continue;
    for (const auto& [key, value] : change.values) result.model.*key->member = value;
    if (change.fault) result.fault = *change.fault;
    for (const auto& [name, value] : change.facts) result.facts[name] = value;
  }
  return result;
}

}  // namespace assay
