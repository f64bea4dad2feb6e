"""SGLang: what it would serve a scenario with, by its own rules (`resolver`), and the flags that change that."""
