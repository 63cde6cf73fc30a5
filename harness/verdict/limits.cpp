// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See limits.h.
#include "harness/verdict/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "harness/base/text.h"
#include "harness/base/units.h"

namespace assay {
namespace {

// Below this share of what is possible a floor lets through what is plainly broken: a card at a seventh of its speed.
constexpr double least_share = 0.15;
// Between nodes the network decides, and no GPU's class knows it; but nobody joins an H100 by 10 Gbit/s.
constexpr double least_share_of_a_network = 0.003;
// NVLink carries its own headers: NVML's raw rate times this is the payload that the class tables give.
constexpr double nvlink_payload = 0.9412;
constexpr int gpus_of_a_node = 8;  // where a table doesn't say

PhysicalLimit limit(double value, const char* unit, std::string why, double from = least_share) {
  return {value, unit, std::move(why), value * from};
}

std::string gb(double bytes_per_second) { return fmt::format("{:.4g} GB/s", bytes_per_second / 1e9); }

// The link between two GPUs, one way, and its name. A bridge joins few; beyond it, and without NVLink, PCIe is the way.
struct Link {
  double bytes_per_second = 0;
  std::string name;
  bool nvlink = false;
};
std::optional<Link> peer_link(const GpuClass& gpu, int gpus) {
  const bool joined = gpu.nvlink_bytes_per_second && (!gpu.bridged() || gpus <= gpu.nvlink_gpus);
  if (joined) return Link{*gpu.nvlink_bytes_per_second, fmt::format("NVLink {}", gpu.nvlink_generation), true};
  // A card that has NVLink of an unknown rate is not judged by its slower link.
  if (gpu.nvlink_generation > 0 && !gpu.bridged()) return std::nullopt;
  if (gpu.host_link_bytes_per_second) return Link{*gpu.host_link_bytes_per_second, gpu.host_link, false};
  return std::nullopt;
}

std::optional<PhysicalLimit> all_reduce_in_a_node(const GpuClass& gpu, int gpus) {
  const std::optional<Link> link = peer_link(gpu, gpus);
  if (!link) return std::nullopt;
  const bool switches_add = link->nvlink && gpu.nvlink_generation >= 4 && !gpu.bridged();
  const double gain = switches_add && gpus > 1 ? 2.0 * (gpus - 1) / gpus : 1;
  return PhysicalLimit{link->bytes_per_second * gain, "B/s",
                       fmt::format("{} of {} carries {} one way{}", link->name, gpu.id, gb(link->bytes_per_second),
                                   switches_add ? fmt::format(", and with switches that add, {} GPUs show at most {}",
                                                              gpus, gb(link->bytes_per_second * gain))
                                                : ""),
                       link->bytes_per_second * least_share};
}

// A ring over nodes runs through each GPU's own link, and all that leaves a node crosses the PCIe slots of its GPUs'
// network cards. The network itself is no fact of the class.
std::optional<PhysicalLimit> all_reduce_between_nodes(const GpuClass& gpu, const Setting& setting) {
  const std::optional<Link> inside = peer_link(gpu, gpus_of_a_node);
  if (!inside) return std::nullopt;
  PhysicalLimit result{
      inside->bytes_per_second, "B/s",
      fmt::format("a ring over several nodes passes through the {} of every {}, which carries {} one way", inside->name,
                  gpu.id, gb(inside->bytes_per_second)),
      inside->bytes_per_second * least_share_of_a_network};
  if (!gpu.host_link_bytes_per_second || !starts_with(gpu.host_link, "PCIe")) return result;
  const int gpus = gpus_of_a_node;
  const double share = setting.nodes > 1 ? (1 - 1.0 / (gpus * setting.nodes)) / (1 - 1.0 / setting.nodes) : 1;
  const double slots = gpus * *gpu.host_link_bytes_per_second * share;
  if (slots < result.value) {
    result.value = slots;
    result.why = fmt::format("what leaves a node of {} {} crosses {} slots of {}, which allows {}", gpus, gpu.id, gpus,
                             gpu.host_link, gb(slots));
  }
  return result;
}

std::optional<double> rate_of(const GpuClass& gpu, const std::string& type) {
  const auto found = gpu.operations_per_second.find(type);
  return found == gpu.operations_per_second.end() ? std::nullopt : std::optional(found->second);
}

// The greatest and the least known rate of these types.
std::optional<PhysicalLimit> arithmetic(const GpuClass& gpu, const std::vector<const char*>& types, bool tensor,
                                        const char* what) {
  double most = 0, least = 0;
  for (const char* type : types)
    if (const auto rate = rate_of(gpu, type)) {
      most = std::max(most, *rate);
      least = least == 0 ? *rate : std::min(least, *rate);
    }
  if (most == 0) return std::nullopt;
  double clock = 1;
  if (tensor && gpu.tensor_clock_hz && gpu.clock_hz) clock = std::max(1.0, *gpu.clock_hz / *gpu.tensor_clock_hz);
  const bool printed_boost = gpu.form_factor == "desktop" || gpu.form_factor == "laptop";
  const double ceiling = most * clock * (printed_boost ? 1.2 : 1);
  return PhysicalLimit{ceiling, "op/s",
                       fmt::format("{} of {} reach at most {}", what, gpu.id, format_quantity(ceiling, "op/s")),
                       least * least_share};
}

std::optional<PhysicalLimit> matmul(const GpuClass& gpu, const std::string& type) {
  if (type.empty()) return arithmetic(gpu, {"f16", "bf16"}, true, "16-bit matrix products");
  if (type == "f64") return arithmetic(gpu, {"f64", "f64_tensor"}, false, "f64 matrix products");
  if (type == "f32") return arithmetic(gpu, {"f32"}, false, "f32 matrix products");
  if (type == "f16") return arithmetic(gpu, {"f16", "f16_f16_sum"}, true, "f16 matrix products");
  return arithmetic(gpu, {type.c_str()}, true, (type + " matrix products").c_str());
}

}  // namespace

std::optional<PhysicalLimit> physical_limit(const GpuClass& gpu, Kind kind, const Setting& setting) {
  switch (kind) {
    case Kind::memory:
      if (!gpu.memory_bytes_per_second) return std::nullopt;
      return limit(*gpu.memory_bytes_per_second, "B/s",
                   fmt::format("the memory of {} moves at most {}", gpu.id, gb(*gpu.memory_bytes_per_second)));
    case Kind::host_copy:
    case Kind::host_copy_both: {
      if (!gpu.host_link_bytes_per_second) return std::nullopt;
      const double ways = kind == Kind::host_copy_both ? 2 : 1;
      return limit(
          *gpu.host_link_bytes_per_second * ways, "B/s",
          fmt::format("{} of {} carries {} {}", gpu.host_link, gpu.id, gb(*gpu.host_link_bytes_per_second * ways),
                      ways > 1 ? "both ways together" : "one way"));
    }
    case Kind::peer_copy:
    case Kind::peer_copy_both: {
      // Two GPUs copy to each other: a bridge joins at least two.
      const std::optional<Link> link = peer_link(gpu, 2);
      if (!link) return std::nullopt;
      const double ways = kind == Kind::peer_copy_both ? 2 : 1;
      return limit(link->bytes_per_second * ways, "B/s",
                   fmt::format("{} of {} carries {} {}", link->name, gpu.id, gb(link->bytes_per_second * ways),
                               ways > 1 ? "both ways together" : "one way"));
    }
    case Kind::all_reduce:
      return setting.nodes == 1 ? all_reduce_in_a_node(gpu, setting.gpus) : all_reduce_between_nodes(gpu, setting);
    case Kind::matmul:
      return matmul(gpu, setting.type);
    case Kind::vector:
      if (setting.type == "f32") return arithmetic(gpu, {"f32"}, false, "f32 multiply-adds");
      if (setting.type == "f64") return arithmetic(gpu, {"f64"}, false, "f64 multiply-adds");
      return arithmetic(gpu, {"f32", "f64", "f64_tensor"}, false, "f32 and f64 operations");
    case Kind::power: {
      if (!gpu.power_w) return std::nullopt;
      const double most = gpu.power_max_w.value_or(*gpu.power_w);
      return limit(most, "W", fmt::format("{} may draw at most {:.0f} W", gpu.id, most));
    }
    case Kind::link_rate:
      if (!gpu.nvlink_bytes_per_second || !gpu.nvlink_links) return std::nullopt;
      return limit(*gpu.nvlink_bytes_per_second / *gpu.nvlink_links / nvlink_payload * 1.001, "B/s",
                   fmt::format("one NVLink of {} signals at {} one way", gpu.id,
                               gb(*gpu.nvlink_bytes_per_second / *gpu.nvlink_links / nvlink_payload)));
  }
  return std::nullopt;
}

namespace {

// Is the case written to come near its limit, so that a seventh of it is a fault? A copy of a few bytes, a plain triple
// loop and one thread are not.
bool at_full_speed(const std::vector<std::string>& parts) {
  if (parts.size() < 2) return false;
  const std::string benchmark = parts[0] + "/" + parts[1];
  const auto has = [&](const char* part) { return std::find(parts.begin(), parts.end(), part) != parts.end(); };
  if (has("threads:one")) return false;
  if (benchmark == "memory/stream" || benchmark == "compute/fma" || benchmark == "compute/gemm_sustained") return true;
  if (benchmark == "compute/gemm") return has("version:cublas") || has("version:cublaslt") || has("version:vendor");
  return (benchmark == "transfer/host_device" || benchmark == "transfer/peer") && has("size:1GiB") &&
         !has("memory:pageable");
}

}  // namespace

std::optional<PhysicalLimit> limit_of_metric(const GpuClass& gpu, const std::string& case_name,
                                             const std::string& metric, const std::string& unit) {
  const std::vector<std::string> parts = split(case_name, '/');
  const auto has = [&](const std::string& part) { return std::find(parts.begin(), parts.end(), part) != parts.end(); };
  std::string type;
  for (const std::string& part : parts)
    if (starts_with(part, "type:")) type = part.substr(5);
  const bool bytes = unit == "B/s", operations = unit == "op/s" || unit == "FLOP/s";
  std::optional<PhysicalLimit> result;
  if (starts_with(case_name, "memory/") && bytes && has("size:dram")) result = physical_limit(gpu, Kind::memory);
  if (starts_with(case_name, "compute/fma") && operations) result = physical_limit(gpu, Kind::vector, {1, 1, type});
  if ((starts_with(case_name, "compute/gemm") || starts_with(case_name, "compute/mma")) && operations && !type.empty())
    result = physical_limit(gpu, Kind::matmul, {1, 1, type});
  if (starts_with(case_name, "transfer/host_device") && bytes)
    result = physical_limit(gpu, has("direction:both") ? Kind::host_copy_both : Kind::host_copy);
  if (starts_with(case_name, "transfer/peer") && bytes)
    result = physical_limit(gpu, has("direction:both") ? Kind::peer_copy_both : Kind::peer_copy);
  if (metric == "power" && unit == "W") result = physical_limit(gpu, Kind::power);
  if (result && !at_full_speed(parts)) result->plausible_from = result->value * slipped_share;
  return result;
}

}  // namespace assay
