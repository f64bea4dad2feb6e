"""FlashInfer's wrappers, planned and run as SGLang does; `backends.flashinfer_paged` is the entry."""
