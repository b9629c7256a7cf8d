/// The tables that belong to the engine.
enum StoreSchema {
    static let formatVersion: Int64 = 4
    /// "STKT", in the header of the SQLite file.
    static let applicationId: Int64 = 0x5354_4B54
    /// In `read_only_compatible`: entity tables have the triggers of the write guard.
    static let writeGuardBit: Int64 = 1

    /// Every object with its exact SQL, in order of creation; `verify` compares the stored texts with these.
    static let objects: [(name: String, sql: String)] = [
        (
            "storage_meta",
            """
            CREATE TABLE storage_meta(
              id INTEGER PRIMARY KEY CHECK (id = 1),
              format INTEGER NOT NULL,
              compatible INTEGER NOT NULL,
              read_only_compatible INTEGER NOT NULL,
              incompatible INTEGER NOT NULL,
              first_position INTEGER NOT NULL,
              writer_epoch INTEGER NOT NULL
            )
            """
        ),
        (
            "storage_lineage",
            """
            CREATE TABLE storage_lineage(
              number INTEGER PRIMARY KEY,
              id BLOB NOT NULL,
              fork INTEGER NOT NULL
            )
            """
        ),
        (
            "storage_log",
            """
            CREATE TABLE storage_log(
              position INTEGER PRIMARY KEY,
              last INTEGER NOT NULL,
              first_commit INTEGER NOT NULL,
              last_commit INTEGER NOT NULL,
              first_time INTEGER NOT NULL,
              last_time INTEGER NOT NULL,
              entities BLOB NOT NULL,
              format INTEGER NOT NULL,
              sealed INTEGER NOT NULL,
              size INTEGER NOT NULL,
              base INTEGER NOT NULL,
              digest BLOB,
              body BLOB NOT NULL
            )
            """
        ),
        (
            "storage_commit_key",
            """
            CREATE TABLE storage_commit_key(
              key TEXT PRIMARY KEY,
              number INTEGER NOT NULL,
              first INTEGER NOT NULL,
              last INTEGER NOT NULL,
              time INTEGER NOT NULL
            ) WITHOUT ROWID
            """
        ),
        (
            "storage_catalog",
            """
            CREATE TABLE storage_catalog(
              id INTEGER PRIMARY KEY,
              entity INTEGER NOT NULL,
              name TEXT NOT NULL,
              stored TEXT NOT NULL,
              type TEXT NOT NULL,
              key_place INTEGER NOT NULL,
              required INTEGER NOT NULL,
              fallback,
              coding TEXT NOT NULL,
              dropped INTEGER NOT NULL,
              definition TEXT NOT NULL,
              origin INTEGER NOT NULL,
              affinity TEXT NOT NULL,
              collation TEXT NOT NULL,
              strict INTEGER NOT NULL,
              generated INTEGER NOT NULL,
              _position INTEGER NOT NULL
            )
            """
        ),
        // Quoted, because SQLite writes the name that way when a rebuilt table replaces this one.
        (
            "storage_tag",
            """
            CREATE TABLE "storage_tag" (
              name TEXT NOT NULL PRIMARY KEY,
              position INTEGER NOT NULL,
              note TEXT,
              _position INTEGER NOT NULL
            )
            """
        ),
        ("storage_tag_position", "CREATE INDEX storage_tag_position ON storage_tag(position)"),
        (
            "storage_note",
            """
            CREATE TABLE "storage_note" (
              position INTEGER PRIMARY KEY,
              text TEXT NOT NULL,
              _position INTEGER NOT NULL
            )
            """
        ),
        (
            "storage_operation",
            """
            CREATE TABLE "storage_operation" (
              id INTEGER PRIMARY KEY,
              command TEXT NOT NULL,
              subject TEXT,
              outcome TEXT NOT NULL,
              at TEXT NOT NULL,
              _position INTEGER NOT NULL
            )
            """
        ),
        (
            "storage_tombstone",
            """
            CREATE TABLE storage_tombstone(
              entity INTEGER NOT NULL,
              key BLOB NOT NULL,
              position INTEGER NOT NULL,
              PRIMARY KEY (entity, key)
            ) WITHOUT ROWID
            """
        ),
        (
            "storage_import",
            """
            CREATE TABLE storage_import(
              source TEXT PRIMARY KEY,
              progress TEXT NOT NULL
            ) WITHOUT ROWID
            """
        ),
        (
            "storage_projection",
            """
            CREATE TABLE storage_projection(
              name TEXT PRIMARY KEY,
              kind TEXT NOT NULL,
              version INTEGER NOT NULL,
              definition TEXT NOT NULL
            ) WITHOUT ROWID
            """
        ),
        (
            "storage_checkpoint",
            """
            CREATE TABLE storage_checkpoint(
              projection TEXT PRIMARY KEY,
              position INTEGER NOT NULL,
              replayed INTEGER NOT NULL,
              state TEXT NOT NULL,
              error TEXT,
              failed INTEGER,
              events INTEGER NOT NULL,
              microseconds INTEGER NOT NULL,
              time INTEGER
            ) WITHOUT ROWID
            """
        ),
        (
            "storage_dead_letter",
            """
            CREATE TABLE storage_dead_letter(
              projection TEXT NOT NULL,
              position INTEGER NOT NULL,
              entity INTEGER NOT NULL,
              key BLOB NOT NULL,
              error TEXT NOT NULL,
              attempts INTEGER NOT NULL,
              time INTEGER NOT NULL,
              PRIMARY KEY (projection, position)
            ) WITHOUT ROWID
            """
        ),
        (
            "storage_shadow",
            """
            CREATE TABLE storage_shadow(
              entity INTEGER PRIMARY KEY,
              position INTEGER NOT NULL,
              definition TEXT NOT NULL,
              loose INTEGER NOT NULL
            )
            """
        ),
        (
            "storage_shadow_tombstone",
            """
            CREATE TABLE storage_shadow_tombstone(
              entity INTEGER NOT NULL,
              key BLOB NOT NULL,
              position INTEGER NOT NULL,
              PRIMARY KEY (entity, key)
            ) WITHOUT ROWID
            """
        ),
        ("storage_log_insert", guarding("INSERT")),
        ("storage_log_update", guarding("UPDATE")),
        ("storage_log_delete", guarding("DELETE")),
    ]

    /// A trigger that lets only the engine touch the log. From a connection without the function it fails as well.
    private static func guarding(_ operation: String) -> String {
        """
        CREATE TRIGGER storage_log_\(operation.lowercased()) BEFORE \(operation) ON storage_log
        WHEN storage_engine() IS NOT 1
        BEGIN SELECT RAISE(ABORT, 'the log is append-only: only StorageKit writes to storage_log'); END
        """
    }
}
