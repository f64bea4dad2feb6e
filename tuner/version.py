"""The one place that holds attnpin's version; the package metadata is made from it."""

__version__ = "0.1.0"
