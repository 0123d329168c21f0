#include "tilewright/marl/replay.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tilewright/base/rng.hpp"

namespace tilewright {
namespace {

using testing::ElementsAre;

constexpr std::int32_t kNone = ObservationEntry::kNone;

// Three unlike agents in a world of seven numbers; the second one sees a single number.
EnvironmentSpec small_spec(bool terminates) {
  EnvironmentSpec spec;
  spec.name = "small";
  spec.terminates = terminates;
  spec.agents = {{"a", "team", 9, {.categorical = {3}, .continuous = 0}},
                 {"b", "team", 1, {.categorical = {2, 2}, .continuous = 1}},
                 {"c", "others", 4, {.categorical = {}, .continuous = 2}}};
  ObservationTable table{.state_size = 7, .entries = {}};
  table.entries = {{0, kNone}, {1, kNone}, {2, 0}, {3, 1},        {4, 0}, {5, 1}, {kNone, kNone}, {kNone, 6}, {6, 6},  // a
                   {kNone, 3},                                                                                         // b
                   {5, 2},     {6, 2},     {0, 4}, {kNone, kNone}};                                                    // c
  spec.table = table;
  return spec;
}

std::vector<float> observe(const ObservationTable& table, const float* state) {
  std::vector<float> result;
  for (const ObservationEntry& entry : table.entries) {
    const float plus = entry.plus == kNone ? 0.0f : state[entry.plus];
    const float minus = entry.minus == kNone ? 0.0f : state[entry.minus];
    result.push_back(plus - minus);
  }
  return result;
}

// One joint transition as a plain record: what every layout must give back.
struct Transition {
  std::vector<float> state, observations, actions, next_state, next_observations, rewards;
  std::vector<std::uint8_t> terminated;
};

std::vector<float> random_floats(std::size_t count, Rng& rng) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(rng.uniform() * 2 - 1);
  return values;
}

Transition random_transition(const EnvironmentSpec& spec, Rng& rng) {
  Transition t;
  t.state = random_floats(spec.state_size(), rng);
  t.next_state = random_floats(spec.state_size(), rng);
  t.observations = observe(*spec.table, t.state.data());
  t.next_observations = observe(*spec.table, t.next_state.data());
  t.actions = random_floats(spec.action_size(), rng);
  t.rewards = random_floats(spec.agent_count(), rng);
  for (std::size_t agent = 0; agent < spec.agent_count(); ++agent) {
    t.terminated.push_back(static_cast<std::uint8_t>(rng.below(2)));
  }
  return t;
}

template <typename T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// Adds the transitions as one step of as many worlds, followed by a world that has ended.
void add(Replay& replay, const std::vector<Transition>& transitions, const EnvironmentSpec& spec) {
  std::vector<Transition> worlds = transitions;
  Rng rng(7, "ended");
  worlds.push_back(random_transition(spec, rng));
  Transition all;
  std::vector<std::uint8_t> live(worlds.size(), 1);
  live.back() = 0;
  for (const Transition& t : worlds) {
    append(all.state, t.state);
    append(all.observations, t.observations);
    append(all.actions, t.actions);
    append(all.next_state, t.next_state);
    append(all.next_observations, t.next_observations);
    append(all.rewards, t.rewards);
    append(all.terminated, t.terminated);
  }
  Experience experience;
  experience.world_count = worlds.size();
  experience.observations = all.observations;
  experience.states = all.state;
  experience.actions = all.actions;
  experience.rewards = all.rewards;
  experience.next_observations = all.next_observations;
  experience.next_states = all.next_state;
  experience.terminated = all.terminated;
  experience.truncated = all.terminated;
  experience.live = live;
  replay.add(experience);
}

std::vector<float> row_of(const Matrix& matrix, std::size_t row, std::size_t first, std::size_t count) {
  return {matrix.row(row) + first, matrix.row(row) + first + count};
}

Batch gather(const Replay& replay, std::vector<std::uint32_t> indices) {
  Batch batch = replay.make_batch(indices.size());
  batch.indices = std::move(indices);
  EXPECT_EQ(replay.gather(batch), batch.rows * replay.row_bytes());
  return batch;
}

void expect_holds(const Replay& replay, const std::deque<Transition>& expected, const EnvironmentSpec& spec) {
  ASSERT_EQ(replay.size(), expected.size());
  // Every age, backwards and from the middle, so that order and repetition matter.
  std::vector<std::uint32_t> indices(expected.size());
  std::iota(indices.rbegin(), indices.rend(), 0u);
  for (int i = 0; i < 40; ++i) indices.push_back(static_cast<std::uint32_t>(expected.size() / 2));
  const Batch batch = gather(replay, indices);
  const bool states = replay.layout() == ReplayLayout::State;
  const std::size_t width = replay.representation().size();
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const Transition& t = expected[indices[i]];
    EXPECT_EQ(row_of(batch.current, i, 0, width), states ? t.state : t.observations);
    EXPECT_EQ(row_of(batch.current, i, width, spec.action_size()), t.actions);
    EXPECT_EQ(row_of(batch.next, i, 0, width), states ? t.next_state : t.next_observations);
    for (std::size_t agent = 0; agent < spec.agent_count(); ++agent) {
      EXPECT_EQ(batch.rewards.row(agent)[i], t.rewards[agent]);
      if (spec.terminates) {
        EXPECT_EQ(batch.terminated.row(agent)[i], t.terminated[agent] != 0 ? 1.0f : 0.0f);
      }
    }
  }
  EXPECT_EQ(batch.terminated.rows(), spec.terminates ? spec.agent_count() : 0);
}

const std::vector<ReplayLayout> kLayouts = {ReplayLayout::PerAgent, ReplayLayout::Joint, ReplayLayout::State};

TEST(Replay, HoldsTheLatestTransitionsInOrderOfAge) {
  for (const bool terminates : {false, true}) {
    const EnvironmentSpec spec = small_spec(terminates);
    for (const ReplayLayout layout : kLayouts) {
      for (const std::size_t capacity : {1u, 7u, 40u}) {
        Replay replay(spec, layout, capacity);
        std::deque<Transition> expected;
        Rng rng(3, "transitions");
        for (std::size_t step = 0; step < 30; ++step) {
          std::vector<Transition> worlds;
          for (std::size_t world = 0; world < step % 4; ++world) worlds.push_back(random_transition(spec, rng));
          add(replay, worlds, spec);
          for (const Transition& t : worlds) expected.push_back(t);
          while (expected.size() > capacity) expected.pop_front();
          if (step % 5 == 4) expect_holds(replay, expected, spec);
        }
        EXPECT_EQ(replay.added(), 43u);  // 7·(0+1+2+3) + 0 + 1
      }
    }
  }
}

TEST(Replay, PerAgentAndJointGiveTheSameBatchBitByBit) {
  const EnvironmentSpec spec = small_spec(true);
  Replay per_agent(spec, ReplayLayout::PerAgent, 23), joint(spec, ReplayLayout::Joint, 23);
  Rng rng(5, "transitions");
  for (int i = 0; i < 60; ++i) {
    Transition t = random_transition(spec, rng);
    t.rewards[0] = std::numeric_limits<float>::quiet_NaN();
    t.observations[2] = -0.0f;
    add(per_agent, {t}, spec);
    add(joint, {t}, spec);
  }
  std::vector<std::uint32_t> indices;
  for (int i = 0; i < 37; ++i) indices.push_back(static_cast<std::uint32_t>(rng.below(23)));
  const Batch a = gather(per_agent, indices), b = gather(joint, indices);
  const auto expect_same = [](const Matrix& x, const Matrix& y) {
    ASSERT_EQ(x.rows(), y.rows());
    ASSERT_EQ(x.columns(), y.columns());
    EXPECT_EQ(std::memcmp(x.row(0), y.row(0), x.rows() * x.view().stride * sizeof(float)), 0);
  };
  expect_same(a.current, b.current);
  expect_same(a.next, b.next);
  expect_same(a.rewards, b.rewards);
  expect_same(a.terminated, b.terminated);
  EXPECT_EQ(per_agent.transitions(37, 60), joint.transitions(37, 60));
}

TEST(Replay, RestoredPiecesGiveTheSameMemoryAndTheSameFuture) {
  const EnvironmentSpec spec = small_spec(true);
  for (const ReplayLayout layout : kLayouts) {
    for (const std::size_t count : {5u, 11u, 12u, 40u}) {  // less than, nearly, exactly and more than the capacity
      Replay original(spec, layout, 12);
      std::deque<Transition> expected;
      Rng rng(8, "transitions");
      std::vector<std::string> pieces;  // as a checkpoint after every 4 transitions would write them
      for (std::size_t i = 0; i < count; ++i) {
        expected.push_back(random_transition(spec, rng));
        add(original, {expected.back()}, spec);
        if (i % 4 == 3) pieces.push_back(original.transitions(i - 3, i + 1));
      }
      pieces.push_back(original.transitions(count - count % 4, count));
      Replay restored(spec, layout, 12);
      const std::uint64_t oldest = original.added() - original.size();
      for (std::size_t piece = oldest / 4; piece < pieces.size(); ++piece) {
        EXPECT_TRUE(restored.restore(piece * 4, pieces[piece]));
      }
      for (int more = 0; more < 9; ++more) {
        while (expected.size() > 12) expected.pop_front();
        EXPECT_EQ(restored.added(), original.added());
        expect_holds(restored, expected, spec);
        expect_holds(original, expected, spec);
        const std::uint64_t first = original.added() - original.size();
        EXPECT_EQ(restored.transitions(first, original.added()), original.transitions(first, original.added()));
        expected.push_back(random_transition(spec, rng));
        add(original, {expected.back()}, spec);
        add(restored, {expected.back()}, spec);
      }
    }
  }
}

TEST(Replay, RestoringFromTheMiddleHoldsOnlyThat) {
  const EnvironmentSpec spec = small_spec(false);
  Replay original(spec, ReplayLayout::Joint, 10);
  std::deque<Transition> expected;
  Rng rng(9, "transitions");
  for (int i = 0; i < 16; ++i) {
    expected.push_back(random_transition(spec, rng));
    add(original, {expected.back()}, spec);
  }
  Replay restored(spec, ReplayLayout::Joint, 10);
  ASSERT_TRUE(restored.restore(13, original.transitions(13, 16)));
  expected.erase(expected.begin(), expected.begin() + 13);
  EXPECT_EQ(restored.added(), 16u);
  expect_holds(restored, expected, spec);
  for (int i = 0; i < 9; ++i) {
    expected.push_back(random_transition(spec, rng));
    add(restored, {expected.back()}, spec);
    while (expected.size() > 10) expected.pop_front();
    expect_holds(restored, expected, spec);
  }
}

TEST(Replay, RefusesPiecesThatDoNotFit) {
  const EnvironmentSpec spec = small_spec(false);
  Replay replay(spec, ReplayLayout::Joint, 10);
  const std::string row(replay.row_bytes(), 'x');
  const auto torn = replay.restore(0, std::string_view(row).substr(1));
  ASSERT_FALSE(torn);
  EXPECT_EQ(torn.error().message, "replay piece has 163 bytes, expected a multiple of 164, the size of a joint transition");
  ASSERT_TRUE(replay.restore(4, row + row));
  const auto gap = replay.restore(7, row);
  ASSERT_FALSE(gap);
  EXPECT_EQ(gap.error().message, "replay piece begins with transition 7, expected 6, which follows the piece before it");
  EXPECT_EQ(replay.added(), 6u);
  EXPECT_EQ(replay.size(), 2u);
}

// The sizes of predator-prey (docs): agents with the given observations, 5 actions each, and a world state.
EnvironmentSpec sized_spec(std::size_t agents, std::size_t observation, std::size_t state) {
  EnvironmentSpec spec;
  spec.agents.assign(agents, {"predator", "predators", observation, {.categorical = {5}, .continuous = 0}});
  spec.table = ObservationTable{state, std::vector<ObservationEntry>(agents * observation)};
  return spec;
}

TEST(Replay, AMillionTransitionsOf48PredatorsFitIntoFourGigabytesAsStates) {
  const EnvironmentSpec spec = sized_spec(48, 194, 288);
  const Replay states(spec, ReplayLayout::State, 1'000'000);
  EXPECT_EQ(states.row_bytes(), (288u + 288 + 240 + 48) * 4);
  EXPECT_LT(states.bytes_per_transition() * states.capacity(), 4'000'000'000u);
  const Replay joint(spec, ReplayLayout::Joint, 10);
  EXPECT_EQ(joint.row_bytes(), (2u * 48 * 194 + 240 + 48) * 4);
  EXPECT_EQ(Replay(spec, ReplayLayout::PerAgent, 10).row_bytes(), joint.row_bytes());
}

TEST(Replay, AligningRowsCostsAtMostAnEighth) {
  for (std::size_t observation = 1; observation < 100; ++observation) {
    const Replay replay(sized_spec(2, observation, observation), ReplayLayout::Joint, 1);
    EXPECT_GE(replay.bytes_per_transition(), replay.row_bytes());
    EXPECT_LE(replay.bytes_per_transition() * 8, replay.row_bytes() * 9);
  }
}

TEST(Replay, SmallPagesHoldTheSame) {
  const EnvironmentSpec spec = small_spec(false);
  Replay replay(spec, ReplayLayout::Joint, 100'000, Pages::Small);
  Rng rng(2, "transitions");
  std::deque<Transition> expected;
  for (int i = 0; i < 5; ++i) {
    expected.push_back(random_transition(spec, rng));
    add(replay, {expected.back()}, spec);
  }
  expect_holds(replay, expected, spec);
  const Replay moved = std::move(replay);
  expect_holds(moved, expected, spec);
}

TEST(Replay, AnImpossibleCapacityIsRefusedNotWrapped) {
  EXPECT_THROW(Replay(sized_spec(48, 194, 288), ReplayLayout::Joint, 4'000'000'000), std::bad_alloc);  // 2^48 bytes
}

TEST(ReplayLayout, IsReadByName) {
  for (const ReplayLayout layout : kLayouts) EXPECT_EQ(*parse_layout(to_string(layout)), layout);
  const auto wrong = parse_layout("jiont");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "replay layout is 'jiont', expected per-agent, joint or state (did you mean 'joint'?)");
}

TEST(Representation, OfObservationsIsAViewIntoTheRows) {
  const Representation representation(small_spec(false), ReplayLayout::Joint);
  EXPECT_EQ(representation.size(), 14u);
  EXPECT_EQ(representation.table(), nullptr);
  const Matrix rows(5, 20);
  Matrix scratch;
  const ConstView third = representation.observations(2, rows.view(), scratch);
  EXPECT_EQ(third.data, rows.row(0) + 10);
  EXPECT_EQ(third.columns, 4u);
  EXPECT_EQ(third.rows, 5u);
  EXPECT_EQ(third.stride, rows.view().stride);
}

TEST(Representation, RebuildsObservationsFromStates) {
  const EnvironmentSpec spec = small_spec(false);
  const Representation representation(spec, ReplayLayout::State);
  EXPECT_EQ(representation.size(), 7u);
  Matrix rows(1, 12);
  for (std::size_t i = 0; i < 12; ++i) rows.row(0)[i] = static_cast<float>(i * i);
  Matrix scratch(3, 9);
  const auto seen_by = [&](std::size_t agent) {
    const ConstView view = representation.observations(agent, rows.view(), scratch);
    EXPECT_EQ(view.rows, 1u);
    EXPECT_EQ(view.columns, spec.agents[agent].observation_size);
    return std::vector<float>(view.row(0), view.row(0) + view.columns);
  };
  EXPECT_THAT(seen_by(0), ElementsAre(0, 1, 4, 8, 16, 24, 0, -36, 0));
  EXPECT_THAT(seen_by(1), ElementsAre(-9));
  EXPECT_THAT(seen_by(2), ElementsAre(21, 32, -16, 0));
}

TEST(Representation, AgreesWithTheTableEntryByEntry) {
  Rng rng(11, "tables");
  for (int trial = 0; trial < 200; ++trial) {
    EnvironmentSpec spec;
    const auto state = static_cast<std::size_t>(rng.between(1, 40));
    ObservationTable table{.state_size = state, .entries = {}};
    std::size_t largest = 0;
    for (int agent = 0; agent < 3; ++agent) {
      const auto size = static_cast<std::size_t>(rng.between(1, 60));
      largest = std::max(largest, size);
      spec.agents.push_back({"agent", "team", size, {.categorical = {2}, .continuous = 0}});
      const auto index = [&] { return static_cast<std::int32_t>(rng.between(-1, static_cast<std::int64_t>(state) - 1)); };
      // Entries come in runs, as in the particle worlds, and each run may break the pattern anywhere.
      ObservationEntry previous{index(), index()}, before = previous;
      for (std::size_t c = 0; c < size; ++c) {
        ObservationEntry entry{previous.plus, before.minus};
        if (entry.plus != kNone && entry.plus + 1 < static_cast<std::int32_t>(state)) ++entry.plus;
        if (rng.below(8) == 0) entry.plus = index();
        if (rng.below(8) == 0) entry.minus = index();
        table.entries.push_back(entry);
        before = std::exchange(previous, entry);
      }
    }
    spec.table = table;
    const Representation representation(spec, ReplayLayout::State);
    const auto row_count = static_cast<std::size_t>(rng.between(1, 9));
    Matrix rows(row_count, state);
    for (std::size_t row = 0; row < row_count; ++row) std::ranges::copy(random_floats(state, rng), rows.row(row));
    Matrix scratch(row_count, largest);
    for (std::size_t row = 0; row < row_count; ++row) std::fill_n(scratch.row(row), largest, 7.0f);
    for (std::size_t agent = 0; agent < 3; ++agent) {
      const ConstView view = representation.observations(agent, rows.view(), scratch);
      for (std::size_t row = 0; row < row_count; ++row) {
        const std::vector<float> all = observe(table, rows.row(row));
        const auto* expected = all.data() + spec.observation_offset(agent);
        EXPECT_EQ(std::vector(view.row(row), view.row(row) + view.columns), std::vector(expected, expected + view.columns));
        for (std::size_t c = view.columns; c < padded(view.columns); ++c) EXPECT_EQ(view.row(row)[c], 0.0f);
      }
    }
  }
}

}  // namespace
}  // namespace tilewright
