// Networks as machines with memory levels take them: every layer as its loops, or the one problem of a Timeloop file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/hierarchy/machine.hpp"
#include "tilewright/study/mapping_options.hpp"
#include "tilewright/workload/coverage.hpp"

namespace tilewright {

struct LoopLayer {
  std::string name;                  // printable
  std::int64_t count = 1;            // how often the network has it
  std::vector<std::string> members;  // printable names of the network's layers it stands for
  hierarchy::Problem problem;
};

struct LoopNetwork {
  std::string name;  // printable
  std::string text;  // what its checksum is of
  std::vector<LoopLayer> layers;
  Coverage coverage;  // of the network by the layers
};

enum class Alike : std::uint8_t { Together, Apart };  // layers of one shape

// The one layer, or all of them where `layer` is empty. `where` is what an Error calls the network.
Result<LoopNetwork> loop_network(const Network& network, const std::string& layer, Alike alike, const std::string& where);
// Reads it first: anything that read_network reads, or a problem of Timeloop's.
Result<LoopNetwork> read_loop_network(const MappingInputs& inputs, const std::string& layer, Alike alike);

// The machine with other widths of elements ("weights=4,inputs=8"), where there are some. `where` is what an Error calls it.
Result<hierarchy::Machine> with_bits(hierarchy::Machine machine, const std::string& bits, hierarchy::Judge judge,
                                     const std::string& where);

// Whether a YAML file has one of the keys at its top, which tell Timeloop's files. False of everything that is no such file.
Result<bool> has_top_key(const std::string& source, std::initializer_list<std::string_view> keys);

}  // namespace tilewright
