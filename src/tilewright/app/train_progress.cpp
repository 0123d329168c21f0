#include "tilewright/app/train_progress.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "tilewright/app/print.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/study/train_summary.hpp"

namespace tilewright {
namespace {

using namespace std::chrono_literals;

constexpr std::array<std::string_view, kPhaseCount> kShortNames = {"env",    "act",    "sample",  "target q",
                                                                   "q loss", "p loss", "targets", "other"};

// The shares of what the phases took since `before`, those that matter.
std::string shares(const ProfileTotals& now, const ProfileTotals& before) {
  std::array<double, kPhaseCount> seconds{};
  double sum = 0;
  for (std::size_t phase = 0; phase < kPhaseCount; ++phase) {
    seconds[phase] = now.phases[phase].wall_seconds - before.phases[phase].wall_seconds;
    sum += seconds[phase];
  }
  std::string text;
  for (std::size_t phase = 0; phase < kPhaseCount; ++phase) {
    const double share = sum > 0 ? 100 * seconds[phase] / sum : 0;
    if (share >= 0.5) text += fmt::format("{}{} {:.0f}%", text.empty() ? "" : " ", kShortNames[phase], share);
  }
  return text;
}

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

TrainProgress::TrainProgress(const Profile& profile, std::int64_t first_episode, std::int64_t episodes,
                             std::int64_t curve_every)
    : profile_(profile),
      episodes_(episodes),
      curve_every_(curve_every),
      terminal_(isatty(STDERR_FILENO) != 0),
      time_(Clock::now()),
      next_(time_ + (terminal_ ? 200ms : 2s)),
      done_(first_episode),
      totals_(profile.totals()) {}

void TrainProgress::show(const TrainState& state) {
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + (terminal_ ? 200ms : 5s);
  std::string text = line(state, now);
  if (terminal_) {
    text = "\r" + text.substr(0, terminal_width() - 1) + "\x1b[K";
  } else {
    text += "\n";
  }
  say(text);
  shown_ = true;
}

void TrainProgress::end() {
  if (terminal_ && shown_) say("\r\x1b[K");
}

std::string TrainProgress::line(const TrainState& state, Clock::time_point now) {
  // Runs get slower once they learn, so that the mean since the start would promise too much.
  const double latest = static_cast<double>(state.episodes - done_) / std::chrono::duration<double>(now - time_).count();
  rate_ = shown_ && terminal_ ? 0.8 * rate_ + 0.2 * latest : latest;
  const RecentReturns recent = recent_returns(state, curve_every_);
  ProfileTotals totals = profile_.totals();
  std::string text = fmt::format("{} of {} episodes, {}/s, return {:.4g}", with_thousands(state.episodes),
                                 with_thousands(episodes_), with_prefix(std::round(rate_ * 10) / 10), recent.total);
  if (rate_ > 0) text += fmt::format(", {} left", clock_text(static_cast<double>(episodes_ - state.episodes) / rate_));
  if (const std::string phases = shares(totals, totals_); !phases.empty()) text += " | " + phases;
  time_ = now;
  done_ = state.episodes;
  totals_ = std::move(totals);
  return text;
}

}  // namespace tilewright
