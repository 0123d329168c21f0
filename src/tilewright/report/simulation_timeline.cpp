#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/report/page.hpp"
#include "tilewright/report/simulation.hpp"

namespace tilewright {
namespace {

enum Work : std::size_t { kInputs, kWeights, kAccumulators, kMicroOps, kGemm, kAlu, kStore, kTokensOnly };

Work work_of(const vta::Instruction& instruction) {
  if (vta::is_noop(instruction)) return kTokensOnly;
  switch (instruction.opcode) {
    case vta::Opcode::Gemm:
      return kGemm;
    case vta::Opcode::Alu:
      return kAlu;
    case vta::Opcode::Store:
      return kStore;
    default:
      break;
  }
  switch (instruction.buffer) {
    case vta::Buffer::Inp:
      return kInputs;
    case vta::Buffer::Wgt:
      return kWeights;
    case vta::Buffer::Uop:
      return kMicroOps;
    default:
      return kAccumulators;
  }
}

// Where in its buffer a transfer goes: that neighbours differ is what double buffering means.
std::string label_of(const vta::Instruction& instruction) {
  if (vta::is_noop(instruction)) return "";
  if (instruction.opcode == vta::Opcode::Gemm) return instruction.reset ? "reset" : "GEMM";
  if (instruction.opcode == vta::Opcode::Alu) return "ALU";
  return fmt::format("{} {}", vta::name_of(instruction.buffer), instruction.sram_base);
}

// Tokens of one queue are taken in the order they are given.
struct TokenEnds {
  std::vector<std::size_t> given, taken;  // spans
};

void add_links(const std::vector<vta::Instruction>& stream, const std::vector<vta::Span>& spans, std::size_t first_span,
               Timeline& timeline) {
  std::array<TokenEnds, 4> queues;  // load to compute, compute to load, compute to store, store to compute
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const vta::Instruction& instruction = stream[static_cast<std::size_t>(spans[i].instruction)];
    const std::size_t span = first_span + i;
    const auto note = [&](bool flag, std::vector<std::size_t>& ends) {
      if (flag) ends.push_back(span);
    };
    switch (spans[i].module) {
      case vta::Module::Load:
        note(instruction.push_next, queues[0].given);
        note(instruction.pop_next, queues[1].taken);
        break;
      case vta::Module::Compute:
        note(instruction.pop_prev, queues[0].taken);
        note(instruction.push_prev, queues[1].given);
        note(instruction.push_next, queues[2].given);
        note(instruction.pop_next, queues[3].taken);
        break;
      case vta::Module::Store:
        note(instruction.pop_prev, queues[2].taken);
        note(instruction.push_prev, queues[3].given);
        break;
    }
  }
  for (const TokenEnds& queue : queues) {
    for (std::size_t i = 0; i < std::min(queue.given.size(), queue.taken.size()); ++i) {
      timeline.links.push_back({queue.given[i], queue.taken[i]});
    }
  }
}

std::string heading_of(const SimulationStudy& study) {
  return fmt::format("{}: {} cycles", printable(study.program.substr(study.program.find_last_of('/') + 1)),
                     with_thousands(total_of(study.streams).cycles));
}

std::string subheading_of(const SimulationStudy& study, const Timeline& timeline) {
  return fmt::format("{} x {} x {}, {}; {}", study.machine.batch(), study.machine.block_in(), study.machine.block_out(),
                     vta::to_text(study.timing), overlap_sentence(timeline));
}

}  // namespace

Timeline timeline_of(const std::vector<StreamResult>& streams) {
  Timeline timeline;
  timeline.lanes = {"load", "compute", "store"};
  timeline.kinds = {{"inputs", 0}, {"weights", 5}, {"accumulators", 4}, {"micro-ops", 6},
                    {"GEMM", 1},   {"ALU", 8},     {"results", 2},      {"tokens only", kGrey}};
  timeline.forward_name = "ready for";
  timeline.backward_name = "place is free for";
  timeline.caption = "Numbers are places in the buffers: loads that take turns fill one place while compute reads another.";
  for (const StreamResult& stream : streams) {
    const std::size_t first_span = timeline.spans.size();
    for (const vta::Span& span : stream.spans) {
      const vta::Instruction& instruction = stream.instructions[static_cast<std::size_t>(span.instruction)];
      timeline.spans.push_back(
          {.lane = static_cast<std::size_t>(span.module),
           .kind = work_of(instruction),
           .begin = timeline.end + span.begin,
           .end = timeline.end + span.end,
           .label = label_of(instruction),
           .title = fmt::format("{}: {} ({} cycles from {})", span.instruction, vta::to_text(instruction),
                                with_thousands(span.end - span.begin), with_thousands(span.begin))});
    }
    add_links(stream.instructions, stream.spans, first_span, timeline);
    timeline.end += stream.timing.cycles;
    if (&stream != &streams.back()) timeline.marks.emplace_back(timeline.end, "the next stream begins");
  }
  return timeline;
}

std::string overlap_sentence(const Timeline& timeline) {
  const std::int64_t both = overlap(timeline, 0, 1);
  return fmt::format("load and compute work at the same time in {:.0f} % of the cycles",
                     timeline.end > 0 ? 100.0 * static_cast<double>(both) / static_cast<double>(timeline.end) : 0.0);
}

std::string timeline_svg(const SimulationStudy& study) {
  const Timeline timeline = timeline_of(study.streams);
  return to_svg_file(timeline, heading_of(study), subheading_of(study, timeline));
}

std::string timeline_page(const SimulationStudy& study) {
  const Timeline timeline = timeline_of(study.streams);
  return page(heading_of(study), fmt::format("<h1>{}</h1>\n<p class=\"muted\">{}</p>\n{}<h2>Numbers</h2>\n<pre>{}</pre>\n",
                                             html_escaped(heading_of(study)), html_escaped(subheading_of(study, timeline)),
                                             to_svg(timeline), html_escaped(to_text(study))));
}

}  // namespace tilewright
