#include "tilewright/agents/sobol.hpp"

#include <algorithm>
#include <bit>

#include "tilewright/base/rng.hpp"

namespace tilewright {
namespace {

constexpr std::size_t kBits = 32;
constexpr std::size_t kAskedAtOnce = 64;
constexpr std::size_t kCandidates = 24;
constexpr std::array<std::size_t, 3> kNetSizes = {6, 8, 10};  // logarithms of how many members a pair is judged by

using Directions = std::array<std::uint32_t, kBits>;  // entry k is what digit k of the index adds

// True when the powers of x modulo the polynomial (bit k = coefficient of x^k) run through everything before they are 1
// again.
bool is_primitive(std::uint32_t polynomial) {
  const auto degree = static_cast<unsigned>(std::bit_width(polynomial)) - 1;
  const std::uint32_t all = (1u << degree) - 1;
  std::uint32_t power = 1;
  for (std::uint32_t exponent = 1; exponent <= all; ++exponent) {
    power <<= 1;
    if (power >> degree & 1) power ^= polynomial;
    if (power == 1) return exponent == all;
  }
  return false;
}

std::vector<std::uint32_t> primitive_polynomials(std::size_t count) {
  std::vector<std::uint32_t> polynomials;
  for (std::uint32_t candidate = 3; polynomials.size() < count; candidate += 2) {
    if (is_primitive(candidate)) polynomials.push_back(candidate);
  }
  return polynomials;
}

Directions directions_from(std::uint32_t polynomial, const std::vector<std::uint32_t>& initial) {
  const std::size_t degree = initial.size();
  Directions directions{};
  for (std::size_t k = 0; k < kBits; ++k) {
    if (k < degree) {
      directions[k] = initial[k] << (kBits - 1 - k);
      continue;
    }
    std::uint32_t value = directions[k - degree] ^ (directions[k - degree] >> degree);
    for (std::size_t j = 1; j < degree; ++j) {
      if (polynomial >> (degree - j) & 1) value ^= directions[k - j];
    }
    directions[k] = value;
  }
  return directions;
}

// Line r of the generator matrix: digit r of a member as a function of the index's first `size` digits.
std::uint32_t generator_line(const Directions& directions, std::size_t r, std::size_t size) {
  std::uint32_t line = 0;
  for (std::size_t k = 0; k < size; ++k) line |= (directions[k] >> (kBits - 1 - r) & 1u) << k;
  return line;
}

// Adds a line to a basis over GF(2); false when it depends on those that are there.
bool add_to_basis(std::array<std::uint32_t, kBits>& basis, std::uint32_t line) {
  while (line != 0) {
    std::uint32_t& pivot = basis[static_cast<std::size_t>(std::bit_width(line)) - 1];
    if (pivot == 0) {
      pivot = line;
      return true;
    }
    line ^= pivot;
  }
  return false;
}

// t of the net of two dimensions: every box of 2^(t - size) of the square, cut at binary places, has exactly 2^t of 2^size
// members. By linear algebra: the first a lines of one matrix and b of the other are independent whenever a + b = size - t.
std::size_t net_quality(const Directions& x, const Directions& y, std::size_t size) {
  std::size_t independent = size;
  for (std::size_t a = 0; a <= size; ++a) {
    std::array<std::uint32_t, kBits> basis{};
    std::size_t rank = 0;
    while (rank < a && add_to_basis(basis, generator_line(x, rank, size))) ++rank;
    if (rank < a) {
      independent = std::min(independent, rank);
      break;
    }
    std::size_t b = 0;
    while (a + b < size && add_to_basis(basis, generator_line(y, b, size))) ++b;
    if (a + b < size) independent = std::min(independent, a + b);
  }
  return size - independent;
}

std::vector<Directions> chosen_directions() {
  const std::vector<std::uint32_t> polynomials = primitive_polynomials(kSobolDimensions - 1);
  Rng rng(1, "sobol/directions");  // one table for ever: seeds shift it
  std::vector<Directions> table;
  Directions first{};
  for (std::size_t k = 0; k < kBits; ++k) first[k] = 1u << (kBits - 1 - k);
  table.push_back(first);  // digits in reverse: van der Corput's sequence
  for (const std::uint32_t polynomial : polynomials) {
    const auto degree = static_cast<std::size_t>(std::bit_width(polynomial)) - 1;
    Directions best{};
    std::uint64_t best_sum = ~std::uint64_t{0};
    for (std::size_t candidate = 0; candidate < kCandidates; ++candidate) {
      std::vector<std::uint32_t> initial;
      for (std::size_t k = 0; k < degree; ++k) initial.push_back(2 * static_cast<std::uint32_t>(rng.below(1 << k)) + 1);
      const Directions directions = directions_from(polynomial, initial);
      std::uint64_t sum = 0;
      for (const Directions& before : table) {
        for (const std::size_t size : kNetSizes) sum += std::uint64_t{1} << net_quality(before, directions, size);
      }
      if (sum < best_sum) best_sum = sum, best = directions;
    }
    table.push_back(best);
  }
  return table;
}

const std::vector<Directions>& direction_table() {
  static const std::vector<Directions> table = chosen_directions();
  return table;
}

class SobolSearcher final : public PointSearcher {
 public:
  SobolSearcher(const DesignSpace& space, std::uint64_t seed) : space_(space), sequence_(seed), rng_(seed, "sobol/rest") {}

  void ask(std::size_t most, std::vector<Point>& points) override {
    for (std::size_t i = 0; i < std::min(most, kAskedAtOnce); ++i) points.push_back(next());
  }
  void tell(std::span<const Point>, std::span<const Verdict>) override {}
  void notice(std::span<const Point>, std::span<const Verdict>) override {}  // a sequence goes its way

 private:
  Point next() {
    Point point(space_.parameters().size());
    for (std::size_t parameter = 0; parameter < point.size(); ++parameter) {
      space_.choices(point, parameter, choices_);
      const auto count = static_cast<std::uint64_t>(choices_.count());
      const std::uint64_t digits =
          parameter < kSobolDimensions ? sequence_.at(index_, parameter) : rng_.bits() >> (64 - kBits);
      point[parameter] = choices_[static_cast<std::int32_t>(digits * count >> kBits)];
    }
    ++index_;
    space_.canonicalise(point);
    return point;
  }

  const DesignSpace& space_;
  SobolSequence sequence_;
  Rng rng_;
  Choices choices_;
  std::uint32_t index_ = 0;
};

}  // namespace

SobolSequence::SobolSequence(std::uint64_t seed) {
  Rng rng(seed, "sobol/shift");
  for (std::uint32_t& shift : shifts_) shift = static_cast<std::uint32_t>(rng.bits() >> (64 - kBits));
}

std::uint32_t SobolSequence::at(std::uint32_t index, std::size_t dimension) const {
  const Directions& directions = direction_table()[dimension];
  std::uint32_t digits = shifts_[dimension];
  for (; index != 0; index &= index - 1) digits ^= directions[static_cast<std::size_t>(std::countr_zero(index))];
  return digits;
}

std::unique_ptr<PointSearcher> make_sobol(const DesignSpace& space, std::uint64_t seed) {
  return std::make_unique<SobolSearcher>(space, seed);
}

}  // namespace tilewright
