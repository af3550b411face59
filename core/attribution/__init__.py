"""Tables of results → reasons."""
