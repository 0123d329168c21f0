#include "tilewright/report/codesign.hpp"

#include "markup.hpp"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

CodesignedLayer layer_of(const std::string& name, std::int64_t count) {
  CodesignedLayer layer;
  layer.name = name;
  layer.count = count;
  layer.layer = convolution(name, {.out_channels = 32,
                                   .in_channels = 16,
                                   .in_height = 8,
                                   .in_width = 8,
                                   .kernel_height = 3,
                                   .kernel_width = 3,
                                   .pad = 1});
  layer.default_cycles = 1'500;
  layer.ledger.samples = 64;
  layer.ledger.valid = 32;
  layer.ledger.best.emplace();
  layer.ledger.improvements = {{1, {4'000}}, {20, {1'000}}};
  layer.calibrations = {{0.5, 0.25}, {0.9, 0.75}};
  CodesignedLayer::Found& found = layer.found.emplace();
  found.schedule = *vta::default_schedule(layer.layer, vta::Machine{});
  found.metrics.latency = 1'000;
  found.metrics.energy = 5;
  found.metrics.macs = static_cast<double>(macs(layer.layer).value);
  found.timing.cycles = 1'000;
  found.timing.gemm_steps = 750;
  return layer;
}

CodesignStudy study_of_two_layers() {
  CodesignStudy study;
  study.network = "net <1>";
  study.search = "dcoc";
  study.command = {"tilewright", "codesign", "net.yaml"};
  study.measurements = 64;
  study.seed = 7;
  study.settings = {{"batch", "16", ""}};
  study.machine = vta::Machine{};
  study.layers = {layer_of("conv", 2), layer_of("fc", 1)};
  study.curve = {{70, 9'000}, {100, 3'000}};
  study.check = {.executed = true, .equal = true, .sentence = "verified: 12 elements: all equal", .programs = 2};
  return study;
}

TEST(CodesignPage, HasTheAnswerFirst) {
  const std::string html = to_html(study_of_two_layers());
  EXPECT_EQ(read_markup(html).error, "");
  EXPECT_THAT(html, HasSubstr("<h1>net &lt;1&gt;: 1 x 16 x 16, buffers of"));
  for (const char* word : {"1.50×", "fewer cycles", "75.0 %", "verified: 12 elements: all equal", "66.7 %", "b1 h4 w8",
                           "Who worked when in conv", "wgt buffer", "recall of the best tenth", "dcoc.batch"}) {
    EXPECT_THAT(html, HasSubstr(word));
  }
  EXPECT_LT(html.find("1.50×"), html.find("b1 h4 w8"));
}

TEST(CodesignPage, SaysWhatIsMissing) {
  CodesignStudy study = study_of_two_layers();
  study.check.equal = false;
  study.check.sentence = "NOT EQUAL: layer 'conv'";
  EXPECT_THAT(to_html(study), HasSubstr("NOT EQUAL"));

  study = CodesignStudy{};
  study.network = "net";
  study.layers = {layer_of("conv", 1)};
  study.layers[0].found.reset();
  study.layers[0].ledger.best.reset();
  study.layers[0].ledger.samples = study.layers[0].ledger.valid = 0;
  const std::string html = to_html(study);
  EXPECT_EQ(read_markup(html).error, "");
  EXPECT_THAT(html, HasSubstr("no machine for all layers"));
  EXPECT_THAT(html, HasSubstr("no schedule that fits was found for layer"));
  EXPECT_THAT(html, Not(HasSubstr("nan")));
  EXPECT_THAT(html, Not(HasSubstr("inf")));
}

TEST(CodesignTables, HaveALinePerLayerAndAreEmptyWhereNothingWasFound) {
  CodesignStudy study = study_of_two_layers();
  study.layers[1].found.reset();
  study.layers[1].default_cycles.reset();
  const std::string csv = layers_csv(study);
  EXPECT_THAT(csv, HasSubstr("\nconv,2,294912,1000,0.75,1.152,5,1,4,8,"));
  EXPECT_THAT(csv, HasSubstr("\nfc,1,294912,,,,,,,,,,,,,64,32\n"));
  EXPECT_EQ(convergence_csv(study), "measurement,cycles\n70,9000\n100,3000\n");
  EXPECT_EQ(calibration_csv(study).substr(0, 59), "layer,round,rank_correlation,top_recall\n0,2,0.5,0.25\n0,3,0.");
}

}  // namespace
}  // namespace tilewright
