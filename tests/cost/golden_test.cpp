// Every printed value of the real MAESTRO, as text, against ours. tests/data holds a part of every family; the whole set is
// checked when TILEWRIGHT_GOLDEN_DIR names a folder with head.jsonl.gz and e1d8efd.jsonl.gz.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <zlib.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/cost/batch.hpp"
#include "tilewright/cost/columns.hpp"
#include "tilewright/mapping/mapping_maestro.hpp"
#include "tilewright/workload/maestro_file.hpp"

namespace tilewright {
namespace {

std::vector<std::string> gunzip_lines(const std::filesystem::path& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  EXPECT_NE(file, nullptr) << path;
  std::string text;
  char block[1 << 16];
  for (int count = 0; (count = gzread(file, block, sizeof block)) > 0;) text.append(block, static_cast<std::size_t>(count));
  gzclose(file);
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string rows_in(const std::string& line) {
  const auto at = line.find("\"out\":");
  return at == std::string::npos ? "" : line.substr(at, line.rfind(']') - at + 1);
}

void expect_equal(const std::filesystem::path& path, Model model, std::size_t at_least) {
  BatchEvaluator evaluator({model, Constraints::Hard});
  std::size_t cases = 0, rows = 0, different = 0;
  for (const std::string& line : gunzip_lines(path)) {
    if (line.find("\"kind\": \"header\"") != std::string::npos) continue;
    ++cases;
    std::string result;
    evaluator.evaluate_line(line, result);
    const bool expect_ok = line.find("\"status\":\"ok\"") != std::string::npos;
    const bool is_ok = result.find("\"status\":\"ok\"") != std::string::npos;
    const bool equal = expect_ok == is_ok && (!is_ok || rows_in(line) == rows_in(result));
    rows += is_ok ? 1 : 0;
    if (equal) continue;
    if (++different <= 5) ADD_FAILURE() << line.substr(0, 200) << "\n  real " << rows_in(line) << "\n  ours " << result;
  }
  EXPECT_EQ(different, 0u);
  EXPECT_GE(cases, at_least);
  EXPECT_GT(rows, cases / 2);
}

const std::filesystem::path kData = TILEWRIGHT_TEST_DATA;

TEST(Golden, EveryValueOfMaestroHead) { expect_equal(kData / "maestro_head.jsonl.gz", Model::Maestro, 1500); }

TEST(Golden, EveryValueOfTheVersionGammaPins) {
  expect_equal(kData / "maestro_e1d8efd.jsonl.gz", Model::MaestroE1d8efd, 600);
}

TEST(Golden, EveryValueOfRandomCasesInFurtherFamilies) {
  expect_equal(kData / "maestro_more.jsonl.gz", Model::Maestro, 900);
}

TEST(Golden, TheWholeSetWhenAskedFor) {
  const char* folder = std::getenv("TILEWRIGHT_GOLDEN_DIR");
  if (folder == nullptr) return;
  expect_equal(std::filesystem::path(folder) / "head.jsonl.gz", Model::Maestro, 4000);
  expect_equal(std::filesystem::path(folder) / "e1d8efd.jsonl.gz", Model::MaestroE1d8efd, 3000);
}

// Files the real program read, and the CSV it wrote, byte for byte.
TEST(Golden, CsvFilesOfTheTraces) {
  Accelerator accelerator;
  accelerator.pes = 16;
  accelerator.noc = {8, 1, 1};
  accelerator.offchip_bandwidth = 16;
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kData / "traces")) {
    if (entry.path().extension() != ".m") continue;
    ++files;
    const auto file = parse_maestro(read_file(entry.path()).value(), entry.path().filename());
    ASSERT_TRUE(file) << file.error().message;
    DimNames names;
    const auto nest = nest_of(*file, 0, names);
    ASSERT_TRUE(nest) << nest.error().message;
    const auto mapping = mapping_of(file->layers[0], names);
    ASSERT_TRUE(mapping) << mapping.error().message;
    const Evaluation evaluation = evaluate(*mapping, *nest, accelerator, Model::Maestro);
    ASSERT_TRUE(std::holds_alternative<Cost>(evaluation)) << entry.path();
    const Row row = row_of(std::get<Cost>(evaluation), *nest, accelerator, Model::Maestro);
    const std::string csv = csv_header() + "\n" + csv_row(file->network, file->layers[0].name, row) + "\n";
    auto real = entry.path();
    EXPECT_EQ(csv, read_file(real.replace_extension(".csv")).value()) << entry.path();
  }
  EXPECT_EQ(files, 11u);
}

// MACs at the processing elements, from an independent implementation of the specification.
TEST(Golden, InnermostMacs) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> expected;
  std::ifstream table(kData / "leaf_macs.csv");
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    const auto parts = split(line, ',');
    expected[std::string(parts[0])] = {parse_integer(parts[1]).value(), parse_integer(parts[2]).value()};
  }
  // The sound model reports the count, in two parts; strided layers and groups are where it means to differ, so only the
  // others are compared.
  BatchEvaluator evaluator({Model::Sound, Constraints::Report});
  std::size_t compared = 0;
  for (const std::string& golden : gunzip_lines(kData / "maestro_head.jsonl.gz")) {
    const auto id_at = golden.find("\"id\":\"");
    if (id_at == std::string::npos || golden.find("\"stride\":{}") == std::string::npos) continue;
    if (golden.find("NGCONV") != std::string::npos) continue;
    const std::string id = golden.substr(id_at + 6, golden.find('"', id_at + 6) - id_at - 6);
    if (!expected.contains(id)) continue;
    std::string result;
    evaluator.evaluate_line(golden, result);
    const auto number = [&](std::string_view key) { return std::atoll(result.c_str() + result.find(key) + key.size()); };
    if (result.find("\"leaf_macs\":") == std::string::npos) continue;
    EXPECT_EQ(number("\"leaf_macs\":"), expected[id].first) << id;
    EXPECT_EQ(number("\"leaf_macs\":") + number("\"idle_macs\":"), expected[id].second) << id;
    ++compared;
  }
  EXPECT_GT(compared, 300u);
}

}  // namespace
}  // namespace tilewright
