// The options of a verb, told once: a table binds every field of an options struct to its name, range and meaning.
//
//   OptionTable options_of(MapOptions& options) {
//     return {{"samples", options.samples, "per distinct layer", {.least = 1}}, {"model", worded(options.model), "judge"},
//     …};
//   }
//
// Flags, files (run.json, both ways), the tables of the documents and keywords of other languages are all made of it. A
// field is called `max_latency` in files and `--max-latency` on the command line.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tilewright/base/names.hpp"
#include "tilewright/base/result.hpp"

namespace tilewright {

// A field that is written as a word: an enum, or a choice that carries data and has a text form.
struct Worded {
  std::function<std::string()> text;
  std::function<Result<Done>(const std::string&)> read;
  std::vector<std::string> choices;  // all there are; empty = it cannot be listed
};

using OptionTarget =
    std::variant<bool*, int*, std::int64_t*, std::uint64_t*, double*, std::string*, std::vector<std::string>*,
                 std::optional<std::int64_t>*, std::optional<double>*, std::optional<std::string>*, Worded>;

struct OptionTraits {
  std::string_view flag = "";    // on the command line, where it is not the name: "dim" of `dims`
  std::string_view group = "";   // heading in the help
  std::string_view letter = "";  // "o": -o as well
  bool positional = false;       // named by its place on the command line
  bool recorded = true;          // part of what a result depends on, so of run.json; false for how and where it is done
  double least = -1e300, most = 1e300;  // of a number
  bool default_is_said = false;         // by the meaning, or not worth saying
};

struct OptionField {
  std::string_view name;  // "max_latency"
  OptionTarget target;
  std::string meaning;  // one line
  OptionTraits traits = {};
};
using OptionTable = std::vector<OptionField>;

template <Named Enum>
Worded worded(Enum& value) {
  return {[&value] { return std::string(name(value)); },
          [&value](const std::string& text) -> Result<Done> {
            TW_TRY(value, named<Enum>(text));
            return Done{};
          },
          names<Enum>()};
}

// The recorded fields by name; those that are nothing, and lists that are empty, are left out.
nlohmann::ordered_json to_json(const OptionTable& table);
// Sets the fields that a document has; the others keep what they are. A key that is no field, a value of another kind or out
// of range is an Error that begins with `where`.
Result<Done> read_options(const OptionTable& table, const nlohmann::ordered_json& json, const std::string& where);
// An Error when a number is out of its range: "--samples is 0, expected at least 1".
Result<Done> check_ranges(const OptionTable& table);

std::string flag_of(const OptionField& field);  // "--max-latency"
// As people write it; nothing when there is no value.
std::optional<std::string> value_text(const OptionField& field);

}  // namespace tilewright
