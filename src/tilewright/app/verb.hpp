// A verb of the program: its options as a table, from which come flags, help, completion, the man page and docs/options.md,
// and what it does.
// Each verb's function is in app/VERB.cpp; what is parsed lives as long as the Verb.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tilewright/base/options.hpp"

namespace tilewright {

struct Verb {
  std::string name;
  std::string summary;  // one line
  OptionTable options;
  std::string footer;        // of the help: what the options do not say, examples
  std::function<int()> run;  // once the options are parsed; the value is the exit code
};

using Command = std::vector<std::string>;  // the command line, word by word

Verb agents_verb(const Command& command);
Verb codesign_verb(const Command& command);
Verb compare_verb(const Command& command);
Verb compile_verb(const Command& command);
Verb evaluate_verb();
Verb explain_verb();
Verb map_verb(const Command& command);
Verb points_verb();
Verb resume_verb(const Command& command);
Verb simulate_verb();
Verb train_verb(const Command& command);
Verb verify_verb();
Verb zoo_verb();

// All of them, in the order of the help.
std::vector<Verb> all_verbs(const Command& command);

}  // namespace tilewright
