#include "tilewright/app/print.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

namespace tilewright {

namespace {

bool g_reader_left = false;

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

}  // namespace tilewright
