#include "store.h"

#include <stdlib.h>

#include "memory.h"

bool cb_store_fail(cb_store *store, const char *doing) {
    if (!store->error) {
        char *text = sqlite3_mprintf("%s: %s", doing, sqlite3_errmsg(store->connection));
        store->error = cb_copy_text(text ? text : doing);
        sqlite3_free(text);
    }
    return false;
}

bool cb_store_execute(cb_store *store, const char *sql) {
    return sqlite3_exec(store->connection, sql, NULL, NULL, NULL) == SQLITE_OK || cb_store_fail(store, sql);
}

bool cb_store_execute_built(cb_store *store, sqlite3_str *builder) {
    char *sql = sqlite3_str_finish(builder);
    bool succeeded = sql ? cb_store_execute(store, sql) : cb_store_fail(store, "build a statement");
    sqlite3_free(sql);
    return succeeded;
}

sqlite3_stmt *cb_store_prepare(cb_store *store, const char *sql) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(store->connection, sql, -1, &statement, NULL) != SQLITE_OK) {
        cb_store_fail(store, sql);
    }
    return statement;
}

bool cb_store_step(cb_store *store, sqlite3_stmt *statement) {
    bool done = sqlite3_step(statement) == SQLITE_DONE;
    if (!done) cb_store_fail(store, sqlite3_sql(statement));
    sqlite3_reset(statement);
    return done;
}

bool cb_store_end_transaction(cb_store *store, bool succeeded) {
    if (succeeded && cb_store_execute(store, "COMMIT")) return true;
    // The reason is already kept; a rollback that fails too has nothing to add.
    sqlite3_exec(store->connection, "ROLLBACK", NULL, NULL, NULL);
    return false;
}

/// A pragma that is misspelt or refused is silent in SQLite, so the level is read back.
static bool check_synchronous_full(cb_store *store) {
    sqlite3_stmt *statement = cb_store_prepare(store, "PRAGMA synchronous");
    if (!statement) return false;
    bool full = sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int(statement, 0) == 2;
    sqlite3_finalize(statement);
    return full || cb_store_fail(store, "synchronous is not FULL");
}

cb_store *cb_store_open(const char *path) {
    cb_store *store = cb_allocate(sizeof *store);
    if (sqlite3_open(path, &store->connection) != SQLITE_OK) {
        cb_store_fail(store, "open");
        return store;
    }
    // As StorageKit sets them for itself.
    if (cb_store_execute(store, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = OFF;"
                                "PRAGMA cache_size = -24000; PRAGMA wal_autocheckpoint = 4000")) {
        check_synchronous_full(store);
    }
    return store;
}

void cb_store_close(cb_store *store) {
    sqlite3_close(store->connection);
    free(store->error);
    free(store);
}

const char *cb_store_error(const cb_store *store) {
    return store->error;
}

const char *cb_sqlite_version(void) {
    return sqlite3_libversion();
}
