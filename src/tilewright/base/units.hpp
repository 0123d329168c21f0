// Quantities that know their unit. Adding cycles to bytes does not compile; `.value` leaves the unit behind on purpose.
#pragma once

#include <compare>
#include <cstdint>

namespace tilewright {

template <typename Tag, typename Number>
struct Quantity {
  using number = Number;
  Number value{};

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity& operator+=(Quantity other) { return value += other.value, *this; }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return {a.value + b.value}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return {a.value - b.value}; }
  friend constexpr Quantity operator*(Quantity a, Number factor) { return {a.value * factor}; }
  friend constexpr Quantity operator*(Number factor, Quantity a) { return {factor * a.value}; }
  friend constexpr double operator/(Quantity a, Quantity b) {
    return static_cast<double>(a.value) / static_cast<double>(b.value);
  }
};

using Cycles = Quantity<struct CyclesTag, std::int64_t>;
using Bytes = Quantity<struct BytesTag, std::int64_t>;
using Elements = Quantity<struct ElementsTag, std::int64_t>;  // entries of a tensor; one byte each in the cost models
using Macs = Quantity<struct MacsTag, std::int64_t>;
using Picojoules = Quantity<struct PicojoulesTag, double>;
using Nanojoules = Quantity<struct NanojoulesTag, double>;
using SquareMicrometres = Quantity<struct SquareMicrometresTag, double>;
using Milliwatts = Quantity<struct MilliwattsTag, double>;

}  // namespace tilewright
