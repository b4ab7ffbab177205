"""Left folds, their prefixes and segmented reductions of ufuncs on each device."""
