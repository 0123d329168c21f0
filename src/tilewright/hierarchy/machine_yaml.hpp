// Machines in files: our own format, and Timeloop's.
#pragma once

#include <string>

#include "tilewright/hardware/accelerator.hpp"
#include "tilewright/hierarchy/energy_reference.hpp"
#include "tilewright/hierarchy/machine.hpp"

namespace tilewright::hierarchy {

// tilewright-accelerator-2 (docs/hierarchy.md). A limit that is not given is no limit. An energy, leakage or area that is
// not given is that of the reference's component of the same name, where there is one; else the energy is that of the public
// table.
Result<Machine> machine_from_yaml(const std::string& text, const std::string& where,
                                  const EnergyReference* reference = nullptr);
std::string to_yaml(const Machine& machine);

// Timeloop's `architecture:` (version 0.3, a tree) or the older flat `arch:`. The reference may be in the same file; as in
// Timeloop a level's own `vector_access_energy` goes before it, a MAC's `energy` does not.
Result<Machine> machine_from_timeloop(const std::string& text, const std::string& where,
                                      const EnergyReference* reference = nullptr);

// A machine of one array with L1 and L2 as MACs, L1, L2 and DRAM. Numbers are of 8 bits, MAC, L1 and L2 cost what the
// accelerator says, DRAM what the public table says; a copy of L1 feeds the SIMD lanes of its processing element.
Result<Machine> machine_of(const Accelerator& accelerator);

// "zoo:simba-like", or a file: ours of either version, Timeloop's, MAESTRO's. `energies` is a file of Accelergy's tables, or
// empty; an Error when it names nothing of the machine.
Result<Machine> read_machine(const std::string& source, const std::string& energies = {});

}  // namespace tilewright::hierarchy
