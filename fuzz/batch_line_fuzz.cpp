// Any line given to `evaluate --batch` gives exactly one line of JSON back, in every model.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tilewright/cost/batch.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilewright;
  static BatchEvaluator evaluators[] = {BatchEvaluator({Model::Sound, Constraints::Soft}),
                                        BatchEvaluator({Model::Maestro, Constraints::Hard}),
                                        BatchEvaluator({Model::MaestroE1d8efd, Constraints::Hard})};
  std::string line(reinterpret_cast<const char*>(data), size);
  line.erase(std::remove(line.begin(), line.end(), '\n'), line.end());
  for (BatchEvaluator& evaluator : evaluators) {
    std::string out;
    evaluator.evaluate_line(line, out);
    if (out.empty() || out.front() != '{' || out.find('\n') != out.size() - 1) std::abort();
  }
  return 0;
}
