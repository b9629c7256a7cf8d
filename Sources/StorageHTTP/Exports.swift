#if STORAGE_HTTP
    // Remotes are given to query sources, so whoever imports StorageHTTP has those as well.
    @_exported public import StorageSync
#endif
