# SPDX-License-Identifier: BSD-3-Clause
"""The site: ``python -m sphinx -W --keep-going -b html docs docs/_build/html``.

Environment variables: D2KE_DOCS_GALLERY=0 shows the gallery's examples without running them, and
D2KE_DOCS_LINKS=1 links the names of numpy, scipy and scikit-learn to their sites, which needs a
network.
"""

import os
import re
import warnings
from pathlib import Path

import d2ke

HERE = Path(__file__).parent
ROOT = HERE.parent

project = "d2ke"
author = "The d2ke developers"
copyright = author
release = version = d2ke.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery"]
templates_path = ["_templates"]
default_role = "literal"

# ---------------------------------------------------------------- pages that live outside of docs/

GALLERY = (HERE / "gallery" / "GALLERY_HEADER.rst").exists()
# A page of the site and the file that it shows.
PAGES = {
    "benchmarks": "benchmarks/README.md",
    "changelog": "CHANGELOG.md",
    "contributing": "CONTRIBUTING.md",
    "data": "data/README.md",
    "security": "SECURITY.md",
}
_SHOWN = {path: page for page, path in PAGES.items()} | {"README.md": "index"}
_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)")


def _read(app, docname, source):
    """Replace the stub of a page by its file; links lead to pages where there is one."""
    folder = HERE
    if docname in PAGES:
        path = ROOT / PAGES[docname]
        app.env.note_dependency(str(path))
        source[0] = path.read_text("utf-8")
        folder = path.parent
    if not GALLERY:
        source[0] = re.sub(r"^.*gallery_pages/index.*\n", "", source[0], flags=re.M)
    if not docname.startswith("gallery_pages/"):
        folder = folder if docname in PAGES else (HERE / docname).parent
        source[0] = _LINK.sub(lambda link: _to_page(folder / link[1], docname), source[0])


def _to_page(path, docname):
    """Return the link of a page to a file, or to the page that shows it."""
    path = Path(os.path.normpath(path))
    if path.is_relative_to(ROOT) and str(path.relative_to(ROOT)) in _SHOWN:
        path = HERE / f"{_SHOWN[str(path.relative_to(ROOT))]}.md"
    return os.path.relpath(path, (HERE / docname).parent)


def _docstring(app, what, name, thing, options, lines):
    """Escape the bars of absolute values, which would be substitutions, and link pages."""
    for i, line in enumerate(lines):
        if line == "Examples":
            break
        line = re.sub(r"(``[^`]*``)|\|", lambda part: part[1] or r"\|", line)
        lines[i] = re.sub(r"(?<![`/\w])docs/(\w+)\.md", r":doc:`/\1`", line)


def setup(app):
    """Connect what reads pages and docstrings."""
    app.connect("source-read", _read)
    app.connect("autodoc-process-docstring", _docstring, priority=400)  # before numpydoc


# ---------------------------------------------------------------- Markdown

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]

# ---------------------------------------------------------------- reference

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say them
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

intersphinx_mapping = {}
if os.environ.get("D2KE_DOCS_LINKS") == "1":
    intersphinx_mapping = {
        "numpy": ("https://numpy.org/doc/stable/", None),
        "python": ("https://docs.python.org/3/", None),
        "scipy": ("https://docs.scipy.org/doc/scipy/", None),
        "sklearn": ("https://scikit-learn.org/stable/", None),
    }

# ------------------------------------------------- links to other sites: sphinx -b linkcheck

linkcheck_timeout = 30
linkcheck_retries = 2
linkcheck_allowed_redirects = {r"https://doi\.org/.*": r"https://.*"}

# ---------------------------------------------------------------- gallery

sphinx_gallery_conf = {
    "examples_dirs": [],
    "gallery_dirs": [],
    "download_all_examples": False,
    "matplotlib_animations": False,
    "min_reported_time": 5,
    "plot_gallery": os.environ.get("D2KE_DOCS_GALLERY") != "0",
    "remove_config_comments": True,
    "show_memory": False,
    "within_subsection_order": "FileNameSortKey",
}
if GALLERY:
    sphinx_gallery_conf |= {"examples_dirs": ["gallery"], "gallery_dirs": ["gallery_pages"]}
# What matplotlib says of a picture that is not shown is no fault of a page.
warnings.filterwarnings("ignore", message=".*non-interactive.*", category=UserWarning)

# ---------------------------------------------------------------- pages in a browser

html_theme = "pydata_sphinx_theme"
html_title = f"d2ke {release}"
html_static_path = ["_static"]
html_css_files = ["d2ke.css"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "d2ke"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "show_prev_next": False,
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
html_sidebars = {"index": [], "needs": [], "benchmarks": []}  # pages without pages below them
