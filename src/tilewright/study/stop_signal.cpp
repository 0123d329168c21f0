#include "tilewright/study/stop_signal.hpp"

#include <csignal>

namespace tilewright {
namespace {

volatile std::sig_atomic_t asked = 0;

}  // namespace

void listen_for_stop() {
  struct sigaction action {};
  action.sa_handler = [](int) { asked = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool stop_asked() { return asked != 0; }

}  // namespace tilewright
