// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See protocol.h.
#include "harness/protocol.h"

namespace assay {

Json to_json(const Policy& p) {
  return {{"block_s", p.block_s},
          {"warmup_min_s", p.warmup_min_s},
          {"warmup_max_s", p.warmup_max_s},
          {"measure_min_s", p.measure_min_s},
          {"measure_max_s", p.measure_max_s},
          {"samples_min", p.samples_min},
          {"samples_max", p.samples_max},
          {"relative_error", p.relative_error},
          {"seed", p.seed},
          {"max_memory_bytes", p.max_memory_bytes}};
}

Policy policy_from_json(const Json& json) {
  Policy p;
  p.block_s = json.at("block_s");
  p.warmup_min_s = json.at("warmup_min_s");
  p.warmup_max_s = json.at("warmup_max_s");
  p.measure_min_s = json.at("measure_min_s");
  p.measure_max_s = json.at("measure_max_s");
  p.samples_min = json.at("samples_min");
  p.samples_max = json.at("samples_max");
  p.relative_error = json.at("relative_error");
  p.seed = json.at("seed");
  p.max_memory_bytes = json.at("max_memory_bytes");
  return p;
}

Json to_json(const CaseRequest& r) {
  return {{"type", "case"},       {"id", r.id},     {"case", r.case_name},        {"device_set", r.device_set},
          {"session", r.session}, {"hold", r.hold}, {"policy", to_json(r.policy)}};
}

CaseRequest case_request_from_json(const Json& json) {
  CaseRequest r;
  r.id = json.at("id");
  r.case_name = json.at("case");
  r.device_set = json.at("device_set").get<std::vector<std::string>>();
  r.session = json.at("session");
  r.hold = json.at("hold");
  r.policy = policy_from_json(json.at("policy"));
  return r;
}

}  // namespace assay
