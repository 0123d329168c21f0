#include "tilewright/app/map_progress.hpp"

#include <algorithm>
#include <cstdio>

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "tilewright/app/print.hpp"
#include "tilewright/app/train_progress.hpp"
#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

using namespace std::chrono_literals;

winsize terminal_size() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) size = {24, 80, 0, 0};
  return size;
}

}  // namespace

MapProgress::MapProgress(const MappingJob& job, std::int64_t samples_per_layer)
    : job_(job),
      samples_(samples_per_layer),
      terminal_(isatty(STDERR_FILENO) != 0),
      start_(Clock::now()),
      next_(start_ + (terminal_ ? 200ms : 2s)) {}

std::string MapProgress::head(std::int64_t done, double seconds) const {
  const std::int64_t all = samples_ * static_cast<std::int64_t>(job_.problems.size());
  const double rate = static_cast<double>(done) / std::max(1e-9, seconds);
  return fmt::format("{} on {}: {:.0f} % of {} samples, {} samples/s, {} left", job_.network_name, job_.accelerator.name,
                     100.0 * static_cast<double>(done) / static_cast<double>(all), with_thousands(all),
                     with_thousands(static_cast<std::int64_t>(rate)), clock_text(static_cast<double>(all - done) / rate));
}

void MapProgress::show(const SearchLoop& loop) {
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + (terminal_ ? 200ms : 5s);
  std::int64_t done = 0;
  for (const Ledger& ledger : loop.ledgers()) done += ledger.samples;
  std::string text = head(done, std::chrono::duration<double>(now - start_).count());
  if (!terminal_) {
    say(text + "\n");
    return;
  }
  const winsize size = terminal_size();
  const std::size_t columns = static_cast<std::size_t>(size.ws_col) - 1;
  std::string block = lines_ > 0 ? fmt::format("\x1b[{}A", lines_) : "";
  block += "\r" + text.substr(0, columns) + "\x1b[K\n";
  lines_ = 1;
  const std::size_t most = std::max<std::size_t>(3, size.ws_row) - 2;
  for (std::size_t i = 0; i < loop.ledgers().size() && lines_ < most; ++i, ++lines_) {
    const Ledger& ledger = loop.ledgers()[i];
    const std::string best = ledger.best ? fmt::format("{:.4g}", ledger.best->score[0]) : "nothing feasible yet";
    const std::string since =
        ledger.best ? fmt::format("since sample {}", with_thousands(ledger.improvements.back().sample)) : "";
    block +=
        fmt::format("  {:<28} {:>14}  {}", job_.problems[i].name.substr(0, 28), best, since).substr(0, columns) + "\x1b[K\n";
  }
  say(block);
}

void MapProgress::end() {
  if (lines_ > 0) say(fmt::format("\x1b[{}A\r\x1b[J", lines_));
  lines_ = 0;
}

}  // namespace tilewright
