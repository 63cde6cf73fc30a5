// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/protocol.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Protocol, CaseRequestComesBackAsItWas) {
  CaseRequest request;
  request.id = 7;
  request.case_name = "memory/stream/op:copy";
  request.device_set = {"cpu:0"};
  request.session = 3;
  request.hold = true;
  request.policy = {0.2, 0.1, 2, 1, 4, 6, 99, 0.01, 18446744073709551615ULL, 1U << 30};
  const Json json = to_json(request);
  EXPECT_EQ(json.at("type"), "case");
  EXPECT_EQ(line(to_json(case_request_from_json(json))), line(json));
  EXPECT_EQ(case_request_from_json(json).policy.samples_max, 99U);
}

TEST(Protocol, MissingFieldIsAnException) {
  Json json = to_json(CaseRequest{});
  json["policy"].erase("block_s");
  EXPECT_THROW(case_request_from_json(json), Json::exception);
}

}  // namespace
}  // namespace assay
