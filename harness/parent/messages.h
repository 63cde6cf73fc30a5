// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What a worker may say (protocol.h, results/schema/worker.v1.json), checked strictly: a line that is anything else is
// an Error whose text says what is wrong with it, and costs the case.
#pragma once

#include <cstdint>
#include <string>

#include "harness/base/json.h"

namespace assay {

enum class MessageType { hello, case_begin, ready, heartbeat, window, record, case_end };

struct Message {
  MessageType type;
  std::uint64_t id = 0;  // of the case; 0 for hello
  Json json;             // all keys are there and have their type
};

Message parse_message(const std::string& text);

}  // namespace assay
