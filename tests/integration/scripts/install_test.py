#!/usr/bin/env python3
"""usage: install_test.py BUILD
What `cmake --install` puts where, by component; that find_package(swinscope) finds it; that the desktop files are valid."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path()
DOCUMENTS = "share/doc/swinscope"
WANTED = {
    "swinscope": ["bin/swinscope", "lib/swinscope/libswinscope_collector.so", "lib/swinscope/python/sitecustomize.py",
                  f"{DOCUMENTS}/LICENSE", f"{DOCUMENTS}/README.md", f"{DOCUMENTS}/docs/schema.md", f"{DOCUMENTS}/docs/metrics.md",
                  "share/man/man1/swinscope.1", "share/bash-completion/completions/swinscope",
                  "share/fish/vendor_completions.d/swinscope.fish", "share/swinscope/swinscope_swin_tiny_graph_1gpu.db",
                  "lib/cmake/swinscope/swinscopeConfig.cmake", "lib/cmake/swinscope/swinscopeConfigVersion.cmake"],
    "workloads": ["bin/swin", "share/man/man1/swin.1", "share/bash-completion/completions/swin"],
    "gui": ["bin/swinscope-gui", "share/man/man1/swinscope-gui.1", "share/applications/swinscope-gui.desktop",
            "share/metainfo/org.swinscope.swinscope.metainfo.xml", "share/icons/hicolor/scalable/apps/swinscope.svg"],
}
PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(user NONE)
find_package(swinscope 0.1 REQUIRED)
get_target_property(program swinscope::swinscope IMPORTED_LOCATION)
foreach(file "${program}" "${swinscope_COLLECTOR}")
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "${file} does not exist")
  endif()
endforeach()
"""


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="swinscope-install-")
        cls.folder = pathlib.Path(cls.place.name)
        for component in WANTED:
            if component == "gui" and not (BUILD / "bin/swinscope-gui").exists():
                continue  # a build without Qt
            # /usr, for which Debian has a folder for the libraries of the architecture: ours are not among them.
            subprocess.run(["cmake", "--install", BUILD, "--prefix", cls.folder / component / "usr", "--component", component],
                           check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def files(self, component):
        usr = self.folder / component / "usr"
        return {str(path.relative_to(usr)) for path in usr.rglob("*") if path.is_file()}

    def test_each_component_has_its_files(self):
        for component, wanted in WANTED.items():
            if component == "gui" and not (BUILD / "bin/swinscope-gui").exists():
                continue
            self.assertEqual(set(wanted) - self.files(component), set(), component)

    def test_modules_lie_in_one_folder(self):
        modules = {path for component in WANTED for path in self.files(component) if path.endswith(".so")}
        self.assertEqual({str(pathlib.Path(path).parent) for path in modules}, {"lib/swinscope"})

    def test_components_have_no_file_in_common(self):
        seen = {}
        for component in WANTED:
            for path in self.files(component):
                self.assertEqual(seen.setdefault(path, component), component, path)

    def test_packages_are_found(self):
        with tempfile.TemporaryDirectory() as name:
            (pathlib.Path(name) / "CMakeLists.txt").write_text(PROJECT)
            ended = subprocess.run(["cmake", "-G", "Ninja", "-S", name, "-B", f"{name}/build",
                                    f"-DCMAKE_PREFIX_PATH={self.folder / 'swinscope/usr'}"], capture_output=True, text=True)
            self.assertEqual(ended.returncode, 0, ended.stderr)


class Desktop(unittest.TestCase):
    def validate(self, program, *words):
        if shutil.which(program) is None:
            self.skipTest(f"{program} is not installed")
        ended = subprocess.run([program, *words], capture_output=True, text=True)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)

    def test_entry(self):
        self.validate("desktop-file-validate", ROOT / "packaging/swinscope-gui.desktop")

    def test_metainfo(self):
        self.validate("appstreamcli", "validate", "--no-net", ROOT / "packaging/org.swinscope.swinscope.metainfo.xml")

    def test_metainfo_has_the_version(self):
        version = re.search(r"project\(swinscope VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
        self.assertIn(f'<release version="{version}"', (ROOT / "packaging/org.swinscope.swinscope.metainfo.xml").read_text())

    def test_the_icon_is_the_one_of_the_window(self):
        source = (ROOT / "gui/widgets/window_place.cpp").read_text()
        drawn = [(float(begin), float(end), color) for begin, end, color in re.findall(r'\{([\d.]+), ([\d.]+), "(#\w+)"\}', source)]
        shown = [(int(x) / 100, (int(x) + int(width)) / 100, color) for x, width, color in
                 re.findall(r'<rect x="(\d+)" .*?width="(\d+)" .*?fill="(#\w+)"', (ROOT / "packaging/swinscope.svg").read_text())]
        self.assertEqual(shown, drawn)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
