// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The edges of every family's contract: no elements (then pointers may be null), one element, a null pointer and one
// that isn't aligned. The rows check nothing, so the last two must end in a fault that the rig names, and in no result.
// What is right for some elements and more than 2^32 of them is in the families' tests and in wide_test.cpp.
#include <cuda_runtime.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "device_array.h"
#include "kernels/atomics.h"
#include "kernels/chase.h"
#include "kernels/compare.h"
#include "kernels/fill.h"
#include "kernels/fma.h"
#include "kernels/march.h"
#include "kernels/mma.h"
#include "kernels/random.h"
#include "kernels/reduce.h"
#include "kernels/shared.h"
#include "kernels/stream.h"
#include "kernels/transpose.h"
#include "runtime/rig.h"

namespace assay::kernels {
namespace {

using simt::DeviceArray;
using testing::AnyOf;
using testing::HasSubstr;

constexpr std::size_t some = 100;

// Memory for the parameters that aren't looked at, large enough for each of them. The inputs stay zero.
enum class Area { in, out, sums };
template <class T>
T* room(Area area = Area::in) {
  constexpr std::size_t words = 1 << 15;
  static DeviceArray<std::uint64_t> memory(std::vector<std::uint64_t>(3 * words, 0));
  return reinterpret_cast<T*>(memory.data() + static_cast<std::size_t>(area) * words);
}

// An operation with the one buffer whose pointer is tried out, and how many elements it has.
struct Use {
  std::string name;
  std::function<void(void* buffer, std::size_t n)> run;
  bool has_size = true;      // else it has whole blocks, and needs its memory even for no passes
  bool takes_bytes = false;  // of any alignment
};

template <class Ops, class Add>
void each_version(const char* family, const Add& add) {
  ASSERT_GT(cuda_versions<Ops>.count, 0u) << family;
  for (std::size_t v = 0; v < cuda_versions<Ops>.count; ++v) {
    add(std::string(family) + " " + cuda_versions<Ops>.first[v].name + " ", *cuda_versions<Ops>.first[v].ops);
  }
}

template <class T>
void add_stream(std::vector<Use>* uses) {
  each_version<StreamOps<T>>("stream", [&](const std::string& name, const StreamOps<T>& ops) {
    const auto with_x = [&](const char* op, StreamFunction<T> run) {
      uses->push_back({name + op, [run](void* p, std::size_t n) {
                         T* const x = static_cast<T*>(p);
                         run({1, nullptr}, {room<T>(Area::out), x, room<T>(), 1, n, 1, Stores::regular,
                                            room<std::uint64_t>(Area::sums), room<double>(Area::sums)});
                       }});
    };
    const auto with_out = [&](const char* op, StreamFunction<T> run) {
      uses->push_back({name + op, [run](void* p, std::size_t n) {
                         run({1, nullptr}, {static_cast<T*>(p), room<T>(), room<T>(), 1, n, 1, Stores::non_temporal,
                                            nullptr, nullptr});
                       }});
    };
    with_x("read", ops.read);
    with_x("copy", ops.copy);
    with_x("scale", ops.scale);
    with_x("add", ops.add);
    with_x("triad", ops.triad);
    with_x("dot", ops.dot);
    with_out("write", ops.write);
    with_out("copy to", ops.copy);
    with_out("triad to", ops.triad);
  });
}

template <class T>
void add_reduce(std::vector<Use>* uses) {
  each_version<ReduceOps<T>>("reduce", [&](const std::string& name, const ReduceOps<T>& ops) {
    for (const bool sum : {true, false}) {
      uses->push_back(
          {name + (sum ? "sum" : "maximum"), [run = sum ? ops.sum : ops.maximum](void* p, std::size_t n) {
             run({1, nullptr}, {static_cast<const T*>(p), n, room<double>(Area::out), room<double>(Area::sums)});
           }});
    }
  });
}

void add_fill_and_compare(std::vector<Use>* uses) {
  each_version<FillOps>("fill", [&](const std::string& name, const FillOps& ops) {
    uses->push_back({name + "u32", [&ops](void* p, std::size_t n) {
                       ops.u32(static_cast<std::uint32_t*>(p), n, {1, 2}, {});
                     }});
    uses->push_back({name + "f64", [&ops](void* p, std::size_t n) {
                       ops.f64(static_cast<double*>(p), n, {1, 2}, 20, {});
                     }});
  });
  each_version<CompareOps>("compare", [&](const std::string& name, const CompareOps& ops) {
    uses->push_back({name + "u64", [&ops](void* p, std::size_t n) {
                       ops.u64(static_cast<const std::uint64_t*>(p), n, {1, 2}, room<MismatchReport>(Area::sums), {});
                     }});
    uses->push_back({name + "f32", [&ops](void* p, std::size_t n) {
                       ops.f32(static_cast<const float*>(p), n, {1, 2}, 20, room<MismatchReport>(Area::sums), {});
                     }});
    uses->push_back({name + "digest",
                     [&ops](void* p, std::size_t n) { ops.digest(p, n, room<std::uint64_t>(Area::sums), {}); }, true,
                     true});
  });
}

void add_memory(std::vector<Use>* uses) {
  each_version<MarchOps>("march", [&](const std::string& name, const MarchOps& ops) {
    for (const bool reads : {true, false}) {
      uses->push_back({name + (reads ? "read" : "write"), [&ops, reads](void* p, std::size_t n) {
                         MarchStep step;
                         step.reads = reads;
                         step.writes = !reads;
                         ops.step(static_cast<std::uint64_t*>(p), n, step, 0, room<MismatchReport>(Area::sums), {});
                       }});
    }
  });
  each_version<RandomOps>("random", [&](const std::string& name, const RandomOps& ops) {
    uses->push_back(
        {name + "strided", [&ops](void* p, std::size_t n) {
           ops.strided({1, nullptr}, static_cast<std::uint64_t*>(p), n, 3, 1, room<std::uint64_t>(Area::sums));
         }});
    uses->push_back({name + "gather", [&ops](void* p, std::size_t n) {  // the table is zero: always word 0
                       ops.gather({1, nullptr}, static_cast<std::uint64_t*>(p), room<std::uint32_t>(), n, 1,
                                  room<std::uint64_t>(Area::sums));
                     }});
    uses->push_back({name + "gather_computed", [&ops](void* p, std::size_t n) {
                       ops.gather_computed({1, nullptr}, static_cast<std::uint64_t*>(p), n, 5, n, 1,
                                           room<std::uint64_t>(Area::sums));
                     }});
  });
  each_version<TransposeOps>("transpose", [&](const std::string& name, const TransposeOps& ops) {
    uses->push_back({name + "u32", [&ops](void* p, std::size_t n) {
                       ops.u32({}, room<std::uint32_t>(Area::out), static_cast<std::uint32_t*>(p), n, 1);
                     }});
    uses->push_back({name + "u64 to", [&ops](void* p, std::size_t n) {
                       ops.u64({}, static_cast<std::uint64_t*>(p), room<std::uint64_t>(), 1, n);
                     }});
  });
  each_version<AtomicsOps>("atomics", [&](const std::string& name, const AtomicsOps& ops) {
    uses->push_back({name + "add", [&ops](void* p, std::size_t n) {
                       ops.add({1, nullptr}, static_cast<std::uint64_t*>(p), 1, n, 1);
                     }});
  });
  each_version<ChaseOps>("chase", [&](const std::string& name, const ChaseOps& ops) {
    uses->push_back({name + "link", [&ops](void* p, std::size_t n) {  // the way is zero: line 0 to itself
                       ops.link({1, nullptr}, static_cast<ChaseLine*>(p), room<std::uint32_t>(), n == 0 ? 0 : 1);
                     }});
  });
  each_version<SharedOps>("shared", [&](const std::string& name, const SharedOps& ops) {
    uses->push_back(
        {name + "read", [&ops](void* p, std::size_t n) {
           ops.read({1, nullptr}, room<std::uint32_t>(), 1, 8, n == 0 ? 0 : 1, static_cast<std::uint32_t*>(p));
         }});
  });
}

// A block is the least that runs.
void add_arithmetic(std::vector<Use>* uses) {
  each_version<FmaOps>("fma", [&](const std::string& name, const FmaOps& ops) {
    uses->push_back({name + "f32",
                     [&ops](void* p, std::size_t) {
                       ops.f32->run({1, nullptr}, 1, static_cast<const float*>(p), room<float>(), room<float>(),
                                    room<std::uint32_t>(Area::out));
                     },
                     false});
  });
  each_version<MmaOps>("mma", [&](const std::string& name, const MmaOps& ops) {
    uses->push_back({name + "bf16",
                     [&ops](void* p, std::size_t) {
                       ops.bf16->run({1, nullptr}, 1, static_cast<const std::uint16_t*>(p), room<std::uint16_t>(),
                                     room<float>(), room<std::uint32_t>(Area::out));
                     },
                     false});
  });
}

class SimtEdges : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    add_stream<float>(&uses());
    add_stream<double>(&uses());
    add_reduce<float>(&uses());
    add_reduce<double>(&uses());
    add_fill_and_compare(&uses());
    add_memory(&uses());
    add_arithmetic(&uses());
  }
  void SetUp() override {
    simt::reset();
    simt::set_schedule(simt::Schedule::in_order);
  }
  void TearDown() override { simt::reset(); }
  static std::vector<Use>& uses() {
    static std::vector<Use> all;
    return all;
  }
};

TEST_F(SimtEdges, NoElementsNeedNoMemory) {
  for (const Use& use : uses()) {
    if (!use.has_size) continue;
    use.run(nullptr, 0);
    simt::succeed(cudaGetLastError());
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << use.name << ": " << simt::fault();
    simt::reset();
  }
}

TEST_F(SimtEdges, OneElementTouchesNoOther) {
  DeviceArray<std::uint64_t> large(std::vector<std::uint64_t>(1 << 14, 0));
  for (const Use& use : uses()) {
    if (!use.has_size || use.name.starts_with("shared")) {
      use.run(large.data(), 1);  // whole blocks
    } else {
      DeviceArray<std::uint64_t> one(use.name.starts_with("chase") ? 8 : 1);
      use.run(one.data(), 1);
      EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << use.name << ": " << simt::fault();
    }
    simt::succeed(cudaGetLastError());
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << use.name << ": " << simt::fault();
    simt::reset();
  }
}

TEST_F(SimtEdges, ANullPointerEndsInAFault) {
  for (const Use& use : uses()) {
    use.run(nullptr, some);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress) << use.name;
    EXPECT_THAT(simt::fault(), HasSubstr("a null pointer")) << use.name;
    simt::reset();
  }
}

TEST_F(SimtEdges, AMisalignedPointerEndsInAFault) {
  DeviceArray<std::uint64_t> large(std::vector<std::uint64_t>(1 << 14, 0));
  for (const Use& use : uses()) {
    use.run(reinterpret_cast<char*>(large.data()) + 1, some);
    const cudaError_t error = cudaDeviceSynchronize();
    EXPECT_EQ(error, use.takes_bytes ? cudaSuccess : cudaErrorMisalignedAddress) << use.name << ": " << simt::fault();
    simt::reset();
  }
}

// Buffers that overlap are outside of every contract. Where one block reads what another one writes the rig says so.
TEST_F(SimtEdges, OverlappingBuffersAreARaceOfBlocks) {
  constexpr std::size_t n = 40000;
  DeviceArray<std::uint32_t> memory(std::vector<std::uint32_t>(n + 1, 1));
  auto* const x = reinterpret_cast<float*>(memory.data());
  for (const simt::Schedule schedule : simt::all_schedules) {
    for (std::size_t v = 0; v < cuda_versions<StreamOps<float>>.count; ++v) {
      simt::set_schedule(schedule);
      cuda_versions<StreamOps<float>>.first[v].ops->copy(
          {1, nullptr}, {x + 1, x, nullptr, 0, n, 1, Stores::regular, nullptr, nullptr});
      EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure) << "stream, version " << v;
      EXPECT_THAT(simt::fault(), HasSubstr("race on global memory"));
      simt::reset();
    }
    for (std::size_t v = 0; v < cuda_versions<TransposeOps>.count; ++v) {
      cuda_versions<TransposeOps>.first[v].ops->u32({}, memory.data(), memory.data(), 200, 200);
      EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure) << "transpose, version " << v;
      EXPECT_THAT(simt::fault(), HasSubstr("race on global memory"));
      simt::reset();
    }
  }
}

}  // namespace
}  // namespace assay::kernels
