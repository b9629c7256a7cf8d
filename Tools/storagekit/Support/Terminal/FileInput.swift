import Foundation

/// A file or pipe that is read sequentially to its end.
struct FileInput: ~Copyable {
    /// Its name in errors.
    let name: String
    /// The size of a regular file in bytes; nil for pipes and terminals.
    let size: Int?
    private let descriptor: Int32
    private let isOwned: Bool

    /// - Parameter path: `-` is standard input.
    init(path: String) throws(CommandError) {
        if path == "-" {
            self.init(descriptor: 0, name: "standard input")
            return
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let code = errno
            throw CommandError(
                code == ENOENT || code == ENOTDIR ? .notFound : .unavailable, "The file \(path) can't be opened.",
                why: String(cString: strerror(code)), next: "Check the path, or write - to read from standard input.")
        }
        self.init(descriptor: descriptor, name: path, isOwned: true)
    }

    /// - Parameter isOwned: Whether the descriptor is closed at the end.
    init(descriptor: Int32, name: String, isOwned: Bool = false) {
        var status = stat()
        let isRegular = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        self.size = isRegular ? Int(status.st_size) : nil
        self.descriptor = descriptor
        self.name = name
        self.isOwned = isOwned
    }

    deinit {
        if isOwned { close(descriptor) }
    }

    /// Returns whether a read wouldn't block: bytes or the end arrive within a number of milliseconds.
    func isReady(withinMilliseconds wait: Int32) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        // An interrupted or impossible wait counts as ready: the read then reports the error.
        return poll(&request, 1, wait) != 0
    }

    /// Reads at least one byte, or returns zero at the end.
    func read(into target: UnsafeMutableRawBufferPointer) throws(CommandError) -> Int {
        while true {
            let count = Foundation.read(descriptor, target.baseAddress, target.count)
            if count >= 0 { return count }
            let code = errno
            if code == EINTR { continue }
            guard code == EAGAIN else { throw failure(code) }
            // Another program has made the pipe non-blocking.
            _ = isReady(withinMilliseconds: -1)
        }
    }

    /// Calls `body` with the bytes as they arrive, until the end or until it returns false.
    func forEachPiece(_ body: (UnsafeRawBufferPointer) -> Bool) throws(CommandError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { buffer.deallocate() }
        while case let count = try read(into: buffer), count > 0 {
            guard body(UnsafeRawBufferPointer(rebasing: buffer[..<count])) else { return }
        }
    }

    private func failure(_ code: Int32) -> CommandError {
        CommandError(
            .unavailable, "Reading \(name) failed.",
            why: code == EBADF ? "It is closed." : "\(String(cString: strerror(code))).",
            next: code == EISDIR
                ? "Name a file of this directory."
                : descriptor == 0 ? "Redirect it from a file: < FILE" : "Check the disk and try again.")
    }
}
