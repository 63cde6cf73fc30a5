// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See model.h: the page for people.
#include "harness/report/model.h"

#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/base/units.h"
#include "harness/report/parts.h"

namespace assay {
namespace {

using model::Ceiling;

const char* const not_known = "unknown";

std::string kib(double bytes) { return fmt::format("{:.1f} KiB", bytes / 1024); }

std::string rate_text(const Ceiling* bound, const std::string& unit) {
  return bound == nullptr ? not_known : format_quantity(*bound->rate, unit);
}

std::string bound_text(const std::vector<Ceiling>& ceilings) {
  const Ceiling* bound = model::binding(ceilings);
  std::string text = bound == nullptr ? "" : bound->name;
  for (const Ceiling& c : ceilings)
    if (!c.rate) {
      text += text.empty() ? "unknown" : ", or less";
      break;
    }
  return text;
}

std::string in_flight_text(const std::optional<model::InFlight>& in_flight) {
  if (!in_flight) return "-";
  return fmt::format("{} of {}", kib(in_flight->have_bytes), kib(in_flight->need_bytes));
}

std::string enough_text(const std::optional<model::InFlight>& in_flight, const std::string& unknown) {
  if (!in_flight) return unknown.empty() || !starts_with(unknown, "results/") ? "-" : not_known;
  return in_flight->enough() ? "yes" : "NO";
}

void print_given(const model::Page& page, std::ostream& out) {
  std::vector<Cells> rows;
  const std::string* above = nullptr;
  for (const model::Given& g : page.given) {
    std::string value = not_known;
    if (g.value) value = g.unit.empty() ? fmt::format("{:.6g}", *g.value) : format_quantity(*g.value, g.unit);
    rows.push_back({"  " + g.name, value, above != nullptr && *above == g.source ? "as above" : plain(g.source)});
    above = &g.source;
  }
  out << "\nFacts\n";
  print_table(rows, {1}, out, console_width);
}

Cells kernel_row(const model::KernelModel& k) {
  const model::Work& w = k.work;
  std::string blocks = not_known, threads = not_known;
  if (k.fits) {
    blocks = fmt::format("{:.0f} of {:.0f}", k.resident_blocks, w.launched_blocks);
    if (k.fits->blocks < w.launched_blocks) blocks += ", " + k.fits->by;
    threads = fmt::format("{:.0f}", k.resident_threads());
  }
  std::string conflicts = "-";
  if (k.conflicts)
    conflicts = fmt::format("{:.0f}", k.conflicts->conflicts);
  else if (k.facts.shared_bytes + w.shared_bytes > 0)
    conflicts = "not counted";
  return {"  " + w.version,
          w.operation,
          w.type,
          w.read_bytes + w.written_bytes > 0 ? fmt::format("{:.3g}", w.read_bytes + w.written_bytes) : "-",
          k.facts.known() ? fmt::format("{:.0f}", k.facts.registers) : not_known,
          blocks,
          threads,
          in_flight_text(k.in_flight),
          enough_text(k.in_flight, k.in_flight_unknown),
          conflicts,
          rate_text(model::binding(k.ceilings), w.unit),
          bound_text(k.ceilings)};
}

void print_kernels(const model::Page& page, std::ostream& out) {
  if (page.kernels.empty()) return;
  const model::KernelFacts& first = page.kernels.front().facts;
  out << fmt::format("\nKernels ({}; an item is: {})\n",
                     first.known()
                         ? fmt::format("{}, machine code of {}", plain(first.compiler), plain(first.architecture))
                         : "no machine code for this capability",
                     plain(page.kernels.front().work.item));
  std::vector<Cells> rows{{"  version", "operation", "type", "bytes", "registers", "blocks", "threads",
                           "under way of needed", "enough", "conflicts", "at most", "by"}};
  for (const model::KernelModel& k : page.kernels) rows.push_back(kernel_row(k));
  print_table(rows, {3, 4, 6, 7, 10}, out);
  out << R"(  bytes: that DRAM moves for an item. blocks: resident on a multiprocessor, of those launched, and what
  allows no more. under way of needed: bytes read from DRAM, on a multiprocessor (Little: latency x bandwidth; of an
  idle device, so enough is needed, not sufficient). conflicts: of banks of shared memory, counted in tests/simt.
)";
}

std::string seconds(const std::optional<double>& s) { return s ? format_quantity(*s, "s") : not_known; }

void print_tiles(const model::Page& page, std::ostream& out) {
  if (page.tiles.empty()) return;
  out << "\nTiles\n";
  std::vector<Cells> rows{{"  n", "version", "stages", "needed", "step", "load", "shared", "blocks",
                           "under way of needed", "conflicts", "waves", "used", "at most", "by"}};
  for (const model::TileModel& t : page.tiles)
    rows.push_back(
        {fmt::format("  {:.0f}", t.n), t.tile.version + (t.built() ? "" : t.tile.kernel.empty() ? " (plan)" : " (not built here)"),
         fmt::format("{:.0f}", t.tile.stages), t.stages_needed ? fmt::format("{:.0f}", *t.stages_needed) : "-",
         seconds(t.step_s), seconds(t.latency_s), kib(t.shared_bytes),
         fmt::format("{:.0f}{}", t.fits.blocks, t.fits.blocks == 0 ? ", " + t.fits.by : ""),
         in_flight_text(t.in_flight), t.conflicts ? fmt::format("{:.0f}", t.conflicts->conflicts) : "not counted",
         fmt::format("{:.2f}", t.waves.waves), format_percent(t.waves.efficiency),
         rate_text(model::binding(t.ceilings), "FLOP/s"), bound_text(t.ceilings)});
  print_table(rows, {2, 3, 4, 5, 6, 8, 9, 10, 11, 12}, out);
  out << R"(  a product of n x n x n. needed: stages so that no step of a block waits for its load (load: from asking
  for a stage until it is there, from DRAM; most come from L2, sooner). waves: tiles over all resident blocks. used: of the
  slots of the waves.
)";
}

void print_bands(const model::Page& page, std::ostream& out) {
  if (page.bands.empty()) return;
  out << "\nPublished by others, for this class\n";
  std::vector<Cells> rows{{"  operation", "type", "least", "median", "most", "of limit", "figures", "source"}};
  for (const model::BandModel& b : page.bands) {
    const auto text = [&](double value) { return format_quantity(value, b.band.unit); };
    rows.push_back(
        {"  " + (b.band.operation.empty() ? "-" : b.band.operation), b.band.type, text(b.band.min), text(b.band.median),
         text(b.band.max), b.limit ? format_percent(b.band.max / *b.limit) : not_known, std::to_string(b.band.figures),
         plain(b.band.source + (b.band.above_limit.empty() ? "" : " (above the limit: " + b.band.above_limit + ")"))});
  }
  print_table(rows, {2, 3, 4, 5, 6}, out, console_width);
}

}  // namespace

void print_model(const model::Page& page, std::ostream& out) {
  out << fmt::format("MODEL, not a measurement: {} on {} ({}, capability {})\n", plain(page.benchmark),
                     plain(page.gpu.id), plain(page.gpu.name), plain(page.gpu.compute_capability));
  out << "What formulas (harness/model/) allow at most, from facts with sources. Nothing was run for it.\n";
  print_given(page, out);
  print_kernels(page, out);
  print_tiles(page, out);
  print_bands(page, out);
  if (!page.goals.empty()) out << "\nGoals: do model and machine code forbid them?\n";
  for (const model::Goal& g : page.goals)
    out << fmt::format("  {}: {} ({})\n", plain(g.text), word(g.allowed), plain(g.why));
  if (!page.unknown.empty()) out << "\nUnknown\n";
  for (const std::string& sentence : page.unknown) out << "  " << plain(sentence) << '\n';
}

}  // namespace assay
