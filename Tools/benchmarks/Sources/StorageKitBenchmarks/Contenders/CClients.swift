import CBaseline

/// Threads of the C baseline, each with a connection of its own.
final class CClients {
    private let pointer: OpaquePointer

    init(_ path: String, count: Int) throws {
        pointer = cb_clients_open(path, count)
        try check(cb_clients_error(pointer) == nil)
    }

    deinit {
        cb_clients_close(pointer)
    }

    /// How many of the rows with these keys there are, each client looking for a part of them.
    func lookUp(_ keys: [UnsafePointer<CChar>]) throws -> Int {
        var found = 0
        try check(
            keys.withUnsafeBufferPointer { cb_clients_look_up_people(pointer, $0.baseAddress!, keys.count, &found) })
        return found
    }

    private func check(_ succeeded: Bool) throws {
        if succeeded { return }
        let reason = cb_clients_error(pointer).map { String(cString: $0) } ?? "unknown"
        throw BenchmarkError("The C baseline failed: \(reason).")
    }
}
