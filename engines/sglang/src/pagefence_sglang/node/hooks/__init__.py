"""What the engine does, as events: one file a concern. A hook without a place in a release is told of at start-up."""
