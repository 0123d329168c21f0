// The parts of the module, in the order in which they need each other.
#pragma once

#include <nanobind/nanobind.h>

namespace tilewright::python {

void bind_network(nanobind::module_& module);
void bind_machine(nanobind::module_& module);
void bind_mapping(nanobind::module_& module);
void bind_space(nanobind::module_& module);
void bind_search(nanobind::module_& module);
void bind_study(nanobind::module_& module);
void bind_store(nanobind::module_& module);
void bind_design(nanobind::module_& module);
void bind_particle(nanobind::module_& module);
void bind_marl(nanobind::module_& module);

// Tables of options, as options.hpp describes them.
nanobind::list space_options();
nanobind::dict study_options();

}  // namespace tilewright::python
