// The parts of the module, in the order in which they need each other.
#pragma once

#include <nanobind/nanobind.h>

namespace tilewright::python {

void bind_network(nanobind::module_& module);
void bind_machine(nanobind::module_& module);

}  // namespace tilewright::python
