// Ctrl-C and requests to end: long work asks now and then, and ends with everything saved.
#pragma once

#include "tilewright/study/run_context.hpp"

namespace tilewright {

// From now on the first such signal only sets stop_asked() and the token; a second one ends the program at once.
StopToken listen_for_stop();
bool stop_asked();

}  // namespace tilewright
