// How a search stands, on stderr: on a terminal a block with the best of every layer that is rewritten in place, elsewhere a
// line every few seconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "tilewright/search/search_loop.hpp"
#include "tilewright/study/mapping_job.hpp"

namespace tilewright {

class MapProgress {
 public:
  MapProgress(const MappingJob& job, std::int64_t samples_per_layer);

  void show(const SearchLoop& loop);  // when it is time again
  void end();                         // leaves a fresh line

 private:
  using Clock = std::chrono::steady_clock;
  std::string head(std::int64_t done, double seconds) const;

  const MappingJob& job_;
  std::int64_t samples_;
  bool terminal_;
  std::size_t lines_ = 0;  // of the block that is on the terminal
  Clock::time_point start_, next_;
};

}  // namespace tilewright
