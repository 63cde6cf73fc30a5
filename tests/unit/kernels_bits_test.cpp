// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Bit patterns against known ones, bf16 there and back, and NUMA lists as Linux writes them.
#include <gtest/gtest.h>

#include "kernels/bits.h"
#include "kernels/numa.h"

namespace assay::kernels {
namespace {

TEST(KernelsBits, PatternsAreThoseOfIeee754) {
  EXPECT_EQ(bits_of(1.0F), 0x3F800000u);
  EXPECT_EQ(bits_of(-2.0), 0xC000000000000000u);
  EXPECT_EQ(bits_of(std::int8_t{-1}), 0xFFu);
  EXPECT_EQ(bits_of(std::int16_t{-2}), 0xFFFEu);
}

TEST(KernelsBits, SmallIntegersSurviveBf16) {
  EXPECT_EQ(to_bf16(1.0F).bits, 0x3F80u);
  EXPECT_EQ(to_bf16(-3.0F).bits, 0xC040u);
  for (int i = -256; i <= 256; ++i) EXPECT_EQ(from_bf16(to_bf16(static_cast<float>(i))), static_cast<float>(i));
}

TEST(KernelsBits, NumbersOfF16) {
  for (const float x : {0.0F, 1.0F, -2.0F, 65504.0F, 0x1p-14F, -3.5F, 2047.0F}) EXPECT_EQ(from_f16(to_f16(x)), x);
  EXPECT_EQ(from_f16(0x3C00), 1);
  EXPECT_EQ(from_f16(0xC000), -2);
  EXPECT_EQ(from_f16(0x7BFF), 65504);
  EXPECT_EQ(from_f16(0x0400), 0x1p-14);
  EXPECT_EQ(from_f16(0x0001), 0x1p-24);
  EXPECT_EQ(from_f16(0x83FF), -1023 * 0x1p-24);
}

TEST(KernelsNuma, TheOtherNodeIsOneOfTheList) {
  EXPECT_EQ(other_node("0-1", 0), 1);
  EXPECT_EQ(other_node("0-1", 1), 0);
  EXPECT_EQ(other_node("0,2", 0), 2);  // no node 1
  EXPECT_EQ(other_node("1-3", 1), 2);  // node 0 has no memory
  EXPECT_EQ(other_node("0,8", 5), 0);  // a thread on a node without memory
  EXPECT_EQ(other_node("0-3,8", 0), 1);
  EXPECT_EQ(other_node("0", 0), -1);
  EXPECT_EQ(other_node("", 0), -1);
  EXPECT_EQ(other_node("none", 0), -1);
}

}  // namespace
}  // namespace assay::kernels
