// Which transitions a mini-batch is made of. All samplers are interchangeable: they see how many transitions there are, draw
// ages (see replay.hpp), and may be told how large the errors on them were.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/base/rng.hpp"
#include "tilewright/nn/safetensors.hpp"

namespace tilewright {

enum class SamplerKind {
  Uniform,      // independent, with replacement
  Neighbor,     // up to 2n neighbours of each reference, itself left out (Algorithm 1 of arXiv 2305.13411)
  Run,          // runs of n consecutive transitions
  Prioritized,  // by squared error, with importance weights (tf2multiagentrl's form); see samplers_prioritized.hpp
  Reuse,        // prioritized draws whose most important half is kept for n updates (after AccMER, arXiv 2306.00187)
};

struct SamplerSpec {
  SamplerKind kind = SamplerKind::Uniform;
  std::size_t n = 3;
};
// "uniform", "neighbor:3", "run:3", "prioritized", "reuse:4"; without its number, the number shown here.
Result<SamplerSpec> parse_sampler(std::string_view text);
std::string to_string(const SamplerSpec& spec);

// Where the ring of a replay memory stands.
struct ReplayPosition {
  std::size_t size = 0;
  std::size_t capacity = 0;
  std::uint64_t added = 0;
};

class Sampler {
 public:
  virtual ~Sampler() = default;
  // `count` ages below position.size (at least 1), and their importance weights (left empty when all are 1).
  virtual void draw(const ReplayPosition& position, std::size_t count, Rng& rng, std::vector<std::uint32_t>& indices,
                    std::vector<float>& weights) = 0;
  // Squared errors of what was drawn last, before anything else is added.
  virtual void feedback(const ReplayPosition&, std::span<const std::uint32_t>, std::span<const float>) {}
  virtual bool wants_feedback() const { return false; }
  // What a resumed run needs to draw the same; `name` begins the names of the tensors.
  virtual void save(const std::string&, TensorFile&) const {}
  virtual Result<Done> load(const std::string&, const TensorFile&) { return Done{}; }
};
// `capacity` as the replay memory's.
std::unique_ptr<Sampler> make_sampler(const SamplerSpec& spec, std::size_t capacity);

}  // namespace tilewright
