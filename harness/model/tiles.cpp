// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See tiles.h.
#include "harness/model/tiles.h"

#include <algorithm>

#include "harness/base/csv_file.h"

namespace assay::model {
namespace {

std::string one_of(const CsvFile& file, const char* column, const std::vector<std::string>& words) {
  const std::string text = file.required_text(column);
  if (std::find(words.begin(), words.end(), text) == words.end()) file.fail(column, text + " is none of its words");
  return text;
}

}  // namespace

std::vector<Tile> read_tiles(const std::filesystem::path& path) {
  CsvFile file(path, {"version", "file", "kernel", "type", "tile_m", "tile_n", "tile_k", "stages", "threads", "blocks",
                      "shared_bytes", "warp_m", "warp_n", "shared_of_a_flop", "feed", "instruction", "note"});
  std::vector<Tile> all;
  while (file.next()) {
    Tile& t = all.emplace_back();
    t.version = file.required_text("version");
    t.file = file.text("file");
    t.kernel = file.text("kernel");
    if (t.file.empty() != t.kernel.empty()) file.fail("kernel", "and file are both there, or neither: a plan");
    t.type = one_of(file, "type", {"bf16", "f32"});
    t.m = file.required_number("tile_m");
    t.n = file.required_number("tile_n");
    t.k = file.required_number("tile_k");
    t.stages = file.required_number("stages");
    t.threads = file.required_number("threads");
    for (const double number : {t.m, t.n, t.k, t.stages, t.threads})
      if (!(number >= 1)) file.fail("tile_m", "tiles, stages and threads are 1 or more");
    t.blocks = file.number("blocks").value_or(0);
    t.shared_of_a_flop = file.number("shared_of_a_flop").value_or(0);
    t.warp_m = file.number("warp_m").value_or(0);
    t.warp_n = file.number("warp_n").value_or(0);
    t.shared_bytes = file.number("shared_bytes").value_or(t.stages * t.stage_bytes());
    t.feed = one_of(file, "feed", {"none", "registers", "cp.async", "tma"});
    t.instruction = one_of(file, "instruction", {"fma", "wmma", "mma.sync", "wgmma"});
    t.note = file.text("note");
  }
  return all;
}

}  // namespace assay::model
