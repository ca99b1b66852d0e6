"""Histograms of oriented gradients agree with a literal reading of their definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from skimage.feature import hog

from supm import simulation
from supm._errors import ParameterError
from supm.learning.hog import HOG_FEATURES, HOG_NORM, hog_features

Floats = NDArray[np.float64]


def made_up(count: int, colours: int) -> NDArray[np.uint8]:
    drawn = simulation(3).below(256, count * 32 * 32 * colours)
    return drawn.astype(np.uint8).reshape(count, 32, 32, colours)


def gradient(image: NDArray[np.uint8], row: int, column: int) -> tuple[float, float]:
    best = (0.0, 0.0)
    for colour in range(image.shape[2]):
        plane = image[:, :, colour].astype(float)
        down = plane[row + 1, column] - plane[row - 1, column] if 0 < row < 31 else 0.0
        across = plane[row, column + 1] - plane[row, column - 1] if 0 < column < 31 else 0.0
        if math.hypot(down, across) > math.hypot(*best):
            best = (down, across)
    return best


def literal(image: NDArray[np.uint8]) -> Floats:
    cells = np.zeros((8, 8, 9))
    for row in range(32):
        for column in range(32):
            down, across = gradient(image, row, column)
            angle = math.degrees(math.atan2(down, across)) % 180
            cells[row // 4, column // 4, int(angle // 20) % 9] += math.hypot(down, across) / 16
    blocks = []
    for row in range(7):
        for column in range(7):
            block = cells[row : row + 2, column : column + 2].ravel()
            block = np.minimum(block / math.sqrt((block**2).sum() + 1e-10), 0.2)
            blocks.append(block / math.sqrt((block**2).sum() + 1e-10))
    return np.concatenate(blocks)


@pytest.mark.parametrize("colours", [1, 3])
def test_the_fast_way_is_the_literal_one(colours: int) -> None:
    images = made_up(3, colours)
    expected = np.array([literal(image) for image in images])
    np.testing.assert_allclose(hog_features(images), expected, atol=1e-12)


def test_an_established_implementation_agrees() -> None:
    images = made_up(2, 3)
    shape = {"orientations": 9, "pixels_per_cell": (4, 4), "cells_per_block": (2, 2)}
    theirs = [hog(image, channel_axis=2, **shape) for image in images]
    np.testing.assert_allclose(hog_features(images), theirs, atol=1e-6)


def test_there_are_1764_numbers_and_none_are_longer_than_said() -> None:
    described = hog_features(made_up(600, 1)[..., 0])
    assert described.shape == (600, HOG_FEATURES)
    assert HOG_FEATURES == 1764
    assert np.linalg.norm(described, axis=1).max() <= HOG_NORM


def test_an_empty_image_has_no_gradients_and_no_error() -> None:
    assert not hog_features(np.zeros((1, 32, 32), dtype=np.uint8)).any()


def test_images_of_another_size_are_refused() -> None:
    with pytest.raises(ParameterError, match="32 x 32"):
        hog_features(np.zeros((1, 28, 28), dtype=np.uint8))
