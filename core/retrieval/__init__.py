"""Records → ranked records."""
