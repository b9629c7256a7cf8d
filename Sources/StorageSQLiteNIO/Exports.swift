#if SQLITE_ENGINE_SQLITENIO
    @_exported public import StorageSQLiteClient
#endif
