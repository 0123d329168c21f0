#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_mappings.hpp"
#include "tilewright/space/archgym_space.hpp"
#include "tilewright/space/codesign_space.hpp"
#include "tilewright/space/mapping_key.hpp"

namespace tilewright {
namespace {

// Every canonical point comes back from the bytes it is stored as.
void expect_round_trips(const DesignSpace& space) {
  Rng rng(3, "designs");
  for (int n = 0; n < 200; ++n) {
    const Point point = random_point(space, rng);
    std::string bytes;
    space.append_design(point, bytes);
    const auto back = space.point_of_design(bytes);
    ASSERT_TRUE(back) << space.name() << ": " << space.design_text(bytes);
    std::string again;
    space.append_design(*back, again);
    ASSERT_EQ(again, bytes);
    ASSERT_EQ(space.evaluator()->evaluate(*back), space.evaluator()->evaluate(point));
    ASSERT_FALSE(space.design_text(bytes).empty());
    ASSERT_FALSE(space.point_of_design(bytes + "x"));
    ASSERT_FALSE(space.point_of_design(std::string_view(bytes).substr(1)));
  }
}

TEST(DesignPoints, OfMappingsOfEveryKind) {
  for (const NamedNest& layer : all_kinds()) {
    for (const Tiles tiles : {Tiles::Any, Tiles::Divisors}) {
      expect_round_trips(MappingSpace(layer.name, layer.nest, machine(), options_of(tiles, 2, 2)));
      expect_round_trips(MappingSpace(layer.name, layer.nest, machine(), options_of(tiles, 1, 3, true)));
    }
  }
}

TEST(DesignPoints, OfTheGym) {
  for (const NamedNest& layer : all_kinds()) expect_round_trips(ArchgymSpace(layer.name, layer.nest, machine(), {}));
}

TEST(DesignPoints, OfMachinesAndSchedules) {
  ConvolutionShape shape{.out_channels = 128, .in_channels = 64, .in_height = 14, .in_width = 14};
  shape.kernel_height = shape.kernel_width = 3;
  CodesignSpaceOptions options;
  options.search_buffers = true;
  const CodesignSpace space("layer", convolution("layer", shape), options);
  expect_round_trips(space);
  options.search_buffers = false;
  Rng rng(1, "other");
  std::string bytes;
  space.append_design(Point(space.parameters().size(), 0), bytes);
  EXPECT_FALSE(CodesignSpace("layer", convolution("layer", shape), options).point_of_design(bytes))
      << "small buffers are no choice of the other space";
}

TEST(DesignPoints, BytesThatAreNoDesign) {
  EXPECT_FALSE(mapping_design(""));
  EXPECT_FALSE(mapping_design("\x01\x7f"));
  EXPECT_FALSE(mapping_design(std::string(40, '\xff')));
}

}  // namespace
}  // namespace tilewright
