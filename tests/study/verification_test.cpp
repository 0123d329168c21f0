// What verify says of a run that is as it was left, and of one whose store knows something else.
#include "tilewright/study/verification.hpp"

#include "../scratch.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/search/stored_memory.hpp"
#include "tilewright/study/codesign.hpp"
#include "tilewright/study/run_directory.hpp"

namespace tilewright {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Verification : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(write_file(scratch_ / "net.yaml",
                           "format: tilewright-network-1\nname: net\nlayers:\n"
                           "  - {name: conv, op: conv, in: [16, 6, 6], out: 32, kernel: 3, pad: 1}\n"));
    options_.network = scratch_ / "net.yaml";
    options_.machine = "zoo:vta";
    options_.search = "random";
    options_.measurements = 8;
    ThreadPool threads(1);
    RunDirectory directory = std::move(RunDirectory::open(path_)).value();
    RunContext context{.threads = threads, .directory = &directory};
    job_ = std::move(read_codesign_job(options_)).value();
    study_ = std::move(codesign(job_, options_, context)).value();
    ASSERT_TRUE(study_.machine);
    ASSERT_TRUE(write_file(path_ / "result.json", to_json(study_)));
    ASSERT_TRUE(directory.end());
  }

  const CodesignSpace& space() const { return *job_.layers[0].space; }
  // Another store in the place of the run's; with the answer, when it is to take that many cycles more.
  void replace_store(std::optional<double> more_cycles) {
    fs::remove(path_ / kStoreFile);
    StoredMemory memory =
        std::move(StoredMemory::open(std::move(Store::open(path_ / kStoreFile)).value(), job_.spaces())).value();
    if (more_cycles) {
      Outcome outcome;
      outcome.feasible = true;
      outcome.metrics = study_.layers[0].found->metrics;
      outcome.metrics.latency += *more_cycles;
      memory.remember(0, *space().point_of(*study_.machine, study_.layers[0].found->schedule), outcome);
    }
    ASSERT_TRUE(memory.commit());
  }
  std::vector<std::string> faults() { return std::move(verify(path_ / "result.json")).value().faults; }

  Scratch scratch_;
  fs::path path_ = scratch_ / "run";
  CodesignOptions options_;
  CodesignJob job_;
  CodesignStudy study_;
};

TEST_F(Verification, FindsNothingInARunThatIsAsItWasLeft) {
  const Result<Verdicts> verdicts = verify(path_);
  ASSERT_TRUE(verdicts) << verdicts.error().message;
  EXPECT_THAT(verdicts->faults, IsEmpty());
  EXPECT_THAT(verdicts->checked, Contains("1 of 1 layers evaluated again, every number equal"));
  EXPECT_THAT(verdicts->checked, Contains("1 answers are points of the store, with the same numbers"));
  EXPECT_THAT(to_json(*verdicts), HasSubstr("\"equal\": true"));
}

TEST_F(Verification, ComparesTheAnswerWithTheStore) {
  replace_store(0);
  EXPECT_THAT(faults(), IsEmpty());
  replace_store(1);
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("layer conv: the latency of its answer is")));
  replace_store(std::nullopt);
  EXPECT_THAT(faults(), ElementsAre("layer conv: its answer is no point of the store"));
  fs::remove(path_ / kStoreFile);
  EXPECT_THAT(faults(), IsEmpty());  // of a result alone; the directory misses the file
  EXPECT_THAT(std::move(verify(path_)).value().faults, Contains(HasSubstr("store.sqlite: is missing")));
}

TEST_F(Verification, NoticesAnotherScheduleAndAnotherQuestion) {
  CodesignStudy other = study_;
  other.layers[0].found->metrics.latency += 1;
  ASSERT_TRUE(write_file(path_ / "result.json", to_json(other)));
  EXPECT_THAT(faults(), Contains(HasSubstr("(layer conv)")));
  other = study_;
  other.seed += 1;
  ASSERT_TRUE(write_file(path_ / "result.json", to_json(other)));
  EXPECT_THAT(faults(), Contains(HasSubstr("as run.json asked, /seed is")));
}

TEST(Verify, RefusesWhatIsNoResult) {
  const Scratch scratch;
  ASSERT_TRUE(write_file(scratch / "a.json", "{}"));
  EXPECT_THAT(verify(scratch / "a.json").error().message, HasSubstr("is no result of map or codesign"));
  EXPECT_FALSE(verify(scratch / "nothing"));
}

}  // namespace
}  // namespace tilewright
