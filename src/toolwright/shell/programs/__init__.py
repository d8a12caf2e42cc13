"""Programs: what each does with its options and operands."""
