"""Paper 002, publishing by linear discriminant analysis: as printed, and with a promise kept."""
