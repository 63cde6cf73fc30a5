// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Records: shares of limits, nothing lost between writing and reading, and the fixture that
// tests/cli/test_schemas mutates is what the code writes today.
#include "harness/record.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/base/error.h"
#include "harness/parent/run_data.h"
#include "tests/unit/sample_record.h"

namespace assay {
namespace {

using namespace assay::testing;

TEST(ShareOfLimit, FollowsTheDirection) {
  const Limit limit{200, "spec", ""};
  EXPECT_DOUBLE_EQ(share_of_limit({"b", "B/s", Better::higher, ""}, limit, 150), 0.75);
  EXPECT_DOUBLE_EQ(share_of_limit({"l", "s", Better::lower, ""}, limit, 400), 0.5);
  EXPECT_TRUE(std::isnan(share_of_limit({"b", "B/s", Better::higher, ""}, {}, 150)));
}

TEST(RecordJson, NothingIsLost) {
  for (const Record& record : {full_record(), measured_record(), error_record()}) {
    const Json written = to_json(record);
    EXPECT_EQ(line(to_json(record_from_json(written))), line(written));
  }
}

TEST(RecordJson, MissingNumbersAreNull) {
  Record record = measured_record(1);
  record.metrics[0].samples = {std::nan("")};
  record.metrics[0].limit.value.reset();
  const Json json = to_json(record);
  EXPECT_TRUE(json.at("metrics")[0].at("samples")[0].is_null());
  EXPECT_TRUE(json.at("metrics")[0].at("summary").at("median").is_null());
  EXPECT_TRUE(json.at("metrics")[0].at("share_of_limit").is_null());
  EXPECT_TRUE(std::isnan(record_from_json(json).metrics.at(0).samples.at(0)));
}

TEST(RecordJson, DisturbedSamplesAreCounted) {
  const Json noise = to_json(full_record()).at("noise");
  EXPECT_EQ(noise.at("samples"), 4);
  EXPECT_EQ(noise.at("samples_disturbed"), 1);
}

TEST(RecordJson, AnImportedRecordComesBackAsItWas) {
  Record r;
  r.case_name = "any name / it: has";
  r.benchmark = "any name ";
  r.device_set = {"GPU-1"};
  r.outcome = Outcome::measured;
  r.imported = Imported{"csv", "a b.csv", "0123456789abcdef", ""};
  const Json json = to_json(r);
  EXPECT_TRUE(json.at("started_at").is_null());
  EXPECT_TRUE(json.at("imported").at("tool_version").is_null());
  const Record back = record_from_json(json);
  ASSERT_TRUE(back.imported);
  EXPECT_EQ(line(to_json(back)), line(json));
  EXPECT_FALSE(record_from_json(to_json(measured_record())).imported);
}

TEST(RecordJson, FixtureIsWhatIsWritten) {
  const std::string fixture = read_file(source_folder() / "tests/fixtures/records.jsonl");
  std::string now;
  for (const Record& record : {measured_record(), full_record(), error_record()}) now += line(to_json(record)) + "\n";
  EXPECT_EQ(fixture, now) << "tests/fixtures/records.jsonl is out of date; write this into it:\n" << now;
}

// Each takes away or spoils one thing; the reader must name the field.
struct Damage {
  const char* pointer;
  Json value;  // null: the field is removed
  const char* named;
};

TEST(RecordJson, DamageIsNamed) {
  const Damage damages[] = {
      {"/outcome", "GREAT", "outcome"},
      {"/outcome", "PASS", "outcome"},
      {"/wall_s", nullptr, "wall_s"},
      {"/wall_s", "nan", "wall_s"},
      {"/phases_s/measure", -1.0, "phases_s.measure"},
      {"/work/iterations", -1, "work.iterations"},
      {"/work/iterations", 1.5, "work.iterations"},
      {"/series/0/seconds/0", "0.1", "series.seconds"},
      {"/series/0/clock_hz", Json::array(), "series.clock_hz"},
      {"/metrics/0/better", "sideways", "metrics.better"},
      {"/metrics/0/limit/surprise", 1, "metrics.limit"},
      {"/elements_compared", 5, "elements_compared"},
      {"/device_set", "cpu:0", "device_set"},
      {"/surprise", true, "record"},
  };
  for (const Damage& damage : damages) {
    Json json = to_json(measured_record());
    const Json::json_pointer at(damage.pointer);
    if (damage.value.is_null())
      json[at.parent_pointer()].erase(at.back());
    else
      json[at] = damage.value;
    try {
      record_from_json(json);
      ADD_FAILURE() << damage.pointer << " went unnoticed";
    } catch (const Error& problem) {
      EXPECT_NE(std::string(problem.what()).find(std::string("'") + damage.named + "'"), std::string::npos)
          << damage.pointer << ": " << problem.what();
    }
  }
}

}  // namespace
}  // namespace assay
