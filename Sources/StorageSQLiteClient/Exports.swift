// Values and columns, which arguments and rows are made of. Not GRDB, whose `SQLiteConnection` is another than that of the
// SwiftNIO engine.
@_exported public import StorageCore
@_exported public import StorageRecords
