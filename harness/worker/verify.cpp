// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See verify.h. Instantiated for the element types of Run::verify.
#include "harness/worker/verify.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <type_traits>
#include <vector>

#include "harness/base/error.h"
#include "kernels/bits.h"
#include "kernels/second_read.h"

namespace assay {
namespace {

constexpr std::size_t chunk_elements = 8192, evidence_kept = 10;
constexpr std::size_t part_bytes = std::size_t{4} << 20;  // copied from a device at once

using kernels::bits_of;
using kernels::BitsOf;

template <class T>
bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

struct Tally {
  std::uint64_t mismatches = 0, nan_count = 0;
  double max_error = 0;
  std::vector<Mismatch> first;
};

// Relative to the expectation, absolute near zero; infinite when one of them isn't finite and they differ.
template <class T>
double error_of(T actual, T expected) {
  const auto a = static_cast<double>(actual), e = static_cast<double>(expected);
  if (a == e) return 0;
  const double difference = std::fabs(a - e);
  return std::isfinite(difference) ? difference / std::max(std::fabs(e), std::numeric_limits<double>::min()) : INFINITY;
}

template <class T>
bool equal(T actual, T expected, const Check<T>& check, double& error) {
  if (bits_of(actual) == bits_of(expected)) return true;
  if (check.absolute_bound == 0 && check.relative_bound == 0) return false;
  const auto a = static_cast<double>(actual), e = static_cast<double>(expected);
  const double difference = std::fabs(a - e);
  if (!(difference <= check.absolute_bound + check.relative_bound * std::fabs(e))) return false;  // false for NaN
  error = std::max(error, error_of(actual, expected));
  return true;
}

template <class T>
std::string hex_of(T value) {
  return fmt::format("0x{:0{}x}", static_cast<std::uint64_t>(bits_of(value)), static_cast<int>(sizeof(T) * 2));
}

template <class T>
Mismatch evidence(const Check<T>& check, std::size_t index, T actual, T expected) {
  const T second = kernels::second_read(&check.actual[index]);
  const auto difference = static_cast<BitsOf<T>>(bits_of(expected) ^ bits_of(actual));
  return {check.buffer,     index,          fmt::format("{}", expected), fmt::format("{}", actual), hex_of(expected),
          hex_of(actual), hex_of(difference), hex_of(second)};
}

template <class T>
void compare_chunk(const Check<T>& check, std::size_t first, std::span<const T> actual, std::span<const T> expected,
                   Tally& tally) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (equal(actual[i], expected[i], check, tally.max_error)) continue;
    tally.mismatches += 1;
    if (is_nan(actual[i]) && !is_nan(expected[i])) tally.nan_count += 1;
    if (tally.first.size() < evidence_kept) tally.first.push_back(evidence(check, first + i, actual[i], expected[i]));
  }
}

// Bit for bit, a whole chunk at once: memcmp-like, so that the common case costs one pass.
template <class T>
bool same_bits(std::span<const T> actual, std::span<const T> expected) {
  BitsOf<T> difference = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    difference = static_cast<BitsOf<T>>(difference | (bits_of(actual[i]) ^ bits_of(expected[i])));
  return difference == 0;
}

void merge(const Tally& tally, Verification& result) {
  result.mismatches += tally.mismatches;
  result.nan_count += tally.nan_count;
  result.max_error = std::max(result.max_error, tally.max_error);
  result.first_mismatches.insert(result.first_mismatches.end(), tally.first.begin(), tally.first.end());
}

// All but the words about the method.
template <class T>
void compare_all(const Check<T>& check, int threads, Verification& result) {
  const std::size_t n = check.actual.size(), before = result.first_mismatches.size();
  std::exception_ptr problem;
  std::mutex guard;
#pragma omp parallel num_threads(threads)
  {
    Tally tally;
    std::vector<T> expected(std::min(n, chunk_elements)), actual(expected.size());
    const kernels::Range mine = kernels::share(n, omp_get_thread_num(), omp_get_num_threads(), chunk_elements);
    try {
      for (std::size_t first = mine.begin; first < mine.end; first += chunk_elements) {
        const std::span<T> out(expected.data(), std::min(chunk_elements, mine.end - first));
        check.expect(first, out);
        // Read once: what is compared is what the evidence shows, and a second read is a second one.
        std::copy_n(check.actual.data() + first, out.size(), actual.data());
        const std::span<const T> was(actual.data(), out.size()), wanted(out.data(), out.size());
        if (!same_bits(was, wanted)) compare_chunk(check, first, was, wanted, tally);
      }
    } catch (...) {  // an exception must not leave a parallel region: it is thrown again below
      const std::lock_guard lock(guard);
      problem = std::current_exception();
    }
    const std::lock_guard lock(guard);
    merge(tally, result);
  }
  if (problem) std::rethrow_exception(problem);
  const auto by_index = [](const Mismatch& a, const Mismatch& b) { return a.index < b.index; };
  std::sort(result.first_mismatches.begin() + static_cast<std::ptrdiff_t>(before), result.first_mismatches.end(),
            by_index);
  if (result.first_mismatches.size() > evidence_kept) result.first_mismatches.resize(evidence_kept);
  result.elements_compared += n;
}

template <class T>
void add_method(const Check<T>& check, Verification& result) {
  const bool exact = check.absolute_bound == 0 && check.relative_bound == 0;
  if (!result.method.empty()) result.method += "; ";
  result.method += exact ? fmt::format("{}: bitwise", check.buffer)
                         : fmt::format("{}: |difference| <= {:.3g} + {:.3g} x |expected|", check.buffer,
                                       check.absolute_bound, check.relative_bound);
}

}  // namespace

template <class T>
void compare(const Check<T>& check, int threads, Verification& result) {
  compare_all(check, threads, result);
  add_method(check, result);
}

template <class T>
void compare_elsewhere(const Check<T>& check, int threads, Place& place, Verification& result) {
  const std::size_t n = check.actual.size(), most = part_bytes / sizeof(T);
  const std::size_t before = result.first_mismatches.size();
  std::vector<T> copy(std::min(n, most));
  for (std::size_t first = 0; first < n; first += most) {
    const std::span<T> part(copy.data(), std::min(most, n - first));
    place.read(part.data(), check.actual.data() + first, part.size_bytes());
    const std::size_t kept = result.first_mismatches.size();
    compare_all(Check<T>{check.buffer, part,
                         [&](std::size_t i, std::span<T> out) { check.expect(first + i, out); },
                         check.absolute_bound, check.relative_bound},
                threads, result);
    for (std::size_t k = kept; k < result.first_mismatches.size(); ++k) result.first_mismatches[k].index += first;
  }
  for (std::size_t k = before; k < result.first_mismatches.size(); ++k) {
    Mismatch& wrong = result.first_mismatches[k];
    T second{};
    place.read(&second, check.actual.data() + wrong.index, sizeof second);
    wrong.second_read_bits = hex_of(second);
  }
  add_method(check, result);
}

template <class T>
std::uint64_t corrupt(const Check<T>& check, std::uint64_t seed) {
  if (check.actual.empty())
    throw Error(fmt::format("ASSAY_TEST_CORRUPT: output '{}' has no element to flip a bit in", check.buffer));
  const std::size_t index = seed % check.actual.size();
  T& element = check.actual[index];
  for (int bit = static_cast<int>(sizeof(T) * 8) - 1; bit >= 0; --bit) {
    const auto flipped_bits = static_cast<BitsOf<T>>(bits_of(element) ^ (BitsOf<T>{1} << bit));
    const T flipped = std::bit_cast<T>(flipped_bits);
    double error = 0;
    // Well above the bound: the element as it is may itself lie anywhere inside it.
    Check<T> wide{check.buffer, {}, nullptr, 4 * check.absolute_bound, 4 * check.relative_bound};
    if (!equal(flipped, element, wide, error)) {
      element = flipped;
      return index;
    }
  }
  throw Error(fmt::format("ASSAY_TEST_CORRUPT: no single bit of '{}'[{}] lies above the case's error bound",
                          check.buffer, index));
}

template <class T>
std::uint64_t corrupt_elsewhere(const Check<T>& check, std::uint64_t seed, Place& place) {
  const std::size_t n = check.actual.size(), index = n > 0 ? seed % n : 0;
  T element{};
  if (n > 0) place.read(&element, check.actual.data() + index, sizeof element);
  corrupt(Check<T>{check.buffer, {&element, n > 0 ? std::size_t{1} : 0}, nullptr, check.absolute_bound,
                   check.relative_bound},
          seed);
  place.write(check.actual.data() + index, &element, sizeof element);
  return index;
}

#define ASSAY_VERIFIES(T)                                                           \
  template void compare(const Check<T>&, int, Verification&);                       \
  template void compare_elsewhere(const Check<T>&, int, Place&, Verification&);     \
  template std::uint64_t corrupt(const Check<T>&, std::uint64_t);                   \
  template std::uint64_t corrupt_elsewhere(const Check<T>&, std::uint64_t, Place&);
ASSAY_VERIFIES(double)
ASSAY_VERIFIES(float)
ASSAY_VERIFIES(std::uint64_t)
ASSAY_VERIFIES(std::uint32_t)
ASSAY_VERIFIES(std::int32_t)
ASSAY_VERIFIES(std::uint16_t)
ASSAY_VERIFIES(std::uint8_t)
#undef ASSAY_VERIFIES

}  // namespace assay
