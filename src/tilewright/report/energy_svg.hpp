// Energy by part and utilisation, layer by layer: a self-contained picture, whatever the kind of machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright {

struct EnergyPicture {
  struct Row {
    std::string layer;
    std::int64_t count = 1;
    double microjoules = 0;     // of all copies of the layer
    std::vector<double> parts;  // of them; none where the layer has no cost
    double utilisation = 0;     // 0 … 1
    std::string failure = {};   // why it has none
  };
  std::string title;
  double milliseconds = 0;         // of one inference
  std::vector<std::string> parts;  // what they are called
  std::vector<Row> rows;
};

std::string to_svg(const EnergyPicture& picture);

}  // namespace tilewright
