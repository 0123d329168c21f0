#include "golden.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include <zlib.h>
#include <nlohmann/json.hpp>

#include "tilewright/vta/stream_check.hpp"

namespace tilewright::vta {
namespace {

using nlohmann::json;

std::string unpacked(const std::string& name) {
  const std::string path = std::string(TILEWRIGHT_TEST_DATA "/vta/") + name;
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) throw std::runtime_error(path + " cannot be opened");
  std::string text;
  std::vector<char> room(1 << 16);
  int count = 0;
  while ((count = gzread(file, room.data(), static_cast<unsigned>(room.size()))) > 0) {
    text.append(room.data(), static_cast<std::size_t>(count));
  }
  gzclose(file);
  if (count < 0) throw std::runtime_error(path + " is damaged");
  return text;
}

// Name without its first folder -> content. A tar is a sequence of 512-byte headers, each followed by its file.
std::map<std::string, std::string> untarred(const std::string& tar) {
  constexpr std::size_t kBlock = 512;
  std::map<std::string, std::string> files;
  for (std::size_t at = 0; at + kBlock <= tar.size() && tar[at] != '\0';) {
    std::string name = tar.substr(at, 100);
    name.resize(name.find('\0') == std::string::npos ? name.size() : name.find('\0'));
    const std::size_t size = std::strtoull(tar.substr(at + 124, 12).c_str(), nullptr, 8);
    const char type = tar[at + 156];
    at += kBlock;
    if (type == '0' || type == '\0') files[name.substr(name.find('/') + 1)] = tar.substr(at, size);
    at += (size + kBlock - 1) / kBlock * kBlock;
  }
  return files;
}

const std::map<std::string, std::string>& archive() {
  static const auto files = untarred(unpacked("programs.tar.gz"));
  return files;
}

const std::map<std::string, std::string>& pipelined_archive() {
  static const auto files = untarred(unpacked("pipelined.tar.gz"));
  return files;
}

Bytes bytes_of(const std::string& name) {
  const std::string& text = archive().at(name);
  return {text.begin(), text.end()};
}

std::vector<json> lines_of(const std::string& text) {
  std::vector<json> lines;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    if (end > begin) lines.push_back(json::parse(text.substr(begin, end - begin)));
  }
  return lines;
}

Machine machine_of(const json& line) { return machine_from_json(line.at("config").dump(), "golden").value(); }

std::int64_t index_or_none(const json& value) { return value.is_null() ? -1 : value.get<std::int64_t>(); }

Profile profile_of(const json& counters) {
  Profile profile;
  profile.inp_bytes = counters.at("inp_load_nbytes");
  profile.wgt_bytes = counters.at("wgt_load_nbytes");
  profile.acc_bytes = counters.at("acc_load_nbytes");
  profile.uop_bytes = counters.at("uop_load_nbytes");
  profile.out_bytes = counters.at("out_store_nbytes");
  profile.gemm_steps = counters.at("gemm_counter");
  profile.alu_steps = counters.at("alu_counter");
  return profile;
}

GoldenCase case_of(const json& line) {
  GoldenCase golden;
  golden.name = line.at("name");
  golden.kind = line.at("kind");
  golden.machine = machine_of(line);
  golden.profile = profile_of(line.at("fsim_profile"));
  golden.instruction_count = line.at("insn_count");
  golden.are_cycles_comparable = line.at("rtl_cycles_comparable");
  if (!line.at("rtl").is_null()) {
    for (const json& entry : line.at("rtl")) {
      GoldenRun run{entry.at("rd_latency"), entry.at("wr_latency"), entry.at("cycles"), {}, {}};
      for (const json& stream : entry.at("streams")) {
        run.stream_cycles.push_back(stream.at("cycles"));
        run.stream_counts.push_back({stream.at("rd_cmds"), stream.at("rd_beats"), stream.at("rd_busy"), stream.at("wr_cmds"),
                                     stream.at("wr_beats")});
      }
      golden.runs.push_back(std::move(run));
    }
  }
  golden.program = bytes_of(line.at("files").at("program"));
  golden.expected = bytes_of(line.at("files").at("expect"));
  return golden;
}

GoldenPipelined pipelined_of(const json& line) {
  GoldenPipelined golden{line.at("name"), line.at("family"), {}, {}};
  const std::string& text = pipelined_archive().at(line.at("file"));
  const Program program = program_from_bytes(Bytes(text.begin(), text.end()), golden.name).value();
  for (const Section& section : program.sections) {
    if (section.kind != SectionKind::Stream) continue;
    if (decode_stream(section.bytes, Encoding(golden_pipelined_machine()), golden.stream))
      throw std::runtime_error(golden.name + " does not decode");
  }
  for (const json& run : line.at("runs"))
    golden.runs.push_back({run.at("read_latency"),
                           run.at("write_latency"),
                           run.at("cycles"),
                           {run.at("read_bursts"), run.at("read_beats"), run.at("write_bursts"), run.at("write_beats")}});
  return golden;
}

GoldenNegative negative_of(const json& line) {
  GoldenNegative golden;
  golden.name = line.at("name");
  golden.verdict = line.at("verdict");
  golden.also_accepted = line.at("also_accepted").get<std::vector<std::string>>();
  golden.code = line.at("code");
  golden.stream = index_or_none(line.at("stream"));
  golden.instruction = index_or_none(line.at("insn"));
  if (const json& tokens = line.at("tokens"); !tokens.is_null()) {
    golden.tokens = std::array<std::int64_t, 4>{tokens.at("l2g"), tokens.at("g2l"), tokens.at("g2s"), tokens.at("s2g")};
  }
  golden.program = bytes_of("negative/" + line.at("file").get<std::string>());
  return golden;
}

Bytes from_hexadecimal(const std::string& text) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::strtoul(text.substr(i, 2).c_str(), nullptr, 16)));
  }
  return bytes;
}

struct Encodings {
  std::vector<GoldenLayout> layouts;
  std::vector<GoldenWord> words;
};

const Encodings& encodings() {
  static const Encodings all = [] {
    Encodings read;
    for (const json& line : lines_of(unpacked("encodings.jsonl.gz"))) {
      if (!line.contains("layout")) {
        read.words.push_back({line.at("config_name"), line.at("mnemonic"),
                              line.at("fields").get<std::map<std::string, std::int64_t>>(),
                              from_hexadecimal(line.at("bytes"))});
        continue;
      }
      GoldenLayout layout{
          line.at("config_name"), machine_of(line), {}, line.at("log2_depth").get<std::map<std::string, int>>()};
      for (const auto& [format, content] : line.at("layout").items()) {
        layout.formats[format] = content.at("fields").get<std::vector<std::tuple<std::string, int, int>>>();
      }
      read.layouts.push_back(std::move(layout));
    }
    return read;
  }();
  return all;
}

}  // namespace

const std::vector<GoldenCase>& golden_cases() {
  static const std::vector<GoldenCase> all = [] {
    std::vector<GoldenCase> read;
    for (const json& line : lines_of(archive().at("cases.jsonl"))) read.push_back(case_of(line));
    return read;
  }();
  return all;
}

const std::vector<GoldenPipelined>& golden_pipelined() {
  static const std::vector<GoldenPipelined> all = [] {
    std::vector<GoldenPipelined> read;
    for (const json& line : lines_of(pipelined_archive().at("cases.jsonl"))) read.push_back(pipelined_of(line));
    return read;
  }();
  return all;
}

const Machine& golden_pipelined_machine() {
  static const Machine machine = machine_from_json(pipelined_archive().at("machine.json"), "golden").value();
  return machine;
}

const std::vector<GoldenNegative>& golden_negatives() {
  static const std::vector<GoldenNegative> all = [] {
    std::vector<GoldenNegative> read;
    for (const json& line : lines_of(archive().at("negative/negative.jsonl"))) read.push_back(negative_of(line));
    return read;
  }();
  return all;
}

const std::vector<GoldenLayout>& golden_layouts() { return encodings().layouts; }
const std::vector<GoldenWord>& golden_words() { return encodings().words; }

const GoldenCase& golden_case(const std::string& name) {
  for (const GoldenCase& golden : golden_cases()) {
    if (golden.name == name) return golden;
  }
  throw std::runtime_error("no golden case is named " + name);
}

}  // namespace tilewright::vta
