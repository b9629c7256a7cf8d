import CBaseline

/// All rows of a store's tables, copied to C memory.
final class CRows {
    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    var count: Int { cb_rows_count(pointer) }

    deinit { cb_rows_free(pointer) }
}
