// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The readers of assay doctor on damaged input, and its small rules. Whole machines: tests/cli/test_doctor_machines.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include "harness/base/error.h"
#include "harness/doctor/check.h"
#include "harness/doctor/elf.h"
#include "harness/doctor/watched.h"
#include "tests/unit/small_root.h"

namespace assay::doctor {
namespace {

// Two libraries in the newer form: 48 bytes of head, 24 for each entry, then the texts.
std::string small_cache() {
  std::string cache = "glibc-ld.so.cache1.1";
  const auto number = [&](std::uint32_t value) { cache.append(reinterpret_cast<const char*>(&value), 4); };
  const std::string texts("liba.so.1\0/lib/liba.so.1\0libb.so\0/lib/libb.so\0", 46);
  number(2);
  number(static_cast<std::uint32_t>(texts.size()));
  cache.append(20, '\0');
  for (const auto& [key, value] : {std::pair{0U, 10U}, {25U, 33U}}) {
    number(3);
    number(96 + key);
    number(96 + value);
    cache.append(12, '\0');
  }
  return cache + texts;
}

TEST(LoaderCache, ReadsNamesAndPaths) {
  const auto entries = parse_loader_cache(small_cache());
  ASSERT_TRUE(entries);
  ASSERT_EQ(entries->size(), 2U);
  EXPECT_EQ((*entries)[0].path, "/lib/liba.so.1");
  EXPECT_EQ((*entries)[1].name, "libb.so");
  EXPECT_EQ((*entries)[1].path, "/lib/libb.so");
}

TEST(LoaderCache, ACutOrSpoiltOneIsNeverReadBeyondItsEnd) {
  const std::string whole = small_cache();
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parse_loader_cache(whole.substr(0, size))) << size;
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string spoilt = round % 2 == 0 ? whole : std::string("ld.so-1.7.0\0\1\0\0\0", 16) + whole;
    for (int i = 0; i < 4; ++i) spoilt[random() % spoilt.size()] = static_cast<char>(random());
    spoilt.resize(spoilt.size() - random() % 8);
    parse_loader_cache(spoilt);
  }
}

TEST(ModuleInfo, SpoiltFilesAreUnreadable) {
  std::mt19937 random(7);
  std::string header(
      "\x7f"
      "ELF\2\1\1",
      7);
  header.resize(64, '\0');
  for (int round = 0; round < 300; ++round) {
    std::string file = header + std::string(200, '\0');
    for (std::size_t i = 40; i < file.size(); ++i) file[i] = static_cast<char>(random() % 3 == 0 ? random() : 0);
    const SmallRoot folder{{"m.ko", file}};
    const Root root(folder.path(), {});
    const auto info = module_info(root, "/m.ko");
    EXPECT_TRUE(!info || info->size() <= file.size());
  }
  const SmallRoot folder{{"m.ko", "\x28\xb5\x2f\xfd"}};
  EXPECT_EQ(module_info(Root(folder.path(), {}), "/m.ko").state, Known::unreadable);
  EXPECT_EQ(module_info(Root(folder.path(), {}), "/none.ko").state, Known::absent);
}

TEST(Root, AbsentDeniedLateAndUnreadableAreFourAnswers) {
  const SmallRoot folder{{"a/here", " text \nmore"},
                         {".assay/states", "denied a/denied\nlate a/late\nunreadable b\n"},
                         {".assay/nodes", "dev/nvidia0 195 0 0660 0 44\n"}};
  const Root root(folder.path(), {});
  EXPECT_EQ(*root.line("/a/here"), "text");
  EXPECT_EQ(root.line("/a/none").state, Known::absent);
  EXPECT_EQ(root.line("/a/here/below").state, Known::absent);
  EXPECT_EQ(root.line("/a/denied/x").state, Known::denied);
  EXPECT_EQ(root.list("/a/late").state, Known::late);
  EXPECT_EQ(root.status("/b").state, Known::unreadable);
  EXPECT_EQ(root.line("/a").state, Known::unreadable);  // a folder
  EXPECT_EQ(root.node("/dev/nvidia0")->group, 44U);
  EXPECT_FALSE(root.node("/dev/nvidia0")->may_read_and_write);
  EXPECT_EQ(*root.list("/dev"), std::vector<std::string>{"nvidia0"});
}

TEST(Root, LinksStayInsideAndEnd) {
  const SmallRoot folder{{"a/file", "inside"}};
  std::filesystem::create_symlink("/a/file", folder.path() / "absolute");
  std::filesystem::create_symlink("../../../../../a/file", folder.path() / "a/up");
  std::filesystem::create_symlink("loop", folder.path() / "loop");
  std::filesystem::create_symlink("/etc/passwd", folder.path() / "outside");
  const Root root(folder.path(), {});
  EXPECT_EQ(*root.line("/absolute"), "inside");
  EXPECT_EQ(*root.line("/a/up"), "inside");
  EXPECT_EQ(root.line("/loop").state, Known::unreadable);
  EXPECT_EQ(root.line("/outside").state, Known::absent);
  EXPECT_EQ(*root.resolved("/a/../absolute"), "/a/file");
  EXPECT_EQ(root.glob("/a/f*e").size(), 1U);
}

TEST(Watched, AnswersThenIsLateThenGone) {
  Watched echo([](const std::string& question) { return question + "!"; }, 10);
  std::string answer;
  ASSERT_TRUE(echo.ask("a", answer));
  EXPECT_EQ(answer, "a!");
  const std::string large(5 << 20, 'x');
  ASSERT_TRUE(echo.ask(large, answer));
  EXPECT_EQ(answer.size(), large.size() + 1);
  Watched silent(
      [](const std::string&) -> std::string {
        for (;;) usleep(1000000);
      },
      0.05);
  EXPECT_FALSE(silent.ask("a", answer));
  EXPECT_TRUE(silent.late());
  EXPECT_FALSE(silent.ask("b", answer));
  Watched crash(
      [](const std::string&) -> std::string {
        raise(SIGKILL);
        return "";
      },
      10);
  EXPECT_FALSE(crash.ask("a", answer));
  EXPECT_FALSE(crash.late());
  EXPECT_EQ(crash.reason(), "the child that asked was ended by signal 9");
}

TEST(Versions, AreComparedNumberByNumber) {
  EXPECT_LT(compare_versions("575.51.03", "575.57.08"), 0);
  EXPECT_LT(compare_versions("9.0", "12.1"), 0);
  EXPECT_EQ(compare_versions("13.0", "13.0.0"), 0);
  EXPECT_GT(compare_versions("13.0.2", "13.0"), 0);
}

TEST(MachineCode, RunsOnItsMajorNumberAndPtxOnLaterOnes) {
  const WheelTag wheel{"cu129", {"8.0", "8.6", "9.0"}, "12.0", "", "", ""};
  EXPECT_TRUE(runs_on(wheel, "8.9"));
  EXPECT_FALSE(runs_on(wheel, "7.5"));
  EXPECT_FALSE(runs_on(wheel, "10.0"));
  EXPECT_TRUE(runs_on(wheel, "12.1"));
}

TEST(Requirements, AreReadStrictly) {
  const auto two = parse_requirements("gpus>=1, capability>8.0");
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[1].text(), "capability>8.0");
  for (const char* wrong : {"", "gpus", "gpus=>1", "gpus>=", "gpus>=x", "memory>=1", "gpus>=1,,", "gpus>=0", "driver>=0.0",
                            "cuda>=."})
    EXPECT_THROW(parse_requirements(wrong), UsageError) << wrong;
}

TEST(Verdict, IsSoundOnlyWhereSomethingWasLookedAt) {
  Facts facts;
  facts.gpus.resize(1);
  Answer answer;
  answer.state = State::not_applicable;
  EXPECT_EQ(verdict_of({}, facts), Verdict::unknown);
  EXPECT_EQ(verdict_of({answer}, facts), Verdict::unknown);
  Answer hidden;
  hidden.state = State::unknown;
  EXPECT_EQ(verdict_of({answer, hidden}, facts), Verdict::unknown);
  Answer sound;
  EXPECT_EQ(verdict_of({answer, hidden, sound}, facts), Verdict::sound);
  hidden.check.chain = true;
  EXPECT_EQ(verdict_of({sound, hidden}, facts), Verdict::unknown);
}

}  // namespace
}  // namespace assay::doctor
