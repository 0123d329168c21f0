// Machines of every kind: arrays with L1 and L2, machines with memory levels, VTA-class machines.
#include "bind.hpp"
#include "convert.hpp"

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/hardware/accelerator.hpp"
#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/study/hierarchy_job.hpp"
#include "tilewright/vta/machine.hpp"

namespace tilewright::python {
namespace {

using hierarchy::MacArray;
using hierarchy::Machine;
using hierarchy::StorageLevel;

#define TW_FIELD(type, name, member, meaning)                   \
  Field {                                                       \
    name, meaning, [](type & it) -> auto& { return it.member; } \
  }

// What every class of machines has besides its fields.
template <typename T, typename Write>
void define_files(nb::class_<T>& cls, const char* method, Write write, const char* meaning) {
  cls.def(
      method, [write](const T& self) { return write(self); }, meaning);
  cls.def(
      "save", [write](const T& self, const nb::object& path) { write_text(path, write(self)); }, "path"_a,
      nb::sig("def save(self, path: str | os.PathLike[str]) -> None"), "Writes the same to a file.");
}

void bind_accelerator(nb::module_& module) {
  nb::class_<Accelerator> cls(
      module, "Accelerator",
      "An array of processing elements with a private L1 each, a shared L2, a network between them and "
      "memory outside.\n\nOne element of a tensor is one byte. A value that never changes: any number "
      "of threads may use it.");
  define_fields<Accelerator>(
      cls, "Accelerator",
      [](Accelerator machine) {
        const std::string where = fmt::format("accelerator '{}'", printable(machine.name));
        return check(std::move(machine), where);
      },
      TW_FIELD(Accelerator, "name", name, "what people call it"),
      TW_FIELD(Accelerator, "source", source, "where the numbers come from"),
      TW_FIELD(Accelerator, "pes", pes, "processing elements"),
      TW_FIELD(Accelerator, "clusters", clusters, "units per cluster as built, outermost first; none = one flat array"),
      TW_FIELD(Accelerator, "l1_bytes", l1, "bytes of L1 per processing element; 2147483647 = no limit, here and below"),
      TW_FIELD(Accelerator, "l2_bytes", l2, "bytes of L2"),
      TW_FIELD(Accelerator, "noc_bandwidth", noc.bandwidth, "elements per cycle"),
      TW_FIELD(Accelerator, "noc_hops", noc.hops, "between L2 and a processing element"),
      TW_FIELD(Accelerator, "noc_hop_latency", noc.hop_latency, "cycles"),
      TW_FIELD(Accelerator, "offchip_bandwidth", offchip_bandwidth, "elements per cycle"),
      TW_FIELD(Accelerator, "simd_lanes", simd_lanes, "MACs per processing element and cycle"),
      TW_FIELD(Accelerator, "clock_ghz", clock_ghz, "GHz"),
      TW_FIELD(Accelerator, "leakage_mw", leakage, "mW of the whole machine, whatever it does"),
      TW_FIELD(Accelerator, "mac_pj", energy.mac, "pJ of a multiply-accumulate"),
      TW_FIELD(Accelerator, "l1_access_pj", energy.l1_access, "pJ of an access to L1"),
      TW_FIELD(Accelerator, "l2_access_pj", energy.l2_access, "pJ of an access to L2"),
      TW_FIELD(Accelerator, "pe_um2", area.pe, "um2 of a SIMD lane; None = not known"),
      TW_FIELD(Accelerator, "buffer_byte_um2", area.buffer_byte, "um2 of a byte of L2, and of L1 unless that has its own"),
      TW_FIELD(Accelerator, "l1_byte_um2", area.l1_byte, "um2 of a byte of L1; None = as L2"));
  define_files(
      cls, "to_yaml", [](const Accelerator& self) { return to_yaml(self); },
      "As a file of ours, which read_machine reads back.");
}

void bind_storage(nb::module_& module) {
  nb::class_<MacArray> mac(module, "MacArray", "The multiply-accumulate units of a machine with memory levels.");
  define_fields<MacArray>(
      mac, "MacArray",
      [](MacArray array) -> Result<MacArray> {
        if (const auto fault = fault_of(array)) return invalid(fmt::format("MACs '{}': {}", printable(array.name), *fault));
        return array;
      },
      TW_FIELD(MacArray, "name", name, "what people call it"),
      TW_FIELD(MacArray, "instances", instances, "how many there are"),
      TW_FIELD(MacArray, "mesh_x", mesh_x, "how many stand side by side"),
      TW_FIELD(MacArray, "word_bits", word_bits, "bits of an operand"),
      TW_FIELD(MacArray, "energy_pj", energy, "pJ of a multiply-accumulate"),
      TW_FIELD(MacArray, "area_um2", area, "um2 of one; None = not known"));

  nb::class_<StorageLevel> cls(module, "StorageLevel", "A storage level of a machine; numbers of words are per copy.");
  define_fields<StorageLevel>(
      cls, "StorageLevel",
      [](StorageLevel level) -> Result<StorageLevel> {
        if (const auto fault = fault_of(level)) return invalid(fmt::format("level '{}': {}", printable(level.name), *fault));
        return level;
      },
      TW_FIELD(StorageLevel, "name", name, "what people call it"),
      TW_FIELD(StorageLevel, "technology", technology, "registers, sram or dram"),
      TW_FIELD(StorageLevel, "instances", instances, "copies of it"),
      TW_FIELD(StorageLevel, "mesh_x", mesh_x, "copies side by side"),
      TW_FIELD(StorageLevel, "capacity", capacity, "words of a copy; None = no limit"),
      TW_FIELD(StorageLevel, "word_bits", word_bits, "bits of a word"),
      TW_FIELD(StorageLevel, "block_size", block_size, "words per physical access"),
      TW_FIELD(StorageLevel, "cluster_size", cluster_size, "copies that share one physical memory"),
      TW_FIELD(StorageLevel, "multiple_buffering", multiple_buffering, "copies of a tile that the capacity has to hold"),
      TW_FIELD(StorageLevel, "min_utilization", min_utilization, "share of the capacity a mapping has to use, 0 to 1"),
      TW_FIELD(StorageLevel, "read_bandwidth", read_bandwidth, "words per cycle; None = no limit"),
      TW_FIELD(StorageLevel, "write_bandwidth", write_bandwidth, "words per cycle; None = no limit"),
      TW_FIELD(StorageLevel, "shared_bandwidth", shared_bandwidth, "words per cycle, read and written together"),
      TW_FIELD(StorageLevel, "overlaps", overlaps, "moving tiles goes on behind the computation"),
      TW_FIELD(StorageLevel, "multicast", multicast, "one word may go to several copies inside"),
      TW_FIELD(StorageLevel, "links", links, "copies of the level inside pass data to their neighbours"),
      TW_FIELD(StorageLevel, "read_pj", energy.read, "pJ of reading block_size words"),
      TW_FIELD(StorageLevel, "fill_pj", energy.fill, "pJ of filling block_size words"),
      TW_FIELD(StorageLevel, "update_pj", energy.update, "pJ of updating block_size words"),
      TW_FIELD(StorageLevel, "hop_pj", energy_per_hop, "pJ of a word's hop in the network to the level inside"),
      TW_FIELD(StorageLevel, "router_pj", router_energy, "pJ of a word at a router of that network"),
      TW_FIELD(StorageLevel, "leakage_pj", leakage, "pJ per copy and cycle"),
      TW_FIELD(StorageLevel, "area_um2", area, "um2 of one copy; None = not known"));
  cls.def_prop_ro(
      "keeps",
      [](const StorageLevel& self) {
        std::vector<std::string> words;
        for (const hierarchy::TensorKind kind : self.keeps) words.emplace_back(name(kind));
        return words;
      },
      "Tensors that every mapping has to keep here: weights, inputs, outputs.");
  cls.def_prop_ro(
      "bypasses",
      [](const StorageLevel& self) {
        std::vector<std::string> words;
        for (const hierarchy::TensorKind kind : self.bypasses) words.emplace_back(name(kind));
        return words;
      },
      "Tensors that every mapping has to lead past it.");
}

Machine checked(Machine machine) {
  const std::string where = fmt::format("machine '{}'", printable(machine.name));
  return take(check(std::move(machine), where));
}

Machine changed(Machine machine, const nb::dict& given) {
  for (auto [key, value] : given) {
    const std::string word = nb::cast<std::string>(key), place = "LeveledMachine: " + word;
    if (word == "name") {
      from_python(value, place, machine.name);
    } else if (word == "source") {
      from_python(value, place, machine.source);
    } else if (word == "clock_ghz") {
      from_python(value, place, machine.clock_ghz);
    } else if (word == "mac") {
      if (!nb::isinstance<MacArray>(value)) raise_type(place, value, "a MacArray");
      machine.mac = nb::cast<const MacArray&>(value);
    } else if (word == "bits") {
      std::string text;
      from_python(value, place, text);
      machine.bits = take(hierarchy::element_bits(text, machine.bits));
    } else if (word == "levels") {
      machine.levels.clear();
      for (const nb::handle level : nb::iter(value)) {
        if (!nb::isinstance<StorageLevel>(level)) raise_type(place, level, "a StorageLevel");
        machine.levels.push_back(nb::cast<const StorageLevel&>(level));
      }
    } else {
      raise_builtin(PyExc_TypeError,
                    unknown_field("LeveledMachine", word, {"name", "source", "clock_ghz", "mac", "bits", "levels"}));
    }
  }
  return checked(std::move(machine));
}

void bind_leveled(nb::module_& module) {
  nb::class_<Machine> cls(
      module, "LeveledMachine",
      "Multiply-accumulate units, and a chain of storage levels from them outwards, normally up to DRAM.\n\n"
      "A value that never changes: any number of threads may use it.");
  cls.def(
      "__init__", [](Machine* self, const nb::kwargs& given) { new (self) Machine(changed({}, given)); },
      nb::sig("def __init__(self, *, name: str = '', mac: MacArray = ..., levels: collections.abc.Iterable[StorageLevel] = "
              "..., clock_ghz: float = 1.0, "
              "source: str = '', bits: str = '') -> None"),
      "Made of its MACs and its levels, the innermost first; `bits` are widths of elements: 'weights=4,inputs=8'.");
  cls.def(
      "replace", [](const Machine& self, const nb::kwargs& given) { return changed(self, given); },
      nb::sig("def replace(self, *, name: str = ..., mac: MacArray = ..., levels: collections.abc.Iterable[StorageLevel] = "
              "..., clock_ghz: float = ..., "
              "source: str = ..., bits: str = ...) -> LeveledMachine"),
      "The same with other parts, checked as a file would be.");
  cls.def_ro("name", &Machine::name, "What people call it.");
  cls.def_ro("source", &Machine::source, "Where the numbers come from.");
  cls.def_ro("clock_ghz", &Machine::clock_ghz, "GHz.");
  cls.def_ro("mac", &Machine::mac, "Its multiply-accumulate units.");
  cls.def_prop_ro(
      "levels", [](const Machine& self) { return self.levels; }, "Its storage levels, the innermost first, as a new list.");
  cls.def(
      "__eq__",
      [](const Machine& a, const nb::object& b) { return nb::isinstance<Machine>(b) && a == nb::cast<const Machine&>(b); },
      nb::sig("def __eq__(self, other: object, /) -> bool"));
  cls.def("__hash__", [](const Machine& self) { return nb::hash(nb::str(to_yaml(self).c_str())); });
  cls.def("__repr__", [](const Machine& self) {
    std::string levels;
    for (const StorageLevel& level : self.levels) levels += (levels.empty() ? "" : ", ") + printable(level.name);
    return fmt::format("<LeveledMachine {}: {} MACs, levels {}>", printable(self.name), self.mac.instances, levels);
  });
  cls.def(
      "_repr_html_",
      [](const Machine& self) {
        std::vector<std::pair<std::string, nb::object>> rows = {
            {self.mac.name, nb::cast(fmt::format("{} MACs", self.mac.instances))}};
        for (const StorageLevel& level : self.levels) {
          const std::string capacity =
              level.capacity ? fmt::format("{} words of {} bits", with_thousands(*level.capacity), level.word_bits)
                             : "no limit";
          rows.emplace_back(level.name, nb::cast(fmt::format("{} x {}", level.instances, capacity)));
        }
        return html_table(self.name, rows);
      },
      "A table for notebooks.");
  define_files(
      cls, "to_yaml", [](const Machine& self) { return to_yaml(self); },
      "As a file of ours, which read_machine reads back.");
  cls.def("__getstate__", [](const Machine& self) { return to_yaml(self); });
  cls.def("__setstate__", [](Machine& self, const std::string& text) {
    new (&self) Machine(take(hierarchy::machine_from_yaml(text, "pickle")));
  });
}

void bind_vta(nb::module_& module) {
  using Vta = vta::Machine;
  nb::class_<Vta> cls(
      module, "VtaMachine",
      "A VTA-class machine: a GEMM core, a vector ALU and five buffers. Sizes are logarithms to base 2, as in VTA's "
      "own JSON.\n\nA value that never changes: any number of threads may use it.");
  define_fields<Vta>(
      cls, "VtaMachine", [](Vta machine) { return check(std::move(machine), "VtaMachine"); },
      TW_FIELD(Vta, "log_inp_width", log_inp_width, "log2 of the bits of an input"),
      TW_FIELD(Vta, "log_wgt_width", log_wgt_width, "log2 of the bits of a weight"),
      TW_FIELD(Vta, "log_acc_width", log_acc_width, "log2 of the bits of an accumulator"),
      TW_FIELD(Vta, "log_batch", log_batch, "log2 of the rows of an input element"),
      TW_FIELD(Vta, "log_block_in", log_block_in, "log2 of the columns of an input element"),
      TW_FIELD(Vta, "log_block_out", log_block_out, "log2 of the rows of a weight element"),
      TW_FIELD(Vta, "log_uop_buffer", log_uop_buffer, "log2 of bytes"),
      TW_FIELD(Vta, "log_inp_buffer", log_inp_buffer, "log2 of bytes"),
      TW_FIELD(Vta, "log_wgt_buffer", log_wgt_buffer, "log2 of bytes"),
      TW_FIELD(Vta, "log_acc_buffer", log_acc_buffer, "log2 of bytes"));
  define_files(
      cls, "to_json", [](const Vta& self) { return vta::to_json(self); },
      "As a file of VTA's, which read_machine reads back.");
}

nb::object read_any(const std::string& source, const std::string& energies) {
  if (lower(source).ends_with(".json") || lower(source) == "zoo:vta") return nb::cast(take(vta::read_machine(source)));
  LevelOptions options;
  options.energies = energies;
  if (take(has_memory_levels(source, options))) return nb::cast(take(hierarchy::read_machine(source, energies)));
  return nb::cast(take(read_accelerator(source)));
}

}  // namespace

void bind_machine(nb::module_& module) {
  bind_accelerator(module);
  bind_storage(module);
  bind_leveled(module);
  bind_vta(module);
  module.def(
      "read_machine",
      [](const nb::object& source, const nb::object& energies) {
        return read_any(source_text(source, "read_machine: source"),
                        energies.is_none() ? std::string() : source_text(energies, "read_machine: energies"));
      },
      "source"_a, nb::kw_only(), "energies"_a = nb::none(),
      nb::sig("def read_machine(source: str | os.PathLike[str], *, energies: str | os.PathLike[str] | None = None) -> "
              "Accelerator | LeveledMachine | VtaMachine"),
      "Reads a machine of any kind: 'zoo:eyeriss', or a file: .yaml (ours, Timeloop's), .m (MAESTRO), .json (VTA).\n\n"
      "    energies: Accelergy's tables of energies and areas for a machine with memory levels");
  module.def(
      "leveled_machine", [](const Accelerator& machine) { return take(hierarchy::machine_of(machine)); }, "machine"_a,
      "A machine of one array as MACs, L1, L2 and DRAM, which costs what the public table says.");
}

}  // namespace tilewright::python
