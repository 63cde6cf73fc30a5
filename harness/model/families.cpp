// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See families.h. Each function says which lines of kernels/ it takes its figures from.
#include "harness/model/families.h"

#include <algorithm>
#include <cstdlib>

#include "harness/base/text.h"
#include "harness/model/formulas.h"

namespace assay::model {
namespace {

constexpr double sector_bytes = 32;       // random.cu: the least that a device fetches
constexpr double index_bytes = 4;         // of the table of a gather
constexpr double word_bytes = 8;          // random, march, atomics, digest
constexpr double philox_multiplies = 20;  // philox.h: two wide ones in each of ten rounds, for a block of four words

double bytes_of(const std::string& type) { return type == "double" || type == "u64" ? 8 : 4; }

std::string short_type(const std::string& type) {
  if (type == "double") return "f64";
  if (type == "float") return "f32";
  return type == "unsigned" ? "u32" : type;
}

Work work_of(std::string version, std::string operation, std::string type, std::string item, std::string unit) {
  Work w;
  w.version = std::move(version);
  w.operation = std::move(operation);
  w.type = std::move(type);
  w.item = std::move(item);
  w.unit = std::move(unit);
  return w;
}

// stream.h: read W, write W, copy 2W, scale 2W, add 3W, triad 3W, dot 2W; stream.cu: versions scalar, vector (depth 1)
// and deep (4). Only stores that leave the caches alone are modelled: the others are for arrays that fit into L2.
std::vector<Work> stream(const std::string&, const KernelName& name) {
  constexpr double stages = 4, stage_bytes = 16384, barrier_bytes = 8;
  const bool fold = starts_with(name.base, "fold_"), bulk = name.base == "change_tiles" || name.base == "read_tiles";
  const bool vector = name.base == "map_vector" || name.base == "fold_vector";
  if (!fold && !bulk && !starts_with(name.base, "map_")) return {};
  if (name.argument(name.base == "read_tiles" ? 0 : 1) != "streaming") return {};
  const std::string type = name.argument(name.base == "read_tiles" ? 1 : vector ? 3 : 2);
  const bool reads_only = fold || name.base == "read_tiles";
  const std::string operation = name.base == "read_tiles" || name.argument(0) == "bits" ? "read" : name.argument(0);
  const std::string version = bulk ? "bulk" : !vector ? "scalar" : name.argument(2) == "1" ? "vector" : "deep";
  Work w = work_of(version, operation, short_type(type), "element", "B/s");
  const double bytes = bytes_of(type);
  const bool two = operation == "add" || operation == "triad" || operation == "dot";
  w.read_bytes = operation == "write" ? 0 : (two ? 2 : 1) * bytes;
  w.written_bytes = reads_only ? 0 : bytes;
  w.asked_bytes = w.read_bytes;
  w.amount = w.read_bytes + w.written_bytes;
  if (bulk) {
    w.ring_bytes = (stages - 1) * stage_bytes;
    w.dynamic_shared_bytes = stages * (stage_bytes + barrier_bytes);
    w.launched_blocks = 3;
    w.from_capability = 90;
  }
  return {w};
}

// random.h: 8 bytes for each read, of a sector; a gather by a table reads 4 bytes of it in order.
std::vector<Work> random(const std::string&, const KernelName& name) {
  const bool table = name.base == "gather_words";
  if (!table && name.base != "computed_words") return {};
  const std::string operation = table ? "gather" : name.argument(1) == "ByFormula" ? "gather_computed" : "strided";
  Work w = work_of(name.argument(0) == "1" ? "single" : "four", operation, "u64", "read", "B/s");
  w.amount = w.asked_bytes = word_bytes;
  w.read_bytes = sector_bytes + (table ? index_bytes : 0);
  return {w};
}

// chase.h: a load can start only when the one before has ended; one chain of one thread.
std::vector<Work> chase(const std::string&, const KernelName& name) {
  std::vector<Work> all;
  if (name.base != "follow_lines") return all;
  for (const char* level : {"l1", "l2", "dram"}) {
    Work w = work_of("one", level, "", "step", "steps/s");
    w.amount = w.launched_blocks = 1;
    w.step_latency = std::string("latency_") + level;
    all.push_back(w);
  }
  return all;
}

// fma.h: FLOP for each element and step: 2, 4 for two numbers in a word, 1 for rcp. fma.cu: 1, 4 or 8 chains of a
// thread, two blocks on each multiprocessor.
std::vector<Work> fma(const std::string&, const KernelName& name) {
  if (name.base != "run_chains") return {};
  const std::string step = name.argument(0), chains = name.argument(1), number = name.argument(2);
  std::string pipe = number == "double" ? "f64" : number == "float" ? "f32" : "i32";
  if (step == "MultiplyAddF16x2") pipe = "f16x2";
  if (step == "MultiplyAddBf16x2") pipe = "bf16x2";
  if (step == "Reciprocal") pipe = "rcp";
  Work w = work_of(chains == "1"   ? "one"
                   : chains == "4" ? "four"
                                   : "eight",
                   "", pipe, "step of a chain", pipe == "i32" ? "op/s" : "FLOP/s");
  w.pipe = pipe;
  w.lane_operations = 1;
  w.amount = pipe == "rcp" ? 1 : pipe == "f16x2" || pipe == "bf16x2" ? 4 : 2;
  w.chains = std::atoi(chains.c_str());
  w.chain_latency = "latency_" + pipe;
  w.launched_blocks = 0;
  if (pipe == "bf16x2") w.from_capability = 80;
  return {w};
}

// mma_hopper.cu: products of 64 x n and 32 bytes of k, A and B of which are read from shared memory; two groups of four
// warps in a block, which fills a multiprocessor.
std::vector<Work> wgmma(const KernelName& name) {
  struct Type {
    const char *name, *type, *tensor;
    double bytes;
  };
  static constexpr Type types[] = {{"GroupBf16", "bf16", "bf16", 2}, {"GroupF16", "f16", "f16", 2},
                                   {"GroupTf32", "tf32", "tf32", 4}, {"GroupE4m3", "e4m3", "fp8", 1},
                                   {"GroupE5m2", "e5m2", "fp8", 1},  {"GroupInt8", "int8", "int8", 1}};
  const auto* type =
      std::find_if(std::begin(types), std::end(types), [&](const Type& t) { return name.argument(0) == t.name; });
  if (type == std::end(types)) return {};
  constexpr double rows = 64, step_bytes = 32, line_bytes = 128, groups = 2;
  const double n = std::atof(name.argument(1).c_str());
  Work w = work_of("wgmma_" + name.argument(1), "", type->type, "product of a group",
                   std::string(type->type) == "int8" ? "op/s" : "FLOP/s");
  w.tensor = type->tensor;
  w.amount = 2 * rows * n * step_bytes / type->bytes;
  w.shared_bytes = (rows + n) * step_bytes;
  w.dynamic_shared_bytes = (groups * rows + n) * line_bytes;
  w.instruction = "wgmma n" + name.argument(1);
  w.launched_blocks = 1;
  w.from_capability = 90;
  w.below_capability = 91;
  return {w};
}

// mma_blackwell.cu: products of 128 x 256 and 32 bytes of k with a scale for each 32 numbers, one block on a
// multiprocessor.
std::vector<Work> block_scaled(const KernelName& name) {
  constexpr double m = 128, n = 256, step_bytes = 32;
  const bool fp4 = name.argument(0) == "e2m1";
  Work w = work_of("tcgen05", "", name.argument(0), "product", "FLOP/s");
  w.tensor = fp4 ? "fp4" : "fp8";
  w.amount = 2 * m * n * step_bytes * (fp4 ? 2 : 1);
  w.instruction = "tcgen05";
  w.launched_blocks = 1;
  w.from_capability = 100;
  w.below_capability = 110;
  return {w};
}

// mma.h: 2 m n k FLOP for each chain and step; mma.cu: 16 x 8 x 32 bytes, f64 8 x 8 x 4 numbers.
std::vector<Work> mma(const std::string&, const KernelName& name) {
  if (name.base == "run_wgmma") return wgmma(name);
  if (name.base == "run_block_scaled") return block_scaled(name);
  if (name.base != "run_mma") return {};
  struct Shape {
    const char *name, *type, *tensor, *latency;
    double flop;
    int from;
  };
  static constexpr Shape shapes[] = {{"ProductBf16", "bf16", "bf16", "latency_mma_16bit", 2 * 16 * 8 * 16, 80},
                                     {"ProductF16", "f16", "f16", "latency_mma_16bit", 2 * 16 * 8 * 16, 80},
                                     {"ProductTf32", "tf32", "tf32", "latency_mma_tf32", 2 * 16 * 8 * 8, 80},
                                     {"ProductF64", "f64", "f64_tensor", "latency_mma_f64", 2 * 8 * 8 * 4, 80},
                                     {"ProductInt8", "int8", "int8", "latency_mma_int8", 2 * 16 * 8 * 32, 80},
                                     {"ProductE4m3", "e4m3", "fp8", "latency_mma_fp8", 2 * 16 * 8 * 32, 89},
                                     {"ProductE5m2", "e5m2", "fp8", "latency_mma_fp8", 2 * 16 * 8 * 32, 89}};
  const auto* shape =
      std::find_if(std::begin(shapes), std::end(shapes), [&](const Shape& s) { return name.argument(0) == s.name; });
  if (shape == std::end(shapes)) return {};
  const std::string chains = name.argument(1);
  Work w = work_of(chains == "1"   ? "one"
                   : chains == "4" ? "four"
                                   : "eight",
                   "", shape->type, "step of a chain", std::string(shape->type) == "int8" ? "op/s" : "FLOP/s");
  w.tensor = shape->tensor;
  w.amount = shape->flop;
  w.chains = std::atoi(chains.c_str());
  w.chain_latency = shape->latency;
  w.launched_blocks = 0;
  w.from_capability = shape->from;
  w.instruction = "mma.sync";
  return {w};
}

// reduce.h: sizeof(T) for an element, and below 1/200 of it for the tiles; everything is added in f64.
std::vector<Work> reduce(const std::string&, const KernelName& name) {
  if (name.base != "reduce_tiles_of") return {};
  const std::string type = name.argument(2);
  Work w = work_of(name.argument(1), name.argument(0), short_type(type), "element", "B/s");
  w.amount = w.read_bytes = w.asked_bytes = bytes_of(type);
  if (name.argument(0) == "sum") {
    w.pipe = "f64";
    w.lane_operations = 1;
  }
  return {w};
}

// transpose.h: 2 words for each element. transpose.cu: direct writes a sector for each word; tiled reads a column of 32
// words of the square, which lie in one bank (4 bytes) or one pair of banks (8 bytes, 16 lanes at a time); padded in
// all.
std::vector<Work> transpose(const std::string&, const KernelName& name) {
  const bool direct = name.base == "transpose_direct";
  if (!direct && name.base != "transpose_tiled") return {};
  const std::string type = name.argument(direct ? 0 : 1);
  const bool padded = !direct && name.argument(0) == "1";
  const double bytes = bytes_of(type);
  Work w = work_of(direct ? "direct" : padded ? "padded" : "tiled", "", short_type(type), "element", "B/s");
  w.amount = 2 * bytes;
  w.read_bytes = w.asked_bytes = bytes;
  w.written_bytes = bytes;
  if (direct) {
    w.unknown =
        "L2 gathers the words of a sector before they go to DRAM if all 8 rows of writes stay in it; if not, each "
        "word costs a sector of 32 bytes";
  } else {
    const double turns = padded ? 1 : bytes == 4 ? 32 : 16;
    w.shared_bytes = bytes + bytes * turns;
  }
  return {w};
}

// atomics.h: updates. No data sheet says how many L2 or shared memory takes.
std::vector<Work> atomics(const std::string&, const KernelName& name) {
  if (!starts_with(name.base, "add_")) return {};
  const std::string version = name.base.substr(4);
  Work w = work_of(version, "add", "u64", "update", "updates/s");
  w.amount = 1;
  w.unknown = version == "block" ? "no maker gives the rate of atomic additions in shared memory"
                                 : "no maker gives the rate of atomic additions in L2";
  return {w};
}

// shared.h: 4 bytes for a read, in gcd(stride, 32) turns.
std::vector<Work> shared(const std::string&, const KernelName& name) {
  std::vector<Work> all;
  if (!starts_with(name.base, "read_")) return all;
  for (const unsigned stride : {1u, 2u, 8u, 32u, 33u}) {
    Work w = work_of(name.base.substr(5), "stride:" + std::to_string(stride), "u32", "read", "B/s");
    w.amount = 4;
    w.shared_bytes = 4.0 * bank_turns(stride);
    all.push_back(w);
  }
  return all;
}

// march.h: 8 bytes read and 8 written for a word of a step; march.cu: a Philox block for two words, in `pair`.
std::vector<Work> march(const std::string&, const KernelName& name) {
  if (!starts_with(name.base, "march_")) return {};
  const bool pair = name.base == "march_pair";
  std::vector<Work> all;
  for (const bool philox : {false, true}) {
    Work w = work_of(name.base.substr(6), philox ? "random" : "own_address, moving_inversions, walking_ones", "u64",
                     "word", "B/s");
    w.read_bytes = w.written_bytes = w.asked_bytes = word_bytes;
    w.amount = 2 * word_bytes;
    if (philox) {
      w.pipe = "i32";
      w.lane_operations = 2 * philox_multiplies / (pair ? 2 : 1);  // what is expected and what is stored
    }
    all.push_back(w);
  }
  return all;
}

// fill.h, compare.h: the elements of a Philox block (two of u64, else four), made once for all of them (block) or once
// for each (element); the digest reads 8 bytes for each word.
std::vector<Work> fill_compare(const std::string& file, const KernelName& name) {
  const bool element = name.base == "fill_element" || name.base == "compare_element";
  const bool block = name.base == "fill_block" || name.base == "compare_block";
  const bool writes = file == "fill.cu";
  if (name.base == "digest_words") {
    if (name.argument(0) != "true") return {};
    Work w = work_of("words", "digest", "", "word", "B/s");
    w.amount = w.read_bytes = w.asked_bytes = word_bytes;
    return {w};
  }
  if (!element && !block) return {};
  if (block && name.argument(0) != "true") return {};  // buffers that are not aligned
  const std::string type = name.argument(block ? 1 : 0);
  Work w = work_of(element ? "element" : "block", writes ? "fill" : "compare", short_type(type), "element", "B/s");
  w.amount = bytes_of(type);
  (writes ? w.written_bytes : w.read_bytes) = w.amount;
  w.asked_bytes = w.read_bytes;
  w.pipe = "i32";
  w.lane_operations = philox_multiplies / (element ? 1 : type == "u64" ? 2 : 4);
  return {w};
}

}  // namespace

const std::vector<Family>& families() {
  static const std::vector<Family> all{{"compute/fma", {"fma.cu"}, fma},
                                       {"compute/mma", {"mma.cu", "mma_hopper.cu", "mma_blackwell.cu"}, mma},
                                       {"memory/atomics", {"atomics.cu"}, atomics},
                                       {"memory/latency", {"chase.cu"}, chase},
                                       {"memory/march", {"march.cu"}, march},
                                       {"memory/random", {"random.cu"}, random},
                                       {"memory/reduce", {"reduce.cu"}, reduce},
                                       {"memory/shared", {"shared.cu"}, shared},
                                       {"memory/stream", {"stream.cu", "stream_bulk.cu"}, stream},
                                       {"memory/transpose", {"transpose.cu"}, transpose},
                                       {"verify/fill_compare", {"fill.cu", "compare.cu"}, fill_compare}};
  return all;
}

const Family* family_of_benchmark(const std::string& benchmark) {
  const std::vector<Family>& all = families();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Family& f) { return f.benchmark == benchmark; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace assay::model
