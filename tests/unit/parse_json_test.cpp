// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/base/parse_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace assay {
namespace {

std::string nested(std::size_t depth, char open = '[', char close = ']') {
  return std::string(depth, open) + std::string(depth, close);
}

TEST(ParseJson, TakesWhatIsNotDeep) {
  EXPECT_EQ(parse_json(R"({"a":[1,2]})")["a"][1], 2);
  EXPECT_EQ(parse_json(nested(64)).size(), 1U);
  std::string many = "[";  // side by side is not inside one another
  for (int i = 0; i < 1000; ++i) many += "[],";
  EXPECT_EQ(parse_json(many + "[]]").size(), 1001U);
  // A bracket in a text is none, also behind an escaped quote.
  EXPECT_EQ(parse_json("[\"\\\\\\\"" + std::string(100, '[') + "\"]").size(), 1U);
}

TEST(ParseJson, RefusesWhatIsDeep) {
  const std::string in_text = "[\"\\\"\", " + nested(70) + "]";
  for (const std::string& text :
       {nested(65), nested(1'000'000), std::string(1'000'000, '['), in_text, "{\"a\":" + nested(100'000) + "}"}) {
    try {
      parse_json(text);
      ADD_FAILURE();
    } catch (const Json::exception& problem) {
      EXPECT_EQ(reason_of(problem), "its JSON is nested deeper than 64 levels");
    }
    EXPECT_TRUE(parse_json(text, false).is_discarded());
  }
}

TEST(ParseJson, RefusesWhatIsNoJson) {
  EXPECT_THROW(parse_json("{"), Json::exception);
  EXPECT_THROW(parse_json(""), Json::exception);
  EXPECT_TRUE(parse_json("{", false).is_discarded());
}

TEST(ReasonOf, SaysWhatBelongsThereInOurWords) {
  const auto reason = [](auto use) -> std::string {
    try {
      use();
    } catch (const Json::exception& problem) {
      return reason_of(problem);
    }
    return {};
  };
  const Json json = parse_json(R"({"a": [1], "b": 2})");
  EXPECT_EQ(reason([&] { (void)json.at("c"); }), "the field 'c' is missing");
  EXPECT_EQ(reason([&] { (void)json.at("a").at("x"); }), "it has a value of the kind 'array' where an object belongs");
  EXPECT_EQ(reason([&] { (void)json.at("b").value("x", 1); }),
            "it has a value of the kind 'number' where an object belongs");
  EXPECT_EQ(reason([&] { (void)json.at("b").get<std::string>(); }),
            "it has a value of the kind 'number' where one of the kind 'string' belongs");
  EXPECT_THAT(reason([] { parse_json("{"); }), testing::StartsWith("parse error at line 1, column 2"));
}

}  // namespace
}  // namespace assay
