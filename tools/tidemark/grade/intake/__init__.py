"""What comes in: labs as their lab.toml has them, and what students handed in."""
