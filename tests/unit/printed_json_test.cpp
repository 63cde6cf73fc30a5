// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/base/printed_json.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(PrintedJson, EscapesEveryControlCharacter) {
  const Json json{{"a\x7f", "\x1b[2J\xc2\x9bK 3 \xc2\xb5s \xff"}};
  const std::string text = printed(json, -1);
  EXPECT_EQ(text, "{\"a\\u007f\":\"\\u001b[2J\\u009bK 3 \xc2\xb5s \xef\xbf\xbd\"}");
  EXPECT_EQ(Json::parse(text)["a\x7f"], "\x1b[2J\xc2\x9bK 3 \xc2\xb5s \xef\xbf\xbd");
}

}  // namespace
}  // namespace assay
