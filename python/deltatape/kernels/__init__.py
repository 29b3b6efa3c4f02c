"""One module for each kernel: its arguments in numpy's terms, and the call."""
