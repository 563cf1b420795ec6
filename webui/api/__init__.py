"""JSON endpoints below ``/api/v1`` that scripts of the data page call."""
