"""Creation of arrays: from other data, of one value, and from the index alone."""
