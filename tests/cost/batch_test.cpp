#include "tilewright/cost/batch.hpp"

#include <sstream>

namespace tilewright {
namespace {

const std::string kCase =
    R"({"id":"a","hw":{"num_pes":16,"noc_bw":8,"hop_latency":1,"offchip_bw":16,"via":"cli"},"layers":[{"name":"A","type":"CONV",)"
    R"("dims":[["K",8],["C",6],["Y",10],["X",9],["R",3],["S",3]],"dataflow":[["S",3,3,"K"],["T",4,4,"C"],["T",5,5,"Y'"],["T",4,4,"X'"],)"
    R"(["T",3,3,"R"],["T",3,3,"S"],["C",4,"P"],["T",2,2,"K"],["S",1,1,"C"],["T",2,2,"Y'"],["T",3,3,"X'"],["T",3,3,"R"],["T",3,3,"S"]]}]})";

std::string run(const std::string& lines, Model model, std::size_t threads) {
  std::istringstream in(lines);
  std::ostringstream out;
  evaluate_batch(in, out, {model, Constraints::Hard}, threads);
  return out.str();
}

TEST(Batch, TheWorkedExampleOfTheSpecification) {
  const std::string result = run(kCase + "\n", Model::Maestro, 1);
  EXPECT_THAT(result,
              testing::StartsWith(
                  R"({"id":"a","status":"ok","model":"maestro","out":[{"num_pes":16,"runtime":3233,"energy_nj":15.255,)"));
  EXPECT_THAT(result, testing::HasSubstr(R"("l2_size":1232,"l1_size":156)"));
}

TEST(Batch, MalformedLinesGiveErrorLinesAndTheRestGoesOn) {
  const std::string result = run("{\"id\": 1\n\n[]\n{\"id\":7}\n" + kCase + "\nx", Model::Maestro, 2);
  std::istringstream stream(result);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 6u);
  for (const std::size_t bad : {0u, 1u, 2u, 3u, 5u})
    EXPECT_THAT(lines[bad], testing::HasSubstr(R"("status":"error","reason":"malformed")"));
  EXPECT_THAT(lines[3], testing::StartsWith(R"({"id":7,)"));
  EXPECT_THAT(lines[4], testing::HasSubstr(R"("status":"ok")"));
}

TEST(Batch, WrongFieldsAreNamed) {
  const auto error_of = [](std::string from, const std::string& to) {
    std::string line = kCase;
    line.replace(line.find(from), from.size(), to);
    return run(line + "\n", Model::Sound, 1);
  };
  EXPECT_THAT(error_of("\"CONV\"", "\"CNV\""), testing::HasSubstr("did you mean 'CONV'"));
  EXPECT_THAT(error_of("\"hw\"", "\"hv\""), testing::HasSubstr("'hv' is not a key of a case (did you mean 'hw'?)"));
  EXPECT_THAT(error_of("[\"K\",8]", "[\"K\",0]"), testing::HasSubstr("dimension K is 0, expected at least 1"));
  EXPECT_THAT(error_of("[\"S\",3,3,\"K\"]", "[\"Z\",3,3,\"K\"]"), testing::HasSubstr("expected 'T', 'S' or 'C'"));
  EXPECT_THAT(error_of("\"num_pes\":16", "\"num_pes\":3"), testing::HasSubstr(R"("reason":"pe-overflow")"));
  EXPECT_THAT(error_of("\"num_pes\":16", "\"num_pes\":1e99"), testing::HasSubstr("malformed"));
}

TEST(Batch, UnknownKeysAreRefusedWithTheNearest) {
  const auto error_of = [](std::string from, const std::string& to) {
    std::string line = kCase;
    line.replace(line.find(from), from.size(), to);
    return run(line + "\n", Model::Sound, 1);
  };
  EXPECT_THAT(error_of("\"noc_bw\"", "\"noc_bv\""),
              testing::HasSubstr("'noc_bv' is not a key of 'hw' (did you mean 'noc_bw'?)"));
  EXPECT_THAT(error_of("\"dims\"", "\"strides\":{},\"dims\""),
              testing::HasSubstr("'strides' is not a key of a layer (did you mean 'stride'?)"));
  EXPECT_THAT(error_of("\"id\"", "\"mapping\":1,\"id\""),
              testing::HasSubstr("'mapping' is not a key of a case, expected one of id"));
  EXPECT_THAT(error_of("\"id\"", "\"out\":[],\"status\":\"ok\",\"id\""), testing::HasSubstr(R"("status":"ok")"));
}

TEST(Batch, SameBytesForAnyNumberOfThreads) {
  std::string lines;
  for (int i = 0; i < 5000; ++i) {
    std::string line = kCase;
    line.replace(line.find("\"num_pes\":16"), 12, "\"num_pes\":" + std::to_string(4 + i % 300));
    lines += line + "\n";
  }
  const std::string one = run(lines, Model::Sound, 1);
  EXPECT_EQ(one, run(lines, Model::Sound, 2));
  EXPECT_EQ(one, run(lines, Model::Sound, 7));
  EXPECT_EQ(std::count(one.begin(), one.end(), '\n'), 5000);
}

TEST(Batch, HeadersAreAnsweredWithOurColumns) {
  EXPECT_THAT(run("{\"kind\":\"header\"}\n", Model::Sound, 1),
              testing::StartsWith(R"({"kind":"header","model":"sound","columns":["num_pes",)"));
}

}  // namespace
}  // namespace tilewright
