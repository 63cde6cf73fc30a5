// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/parent/worker_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace assay {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::Pair;

TEST(WorkerEnvironment, LeavesOutWhatPlacesAndCountsThreads) {
  for (const char* name : {"OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OMP_DYNAMIC", "OMP_PROC_BIND", "OMP_PLACES",
                           "GOMP_CPU_AFFINITY", "KMP_AFFINITY", "OPENBLAS_NUM_THREADS"})
    unsetenv(name);
  EXPECT_TRUE(ignored_variables().empty());
  setenv("OMP_PLACES", "{0}", 1);
  setenv("OMP_NUM_THREADS", "1", 1);
  setenv("OMP_NUM_THREADS_", "kept", 1);
  setenv("LD_AUDIT_", "x.so", 1);
  setenv("MALLOC_PERTURB_", "7", 1);
  setenv("GLIBC_TUNABLES", "a=b", 1);
  setenv("ONEDNN_VERBOSE", "\x1b[2J", 1);
  EXPECT_THAT(ignored_variables(), ElementsAre("OMP_NUM_THREADS", "OMP_PLACES"));
  EXPECT_THAT(worker_environment(), Not(Contains("OMP_NUM_THREADS=1")));
  EXPECT_THAT(worker_environment(), Not(Contains("OMP_PLACES={0}")));
  EXPECT_THAT(worker_environment(), Contains("OMP_NUM_THREADS_=kept"));
  EXPECT_THAT(worker_environment(), Contains(std::string("PATH=") + std::getenv("PATH")));
  EXPECT_THAT(library_variables(), Contains(Pair("OMP_NUM_THREADS_", "kept")));
  EXPECT_THAT(library_variables(), Contains(Pair("ONEDNN_VERBOSE", "\\x1b[2J")));
  EXPECT_THAT(library_variables(), Contains(Pair("LD_AUDIT_", "x.so")));
  EXPECT_THAT(library_variables(), Contains(Pair("MALLOC_PERTURB_", "7")));
  EXPECT_THAT(library_variables(), Contains(Pair("GLIBC_TUNABLES", "a=b")));
  EXPECT_EQ(library_variables().count("OMP_NUM_THREADS"), 0U);
  EXPECT_EQ(library_variables().count("PATH"), 0U);
  for (const char* name : {"OMP_PLACES", "OMP_NUM_THREADS", "OMP_NUM_THREADS_", "ONEDNN_VERBOSE", "LD_AUDIT_",
                           "MALLOC_PERTURB_", "GLIBC_TUNABLES"})
    unsetenv(name);
}

}  // namespace
}  // namespace assay
