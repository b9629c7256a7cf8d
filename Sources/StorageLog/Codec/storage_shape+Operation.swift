// Public, because what is inlined into other modules names it.
public import CSQLite

extension storage_shape {
    @inlinable @inline(__always)
    package var isInsert: Bool { operation == UInt32(STORAGE_INSERT) }

    @inlinable @inline(__always)
    package var isUpdate: Bool { operation == UInt32(STORAGE_UPDATE) }

    @inlinable @inline(__always)
    package var isDelete: Bool { operation == UInt32(STORAGE_DELETE) }
}
