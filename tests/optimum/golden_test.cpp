// The recorded machines whose best known mappings are optimal: the search has to find their EDP without being told, and to
// prove it.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/hierarchy/timeloop_yaml.hpp"
#include "tilewright/optimum/optimum.hpp"

namespace tilewright::optimum {
namespace {

std::string text_of(const std::string& name) {
  std::ifstream file(std::string(TILEWRIGHT_TEST_DATA) + "/timeloop/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Known {
  std::string name;
  hierarchy::Problem problem;
  hierarchy::Machine machine;
  hierarchy::Restriction restriction;
  double edp = 0;
};

std::vector<Known> known_of(const std::string& arch) {
  std::vector<Known> all;
  for (const auto& record : nlohmann::json::parse(text_of("best_known_edp.json"))) {
    if (record["arch"] != arch) continue;
    Known known;
    known.name = record["layer"];
    const std::string shape = record["shape"];
    hierarchy::NamedNumbers bounds, coefficients;
    for (const auto& [name, value] : record["dims"].items()) bounds.emplace_back(name, value);
    for (const auto& [name, value] : record["coefficients"].items()) coefficients.emplace_back(name, value);
    known.problem = *hierarchy::problem_of(*hierarchy::shape_named(shape), bounds, coefficients, known.name);
    known.machine = *hierarchy::machine_from_timeloop(text_of(arch + ".yaml"), arch);
    const std::string rules = shape == "gemm" ? arch + "_gemm.constraints.yaml" : arch + ".constraints.yaml";
    known.restriction = *hierarchy::restriction_from_timeloop(
        text_of(arch == "simba_like" && shape == "gemm" ? "simba_gemm.constraints.yaml" : rules), "restriction",
        known.problem, known.machine);
    known.edp = record["edp_J_cycles"];
    all.push_back(std::move(known));
  }
  return all;
}

void expect_optimal(const std::string& arch) {
  for (const Known& known : known_of(arch)) {
    const auto begin = std::chrono::steady_clock::now();
    const Answer answer = find_optimum({known.problem, known.machine, hierarchy::Judge::Timeloop, known.restriction}, {});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::printf("%-14s %-14s edp %.9g best known %.9g gap %.2g nodes %lld evaluations %lld  %.3f s\n", arch.c_str(),
                known.name.c_str(), answer.certificate.incumbent, known.edp, answer.certificate.gap(),
                static_cast<long long>(answer.certificate.nodes), static_cast<long long>(answer.certificate.evaluations),
                seconds);
    std::fflush(stdout);
    EXPECT_TRUE(answer.certificate.proven()) << known.name;
    EXPECT_NEAR(answer.certificate.incumbent, known.edp, 1e-9 * known.edp) << known.name;
    EXPECT_LE(answer.certificate.lower_bound, known.edp) << known.name;
  }
}

TEST(OptimumGolden, EyerissLike) { expect_optimal("eyeriss_like"); }
TEST(OptimumGolden, Simple3) { expect_optimal("simple3"); }

// Five levels: told the best known value, the search bounds what could be better.
TEST(OptimumGolden, SimbaLikeIsBounded) {
  for (const Known& known : known_of("simba_like")) {
    Options options;
    options.incumbent = known.edp * (1 + 1e-9);
    options.nodes = 60'000;
    const auto begin = std::chrono::steady_clock::now();
    const Answer answer =
        find_optimum({known.problem, known.machine, hierarchy::Judge::Timeloop, known.restriction}, options);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::printf("%-14s best known %.9g, bound %.9g, gap %.4f %%, nodes %lld evaluations %lld %s %.3f s\n",
                known.name.c_str(), known.edp, answer.certificate.lower_bound,
                100 * (known.edp / answer.certificate.lower_bound - 1), static_cast<long long>(answer.certificate.nodes),
                static_cast<long long>(answer.certificate.evaluations), std::string(name(answer.certificate.closed)).c_str(),
                seconds);
    std::fflush(stdout);
    EXPECT_LE(answer.certificate.lower_bound, known.edp) << known.name;
    EXPECT_GE(answer.certificate.lower_bound, 0.92 * known.edp) << known.name;
  }
}

}  // namespace
}  // namespace tilewright::optimum
