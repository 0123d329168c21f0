// Quantised networks from what a user has: a network of layers (the zoo's) with seeded weights, or an ONNX model with its
// own.
#pragma once

#include <cstdint>
#include <string>

#include "tilewright/base/parallel.hpp"
#include "tilewright/workload/network.hpp"
#include "tilewright/workload/quantised_draft.hpp"

namespace tilewright {

struct QuantiseOptions {
  std::uint64_t seed = 1;   // of seeded weights and of the input that scales are chosen with
  std::int64_t batch = 1;   // images
  std::int64_t height = 0;  // of the input; 0: the network's own
  std::int64_t width = 0;
  InputRange input{};                      // what the scales are chosen for, with noise
  double saturated = 0.001;                // CalibrationOptions
  std::vector<NamedDim> dims = {};         // as ReadOptions has them
  std::filesystem::path data_folder = {};  // of external data
};

// A Network lists layers and which of them reach which; adds, pools and activations are worked out from that and from the
// shapes, and must add up, in number and arithmetic, to the operators that the Network lists beside its layers. So a network
// that is wired in another way is refused with a sentence, never built wrongly.
Result<Draft> draft_of(const Network& network, const QuantiseOptions& options);

// "zoo:resnet18", a network file (seeded weights), or an ONNX model (its own weights).
Result<Draft> read_draft(const std::string& source, const QuantiseOptions& options);
Result<QuantisedNetwork> read_quantised(const std::string& source, const QuantiseOptions& options, ThreadPool& pool);

Result<QuantisedNetwork> quantised_from_network(const Network& network, const QuantiseOptions& options, ThreadPool& pool);
Result<Draft> draft_from_onnx(const std::string& bytes, const std::string& where, const QuantiseOptions& options);
Result<QuantisedNetwork> quantised_from_onnx(const std::string& bytes, const std::string& where,
                                             const QuantiseOptions& options, ThreadPool& pool);

// The steps behind them. The wiring at the network's own resolution and batch, without weights:
Result<Draft> wired(const Network& network);
// the same for another input,
Result<Done> resize(Draft& draft, const QuantiseOptions& options);
// and with weights like those of a trained network: zero on average, with a spread that keeps activations alive.
void fill_weights(Draft& draft, std::uint64_t seed);

}  // namespace tilewright
