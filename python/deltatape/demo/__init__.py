"""A small trained language model that speculates, on the library's public functions alone."""
