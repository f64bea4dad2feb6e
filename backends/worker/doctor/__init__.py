"""Facts for `attnpin doctor`: what is installed, what it was built for, and what it would be built with."""
