#include "tilewright/base/json_difference.hpp"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Json = nlohmann::json;

TEST(JsonDifference, IsSaidLeafByLeaf) {
  const Json is = Json::parse(R"({"a": 1, "b": [1, {"c": "x"}], "d": null})");
  EXPECT_THAT(differences(is, is), IsEmpty());
  EXPECT_THAT(differences(is, Json::parse(R"({"d": null, "b": [1.0, {"c": "x"}], "a": 1.0})")), IsEmpty());
  EXPECT_THAT(differences(is, Json::parse(R"({"a": 2, "b": [1, {"c": 3}], "e": 0})")),
              ElementsAre("/a is 1, the file says 2", "/b/1/c is \"x\", the file says 3",
                          "/d is null, the file has nothing there", "/e should not be there, the file says 0"));
  EXPECT_THAT(differences(is, Json::parse(R"({"a": 1, "b": [], "d": null})")),
              ElementsAre("/b is [1,{\"c\":\"x\"}], the file says []"));
}

}  // namespace
}  // namespace tilewright
