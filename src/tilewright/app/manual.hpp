// What shells, `man` and docs/options.md know about the program, made of the verbs' tables.
#pragma once

#include <string>
#include <vector>

#include "tilewright/app/verb.hpp"

namespace tilewright {

std::string bash_completion(const std::vector<Verb>& verbs);
std::string zsh_completion(const std::vector<Verb>& verbs);
// In troff: every verb with its options and the end of its help.
std::string man_page(const std::vector<Verb>& verbs);
// In Markdown, a table for each verb: how an option is given, what it is by default, what it means.
std::string options_page(const std::vector<Verb>& verbs);

// The verbs that print them.
Verb completion_verb();
Verb man_verb();

}  // namespace tilewright
