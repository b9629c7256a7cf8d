// The session extension is there in Debian's library, but declared only for those who ask for it.
#define SQLITE_ENABLE_SESSION 1
#define SQLITE_ENABLE_PREUPDATE_HOOK 1

#include "history.h"
#include "store.h"

/// SQLite takes 127 arguments at most.
enum { COLUMNS_OF_AN_OBJECT = 60, BITS_OF_A_MASK = 62 };

static const char *const now = "cast((julianday('now') - 2440587.5) * 86400 * 1000 as integer)";

/// The key and then the other columns.
static const char *column(const cb_table *table, size_t index) {
    return index == 0 ? table->key : table->columns[index - 1];
}

static size_t column_count(const cb_table *table) {
    return table->column_count + 1;
}

/// `old.a IS NOT new.a OR …`, without the key, which an upsert never changes.
static void append_is_changed(sqlite3_str *sql, const cb_table *table) {
    sqlite3_str_appendall(sql, "0");
    for (size_t c = 1; c < column_count(table); c++) {
        sqlite3_str_appendf(sql, " OR old.\"%w\" IS NOT new.\"%w\"", column(table, c), column(table, c));
    }
}

// MARK: Versions of rows

static bool create_versions(cb_store *store, const cb_table *table) {
    sqlite3_str *sql = sqlite3_str_new(store->connection);
    sqlite3_str_appendf(sql, "CREATE TABLE \"_%w_history\" (_rowid INTEGER", table->name);
    for (size_t c = 0; c < column_count(table); c++) sqlite3_str_appendf(sql, ", \"%w\"", column(table, c));
    sqlite3_str_appendf(
        sql, ", _version INTEGER, _updated INTEGER, _mask INTEGER);"
             "CREATE INDEX \"idx_%w_history_rowid\" ON \"_%w_history\" (_rowid)", table->name, table->name);
    return cb_store_execute_built(store, sql);
}

/// - Parameter row: `old` or `new`.
static bool create_version_trigger(
    cb_store *store, const cb_table *table, const char *event, const char *row, const char *mask) {
    sqlite3_str *sql = sqlite3_str_new(store->connection);
    sqlite3_str_appendf(
        sql, "CREATE TRIGGER \"%w_%s_history\" AFTER %s ON \"%w\" BEGIN INSERT INTO \"_%w_history\" VALUES (%s.rowid",
        table->name, event, event, table->name, table->name, row);
    for (size_t c = 0; c < column_count(table); c++) sqlite3_str_appendf(sql, ", %s.\"%w\"", row, column(table, c));
    sqlite3_str_appendf(
        sql, ", (SELECT coalesce(max(_version), 0) FROM \"_%w_history\" WHERE _rowid = %s.rowid) + 1, %s, %s); END",
        table->name, row, now, mask);
    return cb_store_execute_built(store, sql);
}

static bool create_update_trigger(cb_store *store, const cb_table *table) {
    sqlite3_str *sql = sqlite3_str_new(store->connection);
    sqlite3_str_appendf(
        sql, "CREATE TRIGGER \"%w_UPDATE_history\" AFTER UPDATE ON \"%w\" WHEN ", table->name, table->name);
    append_is_changed(sql, table);
    sqlite3_str_appendf(sql, " BEGIN INSERT INTO \"_%w_history\" VALUES (old.rowid, NULL", table->name);
    for (size_t c = 1; c < column_count(table); c++) {
        const char *name = column(table, c);
        sqlite3_str_appendf(sql, ", CASE WHEN old.\"%w\" IS NOT new.\"%w\" THEN new.\"%w\" END", name, name, name);
    }
    sqlite3_str_appendf(
        sql, ", (SELECT max(_version) FROM \"_%w_history\" WHERE _rowid = old.rowid) + 1, %s, 0", table->name, now);
    for (size_t c = 1; c < column_count(table); c++) {
        const char *name = column(table, c);
        sqlite3_str_appendf(
            sql, " | (CASE WHEN old.\"%w\" IS NOT new.\"%w\" THEN %lld ELSE 0 END)", name, name,
            1LL << (c % BITS_OF_A_MASK));
    }
    sqlite3_str_appendall(sql, "); END");
    return cb_store_execute_built(store, sql);
}

bool cb_store_keep_row_versions(cb_store *store, const cb_history *history) {
    for (size_t i = 0; i < history->table_count; i++) {
        const cb_table *table = &history->tables[i];
        if (!create_versions(store, table) || !create_version_trigger(store, table, "INSERT", "new", "-2")
            || !create_update_trigger(store, table) || !create_version_trigger(store, table, "DELETE", "old", "-1")) {
            return false;
        }
    }
    return true;
}

// MARK: JSON

/// A JSON object of the row, or an array of several for very wide tables.
static void append_object(sqlite3_str *sql, const cb_table *table, const char *row) {
    bool is_wide = column_count(table) > COLUMNS_OF_AN_OBJECT;
    sqlite3_str_appendall(sql, is_wide ? "json_array(json_object(" : "json_object(");
    for (size_t c = 0; c < column_count(table); c++) {
        if (c > 0) sqlite3_str_appendall(sql, c % COLUMNS_OF_AN_OBJECT ? ", " : "), json_object(");
        sqlite3_str_appendf(sql, "%Q, %s.\"%w\"", column(table, c), row, column(table, c));
    }
    sqlite3_str_appendall(sql, is_wide ? "))" : ")");
}

static bool create_json_trigger(cb_store *store, const cb_table *table, const char *event, bool has_old, bool has_new) {
    sqlite3_str *sql = sqlite3_str_new(store->connection);
    sqlite3_str_appendf(
        sql, "CREATE TRIGGER \"%w_%s_audit\" AFTER %s ON \"%w\" ", table->name, event, event, table->name);
    if (has_old && has_new) {
        sqlite3_str_appendall(sql, "WHEN ");
        append_is_changed(sql, table);
    }
    sqlite3_str_appendf(
        sql, " BEGIN INSERT INTO _json_audit (name, row, op, at, old, new) VALUES (%Q, %s.\"%w\", %Q, %s, ",
        table->name, has_new ? "new" : "old", table->key, event, now);
    if (has_old) append_object(sql, table, "old"); else sqlite3_str_appendall(sql, "NULL");
    sqlite3_str_appendall(sql, ", ");
    if (has_new) append_object(sql, table, "new"); else sqlite3_str_appendall(sql, "NULL");
    sqlite3_str_appendall(sql, "); END");
    return cb_store_execute_built(store, sql);
}

bool cb_store_keep_json_audit(cb_store *store, const cb_history *history) {
    // Whoever keeps a history looks rows up in it.
    if (!cb_store_execute(
            store, "CREATE TABLE _json_audit (id INTEGER PRIMARY KEY, name TEXT, row TEXT, op TEXT, at INTEGER, old TEXT, "
                   "new TEXT); CREATE INDEX _json_audit_row ON _json_audit (name, row)")) {
        return false;
    }
    for (size_t i = 0; i < history->table_count; i++) {
        const cb_table *table = &history->tables[i];
        if (!create_json_trigger(store, table, "INSERT", false, true)
            || !create_json_trigger(store, table, "UPDATE", true, true)
            || !create_json_trigger(store, table, "DELETE", true, false)) {
            return false;
        }
    }
    return true;
}

// MARK: Changesets

typedef struct {
    cb_group group;
    sqlite3_session *session;
    sqlite3_stmt *insert;
} session_group;

static bool begin_session(cb_group *group, cb_store *store) {
    session_group *self = (session_group *)group;
    return (sqlite3session_create(store->connection, "main", &self->session) == SQLITE_OK
            && sqlite3session_attach(self->session, NULL) == SQLITE_OK)
        || cb_store_fail(store, "begin a session");
}

static bool end_session(cb_group *group, cb_store *store) {
    session_group *self = (session_group *)group;
    int size = 0;
    void *changes = NULL;
    bool succeeded = sqlite3session_changeset(self->session, &size, &changes) == SQLITE_OK;
    // Before the insert below, which isn't a part of the history.
    sqlite3session_delete(self->session);
    self->session = NULL;
    if (!succeeded) return cb_store_fail(store, "end a session");
    sqlite3_bind_blob(self->insert, 1, changes, size, sqlite3_free);
    return cb_store_step(store, self->insert);
}

bool cb_store_apply_history_with_changesets(
    cb_store *store, const cb_history *history, size_t operations_per_transaction) {
    session_group group = {.group = {.begin = begin_session, .end = end_session}};
    if (!cb_store_execute(store, "CREATE TABLE _changesets (id INTEGER PRIMARY KEY, changes BLOB)")) return false;
    group.insert = cb_store_prepare(store, "INSERT INTO _changesets (changes) VALUES (?)");
    bool succeeded = group.insert && cb_store_apply_groups(store, history, operations_per_transaction, &group.group);
    if (group.session) sqlite3session_delete(group.session);
    sqlite3_finalize(group.insert);
    return succeeded;
}
