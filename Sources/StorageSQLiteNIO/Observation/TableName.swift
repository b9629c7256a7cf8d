#if SQLITE_ENGINE_SQLITENIO
    internal import StorageCore

    enum TableName {
        /// SQLite considers two names equal that differ only in the case of ASCII letters.
        static func folded(_ name: String) -> String { name.lowercasedASCII }
    }
#endif
