"""Paper 003: support vector machines of several parties."""
