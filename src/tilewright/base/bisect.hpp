// Bisection over whole numbers.
#pragma once

namespace tilewright {

// The first of first … last - 1 at which `holds`, or `last` when it holds at none. Once it holds, it has to go on holding.
template <typename Integer, typename Holds>
Integer first_where(Integer first, Integer last, Holds holds) {
  while (first < last) {
    const Integer middle = first + (last - first) / 2;
    if (holds(middle)) {
      last = middle;
    } else {
      first = middle + 1;
    }
  }
  return first;
}

}  // namespace tilewright
