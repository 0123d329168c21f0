// Reads a page as a strict parser would: what it cannot read, it says.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;  // directly inside, not in elements inside
  std::size_t depth = 0;
};

struct Markup {
  std::vector<Element> elements;  // in the order they open
  std::string error;              // empty when all is well
  std::size_t count(std::string_view name, std::string_view css_class = "") const;
};

// Every element is closed, in order, or is one of those HTML never closes or ends with "/>"; attributes are quoted, no name
// twice in an element, and '<' and '&' appear as marks and entities only.
Markup read_markup(std::string_view text);

}  // namespace tilewright
