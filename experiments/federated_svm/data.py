"""The images as rows of numbers: pixels of unit norm, or histograms of oriented gradients."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from experiments.federated_svm.hog import HOG_NORM, hog_features
from numpy.typing import NDArray

from supm import simulation
from supm.datasets import load_cifar10, load_fashion_mnist, load_mnist
from supm.datasets.dataset import ImageDataset
from supm.federation.rows import Rows, VectorEncoding

__all__ = ["Images", "images", "tables_of"]

Floats = NDArray[np.float64]
_LOADERS = {"mnist": load_mnist, "fashion_mnist": load_fashion_mnist, "cifar10": load_cifar10}


@dataclass(frozen=True, kw_only=True, eq=False)
class Images:
    """Vectors of norm at most one, for training and for testing."""

    vectors: Floats
    labels: NDArray[np.int64]
    test_vectors: Floats
    test_labels: NDArray[np.int64]

    @property
    def encoding(self) -> VectorEncoding:
        """How vectors become rows."""
        return VectorEncoding(width=self.vectors.shape[1], classes=10)


@lru_cache(maxsize=1)
def images(name: str, most: int) -> Images:
    """Load a data set; at most so many records of either part."""
    loaded = _LOADERS[name]()
    vectors, labels = _part(loaded, "train", most)
    test_vectors, test_labels = _part(loaded, "test", most)
    return Images(
        vectors=vectors, labels=labels, test_vectors=test_vectors, test_labels=test_labels
    )


def _part(loaded: ImageDataset, part: str, most: int) -> tuple[Floats, NDArray[np.int64]]:
    pixels = loaded.arrays[f"x_{part}"][:most]
    labels = loaded.arrays[f"y_{part}"][:most].astype(np.int64)
    if loaded.name == "cifar10":
        return hog_features(pixels) / HOG_NORM, labels
    flat = pixels.reshape(len(pixels), -1).astype(np.float64)
    # The pixels of each image by themselves: no other record is looked at.
    return flat / np.maximum(np.linalg.norm(flat, axis=1, keepdims=True), 1e-9), labels


def tables_of(given: Images, sizes: tuple[int, ...], seed: int) -> list[Rows]:
    """Return the parties' rows, drawn from the records for training without return."""
    order = simulation(seed).child("records").permutation(len(given.labels))
    ends = np.cumsum(sizes)
    chosen = np.split(order[: ends[-1]], ends[:-1])
    return [given.encoding.rows(given.vectors[part], given.labels[part]) for part in chosen]
