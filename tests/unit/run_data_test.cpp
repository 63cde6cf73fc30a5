// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Reading run folders: cut at every byte, damaged in the middle, of another run, larger than a block.
#include "harness/parent/run_data.h"

#include <gmock/gmock.h>

#include "harness/base/error.h"
#include "tests/unit/sample_record.h"

namespace assay {
namespace {

using namespace assay::testing;
using ::testing::HasSubstr;
using ::testing::Not;

std::string text_of(const std::vector<Record>& records) {
  std::string text;
  for (const Record& record : records) text += line(to_json(record)) + "\n";
  return text;
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& problem) {
    EXPECT_EQ(problem.code(), exit_code::error);
    return problem.what();
  }
  return "no error";
}

TEST(ReadRecords, ALineWithoutEndIsNoRecord) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "records.jsonl", text_of({measured_record()}));
  std::filesystem::resize_file(folder / "records.jsonl", std::uintmax_t{200} << 20);
  EXPECT_THAT(error_of([&] { read_records(folder / "records.jsonl"); }), HasSubstr("a line longer than 64 MiB"));
}

TEST(ReadRecords, MissingFileIsNoRecords) {
  const TemporaryFolder folder;
  const RecordsFile file = read_records(folder / "records.jsonl");
  EXPECT_TRUE(file.records.empty());
  EXPECT_EQ(file.warning, "");
}

TEST(ReadRecords, CutAtAnyByteKeepsWhatIsComplete) {
  const TemporaryFolder folder;
  const std::string text = text_of({measured_record(1), error_record()});
  const std::size_t first = text.find('\n') + 1;
  write_file_atomically(folder / "records.jsonl", text);
  // Every byte around the ends of the lines, and some in between.
  for (std::size_t cut = text.size() + 1; cut-- > 0;) {
    if (cut % 29 != 0 && cut + 3 < text.size() && (cut + 3 < first || cut > first + 3)) continue;
    std::filesystem::resize_file(folder / "records.jsonl", cut);
    const RecordsFile file = read_records(folder / "records.jsonl");
    const bool at_end_of_line = cut == 0 || cut == first || cut == text.size();
    ASSERT_EQ(file.records.size(), cut == text.size() ? 2U : cut >= first ? 1U : 0U) << cut;
    ASSERT_EQ(file.good_bytes, cut == text.size() ? text.size() : cut >= first ? first : 0U) << cut;
    ASSERT_EQ(file.warning.empty(), at_end_of_line) << cut;
  }
}

TEST(ReadRecords, DamagedLastLineIsDroppedEvenWithItsNewline) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "records.jsonl", text_of({measured_record()}) + std::string(20, '\0') + "\n");
  const RecordsFile file = read_records(folder / "records.jsonl");
  EXPECT_EQ(file.records.size(), 1U);
  EXPECT_THAT(file.warning, HasSubstr("line 2"));
}

TEST(ReadRecords, DamageInTheMiddleIsAnErrorWithItsLine) {
  const TemporaryFolder folder;
  const std::string good = text_of({measured_record()});
  write_file_atomically(folder / "records.jsonl", good + good.substr(0, 500) + "\n" + good);
  EXPECT_THAT(error_of([&] { read_records(folder / "records.jsonl"); }), HasSubstr("records.jsonl line 2 is damaged"));
}

TEST(ReadRecords, ForeignRunAndSchemaAreErrorsAlsoAtTheEnd) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "records.jsonl", text_of({measured_record()}));
  EXPECT_THAT(error_of([&] { read_records(folder / "records.jsonl", "another"); }),
              HasSubstr("plan is of run another"));
  Json json = to_json(measured_record());
  json["schema"] = "assay.record.v9";
  write_file_atomically(folder / "records.jsonl", line(json) + "\n");
  EXPECT_THAT(error_of([&] { read_records(folder / "records.jsonl"); }), HasSubstr("assay.record.v9"));
}

TEST(ReadRecords, LargerThanABlock) {
  const TemporaryFolder folder;
  Record large = measured_record(90000);
  const std::string text = text_of({measured_record(), large, measured_record()});
  ASSERT_GT(text.size(), 8U << 20);
  write_file_atomically(folder / "records.jsonl", text);
  const RecordsFile file = read_records(folder / "records.jsonl");
  ASSERT_EQ(file.records.size(), 3U);
  EXPECT_EQ(file.good_bytes, text.size());
  EXPECT_EQ(line(to_json(file.records[1])), line(to_json(large)));
}

TEST(ReadRun, SaysWhatIsWrongWithTheFolder) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_of([&] { read_run(folder / "nowhere"); }), HasSubstr("is not there"));
  EXPECT_THAT(error_of([&] { read_run(folder.path()); }), HasSubstr("no plan.json"));
  write_run(folder.path(), sample_plan(), {measured_record()});
  EXPECT_TRUE(read_run(folder.path()).run.is_null());
  EXPECT_THAT(error_of([&] { read_run(folder / "plan.json"); }), HasSubstr("is a file, not the folder"));
  write_file_atomically(folder / "run.json",
                        "{\"schema\":\"assay.run.v1\",\"run_id\":\"other\",\"outcome\":\"MEASURED\"}");
  EXPECT_THAT(error_of([&] { read_run(folder.path()); }), HasSubstr("of run other"));
  write_file_atomically(folder / "run.json", "{\"schema\":\"assay.run.v2\"}");
  EXPECT_THAT(error_of([&] { read_run(folder.path()); }), HasSubstr("assay.run.v2"));
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  for (const std::string& text : {std::string("{\"schema\":"), "{\"schema\":" + deep + "}"}) {
    write_file_atomically(folder / "run.json", text);
    EXPECT_THAT(error_of([&] { read_run(folder.path()); }), HasSubstr("run.json is damaged"));
  }
  const std::string run_id = sample_plan().run_id;
  for (const char* outcome : {"5", "\"PASS\"", "null"}) {
    write_file_atomically(folder / "run.json",
                          "{\"schema\":\"assay.run.v1\",\"run_id\":\"" + run_id + "\",\"outcome\":" + outcome + "}");
    const std::string text = error_of([&] { read_run(folder.path()); });
    EXPECT_THAT(text, HasSubstr("run.json: its outcome"));
    EXPECT_THAT(text, Not(HasSubstr("json.exception")));
  }
}

TEST(ReadRun, FieldsOfRunJsonAreThoseOfItsSchema) {
  const Json schema = Json::parse(read_file(source_folder() / "results/schema/run.v1.json"));
  std::map<std::string, std::vector<std::string>> wanted;
  const std::function<void(const Json&, const std::string&)> walk = [&](const Json& object,
                                                                        const std::string& pointer) {
    if (!object.contains("properties")) return;
    EXPECT_EQ(object["additionalProperties"], Json(false)) << pointer;
    for (const auto& [key, value] : object["properties"].items()) {
      wanted[pointer].push_back(key);
      const bool elsewhere = value.contains("$ref");
      walk(elsewhere ? schema.at(Json::json_pointer(value["$ref"].get<std::string>().substr(1))) : value,
           pointer + "/" + key);
    }
  };
  walk(schema, "");
  EXPECT_EQ(run_json_fields(), wanted);
}

TEST(ReadRun, PlanMustBeTheOneTheRunBeganWith) {
  const TemporaryFolder folder;
  write_run(folder.path(), sample_plan(), {measured_record()});
  const std::string begun = read_file(folder / "events.jsonl");
  const std::string deep = "{\"event\":" + std::string(200'000, '[') + std::string(200'000, ']') + "}\n";
  for (const std::string& event :
       std::vector<std::string>{"", "{\"event\":5}\n", "{\"event\":\"run_begin\"}\n", "[]\n", "garbage", deep}) {
    write_file_atomically(folder / "events.jsonl", event);
    EXPECT_THAT(error_of([&] { read_run(folder.path()); }), HasSubstr("events.jsonl is missing or damaged"))
        << event.substr(0, 60);
  }
  write_file_atomically(folder / "events.jsonl", begun);
  Plan changed = sample_plan();
  changed.sessions = 2;
  write_file_atomically(folder / "plan.json", line(to_json(changed)));
  EXPECT_THAT(error_of([&] { read_run(folder.path()); }), HasSubstr("plan.json was changed"));
  write_file_atomically(folder / "plan.json", deep);
  EXPECT_THAT(error_of([&] { read_run(folder.path()); }), HasSubstr("plan.json is not JSON"));
  for (const char* sessions : {"0", "-1", "1.5", "2000000000", "\"x\"", "99999999999999999999"}) {
    Json plan = to_json(sample_plan());
    plan["sessions"] = Json::parse(sessions);
    write_file_atomically(folder / "plan.json", line(plan));
    EXPECT_THAT(error_of([&] { read_run(folder.path()); }),
                HasSubstr("plan.json is no plan that can be used: sessions"));
  }
}

}  // namespace
}  // namespace assay
