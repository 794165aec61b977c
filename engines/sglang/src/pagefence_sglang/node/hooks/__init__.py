"""What the engine does, as events: one file a concern. A hook that a release has no place for is told of at start-up."""
