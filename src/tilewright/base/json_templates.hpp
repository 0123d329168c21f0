// What nearly every user of nlohmann's JSON would otherwise compile again is compiled once, in json_templates.cpp: reading,
// writing, copying. json.hpp and the precompiled headers (cmake/modules.cmake) bring it along.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace tilewright {
using JsonText = decltype(nlohmann::detail::input_adapter(std::declval<const std::string&>()));
}

// TW_JSON_TEMPLATES(Json, extern) says that they are elsewhere, TW_JSON_TEMPLATES(Json, ) that they are here.
#define TW_JSON_TEMPLATES(Json, where)                                                                  \
  where template class nlohmann::detail::serializer<Json>;                                              \
  where template class nlohmann::detail::json_sax_dom_parser<Json>;                                     \
  where template class nlohmann::detail::lexer<Json, tilewright::JsonText>;                             \
  where template class nlohmann::detail::parser<Json, tilewright::JsonText>;                            \
  where template class std::vector<Json>;                                                               \
  where template Json Json::parse(const std::string&, const parser_callback_t, const bool, const bool); \
  where template Json::basic_json(const Json&);                                                         \
  where template void Json::json_value::destroy(value_t);                                               \
  where template std::string Json::dump(const int, const char, const bool, const error_handler_t) const

TW_JSON_TEMPLATES(nlohmann::basic_json<>, extern);
TW_JSON_TEMPLATES(nlohmann::basic_json<nlohmann::ordered_map>, extern);
extern template class std::map<std::string, nlohmann::json, std::less<>>;
