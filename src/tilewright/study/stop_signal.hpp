// Ctrl-C and requests to end: long work asks now and then, and ends with everything saved.
#pragma once

namespace tilewright {

// From now on the first such signal only sets stop_asked(); a second one ends the program at once.
void listen_for_stop();
bool stop_asked();

}  // namespace tilewright
