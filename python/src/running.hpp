// Studies that take long, run for Python: on a thread of their own, while the calling one calls the progress function and
// hears Ctrl-C. No C++ thread needs the interpreter's lock but where a searcher is written in Python.
#pragma once

#include <functional>
#include <optional>

#include <nanobind/nanobind.h>

#include "tilewright/study/run_context.hpp"

namespace tilewright::python {

// Calls work(context) with the lock released. `progress` is None or a function of one tilewright.Progress, called now and
// then on the calling thread. Ctrl-C, or an exception of the function, asks the work to end; then true is returned, or the
// exception thrown. What work throws is thrown here; KeyboardInterrupt where it was interrupted before there was anything.
bool run_beside(const nanobind::object& progress, int threads, const std::function<void(RunContext&)>& work);

// Asks everything under way to end and waits for it: called when the interpreter ends.
void stop_everything();

}  // namespace tilewright::python
