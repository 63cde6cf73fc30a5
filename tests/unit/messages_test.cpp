// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/parent/messages.h"

#include <gtest/gtest.h>

#include "harness/base/error.h"

namespace assay {
namespace {

TEST(Messages, TakesWhatTheProtocolSays) {
  EXPECT_EQ(parse_message(R"({"type":"hello","schema":"s","worker":"w","version":"v","commit":"","pid":1})").type,
            MessageType::hello);
  EXPECT_EQ(parse_message(R"({"type":"case_begin","id":7})").id, 7U);
  EXPECT_EQ(parse_message(R"({"type":"ready","id":7})").type, MessageType::ready);
  EXPECT_EQ(parse_message(R"({"type":"heartbeat","id":7,"phase":"setup"})").type, MessageType::heartbeat);
  EXPECT_EQ(parse_message(R"({"type":"window","id":7,"metric":"m","unit":"s","value":null,"seconds":1})").type,
            MessageType::window);
  EXPECT_EQ(parse_message(R"({"type":"record","id":7,"record":{}})").type, MessageType::record);
  EXPECT_EQ(parse_message(R"({"type":"case_end","id":7})").type, MessageType::case_end);
}

TEST(Messages, RefusesEverythingElse) {
  for (const char* text : {"", "{", "[]", "7", "null", R"({"id":7})", R"({"type":7})", R"({"type":"go","id":7})",
                           R"({"type":"ready"})", R"({"type":"ready","id":-1})", R"({"type":"ready","id":"7"})",
                           R"({"type":"ready","id":7,"more":1})", R"({"type":"heartbeat","id":7})",
                           R"({"type":"heartbeat","id":7,"phase":3})", R"({"type":"record","id":7,"record":[]})",
                           R"({"type":"window","id":7,"metric":"m","unit":"s","value":"1","seconds":1})", "\xff\xfe"})
    EXPECT_THROW(parse_message(text), Error) << text;
}

TEST(Messages, RefusesDeepNesting) {
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  EXPECT_THROW(parse_message(R"({"type":"record","id":7,"record":{"a":)" + deep + "}}"), Error);
  EXPECT_THROW(parse_message(R"({"type":"heartbeat","id":7,"phase":)" + deep + "}"), Error);
}

TEST(Messages, NeverRepeatsControlCharacters) {
  try {
    parse_message("\x1b[2J boo");
    FAIL();
  } catch (const Error& problem) {
    EXPECT_EQ(std::string(problem.what()).find('\x1b'), std::string::npos);
  }
}

}  // namespace
}  // namespace assay
