internal import GRDB
internal import StorageLog

/// The tables in which engines keep their knowledge of remotes, in the store's file and changed in the same
/// transactions as the documents. They aren't entities: sending leaves nothing in the log beside the writes themselves.
///
/// - `sync_remotes`: a row for each engine and path of a remote, with the core's record.
/// - `sync_outbox`: the unconfirmed writes. Their content is the event at `position` of the log.
/// - `sync_bases`: for documents that both sides have changed, the remote's state, and the position at which another writer last changed it; before a
///   merge also the previous state. The same for documents that can't be stored as rows, with the reason.
/// - `sync_versions`: for documents that were fetched by id, the remote's position at that time.
/// - `sync_unnamed`: during a full pull, the documents in the table that no page has listed yet; later those that are
///   newer than what was pulled, until a page names them.
enum SyncTables {
    private static let statements = [
        """
        CREATE TABLE IF NOT EXISTS sync_remotes (
          manager TEXT NOT NULL, path TEXT NOT NULL, entity TEXT NOT NULL,
          is_active INTEGER NOT NULL, is_cleared INTEGER NOT NULL, document TEXT,
          since INTEGER NOT NULL, scanned INTEGER NOT NULL, line BLOB NOT NULL,
          revision INTEGER NOT NULL, record TEXT NOT NULL, shape TEXT NOT NULL, generation INTEGER NOT NULL,
          PRIMARY KEY (manager, path)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE IF NOT EXISTS sync_outbox (
          manager TEXT NOT NULL, path TEXT NOT NULL, position INTEGER NOT NULL, document TEXT NOT NULL, kind TEXT NOT NULL,
          size INTEGER NOT NULL, base INTEGER NOT NULL, state TEXT NOT NULL, number INTEGER, rejection TEXT,
          origin INTEGER, is_conditional INTEGER NOT NULL, retries INTEGER NOT NULL,
          is_discarded INTEGER NOT NULL DEFAULT 0,
          PRIMARY KEY (manager, path, position)
        ) WITHOUT ROWID
        """,
        """
        CREATE INDEX IF NOT EXISTS sync_outbox_documents ON sync_outbox(manager, path, document, position)
        WHERE state <> 'confirmed'
        """,
        """
        CREATE INDEX IF NOT EXISTS sync_outbox_origins ON sync_outbox(manager, path, origin, position)
        WHERE origin IS NOT NULL
        """,
        """
        CREATE TABLE IF NOT EXISTS sync_bases (
          manager TEXT NOT NULL, path TEXT NOT NULL, document TEXT NOT NULL, fields TEXT,
          changed INTEGER NOT NULL DEFAULT 0, ancestor TEXT, unreadable TEXT,
          PRIMARY KEY (manager, path, document)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE IF NOT EXISTS sync_versions (
          manager TEXT NOT NULL, path TEXT NOT NULL, document TEXT NOT NULL, version INTEGER NOT NULL,
          PRIMARY KEY (manager, path, document)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE IF NOT EXISTS sync_unnamed (
          manager TEXT NOT NULL, path TEXT NOT NULL, document TEXT NOT NULL,
          PRIMARY KEY (manager, path, document)
        ) WITHOUT ROWID
        """,
    ]

    static func create(in db: Database) throws {
        guard try !exist(in: db) else { return }
        for statement in statements { try db.execute(sql: statement) }
    }

    static func exist(in db: Database) throws -> Bool { try db.connection.hasTable("sync_remotes") }
}
