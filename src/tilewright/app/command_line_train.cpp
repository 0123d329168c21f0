#include "tilewright/app/command_line.hpp"

#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tilewright/app/commands.hpp"

namespace tilewright {

void add_train_options(CLI::App& verb, TrainArguments& train) {
  TrainSettings& s = train.settings;
  verb.add_option("world", s.world, "simple_spread, simple_tag, … or toy:NAME (see --list)");
  verb.add_flag("--list", train.list, "worlds, algorithms, samplers and layouts, one line each");
  verb.add_option("--algorithm", s.algorithm, "maddpg (default), masac, ippo, mappo");
  verb.add_option("--agents", s.agents, "agents that learn; default: the world's own number");
  verb.add_option("--episodes", train.episodes, "default 25000; more than a directory holds continues it");
  verb.add_option("--seed", s.seed, "default 1; the same seed gives the same bits for any number of threads");

  const std::string run = "Run and results";
  verb.add_option("-o,--output", train.output, "run directory; a run of the same settings in it is continued")->group(run);
  verb.add_flag("--resume", train.resume, "take the settings from the run in -o DIR")->group(run);
  verb.add_option("--threads", train.threads, "0 = all")->capture_default_str()->check(CLI::Range(0, 1024))->group(run);
  verb.add_option("--curve-every", s.curve_every, "episodes per point of the curve; default 1000, less in short runs")
      ->group(run);
  verb.add_option("--checkpoint-every", train.checkpoint_every,
                  fmt::format("episodes; 0 = only at the end; default {}", kDefaultCheckpointEvery))
      ->group(run);
  verb.add_option("--eval", train.eval, "greedy episodes at the end")->group(run);
  verb.add_option("--render", train.render, "draw a greedy episode into this file: an SVG that moves")->group(run);
  verb.add_option("--replay", train.replay, "instead of training, step a recorded trajectory and compare every number")
      ->group(run);
  verb.add_flag("--counters", train.counters, "count cache and TLB misses per phase, where the system allows it")
      ->group(run);
  verb.add_flag("--json", train.json, "everything as JSON")->group(run);

  const std::string world = "World";
  verb.add_option("--worlds", s.worlds, "copies side by side; default 1")->group(world);
  verb.add_option("--episode-length", s.episode_length, "steps; default 25")->group(world);
  verb.add_option("--dialect", s.dialect, "openai (default) or pettingzoo")->group(world);
  verb.add_option("--contacts", s.contacts, "fast (default) leaves out forces below 5e-19; exact has all")->group(world);
  verb.add_option("--prey", s.prey, "simple_tag: random (default), frozen, heuristic, learning, or a policy file")
      ->group(world);
  verb.add_option("--prey-count", s.prey_count, "simple_tag; default: by the number of predators")->group(world);
  verb.add_option("--obstacles", s.obstacles, "simple_tag; default: by the number of predators")->group(world);

  const OffPolicyOptions off;
  const PpoOptions ppo;
  const std::string all = "Learning";
  verb.add_option("--hidden", s.hidden, "sizes of the hidden layers; default 64,64")->group(all);
  verb.add_option("--learning-rate", s.learning_rate,
                  fmt::format("default {}; ippo, mappo {}", off.learning_rate, ppo.learning_rate))
      ->group(all);
  verb.add_option("--gamma", s.gamma, fmt::format("discount; default {}", off.gamma))->group(all);
  verb.add_option("--clip-norm", s.clip_norm, fmt::format("most norm of a gradient; 0 = no limit; default {}", off.clip))
      ->group(all);
  verb.add_option("--entropy", s.entropy,
                  fmt::format("its weight: masac {}, ippo, mappo {}", off.entropy, ppo.entropy_bonus))
      ->group(all);

  const std::string off_policy = "maddpg, masac";
  verb.add_option("--sampler", s.sampler, "uniform (default), neighbor:N, run:N, prioritized, reuse:N")->group(off_policy);
  verb.add_option("--layout", s.layout, "of the replay memory: state (default where it can), joint, per-agent")
      ->group(off_policy);
  verb.add_option("--semantics", s.semantics, "shared (default): one mini-batch for all agents; openai: one each, in turn")
      ->group(off_policy);
  verb.add_option("--batch", s.batch, fmt::format("transitions of a mini-batch; default {}", off.batch))->group(off_policy);
  verb.add_option("--capacity", s.capacity, fmt::format("transitions of the replay memory; default {}", off.capacity))
      ->group(off_policy);
  verb.add_option("--warm-up", s.warm_up, fmt::format("transitions before the first update; default {}", off.warm_up))
      ->group(off_policy);
  verb.add_option("--update-every", s.update_every, fmt::format("steps between updates; default {}", off.update_every))
      ->group(off_policy);
  verb.add_option("--tau", s.tau, fmt::format("how far targets move; default {}", off.tau))->group(off_policy);
  verb.add_option("--logit-penalty", s.logit_penalty, fmt::format("maddpg; default {}", off.logit_penalty))
      ->group(off_policy);
  verb.add_option("--entropy-form", s.entropy_form, "masac: per-sample (default), batch-mean")->group(off_policy);

  const std::string on_policy = "ippo, mappo";
  verb.add_option("--rollout", s.rollout, fmt::format("steps between updates; default {}", ppo.rollout))->group(on_policy);
  verb.add_option("--epochs", s.epochs, fmt::format("passes over a rollout; default {}", ppo.epochs))->group(on_policy);
  verb.add_option("--minibatches", s.minibatches, fmt::format("per pass; default {}", ppo.minibatches))->group(on_policy);
  verb.add_option("--gae-lambda", s.gae_lambda, fmt::format("1 = Monte Carlo, 0 = one step; default {}", ppo.gae_lambda))
      ->group(on_policy);
  verb.add_option("--activation", s.activation,
                  fmt::format("relu or tanh; default {}", ppo.activation == Activation::Relu ? "relu" : "tanh"))
      ->group(on_policy);
  verb.add_option("--clip-ratio", s.clip_ratio, fmt::format("default {}", ppo.clip))->group(on_policy);

  verb.footer(
      "Exit codes: 0 done; 2 wrong input; 3 a replayed trajectory differs; 130 stopped by Ctrl-C, and with -o saved.\n" +
      examples_text(
          {{"tilewright train simple_spread --agents 3 --episodes 200 -o runs/spread",
            "a short training; 25000 episodes are usual"},
           {"tilewright train toy:climbing --algorithm mappo --episodes 500", "a game whose best play is known"}}));
}

}  // namespace tilewright
