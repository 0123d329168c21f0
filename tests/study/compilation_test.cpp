#include "tilewright/study/compilation.hpp"

#include <nlohmann/json.hpp>

#include "../scratch.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/study/compilation_parts.hpp"
#include "tilewright/study/run_directory.hpp"

namespace tilewright {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

Layer conv(const std::string& name, std::int64_t in, std::int64_t out) {
  return convolution(name, {.out_channels = out,
                            .in_channels = in,
                            .in_height = 6,
                            .in_width = 6,
                            .kernel_height = 3,
                            .kernel_width = 3,
                            .pad = 1});
}

class Compilations : public ::testing::Test {
 protected:
  CompilationJob job(const std::string& layer = "") {
    Network network;
    network.name = "two";
    network.layers.push_back({.layer = conv("conv1", 16, 32), .count = 1, .inputs = {}});
    network.layers.push_back({.layer = conv("conv2", 32, 16), .count = 1, .inputs = {0}});
    QuantisedNetwork quantised = std::move(quantised_from_network(network, {}, threads_)).value();
    return std::move(compilation_job(std::move(quantised), {}, {}, layer)).value();
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path_)) names.push_back(entry.path().filename());
    return names;
  }

  Scratch scratch_;
  fs::path path_ = scratch_ / "run";
  ThreadPool threads_{2};
  RunContext context_{.threads = threads_};
};

TEST_F(Compilations, AreExecutedAndCompared) {
  const Result<CompilationStudy> study = compile(job(), {}, context_);
  ASSERT_TRUE(study) << study.error().message;
  EXPECT_TRUE(study->run.is_equal());
  EXPECT_EQ(study->run.compared(), 2);
  EXPECT_EQ(study->run.elements(), 6 * 6 * 32 + 6 * 6 * 16);
  EXPECT_EQ(verification_line(*study), "verified: 1,728 elements of 2 steps equal");
}

TEST_F(Compilations, OfOneStepLeaveTheOthersToTheHost) {
  const Result<CompilationStudy> study = compile(job("conv2"), {}, context_);
  ASSERT_TRUE(study);
  EXPECT_EQ(study->plan.program_count(), 1U);
  EXPECT_EQ(verification_line(*study), "verified: 576 elements of 1 step equal");
}

TEST(StepsNeeded, AreThoseOnTheWayFromTheInput) {
  QuantisedNetwork network;
  network.steps.resize(6);  // 0 - 1 - 2 - 4, 1 - 3 - 4, 3 - 5
  const std::vector<std::vector<std::size_t>> inputs = {{}, {0}, {1}, {1}, {2, 3}, {3}};
  for (std::size_t step = 0; step < inputs.size(); ++step) network.steps[step].inputs = inputs[step];
  EXPECT_EQ(steps_needed(network, 2), (std::vector<bool>{true, true, true, false, false, false}));
  EXPECT_EQ(steps_needed(network, 4), (std::vector<bool>{true, true, true, true, true, false}));
  EXPECT_EQ(steps_needed(network, 5), (std::vector<bool>{true, true, false, true, false, true}));
}

TEST_F(Compilations, ThatNobodyExecutedSaySo) {
  CompileOptions options;
  options.no_verify = true;
  const Result<CompilationStudy> study = compile(job(), options, context_);
  ASSERT_TRUE(study);
  EXPECT_EQ(verification_line(*study), "not verified: the programs were not executed");
  EXPECT_TRUE(nlohmann::json::parse(to_json(*study)).at("verification").is_null());
  EXPECT_GT(study->run.cycles(), 0);
}

TEST_F(Compilations, LeaveProgramsAndTheirManifest) {
  RunDirectory directory = std::move(RunDirectory::open(path_)).value();
  context_.directory = &directory;
  ASSERT_TRUE(compile(job(), {}, context_));
  EXPECT_THAT(files(), UnorderedElementsAre("1_conv1.vtaprog", "2_conv2.vtaprog", "listing.txt", "machine.json",
                                            "manifest.json", "run.json"));
  CompileOptions other;
  other.input_range = InputRange{0, 255};
  const Result<CompilationStudy> refused = compile(job(), other, context_);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("input_range of the run there is null, but now it is \"0,255\""));
}

TEST_F(Compilations, LeaveNoProgramWhenTheyAreStopped) {
  RunDirectory directory = std::move(RunDirectory::open(path_)).value();
  std::atomic<bool> asked = false;
  context_.directory = &directory;
  context_.stop = StopToken(&asked);
  bool written = false;
  context_.progress.show = [&](const ProgressState& state) {
    written = fs::exists(path_ / "1_conv1.vtaprog");
    asked = state.done == 1;
  };
  EXPECT_THROW((void)compile(job(), {}, context_), Stopped);
  EXPECT_TRUE(written);
  EXPECT_THAT(files(), ElementsAre("run.json"));
}

}  // namespace
}  // namespace tilewright
