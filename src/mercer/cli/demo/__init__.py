"""``mercer demo``: what kernel PCA can do, on data that everybody has, in under a minute."""

from mercer.cli.demo.command import demo

__all__ = ["demo"]
