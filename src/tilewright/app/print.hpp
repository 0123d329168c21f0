// The two ways out of the program. Neither throws, whatever the stream is connected to.
#pragma once

#include <string_view>

namespace tilewright {

// Results, to standard output. When not all of it arrives there, main ends the program with a sentence and exit code 2, or
// without one when the reader went away, as `head` does.
void print(std::string_view text);

// Whether whoever read standard output has gone away.
bool has_reader_left();

// Progress and sentences, to standard error, at once. What does not arrive there changes nothing else.
void say(std::string_view text);

// Gives the program the three standard streams where it was started without one, so that no file it opens takes their
// place; and a reader that goes away is seen as a failed write, not as the end of the program.
void hold_standard_streams();

}  // namespace tilewright
