// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cerrno>

#include "harness/base/error.h"
#include "tests/unit/sample_record.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

TEST(File, WritesWholeAndLeavesNothingBeside) {
  const testing::TemporaryFolder folder;
  write_file_atomically(folder / "a", "one");
  write_file_atomically(folder / "a", std::string("two\0three", 9));
  EXPECT_EQ(read_file(folder / "a"), std::string("two\0three", 9));
  int entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) ++entries;
  EXPECT_EQ(entries, 1);
}

TEST(File, ErrorsSayWhatAndWhere) {
  const testing::TemporaryFolder folder;
  try {
    read_file(folder / "missing");
    ADD_FAILURE() << "no error";
  } catch (const Error& problem) {
    EXPECT_THAT(problem.what(), HasSubstr("missing: No such file or directory"));
    EXPECT_EQ(problem.code(), exit_code::error);
  }
  EXPECT_THROW(write_file_atomically(folder / "no" / "where", "x"), Error);
  EXPECT_EQ(read_file_or(folder / "missing", "nothing"), "nothing");
}

TEST(File, ReadsOnlyFiles) {
  const testing::TemporaryFolder folder;
  const std::string fifo = (folder / "fifo").string();
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& path : {fifo, std::string("/dev/zero")}) {
    EXPECT_THROW(read_file(path), Error) << path;
    EXPECT_EQ(read_file_or(path, "nothing"), "nothing") << path;
  }
  EXPECT_FALSE(read_file_or("/proc/self/stat").empty());
  EXPECT_THAT([&] { read_file(folder.path()); }, ::testing::ThrowsMessage<Error>(HasSubstr("directory")));
}

TEST(File, FollowsNoLinkThatLiesInItsWay) {
  const testing::TemporaryFolder folder;
  write_file_atomically(folder / "victim", "precious");
  std::filesystem::create_symlink(folder / "victim", folder / "a.new");
  write_file_atomically(folder / "a", "one");
  EXPECT_EQ(read_file(folder / "a"), "one");
  EXPECT_EQ(read_file(folder / "victim"), "precious");
  std::filesystem::create_directory(folder / "b.new");
  EXPECT_THROW(write_file_atomically(folder / "b", "one"), Error);
}

TEST(File, AdviceFitsTheReason) {
  EXPECT_THAT(write_advice(ENOSPC), HasSubstr("space"));
  EXPECT_THAT(write_advice(EDQUOT), HasSubstr("space"));
  EXPECT_THAT(write_advice(EFBIG), HasSubstr("ulimit -f"));
  EXPECT_THAT(write_advice(EROFS), HasSubstr("read-only"));
  for (const int reason : {EACCES, EROFS, ENOENT, EIO}) {
    EXPECT_EQ(write_advice(reason).find("space"), std::string::npos) << reason;
    EXPECT_THAT(write_advice(reason), HasSubstr("--out"));
  }
}

TEST(File, DescriptorClosesOnce) {
  Descriptor first(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int fd = first.get();
  ASSERT_TRUE(first);
  Descriptor second(std::move(first));
  EXPECT_FALSE(first);
  EXPECT_EQ(second.get(), fd);
  second.reset();
  EXPECT_EQ(fcntl(fd, F_GETFD), -1);
}

}  // namespace
}  // namespace assay
