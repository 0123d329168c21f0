// Recordings of the original packages, replayed; and files that only look like recordings.
#include "tilewright/particle/trajectory.hpp"

#include <filesystem>
#include <fstream>

#include <zlib.h>

#include <nlohmann/json.hpp>

#include "../scratch.hpp"
#include "tilewright/base/file.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

const std::filesystem::path kData = std::filesystem::path(TILEWRIGHT_TEST_DATA) / "particle";

std::string unpacked(const std::filesystem::path& path) {
  std::string text;
  char room[1 << 14];
  const gzFile file = gzopen(path.c_str(), "rb");
  for (int count; (count = gzread(file, room, sizeof room)) > 0;) text.append(room, static_cast<std::size_t>(count));
  gzclose(file);
  return text;
}

Json recording(const std::string& name) { return Json::parse(unpacked(kData / (name + ".json.gz"))); }

class Trajectory : public testing::Test {
 protected:
  Result<ReplayVerdict> replay(const std::string& content) {
    std::ofstream(path_, std::ios::binary) << content;
    return replay_trajectory(path_);
  }
  Result<ReplayVerdict> replay(const Json& json) { return replay(json.dump()); }
  // Without the file's name.
  std::string error_of(const Json& json) {
    const auto verdict = replay(json);
    if (verdict) return "no error";
    EXPECT_THAT(verdict.error().message, StartsWith(path_.string() + ": "));
    return verdict.error().message.substr(path_.string().size() + 2);
  }

  const Scratch folder_;
  const std::filesystem::path path_ = folder_ / "trajectory.json";
};

TEST_F(Trajectory, EveryRecordingIsReproducedToTheLastBit) {
  std::size_t files = 0, numbers = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kData)) {
    if (entry.path().extension() != ".gz") continue;
    const auto verdict = replay_trajectory(entry.path());
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_EQ(verdict->first_difference, "") << entry.path();
    const std::string name = entry.path().filename().string();
    EXPECT_THAT(name, StartsWith(verdict->scenario + "_"));
    EXPECT_EQ(verdict->dialect, name.find("openai") != std::string::npos ? "openai" : "pettingzoo");
    ++files;
    numbers += verdict->numbers;
  }
  EXPECT_GE(files, 28U);
  EXPECT_GT(numbers, 40'000U);
}

TEST_F(Trajectory, PlainAndPackedFilesAreTheSame) {
  const auto plain = replay(unpacked(kData / "simple_tag_openai_N3.json.gz"));
  const auto packed = replay_trajectory(kData / "simple_tag_openai_N3.json.gz");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->numbers, packed->numbers);
  EXPECT_EQ(plain->first_difference, "");
}

// Changing any one number by its last bit must be noticed and named.
TEST_F(Trajectory, TheFirstDifferenceIsNamed) {
  const auto difference = [&](const std::string& name, const std::string& place) {
    Json json = recording(name);
    Json& number = json[Json::json_pointer(place)];
    const double value = number.get<double>();
    number = std::nextafter(value, 1e9);
    const auto verdict = replay(json);
    EXPECT_TRUE(verdict) << verdict.error().message;
    return verdict ? verdict->first_difference : "";
  };
  EXPECT_EQ(difference("simple_spread_openai_N3", "/steps/0/vel/1/0"),
            "step 1: agent 1 vel[0] is 2.7854300726557777, recorded 2.7854300726557781");
  EXPECT_THAT(difference("simple_spread_openai_N3", "/steps/6/pos/2/1"), StartsWith("step 7: agent 2 pos[1] is "));
  EXPECT_THAT(difference("simple_tag_mpe2_N6", "/steps/24/reward/7"), StartsWith("step 25: agent 7 reward is "));
  EXPECT_THAT(difference("simple_world_comm_openai", "/steps/3/obs/5/20"), StartsWith("step 4: agent 5 obs[20] is "));
  EXPECT_THAT(difference("simple_reference_openai", "/steps/2/state/agents/1/c/4"), StartsWith("step 3: agent 1 c[4] is "));
  EXPECT_THAT(difference("simple_push_mpe2", "/steps/2/state/landmarks/1/0"), StartsWith("step 3: landmark 1 pos[0] is "));
  EXPECT_THAT(difference("simple_push_mpe2", "/obs0/1/0"), StartsWith("step 0: agent 1 obs[0] is "));
  EXPECT_THAT(difference("simple_spread_mpe2_N3", "/init/pos/0/0"), StartsWith("step 1: agent 0 pos[0] is "));
}

TEST_F(Trajectory, AnotherActionIsNoticed) {
  Json json = recording("simple_reference_mpe2");
  json["steps"][4]["action"][1] = 49 - json["steps"][4]["action"][1].get<int>();
  const auto verdict = replay(json);
  ASSERT_TRUE(verdict);
  EXPECT_THAT(verdict->first_difference, StartsWith("step 5: agent 1 "));
}

TEST_F(Trajectory, TheSizeOfATagGameCanComeFromItsObservations) {
  Json json = recording("simple_tag_openai_N5");
  const auto with = replay(json);
  json["obs0"] = Json::array();
  const auto& step = json["steps"][0]["obs"];
  for (const Json& seen : step) json["obs0"].push_back(std::vector<double>(seen.size()));
  for (const char* key : {"N", "M", "L"}) json.erase(key);
  const auto without = replay(json);
  ASSERT_TRUE(without) << without.error().message;
  EXPECT_THAT(without->first_difference, StartsWith("step 0: agent 0 obs[2] is "));  // zeros are not what it saw
  EXPECT_GT(without->numbers, with->numbers);
}

TEST_F(Trajectory, MissingAndWrongPartsAreNamed) {
  const Json good = recording("simple_tag_openai_N3");
  const auto without = [&](const std::string& key) {
    Json json = good;
    json.erase(key);
    return error_of(json);
  };
  EXPECT_EQ(without("scenario"), "has no 'scenario', expected one");
  EXPECT_EQ(without("variant"), "has no 'variant', expected one");
  EXPECT_EQ(without("init"), "has no 'init', expected one");
  EXPECT_EQ(without("steps"), "has no 'steps', expected one");
  EXPECT_EQ(without("M"), "has no 'M', expected one");

  const auto with = [&](const std::string& place, const Json& value) {
    Json json = good;
    json[Json::json_pointer(place)] = value;
    return error_of(json);
  };
  EXPECT_THAT(with("/scenario", "simple_tig"), HasSubstr("did you mean 'simple_tag'?"));
  EXPECT_EQ(with("/scenario", 7), "scenario is 7, expected a text");
  EXPECT_EQ(with("/variant", "mpe3"), "dialect 'mpe3' is not known, expected one of openai, pettingzoo");
  EXPECT_EQ(with("/variant", nullptr), "variant is null, expected a text");
  EXPECT_EQ(with("/N", 4), "N is 4, expected 3, as the positions say");
  EXPECT_EQ(with("/N", 1'000'000), "N is 1000000, expected a whole number from 0 to 1024");
  EXPECT_EQ(with("/M", 1e300), "M is 1e+300, expected a whole number from 0 to 4");
  EXPECT_EQ(with("/M", -1), "M is -1, expected a whole number from 0 to 4");
  EXPECT_EQ(with("/M", 0), "init.pos is an array of 4, expected predators and prey");
  EXPECT_EQ(with("/L", "two"), "L is 'two', expected a whole number from 0 to 1024");
  EXPECT_EQ(with("/init", Json::array()), "init is an array of 0, expected an object");
  EXPECT_EQ(with("/init/pos", "here"), "init.pos is 'here', expected an array");
  EXPECT_EQ(with("/init/pos", Json::array()), "init.pos is an array of 0, expected at least one agent");
  EXPECT_EQ(with("/init/pos", Json(std::vector<int>(2000))), "init.pos is an array of 2000, expected at most 1024 bodies");
  EXPECT_EQ(with("/init/pos/2", Json::array({1})), "init.pos[2] is an array of 1, expected an array of 2");
  EXPECT_EQ(with("/init/pos/2/1", "x"), "init.pos[2][1] is 'x', expected a number");
  EXPECT_EQ(with("/steps", Json::array()), "steps is an array of 0, expected at least one step");
  EXPECT_EQ(with("/steps/3", 5), "steps[3] is 5, expected an object");
  EXPECT_EQ(with("/steps/3/action", Json::array({1, 2})), "steps[3].action is an array of 2, expected an array of 4");
  EXPECT_EQ(with("/steps/3/action/0", 5), "steps[3].action[0] is 5, expected a whole number from 0 to 4");
  EXPECT_EQ(with("/steps/3/action/0", 1.5), "steps[3].action[0] is 1.5, expected a whole number from 0 to 4");
  EXPECT_EQ(with("/steps/3/action/0", Json::array({1, 0, 0})),
            "steps[3].action[0] is an array of 3, expected an array of 5");
  EXPECT_EQ(with("/steps/3/reward/1", false), "steps[3].reward[1] is false, expected a number");
  EXPECT_EQ(with("/steps/3/vel/1", nullptr), "steps[3].vel[1] is null, expected an array of 2");
  EXPECT_EQ(with("/steps/3/obs", Json::array({1})), "steps[3].obs is an array of 1, expected an array of 4");
}

TEST_F(Trajectory, OtherScenariosAreCheckedToo) {
  Json json = recording("simple_push_openai");
  json["init"]["agents"].push_back(json["init"]["agents"][0]);
  EXPECT_EQ(error_of(json), "init.agents is an array of 3, expected 2 agents");
  json = recording("simple_push_openai");
  json.erase("obs0");
  EXPECT_EQ(error_of(json), "has no 'obs0', expected one");
  json = recording("simple_crypto_openai");
  json["steps"][0]["state"]["agents"][0].erase("c");
  EXPECT_EQ(error_of(json), "steps[0].state.agents[0] has no 'c', expected one");
  json = recording("simple_reference_openai");
  json["steps"][0]["action"][0] = 3;
  EXPECT_EQ(error_of(json), "steps[0].action[0] is 3, expected an array of 15");
  json = recording("simple_adversary_mpe2_N5");
  json["init"]["landmarks"].erase(0);
  EXPECT_EQ(error_of(json), "init.landmarks is an array of 4, expected 5 landmarks");
  json = recording("simple_spread_mpe2_N3");
  json["init"]["pos"].erase(0);
  EXPECT_EQ(error_of(json), "init.landmarks is an array of 3, expected 2 landmarks");
}

TEST_F(Trajectory, HostileFilesAreErrors) {
  for (const char* content :
       {"", "[", "{", "null", "[1,2]", "\"text\"", "{\"scenario\": NaN}", "{\"scenario\": \"simple\"}", "\xff\xfe",
        "{\"scenario\": \"simple\", \"variant\": \"openai\", \"init\": {\"pos\": [[1e999, 0]]}}"}) {
    EXPECT_FALSE(replay(std::string(content))) << content;
  }
  EXPECT_EQ(error_of(Json::parse("[[]]")), "is an array of 1, expected an object");
  const auto deep = replay("{\"scenario\":" + std::string(2'000'000, '['));
  ASSERT_FALSE(deep);
  EXPECT_THAT(deep.error().message, HasSubstr("is nested deeper than 64, expected at most that"));
  EXPECT_FALSE(replay_trajectory(kData / "no_such_file.json"));
  EXPECT_FALSE(replay_trajectory(kData));
}

TEST_F(Trajectory, DamagedPackedFilesAreErrors) {
  const std::filesystem::path packed = path_.string() + ".gz";
  const auto error = [&](const std::string& bytes) {
    EXPECT_TRUE(write_file(packed, bytes));
    const auto verdict = replay_trajectory(packed);
    std::filesystem::remove(packed);
    return verdict ? "no error" : verdict.error().message;
  };
  const std::string whole = *read_file(kData / "simple_crypto_mpe2.json.gz");
  EXPECT_EQ(error(whole), "no error");
  EXPECT_EQ(error(whole.substr(0, whole.size() / 2)),
            packed.string() + ": is not a whole gzip file, expected one because of its name");
  EXPECT_EQ(error("{}"), packed.string() + ": is not a whole gzip file, expected one because of its name");
  EXPECT_EQ(error(""), packed.string() + ": is not a whole gzip file, expected one because of its name");

  const std::string zeros(std::size_t{70} << 20, ' ');  // small when packed
  const gzFile bomb = gzopen(packed.c_str(), "wb1");
  gzwrite(bomb, zeros.data(), static_cast<unsigned>(zeros.size()));
  gzclose(bomb);
  EXPECT_THAT(error(*read_file(packed)), HasSubstr("unpacks to more than 67108864 bytes"));
}

// Any part of a recording may be replaced by anything, and the answer is a verdict or one sentence.
TEST_F(Trajectory, DamageAnywhereIsSurvived) {
  for (const char* name : {"simple_tag_mpe2_N3", "simple_crypto_openai", "simple_speaker_listener_mpe2"}) {
    const Json good = recording(name);
    const Json flat = good.flatten();
    std::size_t index = 0;
    for (const auto& [place, value] : flat.items()) {
      if (++index % 61 != 0) continue;
      for (const Json& odd : {Json(nullptr), Json(-1), Json(1e308), Json("x"), Json::array(), Json::object()}) {
        Json json = good;
        json[Json::json_pointer(place)] = odd;
        const auto verdict = replay(json);
        if (!verdict) {
          EXPECT_THAT(verdict.error().message, HasSubstr("expected"));
        }
      }
    }
  }
}

}  // namespace
}  // namespace tilewright
