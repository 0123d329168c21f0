#include "tilewright/cost/cost.hpp"

#include <vector>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

using Reason = Infeasible::Reason;

}  // namespace

std::string_view name_of(Infeasible::Reason reason) {
  switch (reason) {
    case Reason::NoSpatialMap:
      return "no-spatial-map";
    case Reason::TooManySpatialMaps:
      return "too-many-spatial-maps";
    case Reason::UnpairedSpatialMaps:
      return "unpaired-spatial-maps";
    case Reason::RepeatedDim:
      return "repeated-dimension";
    case Reason::TilesDoNotMeet:
      return "tiles-do-not-meet";
    case Reason::UnknownDim:
      return "unknown-dimension";
    case Reason::MissingDim:
      return "missing-dimension";
    case Reason::ImpossibleLayer:
      return "impossible-layer";
    case Reason::OutputWithoutFilter:
      return "output-without-filter";
    case Reason::PartialFilter:
      return "partial-filter";
    case Reason::TooManyDirectives:
      return "too-many-directives";
    case Reason::PeOverflow:
      return "pe-overflow";
    case Reason::NoBandwidth:
      return "no-bandwidth";
    case Reason::NothingNew:
      return "nothing-new";
    case Reason::CounterOverflow:
      return "counter-overflow";
    case Reason::NoComputation:
      return "no-computation";
    case Reason::TooManyStances:
      return "too-many-stances";
    case Reason::MacsMiscounted:
      return "macs-miscounted";
    case Reason::MacsLost:
      return "macs-lost";
    case Reason::FasterThanPossible:
      return "faster-than-possible";
    case Reason::L1Overflow:
      return "l1-overflow";
    case Reason::L2Overflow:
      return "l2-overflow";
    case Reason::NocBandwidth:
      return "noc-bandwidth";
    case Reason::OffchipBandwidth:
      return "offchip-bandwidth";
  }
  return "";
}

std::string to_sentence(const Infeasible& infeasible) {
  const auto& [reason, level, dim, need, limit] = infeasible;
  const std::string_view name = name_of(dim);
  const std::string needed = with_thousands(need), limited = with_thousands(limit);
  switch (reason) {
    case Reason::NoSpatialMap:
      return fmt::format("level {} spreads nothing over its units, expected one spatial map", level);
    case Reason::TooManySpatialMaps:
      return fmt::format("level {} has {} spatial maps, expected one or two", level, need);
    case Reason::UnpairedSpatialMaps:
      return fmt::format("level {} spreads two dimensions over the same units, which leaves combinations out: expected one",
                         level);
    case Reason::RepeatedDim:
      return fmt::format("level {} maps a dimension twice, expected once", level);
    case Reason::TilesDoNotMeet:
      return fmt::format("level {}: tiles of {} move by {} and {}, expected {}", level, name, limited,
                         limit > need ? "leave gaps" : "overlap", needed);
    case Reason::UnknownDim:
      return fmt::format("level {} maps {}, which is not a loop there", level, name);
    case Reason::ImpossibleLayer:
      return need < 1 ? "the layer has no output to compute, expected a kernel that fits its input"
                      : "the layer has more than 2^56 multiplications, expected fewer";
    case Reason::MissingDim:
      return fmt::format("the layer has no {}, which its tensors need", name);
    case Reason::OutputWithoutFilter:
      return fmt::format("level {} maps {} but not {}, expected both in one level", level, name,
                         dim == Dim::OutX ? "S" : "R");
    case Reason::PartialFilter:
      return fmt::format("level {} maps {} in tiles of {}, expected the whole filter of {} with an equal offset", level,
                         name, needed, limited);
    case Reason::TooManyDirectives:
      return fmt::format("level {} has too many maps, expected fewer than 20 with the inherited ones", level);
    case Reason::PeOverflow:
      return fmt::format("the clusters need {} processing elements, the machine has {}", needed, limited);
    case Reason::NoBandwidth:
      return "a bandwidth of the machine is 0, expected at least 1 element per cycle";
    case Reason::NothingNew:
      return fmt::format("level {} steps along {} although its tile already covers all of it", level, name);
    case Reason::CounterOverflow:
      return fmt::format("level {} repeats one step more often than 2,147,483,647 times", level);
    case Reason::NoComputation:
      return "a step of level 0 computes nothing, so the bandwidth it needs is undefined";
    case Reason::TooManyStances:
      return fmt::format("level {} has more than {} combinations of loop states", level, limited);
    case Reason::MacsMiscounted:
      return fmt::format(
          "the model counts {} MACs for a layer of {}: tiles overlap, miss work or are larger than the outputs", limited,
          needed);
    case Reason::MacsLost:
      return fmt::format("only {} of {} MACs reach the processing elements: tiles of the inner levels leave gaps", limited,
                         needed);
    case Reason::FasterThanPossible:
      return fmt::format("{} cycles are claimed where the machine needs at least {}", limited, needed);
    case Reason::L1Overflow:
      return fmt::format("needs {} bytes of L1 per processing element, there are {}", needed, limited);
    case Reason::L2Overflow:
      return fmt::format("needs {} bytes of L2, there are {}", needed, limited);
    case Reason::NocBandwidth:
      return fmt::format("needs {} elements per cycle from the NoC, it carries {}", needed, limited);
    case Reason::OffchipBandwidth:
      return fmt::format("needs {} elements per cycle from off-chip memory, it delivers {}", needed, limited);
  }
  return "";
}

}  // namespace tilewright
