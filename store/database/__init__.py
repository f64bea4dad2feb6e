"""A SQLite file or a PostgreSQL server: opened, brought up to date, asked in transactions, and what it raises in our words."""
