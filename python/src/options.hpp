// Tables of options as keywords: the same tables as the command line's flags, read by the same rules.
#pragma once

#include <string>
#include <vector>

#include "convert.hpp"

#include "tilewright/base/options.hpp"

namespace tilewright::python {

// Sets the fields that are given. Lists, and dictionaries as lists of NAME=VALUE, are taken where a field is a list or a
// word made of parts; None leaves a field as it is. An unknown name or a wrong value is an exception that begins with
// `where`.
void apply(const OptionTable& table, const nb::dict& given, const std::string& where);

// The table without some fields, for functions whose first arguments they are.
OptionTable without(OptionTable table, const std::vector<std::string>& names);

// What documents and type checkers are made of: name, kind, default, meaning, choices, least, most, group of every field.
nb::list described(const OptionTable& table);

}  // namespace tilewright::python
