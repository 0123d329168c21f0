#include "tilewright/base/seal.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::json;

const nlohmann::ordered_json kDocument{{"name", "caf\xe9"}, {"list", {1, 2.5, -0.0, 1e300}}, {"deep", {{"a", nullptr}}}};

TEST(Seal, HoldsForWhatWasWrittenWhateverItsOrder) {
  const Json document = Json::parse(sealed(kDocument, 1));
  EXPECT_FALSE(broken_seal(document));
  EXPECT_FALSE(broken_seal(Json::parse(document.dump())));  // other order, other spaces
  EXPECT_EQ(sealed(nlohmann::ordered_json::parse(sealed(kDocument, 1)), 1), sealed(kDocument, 1));
}

TEST(Seal, BreaksWithEveryLeaf) {
  const Json document = Json::parse(sealed(kDocument, 1));
  const Json flat = document.flatten();
  for (const auto& [path, value] : flat.items()) {
    Json other = document;
    other[Json::json_pointer(path)] = "other";
    EXPECT_TRUE(broken_seal(other)) << path;
    if (!other[Json::json_pointer(path).parent_pointer()].is_object()) continue;
    other = document;
    other[Json::json_pointer(path).parent_pointer()].erase(Json::json_pointer(path).back());
    EXPECT_TRUE(broken_seal(other)) << path;
  }
}

}  // namespace
}  // namespace tilewright
