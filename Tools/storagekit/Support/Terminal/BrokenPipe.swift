/// The output has no reader any more, as after `| head`. The command exits silently with success, unless the status is its answer: see
/// `StandardOutput.needsReader`.
struct BrokenPipe: Error {}
