"""What of vLLM the worker's side knows: the words of its limits, and how vLLM itself is asked."""
