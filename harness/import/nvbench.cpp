// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// assay import --from nvbench: what `--json FILE` of an nvbench program writes (file version 1). A file is one process,
// so one session; a state is a case, its summaries are means over many launches, so one value a metric. Traps: numbers
// are written as text; a benchmark without states has null; a state that was skipped says why in words, and one that
// threw is skipped too ("Unexpected error: ..."): the first is no case here, the second an ERROR; a result of a state
// that was not skipped is a number above 0, or the file can't be read. The file names devices by index and product,
// never by UUID: two alike are told apart by their index only.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/import/import.h"
#include "harness/parent/gates.h"

namespace assay {
namespace {

struct Summary {
  std::string tag, hint, text;
  double value = std::nan("");
  bool hidden = false;
};

// The entry of `data` that is named "value"; others (file names of bulk data) are no number.
Summary summary_of(const Json& json) {
  Summary summary;
  summary.tag = plain(json.at("tag").get<std::string>());
  if (json.contains("hint")) summary.hint = scalar_text(json["hint"]);
  summary.hidden = json.contains("hide");
  for (const Json& entry : json.at("data")) {
    if (entry.at("name") != "value") continue;
    summary.text = scalar_text(entry.at("value"));
    double value = 0;
    const char* const end = summary.text.data() + summary.text.size();
    const auto [stop, problem] = std::from_chars(summary.text.data(), end, value);
    if (problem == std::errc() && stop == end) summary.value = value;
  }
  return summary;
}

struct Meaning {
  const char* unit;
  Better better;
};
// What is a result: mean times and rates. Deviations, quantiles and the time of the measuring itself are facts.
const Meaning* meaning_of(const Summary& summary) {
  static const std::map<std::string, Meaning> hints{{"duration", {"s", Better::lower}},
                                                    {"byte_rate", {"B/s", Better::higher}},
                                                    {"item_rate", {"item/s", Better::higher}}};
  const auto found = hints.find(summary.hint);
  if (summary.hidden || found == hints.end()) return nullptr;
  const auto ends_with = [&](std::string_view end) {
    return summary.tag.size() >= end.size() &&
           summary.tag.compare(summary.tag.size() - end.size(), end.size(), end) == 0;
  };
  for (const char* end : {"/min", "/max", "/q1", "/q3", "/walltime", "/absolute", "/relative"})
    if (ends_with(end)) return nullptr;
  return &found->second;
}

class OneFile : ImportProcess {
 public:
  using ImportProcess::ImportProcess;

  void read() {
    const Json root = parse_import_json(file_);
    if (!root.is_object() || !root.contains("meta") || !root.contains("devices") || !root.contains("benchmarks"))
      throw Error(
          fmt::format("{} line 1, column 1: 'meta', 'devices' or 'benchmarks' is missing, so this is no JSON of "
                      "nvbench",
                      file_.name));
    read_meta(root["meta"]);
    read_devices(root["devices"]);
    std::vector<std::string> empty;
    for (const Json& benchmark : root["benchmarks"]) {
      const auto name = benchmark.at("name").get<std::string>();
      check_import_name(file_, name);
      read_asked(benchmark);
      if (benchmark.at("states").is_null() || benchmark["states"].empty()) empty.push_back(name);
      for (const Json& state : benchmark["states"]) read_state(name, state);
    }
    if (!empty.empty())
      builder_.note(fmt::format("{}: without any state, so not here: {}", file_.name, join(empty, ", ")));
    if (bulk_)
      builder_.note(fmt::format(
          "{}: single times lie in binary files beside it, which aren't read; only their means are", file_.name));
  }

 private:
  void read_meta(const Json& meta) {
    ImportedFile& source = builder_.file(index_);
    const Json& version = meta.at("version");
    if (const std::string json = scalar_text(version.at("json").at("string")); !starts_with(json, "1."))
      throw Error(fmt::format("{}: version {} of nvbench's files is not known, only 1", file_.name, shown(json)));
    for (const auto& [key, value] : version.at("nvbench").items())
      if (const std::string text = scalar_text(value); !text.empty())
        source.environment["nvbench." + plain(key)] = plain(text);
    source.tool_version = plain(scalar_text(version["nvbench"].at("string")));
    if (meta.contains("argv") && meta["argv"].is_array()) source.environment["argv"] = plain(line(meta["argv"]));
  }

  void read_devices(const Json& devices) {
    std::map<std::string, int> alike;
    for (const Json& device : devices) {
      check_import_name(file_, device.at("name").get<std::string>());
      ++alike[device["name"].get<std::string>()];
    }
    for (const Json& device : devices) {
      const auto name = device.at("name").get<std::string>();
      const std::string number = scalar_text(device.at("id"));
      const std::string id = alike[name] == 1 ? name : fmt::format("{} {}", name, plain(number));
      devices_[number] = id;
      DeviceInfo& info = builder_.device(id);
      info.name = name;
      for (const auto& [key, value] : device.items()) {
        if (key == "id") continue;
        if (value.is_number()) info.facts[plain(key)] = value.get<double>();
        if (value.is_number() || value.is_boolean()) builder_.label(id, plain(key), scalar_text(value), session_);
      }
    }
  }

  // Whatever a benchmark was to run on owes its cases in this session.
  void read_asked(const Json& benchmark) {
    if (!benchmark.contains("devices") || !benchmark["devices"].is_array()) return;
    for (const Json& number : benchmark["devices"])
      if (const auto known = devices_.find(scalar_text(number)); known != devices_.end())
        builder_.owe(index_, known->second, session_);
  }

  void read_state(const std::string& benchmark, const Json& state) {
    const std::string number = scalar_text(state.at("device"));
    if (devices_.count(number) == 0)
      throw Error(fmt::format("{}: {} ran on device {}, which isn't among 'devices'", file_.name, benchmark, number));
    ImportPlace place{devices_[number], benchmark, benchmark};
    if (state.contains("axis_values") && !state["axis_values"].is_null())
      for (const Json& axis : state["axis_values"])
        place.case_name += "/" + scalar_text(axis.at("name")) + ":" + scalar_text(axis.at("value"));
    check_import_name(file_, place.case_name);
    if (builder_.has_record(place, session_))
      throw Error(fmt::format("{}: {} is there twice on {}", file_.name, place.case_name, place.device));
    const bool skipped = state.at("is_skipped").get<bool>();
    const std::string why = state.contains("skip_reason") ? scalar_text(state["skip_reason"]) : "no reason given";
    if (skipped && !starts_with(why, "Unexpected error")) return builder_.skip(index_, place, session_, why);
    Record& record = builder_.record(index_, place, session_);
    if (skipped) return fail_record(record, "nvbench says: " + why);
    std::vector<Summary> summaries;
    if (state.contains("summaries") && !state["summaries"].is_null())
      for (const Json& summary : state["summaries"]) summaries.push_back(summary_of(summary));
    read_summaries(record, summaries);
  }

  void read_summaries(Record& record, const std::vector<Summary>& summaries) {
    const auto clock = std::find_if(summaries.begin(), summaries.end(),
                                    [](const Summary& s) { return s.tag == "nv/cold/sm_clock_rate/mean"; });
    const std::string cold = "nv/cold/time/gpu";
    if (clock != summaries.end() && !possible_clock(clock->value)) fail(record, *clock, "no clock of anything");
    for (const Summary& summary : summaries) {
      bulk_ = bulk_ || starts_with(summary.tag, "nv/json/");
      const Meaning* meaning = meaning_of(summary);
      if (meaning == nullptr) {
        add_fact(record, summary.tag, summary.text);
      } else {
        if (!(std::isfinite(summary.value) && summary.value > 0)) fail(record, summary, "no number above 0");
        const bool has_clock = clock != summaries.end() && starts_with(summary.tag, cold);
        add_metric(record, summary.tag, meaning->unit, meaning->better, {summary.value},
                   has_clock ? std::vector{clock->value} : std::vector<double>{});
      }
    }
    if (record.metrics.empty()) fail_record(record, "the state was not skipped, but has no result");
  }

  [[noreturn]] void fail(const Record& record, const Summary& summary, const char* what) const {
    throw Error(fmt::format("{}: {} of {} on {} is '{}', {}", file_.name, summary.tag, record.case_name,
                            record.device_set.front(), plain(summary.text), what));
  }

  std::map<std::string, std::string> devices_;  // index as written -> id
  bool bulk_ = false;
};

void read(const std::vector<ImportText>& files, ImportBuilder& builder) {
  read_processes<OneFile>(files, "nvbench", builder);
  builder.owe_together(builder.device_ids());  // the files don't say whose they are: of one machine
  builder.note("nvbench gives one mean a metric and process, no samples");
}

bool recognises(const std::string& text) {
  return text.find("\"meta\"") != std::string::npos && text.find("\"nvbench\"") != std::string::npos &&
         text.find("\"states\"") != std::string::npos;
}

}  // namespace

REGISTER_IMPORT((ImportFormat{"nvbench", "JSON of nvbench (--json); one file is one process", recognises, read, true}));

}  // namespace assay
