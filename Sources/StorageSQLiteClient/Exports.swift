// Values and columns, which arguments and rows consist of. Not GRDB, whose `SQLiteConnection` differs from that of the
// SwiftNIO engine.
@_exported public import StorageCore
@_exported public import StorageRecords
