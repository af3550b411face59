"""Settings → Task, one module a kind of run."""
