// Every value the real Timeloop recorded, against ours: 3154 mappings, valid and not. The set aside is checked as well when
// TILEWRIGHT_TIMELOOP_RECORDS names another such file.
#include <cmath>
#include <cstdlib>
#include <sstream>

#include <zlib.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/file.hpp"
#include "tilewright/hierarchy/timeloop_records.hpp"

namespace tilewright::hierarchy {
namespace {

using Json = nlohmann::json;

const std::string kData = std::string(TILEWRIGHT_TEST_DATA) + "/timeloop/";

std::string gunzip(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");  // also reads files that are not compressed
  EXPECT_NE(file, nullptr) << path;
  std::string text;
  char block[1 << 16];
  for (int count = 0; (count = gzread(file, block, sizeof block)) > 0;) text.append(block, static_cast<std::size_t>(count));
  gzclose(file);
  return text;
}

struct Comparison {
  std::int64_t values = 0;
  std::int64_t different = 0;
  std::string id;

  void differ(const std::string& path, const Json& real, const Json& ours) {
    if (++different <= 20) ADD_FAILURE() << id << path << ": real " << real.dump() << ", ours " << ours.dump();
  }

  // Whole numbers are equal, others to 12 digits; what the tool printed with two decimals, to those.
  void number(const std::string& path, const Json& real, const Json& ours, bool printed) {
    ++values;
    if (!ours.is_number()) return differ(path, real, ours);
    const double a = real.get<double>(), b = ours.get<double>();
    const double slack = real.is_number_integer() ? 0 : std::max(printed ? 0.006 : 0.0, 1e-12 * std::abs(a));
    if (!(std::abs(a - b) <= slack)) differ(path, real, ours);
  }

  void compare(const std::string& path, const Json& real, const Json& ours, bool printed = false) {
    if (real.is_object()) {
      if (!ours.is_object() || ours.size() != real.size()) return differ(path, real, ours);
      for (const auto& [key, value] : real.items()) {
        if (!ours.contains(key)) return differ(path + "." + key, value, nullptr);
        compare(path + "." + key, value, ours[key], key == "ingresses" || key == "records");
      }
    } else if (real.is_array()) {
      if (!ours.is_array() || ours.size() != real.size()) return differ(path, real, ours);
      for (std::size_t at = 0; at < real.size(); ++at)
        compare(path + "[" + std::to_string(at) + "]", real[at], ours[at], printed);
    } else if (real.is_number()) {
      number(path, real, ours, printed);
    } else {
      ++values;
      if (real != ours) differ(path, real, ours);
    }
  }
};

void expect_equal(const std::string& path, std::int64_t at_least) {
  const Result<std::string> text = read_file(kData + "archs.json");
  ASSERT_TRUE(text);
  const Result<Machines> machines = machines_from_json(*text, "archs.json");
  ASSERT_TRUE(machines) << machines.error().message;
  std::istringstream records(gunzip(path));
  std::ostringstream answers;
  const RecordCounts counts = judge_records(records, answers, *machines, "records");
  EXPECT_EQ(counts.malformed, 0) << counts.first_error;
  EXPECT_GE(counts.records, at_least);

  records.clear();
  records.seekg(0);
  std::istringstream ours(answers.str());
  Comparison comparison;
  std::int64_t valid = 0;
  for (std::string record_line, our_line; std::getline(records, record_line) && std::getline(ours, our_line);) {
    const Json real = Json::parse(record_line), answer = Json::parse(our_line);
    comparison.id = real["id"];
    EXPECT_EQ(answer["id"], real["id"]);
    comparison.compare(".valid", real["valid"], answer["valid"]);
    valid += real["valid"] == true ? 1 : 0;
    const char* part = real["valid"] == true ? "out" : "fail";
    comparison.compare(std::string(".") + part, real[part], answer.value(part, Json()));
  }
  EXPECT_EQ(comparison.different, 0);
  EXPECT_GT(comparison.values, 200 * counts.records);
  EXPECT_LT(valid, counts.records);
}

TEST(TimeloopGolden, EveryValueOfEveryRecord) { expect_equal(kData + "public.jsonl.gz", 3154); }

TEST(TimeloopGolden, TheRecordsAsideWhenAskedFor) {
  if (const char* path = std::getenv("TILEWRIGHT_TIMELOOP_RECORDS")) expect_equal(path, 1);
}

}  // namespace
}  // namespace tilewright::hierarchy
