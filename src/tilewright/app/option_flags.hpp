// Tables of options as flags of a verb.
#pragma once

#include <string>

#include "tilewright/base/options.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace tilewright {

// What a table's fields are bound to must outlive the parsing. Words that a field refuses end the parsing with the field's
// own sentence.
void add_options(CLI::App& verb, const OptionTable& table);

}  // namespace tilewright
