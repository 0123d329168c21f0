#include "tilewright/app/terminal.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

bool g_reader_left = false;

using namespace std::chrono_literals;

winsize terminal_size() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) size = {24, 80, 0, 0};
  return size;
}

// The beginning of a text that takes at most so many columns; letters of several bytes stay whole.
std::string cut(const std::string& text, std::size_t columns) {
  std::size_t bytes = 0;
  for (std::size_t seen = 0; bytes < text.size(); ++bytes) {
    const bool begins = (static_cast<unsigned char>(text[bytes]) & 0xC0U) != 0x80U;
    if (begins && seen++ == columns) break;
  }
  return text.substr(0, bytes);
}

}  // namespace

void print(std::string_view text) {
  if (g_reader_left) return;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() && errno == EPIPE) g_reader_left = true;
}

bool has_reader_left() { return g_reader_left; }

void say(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {  // ascending: open() takes the lowest free number
    if (fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    // Nothing can be written to the one in place of standard output, so that what is lost there is noticed.
    [[maybe_unused]] const int opened = open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  }
  std::signal(SIGPIPE, SIG_IGN);
}

ProgressLine::ProgressLine()
    : terminal_(isatty(STDERR_FILENO) != 0), start_(Clock::now()), next_(start_ + (terminal_ ? 200ms : 2s)) {}

Progress ProgressLine::progress() {
  return {[this] { return is_due(); }, [this](const ProgressState& state) { show(state); }};
}

void ProgressLine::show(const ProgressState& state) {
  const Clock::time_point now = Clock::now();
  if (first_ == Clock::time_point{}) {
    first_ = now;
    first_done_ = state.done;
  }
  next_ = now + (terminal_ ? 200ms : 5s);
  const bool moved = state.done > first_done_;  // what was known before the work began says nothing about its pace
  const double seconds = std::chrono::duration<double>(now - (moved ? first_ : start_)).count();
  const std::string head =
      progress_text(state, static_cast<double>(state.done - (moved ? first_done_ : 0)) / std::max(1e-9, seconds));
  if (!terminal_) {
    say(head + "\n");
    return;
  }
  const winsize size = terminal_size();
  const std::size_t columns = static_cast<std::size_t>(size.ws_col) - 1;
  const std::size_t most = std::max<std::size_t>(3, size.ws_row) - 2;
  std::string block = lines_ > 0 ? fmt::format("\x1b[{}A", lines_) : "";
  block += "\r" + cut(head, columns) + "\x1b[K\n";
  lines_ = 1;
  for (std::size_t i = 0; i < state.lines.size() && lines_ < most; ++i, ++lines_) {
    block += cut(state.lines[i], columns) + "\x1b[K\n";
  }
  say(block);
}

void ProgressLine::end() {
  if (lines_ > 0) say(fmt::format("\x1b[{}A\r\x1b[J", lines_));
  lines_ = 0;
}

std::string progress_text(const ProgressState& state, double rate) {
  std::string text = state.title.empty() ? "" : state.title + ": ";
  text += fmt::format("{:.0f} % of {} {}",
                      100.0 * static_cast<double>(state.done) / static_cast<double>(std::max<std::int64_t>(1, state.all)),
                      with_thousands(state.all), state.unit);
  if (rate > 0) {
    text += fmt::format(", {}/s, {} left", with_prefix(rate),
                        clock_text(static_cast<double>(std::max<std::int64_t>(0, state.all - state.done)) / rate));
  }
  return state.words.empty() ? text : text + ", " + state.words;
}

}  // namespace tilewright
