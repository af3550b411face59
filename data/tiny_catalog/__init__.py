"""A tiny invented code list with queries: a first classification run in a second, without any download."""
