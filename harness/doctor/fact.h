// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// One thing that is known of a machine, or why it isn't. "It is not there", "it may not be read", "it did not answer in
// time", "it can't be understood" and "the bundle hasn't it" are five different answers, and only the first of them is
// knowledge: a check that meets one of the others says so and never guesses.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace assay::doctor {

enum class Known { value, absent, denied, late, unreadable, not_in_bundle };
// "value", "absent", "denied", "late", "unreadable", "not_in_bundle": the words of doctor.v1.json.
std::string_view word(Known known);
// "is not there", "may not be read", ...: ends a sentence that begins with a source.
std::string_view phrase(Known known);

template <class T>
struct Fact {
  Known state = Known::absent;
  T value{};
  std::string source;  // a path from the root of the machine, or "environment", "NVML", "mount table"

  explicit operator bool() const { return state == Known::value; }
  const T& operator*() const& { return value; }
  T operator*() && { return std::move(value); }  // so that a loop over *root.list(...) has something to stand on
  const T* operator->() const { return &value; }
  // It may be there, and nobody can say.
  bool unknown() const { return state != Known::value && state != Known::absent; }

  static Fact of(T value, std::string source) { return {Known::value, std::move(value), std::move(source)}; }
  static Fact not_known(Known state, std::string source) { return {state, T{}, std::move(source)}; }

  // The same source read as something else; what `parse` returns nullopt for is unreadable.
  template <class Parse>
  auto as(Parse parse) const {
    using Other = typename decltype(parse(value))::value_type;
    if (state != Known::value) return Fact<Other>::not_known(state, source);
    std::optional<Other> other = parse(value);
    if (!other) return Fact<Other>::not_known(Known::unreadable, source);
    return Fact<Other>::of(std::move(*other), source);
  }
};

}  // namespace assay::doctor
