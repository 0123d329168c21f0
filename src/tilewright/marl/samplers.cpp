#include "tilewright/marl/samplers.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/marl/samplers_prioritized.hpp"

namespace tilewright {
namespace {

struct SamplerName {
  std::string name;
  SamplerKind kind;
  std::size_t n;  // when none is given; 0: takes none
};
const std::vector<SamplerName>& sampler_names() {
  static const std::vector<SamplerName> names = {{"uniform", SamplerKind::Uniform, 0},
                                                 {"neighbor", SamplerKind::Neighbor, 3},
                                                 {"run", SamplerKind::Run, 3},
                                                 {"prioritized", SamplerKind::Prioritized, 0},
                                                 {"reuse", SamplerKind::Reuse, 4}};
  return names;
}
constexpr std::int64_t kMostN = 1'000'000;

std::uint32_t draw_below(Rng& rng, std::size_t bound) {
  return static_cast<std::uint32_t>(rng.below(static_cast<std::int64_t>(bound)));
}

class UniformSampler : public Sampler {
 public:
  void draw(const ReplayPosition& position, std::size_t count, Rng& rng, std::vector<std::uint32_t>& indices,
            std::vector<float>& weights) override {
    TW_ASSERT(position.size >= 1);
    weights.clear();
    indices.resize(count);
    for (std::uint32_t& index : indices) index = draw_below(rng, position.size);
  }
};

class NeighborSampler : public Sampler {
 public:
  explicit NeighborSampler(std::size_t n) : n_(n) {}

  void draw(const ReplayPosition& position, std::size_t count, Rng& rng, std::vector<std::uint32_t>& indices,
            std::vector<float>& weights) override {
    TW_ASSERT(position.size >= 1);
    weights.clear();
    indices.clear();
    // A transition alone has no neighbours: the only batch there is repeats it.
    if (position.size == 1) indices.resize(count);
    while (indices.size() < count) {
      const std::size_t reference = draw_below(rng, position.size);
      const std::size_t first = reference - std::min(reference, n_);
      const std::size_t end = std::min(position.size, reference + n_ + 1);
      for (std::size_t j = first; j < end && indices.size() < count; ++j) {
        if (j != reference) indices.push_back(static_cast<std::uint32_t>(j));
      }
    }
  }

 private:
  std::size_t n_;
};

class RunSampler : public Sampler {
 public:
  explicit RunSampler(std::size_t n) : n_(n) {}

  void draw(const ReplayPosition& position, std::size_t count, Rng& rng, std::vector<std::uint32_t>& indices,
            std::vector<float>& weights) override {
    TW_ASSERT(position.size >= 1);
    weights.clear();
    indices.clear();
    const std::size_t length = std::min(n_, position.size);
    while (indices.size() < count) {
      const std::size_t first = draw_below(rng, position.size - length + 1);
      for (std::size_t j = first; j < first + length && indices.size() < count; ++j) {
        indices.push_back(static_cast<std::uint32_t>(j));
      }
    }
  }

 private:
  std::size_t n_;
};

}  // namespace

Result<SamplerSpec> parse_sampler(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view word = text.substr(0, colon);
  const auto& names = sampler_names();
  const auto found = std::ranges::find(names, word, &SamplerName::name);
  if (found == names.end()) {
    std::vector<std::string> choices;
    for (const SamplerName& name : names) choices.push_back(name.name);
    return invalid(fmt::format("sampler is '{}', expected uniform, neighbor:N, run:N, prioritized or reuse:N{}",
                               printable(text), did_you_mean(word, choices)));
  }
  if (colon == text.size()) return SamplerSpec{found->kind, std::max<std::size_t>(found->n, 1)};
  if (found->n == 0) {
    return invalid(fmt::format("sampler is '{}', expected '{}', which takes no number", printable(text), found->name));
  }
  const auto n = parse_integer(text.substr(colon + 1));
  if (!n || *n < 1 || *n > kMostN) {
    return invalid(
        fmt::format("sampler is '{}', expected '{}:N' with N from 1 to {}", printable(text), found->name, kMostN));
  }
  return SamplerSpec{found->kind, static_cast<std::size_t>(*n)};
}

std::string to_string(const SamplerSpec& spec) {
  const SamplerName& name = sampler_names()[static_cast<std::size_t>(spec.kind)];
  return name.n == 0 ? name.name : fmt::format("{}:{}", name.name, spec.n);
}

std::unique_ptr<Sampler> make_sampler(const SamplerSpec& spec, std::size_t capacity) {
  TW_ASSERT(spec.n >= 1 && capacity >= 1);
  switch (spec.kind) {
    case SamplerKind::Uniform:
      return std::make_unique<UniformSampler>();
    case SamplerKind::Neighbor:
      return std::make_unique<NeighborSampler>(spec.n);
    case SamplerKind::Run:
      return std::make_unique<RunSampler>(spec.n);
    case SamplerKind::Prioritized:
      return std::make_unique<PrioritizedSampler>(capacity, 1);
    case SamplerKind::Reuse:
      return std::make_unique<PrioritizedSampler>(capacity, spec.n);
  }
  return nullptr;
}

}  // namespace tilewright
