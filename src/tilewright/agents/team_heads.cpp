#include "tilewright/agents/team_heads.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace tilewright {
namespace {

// More categories than choices, all loop orders by their number, say: neighbours share a choice.
bool is_numbered(const Parameter& parameter) { return parameter.value_count > static_cast<int>(kCoarseChoices); }

std::size_t head_size(const Parameter& parameter) {
  if (parameter.kind == ParameterKind::Categorical) return is_numbered(parameter) ? kFineChoices : kCoarseChoices;
  return parameter.role == Role::Order ? kCoarseChoices : kFineChoices;
}

// Where the values of an ordinal parameter lie between 0 and 1.
std::vector<double> positions_of(const DesignSpace& space, std::size_t parameter) {
  const Parameter& declared = space.parameters()[parameter];
  const bool logarithmic = declared.role != Role::Order;
  std::vector<double> positions;
  for (std::int32_t i = 0; i < declared.value_count; ++i) {
    const double value = space.value(parameter, i);
    positions.push_back(logarithmic ? std::log(std::max(1e-9, value)) : value);
  }
  const double least = positions.front(), span = positions.back() - least;
  for (double& position : positions) position = span > 0 ? (position - least) / span : 0;
  return positions;
}

// The choice of each value: the nearest place, but never one for two values as long as there are enough.
std::vector<std::int32_t> choices_of(const DesignSpace& space, std::size_t parameter, std::size_t size) {
  const Parameter& declared = space.parameters()[parameter];
  const std::int32_t count = declared.value_count;
  std::vector<std::int32_t> choices;
  if (declared.kind == ParameterKind::Categorical) {
    for (std::int32_t i = 0; i < count; ++i) {
      const bool numbered = is_numbered(declared);
      choices.push_back(numbered ? i * static_cast<std::int32_t>(size) / count
                                 : static_cast<std::int32_t>(space.value(parameter, i)));
    }
    return choices;
  }
  const auto last = static_cast<std::int32_t>(size) - 1;
  std::int32_t before = -1;
  for (const double position : positions_of(space, parameter)) {
    auto choice = static_cast<std::int32_t>(std::lround(position * last));
    const auto left = count - static_cast<std::int32_t>(choices.size()) - 1;
    if (count <= last + 1) choice = std::clamp(choice, before + 1, last - left);
    choices.push_back(choice);
    before = choice;
  }
  return choices;
}

}  // namespace

TeamHeads::TeamHeads(const std::vector<const DesignSpace*>& spaces, const std::vector<Parameter>& parameters,
                     const AgentAssignment& assignment) {
  std::map<std::string, const Parameter*> declared;
  for (const Parameter& parameter : parameters) declared[parameter.name] = &parameter;
  std::vector<std::string> names;
  for (const auto& agent : assignment.agents) {
    ActionSpace actions;
    for (const std::string& name : agent) {
      const auto found = declared.find(name);
      if (found == declared.end()) continue;
      const std::size_t size = head_size(*found->second);
      const bool ordinal = found->second->kind == ParameterKind::Ordinal;
      heads_.push_back({spaces_of_agents_.size(), choices_, size, ordinal});
      names.push_back(name);
      actions.categorical.push_back(size);
      choices_ += size;
      code_size_ += ordinal ? 1 : size;
    }
    if (!actions.categorical.empty()) spaces_of_agents_.push_back(std::move(actions));
  }
  for (const DesignSpace* space : spaces) {
    std::map<std::string, std::int32_t> place;
    for (std::size_t i = 0; i < space->parameters().size(); ++i) place[space->parameters()[i].name] = static_cast<int>(i);
    auto& places = places_.emplace_back();
    auto& of_values = choice_of_.emplace_back();
    auto& of_choices = values_.emplace_back();
    auto& mask = masks_.emplace_back(choices_, 0.0F);
    for (std::size_t head = 0; head < heads_.size(); ++head) {
      const auto found = place.find(names[head]);
      places.push_back(found == place.end() ? -1 : found->second);
      of_values.emplace_back();
      of_choices.emplace_back(heads_[head].size, Values{0, -1});
      if (found == place.end()) {
        mask[heads_[head].offset] = 1;
        continue;
      }
      of_values.back() = choices_of(*space, static_cast<std::size_t>(found->second), heads_[head].size);
      for (std::size_t value = 0; value < of_values.back().size(); ++value) {
        const auto choice = static_cast<std::size_t>(of_values.back()[value]);
        TW_ASSERT(choice < heads_[head].size);
        Values& values = of_choices.back()[choice];
        if (values.last < values.first) values.first = static_cast<std::int32_t>(value);
        values.last = static_cast<std::int32_t>(value);
        mask[heads_[head].offset + choice] = 1;
      }
    }
  }
}

TeamHeads::Values TeamHeads::values(std::size_t problem, std::size_t head, std::size_t choice) const {
  return values_[problem][head][choice];
}

std::size_t TeamHeads::choice_of(std::size_t problem, std::size_t head, std::int32_t value) const {
  return static_cast<std::size_t>(choice_of_[problem][head][static_cast<std::size_t>(value)]);
}

void TeamHeads::encode(std::size_t problem, PointView point, std::span<float> code) const {
  std::size_t column = 0;
  for (std::size_t head = 0; head < heads_.size(); ++head) {
    const Head& declared = heads_[head];
    const std::int32_t place = places_[problem][head];
    const std::size_t width = declared.ordinal ? 1 : declared.size;
    std::fill_n(code.begin() + static_cast<std::ptrdiff_t>(column), width, 0.0F);
    if (place >= 0) {
      const std::size_t choice = choice_of(problem, head, point[static_cast<std::size_t>(place)]);
      if (declared.ordinal) {
        code[column] = static_cast<float>(choice) / static_cast<float>(declared.size - 1);
      } else {
        code[column + choice] = 1;
      }
    }
    column += width;
  }
}

}  // namespace tilewright
