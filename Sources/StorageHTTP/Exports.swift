#if STORAGE_HTTP
    // Remotes are passed to query sources, so importing StorageHTTP imports those as well.
    @_exported public import StorageSync
#endif
