"""How the documentation is built: offline, from this folder, with every example executed."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from sphinx.application import Sphinx

import supm

# What is beside this file, and the experiments, of which an example shows one.
sys.path[:0] = [str(folder) for folder in Path(__file__).resolve().parents[:2]]

project = "SUPM"
author = "The SUPM developers"
version = release = supm.__version__
project_copyright = author

extensions = [
    "mathml",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
    "verbs",
]
exclude_patterns = ["_build", "gallery_src", "gallery/*.ipynb", "sg_execution_times.rst"]
templates_path = ["_templates"]
# A word in single backticks is a link where it names an object, and emphasis elsewhere.
default_role = "autolink"
nitpicky = True
nitpick_ignore_regex = [
    # Other packages' objects: their inventories would have to be downloaded.
    (r"py:.*", r"(abc|collections|dataclasses|enum|fractions|numpy|time|typing)\..*"),
    # Private modules are named in docstrings for those who read the source; they have no page.
    (r"py:.*", r"(supm\.)?([a-z_]+\.)*_[a-z_]+(\..*)?"),
]

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

# The reference shows what each module exports, in the order of its __all__.
autosummary_ignore_module_all = False
autosummary_imported_members = True
# What the package offers at its top has its own page in the module where it lives.
_homes = [import_module(f"supm.{each.name}") for each in iter_modules(supm.__path__) if each.ispkg]
autosummary_context = {"homes": {name: home.__name__ for home in _homes for name in home.__all__}}
autodoc_member_order = "bysource"
# Types are in the docstrings; in the signatures they would only repeat them.
autodoc_typehints = "none"
numpydoc_show_class_members = False
# The list beside a class names its methods without repeating the class.
toc_object_entries_show_parents = "hide"

sphinx_gallery_conf = {
    "abort_on_example_error": True,
    "backreferences_dir": None,
    "download_all_examples": False,
    "examples_dirs": "gallery_src",
    "gallery_dirs": "gallery",
    "run_stale_examples": True,
    "show_signature": False,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "SUPM"
html_show_sourcelink = False
html_static_path = ["_static"]
html_logo = html_favicon = "../src/supm/service/static/mark.svg"
html_css_files = ["local.css"]
# Pages without pages below them have nothing to list on the left.
html_sidebars: dict[str, list[str]] = {"errata": [], "glossary": [], "index": []}
html_theme_options = {
    "logo": {"text": "SUPM"},
    "footer_end": [],
    "footer_start": ["copyright"],
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
}


def _skip_inherited_from_others(*given: object) -> bool:
    """Leave out what scikit-learn documents itself: its texts link to pages that are not here."""
    _app, _what, _name, member, skip, _options = given
    return bool(skip) or str(getattr(member, "__module__", "")).startswith("sklearn.")


def setup(app: Sphinx) -> None:
    """Connect the hook; Sphinx calls this."""
    app.connect("autodoc-skip-member", _skip_inherited_from_others)
