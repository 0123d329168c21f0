#include "tilewright/study/simulation.hpp"

#include "../scratch.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/vta/layouts.hpp"
#include "tilewright/vta/network_run.hpp"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

class Simulations : public ::testing::Test {
 protected:
  // The program of a layer on zeros.
  vta::Program program_of(std::int64_t size, std::int64_t channels, const vta::Machine& machine) {
    const Layer layer = convolution("conv", {.out_channels = channels,
                                             .in_channels = channels,
                                             .in_height = size,
                                             .in_width = size,
                                             .kernel_height = 3,
                                             .kernel_width = 3,
                                             .pad = 1});
    const TensorSizes sizes = tensor_sizes(layer);
    const std::vector<std::int8_t> input(static_cast<std::size_t>(sizes.input.value));
    const std::vector<std::int8_t> weight(static_cast<std::size_t>(sizes.weight.value));
    return vta::layer_program(layer, machine, *vta::default_schedule(layer, machine), {.bias = false, .shift = 4},
                              {.input = input, .weight = weight, .bias = {}})
        .program;
  }

  SimulateOptions options_;
  ThreadPool threads_{1};
  RunContext context_{.threads = threads_};
};

TEST_F(Simulations, ExecuteAndTimeEveryStream) {
  SimulationJob job{.machine = {}, .program = program_of(6, 16, {}), .fault = {}};
  const Result<SimulationStudy> study = simulate(job, options_, context_);
  ASSERT_TRUE(study) << study.error().message;
  ASSERT_FALSE(study->fault);
  EXPECT_EQ(study->execution->dumps.size(), 1U);
  std::int64_t cycles = 0;
  for (const auto& stream : vta::streams_of(*job.program, job.machine)) {
    cycles += vta::time_stream(stream, job.machine, options_.timing).cycles;
  }
  EXPECT_EQ(total_of(study->streams).cycles, cycles);

  options_.timing_only = true;
  EXPECT_FALSE(simulate(job, options_, context_)->execution);
  options_.functional_only = true;
  EXPECT_THAT(simulate(job, options_, context_).error().message, HasSubstr("both given"));
  options_.timing_only = false;
  EXPECT_FALSE(simulate(job, options_, context_)->has_cycles());
}

TEST_F(Simulations, OfADamagedFileAreAFault) {
  const Scratch scratch;
  const std::vector<std::uint8_t> bytes = vta::to_file(program_of(6, 16, {}));
  std::string text(bytes.begin(), bytes.end());
  options_.program = scratch / "a.vtaprog";
  ASSERT_TRUE(write_file(options_.program, text));
  EXPECT_TRUE(read_simulation_job(options_)->program);
  text[text.size() / 2] ^= 1;
  ASSERT_TRUE(write_file(options_.program, text));
  const Result<SimulationJob> job = read_simulation_job(options_);
  ASSERT_TRUE(job);
  ASSERT_TRUE(job->fault);
  EXPECT_EQ(job->fault->kind, vta::FaultKind::BadChecksum);
  EXPECT_TRUE(simulate(*job, options_, context_)->fault);
}

TEST_F(Simulations, StopInTheMiddleOfAProgram) {
  vta::Machine machine;
  machine.log_block_in = machine.log_block_out = 3;
  const SimulationJob job{.machine = machine, .program = program_of(112, 64, machine), .fault = {}};
  std::atomic<bool> asked = false;
  context_.stop = StopToken(&asked);
  std::int64_t told = 0;
  context_.progress.show = [&](const ProgressState& state) {
    told = state.done;
    asked = true;
    EXPECT_LT(state.done, state.all);
  };
  options_.functional_only = true;
  EXPECT_FALSE(simulate(job, options_, context_)->fault);  // told once, asked to stop too late: the next time is never
  EXPECT_GT(told, 0);
  EXPECT_THROW((void)simulate(job, options_, context_), Stopped);
}

}  // namespace
}  // namespace tilewright
