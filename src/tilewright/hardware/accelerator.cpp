#include "tilewright/hardware/accelerator.hpp"

#include <cctype>
#include <filesystem>

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/zoo/zoo.hpp"

namespace tilewright {
namespace {

constexpr std::size_t kMostClusterLevels = 3;

std::optional<AcceleratorFault> fault_of_clusters(const Accelerator& accelerator) {
  if (accelerator.clusters.size() > kMostClusterLevels)
    return AcceleratorFault{
        "clusters", fmt::format("are nested {} deep, expected at most {}", accelerator.clusters.size(), kMostClusterLevels)};
  std::int64_t rest = accelerator.pes;
  for (const std::int64_t size : accelerator.clusters) {
    if (size < 1 || rest % size != 0)
      return AcceleratorFault{
          "clusters", fmt::format("of {} do not divide {} units, expected sizes whose product divides pes", size, rest)};
    rest /= size;
  }
  return std::nullopt;
}

}  // namespace

std::optional<AcceleratorFault> fault_of(const Accelerator& accelerator) {
  struct Limit {
    const char* field;
    std::int64_t is, least;
  };
  const Limit limits[] = {
      {"pes", accelerator.pes, 1},
      {"l1_bytes", accelerator.l1.value, 0},
      {"l2_bytes", accelerator.l2.value, 0},
      {"noc.bandwidth", accelerator.noc.bandwidth, 1},
      {"noc.hops", accelerator.noc.hops, 0},
      {"noc.hop_latency", accelerator.noc.hop_latency, 0},
      {"offchip_bandwidth", accelerator.offchip_bandwidth, 1},
      {"simd_lanes", accelerator.simd_lanes, 1},
  };
  for (const auto& [field, is, least] : limits) {
    if (is < least) return AcceleratorFault{field, fmt::format("is {}, expected at least {}", is, least)};
    if (is > kUnlimited) return AcceleratorFault{field, fmt::format("is {}, expected at most {}", is, kUnlimited)};
  }
  if (accelerator.noc.latency() > kUnlimited)
    return AcceleratorFault{"noc.hops",
                            fmt::format("make a latency of {}, expected at most {}", accelerator.noc.latency(), kUnlimited)};
  if (auto fault = fault_of_clusters(accelerator)) return fault;

  // Wide enough for any machine, and narrow enough that no sum or product of what is measured leaves a double.
  struct Coefficient {
    const char* field;
    double is, least, most;
  };
  const auto micrometres = [](const std::optional<SquareMicrometres>& figure) { return figure ? figure->value : 0; };
  const Coefficient coefficients[] = {
      {"energy_pj.mac", accelerator.energy.mac.value, 0, 1e9},
      {"energy_pj.l1_access", accelerator.energy.l1_access.value, 0, 1e9},
      {"energy_pj.l2_access", accelerator.energy.l2_access.value, 0, 1e9},
      {"area.pe_um2", micrometres(accelerator.area.pe), 0, 1e12},
      {"area.buffer_byte_um2", micrometres(accelerator.area.buffer_byte), 0, 1e12},
      {"area.l1_byte_um2", micrometres(accelerator.area.l1_byte), 0, 1e12},
      {"leakage_mw", accelerator.leakage.value, 0, 1e9},
      {"clock_ghz", accelerator.clock_ghz, 1e-9, 1e3},
  };
  for (const auto& [field, is, least, most] : coefficients) {
    if (!(is >= least && is <= most))
      return AcceleratorFault{field, fmt::format("is {}, expected a number from {} to {}", is, least, most)};
  }
  const EnergyTable& energy = accelerator.energy;
  if (!(energy.mac.value + energy.l1_access.value + energy.l2_access.value > 0))
    return AcceleratorFault{"energy_pj", "are all 0, expected at least one above 0"};
  const AreaTable& area = accelerator.area;
  if (area.known() && !(area.pe->value + area.buffer_byte->value + micrometres(area.l1_byte) > 0))
    return AcceleratorFault{"area", "has figures that are all 0, expected at least one above 0"};
  return std::nullopt;
}

Result<Accelerator> check(Accelerator accelerator, const std::string& where) {
  if (const auto fault = fault_of(accelerator))
    return invalid(fmt::format("{}: {} {}", where, fault->field, fault->sentence));
  return accelerator;
}

namespace {

// True when the text has `name:`, and not as the end of a longer word.
bool has_field(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const bool begins = at == 0 || (std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0 && text[at - 1] != '_');
    if (begins && text.substr(at + name.size()).starts_with(':')) return true;
  }
  return false;
}

}  // namespace

bool is_meant_as_accelerator(const std::string& source) {
  if (is_zoo_source(source)) return zoo_text("accelerators", source.substr(4)) && !zoo_text("networks", source.substr(4));
  const std::string ending = lower(std::filesystem::path(source).extension().string());
  if (ending == ".txt") return true;
  if (ending != ".yaml" && ending != ".yml" && ending != ".m") return false;
  const Result<std::string> text = read_file(source);
  if (!text) return false;
  if (ending == ".m") return text->find("Network") == std::string::npos && text->find("num_pes") != std::string::npos;
  if (text->find("tilewright-acc") != std::string::npos) return true;
  if (text->find("tilewright-network") != std::string::npos || has_field(*text, "layers")) return false;
  return has_field(*text, "pes") || has_field(*text, "l1_bytes") || has_field(*text, "l2_bytes") || has_field(*text, "noc");
}

Result<Accelerator> read_accelerator(const std::string& source) {
  if (is_zoo_source(source)) {
    TW_TRY(const std::string text, zoo_text("accelerators", std::string_view(source).substr(4)));
    return accelerator_from_yaml(text, source);
  }
  const std::string ending = lower(std::filesystem::path(source).extension().string());
  const bool yaml = ending == ".yaml" || ending == ".yml";
  const bool maestro = ending == ".m" || ending == ".txt";
  if (!yaml && !maestro)
    return invalid(fmt::format("{}: ends in '{}', expected an accelerator in .yaml, .yml, .m or .txt, or zoo:NAME{}", source,
                               ending, zoo_hint("accelerators", source)));
  TW_TRY(const std::string text, read_file(source));
  return yaml ? accelerator_from_yaml(text, source) : accelerator_from_maestro(text, source);
}

}  // namespace tilewright
