// What the text and the page of a co-design say in the same words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/study/codesign.hpp"

namespace tilewright {

std::string tile_words(const vta::Schedule& schedule);            // "b1 h14 w14 ci1 co4"
std::string thread_words(const vta::Schedule& schedule);          // "1x2"
std::string machine_words(const vta::Machine& machine);           // "1 x 64 x 8, buffers of uop 8, … KiB"
std::string space_words(const CodesignStudy& study);              // limits, core and memory
std::vector<std::string> remarks_on(const CodesignStudy& study);  // what a reader might take for granted

std::int64_t buffer_bytes(const vta::Machine& machine, vta::Buffer buffer);

}  // namespace tilewright
