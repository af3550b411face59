"""(Rubric, material) → Judgement."""
