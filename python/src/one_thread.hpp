// Objects that change, such as worlds and learners: one thread at a time may use one, and another is refused in a sentence
// instead of racing, also while the interpreter's lock is given up.
#pragma once

#include <atomic>
#include <string>

#include "convert.hpp"

namespace tilewright::python {

class OneThread {
 public:
  class Use {
   public:
    Use(OneThread& of, const std::string& what) : of_(of) {
      if (of_.busy_.exchange(true))
        raise(what + " is in use by another thread or by its own callback, expected one user at a time");
    }
    ~Use() { of_.busy_ = false; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    OneThread& of_;
  };

 private:
  std::atomic<bool> busy_ = false;
};

}  // namespace tilewright::python
