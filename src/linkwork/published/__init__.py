"""What the papers print about operation counts, beside what running code counts."""
