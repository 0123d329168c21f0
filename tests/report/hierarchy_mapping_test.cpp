#include "tilewright/report/hierarchy_mapping.hpp"

#include <fmt/format.h>

#include "markup.hpp"
#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/report/hierarchy_evaluation.hpp"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// One layer, everything in DRAM.
HierarchyStudy study_of(const std::string& objective) {
  HierarchyStudy study;
  study.network = "net <1>";
  study.machine = *hierarchy::read_machine("zoo:simple3");
  study.objective = *objective_named(objective);
  study.search = "random";
  HierarchyLayer& layer = study.layers.emplace_back();
  layer.name = "fc";
  layer.count = 2;
  layer.problem = *hierarchy::problem_of(*hierarchy::shape_named("gemm"), {{"M", 8}, {"N", 8}, {"K", 8}}, {}, "test");
  HierarchyLayer::Found& found = layer.found.emplace();
  found.mapping = hierarchy::outermost_mapping(layer.problem, study.machine);
  hierarchy::Evaluator evaluator(layer.problem, study.machine, {.judge = hierarchy::Judge::Hierarchy});
  const auto cost = std::get<hierarchy::Cost>(evaluator.evaluate(found.mapping));
  found.analysis = evaluator.analysis();
  found.analysis.cost = cost;
  found.metrics.latency = static_cast<double>(cost.cycles.value);
  found.metrics.energy = cost.energy.value * 1e-3;
  layer.front = {{found.mapping, found.metrics, 3}};
  study.front.members = {{found.metrics, {}, {0}}};
  return study;
}

TEST(HierarchyPage, TellsWhereTheEnergyGoes) {
  const std::string html = to_html(study_of("edp"));
  EXPECT_EQ(read_markup(html).error, "");
  EXPECT_THAT(html, HasSubstr("net &lt;1&gt; on simple3"));
  for (const char* words : {"Main", "Shared", "Local", "weights ", "inputs ", "outputs "})
    EXPECT_THAT(html, HasSubstr(words));
  EXPECT_THAT(html, Not(HasSubstr("What there is to choose from")));
}

// The bars of a layer are its levels' energies; those of the layer that needs most fill their place.
TEST(HierarchyPage, StacksTheEnergyOfLayersByLevel) {
  HierarchyStudy study = study_of("edp");
  study.layers.push_back(study.layers[0]);
  study.layers[1].count = 1;
  std::vector<double> widths;
  for (const Element& element : read_markup(to_html(study)).elements) {
    const auto style = element.attributes.find("style");
    if (element.name != "i" || !element.attributes.contains("title") || style == element.attributes.end()) continue;
    widths.push_back(std::stod(style->second.substr(std::string("width:").size())));
  }
  const hierarchy::Analysis& analysis = study.layers[0].found->analysis;
  ASSERT_EQ(widths.size(), 8U) << "three levels and the MACs, twice";
  for (std::size_t place = 0; place < 4; ++place) {
    const double energy = place == 3 ? analysis.mac_energy.value : analysis.levels[2 - place].energy.value;
    EXPECT_NEAR(widths[place], 100 * energy / analysis.cost.energy.value, 0.01);
    EXPECT_NEAR(widths[place + 4], widths[place] / 2, 0.01);
  }
}

TEST(HierarchyPage, DrawsTheFrontThatWasAskedFor) {
  const HierarchyStudy study = study_of("pareto:latency,energy");
  const std::string html = to_html(study);
  EXPECT_EQ(read_markup(html).error, "");
  EXPECT_THAT(html, HasSubstr("What there is to choose from"));
  EXPECT_THAT(to_text(study), HasSubstr("Front of the network: 1 of pareto:latency,energy mappings"));
  const std::string csv = pareto_csv(fronts_of(study));
  EXPECT_THAT(csv, HasSubstr("(network),1,0,"));
  EXPECT_THAT(csv, HasSubstr("fc,2,0,"));
  EXPECT_THAT(csv, HasSubstr("Main [A B Z]:")) << "the mapping, on one line";
}

TEST(HierarchyEnergy, TablesAddUp) {
  const HierarchyStudy study = study_of("edp");
  const std::string csv = energy_csv(study);
  double sum = 0;
  std::size_t lines = 0;
  for (std::size_t at = csv.find('\n') + 1; at < csv.size(); at = csv.find('\n', at) + 1, ++lines) {
    const std::string line = csv.substr(at, csv.find('\n', at) - at);
    sum += std::stod(line.substr(line.rfind(',') + 1));
  }
  EXPECT_EQ(lines, 3 * 3 + 1U) << "three tensors in three levels, and the MACs";
  EXPECT_DOUBLE_EQ(sum, study.layers[0].found->analysis.cost.energy.value);
  EXPECT_THAT(to_text(study), HasSubstr("A "));
}

TEST(HierarchyEvaluationText, SaysWhatDoesNotFitAndWhatWouldHelp) {
  HierarchyEvaluationStudy study;
  study.network = "net";
  study.machine = *hierarchy::read_machine("zoo:simple3");
  const HierarchyStudy mapped = study_of("edp");
  HierarchyEvaluatedLayer layer{
      {{"fc", 1, {"fc"}, mapped.layers[0].problem}, {}, mapped.layers[0].found->mapping}, {}, "", {}};
  layer.infeasible = hierarchy::Infeasible{hierarchy::Infeasible::Reason::Capacity, 1, 70'000, 32'768};
  layer.failure = to_sentence(*layer.infeasible, study.machine);
  study.layers = {layer};
  const std::string text = to_text(study);
  for (const char* words : {"does not fit (capacity)", "70,000", "32,768", "tilewright explain", "Main [A B Z]"}) {
    EXPECT_THAT(text, HasSubstr(words));
  }
  EXPECT_EQ(to_csv(study).find('\n'), to_csv(study).size() - 1) << "no line but the header";
  EXPECT_THAT(to_svg(study), HasSubstr("infeasible: level 'Shared' holds 70000 words, expected at most 32768"));
}

}  // namespace
}  // namespace tilewright
