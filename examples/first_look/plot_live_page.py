"""
A model in a live page
======================

``to_html`` writes a fitted model as one file that computes in any browser: no Python, no server, no
network. Drag a point on the map, and the picture beside it shows the pre-image of that place.
"""

# %%
# One line writes the page.

import tempfile
from pathlib import Path

from sklearn.datasets import load_digits

from mercer import KernelPCA

digits = load_digits()
model = KernelPCA(30).fit(digits.data / 16)
page = Path(tempfile.mkdtemp()) / "digits.html"
model.to_html(page, labels=digits.target, images=(8, 8))
print(f"{page.stat().st_size / 1e3:.0f} kB, all in one file")

# %%
# Here is such a page, for the digits:
#
# .. raw:: html
#
#     <iframe class="live-model" src="../../_live/digits.html#tab=drag" loading="lazy"
#       title="A live model: digits"></iframe>
#     <p class="live-link"><a href="../../_live/digits.html">Open it on a page of its own</a></p>
#
# :doc:`/howto/live` explains what you can do with it.

# sphinx_gallery_thumbnail_path = '_static/live.png'
