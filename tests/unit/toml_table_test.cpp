// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The strict reader: what is there comes out with its type, and everything else is refused with file, line and key.
#include "harness/base/toml_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "harness/base/error.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// What reading `text` with `read` says.
std::string complaint(const std::string& text, const std::function<void(TomlTable&)>& read) {
  try {
    const toml::table document = parse_toml(text, "F");
    TomlTable table(document, "F");
    read(table);
    table.finish();
  } catch (const Error& problem) {
    EXPECT_EQ(problem.code(), exit_code::error);
    return problem.what();
  }
  return {};
}

TEST(TomlTable, ReadsEachType) {
  const toml::table document = parse_toml(
      "n = 1.5\ni = 3\nb = true\nt = \"x\"\nl = [\"a\", \"b\"]\nw = \"red\"\n"
      "[sub]\nk = 2\n[[many]]\n[[many]]\nz = 7\n[facts]\ncores = 8\nghz = 2.5\n[names]\na = \"b\"\n",
      "F");
  TomlTable table(document, "F");
  EXPECT_EQ(table.number("n", 0, 2), 1.5);
  EXPECT_EQ(table.number("i", 0, 5), 3.0) << "a whole number is a number";
  EXPECT_EQ(table.integer("i", 0, 5), 3);
  EXPECT_EQ(table.boolean("b"), true);
  EXPECT_EQ(table.text("t"), "x");
  EXPECT_EQ(table.required_text("t"), "x");
  EXPECT_EQ(table.required_number("n", 0, 2), 1.5);
  EXPECT_EQ(table.word("w", {"red", "blue"}), "red");
  EXPECT_THAT(table.texts("l").value(), ElementsAre("a", "b"));
  EXPECT_EQ(table.table("sub").value().integer("k", 0, 9), 2);
  std::vector<TomlTable> many = table.tables("many");
  ASSERT_EQ(many.size(), 2U);
  EXPECT_EQ(many[1].integer("z", 0, 9), 7);
  EXPECT_EQ(table.numbers("facts"), (std::map<std::string, double>{{"cores", 8}, {"ghz", 2.5}}));
  EXPECT_EQ(table.words_by_name("names").at("a"), "b");
  EXPECT_NO_THROW(table.finish());
}

TEST(TomlTable, AbsentKeysAreNoAnswer) {
  const toml::table document = parse_toml("", "F");
  TomlTable table(document, "F");
  EXPECT_FALSE(table.has("n"));
  EXPECT_EQ(table.number("n", 0, 1), std::nullopt);
  EXPECT_EQ(table.integer("n", 0, 1), std::nullopt);
  EXPECT_EQ(table.boolean("n"), std::nullopt);
  EXPECT_EQ(table.text("n"), std::nullopt);
  EXPECT_EQ(table.texts("n"), std::nullopt);
  EXPECT_FALSE(table.table("n").has_value());
  EXPECT_TRUE(table.tables("n").empty());
  EXPECT_TRUE(table.numbers("n").empty());
}

TEST(TomlTable, RefusesWithFileLineAndKey) {
  const auto number = [](TomlTable& t) { t.number("n", 0, 1); };
  EXPECT_EQ(complaint("n = 0.5\n", number), "");
  EXPECT_THAT(complaint("\nn = 2\n", number), StartsWith("F:2: n: 2 is not between 0 and 1"));
  EXPECT_THAT(complaint("n = nan\n", number), StartsWith("F:1: n: "));
  EXPECT_THAT(complaint("n = \"0\"\n", number), StartsWith("F:1: n: a number is needed"));
  EXPECT_THAT(complaint("n = 0\nm = 0\n", number), StartsWith("F:2: m: is not a known key"));
  EXPECT_THAT(complaint("n = \n", number), StartsWith("F:1: "));
  const auto required = [](TomlTable& t) { t.required_text("name"); };
  EXPECT_THAT(complaint("nmae = \"x\"\n", required), HasSubstr("name: is missing"));
  EXPECT_THAT(complaint("name = \"\"\n", required), StartsWith("F:1: name: is missing"));
  EXPECT_THAT(complaint("i = 1.0\n", [](TomlTable& t) { t.integer("i", 0, 9); }), HasSubstr("whole number"));
  EXPECT_THAT(complaint("b = 1\n", [](TomlTable& t) { t.boolean("b"); }), HasSubstr("true or false"));
  EXPECT_THAT(complaint("l = [1]\n", [](TomlTable& t) { t.texts("l"); }), HasSubstr("list of texts"));
  EXPECT_THAT(complaint("w = \"rde\"\n", [](TomlTable& t) { t.word("w", {"red"}); }), HasSubstr("did you mean red"));
  EXPECT_THAT(complaint("s = 1\n", [](TomlTable& t) { t.table("s"); }), HasSubstr("[s]"));
  EXPECT_THAT(complaint("s = 1\n", [](TomlTable& t) { t.tables("s"); }), HasSubstr("[[s]]"));
  EXPECT_THAT(complaint("[f]\na = \"x\"\n", [](TomlTable& t) { t.numbers("f"); }), StartsWith("F:2: f.a: a number"));
}

TEST(TomlTable, NamesTheWayToTheKey) {
  const auto read = [](TomlTable& top) {
    for (TomlTable& row : top.tables("row")) {
      row.number("x", 0, 1);
      row.finish();
    }
  };
  EXPECT_THAT(complaint("[[row]]\nx = 1\n[[row]]\ny = 1\n", read), StartsWith("F:4: row #2.y: is not a known key"));
}

TEST(TomlTable, WhatIsTooDeepOrTooLongNeverReachesTheParser) {
  const auto nothing = [](TomlTable&) {};
  const auto repeated = [](const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
  };
  const std::string dots = repeated("a.", 40000) + "a";
  for (const std::string& text :
       {dots + " = 1", "[" + dots + "]", "[[" + dots + "]]", repeated("'a' . ", 40000) + "a = 1",
        repeated("\"a\".", 40000) + "a = 1", "x = " + repeated("[", 40000), "x = " + repeated("[\n", 40000),
        "x = " + repeated("{a=", 40000), "\"\"\"\n" + repeated("[", 40000)})
    EXPECT_NE(complaint(text, nothing), "") << text.substr(0, 20);
  EXPECT_THAT(complaint("\nx = 1\n" + dots + " = 1", nothing), StartsWith("F:3: more than 32 parts of a key"));
  EXPECT_THAT(complaint("x = 1\n#" + repeated("x", 1024 * 1024), nothing), HasSubstr("has 1048583 bytes"));
  // Texts and comments may have as many as they like.
  const auto text = [](TomlTable& table) { table.text("x"); };
  EXPECT_EQ(complaint("x = \"" + dots + "\" # " + dots, text), "");
  EXPECT_EQ(complaint("x = '" + dots + repeated("[", 100) + "'", text), "");
  EXPECT_EQ(complaint("x = \"\"\"" + dots + "\n\\\" " + repeated("[", 100) + "\"\"\"", text), "");
  EXPECT_EQ(complaint("x = \"\\\"" + repeated("{", 100) + "\"", text), "");
  const auto numbers = [](TomlTable& table) { table.texts("x"); };
  EXPECT_THAT(complaint("x = [" + repeated("0.1, ", 1000) + "]", numbers), HasSubstr("a list of texts is needed"));
}

}  // namespace
}  // namespace assay
