"""Histograms of oriented gradients: what an image looks like, without learning anything."""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError

__all__ = ["HOG_FEATURES", "HOG_NORM", "hog_features"]

Floats: TypeAlias = NDArray[np.float64]

_SIDE: Final = 32
_CELL: Final = 4
_CELLS: Final = _SIDE // _CELL
_BLOCK: Final = 2
_BLOCKS: Final = _CELLS - _BLOCK + 1
_BINS: Final = 9

HOG_FEATURES: Final = _BLOCKS * _BLOCKS * _BLOCK * _BLOCK * _BINS
"""How many numbers describe an image: 1764."""

HOG_NORM: Final = float(_BLOCKS)
"""No description is longer: each of the 49 blocks has norm at most one."""

_CLIP: Final = 0.2
_TINY: Final = 1e-5
_IMAGES: Final = 500


def hog_features(images: NDArray[np.uint8]) -> Floats:
    """Describe images of 32 x 32 pixels by 1764 numbers each.

    Parameters
    ----------
    images : ndarray, shape (n, 32, 32) or (n, 32, 32, colours)
        Pixels. Where there are colours, a pixel counts with the one of the steepest gradient.

    Returns
    -------
    ndarray of float64, shape (n, 1764)
        Blocks row by row, in each its cells row by row, in each nine directions from 0 to 180
        degrees. Each block is scaled to length one, cut at 0.2 and scaled again.

    Notes
    -----
    The description of an image depends on that image alone, so it costs no privacy.

    References
    ----------
    N. Dalal, B. Triggs, Histograms of oriented gradients for human detection, CVPR 2005.

    Examples
    --------
    >>> stripes = np.tile(np.arange(32, dtype=np.uint8) * 8, (1, 32, 1))
    >>> hog_features(stripes).reshape(49, 4, 9)[0].round(2)[0].tolist()
    [0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """
    if images.ndim not in (3, 4) or images.shape[1:3] != (_SIDE, _SIDE):
        raise ParameterError("images", "of 32 x 32 pixels", images.shape)
    coloured = images[..., None] if images.ndim == 3 else images
    described = np.empty((len(images), HOG_FEATURES))
    for start in range(0, len(images), _IMAGES):
        part = slice(start, start + _IMAGES)
        described[part] = _described(coloured[part].astype(np.float64))
    return described


def _described(images: Floats) -> Floats:
    down, across = _steepest(images)
    angles = np.rad2deg(np.arctan2(down, across)) % 180.0
    bins = (angles * (_BINS / 180.0)).astype(np.int64) % _BINS
    cells = _cell_histograms(bins, np.hypot(down, across))
    return _blocks(cells).reshape(len(images), -1)


def _steepest(images: Floats) -> tuple[Floats, Floats]:
    """Return the gradient of each pixel in its steepest colour; it is zero across the border."""
    down, across = np.zeros_like(images), np.zeros_like(images)
    down[:, 1:-1] = images[:, 2:] - images[:, :-2]
    across[:, :, 1:-1] = images[:, :, 2:] - images[:, :, :-2]
    colour = (down**2 + across**2).argmax(axis=3)[..., None]
    return tuple(np.take_along_axis(each, colour, axis=3)[..., 0] for each in (down, across))  # type: ignore[return-value]  # of two


def _cell_histograms(bins: NDArray[np.int64], lengths: Floats) -> Floats:
    """Add up the lengths of gradients by cell and direction."""
    places = np.arange(_SIDE) // _CELL
    cell = places[:, None] * _CELLS + places[None, :]
    image = np.arange(len(bins))[:, None, None] * _CELLS**2
    index = (image + cell[None]) * _BINS + bins
    total = np.bincount(index.ravel(), weights=lengths.ravel(), minlength=len(bins) * 576)
    return total.reshape(len(bins), _CELLS, _CELLS, _BINS) / _CELL**2


def _blocks(cells: Floats) -> Floats:
    """Return all blocks of two by two cells, each scaled."""
    windows = np.lib.stride_tricks.sliding_window_view(cells, (_BLOCK, _BLOCK), axis=(1, 2))
    blocks = np.moveaxis(windows, 3, -1).reshape(len(cells), _BLOCKS**2, -1)
    return _scaled(np.minimum(_scaled(blocks), _CLIP))


def _scaled(blocks: Floats) -> Floats:
    lengths = np.sqrt(np.square(blocks).sum(axis=2, keepdims=True) + _TINY**2)
    return np.asarray(blocks / lengths)
