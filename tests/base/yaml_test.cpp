#include "tilewright/base/yaml.hpp"

#include <fmt/format.h>

namespace tilewright {
namespace {

TEST(Yaml, KeepsOrderAndLines) {
  const auto root = parse_yaml("b: 1\na:\n  - x\n  - {k: 2}\n", "f.yaml");
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(root->fields[0].first, "b");
  EXPECT_EQ(root->fields[1].second.items[1].find("k")->line, 4);
  EXPECT_EQ(root->fields[1].second.items[1].integer("k").value(), 2);
}

TEST(Yaml, SentencesNameFileLineFindingAndExpectation) {
  const auto root = parse_yaml("name: x\nstride: two\nkernl: 3\n", "net.yaml");
  ASSERT_TRUE(root);
  EXPECT_EQ(root->integer("stride").error().message, "net.yaml:2: 'stride' is 'two', expected a whole number");
  EXPECT_EQ(root->only_keys({"name", "stride", "kernel"}).error().message,
            "net.yaml:3: 'kernl' is not a known field (did you mean 'kernel'?)");
  EXPECT_EQ(root->text("label").error().message, "net.yaml:1: 'label' is missing, expected it here");
}

TEST(Yaml, DuplicateFieldsAreAnError) { EXPECT_FALSE(parse_yaml("a: 1\na: 2\n", "f.yaml")); }

TEST(Yaml, HostileTextIsAnErrorNotACrash) {
  EXPECT_FALSE(parse_yaml(std::string(100000, '['), "f.yaml"));
  EXPECT_FALSE(parse_yaml("a: &a [1]\nb: *c\n", "f.yaml"));
  std::string bomb = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string alias = fmt::format("*a{}", i - 1);
    const std::vector<std::string> ten(10, alias);
    bomb += fmt::format("a{0}: &a{0} [{1}]\n", i, fmt::join(ten, ","));
  }
  EXPECT_FALSE(parse_yaml(bomb, "f.yaml"));
}

TEST(Yaml, TheFormatFieldIsChecked) {
  EXPECT_TRUE(parse_yaml_document("format: f-1\n", "f.yaml", "f-1"));
  EXPECT_EQ(parse_yaml_document("format: f-2\n", "f.yaml", "f-1").error().message,
            "f.yaml:1: format is 'f-2', expected 'f-1'");
  EXPECT_FALSE(parse_yaml_document("[]", "f.yaml", "f-1"));
}

TEST(Yaml, ScalarsAreQuotedWhenNeeded) {
  for (const std::string text : {"plain", "Y'", "a: b", "# no comment", "", "- x", "true\nfalse"}) {
    const auto back = parse_yaml("v: " + yaml_scalar(text) + "\n", "f.yaml");
    ASSERT_TRUE(back) << text;
    EXPECT_EQ(back->text("v").value(), text);
  }
}

}  // namespace
}  // namespace tilewright
