"""The same accuracy for a fraction of the budget, measured against the papers and the field."""
