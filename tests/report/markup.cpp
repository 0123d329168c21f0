#include "markup.hpp"

#include <algorithm>
#include <cctype>
#include <set>

namespace tilewright {
namespace {

const std::set<std::string, std::less<>> kVoid{"meta", "img", "br", "link"};

bool is_entity(std::string_view text) {
  return std::ranges::any_of(std::vector<std::string_view>{"&lt;", "&gt;", "&amp;", "&quot;"},
                             [&](std::string_view entity) { return text.substr(0, entity.size()) == entity; });
}

struct Reader {
  std::string_view text;
  std::size_t at = 0;
  Markup markup;
  std::vector<std::size_t> open;

  bool fail(const std::string& what) {
    markup.error = what + " at byte " + std::to_string(at) + ": " + std::string(text.substr(at, 60));
    return false;
  }

  std::string word() {
    const std::size_t first = at;
    while (at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '-' || text[at] == '_')) {
      ++at;
    }
    return std::string(text.substr(first, at - first));
  }

  bool attributes(Element& element) {
    while (at < text.size() && text[at] == ' ') {
      while (at < text.size() && text[at] == ' ') ++at;
      const std::string name = word();
      if (name.empty()) return fail("an attribute without a name");
      if (text.substr(at, 2) != "=\"") return fail("an attribute without a quoted value");
      at += 2;
      const std::size_t end = text.find('"', at);
      if (end == std::string_view::npos) return fail("an attribute that does not end");
      const std::string value(text.substr(at, end - at));
      for (std::size_t i = 0; i < value.size(); ++i) {
        if (value[i] == '<' || (value[i] == '&' && !is_entity(std::string_view(value).substr(i)))) {
          return fail("a bare mark in an attribute");
        }
      }
      if (!element.attributes.emplace(name, value).second) return fail("an attribute given twice");
      at = end + 1;
    }
    return true;
  }

  bool closing_tag() {
    at += 2;
    const std::string name = word();
    if (open.empty() || markup.elements[open.back()].name != name) return fail("</" + name + "> closes nothing");
    open.pop_back();
    if (at >= text.size() || text[at] != '>') return fail("a tag that does not end");
    ++at;
    return true;
  }

  bool opening_tag() {
    ++at;
    Element element{word(), {}, "", open.size()};
    if (element.name.empty()) return fail("a bare '<'");
    if (!attributes(element)) return false;
    const bool closed = text.substr(at, 2) == "/>";
    if (closed) ++at;
    if (at >= text.size() || text[at] != '>') return fail("a tag that does not end");
    ++at;
    const bool empty = closed || kVoid.contains(element.name);
    markup.elements.push_back(std::move(element));
    if (empty) return true;
    open.push_back(markup.elements.size() - 1);
    if (markup.elements.back().name == "style") {  // read as it is, up to its end
      const std::size_t end = text.find("</style>", at);
      if (end == std::string_view::npos) return fail("a style that does not end");
      markup.elements.back().text = text.substr(at, end - at);
      at = end;
    }
    return true;
  }

  void read() {
    constexpr std::string_view kDoctype = "<!doctype html>";
    if (text.substr(0, kDoctype.size()) == kDoctype) at = kDoctype.size();
    while (at < text.size()) {
      if (text.substr(at, 2) == "</") {
        if (!closing_tag()) return;
      } else if (text[at] == '<') {
        if (!opening_tag()) return;
      } else {
        if (text[at] == '&' && !is_entity(text.substr(at))) {
          fail("a bare '&'");
          return;
        }
        if (!open.empty()) markup.elements[open.back()].text += text[at];
        ++at;
      }
    }
    if (!open.empty()) fail("<" + markup.elements[open.back()].name + "> is never closed");
  }
};

}  // namespace

std::size_t Markup::count(std::string_view name, std::string_view css_class) const {
  return static_cast<std::size_t>(std::ranges::count_if(elements, [&](const Element& element) {
    if (element.name != name) return false;
    if (css_class.empty()) return true;
    const auto found = element.attributes.find("class");
    return found != element.attributes.end() &&
           (" " + found->second + " ").find(" " + std::string(css_class) + " ") != std::string::npos;
  }));
}

Markup read_markup(std::string_view text) {
  Reader reader{text, 0, {}, {}};
  reader.read();
  return reader.markup;
}

}  // namespace tilewright
