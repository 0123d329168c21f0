// Everything that goes into one update of all agents and comes out of it, for a second opinion in another language.
// Usage: bench_marl_dump FILE.safetensors [--algorithm maddpg] [--semantics shared] [--layout joint] [--seed 1] …
//
// N agents, B samples, ΣO and ΣA observation and action entries of all agents together. Metadata holds the agents' names
// (comma-separated) and all hyper-parameters; every agent has the sizes in `sizes` = [O, A]. Tensors:
//   before.AGENT.ROLE.weight0, .bias0, …   inputs × outputs, with ROLE one of actor, critic, target_actor, target_critic
//   and,
//                                          for masac, critic2, target_critic2; always on observations
//   after.AGENT.ROLE.…                     the same, but with --layout state the first weights of target critics are folded:
//                                          state and action entries instead of observation and action entries
//   table.plus, table.minus                observation entry e = state[plus[e]] - state[minus[e]], -1 leaves a side out
//   batchK.observations, .next_observations   B × ΣO          K is the agent's number with openai semantics, otherwise 0
//   batchK.actions                            B × ΣA
//   batchK.rewards                            N × B
//   batchK.target_noise, .policy_noise        B × ΣA, of a' and of the actor step
//   losses.critic, losses.actor            N each, in double precision
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "marl/predator_prey.hpp"
#include "tilewright/marl/algorithms.hpp"
#include "tilewright/marl/off_policy_streams.hpp"

namespace tilewright::bench {
namespace {

struct Options {
  std::string path, algorithm = "maddpg", semantics = "shared", layout = "joint";
  std::size_t agents = 3, batch = 256, transitions = 1'000, hidden = 64;
  std::uint64_t seed = 1;
  double tau = 0.01, entropy = 0.05;
  bool entropy_batch_mean = false;
};

// A learner and what it runs on.
struct Setting {
  ThreadPool threads{1};
  Profile profile{1};
  std::unique_ptr<Learner> learner;
};

Result<Done> begin(Setting& setting, const EnvironmentSpec& spec, const Options& options, const OffPolicyOptions& learning) {
  TW_TRY(const Algorithm algorithm, named<Algorithm>(options.algorithm));
  TW_TRY(setting.learner,
         make_learner(algorithm, spec, {.off_policy = learning, .ppo = {}}, options.seed, setting.threads, setting.profile));
  if (setting.learner->replay() == nullptr)
    return invalid(options.algorithm + " has no replay memory, expected maddpg or masac");
  return Done{};
}

void put_networks(const Learner& learner, const std::string& prefix, TensorFile& file) {
  TensorFile saved;
  learner.save(saved);
  for (auto& [name, tensor] : saved.tensors) {
    const bool is_network = name.find(".weight") != std::string::npos || name.find(".bias") != std::string::npos;
    if (is_network && name.find(".adam.") == std::string::npos) file.tensors[prefix + "." + name] = std::move(tensor);
  }
}

// The columns of all agents' noise, side by side.
std::vector<float> noise_rows(const EnvironmentSpec& spec, const std::vector<Rng>& streams, std::uint64_t first_row,
                              std::size_t rows) {
  Matrix noise(rows, spec.action_size());
  std::vector<float> result;
  for (std::size_t agent = 0; agent < spec.agent_count(); ++agent) {
    const ActionSpace& space = spec.agents[agent].actions;
    sample_noise(space, noise.view().column_range(spec.action_offset(agent), space.action_size()), streams[agent],
                 first_row);
  }
  for (std::size_t r = 0; r < rows; ++r) result.insert(result.end(), noise.row(r), noise.row(r) + spec.action_size());
  return result;
}

// Mini-batch `number` of the learner, out of what it was shown.
void put_batch(const EnvironmentSpec& spec, const Experience& shown, const std::vector<std::uint32_t>& indices,
               const OffPolicyStreams& streams, std::size_t number, TensorFile& file) {
  const std::string name = fmt::format("batch{}", number);
  const auto put_rows = [&](const std::string& what, std::span<const float> values, std::size_t columns) {
    std::vector<float> rows;
    for (const std::uint32_t index : indices) {
      const auto row = values.subspan(index * columns, columns);
      rows.insert(rows.end(), row.begin(), row.end());
    }
    file.put(name + what, rows, {indices.size(), columns});
  };
  put_rows(".observations", shown.observations, spec.observation_size());
  put_rows(".next_observations", shown.next_observations, spec.observation_size());
  put_rows(".actions", shown.actions, spec.action_size());
  std::vector<float> rewards;
  for (std::size_t agent = 0; agent < spec.agent_count(); ++agent)
    for (const std::uint32_t index : indices) rewards.push_back(shown.rewards[index * spec.agent_count() + agent]);
  file.put(name + ".rewards", rewards, {spec.agent_count(), indices.size()});
  const std::uint64_t first_row = number * indices.size();
  file.put(name + ".target_noise", noise_rows(spec, streams.target_actions, first_row, indices.size()),
           {indices.size(), spec.action_size()});
  file.put(name + ".policy_noise", noise_rows(spec, streams.policy_actions, first_row, indices.size()),
           {indices.size(), spec.action_size()});
}

void put_table(const ObservationTable& table, TensorFile& file) {
  std::vector<std::int64_t> plus, minus;
  for (const ObservationEntry& entry : table.entries) {
    plus.push_back(entry.plus);
    minus.push_back(entry.minus);
  }
  file.put("table.plus", std::span<const std::int64_t>(plus));
  file.put("table.minus", std::span<const std::int64_t>(minus));
}

void put_facts(const EnvironmentSpec& spec, const Options& options, const OffPolicyOptions& learning, TensorFile& file) {
  const AgentSpec& agent = spec.agents.front();
  const std::vector<std::int64_t> sizes = {static_cast<std::int64_t>(agent.observation_size),
                                           static_cast<std::int64_t>(agent.actions.action_size())};
  file.put("sizes", std::span<const std::int64_t>(sizes));
  std::string names;
  for (const AgentSpec& each : spec.agents) names += (names.empty() ? "" : ",") + each.name;
  file.metadata = {{"agents", names},
                   {"algorithm", options.algorithm},
                   {"semantics", options.semantics},
                   {"layout", options.layout},
                   {"gamma", fmt::format("{}", learning.gamma)},
                   {"tau", fmt::format("{}", learning.tau)},
                   {"learning_rate", fmt::format("{}", learning.learning_rate)},
                   {"clip", fmt::format("{}", learning.clip)},
                   {"logit_penalty", fmt::format("{}", learning.logit_penalty)},
                   {"entropy", fmt::format("{}", learning.entropy)},
                   {"entropy_batch_mean", learning.entropy_batch_mean ? "true" : "false"},
                   {"adam_epsilon", options.algorithm == "masac" ? "1e-7" : "1e-8"}};
}

Result<Done> dump(const Options& options) {
  OffPolicyOptions learning;
  TW_TRY(learning.layout, parse_layout(options.layout));
  TW_TRY(learning.semantics, parse_semantics(options.semantics));
  learning.batch = options.batch;
  learning.capacity = learning.warm_up = learning.update_every = options.transitions;
  learning.hidden = {options.hidden, options.hidden};
  learning.tau = options.tau;
  learning.entropy = options.entropy;
  learning.entropy_batch_mean = options.entropy_batch_mean;

  const EnvironmentSpec spec = predator_prey(options.agents);
  const RandomExperience experience(spec, options.transitions, options.seed);
  const Experience shown = experience.view();
  TensorFile file;
  put_facts(spec, options, learning, file);
  put_table(*spec.table, file);

  // A learner on observations starts with the same weights, and shows those of targets in full size.
  OffPolicyOptions unfolded = learning;
  unfolded.layout = ReplayLayout::Joint;
  Setting start, setting;
  TW_TRY(const Done started, begin(start, spec, options, unfolded));
  put_networks(*start.learner, "before", file);

  TW_TRY(const Done begun, begin(setting, spec, options, learning));
  setting.learner->learn(shown);
  if (setting.learner->update_count() != 1) return invalid("no update took place, expected one");
  put_networks(*setting.learner, "after", file);
  file.put("losses.critic", std::span<const double>(setting.learner->losses().critic));
  file.put("losses.actor", std::span<const double>(setting.learner->losses().actor));

  OffPolicyStreams streams(options.seed, spec.agent_count());
  const std::size_t batches = learning.semantics == Semantics::OpenAi ? spec.agent_count() : 1;
  for (std::size_t number = 0; number < batches; ++number) {
    std::vector<std::uint32_t> indices;
    std::vector<float> weights;
    make_sampler({}, learning.capacity)
        ->draw({options.transitions, learning.capacity, options.transitions}, options.batch, streams.sampling[number],
               indices, weights);
    put_batch(spec, shown, indices, streams, number, file);
  }
  return write_safetensors(options.path, file);
}

}  // namespace
}  // namespace tilewright::bench

int main(int argc, char** argv) {
  tilewright::bench::Options options;
  CLI::App app("Writes down one update of MADDPG or MASAC");
  app.add_option("file", options.path, "where to write")->required();
  app.add_option("--algorithm", options.algorithm, "maddpg or masac");
  app.add_option("--semantics", options.semantics, "shared or openai");
  app.add_option("--layout", options.layout, "state, joint or per-agent");
  app.add_option("--agents", options.agents, "predators");
  app.add_option("--batch", options.batch, "samples per batch");
  app.add_option("--transitions", options.transitions, "in the replay memory");
  app.add_option("--hidden", options.hidden, "units of each hidden layer");
  app.add_option("--seed", options.seed, "seed");
  app.add_option("--tau", options.tau, "share of the online network that moves into the target");
  app.add_option("--entropy", options.entropy, "weight of the entropy, masac");
  app.add_flag("--entropy-batch-mean", options.entropy_batch_mean, "mean entropy for every sample, masac");
  CLI11_PARSE(app, argc, argv);
  const auto done = tilewright::bench::dump(options);
  if (!done) fmt::print(stderr, "{}\n", done.error().message);
  return done ? 0 : 1;
}
