// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The readers of assay doctor on damaged input, and its small rules. Whole machines: tests/cli/test_doctor_machines.
#include <elf.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <map>
#include <random>

#include "harness/base/error.h"
#include "harness/doctor/check.h"
#include "harness/doctor/elf.h"
#include "harness/doctor/watched.h"
#include "tests/unit/small_root.h"
#include "tests/unit/source_folder.h"

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

// A kernel module of three sections: none, .modinfo, the names of both.
std::string small_module() {
  const std::string info("version=580.95.05\0license=Dual MIT/GPL\0", 39), names("\0.modinfo\0.shstrtab\0", 20);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_shoff = sizeof header + info.size() + names.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 2;
  Elf64_Shdr sections[3]{};
  sections[1].sh_name = 1;
  sections[1].sh_offset = sizeof header;
  sections[1].sh_size = info.size();
  sections[2].sh_name = 10;
  sections[2].sh_offset = sizeof header + info.size();
  sections[2].sh_size = names.size();
  const auto bytes = [](const auto& value) { return std::string(reinterpret_cast<const char*>(&value), sizeof value); };
  return bytes(header) + info + names + bytes(sections);
}

Fact<std::map<std::string, std::string>> info_of(const std::string& file) {
  static const SmallRoot folder{{"m.ko", ""}};
  static const Root root(folder.path(), {});
  std::ofstream(folder.path() / "m.ko") << file;
  return module_info(root, "/m.ko");
}

TEST(ModuleInfo, IsReadWholeOrNotAtAll) {
  const std::string whole = small_module();
  const auto info = info_of(whole);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->at("version"), "580.95.05");
  EXPECT_EQ(info->at("license"), "Dual MIT/GPL");
  EXPECT_EQ(info->size(), 2U);
  for (std::size_t size = 0; size < whole.size(); size += 5)
    EXPECT_EQ(info_of(whole.substr(0, size)).state, Known::unreadable) << size;
  // The section goes on behind the end of the file.
  std::string cut = whole;
  const std::size_t size_of_info = whole.size() - 2 * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_size);
  cut[size_of_info + 1] = 1;
  EXPECT_EQ(info_of(cut).state, Known::unreadable);
  EXPECT_EQ(info_of("\x28\xb5\x2f\xfd").state, Known::unreadable);
  EXPECT_EQ(info_of("").state, Known::unreadable);
  const SmallRoot none{{"x", ""}};
  EXPECT_EQ(module_info(Root(none.path(), {}), "/none.ko").state, Known::absent);
}

TEST(ModuleInfo, SpoiltFilesAreUnreadableOrSayWhatStandsInThem) {
  std::mt19937 random(7);
  const std::string whole = small_module();
  int unreadable = 0, read = 0;
  for (int round = 0; round < 100; ++round) {
    std::string spoilt = whole;
    for (int i = 0; i < 3; ++i) spoilt[random() % spoilt.size()] = static_cast<char>(random());
    const auto info = info_of(spoilt);
    ++(info ? read : unreadable);
    EXPECT_NE(info.state, Known::absent);
    for (const auto& [key, value] : *info) EXPECT_NE(spoilt.find(key + "=" + value), std::string::npos) << key;
  }
  EXPECT_GT(read, 10);
  EXPECT_GT(unreadable, 10);
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

TEST(Root, AFolderThatIsNotReadToItsEndIsNotKnown) {
  const SmallRoot folder{{"few/a", ""}, {"many/a", ""}};
  for (int i = 0; i < 2200; ++i) std::ofstream(folder.path() / "many" / (std::to_string(i) + std::string(245, 'x')));
  const Root root(folder.path(), {});
  EXPECT_EQ(root.list("/many").state, Known::unreadable);
  EXPECT_EQ(root.list("/few")->size(), 1U);
}

TEST(Root, FileSystemsOfOtherMachinesAreAskedByAChild) {
  const SmallRoot folder{{"proc/self/mountinfo",
                          "1 0 0:1 / / rw - ext4 x rw\n2 1 0:2 / /a rw - virtiofs x rw\n"
                          "3 1 0:3 / /b rw - 9p x rw\n4 1 0:4 / /c rw - xfs x rw\n"},
                         {"a/x", "1"},
                         {"b/x", "2"},
                         {"c/x", "3"}};
  const Root root(folder.path(), {});
  EXPECT_EQ(root.asked_by_children(), std::vector<std::string>());
  for (const char* path : {"/a/x", "/b/x", "/c/x"}) EXPECT_TRUE(root.line(path)) << path;
  EXPECT_EQ(root.asked_by_children(), (std::vector<std::string>{"/a", "/b"}));
}

TEST(Watched, MayBeKeptFromStartingPrograms) {
  const auto starts = [](bool forbidden) {
    return [forbidden](const std::string&) -> std::string {
      if (forbidden && !forbid_programs()) return "refused";
      return std::system("exit 3") == 3 << 8 ? "started" : "not started";
    };
  };
  std::string answer;
  ASSERT_TRUE(Watched(starts(false), 10).ask("", answer));
  EXPECT_EQ(answer, "started");
  ASSERT_TRUE(Watched(starts(true), 10).ask("", answer));
  EXPECT_EQ(answer, "not started");
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

TEST(Guess, SaysOfEachKnownCardWhatItIsOrNothing) {
  int told = 0;
  const ClassTable classes = read_class_table(source_folder() / "results");
  for (const Identity& identity : classes.identities()) {
    if (identity.vendor != "10de" || identity.compute_capability.empty()) continue;
    const auto [family, capability] = guess(std::stoul(identity.device, nullptr, 16));
    told += !family.empty();
    if (family.empty()) continue;
    EXPECT_EQ(family, identity.family) << identity.device;
    EXPECT_EQ(capability, identity.compute_capability) << identity.device;
  }
  EXPECT_GT(told, 1000);
  // Of pci.ids: GM107, GM206, GP100, GM204M, GP100, GM108M, GM107, GM200; a switch and a USB controller are no cards.
  const std::map<unsigned, std::string> older = {{0x1381, "5.0"}, {0x1401, "5.2"}, {0x15f8, "6.0"}, {0x1617, "5.2"},
                                                 {0x172e, "6.0"}, {0x1746, "5.0"}, {0x1789, "5.0"}, {0x17c8, "5.2"},
                                                 {0x1ac2, ""},    {0x1ad7, ""},    {0x1b06, "6.1"}};
  for (const auto& [id, capability] : older) EXPECT_EQ(guess(id).second, capability) << id;
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
  EXPECT_EQ(verdict_of({answer, hidden, sound}, facts, false), Verdict::partial);
  EXPECT_EQ(verdict_of({answer}, facts, false), Verdict::unknown);
  hidden.check.chain = true;
  EXPECT_EQ(verdict_of({sound, hidden}, facts), Verdict::unknown);
}

}  // namespace
}  // namespace assay::doctor
