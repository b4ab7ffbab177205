"""Pictures: SVG and HTML made of plain data. Nothing here knows of arrays, graphs or devices."""
