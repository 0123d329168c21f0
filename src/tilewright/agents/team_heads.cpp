#include "tilewright/agents/team_heads.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "tilewright/base/bisect.hpp"

namespace tilewright {
namespace {

// More categories than choices, all loop orders by their number, say: neighbours share a choice.
bool is_numbered(const Parameter& parameter) { return parameter.value_count > static_cast<int>(kCoarseChoices); }

std::size_t head_size(const Parameter& parameter) {
  if (parameter.kind == ParameterKind::Categorical) return is_numbered(parameter) ? kFineChoices : kCoarseChoices;
  return parameter.role == Role::Order ? kCoarseChoices : kFineChoices;
}

// The choice of each value, which never falls from one value of an ordinal or numbered parameter to the next: the nearest
// place between the least value and the largest, but never one for two values as long as there are enough.
class ChoiceOfValue {
 public:
  ChoiceOfValue(const DesignSpace& space, std::size_t parameter, std::size_t size)
      : space_(space),
        parameter_(parameter),
        declared_(space.parameters()[parameter]),
        size_(static_cast<std::int32_t>(size)),
        least_(position(0)),
        span_(position(declared_.value_count - 1) - least_) {
    if (is_ordinal() && declared_.value_count <= size_) place_apart();
  }

  std::int32_t operator()(std::int32_t value) const {
    if (!apart_.empty()) return apart_[static_cast<std::size_t>(value)];
    if (is_ordinal()) return nearest_place(value);
    if (is_numbered(declared_)) return static_cast<std::int32_t>(std::int64_t{value} * size_ / declared_.value_count);
    return static_cast<std::int32_t>(space_.value(parameter_, value));
  }
  bool is_ascending() const { return is_ordinal() || is_numbered(declared_); }

 private:
  bool is_ordinal() const { return declared_.kind == ParameterKind::Ordinal; }

  double position(std::int32_t index) const {
    const double value = space_.value(parameter_, index);
    return declared_.role == Role::Order ? value : std::log(std::max(1e-9, value));
  }

  std::int32_t nearest_place(std::int32_t value) const {
    const double place = span_ > 0 ? (position(value) - least_) / span_ : 0;
    return static_cast<std::int32_t>(std::lround(place * (size_ - 1)));
  }

  void place_apart() {
    std::int32_t before = -1;
    for (std::int32_t value = 0; value < declared_.value_count; ++value) {
      const std::int32_t left = declared_.value_count - value - 1;
      before = std::clamp(nearest_place(value), before + 1, size_ - 1 - left);
      apart_.push_back(before);
    }
  }

  const DesignSpace& space_;
  std::size_t parameter_;
  const Parameter& declared_;
  std::int32_t size_;
  double least_, span_;
  std::vector<std::int32_t> apart_;
};

// The values of each choice, first … last; none where last is below first. There may be millions of values.
std::vector<TeamHeads::Values> values_of_choices(const DesignSpace& space, std::size_t parameter, std::size_t size) {
  const ChoiceOfValue choice_of(space, parameter, size);
  const std::int32_t count = space.parameters()[parameter].value_count;
  std::vector<TeamHeads::Values> values(size, {0, -1});
  for (std::int32_t value = 0; value < count;) {
    const std::int32_t choice = choice_of(value);
    const std::int32_t next = choice_of.is_ascending()
                                  ? first_where(value + 1, count, [&](std::int32_t v) { return choice_of(v) != choice; })
                                  : value + 1;
    TW_ASSERT(choice >= 0 && static_cast<std::size_t>(choice) < size);
    TeamHeads::Values& of_choice = values[static_cast<std::size_t>(choice)];
    if (of_choice.last < of_choice.first) of_choice.first = value;
    of_choice.last = next - 1;
    value = next;
  }
  return values;
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
    auto& of_choices = values_.emplace_back();
    auto& mask = masks_.emplace_back(choices_, 0.0F);
    for (std::size_t head = 0; head < heads_.size(); ++head) {
      const auto found = place.find(names[head]);
      places.push_back(found == place.end() ? -1 : found->second);
      if (found == place.end()) {
        of_choices.emplace_back(heads_[head].size, Values{0, -1});
        mask[heads_[head].offset] = 1;
        continue;
      }
      of_choices.push_back(values_of_choices(*space, static_cast<std::size_t>(found->second), heads_[head].size));
      for (std::size_t choice = 0; choice < heads_[head].size; ++choice) {
        const Values& values = of_choices.back()[choice];
        if (values.first <= values.last) mask[heads_[head].offset + choice] = 1;
      }
    }
  }
}

TeamHeads::Values TeamHeads::values(std::size_t problem, std::size_t head, std::size_t choice) const {
  return values_[problem][head][choice];
}

std::size_t TeamHeads::choice_of(std::size_t problem, std::size_t head, std::int32_t value) const {
  const std::vector<Values>& values = values_[problem][head];
  const auto found =
      std::ranges::find_if(values, [&](const Values& each) { return each.first <= value && value <= each.last; });
  TW_ASSERT(found != values.end());
  return static_cast<std::size_t>(found - values.begin());
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
