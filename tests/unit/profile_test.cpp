// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/parent/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "harness/base/error.h"

namespace assay {
namespace {

using testing::HasSubstr;

struct ProfileTest : testing::Test {
  ProfileTest() : folder(std::filesystem::temp_directory_path() / ("assay-profile-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder);
    setenv("ASSAY_PROFILE_DIR", folder.c_str(), 1);
  }
  ~ProfileTest() override {
    unsetenv("ASSAY_PROFILE_DIR");
    std::filesystem::remove_all(folder);
  }
  void write(const std::string& text) const { std::ofstream(folder / "p.toml") << text; }
  std::string problem(const std::string& name = "p") const {
    try {
      read_profile(name);
    } catch (const Error& e) {
      return std::to_string(e.code()) + " " + e.what();
    }
    return "no error";
  }
  std::filesystem::path folder;
};

TEST_F(ProfileTest, ReadsWhatItSaysAndKeepsTheRest) {
  write(
      "summary = 'x'\nsessions = 4\n[policy]\nblock_s = 0.5\nsamples_min = 7\n[cases]\nfilter = ['a', 'b']\nbudget_s = "
      "3\n"
      "[patience]\ngrace_s = 2\ndeadline_factor = 9\n");
  const Profile p = read_profile("p");
  EXPECT_EQ(p.name, "p");
  EXPECT_EQ(p.sessions, 4);
  EXPECT_EQ(p.policy.block_s, 0.5);
  EXPECT_EQ(p.policy.samples_min, 7U);
  EXPECT_EQ(p.policy.samples_max, Policy{}.samples_max);
  EXPECT_EQ(p.filters, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(p.budget_s, 3);
  EXPECT_EQ(p.patience.grace_s, 2);
  EXPECT_EQ(p.deadline_factor, 9);
}

TEST_F(ProfileTest, EveryMistakeNamesFileAndKey) {
  write("summary = 'x'\n[policy]\nblok_s = 1\n");
  EXPECT_THAT(problem(), testing::AllOf(HasSubstr("3 "), HasSubstr("p.toml"), HasSubstr("blok_s")));
  write("summary = 'x'\nextra = 1\n");
  EXPECT_THAT(problem(), HasSubstr("extra"));
  write("summary = 'x'\nsessions = 0\n");
  EXPECT_THAT(problem(), HasSubstr("sessions"));
  write("summary = 'x'\n[policy]\nmeasure_min_s = 3\nmeasure_max_s = 1\n");
  EXPECT_THAT(problem(), HasSubstr("measure_max_s is less than measure_min_s"));
  write("summary = 'x'\n[policy]\nblock_s = 'long'\n");
  EXPECT_THAT(problem(), HasSubstr("block_s"));
  write("summary = \n");
  EXPECT_THAT(problem(), HasSubstr("p.toml"));
}

TEST_F(ProfileTest, UnknownNameIsUsage) {
  write("summary = 'x'\n");
  EXPECT_THAT(problem("pp"), testing::AllOf(HasSubstr("64 "), HasSubstr("there is no profile 'pp'; did you mean p?")));
}

TEST_F(ProfileTest, PatienceScale) {
  EXPECT_EQ(patience_scale(), 1);
  setenv("ASSAY_PATIENCE", "2.5", 1);
  EXPECT_EQ(patience_scale(), 2.5);
  setenv("ASSAY_PATIENCE", "much", 1);
  EXPECT_THROW(patience_scale(), UsageError);
  unsetenv("ASSAY_PATIENCE");
}

}  // namespace
}  // namespace assay
