#include "tilewright/base/result.hpp"

#include "tilewright/base/units.hpp"

namespace tilewright {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return invalid("number is odd, expected an even one");
  return number / 2;
}

Result<int> quarter(int number) {
  TW_TRY(const int halved, half(number));
  return half(halved);
}

TEST(Result, TryPassesValuesOnAndErrorsUp) {
  EXPECT_EQ(quarter(12).value(), 3);
  ASSERT_FALSE(quarter(6));
  EXPECT_EQ(quarter(6).error().message, "number is odd, expected an even one");
  EXPECT_EQ(quarter(6).error().code, ErrorCode::InvalidInput);
}

TEST(Units, QuantitiesAddAndCompareWithinTheirUnit) {
  EXPECT_EQ(Cycles{2} + Cycles{3}, Cycles{5});
  EXPECT_LT(Bytes{2}, Bytes{3});
  EXPECT_EQ(3 * Cycles{2}, Cycles{6});
  EXPECT_DOUBLE_EQ(Cycles{6} / Cycles{4}, 1.5);
}

}  // namespace
}  // namespace tilewright
