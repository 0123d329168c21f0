// Maps an ONNX network the way another program would: consumer MODEL.onnx MACHINE SAMPLES
#include <cstdio>
#include <cstdlib>

#include "tilewright/study/mapping.hpp"

using namespace tilewright;

Result<double> best_cycles(const char* network, const char* machine, std::int64_t samples) {
  ThreadPool threads;
  RunContext context{threads};
  TW_TRY(const MappingJob job, read_mapping_job({.network = network, .hardware = machine}, {}, threads));
  TW_TRY(const MappingStudy study, map(job, {.samples = samples}, context));
  return totals_of(study).metrics.latency;
}

int main(int, char** argv) {
  const Result<double> cycles = best_cycles(argv[1], argv[2], std::atoll(argv[3]));
  std::printf("%s\n", cycles ? std::to_string(static_cast<long long>(*cycles)).c_str() : cycles.error().message.c_str());
  return cycles ? 0 : 1;
}
