// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Words that are of a list, and times. Missing, unknown and mistyped fields: record_test.cpp; what the schema refuses
// and the reader leaves to others: cli/test_spoilt_records.
#include "harness/parent/record_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sample_record.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

// What the reader says about a record in which the value at `pointer` is `value`.
std::string complaint(const Record& record, const char* pointer, const Json& value) {
  Json json = to_json(record);
  json.at(Json::json_pointer(pointer)) = value;
  try {
    RecordReader().read(line(json));
    return "";
  } catch (const DamagedRecord& problem) {
    return problem.what();
  }
}

TEST(RecordReader, WordsOfTheirLists) {
  const Record measured = testing::measured_record(), error = testing::error_record();
  for (const char* word : {"relative_error", "max_time", "max_samples", "stopped"})
    EXPECT_EQ(complaint(measured, "/series/0/stop_reason", word), "");
  for (const char* word : {"signal", "timeout", "exit", "protocol", "library", "exception", "memory_limit", "start",
                           "unkillable", "unknown_fact"})
    EXPECT_EQ(complaint(error, "/failure/kind", word), "");
  for (const char* word : {"tired", ""}) {
    EXPECT_THAT(complaint(measured, "/series/0/stop_reason", word), HasSubstr("field 'series.stop_reason' is"));
    EXPECT_THAT(complaint(error, "/failure/kind", word), HasSubstr("field 'failure.kind' is"));
    EXPECT_THAT(complaint(measured, "/metrics/0/limit/kind", word), HasSubstr("field 'metrics.limit.kind' is"));
    EXPECT_THAT(complaint(measured, "/metrics/0/better", word), HasSubstr("field 'metrics.better' is"));
  }
}

TEST(RecordReader, TimesAreUtc) {
  const Record record = testing::measured_record();
  for (const char* time :
       {"2026-11-30T17:05:01Z", "2026-11-30T17:05:01.1Z", "2026-11-30T17:05:01.123456Z", "2028-02-29T23:59:60Z"})
    EXPECT_EQ(complaint(record, "/started_at", time), "") << time;
  for (const char* time :
       {"", "Z", "2026-11-30 17:05:01", "2026-11-30T17:05:01", "2026-11-30T17:05:01+01:00", "2026-11-30T17:05:01.Z",
        "2026-11-30T17:05:01.1a3Z", "2026-11-30T17:05Z", "2026-1-30T17:05:011Z", "yesterday", "9999-99-99T99:99:99Z",
        "2026-11-31T17:05:01Z", "2026-00-30T17:05:01Z", "2026-11-00T17:05:01Z", "2027-02-29T17:05:01Z",
        "2026-11-30T24:05:01Z", "2026-11-30T17:60:01Z", "2026-11-30T17:05:61Z"})
    EXPECT_THAT(complaint(record, "/started_at", time), HasSubstr("field 'started_at'")) << time;
}

TEST(RecordReader, NumbersThatAreNone) {
  const Record record = testing::measured_record();
  EXPECT_EQ(complaint(record, "/series/0/disturbed/0", 255), "");
  for (const std::uint64_t bits : {std::uint64_t{256}, std::uint64_t{1} << 40, ~std::uint64_t{0}})
    EXPECT_THAT(complaint(record, "/series/0/disturbed/0", bits), HasSubstr("field 'series.disturbed' has an unknown"));
  for (const Json& cpu : {Json(-1), Json(std::int64_t{1} << 40), Json(0.5)})
    EXPECT_THAT(complaint(record, "/placement/cpus/0", cpu), HasSubstr("field 'placement.cpus'"));
}

TEST(RecordReader, DeepNestingIsDamage) {
  const std::string deep = R"({"schema":)" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}";
  EXPECT_THROW(RecordReader().read(deep), DamagedRecord);
}

}  // namespace
}  // namespace assay
