# SPDX-License-Identifier: BSD-3-Clause
"""The site: every public name is in the reference, and a browser without a window reads it.

``D2KE_SITE`` is the folder of the built site; without it, or without a browser, only the pages'
sources are tested.
"""

import inspect
import os
import re
import threading
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from browser_pages import frames, measured_frames

import d2ke
import matlab_compat

DOCS = Path(__file__).parent.parent / "docs"
THEME_SAYS = ("[PST]: ", "Got invalid theme mode: .")  # that it follows the system's theme
PAGES = {
    "front": "index.html",
    "guide": "stores.html",
    "distances": "distances.html",
    "concepts": "start/concepts.html",
    "glossary": "start/glossary.html",
    "benchmarks": "benchmarks.html",
    "reference": "reference/generated/d2ke.distance_matrix.html",
    "search": "search.html?q=distance_matrix",
    "gallery": "gallery_pages/index.html",
    "example": "gallery_pages/plot_*.html",
}
MEASURED = """(page) => ({
  hidden: [...page.querySelectorAll("article, article section, article dl, article p")]
    .filter(one => one.clientWidth && one.scrollWidth > one.clientWidth + 1)
    .map(one => one.textContent.slice(0, 80)),
  pictures: [...page.querySelectorAll("article img")]
    .map(one => one.complete ? one.naturalWidth : 0),
  results: [...page.querySelectorAll("#search-results li a")].map(one => one.textContent),
})"""


def listed():
    """Return the names of the reference's pages, by module."""
    names = {}
    for page in {*(DOCS / "reference").glob("*.rst")} - {DOCS / "reference/index.rst"}:
        for module, rows in re.findall(
            r"currentmodule:: (\S+)\n\n\.\. autosummary::\n.*?\n\n((?:   \w+\n)+)",
            page.read_text(encoding="utf-8"),
            re.S,
        ):
            names.setdefault(module, []).extend(rows.split())
    return names


def test_every_public_name_is_in_the_reference_once():
    pytest.importorskip("sklearn")
    pytest.importorskip("dask.array")
    from d2ke import dask, estimators

    names = listed()
    packages = (
        d2ke, d2ke.datasets, d2ke.discriminative, d2ke.distances, d2ke.embedding, d2ke.explain,
        d2ke.groups, d2ke.io, d2ke.learners, d2ke.measures, d2ke.model_selection, d2ke.plots,
        d2ke.samplers, d2ke.theory, estimators, dask, matlab_compat,
    )  # fmt: skip
    for module in packages:
        public = {
            name
            for name in module.__all__
            if not inspect.ismodule(getattr(module, name)) and name != "__version__"
        }
        assert sorted(names[module.__name__]) == sorted(public)
    public = {
        name
        for name, thing in vars(d2ke.views).items()
        if inspect.isfunction(thing)
        and thing.__module__ == d2ke.views.__name__
        and not name.startswith("_")
    }
    assert set(names[d2ke.views.__name__]) == public


def test_the_glossary_has_the_terms_of_the_papers():
    glossary = (DOCS / "start" / "glossary.md").read_text(encoding="utf-8")
    terms = re.findall(r"^(\S.*)\n  \S", glossary, re.M)
    assert terms == sorted(terms, key=lambda term: re.sub(r"\W", "", term.casefold()))
    for page in DOCS.rglob("*.md"):
        for term in re.findall(
            r"\{term\}`(?:[^`<]*<)?([^`>]+)>?`", page.read_text(encoding="utf-8")
        ):
            assert term in terms
    for term in ("omega", "p(omega)", "R", "gamma", "length", "D2KE", "RSM", "DSK_RBF", "DSK_ND",
                 "GDK_LED", "KNN", "CDSK", "LPDSK", "coreset", "witness function"):  # fmt: skip
        assert term in terms


@pytest.fixture(scope="module")
def site():
    """Serve the site; skip where it is not built."""
    if "D2KE_SITE" not in os.environ:
        pytest.skip("needs D2KE_SITE, the folder of the built site")
    folder = Path(os.environ["D2KE_SITE"])
    pages = {}

    class Handler(SimpleHTTPRequestHandler):
        def do_GET(self):
            if self.path.lstrip("/") not in pages:
                return super().do_GET()
            text = pages[self.path.lstrip("/")].encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            return self.wfile.write(text)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield folder, pages, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


class Links(HTMLParser):
    """The anchors of a page, and what it links or shows."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.targets = set(), set()
        self.feed(path.read_text("utf-8"))
        self.close()

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors |= {attributes[name] for name in ("id", "name") if attributes.get(name)}
        self.targets |= {attributes[name] for name in ("href", "src") if attributes.get(name)}


def broken_links(folder):
    """Return (page, link) for all links inside of a folder whose file or anchor is not there."""
    paths = [path for path in folder.rglob("*.html") if "_static" not in path.parts]
    pages = {path: Links(path) for path in paths}
    broken = []
    for path, page in pages.items():
        for link in page.targets:
            url = urlsplit(link)
            if url.scheme or url.netloc:
                continue
            target = path
            if url.path:
                target = Path(os.path.normpath(path.parent / unquote(url.path)))
            anchors = pages[target].anchors if target in pages else ()
            if not target.is_file() or (url.fragment and unquote(url.fragment) not in anchors):
                broken.append((str(path.relative_to(folder)), link))
    return broken


def test_links_of_the_site(site):
    assert broken_links(site[0]) == []


@pytest.mark.parametrize("name", PAGES)
def test_pages_in_a_browser(browser, site, tmp_path, name):
    folder, pages, address = site
    path = PAGES[name]
    if "gallery_pages" in path:
        found = sorted(folder.glob(path))
        if not found:
            pytest.skip("the site was built without a gallery")
        path = str(found[0].relative_to(folder))
    pages[f"frames-{name}.html"] = frames(f'src = "/{path}"', MEASURED, 4000)
    measured, said = measured_frames(browser, tmp_path, f"{address}/frames-{name}.html")
    assert [line for line in said if not line.startswith(THEME_SAYS)] == []
    for frame in measured:
        assert frame["hidden"] == []
        assert "d2ke" in frame["title"]
        assert all(natural > 0 for natural in frame["pictures"])
        if name == "search":
            assert any("distance_matrix" in result for result in frame["results"])
    pictures = {"front": 1, "concepts": 4, "benchmarks": 1, "example": 1}.get(name, 0)
    assert len(measured[0]["pictures"]) >= pictures
