"""A Hugging Face config.json as the attention geometry that a server would have. Nothing is downloaded, no code is run."""
