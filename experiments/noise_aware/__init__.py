"""Models from noised records without synthesis, with public bounds."""
