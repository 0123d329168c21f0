// The reference of all options as Markdown, made of the verbs' tables: docs/options.md.
#pragma once

#include <string>
#include <vector>

#include "tilewright/app/verb.hpp"

namespace tilewright {

// A table for each verb: how an option is given, what it is by default, what it means.
std::string options_page(const std::vector<Verb>& verbs);

}  // namespace tilewright
