"""Sweeps whose truth is known: planted effects, interactions, clusters, confounding and component failures."""
