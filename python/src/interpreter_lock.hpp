// The interpreter's lock, for threads that may outlive the interpreter: CPython ends a thread that asks for the lock too
// late by unwinding it, which C++ answers with std::terminate. Such a thread sleeps instead until the process is gone, as
// CPython itself does from 3.14 on.
#pragma once

#include <cxxabi.h>
#include <unistd.h>

#include <utility>

#include <nanobind/nanobind.h>

namespace tilewright::python {

template <typename Work>
decltype(auto) until_the_end(Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (abi::__forced_unwind&) {
    for (;;) pause();
  }
}

class Held {
 public:
  Held() : state_(until_the_end([] { return PyGILState_Ensure(); })) {}
  ~Held() { PyGILState_Release(state_); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  PyGILState_STATE state_;
};

class Released {
 public:
  Released() : state_(PyEval_SaveThread()) {}
  ~Released() {
    until_the_end([this] { PyEval_RestoreThread(state_); });
  }
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace tilewright::python
