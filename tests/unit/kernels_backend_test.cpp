// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Which version of a family a device runs, with tables made up here: ranges, the order of announcing, what was
// compiled.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "kernels/backend.h"
#include "tests/unit/source_folder.h"

namespace assay::kernels {
namespace {

struct ToyOps {
  int number;
};
constexpr ToyOps toy[] = {{0}, {1}, {2}, {3}, {4}};
using Versions = CudaVersions<ToyOps>;

const CudaVersion<ToyOps> general[] = {{"naive", &toy[0]}, {"tiled", &toy[1], 0}, {"async", &toy[2], 80}};
const CudaVersion<ToyOps> hopper[] = {{"wgmma", &toy[3], 90, 91}};
const CudaVersion<ToyOps> blackwell[] = {{"tcgen05", &toy[4], 100, 110, false}};

template <std::size_t count>
void add(Versions& versions, const CudaVersion<ToyOps> (&of_file)[count], const char* images = "") {
  for (const auto& version : of_file) versions.add(version, of_file[0].name, images);
}

std::string names(const Versions& versions) {
  std::string text;
  for (const auto& version : versions) text += std::string(version.name) + " ";
  return text;
}

std::string name_for(const Versions& versions, int capability) {
  const CudaVersion<ToyOps>* found = versions.find(capability);
  return found != nullptr ? found->name : "none";
}

TEST(CudaVersions, the_order_of_announcing_does_not_matter) {
  Versions one, other;
  add(one, general), add(one, hopper), add(one, blackwell);
  add(other, blackwell), add(other, hopper), add(other, general);
  EXPECT_EQ(names(one), "naive tiled async wgmma tcgen05 ");
  EXPECT_EQ(names(other), names(one));
  const CudaVersion<ToyOps> more[] = {{"before", &toy[0], 0}, {"a", &toy[1], 0}, {"behind", &toy[2], 80}};
  Versions first, last;
  add(first, more), add(first, general);
  add(last, general), add(last, more);
  EXPECT_EQ(names(first), "before a naive tiled behind async ");
  EXPECT_EQ(names(last), names(first));
}

TEST(CudaVersions, the_best_is_the_last_whose_range_has_the_device) {
  Versions versions;
  EXPECT_EQ(name_for(versions, 80), "none");
  EXPECT_EQ(versions.best(), nullptr);
  add(versions, general), add(versions, hopper), add(versions, blackwell);
  for (const auto& [capability, expected] : {std::pair{70, "tiled"},
                                             {79, "tiled"},
                                             {80, "async"},
                                             {89, "async"},
                                             {90, "wgmma"},
                                             {91, "async"},
                                             {99, "async"},
                                             {100, "tcgen05"},
                                             {109, "tcgen05"},
                                             {110, "async"},
                                             {121, "async"},
                                             {newest_capability, "async"}}) {
    EXPECT_EQ(name_for(versions, capability), expected) << capability;
  }
  EXPECT_EQ(versions.best(), &toy[2]);
  EXPECT_EQ(versions.best(75), &toy[1]);
  Versions late;
  add(late, hopper);
  EXPECT_EQ(name_for(late, 89), "none");
  EXPECT_EQ(name_for(late, 91), "none");
}

TEST(CudaVersions, a_row_is_looked_for_where_the_best_version_lacks_it) {
  struct TwoRows {
    const int *old_one, *new_one;
  };
  static constexpr int row = 0;
  static constexpr TwoRows both{&row, &row}, fresh{nullptr, &row}, old{&row, nullptr};
  CudaVersions<TwoRows> versions;
  for (const CudaVersion<TwoRows>& version :
       {CudaVersion<TwoRows>{"old", &old, 70}, {"both", &both, 80}, {"fresh", &fresh, 90}}) {
    versions.add(version, "file", "");
  }
  EXPECT_STREQ(versions.find(90)->name, "fresh");
  EXPECT_STREQ(versions.find(90, &TwoRows::new_one)->name, "fresh");
  EXPECT_STREQ(versions.find(90, &TwoRows::old_one)->name, "both");
  EXPECT_STREQ(versions.find(75, &TwoRows::old_one)->name, "old");
  EXPECT_EQ(versions.find(75, &TwoRows::new_one), nullptr);
  EXPECT_EQ(versions.describe("toy", 90), "toy runs version fresh on 9.0");
  EXPECT_EQ(versions.describe("toy old_one", 90, &TwoRows::old_one), "toy old_one runs version both on 9.0");
  EXPECT_EQ(versions.describe("toy new_one", 75, &TwoRows::new_one),
            "toy new_one needs a device of compute capability 8.0 or later; this one has 7.5");
}

TEST(CudaVersions, a_version_is_found_by_its_name_where_it_runs) {
  Versions versions;
  add(versions, general), add(versions, hopper);
  EXPECT_TRUE(versions.knows("tiled"));
  EXPECT_FALSE(versions.knows("tile"));
  EXPECT_STREQ(versions.find(90, "tiled")->name, "tiled");
  EXPECT_STREQ(versions.find(90, "wgmma")->name, "wgmma");
  EXPECT_EQ(versions.find(91, "wgmma"), nullptr);
  EXPECT_EQ(versions.find(90, "tile"), nullptr);
  EXPECT_EQ(versions.describe("toy", 90, "tiled"), "toy runs version tiled on 9.0");
  EXPECT_EQ(versions.describe("toy", 91, "wgmma"),
            "toy needs a device of compute capability 9.0 to before 9.1; this one has 9.1");
}

TEST(CudaVersions, code_of_a_device_is_chosen_as_the_driver_does) {
  const char* all = "75_80_86_89_90_100_120_ptx75_ptx120";
  for (const auto& [capability, expected] : {std::pair{70, -1},
                                             {75, 75},
                                             {80, 80},
                                             {87, 86},
                                             {89, 89},
                                             {90, 90},
                                             {93, 90},
                                             {100, 100},
                                             {103, 100},
                                             {110, 75},
                                             {120, 120},
                                             {121, 120},
                                             {130, 120}}) {
    EXPECT_EQ(cuda_image(all, capability), expected) << capability;
  }
  EXPECT_EQ(cuda_image("90a", 90), 90);
  EXPECT_EQ(cuda_image("90a", 93), -1);
  EXPECT_EQ(cuda_image("100a_103a", 103), 103);
  EXPECT_EQ(cuda_image("100f", 103), 100);
  EXPECT_EQ(cuda_image("103a_100f", 106), 100);
  EXPECT_EQ(cuda_image("100f", 110), -1);
  EXPECT_EQ(cuda_image("90", 89), -1);
  EXPECT_EQ(cuda_image("", 93), 93);  // the stand-in
  EXPECT_TRUE(cuda_newer(all, 121));
  EXPECT_FALSE(cuda_newer(all, 93));
  EXPECT_FALSE(cuda_newer("", 999));
}

TEST(CudaVersions, machine_code_older_than_the_range_does_not_count) {
  Versions versions;
  add(versions, general, "75_90");
  EXPECT_EQ(name_for(versions, 75), "tiled");
  EXPECT_EQ(name_for(versions, 80), "none");  // no machine code of 8.x at all
  EXPECT_EQ(name_for(versions, 93), "async");
  Versions text;
  add(text, general, "ptx75");
  EXPECT_EQ(name_for(text, 86), "tiled");  // the driver compiles text of 7.5, in which async has no body
  EXPECT_EQ(name_for(text, 70), "none");
}

// What tests/simt leaves out: each version there must say that nothing has executed it.
TEST(CudaVersions, code_that_no_rig_runs_says_so) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_folder() / "kernels")) {
    const std::string name = entry.path().filename().string();
    if (name.find("_blackwell.cu") == std::string::npos || entry.path().extension() != ".cu") continue;
    ++files;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::size_t begin = text.find("versions[] = {"), end = text.find("};", begin);
    ASSERT_NE(begin, std::string::npos) << name;
    const std::string list = text.substr(begin + 14, end - begin - 14);
    const auto entries = std::count(list.begin(), list.end(), '{');
    std::size_t marked = 0;
    for (std::size_t at = 0; (at = list.find(", false}", at)) != std::string::npos; ++at) ++marked;
    EXPECT_GE(entries, 1) << name;
    EXPECT_EQ(static_cast<std::size_t>(entries), marked) << name;
  }
  EXPECT_GE(files, 1);
}

TEST(CudaVersions, a_sentence_says_what_runs_or_why_nothing_does) {
  Versions versions;
  EXPECT_EQ(versions.describe("toy", 80), "this build has no CUDA code of toy");
  add(versions, hopper, "90a"), add(versions, blackwell, "100a_100f_103a");
  EXPECT_EQ(versions.describe("toy", 90), "toy runs version wgmma on 9.0");
  EXPECT_EQ(versions.describe("toy", 80),
            "toy needs a device of compute capability 9.0 to before 11.0; this one has 8.0");
  EXPECT_EQ(versions.describe("toy", 103), "toy runs version tcgen05 on 10.3; no test has ever executed this version");
  add(versions, general, "80_90");
  EXPECT_EQ(versions.describe("toy", 93),
            "toy runs version async, the 9.0 family's code, on 9.3, which is newer than all "
            "that this build has code for");
  EXPECT_EQ(versions.describe("toy", 89), "toy runs version async, the 8.0 family's code, on 8.9");
  EXPECT_EQ(versions.describe("toy", 120),
            "this build has no code of toy for compute capability 12.0 (it has: 80 90); "
            "configure it with -DASSAY_CUDA_ALL=ON");
  Versions late;
  const CudaVersion<ToyOps> only[] = {{"async", &toy[2], 80}};
  add(late, only, "80_90a");
  EXPECT_EQ(late.describe("toy", 75), "toy needs a device of compute capability 8.0 or later; this one has 7.5");
}

}  // namespace
}  // namespace assay::kernels
