// tilewright._core: the nouns and studies as Python sees them. Everything public is passed on by tilewright/__init__.py.
#include "bind.hpp"

NB_MODULE(_core, module) {
  module.attr("__doc__") = "What tilewright passes on from C++; use it through `import tilewright`.";
  module.attr("version") = TILEWRIGHT_VERSION;
  nanobind::set_leak_warnings(false);  // an interpreter that ends while objects live is no fault of theirs
  tilewright::python::bind_network(module);
  tilewright::python::bind_machine(module);
}
