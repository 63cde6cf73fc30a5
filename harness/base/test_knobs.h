// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The switches by which tests make a worker lie or dawdle. Both sides read them: the parent refuses what would change
// nothing (a test that thinks it lies and doesn't, proves nothing), the worker obeys.
#pragma once

#include <map>
#include <string>

namespace assay {

// ASSAY_TEST_* of the environment, for tests: CORRUPT=BENCHMARK (or a whole case) flips a bit of that benchmark's
// outputs before they are verified, SLOWDOWN=1.03 lengthens timed work. Whatever is set is written into every record.
struct TestKnobs {
  std::string corrupt;
  double slowdown = 1;
  std::map<std::string, std::string> as_text() const;
};
// All variables named ASSAY_TEST_*, as they are.
std::map<std::string, std::string> test_variables();
// UsageError for an unknown ASSAY_TEST_*, an empty CORRUPT, and a SLOWDOWN that is no number from 1 to 100.
TestKnobs read_test_knobs();

}  // namespace assay
