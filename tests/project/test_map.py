"""CONTRIBUTING.md names every module of the package with what the module says of itself."""

import re

import module_map


def test_map_in_contributing_names_every_module():
    page = module_map.PAGE.read_text(encoding="utf-8")
    listed, folder = set(), ""
    for line in page.partition(module_map.START)[2].partition(module_map.END)[0].splitlines():
        if heading := re.match(r"\*\*`syntf/(.*?)`\*\*", line):
            folder = heading[1]
            listed.add(f"{folder}__init__.py")
        elif row := re.match(r"\| `(\w+\.\w+)` \|", line):
            listed.add(folder + row[1])
    modules = {path.relative_to(module_map.PACKAGE).as_posix() for path in module_map.modules()}
    assert listed == modules, "run 'make map'"


def test_map_in_contributing_repeats_the_docstrings():
    page = module_map.PAGE.read_text(encoding="utf-8")
    assert page == module_map.with_map(page), "run 'make map'"


def test_every_module_has_a_docstring():
    assert [path.name for path in module_map.modules() if not module_map.summary(path)] == []


def test_modules_that_contributing_names_exist():
    page = module_map.PAGE.read_text(encoding="utf-8")
    text = page.partition(module_map.START)[0] + page.partition(module_map.END)[2]
    for name in re.findall(r"`(\w+/\w+\.py)`", text):
        assert (module_map.PACKAGE / name).is_file(), name
