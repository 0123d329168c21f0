#include "tilewright/report/mapping.hpp"

#include <fmt/format.h>

#include "markup.hpp"
#include "tilewright/mapping/dataflows.hpp"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// A layer of a million multiplications, with a classic dataflow that takes twice as long.
MappedLayer layer_named(const std::string& name, double latency, double energy, const Accelerator& machine) {
  MappedLayer layer;
  layer.name = name;
  layer.layer = convolution(name, {.out_channels = 8, .in_channels = 4, .in_height = 6, .in_width = 6});
  layer.nest = *nest_of(layer.layer);
  Metrics metrics;
  metrics.latency = latency;
  metrics.energy = energy;
  metrics.macs = 1e6;
  metrics.pes = 16;
  layer.found = MappedLayer::Found{
      *dataflow("nvdla", layer.nest, machine, StridedTiles::Several), machine, metrics, {latency * energy}};
  layer.dataflow = "row-stationary";
  layer.dataflow_metrics = metrics;
  layer.dataflow_metrics->latency *= 2;
  layer.dataflow_factor = 2;
  layer.ledger.samples = 100;
  layer.ledger.valid = 80;
  layer.ledger.repeated = 3;
  layer.ledger.improvements = {{1, {10 * latency * energy}}, {40, {latency * energy}}};
  layer.rejected = {{"l1-overflow", 15}, {"l2-overflow", 5}};
  return layer;
}

MappingStudy study_of(std::size_t layers) {
  MappingStudy study;
  study.network = "net";
  study.machine.name = "array";
  study.machine.pes = 16;
  study.search = "agents";
  study.samples = 100;
  study.seed = 7;
  study.space = "mapping with tiles any, levels 2";
  study.command = {"tilewright", "map", "net.yaml", "--hardware", "array.yaml"};
  for (std::size_t i = 0; i < layers; ++i) {
    study.layers.push_back(layer_named(fmt::format("conv{}", i), 1000 + static_cast<double>(i), 2000, study.machine));
  }
  return study;
}

std::vector<std::string> texts_of(const Markup& markup, const std::string& name) {
  std::vector<std::string> texts;
  for (const Element& element : markup.elements) {
    if (element.name == name) texts.push_back(element.text);
  }
  return texts;
}

TEST(MappingPage, BeginsWithTheAnswer) {
  const std::string html = to_html(study_of(2));
  const Markup markup = read_markup(html);
  ASSERT_EQ(markup.error, "");
  EXPECT_THAT(texts_of(markup, "h1"), ElementsAre("net on array"));
  // 2,001 cycles and 4,000 nJ in all; classics take twice the time.
  EXPECT_THAT(texts_of(markup, "b"), ElementsAre("8.004 M", "2.001 us", "4 uJ", "2001", "4000", "2.00×", "20.0 %"));
  EXPECT_LT(html.find("8.004 M"), html.find("<h2>")) << "before anything else";
  EXPECT_THAT(html, HasSubstr("of 200"));
}

TEST(MappingPage, TellsEveryLayer) {
  MappingStudy study = study_of(3);
  study.layers[1].count = 4;
  study.layers[2].optimum_factor = 1.0125;
  const std::string html = to_html(study);
  const Markup markup = read_markup(html);
  ASSERT_EQ(markup.error, "");
  for (const char* text : {"conv0", "conv1", "conv2", "2.00×", "1.012×", "80.0 %", "invalid: l1-overflow"}) {
    EXPECT_THAT(html, HasSubstr(text));
  }
  // Shares count copies: 1, 4 and 1 of nearly equal ones.
  EXPECT_THAT(html, HasSubstr("66.7 %"));
  EXPECT_EQ(markup.count("details"), 3u);
  EXPECT_EQ(markup.count("pre"), 6u);  // loops and mapping of each
  for (const Element& element : markup.elements) {
    if (element.name != "a") continue;
    EXPECT_THAT(html, HasSubstr("id=\"" + element.attributes.at("href").substr(1) + "\""));
  }
}

TEST(MappingPage, NeedsNothingElse) {
  const std::string html = to_html(study_of(12));
  const Markup markup = read_markup(html);
  ASSERT_EQ(markup.error, "");
  EXPECT_EQ(markup.count("script"), 0u);
  EXPECT_EQ(markup.count("img"), 0u);
  EXPECT_EQ(markup.count("svg"), 1u);
  for (const char* outside : {"http:", "https:", "src=", "url(", "@import"}) EXPECT_THAT(html, Not(HasSubstr(outside)));
}

TEST(MappingPage, EscapesEveryName) {
  const std::string evil = "</pre><script>alert(\"&\")</script>";
  MappingStudy study = study_of(2);
  for (std::string* text : {&study.network, &study.machine.name, &study.search, &study.space, &study.layers[0].name,
                            &study.layers[0].dataflow, &study.layers[1].explain}) {
    *text = evil;
  }
  study.command = {evil};
  study.settings = {{evil, evil, ""}};
  study.layers[0].rejected = {{evil, 20}};
  study.layers[1].found.reset();
  const Markup markup = read_markup(to_html(study));
  EXPECT_EQ(markup.error, "");
  EXPECT_EQ(markup.count("script"), 0u);
}

TEST(MappingPage, ColoursTheLargestLayersAndKeepsTheOthersBehind) {
  const Markup few = read_markup(to_html(study_of(8)));
  EXPECT_EQ(few.count("path", "faint"), 0u);
  const std::string html = to_html(study_of(60));
  const Markup many = read_markup(html);
  ASSERT_EQ(many.error, "");
  EXPECT_EQ(many.count("path", "line"), 60u);
  EXPECT_EQ(many.count("path", "faint"), 52u);
  EXPECT_THAT(html, HasSubstr("52 other layers"));
  const std::size_t first = html.find("class=\"legend\"");
  const std::string entries = html.substr(first, html.find("</p>", first) - first);
  EXPECT_THAT(entries, HasSubstr("conv59"));
  EXPECT_THAT(entries, HasSubstr("conv52"));
  EXPECT_THAT(entries, Not(HasSubstr("conv51"))) << "the ninth by EDP";
}

TEST(MappingPage, SaysWhatIsMissing) {
  MappingStudy study = study_of(2);
  study.interrupted = true;
  study.layers[1].found.reset();
  study.layers[1].ledger.improvements.clear();
  study.layers[1].ledger.valid = 0;
  study.layers[0].dataflow_metrics->latency /= 4;
  const std::string html = to_html(study);
  ASSERT_EQ(read_markup(html).error, "");
  EXPECT_THAT(html, HasSubstr("1 of 2 layers has no valid mapping yet"));
  EXPECT_THAT(html, HasSubstr("no valid mapping in 100 samples"));
  EXPECT_THAT(html, HasSubstr("Stopped early: 200 of 200 samples were spent"));
  EXPECT_THAT(html, HasSubstr("more EDP<b>2.00×</b>"));
  for (const char* broken : {">nan", " nan", "\"nan", "inf<", ">inf"}) EXPECT_THAT(html, Not(HasSubstr(broken)));
}

TEST(MappingPage, AnEmptyOneIsStillAPage) {
  const Markup markup = read_markup(to_html(MappingStudy{}));
  EXPECT_EQ(markup.error, "");
  EXPECT_EQ(markup.count("svg"), 0u);
}

TEST(MappingTables, HaveALinePerLayerAndPerNewBest) {
  MappingStudy study = study_of(2);
  study.layers[1].name = "conv,1";
  study.layers[1].found.reset();
  const std::string layers = layers_csv(study);
  EXPECT_THAT(layers, HasSubstr("\nconv0,conv,"));
  EXPECT_THAT(layers, HasSubstr("\n\"conv,1\",conv,"));
  EXPECT_EQ(std::ranges::count(layers, '\n'), 3);
  EXPECT_EQ(convergence_csv(study), "layer,sample,objective\n0,1,20000000\n0,40,2000000\n1,1,20020000\n1,40,2002000\n");
}

}  // namespace
}  // namespace tilewright
