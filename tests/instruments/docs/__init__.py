"""The documentation: pages generated from the code, and the site of all pages."""
