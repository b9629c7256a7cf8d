#if SQLITE_ENGINE_SQLITENIO
    internal import CSQLite
    internal import Foundation
    internal import StorageSQLiteClient

    /// Reads the file of a StorageKit store without changing it or the files beside it.
    ///
    /// - A store with a running writer has a write-ahead log and its index, memory that all connections share. SQLite
    ///   reads them without creating a file; a reader records in the index which state it reads. (Opening the index
    ///   read-only, as SQLite allows, would make it read-only for a writer that this process opens later.)
    /// - A store that was closed by its writer has neither. SQLite would create both, even for a read-only connection;
    ///   so the file is opened as immutable, which makes SQLite ignore other files. Whether this still applies is
    ///   checked before and after each use.
    struct StoreFile: Equatable {
        enum Access: Equatable {
            /// A rollback journal: reading creates no file.
            case journal
            case writeAheadLog
            case resting
        }

        let path: String
        let access: Access
        private let version: Version?

        /// Examines a file and the files beside it.
        init(_ path: String) {
            self.path = path
            version = Version(of: path)
            let usesLog = Header(of: path)?.usesLog ?? false
            access = usesLog ? (Self.hasLog(path) ? .writeAheadLog : .resting) : .journal
        }

        static let applicationID = SQLiteClientError.storeApplicationID

        /// Whether the header of a file identifies a store.
        static func isStore(_ path: String) -> Bool { Header(of: path)?.applicationID == applicationID }

        static func hasLog(_ path: String) -> Bool {
            Version(of: path + "-wal") != nil || Version(of: path + "-shm") != nil
        }

        /// Whether there is a log without its index: reading would create the index.
        static func lacksIndex(_ path: String) -> Bool {
            Version(of: path + "-wal") != nil && Version(of: path + "-shm") == nil
        }

        static func isEmptyOrMissing(_ path: String) -> Bool { Version(of: path).map { $0.size == 0 } ?? true }

        /// Whether the connection would miss later writes, or may have read them partially.
        var isOutdated: Bool {
            switch access {
            case .resting: Version(of: path) != version || Self.hasLog(path)
            case .journal: Self.hasLog(path)
            // A writer that closes leaves the log to those who have it open; but the file may be replaced.
            case .writeAheadLog: Version(of: path).map { $0.number != version?.number } ?? false
            }
        }

        /// The name with which SQLite opens it.
        var uri: String {
            switch access {
            case .journal, .writeAheadLog: Self.uri(of: path, "mode=ro")
            case .resting: Self.uri(of: path, "mode=ro&immutable=1")
            }
        }

        fileprivate static func uri(of path: String, _ query: String) -> String {
            var allowed = CharacterSet.urlPathAllowed
            allowed.remove(charactersIn: "?#%")
            let absolute = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
            return "file://" + (absolute.addingPercentEncoding(withAllowedCharacters: allowed) ?? absolute) + "?"
                + query
        }
    }

    /// Identifies the version of a file.
    private struct Version: Equatable {
        var device: UInt64
        var number: UInt64
        var size: Int64
        var seconds: Int
        var nanoseconds: Int

        init?(of path: String) {
            var found = stat()
            guard stat(path, &found) == 0 else { return nil }
            #if canImport(Darwin)
                let modified = found.st_mtimespec
            #else
                let modified = found.st_mtim
            #endif
            device = UInt64(found.st_dev)
            number = UInt64(found.st_ino)
            size = Int64(found.st_size)
            seconds = modified.tv_sec
            nanoseconds = modified.tv_nsec
        }
    }

    /// The first bytes of a database.
    ///
    /// They are read through SQLite, by a connection that locks nothing and ignores other files. Opening and closing
    /// the file directly would release the locks of every other connection of this process to it, by the rules of
    /// POSIX.
    private struct Header {
        let usesLog: Bool
        let applicationID: Int64

        init?(of path: String) {
            var opened: OpaquePointer?
            defer { sqlite3_close_v2(opened) }
            let uri = StoreFile.uri(of: path, "mode=ro&immutable=1")
            let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX
            var file: UnsafeMutablePointer<sqlite3_file>?
            var bytes = [UInt8](repeating: 0, count: 100)
            guard sqlite3_open_v2(uri, &opened, flags, nil) == SQLITE_OK,
                sqlite3_file_control(opened, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
                let file, let read = file.pointee.pMethods?.pointee.xRead,
                read(file, &bytes, Int32(bytes.count), 0) == SQLITE_OK
            else { return nil }
            // https://sqlite.org/fileformat.html, 1.3
            usesLog = bytes[18] == 2
            applicationID = bytes[68..<72].reduce(0) { $0 << 8 | Int64($1) }
        }
    }
#endif
