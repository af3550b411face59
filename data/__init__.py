"""What Plumbline ships to try it with: small, made for the purpose, and part of the installed package.

demo/        four short documents of an invented library and questions over them
demo_agent/  a small RAG agent with tools, its audit, and its broken siblings
"""
