#include "tilewright/study/level_cases.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/hierarchy/mapping_text.hpp"
#include "tilewright/hierarchy/problem_json.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

// A product of 4 x 4 x 4; `inside` are the loops that the buffer runs.
Json a_case(const Json& inside, const Json& outside) {
  return {{"id", "a"},
          {"hw", Json::parse(R"({"name": "four", "mac": {"instances": 4}, "levels": [{"name": "buffer", "capacity": 10},
                                 {"name": "dram", "technology": "dram"}]})")},
          {"layers",
           {{{"name", "product"},
             {"problem", {{"shape", "gemm"}, {"dims", {{"M", 4}, {"N", 4}, {"K", 4}}}}},
             {"mapping", {{{"level", "dram"}, {"time", outside}}, {{"level", "buffer"}, {"time", inside}}}}}}}};
}

Json answer(LevelCases& cases, const Json& line) {
  std::string out;
  cases.answer(line.dump(), out);
  return Json::parse(out);
}

TEST(LevelCases, CostWhatTheEvaluatorSays) {
  for (const hierarchy::Judge judge : {hierarchy::Judge::Hierarchy, hierarchy::Judge::Timeloop}) {
    LevelCases cases(judge);
    const Json time = {"K8", "C4", "P8", "Q8", "R3", "S3"};
    const Json outermost = {{{"level", "Main"}, {"time", time}}};
    const Json unkept = {{{"level", "dram"}, {"time", time}},
                         {{"level", "buffer"}, {"keep", Json::array()}},
                         {{"level", "accumulators"}, {"keep", Json::array()}},
                         {{"level", "registers"}, {"keep", Json::array()}}};
    // The machine changes and comes back.
    for (const auto& [machine, mapping] :
         {std::pair("zoo:simple3", outermost), {"zoo:tpu-like", unkept}, {"zoo:simple3", outermost}}) {
      const Json line{{"hw", machine},
                      {"layers",
                       {{{"problem",
                          {{"shape", "conv"},
                           {"dims", {{"R", 3}, {"S", 3}, {"P", 8}, {"Q", 8}, {"C", 4}, {"K", 8}, {"N", 1}}},
                           {"coefficients", {{"Wstride", 2}}}}},
                         {"mapping", mapping}}}}};
      const Json found = answer(cases, line);
      ASSERT_EQ(found["status"], "ok") << found;
      const auto problem = hierarchy::problem_of(*hierarchy::shape_named("conv"),
                                                 {{"R", 3}, {"S", 3}, {"P", 8}, {"Q", 8}, {"C", 4}, {"K", 8}, {"N", 1}},
                                                 {{"Wstride", 2}}, "test");
      hierarchy::Evaluator evaluator(*problem, *hierarchy::read_machine(machine), {.judge = judge});
      const auto read = hierarchy::mapping_from_yaml("format: tilewright-mapping-2\nlevels: " + mapping.dump() + "\n",
                                                     "test", *problem, evaluator.machine());
      const auto cost = std::get<hierarchy::Cost>(evaluator.evaluate(*read));
      EXPECT_EQ(found["model"], name(judge));
      EXPECT_EQ(found["out"][0]["cycles"], cost.cycles.value);
      EXPECT_EQ(found["out"][0]["energy_pj"], cost.energy.value);
    }
  }
}

TEST(LevelCases, SayWhatDoesNotFit) {
  LevelCases cases(hierarchy::Judge::Hierarchy);
  EXPECT_EQ(answer(cases, a_case({"K4"}, {"M4", "N4"}))["out"][0]["cycles"], 64);
  const Json found = answer(cases, a_case({"M4", "N4", "K4"}, Json::array()));
  EXPECT_EQ(found["id"], "a");
  EXPECT_EQ(found["status"], "error");
  EXPECT_EQ(found["reason"], "capacity");
  EXPECT_EQ(found["level"], "buffer");
  EXPECT_EQ(found["need"], 48);
  EXPECT_EQ(found["limit"], 10);
  // The next one is judged all the same, and the answer may stand in the question.
  Json again = a_case({"K4"}, {"M4", "N4"});
  again.update(answer(cases, again));
  EXPECT_EQ(answer(cases, again)["status"], "ok");
}

TEST(LevelCases, RefuseKeysThatAreNotKnown) {
  LevelCases cases(hierarchy::Judge::Hierarchy);
  const auto refusal = [&](const std::function<void(Json&)>& spoil) {
    Json line = a_case({"K4"}, {"M4", "N4"});
    spoil(line);
    const Json found = answer(cases, line);
    EXPECT_EQ(found["reason"], "malformed");
    return found["msg"].get<std::string>();
  };
  EXPECT_THAT(refusal([](Json& line) { line["hww"] = 1; }), HasSubstr("did you mean 'hw'?"));
  EXPECT_THAT(refusal([](Json& line) { line["hw"]["leves"] = 1; }), HasSubstr("did you mean 'levels'?"));
  EXPECT_THAT(refusal([](Json& line) { line["hw"]["levels"][0]["capcity"] = 1; }), HasSubstr("did you mean 'capacity'?"));
  EXPECT_THAT(refusal([](Json& line) { line["layers"][0]["maping"] = 1; }), HasSubstr("did you mean 'mapping'?"));
  EXPECT_THAT(refusal([](Json& line) { line["layers"][0]["problem"]["dim"] = 1; }), HasSubstr("did you mean 'dims'?"));
  EXPECT_THAT(refusal([](Json& line) { line["layers"][0]["mapping"][0]["tim"] = 1; }), HasSubstr("did you mean 'time'?"));
  EXPECT_THAT(refusal([](Json& line) { line["layers"] = Json::array(); }), HasSubstr("expected at least one"));
  EXPECT_THAT(refusal([](Json& line) { line["hw"] = 4; }), HasSubstr("hw is 4, expected the source of a machine"));
  EXPECT_THAT(refusal([](Json& line) { line["hw"] = {{{"levels", 4}}}; }), HasSubstr("hw is an array of 1"));
  EXPECT_THAT(refusal([](Json& line) { line["layers"][0]["mapping"] = 4; }), HasSubstr("mapping is 4"));
  EXPECT_THAT(refusal([](Json& line) { line["layers"][0] = 4; }), HasSubstr("layers[0] is 4"));
  EXPECT_THAT(refusal([](Json& line) { line["hw"] = "zoo:simple4"; }), HasSubstr("did you mean 'simple3'?"));
  EXPECT_THAT(refusal([](Json& line) { line["layers"][0]["mapping"][1]["time"] = {"K3"}; }),
              HasSubstr("the factors of K multiply to 3"));
  std::string out;
  cases.answer("{", out);
  EXPECT_THAT(out, HasSubstr("is not JSON"));
}

TEST(LevelCases, StandBesideCasesOfOtherMachines) {
  const std::string flat =
      R"({"id": "f", "hw": {"num_pes": 4}, "layers": [{"type": "GEMM", "dims": [["M", 4], ["N", 4], ["K", 4]], "dataflow": [["S", 1, 1, "M"]]}]})";
  const std::string leveled = a_case({"K4"}, {"M4", "N4"}).dump();
  EXPECT_FALSE(LevelCases::has_levels(flat));
  EXPECT_TRUE(LevelCases::has_levels(leveled));
  EXPECT_FALSE(LevelCases::has_levels("\"mapping\""));
  const auto answers = [&](const LevelOptions& levels, std::size_t threads) {
    std::string lines;
    for (int i = 0; i < 600; ++i) lines += (i % 3 == 0 ? flat : leveled) + "\n";
    std::istringstream in(lines);
    std::ostringstream out;
    const BatchCounts counts = evaluate_cases(in, out, {}, levels, threads);
    EXPECT_EQ(counts.lines, 600);
    EXPECT_EQ(counts.errors, levels.judge ? 200 : 0) << out.str().substr(0, 300);
    return out.str();
  };
  EXPECT_EQ(answers({}, 1), answers({}, 2));
  EXPECT_THAT(answers({.judge = hierarchy::Judge::Timeloop}, 1), HasSubstr("'num_pes' is not a known field"));
}

}  // namespace
}  // namespace tilewright
