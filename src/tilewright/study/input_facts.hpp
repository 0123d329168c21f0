// What the files that options name hold: a study depends on that, not on the names.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace tilewright {

// A checksum for every text among the arguments, alone, in a list or behind a "=", that names a file, a file of the zoo or
// the folder of a trained team: {"zoo:alexnet": "9c56…"}.
nlohmann::ordered_json input_facts(const nlohmann::ordered_json& arguments);

}  // namespace tilewright
