// tilewright._core: the nouns and studies as Python sees them. Everything public is passed on by tilewright/__init__.py.
#include "bind.hpp"

NB_MODULE(_core, module) {
  module.attr("__doc__") = "What tilewright passes on from C++; use it through `import tilewright`.";
  module.attr("version") = TILEWRIGHT_VERSION;
  nanobind::set_leak_warnings(false);  // an interpreter that ends while objects live is no fault of theirs
  tilewright::python::bind_network(module);
  tilewright::python::bind_machine(module);
  tilewright::python::bind_mapping(module);
  tilewright::python::bind_space(module);
  tilewright::python::bind_search(module);
  tilewright::python::bind_study(module);
  tilewright::python::bind_store(module);
  tilewright::python::bind_design(module);
  tilewright::python::bind_particle(module);
  tilewright::python::bind_marl(module);
  module.def(
      "option_tables",
      [] {
        nanobind::dict all = tilewright::python::study_options();
        all["SpaceOptions"] = tilewright::python::space_options();
        return all;
      },
      nanobind::sig("def option_tables() -> dict[str, list[dict[str, typing.Any]]]"),
      "The options of every function that has some: name, kind, default, meaning and choices of each.");
}
