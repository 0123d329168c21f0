// A design space: the one declared set of named, finite parameters that every searcher uses for a problem.
//
// A point holds the index of one value per parameter. Parameters are decided in their order: which values of a parameter are
// legal (`choices`) depends on the entries before it only, and there is always at least one. So a walk from the first
// parameter to the last, taking any legal value each time, reaches every legal point and nothing else.
//
// Spaces of one family (the mapping spaces of all layers, say) give the same name to parameters of the same meaning, so that
// what is learned in one can be used in another.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/rng.hpp"
#include "tilewright/space/choices.hpp"
#include "tilewright/space/outcome.hpp"

namespace tilewright {

enum class ParameterKind : std::uint8_t {
  Ordinal,      // neighbouring indices mean similar things
  Categorical,  // they do not
};

enum class Role : std::uint8_t { Parallelism, Order, Tile, Hardware, Scheduling };
std::string_view name_of(Role role);  // "parallelism", "order", "tile", "hardware", "scheduling"

struct Parameter {
  std::string name;  // "tile.K@0"
  ParameterKind kind = ParameterKind::Ordinal;
  Role role = Role::Tile;
  std::int32_t value_count = 1;
};

using Point = std::vector<std::int32_t>;
using PointView = std::span<const std::int32_t>;

// Belongs to one thread; evaluate is a pure function of the point.
class PointEvaluator {
 public:
  virtual ~PointEvaluator() = default;
  virtual Outcome evaluate(PointView legal_point) = 0;
};

class DesignSpace {
 public:
  virtual ~DesignSpace() = default;

  virtual const std::string& name() const = 0;  // of the problem: "resnet18/layer1.0.conv1"
  virtual const std::vector<Parameter>& parameters() const = 0;

  // Legal values of `parameter`, given the entries of `point` before it.
  virtual void choices(PointView point, std::size_t parameter, Choices& choices) const = 0;

  // What an index stands for: the number itself for ordinal parameters (a tile size); for categorical ones a small whole
  // number that names the category in all spaces of the family.
  virtual double value(std::size_t parameter, std::int32_t index) const = 0;
  virtual std::string value_name(std::size_t parameter, std::int32_t index) const = 0;

  // Gives points of the same meaning the same spelling. The point stays legal.
  virtual void canonicalise(std::span<std::int32_t> point) const = 0;

  virtual std::unique_ptr<PointEvaluator> evaluator() const = 0;
  virtual std::string reason_name(std::uint8_t reason) const = 0;  // of Outcome::reason: "l1-overflow"

  // Numbers of about unit size that describe the problem to a policy; equally many in all spaces of a family.
  virtual const std::vector<float>& features() const = 0;

  // Bytes that are equal for two points, of any space with the same problem_key, when they mean the same design.
  virtual void append_design(PointView point, std::string& bytes) const = 0;
  // Back from those bytes: the canonical point, if the space has one (another space of the same problem may), and a line for
  // people.
  virtual std::optional<Point> point_of_design(std::string_view) const { return std::nullopt; }
  virtual std::string design_text(std::string_view) const { return ""; }
  // Changes with everything an Outcome depends on besides the design: problem, machine, model and its version.
  virtual std::uint64_t problem_key() const = 0;
  virtual std::string problem_text() const = 0;  // the same for people, as JSON

  // Decimal logarithm of the number of points, before constraints that depend on several tiles at once prune it.
  virtual double log10_size() const = 0;
};

bool is_legal(const DesignSpace& space, PointView point);

// Replaces each illegal entry, in order, by the legal one nearest to it, and canonicalises. A legal canonical point stays.
void repair(const DesignSpace& space, std::span<std::int32_t> point);

// Each parameter in order, uniformly among its legal values; canonical.
Point random_point(const DesignSpace& space, Rng& rng);

// 64 bits of a canonical point, for telling seen points from new ones.
std::uint64_t hash_of(PointView point);

}  // namespace tilewright
