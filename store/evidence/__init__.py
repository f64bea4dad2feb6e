"""A run in one small file, to be committed or given away, without what tells whose it is."""
