#include "tilewright/base/json_templates.hpp"

TW_JSON_TEMPLATES(nlohmann::basic_json<>, );
TW_JSON_TEMPLATES(nlohmann::basic_json<nlohmann::ordered_map>, );
template class std::map<std::string, nlohmann::json, std::less<>>;
