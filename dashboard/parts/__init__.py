"""Larger pieces that pages arrange: each reads its frames from `queries`, draws with `charts` and `widgets`."""
