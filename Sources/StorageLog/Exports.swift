// Who reads the log binds and reads columns.
@_exported public import StorageRecords
