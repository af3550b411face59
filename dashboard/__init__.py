"""The Streamlit app: queries read, charts draw, widgets ask, pages arrange."""
