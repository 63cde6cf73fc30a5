// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What a bundle may hold. Canaries of every kind are planted by the list of bundle_fields.h itself, in each text of
// each fact, alone and inside of what stands there usually, and must not come out of any of them; a fact that isn't in
// the list doesn't compile. End to end, with the readers of files: tests/cli/test_doctor_bundle.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/doctor/bundle.h"
#include "harness/doctor/bundle_fields.h"
#include "harness/doctor/tar_gz.h"
#include "tests/unit/source_folder.h"

namespace assay::doctor {
namespace {

const std::filesystem::path results = source_folder() / "results";

const Knowledge& knowledge() {
  static const Knowledge all(results);
  return all;
}

struct Canary {
  const char *kind, *text;
};
constexpr Canary canaries[] = {
    {"host name", "zqhost7741"},
    {"host of a domain", "zqnode17.corp.zqexample.net"},
    {"user", "zqalice"},
    {"mail address", "zq.bob@zqexample.org"},
    {"IPv4 address", "10.77.88.199"},
    {"IPv6 address", "2001:db8:77:88::5"},
    {"MAC address", "52:54:00:12:34:56"},
    {"MAC address in letters", "de:ad:be:ef:ca:fe"},
    {"InfiniBand GUID", "0x248a0703001e7741"},
    {"serial number of a GPU", "1320922077413"},
    {"serial number of a board", "PZQ77A41000123"},
    {"asset tag", "ZQ-ASSET-00417"},
    {"UUID", "4c4c4544-0077-4a10-8041-b3c04f5a5132"},
    {"UUID of a GPU", "GPU-b3c04f5a-7741-8041-4a10-4c4c45440077"},
    {"machine id", "0f3c9a77417b4c0db3c04f5a51324c4c"},
    {"container id", "7741b3c04f5a51324c4c0f3c9a774107"},
    {"password", "Zq!hunter7741"},
    {"token", "ghp_zqAbCdEf7741GhIjKlMnOp"},
    {"cloud key", "AKIAZQZQ7741EXAMPLE"},
    {"web token", "eyJhbGciOiJIUzI1NiJ9.enE3NzQx"},
    {"private key", "MIIEowIBAAKCAQEAzq7741"},
    {"URL with a password", "https://zquser:zqpass@zqhost/x"},
    {"phone number", "+49-555-0134-77415"},
    {"project", "zq_project_titan"},
    {"job", "zqtrain-llm-7741"},
    {"licence", "ZQLIC-7741-ABCD-EFGH"},
    {"file of a home", "/home/zqalice/secret.txt"},
    {"share of the network", "zqfiler:/export/zqvol"},
    {"words with blanks", "Zq Secret Customer"},
    {"letters beyond ASCII", "zq\xc3\xa4\xc3\xb6\xc3\xbc"},
    {"date of birth", "1977-41-07T10:00:00"},
};

// What stands around a secret where it is found.
constexpr const char* surroundings[] = {"{}",
                                        "/home/{}/lib/libcuda.so.1",
                                        "/usr/lib/{}/libcuda.so.580.95.05",
                                        "/usr/lib/libcuda.so.{}",
                                        "580.95.05-{}",
                                        "6.8.0-45-generic-{}",
                                        "2.11.0+{}",
                                        "nvidia-{}",
                                        "nvidia_{}",
                                        "NVIDIA {} 80GB",
                                        "nvidia (/etc/modprobe.d/{}.conf)",
                                        "iommu={}",
                                        "pci={},realloc",
                                        "{}:{}",
                                        "0,{},1",
                                        "backend:{}",
                                        "c 195:{} rwm",
                                        "NodeName={} Name=gpu File=/dev/nvidia0",
                                        "Name=gpu File=/dev/nvidia[{}]",
                                        "NVRM: {}: RmInitAdapter failed! ({})",
                                        "GPL {}",
                                        "gpu {}"};

bool four_numbers(const std::string& text) { return std::count(text.begin(), text.end(), '.') == 3 && text[0] == '1'; }

// Makes every text of every fact the canary.
class Planter {
 public:
  Planter(std::string canary, std::string text) : canary_(std::move(canary)), text_(std::move(text)) {}
  int planted = 0;

  template <class T>
  void operator()(const char*, T& member, Form form = Form::none) {
    plant(member, form);
  }

 private:
  void plant(std::string& text, Form form) {
    EXPECT_NE(form, Form::none) << "a text without a form";
    // The version of a library may have four numbers, and nobody can tell it from an address.
    if (form == Form::long_version && four_numbers(canary_)) return;
    text = text_;
    ++planted;
  }
  template <class T>
  std::enable_if_t<std::is_arithmetic_v<T>> plant(T& value, Form form) {
    if (form == Form::account) value = static_cast<T>(774199);
  }
  void plant(Config& config, Form) {
    std::string bytes;
    while (bytes.size() < 4096) bytes += text_;
    config.bytes = Fact<std::string>::of(bytes.substr(0, 4096), text_);
    ++planted;
  }
  template <class T>
  void plant(std::vector<T>& list, Form form) {
    plant(list.emplace_back(), form);
  }
  template <class T>
  void plant(std::map<std::string, T>& map, Form form) {
    for (const std::string& name : {text_, std::string("LD_PRELOAD"), std::string("nvml"), std::string("memory_bytes")})
      plant(map[name], form == Form::package ? Form::long_version : form);
    ++planted;
  }
  template <class T>
  void plant(Fact<T>& fact, Form form) {
    fact.state = Known::value;
    plant(fact.value, form);
    plant(fact.source, Form::path);
  }
  template <class T>
  std::enable_if_t<std::is_class_v<T>> plant(T& part, Form) {
    fields(*this, part);
  }

  std::string canary_, text_;
};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string hex(const std::string& text) {
  std::string digits;
  for (const char c : text) digits += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return digits;
}

std::string put(const std::string& secret, std::string around) {
  for (std::size_t at = 0; (at = around.find("{}", at)) != std::string::npos; at += secret.size())
    around.replace(at, 2, secret);
  return around;
}

TEST(DoctorBundle, NoCanaryComesOutOfAnyForm) {
  ASSERT_GE(std::size(canaries), 25U);
  AllowedText allowed(results, knowledge());
  for (const Canary& canary : canaries)
    for (const char* around : surroundings)
      for (int form = 0; form <= static_cast<int>(Form::left_out); ++form) {
        const bool may_be_long =
            static_cast<Form>(form) == Form::long_version || std::string(around) == "/usr/lib/libcuda.so.{}";
        if (may_be_long && four_numbers(canary.text)) continue;  // nobody can tell it from the version of a library
        const std::string text = put(canary.text, around), out = allowed(text, static_cast<Form>(form));
        EXPECT_EQ(lower(out).find(lower(canary.text)), std::string::npos)
            << canary.kind << " in '" << text << "' came out of form " << form << " as " << out;
      }
}

TEST(DoctorBundle, NoCanaryComesOutOfAnyFact) {
  for (const Canary& canary : canaries)
    for (const char* around : {"{}", "/home/{}/lib"}) {
      Facts facts;
      Planter planter(canary.text, put(canary.text, around));
      fields(planter, facts);
      EXPECT_GT(planter.planted, 280);  // texts of the facts, and their sources
      const std::string out = lower(to_json(make_bundle({facts, knowledge()}, results)).dump());
      const std::size_t at = out.find(lower(canary.text));
      EXPECT_EQ(at, std::string::npos) << canary.kind << " came out: " << out.substr(at > 200 ? at - 200 : 0, 400);
      EXPECT_EQ(out.find(hex(canary.text)), std::string::npos) << canary.kind << " in hexadecimal digits";
      EXPECT_EQ(out.find("774199"), std::string::npos) << "the number of an account";
    }
}

TEST(DoctorBundle, AlsoThePackedFileAndItsHeadersHaveNone) {
  Facts facts;
  Planter planter("zqhost7741", "zqhost7741");
  fields(planter, facts);
  const std::string file = packed(make_bundle({facts, knowledge()}, results), knowledge());
  EXPECT_EQ(packed(make_bundle({facts, knowledge()}, results), knowledge()), file) << "not the same bytes each time";
  const std::size_t most = most_bundle_bytes;
  const auto files = unpack_tar_gz(file, {{"assay-bundle/facts.json", most}, {"assay-bundle/report.md", most}});
  EXPECT_EQ(files.size(), 2U);
  for (const auto& [name, content] : files) EXPECT_EQ(lower(content).find("zqhost"), std::string::npos) << name;
}

TEST(DoctorBundle, WhatNvmlTellsIsOnTheList) {
  const AllowedText allowed(results, knowledge());
  const std::string source = read_file(source_folder() / "harness/telemetry/nvml.cpp");
  re2::StringPiece rest(source);
  std::string name;
  int names = 0;
  for (; RE2::FindAndConsume(&rest, "(?:facts\\[|ASSAY_FACT\\()\"(\\w+)\"", &name); ++names)
    EXPECT_TRUE(allowed.has_name(name, Form::nvml_name)) << name << " is missing in nvml_names of allowed_words.h";
  EXPECT_GT(names, 25);
}

TEST(DoctorBundle, UsualTextsStayAsTheyAre) {
  AllowedText allowed(results, knowledge());
  for (const auto& [form, text] : std::initializer_list<std::pair<Form, const char*>>{
           {Form::version, "6.8.0-45-generic"},
           {Form::version, "5.15.153.1-microsoft-standard-WSL2"},
           {Form::version, "4.18.0-553.16.1.el8_10.x86_64"},
           {Form::version, "2.11.0+cu130"},
           {Form::long_version, "13.1.0.3"},
           {Form::long_version, "535.183.01-0ubuntu0.22.04.1"},
           {Form::words, "6.8.0-45-generic SMP preempt mod_unload modversions "},
           {Form::words, "nvidia/580.95.05: built for 6.8.0-45-generic"},
           {Form::words, "nvidia (/etc/modprobe.d/blacklist.conf)"},
           {Form::path, "/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05"},
           {Form::path, "/usr/local/cuda-13.0/targets/x86_64-linux/lib/libcublas.so.13.1.0.3"},
           {Form::path, "/sys/bus/pci/devices/0000:3b:00.0/aer_dev_fatal"},
           {Form::product, "NVIDIA H100 80GB HBM3"},
           {Form::product, "NVIDIA A10-24Q"},
           {Form::package, "nvidia-fabricmanager-580"},
           {Form::package, "nvidia_cudnn_cu13"},
           {Form::setting, "0,1,2,3"},
           {Form::setting, "backend:cudaMallocAsync"},
           {Form::setting, "/usr/local/cuda-13.0/lib64:/usr/lib"},
           {Form::gres, "Name=gpu File=/dev/nvidia[0-7]\n"},
           {Form::log_code, "79"}})
    EXPECT_EQ(allowed(text, form), text);
}

TEST(DoctorBundle, EqualStaysEqualAndDifferentDifferent) {
  AllowedText allowed(results, knowledge());
  EXPECT_EQ(allowed("6.8.0-zqcustom", Form::version), allowed("6.8.0-zqcustom", Form::version));
  EXPECT_NE(allowed("6.8.0-zqcustom", Form::version), allowed("6.8.0-zqother", Form::version));
  EXPECT_EQ(allowed("/home/zqa/lib:/home/zqb/lib", Form::setting),
            allowed("/home/zqa/lib", Form::path) + ":" + allowed("/home/zqb/lib", Form::path));
  EXPECT_EQ(allowed.account(0), 0U);
  EXPECT_EQ(allowed.account(1000), allowed.account(1000));
  EXPECT_NE(allowed.account(1000), allowed.account(1001));
}

TEST(DoctorBundle, WhatItCannotSayIsUndecidedAndNeverSound) {
  Facts facts;
  facts.bus = Fact<std::vector<std::string>>::of({"0000:01:00.0"}, "/sys/bus/pci/devices");
  facts.gpus.resize(1);
  facts.gpus[0].address = "0000:01:00.0";
  facts.gpus[0].vendor = Fact<std::string>::of("10de", "v");
  // A text of a name that is broken by what can't be told: the version of the module, of which a form hides a part.
  facts.modules.version = Fact<std::string>::of("580.95.05", "/proc/driver/nvidia/version");
  facts.cluster.vgpu_configuration = Fact<std::string>::of("FeatureType=1", "/etc/nvidia/gridd.conf");
  Bundle bundle = make_bundle({facts, knowledge()}, results);
  bundle.undecided = {"bus.gpu"};
  std::vector<Check> checks = all_checks(knowledge());
  checks.erase(std::remove_if(checks.begin(), checks.end(), [](const Check& check) { return check.id != "bus.gpu"; }),
               checks.end());
  const Case one{bundle.facts, knowledge()};
  EXPECT_EQ(verdict_of(judge(checks, one), bundle.facts), Verdict::sound);
  const std::vector<Answer> answers = judge(checks_for(bundle, checks), one);
  EXPECT_EQ(answers.front().state, State::unknown);
  EXPECT_EQ(verdict_of(answers, bundle.facts), Verdict::unknown);
}

TEST(DoctorBundle, AFactThatIsMissingIsNotInTheBundle) {
  const Facts facts;
  Json json = to_json(make_bundle({facts, knowledge()}, results));
  json["facts"]["system"].erase("kernel");
  const Bundle read = bundle_from_json(json.dump());
  EXPECT_EQ(read.facts.system.kernel.state, Known::not_in_bundle);
  EXPECT_EQ(read.facts.system.command_line.state, Known::absent);
  json["facts"]["system"].erase("wsl");  // nothing says that it isn't WSL
  EXPECT_THROW(bundle_from_json(json.dump()), Error);
}

TEST(DoctorBundle, EveryFieldComesBack) {
  Facts facts;
  Planter planter("zqhost7741", "zqhost7741");
  fields(planter, facts);
  const Json json = to_json(make_bundle({facts, knowledge()}, results));
  EXPECT_EQ(to_json(bundle_from_json(json.dump())).dump(), json.dump());
}

}  // namespace
}  // namespace assay::doctor
