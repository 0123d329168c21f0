// Machines in files: our own format, and Timeloop's.
#pragma once

#include <string>

#include "tilewright/hierarchy/machine.hpp"

namespace tilewright::hierarchy {

// tilewright-accelerator-2 (docs/hierarchy.md). A limit that is not given is no limit, an energy that is not given that of
// the public table.
Result<Machine> machine_from_yaml(const std::string& text, const std::string& where);
std::string to_yaml(const Machine& machine);

// Timeloop's `architecture:` (version 0.3, a tree) or the older flat `arch:`.
Result<Machine> machine_from_timeloop(const std::string& text, const std::string& where);

// "zoo:simba-like" or a YAML file, in the form that its top keys tell.
Result<Machine> read_machine(const std::string& source);

}  // namespace tilewright::hierarchy
