// The real parser is a machine that looks at one token at a time: separators are blanks and `, - > ( ) : ;`, a token that
// starts with `//` drops the rest of its line, and braces are tokens only where blanks or separators stand around them.
// Numbers go through C's atoi, so `4}` is 4 and `x` is 0. What follows accepts the same token streams. Where the real
// program would go on with a number that does not fit or a directive that is not there, the answer here is an Error.
#include "tilewright/workload/maestro_file.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/base/tokens.hpp"

namespace tilewright {
namespace {

// The token in quotes, with a hint when it only looks like what was expected.
std::string shown(std::string_view text) {
  if (text.ends_with('\r')) return in_quotes(text) + " (lines must end without a carriage return)";
  if (text.size() > 1 && text.find_first_of("{}") != std::string_view::npos)
    return in_quotes(text) + " (braces need blanks around them)";
  return in_quotes(text);
}

class Parser {
 public:
  Parser(const std::string& text, const std::string& where, FilterTiles rule)
      : tokens_(tokenize(text, " ,->():\t;", "//")), where_(where), rule_(rule), last_line_(last_line(text)) {}

  Result<MaestroFile> file() {
    while (next_ < tokens_.size()) {
      const TextToken token = tokens_[next_++];
      if (token.text == "Network") {
        TW_TRY(const Done done, network());
      } else if (token.text == "Constant") {
        TW_TRY(const Done done, constant());
      } else if (token.text == "Accelerator") {
        return error(token,
                     "an Accelerator block cannot be closed in this language, expected the machine in a file of its own");
      }
      // Everything else between blocks is skipped, as the real parser does.
    }
    return std::move(file_);
  }

 private:
  Error error(const TextToken& token, const std::string& sentence) const {
    return invalid(fmt::format("{}:{}: {}", where_, token.line, sentence));
  }

  Result<TextToken> take(std::string_view expected) {
    if (next_ < tokens_.size()) return tokens_[next_++];
    const bool windows = std::ranges::any_of(tokens_, [](const TextToken& token) { return token.text.ends_with('\r'); });
    return invalid(fmt::format("{}:{}: the file ends here, expected {}{}", where_, last_line_, expected,
                               windows ? " (lines must end without a carriage return)" : ""));
  }

  Result<Done> open(std::string_view block) {
    TW_TRY(const TextToken token, take(fmt::format("'{{' after {}", block)));
    if (token.text == "{") return Done{};
    return error(token, fmt::format("found {} after {}, expected '{{'", shown(token.text), block));
  }

  // C's atoi, except that a number beyond 31 bits is an Error; a defined constant's value where `constants` allows it.
  enum class Constants { Yes, No };
  Result<std::int32_t> number(const TextToken& token, Constants constants) const {
    if (constants == Constants::Yes) {
      if (const auto found = constants_.find(token.text); found != constants_.end()) return found->second;
    }
    if (const auto value = leading_integer(token.text)) return *value;
    return error(token, fmt::format("{} is too large, expected at most 2147483647", shown(token.text)));
  }

  Result<Done> constant() {
    TW_TRY(const TextToken name, take("the name of a Constant"));
    TW_TRY(const TextToken value, take(fmt::format("the value of Constant {}", in_quotes(name.text))));
    TW_TRY(const std::int32_t read, number(value, Constants::No));
    constants_[std::string(name.text)] = read;
    pending_name_ = name.text;
    return Done{};
  }

  Result<Done> network() {
    while (true) {
      TW_TRY(const TextToken token, take("'{' of the Network block"));
      if (token.text == "{") break;
      file_.network = token.text;
    }
    while (true) {
      TW_TRY(const TextToken token, take("'}' of the Network block"));
      if (token.text == "}") return Done{};
      if (token.text != "Layer")
        return error(token, fmt::format("found {} in a Network block, expected 'Layer' or '}}'", shown(token.text)));
      TW_TRY(const Done done, layer(token.line));
    }
  }

  Result<Done> layer(int line) {
    while (true) {
      TW_TRY(const TextToken token, take("'{' of the Layer block"));
      if (token.text == "{") break;
      pending_name_ = token.text;
    }
    layer_ = MaestroLayer{};
    layer_.line = line;
    layer_.where = where_;
    bool dimensions_seen = false;
    while (true) {
      TW_TRY(const TextToken token, take("'}' of the Layer block"));
      if (token.text == "}") {
        if (layer_.type.empty())
          return error(token, "the layer has no type, expected 'Type: CONV', DSCONV, NGCONV, TRCONV or GEMM");
        file_.layers.push_back(std::move(layer_));
        return Done{};
      }
      if (token.text == "Type") {
        TW_TRY(const Done done, type());
      } else if (token.text == "Stride") {
        if (dimensions_seen) return error(token, "Stride stands after Dimensions, expected it before");
        TW_TRY(const Done done, strides());
      } else if (token.text == "Dimensions") {
        dimensions_seen = true;
        TW_TRY(const Done done, dimensions());
      } else if (token.text == "Dataflow") {
        TW_TRY(const Done done, dataflow());
      } else {
        static const std::vector<std::string> kParts = {"Type", "Stride", "Dimensions", "Dataflow"};
        return error(token, fmt::format("found {} in a Layer block, expected Type, Stride, Dimensions, Dataflow or '}}'{}",
                                        shown(token.text), did_you_mean(token.text, kParts)));
      }
    }
  }

  Result<Done> type() {
    static const std::vector<std::string> kTypes = {"CONV", "DSCONV", "NGCONV", "TRCONV", "GEMM"};
    TW_TRY(const TextToken token, take("the type of a layer"));
    // These three are words of the language without a meaning: a type given beside them counts.
    if (token.text == "FC" || token.text == "POOL" || token.text == "LSTM") return Done{};
    if (std::ranges::find(kTypes, token.text) == kTypes.end())
      return error(token, fmt::format("layer type {}, expected CONV, DSCONV, NGCONV, TRCONV or GEMM{}", shown(token.text),
                                      did_you_mean(token.text, kTypes)));
    layer_.type = token.text;
    // The name is the last one read anywhere, which is another word when Type stands after Dimensions; then it is used up.
    layer_.name = pending_name_.empty() ? "Layer" : pending_name_;
    pending_name_.clear();
    return Done{};
  }

  Result<Done> strides() {
    TW_TRY(const Done opened, open("Stride"));
    while (true) {
      TW_TRY(const TextToken name, take("'}' of the Stride block"));
      if (name.text == "}") return Done{};
      TW_TRY(const TextToken size, take(fmt::format("the stride of {}", in_quotes(name.text))));
      TW_TRY(const std::int32_t stride, number(size, Constants::No));
      if (stride < 1)
        return error(size,
                     fmt::format("stride of {} is {}, expected a positive number", shown(name.text), shown(size.text)));
      layer_.strides.emplace_back(name.text, stride);
    }
  }

  Result<Done> dimensions() {
    TW_TRY(const Done opened, open("Dimensions"));
    while (true) {
      TW_TRY(const TextToken name, take("'}' of the Dimensions block"));
      if (name.text == "}") return Done{};
      pending_name_ = name.text;
      TW_TRY(const TextToken token, take(fmt::format("the size of {}", in_quotes(name.text))));
      TW_TRY(const std::int32_t size, number(token, Constants::Yes));
      if (size == 0)
        return error(token,
                     fmt::format("size of {} is {}, expected a positive number", shown(name.text), shown(token.text)));
      layer_.dims.emplace_back(name.text, size);
    }
  }

  Result<Done> dataflow() {
    TW_TRY(const Done opened, open("Dataflow"));
    while (true) {
      TW_TRY(const TextToken token, take("'}' of the Dataflow block"));
      if (token.text == "}") return Done{};
      MaestroDirective directive;
      directive.line = token.line;
      if (token.text == "Cluster") {
        directive.kind = MaestroDirective::Kind::Cluster;
        TW_TRY(const std::int32_t size, map_size("size of the Cluster"));
        directive.size = size;
        TW_TRY(const TextToken kind, take("'P' or 'L' of the Cluster"));
        if (kind.text != "P" && kind.text != "L")
          return error(kind,
                       fmt::format("cluster kind is {}, expected 'P' (physical) or 'L' (logical)", in_quotes(kind.text)));
        directive.dim = kind.text;
      } else if (token.text == "TemporalMap" || token.text == "SpatialMap") {
        const bool temporal = token.text == "TemporalMap";
        directive.kind = temporal ? MaestroDirective::Kind::Temporal : MaestroDirective::Kind::Spatial;
        TW_TRY(const std::int32_t size, map_size(fmt::format("size of the {}", token.text)));
        TW_TRY(const std::int32_t offset, map_size(fmt::format("offset of the {}", token.text)));
        TW_TRY(const TextToken dim, take(fmt::format("the dimension of the {}", token.text)));
        directive.size = size;
        directive.offset = offset;
        directive.dim = dim.text;
        if (temporal) {
          TW_TRY(const Done whole, check_filter_tile(dim, directive));
        }
      } else {
        static const std::vector<std::string> kDirectives = {"TemporalMap", "SpatialMap", "Cluster"};
        return error(token, fmt::format("found {} in a Dataflow block, expected TemporalMap, SpatialMap, Cluster or '}}'{}",
                                        shown(token.text), did_you_mean(token.text, kDirectives)));
      }
      layer_.dataflow.push_back(std::move(directive));
    }
  }

  // A number, a constant, or `Sz(D)`: the size of D, the last one written when there are several.
  Result<std::int32_t> map_size(const std::string& what) {
    TW_TRY(TextToken token, take("the " + what));
    const bool of_dimension = token.text == "Sz";
    while (token.text == "Sz") {
      TW_TRY(const TextToken named, take("a dimension after Sz"));
      token = named;
    }
    if (!of_dimension) {
      TW_TRY(const std::int32_t size, number(token, Constants::Yes));
      if (size > 0) return size;
      return error(token, fmt::format("{} is {}, expected a positive number", what, shown(token.text)));
    }
    for (auto dim = layer_.dims.rbegin(); dim != layer_.dims.rend(); ++dim) {
      if (dim->first == token.text) return dim->second;
    }
    return error(token, fmt::format("Sz of {} asks for a dimension not given so far, expected {}", shown(token.text),
                                    dimension_list()));
  }

  Result<Done> check_filter_tile(const TextToken& dim, const MaestroDirective& directive) const {
    if (rule_ == FilterTiles::Any || (dim.text != "R" && dim.text != "S")) return Done{};
    if (directive.size != directive.offset)
      return error(dim, fmt::format("temporal tile of {} has size {} and offset {}, expected equal numbers", dim.text,
                                    directive.size, directive.offset));
    for (const auto& [name, extent] : layer_.dims) {
      if (name == dim.text && extent != directive.size)
        return error(dim,
                     fmt::format("temporal tile of {} is {}, expected the whole filter, {}", name, directive.size, extent));
    }
    return Done{};
  }

  std::string dimension_list() const {
    std::vector<std::string> names;
    for (const auto& [name, extent] : layer_.dims) names.push_back(name);
    return names.empty() ? "Dimensions before Dataflow" : "one of " + join(names, ", ");
  }

  std::vector<TextToken> tokens_;
  std::size_t next_ = 0;
  const std::string& where_;
  FilterTiles rule_;
  int last_line_;
  MaestroFile file_;
  MaestroLayer layer_;
  std::string pending_name_;
  std::map<std::string, std::int32_t, std::less<>> constants_;
};

}  // namespace

Result<MaestroFile> parse_maestro(const std::string& text, const std::string& where, FilterTiles rule) {
  return Parser(text, where, rule).file();
}

}  // namespace tilewright
