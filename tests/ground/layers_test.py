"""layers_test.py SCRIPT: script/layers finds what it is there to find, on small trees with one planted fault each."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = sys.argv.pop()

CMAKE = """
tilewright_module(base SOURCES text.cpp)  # DEPENDS nothing
tilewright_module(workload
  SOURCES layer.cpp
  DEPENDS base
  PRIVATE_LINK onnx)
tilewright_module(cost SOURCES cost.cpp DEPENDS workload)
add_executable(tilewright app/main.cpp)
target_link_libraries(tilewright PRIVATE tilewright::cost CLI11::CLI11)
"""
FILES = {
    "base/text.hpp": "#include <string>\n",
    "base/text.cpp": '#include "tilewright/base/text.hpp"\n',
    "workload/layer.hpp": '#include "tilewright/base/text.hpp"\n',
    "workload/layer.cpp": '#include "tilewright/workload/layer.hpp"\n\n#include <onnx/onnx_pb.h>\n',
    "cost/cost.hpp": "",
    "cost/cost.cpp": '#include "tilewright/cost/cost.hpp"\n#include "tilewright/base/text.hpp"\n',
    "app/main.cpp": '#include "tilewright/cost/cost.hpp"\n#include "tilewright/base/text.hpp"\n',
}


def layers(cmake=CMAKE, **changes):
    """Exit code and output of script/layers on the small tree with some files changed (None takes one away)."""
    with tempfile.TemporaryDirectory() as root:
        source = pathlib.Path(root, "src", "tilewright")
        source.mkdir(parents=True)
        (source / "CMakeLists.txt").write_text(cmake)
        for name, text in (FILES | changes.get("files", {})).items():
            if text is not None:
                (source / name).parent.mkdir(exist_ok=True)
                (source / name).write_text(text)
        done = subprocess.run([SCRIPT, root], stdout=subprocess.PIPE, encoding="utf-8", check=False)
        return done.returncode, done.stdout


class Layers(unittest.TestCase):
    def finds(self, sentence, **arguments):
        code, output = layers(**arguments)
        self.assertEqual(code, 1, output)
        self.assertEqual(output.count("\n"), 1, output)
        self.assertIn(sentence, output)

    def test_a_clean_tree_passes_in_silence(self):
        self.assertEqual(layers(), (0, ""))

    def test_including_upwards(self):
        self.finds("src/tilewright/base/text.cpp:2: module 'base' includes tilewright/cost/cost.hpp, expected only",
                   files={"base/text.cpp": '#include "tilewright/base/text.hpp"\n#include "tilewright/cost/cost.hpp"\n'})

    def test_including_beside_what_is_declared(self):
        self.finds("module 'cost' includes tilewright/workload/layer.hpp, expected only what it depends on: base",
                   cmake=CMAKE.replace("DEPENDS workload", "DEPENDS base"),
                   files={"cost/cost.cpp": '#include "tilewright/workload/layer.hpp"\n'})

    def test_an_executable_may_include_only_what_it_links(self):
        self.finds("module 'app' includes tilewright/cost/cost.hpp", cmake=CMAKE.replace("tilewright::cost", "tilewright::base"))

    def test_including_without_the_module(self):
        self.finds('includes "layer.hpp", expected the form', files={"workload/layer.cpp": '#include "layer.hpp"\n'})

    def test_including_ours_in_angle_brackets(self):
        self.finds('expected "tilewright/base/text.hpp"', files={"base/text.cpp": "#include <tilewright/base/text.hpp>\n"})

    def test_including_a_header_that_is_not_there(self):
        self.finds("which does not exist", files={"cost/cost.cpp": '#include "tilewright/cost/gone.hpp"\n'})

    def test_a_folder_nobody_declared(self):
        self.finds("search: the folder is not declared", files={"search/random.hpp": ""})

    def test_a_source_nobody_listed(self):
        self.finds("base/file.cpp: the file is not listed", files={"base/file.cpp": ""})

    def test_a_listed_source_that_is_not_there(self):
        self.finds("lists cost/cost.cpp, which does not exist", files={"cost/cost.cpp": None})

    def test_depending_on_nothing_declared(self):
        self.finds("depends on 'hardware', which is not declared", cmake=CMAKE.replace("DEPENDS workload", "DEPENDS workload hardware"))

    def test_depending_in_a_circle(self):
        code, output = layers(cmake=CMAKE.replace("SOURCES text.cpp)", "SOURCES text.cpp DEPENDS cost)"))
        self.assertEqual(code, 1)
        self.assertIn("module 'base' depends on itself", output)


if __name__ == "__main__":
    unittest.main()
