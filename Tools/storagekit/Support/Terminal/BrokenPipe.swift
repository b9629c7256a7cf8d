/// The output has no reader any more, as after `| head`. The command exits silently with success.
struct BrokenPipe: Error {}
