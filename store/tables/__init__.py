"""Tables of the database, as SQLAlchemy's models. Rows never leave the store's functions."""
