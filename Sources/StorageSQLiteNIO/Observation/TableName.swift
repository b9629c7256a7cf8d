#if SQLITE_ENGINE_SQLITENIO
    internal import StorageCore

    enum TableName {
        /// SQLite takes two names for one that differ in the case of ASCII letters only.
        static func folded(_ name: String) -> String { name.lowercasedASCII }
    }
#endif
