"""Contact events (touchdown, lift-off, slip, stick), impacts, and reports of contact forces."""
