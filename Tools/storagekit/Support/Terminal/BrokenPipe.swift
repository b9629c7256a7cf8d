/// Nobody reads the output any more, as after `| head`. The command ends quietly and with success.
struct BrokenPipe: Error {}
