"""The system under test: Case → Output."""
