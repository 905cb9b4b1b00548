"""The package page: the README with addresses that work outside the repository, and its links."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

#: What is on the page beside the README, and where it is in the repository.
PAGES = {
    "Documentation": "docs/index.md",
    "Changelog": "CHANGELOG.md",
    "Contributing": "CONTRIBUTING.md",
    "Security": "SECURITY.md",
}


def outside(text: str, repository: str, tag: str) -> str:
    """Markdown whose relative links and pictures point to a tag of the repository."""

    def absolute(link: re.Match[str]) -> str:
        mark, words, target = link.groups()
        return f"{mark}[{words}]({repository}/{'raw' if mark else 'blob'}/{tag}/{target})"

    return re.sub(r"(!?)\[([^\]]*)\]\((?!https?:|#|mailto:)([^)\s]+)\)", absolute, text)


class PackagePage(MetadataHookInterface):
    """Fills in ``readme`` and ``urls``; the repository's address is in ``pyproject.toml``, once."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Called by the build."""
        repository, tag = self.config["repository"], f"v{metadata['version']}"
        readme = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        text = outside(readme, repository, tag)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        pages = {name: f"{repository}/blob/{tag}/{path}" for name, path in PAGES.items()}
        metadata["urls"] = {"Source": repository, "Issues": f"{repository}/issues"} | pages
