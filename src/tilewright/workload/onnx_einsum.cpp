// Einsum as a matrix product. Every letter of "bij,bjk->bik" has one of four parts:
//
//   in left, right and result   batch          in left and result    row
//   in left and right           inner          in right and result   column
//
// A letter twice in one term (a diagonal) or in a single term only (a sum over one side) makes it something else.
#include <algorithm>
#include <map>

#include "tilewright/workload/onnx_products.hpp"

namespace tilewright::onnx_file {
namespace {

struct Equation {
  std::vector<std::string> terms;
  std::string result;
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// "..." becomes this many of the characters '0', '1', …, which no letter uses: the last is the innermost axis.
std::optional<std::string> expanded(const std::string& term, std::size_t rank) {
  constexpr std::size_t kMostDots = 9;
  const std::size_t dots = term.find("...");
  if (!std::ranges::all_of(term, [](char c) { return is_letter(c) || c == '.'; })) return std::nullopt;
  if (dots == std::string::npos) return term.size() == rank ? std::optional(term) : std::nullopt;
  if (term.size() - 3 > rank || rank - (term.size() - 3) > kMostDots) return std::nullopt;
  if (term.find('.', dots + 3) != std::string::npos) return std::nullopt;
  std::string axes;
  for (std::size_t left = rank - (term.size() - 3); left > 0; --left) axes.push_back(static_cast<char>('0' + left));
  return term.substr(0, dots) + axes + term.substr(dots + 3);
}

std::optional<Equation> parse(std::string equation, const NodeView& view) {
  std::erase(equation, ' ');
  const std::size_t arrow = equation.find("->");
  const std::string left = equation.substr(0, arrow);
  Equation parsed;
  std::string all_axes;
  std::map<char, int> uses;
  for (std::size_t begin = 0, input = 0; begin <= left.size(); ++input) {
    const std::size_t end = std::min(left.find(',', begin), left.size());
    const Dims* shape = view.shape(input);
    if (shape == nullptr) return std::nullopt;
    const auto term = expanded(left.substr(begin, end - begin), shape->size());
    if (!term) return std::nullopt;
    for (const char c : *term) ++uses[c];
    parsed.terms.push_back(*term);
    begin = end + 1;
  }
  if (parsed.terms.size() != view.node.inputs.size()) return std::nullopt;
  std::string dots;
  for (const auto& [axis, count] : uses) {
    if (!is_letter(axis)) dots.insert(dots.begin(), axis);
    if (is_letter(axis) && count == 1) parsed.result.push_back(axis);  // without an arrow: letters that occur once, sorted
  }
  if (arrow == std::string::npos) {
    parsed.result = dots + parsed.result;
    return parsed;
  }
  parsed.result = equation.substr(arrow + 2);
  const std::size_t at = parsed.result.find("...");
  if (at != std::string::npos) parsed.result.replace(at, 3, dots);
  return parsed;
}

std::optional<std::map<char, std::int64_t>> sizes_of(const Equation& equation, const NodeView& view) {
  std::map<char, std::int64_t> sizes;
  for (std::size_t input = 0; input < equation.terms.size(); ++input) {
    for (std::size_t axis = 0; axis < equation.terms[input].size(); ++axis) {
      const char letter = equation.terms[input][axis];
      const std::int64_t size = (*view.shape(input))[axis];
      const auto [place, is_new] = sizes.emplace(letter, size);
      if (is_new || place->second == size || size == 1) continue;
      if (place->second != kUnknown && place->second != 1 && size != kUnknown) return std::nullopt;
      if (place->second == 1 || place->second == kUnknown) place->second = size;
    }
  }
  return sizes;
}

bool has_repeats(std::string term) {
  std::ranges::sort(term);
  return std::ranges::adjacent_find(term) != term.end();
}

}  // namespace

std::optional<Products> einsum_products(const NodeView& view) {
  const auto equation = parse(text(view.node, "equation"), view);
  if (!equation) return std::nullopt;
  const auto sizes = sizes_of(*equation, view);
  if (!sizes) return std::nullopt;
  Products products;
  products.out.emplace();
  for (const char letter : equation->result) {
    const auto size = sizes->find(letter);
    if (size == sizes->end()) return std::nullopt;
    products.out->push_back(size->second);
  }
  // As plain loops over all letters: one multiplication per term after the first, one addition if a letter is summed over.
  Dims loops;
  bool has_sum = false;
  for (const auto& [letter, size] : *sizes) {
    loops.push_back(size);
    has_sum = has_sum || equation->result.find(letter) == std::string::npos;
  }
  products.operations = times(product(loops), static_cast<std::int64_t>(equation->terms.size()) - (has_sum ? 0 : 1));
  products.macs = has_sum ? times(product(loops), static_cast<std::int64_t>(equation->terms.size()) - 1) : 0;
  if (equation->terms.size() != 2 || has_repeats(equation->terms[0]) || has_repeats(equation->terms[1])) return products;
  // The weight plays the right side, wherever the equation has it.
  const bool is_turned = view.input(0)->fixed && !view.input(1)->fixed;
  const std::string& left = equation->terms[is_turned ? 1 : 0];
  const std::string& right = equation->terms[is_turned ? 0 : 1];
  Product result;
  result.rows = result.inner = result.columns = 1;
  bool has_inner = false;
  for (const auto& [letter, size] : *sizes) {
    const bool in_left = left.find(letter) != std::string::npos;
    const bool in_right = right.find(letter) != std::string::npos;
    const bool in_result = equation->result.find(letter) != std::string::npos;
    if (!in_result && in_left != in_right && size != 1) return products;
    if (!in_result) {
      result.inner = times(result.inner, size);
      has_inner = has_inner || (in_left && in_right);
    } else if (in_left && in_right) {
      result.batch = times(result.batch, size);
    } else {
      std::int64_t& side = in_left ? result.rows : result.columns;
      side = times(side, size);
    }
  }
  if (!has_inner) return products;
  result.right_inner = result.inner;
  products.products.push_back(result);
  return products;
}

}  // namespace tilewright::onnx_file
