// What shells and `man` know about the program, made of the verbs' tables.
#pragma once

#include <string>
#include <vector>

#include "tilewright/app/verb.hpp"

namespace tilewright {

std::string bash_completion(const std::vector<Verb>& verbs);
std::string zsh_completion(const std::vector<Verb>& verbs);
// In troff: every verb with its options and the end of its help.
std::string man_page(const std::vector<Verb>& verbs);

// The verbs that print them.
Verb completion_verb();
Verb man_verb();

}  // namespace tilewright
