# SPDX-License-Identifier: BSD-3-Clause
"""A page in frames of several widths, as a browser without a window lays it out."""

import json
import re
import subprocess
from html import unescape

WIDTHS = (400, 1200)
# What is measured after a while goes to an attribute of the body.
_FRAMES = """\
<!DOCTYPE html>
<html><body><script>
const frames = {widths}.map(width => {{
  const frame = document.createElement("iframe");
  frame.{source};
  frame.style = `width: ${{width}}px; height: 900px; border: 0`;
  document.body.append(frame);
  return frame;
}});
const measure = () => document.body.setAttribute("data-measured", JSON.stringify(
  frames.map(frame => {{
    const page = frame.contentDocument, root = page.documentElement;
    return {{
      width: root.clientWidth,
      content: root.scrollWidth,
      title: page.title,
      ...({measured})(page, root),
    }};
  }})));
window.onload = () => setTimeout(measure, {wait});
</script></body></html>
"""


def frames(source, measured, wait=0):
    """Return a page of frames, which measures each by a function of JavaScript."""
    return _FRAMES.format(source=source, measured=measured, widths=list(WIDTHS), wait=wait)


def measured_frames(browser, folder, address, *words):
    """Return what was measured in each frame, and what the browser said meanwhile."""
    words = ["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", *words]
    words += [f"--user-data-dir={folder / 'profile'}", "--window-size=1300,900", "--dump-dom"]
    words += ["--virtual-time-budget=20000", address]
    run = subprocess.run([browser, *words], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    measured = json.loads(unescape(re.search(r'data-measured="([^"]*)"', run.stdout)[1]))
    for frame, width in zip(measured, WIDTHS, strict=True):
        # A scroll bar of the page may take some of the width; nothing is wider than what is left.
        assert width - 20 <= frame["width"] <= width
        assert frame["content"] == frame["width"]
    return measured, re.findall(r':CONSOLE:\d+\] "(.*)", source', run.stderr)
