// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The switches by which tests make a worker lie or dawdle. Kept apart from run.h, since every kind of worker has them.
#pragma once

#include <map>
#include <string>

namespace assay {

// ASSAY_TEST_* of the environment, for tests: CORRUPT=BENCHMARK flips a bit of that benchmark's outputs before they are
// verified, SLOWDOWN=1.03 lengthens timed work. Whatever is set is written into every record.
struct TestKnobs {
  std::string corrupt;
  double slowdown = 1;
  std::map<std::string, std::string> as_text() const;
};
// Error for a SLOWDOWN that is no number from 1 to 100.
TestKnobs test_knobs();

}  // namespace assay
