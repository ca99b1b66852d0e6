"""Public data sets of the papers, each with a schema whose bounds are public, too.

A loader takes its file from the folder that the environment variable ``SUPM_DATA`` names; without
it, it takes the original from the user's cache folder or downloads it from where it is published.
Every file is checked by its SHA-256 before it is read. WDBC and Diabetes come with scikit-learn.
"""

from __future__ import annotations

from supm.datasets.dataset import Bound, Dataset, ImageDataset
from supm.datasets.images import load_cifar10, load_fashion_mnist, load_mnist
from supm.datasets.tables import (
    load_adult,
    load_boston,
    load_diabetes,
    load_howell1,
    load_ionosphere,
    load_musk2,
    load_nltcs,
    load_wdbc,
)

__all__ = [
    "Bound",
    "Dataset",
    "ImageDataset",
    "load_adult",
    "load_boston",
    "load_cifar10",
    "load_diabetes",
    "load_fashion_mnist",
    "load_howell1",
    "load_ionosphere",
    "load_mnist",
    "load_musk2",
    "load_nltcs",
    "load_wdbc",
]
