"""What a launcher is given: one file a form, each a pure `render(pin, launcher)`."""
