"""What joint forces are linear in, by least squares of many kinds."""
