"""What makes the documentation site: the reference, the tables of other libraries' names, the figure."""
