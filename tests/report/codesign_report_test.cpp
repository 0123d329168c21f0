#include "tilewright/report/codesign_report.hpp"

#include "markup.hpp"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

CodesignReport report_of_two_layers() {
  CodesignReport report;
  report.network = "net <1>";
  report.searcher = "dcoc";
  report.version = "1.2.3";
  report.command = "tilewright codesign net.yaml";
  report.machine = "1 x 8 x 32";
  report.verification = "verified: 12 elements: all equal";
  report.equal = true;
  report.measurements_per_layer = 64;
  report.seed = 7;
  report.settings = {{"dcoc.batch", "16"}};
  report.cycles = 3'000;
  report.macs = 6e5;
  report.ideal_share = 0.75;
  report.area = 0.9;
  report.area_budget = 1;
  report.default_cycles = 4'500;
  CodesignReportLayer conv{.name = "conv",
                           .count = 2,
                           .macs = 2e5,
                           .found = {},
                           .default_cycles = 1'500,
                           .measurements = 64,
                           .valid = 32,
                           .curve = {{1, 4'000}, {20, 1'000}}};
  conv.found = CodesignReportLayer::Found{1'000, 0.8, 0.6, 5, "b1 h4 w4 ci1 co1", "2x1"};
  CodesignReportLayer fc = conv;
  fc.name = "fc";
  fc.count = 1;
  report.layers = {conv, fc};
  report.curve = {{70, 9'000}, {100, 3'000}};
  report.parts = {{"GEMM core", "256 MACs", "256 MACs", 0.2, 0.2}, {"wgt buffer", "128 KiB", "256 KiB", 0.1, 0.3}};
  report.rounds = {{0.5, 0.25}, {0.9, 0.75}};
  report.slowest = "conv";
  report.timeline =
      Timeline{.lanes = {"load", "compute"}, .kinds = {{"GEMM", 1}}, .spans = {{0, 0, 0, 5}, {1, 0, 3, 9}}, .end = 9};
  report.overlap = "they overlap";
  return report;
}

TEST(CodesignReport, IsAPageWithTheAnswerFirst) {
  const std::string html = to_html(report_of_two_layers());
  EXPECT_EQ(read_markup(html).error, "");
  EXPECT_THAT(html, HasSubstr("<h1>net &lt;1&gt;: 1 x 8 x 32</h1>"));
  for (const char* word :
       {"1.50×", "fewer cycles", "75.0 %", "verified: 12 elements: all equal", "66.7 %", "b1 h4 w4 ci1 co1",
        "Who worked when in conv", "wgt buffer", "recall of the best tenth", "dcoc.batch"}) {
    EXPECT_THAT(html, HasSubstr(word));
  }
  EXPECT_LT(html.find("1.50×"), html.find("b1 h4 w4 ci1 co1"));
}

TEST(CodesignReport, SaysWhatIsMissing) {
  CodesignReport report = report_of_two_layers();
  report.equal = false;
  report.verification = "NOT EQUAL: layer 'conv'";
  EXPECT_THAT(to_html(report), HasSubstr("NOT EQUAL"));

  report = CodesignReport{};
  report.network = "net";
  report.layers = {CodesignReportLayer{}};
  report.notes = {"no machine has been measured on every layer"};
  const std::string html = to_html(report);
  EXPECT_EQ(read_markup(html).error, "");
  EXPECT_THAT(html, HasSubstr("no machine for all layers"));
  EXPECT_THAT(html, HasSubstr("no machine has been measured"));
  EXPECT_THAT(html, Not(HasSubstr("nan")));
  EXPECT_THAT(html, Not(HasSubstr("inf")));
}

}  // namespace
}  // namespace tilewright
