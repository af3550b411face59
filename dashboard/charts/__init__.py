"""DataFrame → altair chart, pure. One module a theme; nothing of ours but this package is imported.

Every chart takes a long-form frame whose columns its docstring names, and ready texts (title = the finding,
subtitle = what is drawn and of how many). Colours and verdict order come from `dashboard.charts.palette`.
"""
