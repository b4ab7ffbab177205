"""The engine, in layers from top to bottom: recording, runtime, schedule, graph, ops. It holds no kernel text."""
