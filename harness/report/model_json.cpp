// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See model.h: the page as JSON.
#include <fmt/format.h>

#include "harness/report/model.h"
#include "harness/report/parts.h"

namespace assay {
namespace {

Json json_of(const std::vector<model::Ceiling>& ceilings) {
  Json list = Json::array();
  for (const model::Ceiling& c : ceilings)
    list.push_back({{"name", c.name}, {"rate", or_null(c.rate)}, {"how", c.how}});
  return list;
}

Json json_of(const std::optional<model::InFlight>& in_flight) {
  if (!in_flight) return nullptr;
  return {{"have_bytes", number(in_flight->have_bytes)},
          {"need_bytes", number(in_flight->need_bytes)},
          {"enough", in_flight->enough()}};
}

Json json_of(const std::optional<model::Conflicts>& counted) {
  if (!counted) return nullptr;
  return {{"accesses", number(counted->accesses)},
          {"wavefronts", number(counted->wavefronts)},
          {"conflicts", number(counted->conflicts)},
          {"how", counted->how}};
}

// The rate of the model, and what binds it.
void add_bound(Json& json, const std::vector<model::Ceiling>& ceilings) {
  const model::Ceiling* bound = model::binding(ceilings);
  json["rate"] = bound == nullptr ? Json(nullptr) : number(*bound->rate);
  json["bound"] = bound == nullptr ? Json(nullptr) : Json(bound->name);
  json["ceilings"] = json_of(ceilings);
}

Json json_of(const model::Given& g) {
  return {{"name", g.name}, {"value", or_null(g.value)}, {"unit", text_or_null(g.unit)}, {"source", g.source}};
}

Json json_of(const model::KernelModel& k) {
  const model::Work& w = k.work;
  Json json{{"kernel", k.facts.kernel},
            {"file", k.facts.file},
            {"architecture", text_or_null(k.facts.architecture)},
            {"compiler", text_or_null(k.facts.compiler)},
            {"version", w.version},
            {"operation", text_or_null(w.operation)},
            {"type", text_or_null(w.type)},
            {"item", w.item},
            {"unit", w.unit},
            {"amount", number(w.amount)},
            {"read_bytes", number(w.read_bytes)},
            {"written_bytes", number(w.written_bytes)},
            {"registers", k.facts.known() ? number(k.facts.registers) : Json(nullptr)},
            {"shared_bytes", k.facts.known() ? number(k.facts.shared_bytes) : Json(nullptr)},
            {"local_bytes", k.facts.known() ? number(k.facts.local_bytes) : Json(nullptr)},
            {"block_threads", number(k.facts.threads)}};
  json["occupancy"] = nullptr;
  if (k.fits)
    json["occupancy"] = {{"blocks", number(k.fits->blocks)},
                         {"by", k.fits->by},
                         {"launched_blocks", number(w.launched_blocks)},
                         {"resident_blocks", number(k.resident_blocks)},
                         {"resident_threads", number(k.resident_threads())}};
  json["in_flight"] = json_of(k.in_flight);
  json["in_flight_unknown"] = text_or_null(k.in_flight_unknown);
  json["conflicts"] = json_of(k.conflicts);
  add_bound(json, k.ceilings);
  return json;
}

Json json_of(const model::TileModel& t) {
  Json json{{"n", number(t.n)},
            {"version", t.tile.version},
            {"planned", !t.facts},
            {"built", t.built()},
            {"kernel", text_or_null(t.tile.kernel)},
            {"type", t.tile.type},
            {"tile_m", number(t.tile.m)},
            {"tile_n", number(t.tile.n)},
            {"tile_k", number(t.tile.k)},
            {"stages", number(t.tile.stages)},
            {"stages_needed", or_null(t.stages_needed)},
            {"step_s", or_null(t.step_s)},
            {"latency_s", or_null(t.latency_s)},
            {"feed", t.tile.feed},
            {"instruction", t.tile.instruction},
            {"block_threads", number(t.tile.threads)},
            {"shared_bytes", number(t.shared_bytes)},
            {"blocks", number(t.fits.blocks)},
            {"blocks_by", t.fits.by},
            {"note", text_or_null(t.fits_note.empty() ? t.tile.note : t.fits_note)},
            {"tiles", number(t.waves.tiles)},
            {"waves", number(t.waves.waves)},
            {"efficiency", number(t.waves.efficiency)}};
  json["in_flight"] = json_of(t.in_flight);
  json["conflicts"] = json_of(t.conflicts);
  json["unit"] = "FLOP/s";
  add_bound(json, t.ceilings);
  return json;
}

Json json_of(const model::BandModel& b) {
  return {{"operation", text_or_null(b.band.operation)},
          {"type", text_or_null(b.band.type)},
          {"unit", b.band.unit},
          {"min", number(b.band.min)},
          {"median", number(b.band.median)},
          {"max", number(b.band.max)},
          {"figures", b.band.figures},
          {"sources", b.band.sources},
          {"limit", or_null(b.limit)},
          {"limit_name", b.limit_name},
          {"above_limit", text_or_null(b.band.above_limit)},
          {"source", b.band.source}};
}

template <class T>
Json list_of(const std::vector<T>& items) {
  Json list = Json::array();
  for (const T& item : items) list.push_back(json_of(item));
  return list;
}

}  // namespace

Json to_json(const model::Page& page) {
  Json goals = Json::array();
  for (const model::Goal& g : page.goals)
    goals.push_back({{"text", g.text}, {"verdict", word(g.allowed)}, {"why", g.why}});
  return {{"schema", "assay.model.v1"},
          {"measured", false},
          {"benchmark", page.benchmark},
          {"class", page.gpu.id},
          {"name", page.gpu.name},
          {"compute_capability", page.gpu.compute_capability},
          {"facts", list_of(page.given)},
          {"kernels", list_of(page.kernels)},
          {"tiles", list_of(page.tiles)},
          {"published", list_of(page.bands)},
          {"goals", goals},
          {"unknown", page.unknown}};
}

}  // namespace assay
