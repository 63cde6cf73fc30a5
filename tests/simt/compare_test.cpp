// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Every version of the CUDA comparisons against the CPU row: right buffers, single wrong bits, more wrong elements than
// are kept; and the digest.
#include "kernels/compare.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "device_array.h"
#include "kernels/fill.h"
#include "runtime/rig.h"

namespace assay::kernels {
namespace {

using simt::DeviceArray;

constexpr Stream stream{0x123456789ABCDEF0u, 3};

// Which elements of a buffer are spoilt: every `step`-th from `first` on.
struct Damage {
  std::size_t first, step;
};

void expect_equal(const MismatchReport& actual, const MismatchReport& expected) {
  ASSERT_EQ(actual.compared, expected.compared);
  ASSERT_EQ(actual.mismatches, expected.mismatches);
  ASSERT_EQ(actual.kept, expected.kept);
  for (std::size_t k = 0; k < expected.kept; ++k) {
    ASSERT_EQ(actual.first[k].index, expected.first[k].index) << k;
    ASSERT_EQ(actual.first[k].expected, expected.first[k].expected) << k;
    ASSERT_EQ(actual.first[k].actual, expected.first[k].actual) << k;
    ASSERT_EQ(actual.first[k].second_read, expected.first[k].second_read) << k;
    ASSERT_EQ(actual.first[k].pass, expected.first[k].pass) << k;
  }
}

template <typename T, class Fill, class Compare>
void check(const Fill& fill, const Compare& compare, std::size_t n, std::size_t offset, const Damage& damage) {
  std::vector<T> buffer(n);
  fill(*fill_ops(Backend::cpu), buffer.data());
  for (std::size_t i = damage.first; i < n; i += damage.step) {
    reinterpret_cast<unsigned char*>(&buffer[i])[i % sizeof(T)] ^= static_cast<unsigned char>(1u << i % 8);
  }
  MismatchReport expected;
  compare(*compare_ops(Backend::cpu), buffer.data(), &expected);
  for (const simt::Schedule schedule : simt::all_schedules) {
    simt::set_schedule(schedule);
    for (std::size_t v = 0; v < cuda_versions<CompareOps>.count; ++v) {
      SCOPED_TRACE(std::string(cuda_versions<CompareOps>.first[v].name) + ", " + simt::name_of(schedule));
      DeviceArray<T> on_device(buffer, offset);
      DeviceArray<MismatchReport> report(std::vector<MismatchReport>(1));
      compare(*cuda_versions<CompareOps>.first[v].ops, on_device.data(), report.data());
      simt::succeed(cudaGetLastError());
      ASSERT_NO_FATAL_FAILURE(expect_equal(report.values()[0], expected));
    }
  }
}

TEST(SimtCompare, EveryVersionReportsWhatTheCpuRowReports) {
  ASSERT_EQ(cuda_versions<CompareOps>.count, 2u);
  simt::reset();
  simt::set_processors(1);
  const Exec exec;
  for (const std::size_t n : {0, 1, 3, 4, 5, 1023, 9001}) {
    for (const std::size_t offset : {0, 1}) {
      for (const Damage& damage : {Damage{n, 1}, Damage{n / 2, n + 1}, Damage{0, 1}, Damage{2, 97}}) {
        SCOPED_TRACE("n " + std::to_string(n) + ", damage from " + std::to_string(damage.first));
        check<std::uint32_t>([&](const FillOps& f, std::uint32_t* out) { f.u32(out, n, stream, exec); },
                             [&](const CompareOps& c, const std::uint32_t* in, MismatchReport* report) {
                               c.u32(in, n, stream, report, exec);
                             },
                             n, offset, damage);
        check<std::uint64_t>([&](const FillOps& f, std::uint64_t* out) { f.u64(out, n, stream, exec); },
                             [&](const CompareOps& c, const std::uint64_t* in, MismatchReport* report) {
                               c.u64(in, n, stream, report, exec);
                             },
                             n, offset, damage);
        check<float>([&](const FillOps& f, float* out) { f.f32(out, n, stream, 8, exec); },
                     [&](const CompareOps& c, const float* in, MismatchReport* report) {
                       c.f32(in, n, stream, 8, report, exec);
                     },
                     n, offset, damage);
        check<double>([&](const FillOps& f, double* out) { f.f64(out, n, stream, 16, exec); },
                      [&](const CompareOps& c, const double* in, MismatchReport* report) {
                        c.f64(in, n, stream, 16, report, exec);
                      },
                      n, offset, damage);
        if (HasFatalFailure()) return;
      }
    }
  }
  simt::set_processors(2);
}

TEST(SimtCompare, DigestsAreThoseOfTheCpuRowAndAddUp) {
  simt::reset();
  std::vector<unsigned char> bytes(20011);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(u32_at({9, 9}, i));
  for (const std::size_t n : {0, 1, 7, 8, 9, 255, 256, 2047, 20011}) {
    const std::vector<unsigned char> some(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
    std::uint64_t expected = 0;
    compare_ops(Backend::cpu)->digest(some.data(), n, &expected, {});
    for (const simt::Schedule schedule : simt::all_schedules) {
      simt::set_schedule(schedule);
      for (const std::size_t offset : {0, 1, 8}) {
        DeviceArray<unsigned char> buffer(some, offset);
        DeviceArray<std::uint64_t> digests(std::vector<std::uint64_t>{5});
        for (int call = 0; call < 3; ++call)
          simt::last_version<CompareOps>()->digest(buffer.data(), n, digests.data(), {});
        simt::succeed(cudaGetLastError());
        ASSERT_EQ(digests.values()[0], 5 + 3 * expected) << n << " " << offset;
      }
    }
  }
}

}  // namespace
}  // namespace assay::kernels
