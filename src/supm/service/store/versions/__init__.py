"""The migrations, one file for each change of the tables after the first release."""
