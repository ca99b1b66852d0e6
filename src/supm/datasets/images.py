"""Images of digits, clothes and things: MNIST, Fashion-MNIST and CIFAR-10."""

from __future__ import annotations

import gzip
import io
import struct
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm._errors import DatasetError
from supm.datasets.dataset import ImageDataset
from supm.datasets.files import about, compact_file, original_files, source_of

_PARTS: Final = ("x_train", "y_train", "x_test", "y_test")


def load_mnist() -> ImageDataset:
    """Load MNIST: 60,000 and 10,000 images of written digits, 28 x 28 pixels.

    Returns
    -------
    ImageDataset

    Raises
    ------
    DatasetError
        If the files cannot be had, or are not the right ones.
    """
    return _images("mnist")


def load_fashion_mnist() -> ImageDataset:
    """Load Fashion-MNIST: 60,000 and 10,000 images of clothes, 28 x 28 pixels.

    Returns
    -------
    ImageDataset

    Raises
    ------
    DatasetError
        If the files cannot be had, or are not the right ones.
    """
    return _images("fashion_mnist")


def load_cifar10() -> ImageDataset:
    """Load CIFAR-10: 50,000 and 10,000 images of animals and vehicles, 32 x 32 pixels, 3 colours.

    Unpacking the training images takes some seconds.

    Returns
    -------
    ImageDataset
        ``arrays["jpeg_train"]`` and ``arrays["jpeg_test"]`` mark the images that are not lossless.

    Raises
    ------
    DatasetError
        If the file is not in the folder SUPM_DATA, or is not the right one.
    """
    return _images("cifar10")


def _images(name: str) -> ImageDataset:
    told = about()[name]
    return ImageDataset(
        name=name,
        classes=tuple(told["classes"]),
        source=told["source"],
        licence=told["licence"],
        notes=tuple(told.get("notes", ())),
        arrays=_arrays(name),
    )


def read_idx(content: bytes) -> NDArray[np.uint8]:
    """Read an array in the IDX format of MNIST."""
    zeros, kind, dimensions = struct.unpack_from(">HBB", content)
    shape = struct.unpack_from(f">{dimensions}I", content, 4)
    pixels = np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * dimensions)
    if zeros or kind != 8 or pixels.size != np.prod(shape):
        raise DatasetError("an IDX file must hold as many bytes as its header says.")
    return pixels.reshape(shape)


def _arrays(name: str) -> Mapping[str, NDArray[Any]]:
    source = source_of(name)
    compact = compact_file(source)
    if compact is not None:
        # The archive unpacks an array when it is asked for.
        archive: Mapping[str, NDArray[Any]] = np.load(io.BytesIO(compact))
        return archive
    originals = original_files(source)
    return {
        part: read_idx(gzip.decompress(content))
        for part, content in zip(_PARTS, originals, strict=True)
    }
