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
std::string complaint(const Record& record, const char* pointer, const char* value) {
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
  for (const char* time : {"2026-11-30T17:05:01Z", "2026-11-30T17:05:01.1Z", "2026-11-30T17:05:01.123456Z"})
    EXPECT_EQ(complaint(record, "/started_at", time), "") << time;
  for (const char* time :
       {"", "Z", "2026-11-30 17:05:01", "2026-11-30T17:05:01", "2026-11-30T17:05:01+01:00", "2026-11-30T17:05:01.Z",
        "2026-11-30T17:05:01.1a3Z", "2026-11-30T17:05Z", "2026-1-30T17:05:011Z", "yesterday"})
    EXPECT_THAT(complaint(record, "/started_at", time), HasSubstr("field 'started_at'")) << time;
}

}  // namespace
}  // namespace assay
