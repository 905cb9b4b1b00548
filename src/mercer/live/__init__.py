"""The live model: kernel PCA in a page, computed where it is read.

``describe`` turns a fitted model into facts and arrays, ``write_html`` into one file that needs no
network and no Python. The mathematics of the page is in ``static/*.js``, with the same letters as
here.
"""

from mercer.live.bundle import bundle, source
from mercer.live.model import LiveModel, describe
from mercer.live.page import pack, render, write_html

__all__ = ["LiveModel", "bundle", "describe", "pack", "render", "source", "write_html"]
