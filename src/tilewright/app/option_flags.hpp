// Tables of options as flags of a verb.
#pragma once

#include <string>
#include <vector>

#include "tilewright/base/options.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace tilewright {

// What a table's fields are bound to must outlive the parsing. Words that a field refuses end the parsing with the field's
// own sentence.
void add_options(CLI::App& verb, const OptionTable& table);

// How a field is given: "--output", "-o". None where its place names it.
std::vector<std::string> flags_of(const OptionField& field);
bool takes_value(const OptionField& field);
// The words it may be; none where they cannot be listed.
std::vector<std::string> choices_of(const OptionField& field);
// What it is when it is not given; empty when that is nothing, or said by its meaning.
std::string default_of(const OptionField& field);

}  // namespace tilewright
