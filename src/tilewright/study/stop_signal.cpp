#include "tilewright/study/stop_signal.hpp"

#include <csignal>

namespace tilewright {
namespace {

std::atomic<bool> asked = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // a handler of signals writes it

}  // namespace

StopToken listen_for_stop() {
  struct sigaction action {};
  action.sa_handler = [](int) { asked = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction hangup {};
  sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // nohup wants the work to go on
  return StopToken(&asked);
}

bool stop_asked() { return asked; }

}  // namespace tilewright
