"""A small RAG agent with tools, memory and credentials, its audit, and its broken siblings."""
