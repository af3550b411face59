"""What the pages read. The only package that opens the store, and it opens it for reading only.

`source` knows which store and how to read it; the other modules ask it for runs, cases, jobs and descriptions.
A connection lives for one call. SQL filters, counts and pages; only what is drawn leaves it. Cached values are
keyed by (store, run id, time of the run's last change): never by the file's time, which WAL does not move.
"""
