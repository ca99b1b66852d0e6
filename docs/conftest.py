"""Which files of this folder pytest reads: the documents. Sphinx executes the gallery itself."""

from __future__ import annotations

collect_ignore = ["conf.py", "mathml.py"]
collect_ignore_glob = ["_build/*", "api/generated/*", "gallery/*", "gallery_src/*"]
