"""What ``deltatape bench`` measures: every time beside a copy of the same bytes.

One module for each kernel makes the works to time; the rest times, checks and reports them.
"""
