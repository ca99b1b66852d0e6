"""Paper 004: models from records that were noised long ago."""
