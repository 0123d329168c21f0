#include "tilewright/report/codesign_words.hpp"

#include <fmt/format.h>

#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

std::vector<std::string> missing_layers(const CodesignStudy& study) {
  std::vector<std::string> sentences;
  for (const CodesignedLayer& layer : study.layers) {
    if (layer.ledger.best) continue;
    sentences.push_back(fmt::format("no schedule that fits was found for layer '{}': {}", layer.name,
                                    layer.rejected.empty()
                                        ? "nothing was measured"
                                        : fmt::format("{} of {} measurements were {}", layer.rejected[0].second,
                                                      layer.ledger.samples, layer.rejected[0].first)));
  }
  if (sentences.empty() && !study.machine) {
    sentences.push_back(
        fmt::format("no machine has been measured on every layer: {} machines have a schedule for some of the {} layers; "
                    "expected more --measurements, --search dcoc, or --machine",
                    study.machines, study.layers.size()));
  }
  return sentences;
}

}  // namespace

std::string tile_words(const vta::Schedule& s) {
  return fmt::format("b{} h{} w{} ci{} co{}", s.tile_b, s.tile_h, s.tile_w, s.tile_ci, s.tile_co);
}

std::string thread_words(const vta::Schedule& s) { return fmt::format("{}x{}", s.h_threading, s.oc_threading); }

std::int64_t buffer_bytes(const vta::Machine& machine, vta::Buffer buffer) {
  return vta::depth(machine, buffer) * vta::element_bytes(machine, buffer);
}

std::string machine_words(const vta::Machine& machine) {
  std::string text = fmt::format("{} x {} x {}", machine.batch(), machine.block_in(), machine.block_out());
  const auto kib = [&](vta::Buffer buffer) {
    return fmt::format("{} {}", vta::name_of(buffer), buffer_bytes(machine, buffer) / 1024);
  };
  return fmt::format("{}, buffers of {}, {}, {}, {} KiB", text, kib(vta::Buffer::Uop), kib(vta::Buffer::Inp),
                     kib(vta::Buffer::Wgt), kib(vta::Buffer::Acc));
}

std::vector<std::string> remarks_on(const CodesignStudy& study) {
  std::vector<std::string> sentences = missing_layers(study);
  if (study.interrupted) sentences.push_back("stopped early, before the measurements were spent; the best so far is kept");
  if (study.left_out > 0) {
    sentences.push_back(fmt::format("layers of operators that were not asked for: {}; not counted here{}", study.left_out,
                                    study.check.whole ? ", compiled with default schedules" : ""));
  }
  if (study.search == "exhaustive" && !study.all_measured && !study.interrupted) {
    sentences.push_back(
        fmt::format("the space has more than {} points per layer: not all of it was measured, and better may be left",
                    with_thousands(study.measurements)));
  }
  if (!study.options.fixed_machine && study.machines_within_area == 1) {
    sentences.push_back(fmt::format("only one machine of the space is within the area, so only schedules were searched{}",
                                    study.options.search_buffers ? "" : "; without --fixed-buffers there are more"));
  }
  return sentences;
}

std::string space_words(const CodesignStudy& study) {
  const CodesignSpaceOptions& options = study.options;
  std::string text = options.fixed_machine
                         ? fmt::format("the machine is {}", printable(study.machine_name))
                         : fmt::format("area at most {:.4g} of the default machine's", options.area_budget);
  if (!options.fixed_machine) text += options.search_buffers ? ", buffers searched" : ", default buffers";
  if (options.most_watts > 0) text += fmt::format(", at most {:.6g} W", options.most_watts);
  if (options.most_celsius > 0) text += fmt::format(", at most {:.6g} °C", options.most_celsius);
  return fmt::format("{}; {}, bus of {} bytes", text, vta::to_text(options.timing), options.timing.bus_bytes);
}

}  // namespace tilewright
