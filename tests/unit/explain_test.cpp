// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The tables of results/explain by their own examples, and what the reader makes of whole inputs.
#include "harness/explain/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/base/error.h"
#include "harness/explain/report.h"
#include "tests/unit/source_folder.h"

namespace assay::explain {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Rules& rules() {
  static Rules rules(source_folder() / "results/explain");
  return rules;
}

Explanation explain(std::string_view text, std::size_t block = std::string::npos) {
  Reader reader(rules(), "test");
  for (std::size_t i = 0; i < text.size(); i += std::min(block, text.size())) reader.feed(text.substr(i, block));
  return reader.finish();
}

// In a cell of the tables a line break is written as \n.
std::string lines_of(std::string text) {
  for (std::size_t at; (at = text.find("\\n")) != std::string::npos;) text.replace(at, 2, "\n");
  return text;
}

const Finding& first(const Explanation& explanation) { return explanation.diagnosis.findings.front(); }

const Finding* of(const Explanation& explanation, const std::string& device) {
  for (const Finding& finding : explanation.diagnosis.findings)
    if (finding.device == device) return &finding;
  return nullptr;
}

std::string said(const Finding& finding) {
  return finding.device + " " + finding.first.kind + " " + finding.first.code + " " + finding.layer;
}

TEST(ExplainTables, EveryRowIsReachedByItsExample) {
  const Tables& tables = rules().tables;
  for (const Row& row : tables.codes) {
    const Explanation explanation = explain(lines_of(row.example));
    const auto& used = explanation.diagnosis.used;
    EXPECT_NE(std::find(used.begin(), used.end(), &row), used.end())
        << "codes.csv " << row.table << " " << row.code << ": " << row.example;
  }
  for (const Row& row : tables.texts) {
    Reader reader(rules(), "test");
    reader.feed(lines_of(row.example));
    const Explanation explanation = reader.finish();
    const auto& used = explanation.diagnosis.used;
    const bool reached = row.kind == "context" ? reader.events().contexts().count(row.code) == 1
                                               : std::find(used.begin(), used.end(), &row) != used.end();
    EXPECT_TRUE(reached) << "texts.csv " << row.pattern << ": " << row.example;
  }
  for (const Format& format : tables.formats)
    EXPECT_EQ(explain(lines_of(format.example)).format, format.name) << format.example;
}

TEST(ExplainTables, EveryFormMatchesItsExample) {
  for (std::size_t i = 0; i < rules().logs.size(); ++i) {
    if (rules().logs[i].pattern.origin != Origin::form) continue;
    const std::string& example = rules().tables.forms[rules().logs[i].pattern.index].example;
    EXPECT_TRUE(RE2::PartialMatch(example, rules().scanner.expression(static_cast<int>(i)))) << example;
    const auto& candidates = rules().scanner.candidates(example);
    EXPECT_NE(std::find(candidates.begin(), candidates.end(), static_cast<int>(i)), candidates.end()) << example;
  }
}

TEST(ExplainTables, EveryPatternOfLogsHasALiteral) {
  for (const int pattern : rules().scanner.without_literal())
    ADD_FAILURE() << rules().logs[static_cast<std::size_t>(pattern)].pattern.expression;
  EXPECT_THAT(Scanner({"abcd", "abcde"}).without_literal(), ElementsAre(0)) << "the check sees one that has none";
}

TEST(ExplainTables, EveryConditionIsSetBySomeRow) {
  std::set<std::string> flags = {"short", "repeated"};
  for (const Row& row : rules().tables.texts)
    if (row.kind == "context") flags.insert(row.code);
  for (const auto* rows : {&rules().tables.codes, &rules().tables.texts})
    for (const Row& row : *rows)
      for (const std::string& flag : row.when)
        EXPECT_EQ(flags.count(flag.front() == '!' ? flag.substr(1) : flag), 1U) << flag << " of " << row.example;
}

constexpr char memory_fault[] =
    "2024-11-15T05:39:15,49+00:00 nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, "
    "skipping\n"
    "2024-11-15T12:02:03,47+00:00 NVRM: Xid (PCI:0000:19:00): 48, pid='<unknown>', name=<unknown>, An uncorrectable\n"
    "2024-11-15T12:02:03,49+00:00 NVRM: Xid (PCI:0000:19:00): 63, pid='<unknown>', name=<unknown>, Row Remapper\n"
    "2024-11-15T12:02:03,50+00:00 NVRM: Xid (PCI:0000:19:00): 94, pid=12, name=python3.10, Ch 00000008\n"
    "2024-11-15T12:02:03,51+00:00 NVRM: Xid (PCI:0000:19:00): 94, pid=12, name=python3.10, Ch 00000009\n"
    "RuntimeError: CUDA error: uncorrectable ECC error encountered\n";

TEST(Explain, TheFirstCauseIsNamedAndTheRestFollows) {
  const Explanation explanation = explain(memory_fault);
  ASSERT_THAT(explanation.diagnosis.findings, SizeIs(2));
  const Finding& finding = first(explanation);
  EXPECT_EQ(said(finding), "0000:19:00 xid 48 hardware");
  EXPECT_EQ(finding.first.line, 2U);
  std::vector<std::string> followers;
  for (const Cause& cause : finding.consequences) followers.push_back(cause.code);
  EXPECT_THAT(followers, ElementsAre("63", "94", "214"));
  EXPECT_EQ(said(*of(explanation, "host")), "host none - none") << "what looks bad and is harmless";
  EXPECT_EQ(exit_code_of(explanation.diagnosis.findings), 1);
}

TEST(Explain, TheSameByWholeAndByByte) {
  const Json whole = to_json({explain(memory_fault)});
  for (const std::size_t block : {1U, 7U, 100U}) EXPECT_EQ(to_json({explain(memory_fault, block)}), whole) << block;
}

TEST(Explain, VictimsAreNotTheCause) {
  const Explanation explanation = explain(
      "[1.5] NVRM: Xid (PCI:0000:91:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
      "[1.6] nvidia-nvswitch1: SXid (PCI:0000:06:00.0): 20034, Fatal, Link 48 LTSSM Fault Up\n"
      "Unable to determine the device handle for GPU0000:91:00.0: Unknown Error\n"
      "nvidia-container-cli: device error: 3: unknown device: unknown\n");
  EXPECT_EQ(said(first(explanation)), "0000:91:00 xid 79 hardware");
  EXPECT_EQ(of(explanation, "0000:06:00")->severity, "ignore");
  EXPECT_EQ(of(explanation, "-"), nullptr);
  EXPECT_EQ(of(explanation, "host"), nullptr);
}

TEST(Explain, ACodeMayStandInAnotherLineThanItsReason) {
  const Explanation explanation = explain(
      "NVRM: GPU0 _kgspBootGspRm: unexpected WPR2 already up,\n                cannot proceed with booting GSP\n"
      "NVRM: GPU0 RmInitAdapter: Cannot initialize GSP firmware RM\n"
      "NVRM: GPU 0000:04:00.0: RmInitAdapter failed! (0x62:0x40:2192)\n");
  EXPECT_EQ(said(first(explanation)), "0000:04:00 nvrm 0x62:0x40 firmware");
  EXPECT_EQ(first(explanation).first.line, 1U);
}

TEST(Explain, EachOfTwoGpusHasItsOwnAnswer) {
  const Explanation explanation = explain(
      "NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:\n"
      "nvidia 0000:67:00.0: probe with driver nvidia failed with error -1\n"
      "nvidia 0000:68:00.0: vgaarb: VGA decodes changed\n");
  EXPECT_EQ(said(*of(explanation, "0000:67:00")), "0000:67:00 nvrm - bus");
  EXPECT_EQ(said(*of(explanation, "0000:68:00")), "0000:68:00 none - none");
}

TEST(Explain, SectionsOfNvidiaSmiBelongToTheirGpu) {
  const std::string report =
      "==============NVSMI LOG==============\nAttached GPUs                             : 2\n"
      "GPU 00000000:07:00.0\n    Product Name                          : NVIDIA A10\n    Remapped Rows\n"
      "        Pending                           : No\n    Processes                             : None\n"
      "GPU 00000000:08:00.0\n    Product Name                          : NVIDIA A10\n    Remapped Rows\n"
      "        Pending                           : Yes\n    Processes                             : None\n";
  const Explanation explanation = explain(report);
  EXPECT_EQ(said(*of(explanation, "0000:07:00")), "0000:07:00 none - none");
  EXPECT_EQ(of(explanation, "0000:07:00")->confidence, "high");
  EXPECT_EQ(said(*of(explanation, "0000:08:00")), "0000:08:00 ecc - hardware");
  const Explanation cut = explain(report.substr(0, report.rfind("    Processes")));
  EXPECT_EQ(said(*of(cut, "0000:08:00")), "0000:08:00 ecc - hardware") << "a fault counts more than the cut";
  const Explanation sooner = explain(report.substr(0, report.rfind("    Remapped")));
  EXPECT_EQ(said(*of(sooner, "0000:08:00")), "0000:08:00 truncated - unknown");
  EXPECT_EQ(exit_code_of(sooner.diagnosis.findings), 2);
  const Explanation xml = explain(
      "<nvidia_smi_log>\n<gpu "
      "id=\"00000009:01:00.0\">\n<remapped_rows>\n<remapped_row_pending>Yes</remapped_row_pending>\n"
      "</remapped_rows>\n</gpu>\n</nvidia_smi_log>\n");
  EXPECT_EQ(said(first(xml)), "0009:01:00 ecc - hardware");
}

TEST(Explain, CellsOfATableArePutTogether) {
  const Explanation explanation = explain(
      "| GPU Memory                | Pass - GPUs: 1, 2                              |\n"
      "|                           | Fail - GPU: 0                                  |\n"
      "| Warning                   | GPU 0 Thermal violations totaling 13.3 second  |\n"
      "|                           | s started at 9.7 seconds into the test for GP  |\n");
  EXPECT_EQ(said(first(explanation)), "gpu 0 thermal - hardware");
  EXPECT_EQ(first(explanation).first.line, 3U);
  EXPECT_EQ(said(*of(explanation, "gpu 2")), "gpu 2 none - none");
}

TEST(Explain, ReadsJsonOfTheJournalAndWithoutLines) {
  EXPECT_EQ(said(first(explain(
                R"({"__CURSOR":"x","MESSAGE":"NVRM: Xid (PCI:0002:3b:00): 79, GPU has fallen off the bus."})"))),
            "0002:3b:00 xid 79 hardware");
  const std::string padding(300, 'x');
  EXPECT_EQ(
      said(first(explain(R"({"p":")" + padding + R"(","results":[{"gpu_ids":"2","warnings":[{"error_id":80}]}]})"))),
      "gpu 2 ecc 80 hardware");
}

TEST(Explain, LinesOfAnySizeAndEnding) {
  const std::string xid = "NVRM: Xid (PCI:0000:3b:00): 31, pid=1, name=x, MMU Fault";
  for (const std::string& text :
       {xid, xid + "\r\n", "\n\n" + xid, std::string(5, '\0') + "\n" + xid, "\xC3\xA9\xFF " + xid}) {
    const Explanation explanation = explain(text);
    EXPECT_EQ(said(first(explanation)), "0000:3b:00 xid 31 application") << text;
  }
  EXPECT_EQ(first(explain("\n\n" + xid)).first.line, 3U);
  // At every place around the seam of two pieces.
  for (std::size_t before = Lines::longest - 100; before < Lines::longest + 20; before += 7) {
    const Explanation explanation =
        explain(std::string(before, '.') + xid + std::string(Lines::longest, '.') + "\nend\n");
    EXPECT_EQ(said(first(explanation)), "0000:3b:00 xid 31 application") << before;
    EXPECT_EQ(first(explanation).count, 1U) << before;
    EXPECT_EQ(explanation.lines, 2U);
    EXPECT_THAT(explanation.notes, ElementsAre(HasSubstr("1 line longer than 64 KiB")));
  }
}

TEST(Explain, ARepeatedLineIsCountedWithoutBeingReadAgain) {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += "NVRM: Xid (PCI:0000:3b:00): 31, pid=" + std::to_string(i) + ", name=python, Ch 0000000a\n" +
            "NVRM: Xid (PCI:0000:5e:00): 149, NETIR_LINK_EVT  " + (i == 990 ? "Fatal  " : "Nonfatal") +
            " XC0 i0 Link 08\n";
  const Explanation explanation = explain(text);
  EXPECT_EQ(of(explanation, "0000:3b:00")->count, 1000U);
  EXPECT_EQ(of(explanation, "0000:5e:00")->severity, "drain") << "another word after the number is another line";
  EXPECT_EQ(of(explanation, "0000:5e:00")->first.line, 2U * 991);
}

TEST(Explain, AStormTakesNoMemory) {
  Reader reader(rules(), "test");
  for (int i = 0; i < 20000; ++i)
    reader.feed("NVRM: Xid (PCI:" + std::to_string(1000 + i % 9000) + ":3b:00): 31, pid=" + std::to_string(i) + "\n");
  const Explanation explanation = reader.finish();
  EXPECT_LE(reader.events().all().size(), Events::most);
  EXPECT_THAT(explanation.notes, ElementsAre(HasSubstr("too many to keep")));
}

TEST(Explain, WhatIsNoTextIsRefusedWithAdvice) {
  const auto problem = [](std::string_view text) {
    try {
      explain(text);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  using namespace std::string_view_literals;
  EXPECT_THAT(problem("\xFF\xFEX\0i\0d\0"sv), AllOf(HasSubstr("test is UTF-16"), HasSubstr("iconv")));
  EXPECT_THAT(problem("X\0i\0d\0 \0007\0009\0\n\0"sv), HasSubstr("UTF-16"));
  EXPECT_THAT(problem("\x1F\x8B\x08"sv), HasSubstr("zcat"));
  EXPECT_THAT(problem("\x7F"
                      "ELF\2\1\1"sv),
              HasSubstr("a program"));
  EXPECT_THAT(problem("\1\2\3\4\5\6\7abc"sv), HasSubstr("binary"));
  EXPECT_THAT(problem("Xid 79"sv), IsEmpty());
  EXPECT_THAT(problem(""sv), IsEmpty());
}

TEST(Explain, SaysUnknownAndNothingInDifferentWords) {
  EXPECT_EQ(said(first(explain("error: the frobnicator failed"))), "- unknown - unknown");
  EXPECT_EQ(exit_code_of(explain("error: the frobnicator failed").diagnosis.findings), 2);
  EXPECT_EQ(said(first(explain(""))), "- unknown - unknown");
  EXPECT_EQ(exit_code_of(explain("\n\r\n").diagnosis.findings), 2);
  EXPECT_EQ(said(first(explain("all is well"))), "- none - none");
  EXPECT_EQ(first(explain("all is well")).confidence, "low");
  EXPECT_EQ(exit_code_of(explain("all is well").diagnosis.findings), 0);
  EXPECT_EQ(said(first(explain("NVRM: Xid (PCI:0000:3b:00): 999, whatever"))), "0000:3b:00 xid 999 unknown");
}

TEST(Explain, AddressesHaveOneForm) {
  EXPECT_EQ(normal_pci("00000000:3B:00.0"), "0000:3b:00");
  EXPECT_EQ(normal_pci("000f:01:00"), "000f:01:00");
  EXPECT_EQ(normal_pci("01:00.0"), "0000:01:00");
  EXPECT_EQ(normal_pci("x"), "");
  EXPECT_EQ(normal_pci(""), "");
}

}  // namespace
}  // namespace assay::explain
