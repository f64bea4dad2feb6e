"""What a serving engine accepts, picks by itself and prints: one set of modules an engine."""

WITH_RULES = ("sglang", "vllm")
