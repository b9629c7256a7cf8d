import CBaseline

/// A change history parsed by the C side.
final class CHistory {
    let pointer: OpaquePointer

    init(path: String) throws {
        pointer = cb_history_read(path)
        if let error = cb_history_error(pointer) {
            throw BenchmarkError("The history can't be used: \(String(cString: error)).")
        }
    }

    var operationCount: Int { cb_history_operation_count(pointer) }

    deinit {
        cb_history_free(pointer)
    }
}
