#include "tilewright/cost/batch.hpp"

#include <algorithm>
#include <initializer_list>
#include <istream>
#include <limits>
#include <ostream>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include "tilewright/base/parallel.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/cost/columns.hpp"
#include "tilewright/mapping/mapping_maestro.hpp"
#include "tilewright/workload/maestro_file.hpp"

namespace tilewright {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kMostLineBytes = std::size_t{64} << 20;
constexpr std::size_t kBlockLines = 256;  // handed to one thread at a time

Error at_field(std::string_view field, std::string_view expected) {
  return invalid(fmt::format("'{}' is missing or of the wrong type, expected {}", field, expected));
}

Result<std::int32_t> to_int32(const dom::element& element, std::string_view what) {
  std::int64_t number = 0;
  if (element.get(number) != simdjson::SUCCESS) return at_field(what, "a whole number");
  if (number < 0 || number > std::numeric_limits<std::int32_t>::max()) {
    return invalid(fmt::format("'{}' is {}, expected 0 to 2147483647", what, number));
  }
  return static_cast<std::int32_t>(number);
}

Result<std::int32_t> field_or(const dom::object& object, std::string_view key, std::int32_t otherwise) {
  dom::element element;
  if (object[key].get(element) != simdjson::SUCCESS || element.is_null()) return otherwise;
  return to_int32(element, key);
}

// A misspelt key never turns into a default.
Result<Done> only_keys(const dom::object& object, std::string_view where, std::initializer_list<std::string_view> known) {
  for (const auto [key, value] : object) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::vector<std::string> names(known.begin(), known.end());
    std::string hint = did_you_mean(key, names);
    if (hint.empty()) hint = fmt::format(", expected one of {}", join(names, ", "));
    return invalid(fmt::format("'{}' is not a key of {}{}", printable(key), where, hint));
  }
  return Done{};
}

// What the real program assumes where a key is absent depends on where hardware is described (flags or a file).
Result<Accelerator> to_accelerator(const dom::object& hw) {
  TW_TRY([[maybe_unused]] const Done known,
         only_keys(hw, "'hw'", {"num_pes", "noc_bw", "noc_hops", "hop_latency", "offchip_bw", "l1", "l2", "simd", "via"}));
  std::string_view via = "cli";
  if (hw["via"].get(via) == simdjson::SUCCESS && via != "cli" && via != "file") {
    return invalid(fmt::format("'via' is '{}', expected 'cli' or 'file'", via));
  }
  const bool file = via == "file";
  constexpr std::int32_t kNone = static_cast<std::int32_t>(kUnlimited);
  Accelerator accelerator;
  TW_TRY(accelerator.pes, field_or(hw, "num_pes", file ? 1 : 7));
  TW_TRY(accelerator.l1.value, field_or(hw, "l1", kNone));
  TW_TRY(accelerator.l2.value, field_or(hw, "l2", kNone));
  TW_TRY(accelerator.noc.bandwidth, field_or(hw, "noc_bw", kNone));
  TW_TRY(accelerator.noc.hops, field_or(hw, "noc_hops", 1));
  TW_TRY(accelerator.noc.hop_latency, file ? Result<std::int32_t>(1) : field_or(hw, "hop_latency", 0));
  TW_TRY(accelerator.offchip_bandwidth, field_or(hw, "offchip_bw", file ? kNone : 70000));
  TW_TRY(accelerator.simd_lanes, field_or(hw, "simd", 1));
  if (accelerator.simd_lanes < 1) return invalid("'simd' is 0, expected at least 1");
  return accelerator;
}

Result<MaestroDirective> to_directive(const dom::array& item) {
  std::vector<dom::element> parts;
  for (const dom::element part : item) parts.push_back(part);
  std::string_view kind;
  if (parts.empty() || parts[0].get(kind) != simdjson::SUCCESS) return at_field("dataflow", "[kind, …] lists");
  const bool cluster = kind == "C";
  if (!cluster && kind != "T" && kind != "S")
    return invalid(fmt::format("a directive is '{}', expected 'T', 'S' or 'C'", kind));
  std::string_view dim;
  if (parts.size() != (cluster ? 3u : 4u) || parts.back().get(dim) != simdjson::SUCCESS) {
    return at_field("dataflow", cluster ? "[\"C\", size, \"P\"]" : "[\"T\", size, offset, dimension]");
  }
  MaestroDirective directive;
  directive.kind = cluster       ? MaestroDirective::Kind::Cluster
                   : kind == "T" ? MaestroDirective::Kind::Temporal
                                 : MaestroDirective::Kind::Spatial;
  directive.dim = dim;
  TW_TRY(directive.size, to_int32(parts[1], "size"));
  if (!cluster) {
    TW_TRY(directive.offset, to_int32(parts[2], "offset"));
  }
  if (directive.size < 1 || directive.offset < 1) {
    return invalid(fmt::format("a directive on {} has size {} and offset {}, expected at least 1", dim, directive.size,
                               directive.offset));
  }
  return directive;
}

Result<MaestroLayer> to_layer(const dom::object& object) {
  TW_TRY([[maybe_unused]] const Done known, only_keys(object, "a layer", {"name", "type", "stride", "dims", "dataflow"}));
  MaestroLayer layer;
  layer.where = "case";
  std::string_view text;
  if (object["name"].get(text) == simdjson::SUCCESS) layer.name = text;
  if (object["type"].get(text) != simdjson::SUCCESS) return at_field("type", "CONV, DSCONV, NGCONV, TRCONV or GEMM");
  layer.type = text;
  const std::vector<std::string> types = {"CONV", "DSCONV", "NGCONV", "TRCONV", "GEMM"};
  if (std::find(types.begin(), types.end(), layer.type) == types.end()) {
    return invalid(fmt::format("layer type '{}' is not known{}, expected one of {}", text, did_you_mean(text, types),
                               join(types, ", ")));
  }
  dom::object strides;
  if (object["stride"].get(strides) == simdjson::SUCCESS) {
    for (const auto [key, value] : strides) {
      TW_TRY(const std::int32_t stride, to_int32(value, "stride"));
      if (stride < 1) return invalid("'stride' is 0, expected at least 1");
      layer.strides.emplace_back(std::string(key), stride);
    }
  }
  dom::array dims;
  if (object["dims"].get(dims) != simdjson::SUCCESS) return at_field("dims", "a list of [name, size]");
  for (const dom::element item : dims) {
    dom::array pair;
    if (item.get(pair) != simdjson::SUCCESS || pair.size() != 2 || pair.at(0).get(text) != simdjson::SUCCESS) {
      return at_field("dims", "a list of [name, size]");
    }
    TW_TRY(const std::int32_t size, to_int32(pair.at(1).value(), text));
    if (size < 1) return invalid(fmt::format("dimension {} is 0, expected at least 1", text));
    layer.dims.emplace_back(std::string(text), size);
  }
  dom::array dataflow;
  if (object["dataflow"].get(dataflow) != simdjson::SUCCESS) return at_field("dataflow", "a list of directives");
  for (const dom::element item : dataflow) {
    dom::array parts;
    if (item.get(parts) != simdjson::SUCCESS) return at_field("dataflow", "a list of directives");
    TW_TRY(MaestroDirective directive, to_directive(parts));
    layer.dataflow.push_back(std::move(directive));
  }
  return layer;
}

struct BatchCase {
  Accelerator accelerator;
  MaestroFile file;
};

Result<BatchCase> to_case(const dom::object& object) {
  BatchCase result;
  // The answers of a recorded case may stand beside it, so that a record can be asked again.
  TW_TRY([[maybe_unused]] const Done known, only_keys(object, "a case",
                                                      {"id", "hw", "layers", "kind", "family", "network", "model", "status",
                                                       "reason", "exit", "msg", "ub", "out"}));
  dom::object hw;
  if (object["hw"].get(hw) != simdjson::SUCCESS) return at_field("hw", "an object");
  TW_TRY(result.accelerator, to_accelerator(hw));
  dom::array layers;
  if (object["layers"].get(layers) != simdjson::SUCCESS) return at_field("layers", "a list");
  for (const dom::element item : layers) {
    dom::object layer;
    if (item.get(layer) != simdjson::SUCCESS) return at_field("layers", "a list of objects");
    TW_TRY(MaestroLayer converted, to_layer(layer));
    result.file.layers.push_back(std::move(converted));
  }
  if (result.file.layers.empty()) return invalid("'layers' is empty, expected at least one");
  return result;
}

// One line without its end. What a line has beyond kMostLineBytes is read and dropped, so memory stays bounded.
bool read_line(std::istream& in, std::string& line) {
  line.clear();
  char part[1 << 14];
  bool any = false;
  while (in.getline(part, sizeof part), in.gcount() > 0) {
    any = true;
    const bool partial = in.fail() && !in.eof();
    const auto count = static_cast<std::size_t>(in.gcount()) - (partial || in.eof() ? 0 : 1);
    if (line.size() <= kMostLineBytes) line.append(part, count);
    if (!partial) return true;
    in.clear(in.rdstate() & ~std::ios::failbit);
  }
  return any;
}

// True when reading on would wait for somebody who may be waiting for us.
bool would_wait(std::istream& in) { return in.rdbuf()->in_avail() <= 0; }

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_error(std::string& out, std::string_view reason, std::string_view sentence) {
  out += "\"status\":\"error\",\"reason\":\"";
  out += reason;
  out += "\",\"msg\":";
  append_quoted(out, sentence);
  out += "}\n";
}

void append_header(std::string& out, Model model) {
  fmt::format_to(std::back_inserter(out), "{{\"kind\":\"header\",\"model\":\"{}\",\"columns\":[", name_of(model));
  for (const Column& column : columns()) {
    fmt::format_to(std::back_inserter(out), "{}\"{}\"", &column == columns().data() ? "" : ",", column.key);
  }
  out += "]}\n";
}

}  // namespace

struct BatchEvaluator::Workspace {
  BatchOptions options;
  dom::parser parser;
  Evaluator evaluator{Nest{}, Accelerator{}};
  std::string rows;

  void evaluate(const dom::object& object, std::string& out);
  std::optional<Error> append_rows(const BatchCase& batch_case, std::string_view& reason);
  void append_row(const Cost& cost, const Nest& nest, const Accelerator& accelerator);
};

BatchEvaluator::BatchEvaluator(const BatchOptions& options) : workspace_(std::make_unique<Workspace>()) {
  workspace_->options = options;
}
BatchEvaluator::~BatchEvaluator() = default;
BatchEvaluator::BatchEvaluator(BatchEvaluator&&) noexcept = default;

void BatchEvaluator::evaluate_line(std::string_view line, std::string& out) {
  dom::element root;
  dom::object object;
  if (line.size() > kMostLineBytes) {
    out += "{";
    return append_error(out, "malformed", fmt::format("the line has more than {} bytes", kMostLineBytes));
  }
  const auto status = workspace_->parser.parse(line.data(), line.size()).get(root);
  if (status != simdjson::SUCCESS || root.get(object) != simdjson::SUCCESS) {
    out += "{";
    const std::string found = status != simdjson::SUCCESS ? simdjson::error_message(status) : "it is not an object";
    return append_error(out, "malformed", fmt::format("the line is not a JSON object: {}", found));
  }
  std::string_view kind;
  if (object["kind"].get(kind) == simdjson::SUCCESS && kind == "header")
    return append_header(out, workspace_->options.model);
  workspace_->evaluate(object, out);
}

void BatchEvaluator::Workspace::evaluate(const dom::object& object, std::string& out) {
  out += '{';
  dom::element id;
  if (object["id"].get(id) == simdjson::SUCCESS) {
    out += "\"id\":";
    out += simdjson::minify(id);
    out += ',';
  }
  const Result<BatchCase> batch_case = to_case(object);
  if (!batch_case) return append_error(out, "malformed", batch_case.error().message);
  std::string_view reason = "malformed";
  rows.clear();
  if (const auto failure = append_rows(*batch_case, reason)) return append_error(out, reason, failure->message);
  fmt::format_to(std::back_inserter(out), "\"status\":\"ok\",\"model\":\"{}\",\"out\":[", name_of(options.model));
  out += rows;
  out += "]}\n";
}

std::optional<Error> BatchEvaluator::Workspace::append_rows(const BatchCase& batch_case, std::string_view& reason) {
  std::optional<Cost> previous;
  const std::size_t layer_count = batch_case.file.layers.size();
  for (std::size_t i = 0; i < layer_count; ++i) {
    DimNames names;
    const Result<Nest> nest = nest_of(batch_case.file, i, names);
    if (!nest) return nest.error();
    const Result<Mapping> mapping = mapping_of(batch_case.file.layers[i], names);
    if (!mapping) return mapping.error();
    evaluator.reset(*nest, batch_case.accelerator, {options.model, options.constraints, EvaluateOptions::Columns::All});
    const Evaluation evaluation = evaluator.evaluate(*mapping, previous ? &*previous : nullptr);
    if (const auto* infeasible = std::get_if<Infeasible>(&evaluation)) {
      reason = name_of(infeasible->reason);
      const std::string sentence = to_sentence(*infeasible);
      return invalid(layer_count == 1 ? sentence : fmt::format("layer '{}': {}", batch_case.file.layers[i].name, sentence));
    }
    previous = std::get<Cost>(evaluation);
    if (i > 0) rows += ',';
    append_row(*previous, *nest, batch_case.accelerator);
  }
  return std::nullopt;
}

void BatchEvaluator::Workspace::append_row(const Cost& cost, const Nest& nest, const Accelerator& accelerator) {
  const Row row = row_of(cost, nest, accelerator, options.model);
  rows += '{';
  for (std::size_t column = 0; column < kColumnCount; ++column) {
    if (column > 0) rows += ',';
    rows += '"';
    rows += columns()[column].key;
    rows += "\":";
    append_json(rows, row[column]);
  }
  if (!is_maestro(options.model)) {
    fmt::format_to(std::back_inserter(rows),
                   ",\"leaf_macs\":{},\"idle_macs\":{},\"energy_mac_nj\":{:g},\"energy_l1_nj\":{:g},\"energy_l2_nj\":{:g},"
                   "\"violation\":{:g}",
                   cost.leaf_macs.value, cost.idle_macs.value, cost.energy_parts.mac.value / 1000,
                   cost.energy_parts.l1.value / 1000, cost.energy_parts.l2.value / 1000, cost.violation);
  }
  rows += '}';
}

BatchCounts evaluate_batch(std::istream& in, std::ostream& out, const BatchOptions& options, std::size_t threads,
                           const std::function<void(const BatchCounts&)>& progress) {
  const auto make = [&options]() -> LineEvaluator {
    return [evaluator = std::make_shared<BatchEvaluator>(options)](std::string_view line, std::string& answer) {
      evaluator->evaluate_line(line, answer);
    };
  };
  return evaluate_lines(in, out, make, threads, progress);
}

BatchCounts evaluate_lines(std::istream& in, std::ostream& out, const std::function<LineEvaluator()>& make,
                           std::size_t threads, const std::function<void(const BatchCounts&)>& progress) {
  ThreadPool pool(threads);
  std::vector<LineEvaluator> evaluators;
  for (std::size_t i = 0; i < pool.thread_count(); ++i) evaluators.push_back(make());

  struct Block {
    std::vector<std::string> lines;
    std::size_t line_count = 0;
    std::string out;
    std::int64_t errors = 0;
  };
  std::vector<Block> blocks(pool.thread_count() * 4);
  for (Block& block : blocks) block.lines.resize(kBlockLines);

  BatchCounts counts;
  while (in && out) {
    std::size_t used = 0;
    for (; used < blocks.size() && in && (used == 0 || !would_wait(in)); ++used) {
      Block& block = blocks[used];
      block.line_count = 0;
      while (block.line_count < kBlockLines && read_line(in, block.lines[block.line_count])) {
        ++block.line_count;
        if (would_wait(in)) break;
      }
    }
    pool.for_each(used, [&](std::size_t item, std::size_t thread) {
      Block& block = blocks[item];
      block.out.clear();
      block.errors = 0;
      for (std::size_t i = 0; i < block.line_count; ++i) {
        const std::size_t before = block.out.size();
        evaluators[thread](block.lines[i], block.out);
        if (block.out.find("\"status\":\"error\"", before) != std::string::npos) ++block.errors;
      }
    });
    for (std::size_t i = 0; i < used; ++i) {
      out.write(blocks[i].out.data(), static_cast<std::streamsize>(blocks[i].out.size()));
      counts.lines += static_cast<std::int64_t>(blocks[i].line_count);
      counts.errors += blocks[i].errors;
    }
    out.flush();
    if (progress) progress(counts);
  }
  return counts;
}

}  // namespace tilewright
