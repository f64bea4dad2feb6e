"""What may be wrong with a serving environment: pure rules over the facts that its worker reports."""
