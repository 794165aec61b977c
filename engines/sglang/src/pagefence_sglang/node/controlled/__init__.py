"""The transport under control: the engine's own manager, senders, receivers and threads on sockets and writes of ours.

Nothing of the protocol is replaced. What is replaced is what it stands on, so that the driver decides which message
arrives when, which thread goes on, which part of which write lands, and what its initiator is told:

* `turnstiles`: where an engine's thread waits for its turn.
* `wires`: the sockets between nodes.
* `writes`: the transfer engine, whose writes go straight into the memory of the other process.
"""
