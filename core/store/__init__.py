"""Write once, read often: runs in SQLite."""
