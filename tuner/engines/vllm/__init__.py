"""What vLLM accepts and picks by itself: a list of backends to try, and each one's limits (`conf/backend/vllm`)."""
