from __future__ import annotations

import gzip
import hashlib
import struct
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from supm._errors import DatasetError
from supm.datasets import load_cifar10, load_fashion_mnist, load_mnist
from supm.datasets.images import read_idx

# The published SHA-256 of MNIST's four files after decompression.
MNIST = {
    "x_train": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "y_train": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "x_test": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "y_test": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}


def idx(array: NDArray[Any]) -> bytes:
    header = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
    return header + array.tobytes()


@pytest.mark.data
def test_mnist_is_mnist_to_the_byte_and_its_original_form_reads_the_same() -> None:
    data = load_mnist()
    for part, digest in MNIST.items():
        written = idx(getattr(data, part))
        assert hashlib.sha256(written).hexdigest() == digest
        np.testing.assert_array_equal(read_idx(written), getattr(data, part), strict=True)
    assert np.bincount(data.y_test).tolist() == [
        980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009,
    ]  # fmt: skip


@pytest.mark.data
def test_fashion_mnist_has_as_many_images_of_each_kind() -> None:
    data = load_fashion_mnist()
    assert data.x_train.shape == (60_000, 28, 28)
    assert data.x_test.shape == (10_000, 28, 28)
    assert data.x_train.dtype == np.uint8
    assert np.bincount(data.y_train).tolist() == [6000] * 10
    assert np.bincount(data.y_test).tolist() == [1000] * 10
    assert len(data.classes) == 10


@pytest.mark.data
def test_cifar10_has_the_right_file_and_is_unpacked_only_when_asked() -> None:
    data = load_cifar10()
    assert repr(data) == "ImageDataset('cifar10', classes=10)"
    assert np.bincount(data.y_test).tolist() == [1000] * 10
    assert np.bincount(data.y_train).tolist() == [5000] * 10
    assert int(data.arrays["jpeg_train"].sum()) == 77
    assert int(data.arrays["jpeg_test"].sum()) == 21
    assert "x_train" not in vars(data)


@pytest.mark.data
def test_an_array_is_unpacked_once() -> None:
    data = load_mnist()
    assert data.y_test is data.y_test


def test_idx_is_read_in_its_shape() -> None:
    array = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    np.testing.assert_array_equal(read_idx(gzip.decompress(gzip.compress(idx(array)))), array)


@pytest.mark.parametrize(
    "content",
    [
        idx(np.zeros(5, dtype=np.uint8))[:-1],
        idx(np.zeros(5, dtype=np.uint8)) + b"0",
        b"\x00\x00\x0d\x01\x00\x00\x00\x01\x00",
        b"\x01\x00\x08\x01\x00\x00\x00\x01\x00",
    ],
)
def test_bytes_that_are_not_idx_are_refused(content: bytes) -> None:
    with pytest.raises(DatasetError, match="an IDX file"):
        read_idx(content)
