#include "tilewright/report/map_report.hpp"

#include "markup.hpp"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

ReportedLayer layer_named(const std::string& name, double latency, double energy) {
  ReportedLayer layer;
  layer.name = name;
  layer.macs = 1e6;
  layer.found = ReportedLayer::Found{.latency = latency,
                                     .energy = energy,
                                     .edp = latency * energy,
                                     .utilisation = 0.625,
                                     .objective = latency * energy,
                                     .mapping = "levels: 2 # of " + name,
                                     .loop_nest = "for k < 8"};
  layer.dataflow = "row-stationary";
  layer.dataflow_factor = 2.5;
  layer.samples = 100;
  layer.valid = 80;
  layer.repeated = 3;
  layer.rejected = {{"l1-overflow", 15}, {"l2-overflow", 5}};
  layer.curve = {{1, 10 * latency * energy}, {40, latency * energy}};
  return layer;
}

MapReport report_of(std::size_t layers) {
  MapReport report;
  report.network = "net";
  report.machine = "array";
  report.objective = "edp";
  report.unit = "nJ·cycles";
  report.searcher = "agents";
  report.samples_per_layer = 100;
  report.seed = 7;
  report.version = "1.2.3";
  report.command = "tilewright map net.yaml --hardware array.yaml";
  report.settings = {{"search", "agents"}, {"tiles", "any"}, {"levels", "2"}};
  for (std::size_t i = 0; i < layers; ++i) {
    report.layers.push_back(layer_named("conv" + std::to_string(i), 1000 + static_cast<double>(i), 2000));
  }
  report.latency = 12'345'678;
  report.energy = 23'456;
  report.edp = 2.8958e11;
  report.macs = 1e9;
  report.dataflow_factor = 2.468;
  report.seconds = 0.5;
  return report;
}

std::vector<std::string> texts_of(const Markup& markup, const std::string& name) {
  std::vector<std::string> texts;
  for (const Element& element : markup.elements) {
    if (element.name == name) texts.push_back(element.text);
  }
  return texts;
}

TEST(MapReport, BeginsWithTheAnswer) {
  const std::string html = to_html(report_of(2));
  const Markup markup = read_markup(html);
  ASSERT_EQ(markup.error, "");
  EXPECT_THAT(texts_of(markup, "h1"), ElementsAre("net on array"));
  EXPECT_THAT(texts_of(markup, "b"), ElementsAre("289.6 G", "12.35 M", "23.46 k", "2.47×", "20.0 %", "400"));
  EXPECT_LT(html.find("289.6 G"), html.find("<h2>")) << "before anything else";
  EXPECT_THAT(html, HasSubstr("of 200"));
  EXPECT_THAT(html, Not(HasSubstr("class=\"note\"")));
}

TEST(MapReport, TellsEveryLayer) {
  MapReport report = report_of(3);
  report.layers[1].count = 4;
  report.layers[2].optimum_factor = 1.0125;
  const std::string html = to_html(report);
  const Markup markup = read_markup(html);
  ASSERT_EQ(markup.error, "");
  for (const char* text : {"conv0", "conv1", "conv2", "62.5 %", "2.50×", "1.012×", "80.0 %", "invalid: l1-overflow"}) {
    EXPECT_THAT(html, HasSubstr(text));
  }
  // Shares count copies: 1, 4 and 1 of nearly equal ones.
  EXPECT_THAT(html, HasSubstr("66.7 %"));
  EXPECT_THAT(html, HasSubstr("levels: 2 # of conv2"));
  EXPECT_EQ(markup.count("details"), 3u);
  for (const Element& element : markup.elements) {
    if (element.name != "a") continue;
    EXPECT_THAT(html, HasSubstr("id=\"" + element.attributes.at("href").substr(1) + "\""));
  }
}

TEST(MapReport, NeedsNothingElse) {
  MapReport report = report_of(12);
  report.agents = ClusterMap{{"p", "q"}, {1, 0.3, 0.3, 1}, {{0, 1, 0.7}}, {0, 1}, {0, 1}};
  const std::string html = to_html(report);
  const Markup markup = read_markup(html);
  ASSERT_EQ(markup.error, "");
  EXPECT_EQ(markup.count("script"), 0u);
  EXPECT_EQ(markup.count("img"), 0u);
  EXPECT_EQ(markup.count("svg"), 2u);
  for (const char* outside : {"http:", "https:", "src=", "url(", "@import"}) EXPECT_THAT(html, Not(HasSubstr(outside)));
}

TEST(MapReport, EscapesEveryName) {
  const std::string evil = "</pre><script>alert(\"&\")</script>";
  MapReport report = report_of(1);
  for (std::string* text :
       {&report.network, &report.machine, &report.objective, &report.unit, &report.searcher, &report.version,
        &report.command, &report.edp_meaning, &report.dataflow_meaning, &report.agents_origin, &report.layers[0].name,
        &report.layers[0].dataflow, &report.layers[0].found->mapping, &report.layers[0].found->loop_nest}) {
    *text = evil;
  }
  report.settings = {{evil, evil}};
  report.notes = {evil};
  report.layers[0].rejected = {{evil, 20}};
  report.agents = ClusterMap{{evil, "q"}, {1, 0.3, 0.3, 1}, {{0, 1, 0.7}}, {0, 1}, {0, 1}, 0.5, evil};
  const Markup markup = read_markup(to_html(report));
  EXPECT_EQ(markup.error, "");
  EXPECT_EQ(markup.count("script"), 0u);
}

TEST(MapReport, ColoursTheLargestLayersAndKeepsTheOthersBehind) {
  const Markup few = read_markup(to_html(report_of(8)));
  EXPECT_EQ(few.count("path", "faint"), 0u);
  const std::string html = to_html(report_of(60));
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

TEST(MapReport, SaysWhatIsMissing) {
  MapReport report = report_of(2);
  report.layers[1].found.reset();
  report.layers[1].curve.clear();
  report.layers[1].valid = 0;
  report.dataflow_factor = 0.5;
  report.notes = {"Stopped early."};
  const std::string html = to_html(report);
  ASSERT_EQ(read_markup(html).error, "");
  EXPECT_THAT(html, HasSubstr("1 of 2 layers has no valid mapping yet"));
  EXPECT_THAT(html, HasSubstr("no valid mapping in 100 samples"));
  EXPECT_THAT(html, HasSubstr("Stopped early."));
  EXPECT_THAT(html, HasSubstr("more EDP<b>2.00×</b>"));
  for (const char* broken : {">nan", " nan", "\"nan", "inf<", ">inf"}) EXPECT_THAT(html, Not(HasSubstr(broken)));
}

TEST(MapReport, AnEmptyOneIsStillAPage) {
  const Markup markup = read_markup(to_html(MapReport{}));
  EXPECT_EQ(markup.error, "");
  EXPECT_EQ(markup.count("svg"), 0u);
}

}  // namespace
}  // namespace tilewright
