// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A worker ends by _exit (harness/worker/serve.cpp), at which nobody writes what gcc's --coverage counted. The linker puts
// this in its place, in assay-worker-simt-coverage alone.
extern "C" {
void __gcov_dump();
[[noreturn]] void __real__exit(int code);
[[noreturn]] void __wrap__exit(int code) {
  __gcov_dump();
  __real__exit(code);
}
}
