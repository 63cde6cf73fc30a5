// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/manifest.h"

#include <gmock/gmock.h>

#include "harness/base/error.h"
#include "tests/unit/sample_record.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

Manifest sample() {
  Manifest manifest{"cpu", "0.1.0", "abc", {"cpu"}, {{"openblas", "0.3.21"}, {"onednn", ""}}, {}};
  BenchmarkInfo benchmark;
  benchmark.name = "memory/stream";
  benchmark.summary = "bandwidth";
  benchmark.devices = {"cpu"};
  benchmark.metrics = {{"latency", "s", Better::lower, "time"}, {"bandwidth", "B/s", Better::higher, "rate"}};
  benchmark.cases = {{"memory/stream/op:copy", {{"op", "copy"}}, {{"numa_nodes", 2, "two nodes"}}, 10, 0.5, 2}};
  manifest.benchmarks = {benchmark};
  return manifest;
}

std::string error_of(const std::string& text) {
  const testing::TemporaryFolder folder;
  write_file_atomically(folder / "m.json", text);
  try {
    read_manifest(folder / "m.json");
  } catch (const Error& problem) {
    return problem.what();
  }
  return "no error";
}

TEST(Manifest, NothingIsLost) {
  const testing::TemporaryFolder folder;
  const std::string text = line(to_json(sample()));
  write_file_atomically(folder / "m.json", text);
  EXPECT_EQ(line(to_json(read_manifest(folder / "m.json"))), text);
}

TEST(Manifest, DamageNamesTheFile) {
  const std::string text = line(to_json(sample()));
  EXPECT_THAT(error_of(text.substr(0, text.size() / 2)), HasSubstr("m.json is damaged"));
  EXPECT_THAT(error_of("{}"), HasSubstr("m.json is damaged"));
  EXPECT_THAT(error_of(std::string(100'000, '[')), HasSubstr("m.json is damaged (its JSON is nested deeper"));
  Json other = to_json(sample());
  other["schema"] = "assay.manifest.v7";
  EXPECT_THAT(error_of(line(other)), HasSubstr("assay.manifest.v7"));
  other = to_json(sample());
  other["benchmarks"][0]["cases"][0].erase("rank");
  EXPECT_THAT(error_of(line(other)), HasSubstr("rank"));
}

}  // namespace
}  // namespace assay
