// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See messages.h.
#include "harness/parent/messages.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/error.h"
#include "harness/base/parse_json.h"
#include "harness/base/text.h"

namespace assay {
namespace {

enum class Kind { text, natural, number, object };

struct Shape {
  MessageType type;
  std::string_view name;
  std::vector<std::pair<std::string_view, Kind>> keys;  // besides "type"
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all{
      {MessageType::hello,
       "hello",
       {{"schema", Kind::text},
        {"worker", Kind::text},
        {"version", Kind::text},
        {"commit", Kind::text},
        {"pid", Kind::natural}}},
      {MessageType::case_begin, "case_begin", {{"id", Kind::natural}}},
      {MessageType::ready, "ready", {{"id", Kind::natural}}},
      {MessageType::heartbeat, "heartbeat", {{"id", Kind::natural}, {"phase", Kind::text}}},
      {MessageType::window,
       "window",
       {{"id", Kind::natural},
        {"metric", Kind::text},
        {"unit", Kind::text},
        {"value", Kind::number},
        {"seconds", Kind::number}}},
      {MessageType::record, "record", {{"id", Kind::natural}, {"record", Kind::object}}},
      {MessageType::case_end, "case_end", {{"id", Kind::natural}}}};
  return all;
}

bool fits(const Json& value, Kind kind) {
  switch (kind) {
    case Kind::text:
      return value.is_string();
    case Kind::natural:
      return value.is_number_unsigned();
    case Kind::number:
      return value.is_number() || value.is_null();  // null: not a number
    case Kind::object:
      return value.is_object();
  }
  return false;
}

// The start of a line as it can be shown: what garbage contains must not reach a terminal.

}  // namespace

Message parse_message(const std::string& text) {
  Json json = parse_json(text, false);
  if (!json.is_object() || !json.contains("type") || !json["type"].is_string())
    throw Error(fmt::format("a line that is no message: \"{}\"", shown(text)));
  const auto type = json["type"].get<std::string>();
  for (const Shape& shape : shapes()) {
    if (shape.name != type) continue;
    for (const auto& [key, kind] : shape.keys) {
      const auto found = json.find(std::string(key));
      if (found == json.end()) throw Error(fmt::format("a {} without \"{}\"", type, key));
      if (!fits(*found, kind)) throw Error(fmt::format("a {} whose \"{}\" has the wrong type", type, key));
    }
    if (json.size() != shape.keys.size() + 1) throw Error(fmt::format("a {} with keys that don't belong there", type));
    Message message{shape.type, 0, std::move(json)};
    if (shape.type != MessageType::hello) message.id = message.json["id"].get<std::uint64_t>();
    return message;
  }
  throw Error(fmt::format("a message of the unknown type \"{}\"", shown(type)));
}

}  // namespace assay
