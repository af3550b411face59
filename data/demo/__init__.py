"""Four short documents of an invented library, questions over them, and the settings of the demo run."""
