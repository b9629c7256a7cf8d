// The sentinel: a virtual table without rows that takes part in every write transaction.
#include "capture_internal.h"

typedef struct {
    sqlite3_vtab base;
    storage_capture *capture;
} sentinel;

static int sentinel_connect(
    sqlite3 *database, void *context, int count, const char *const *arguments, sqlite3_vtab **out, char **message
) {
    (void)count, (void)arguments, (void)message;
    int code = sqlite3_declare_vtab(database, "CREATE TABLE sentinel(mark)");
    if (code != SQLITE_OK) return code;
    sentinel *table = sqlite3_malloc(sizeof *table);
    if (!table) return SQLITE_NOMEM;
    memset(table, 0, sizeof *table);
    table->capture = context;
    *out = &table->base;
    return SQLITE_OK;
}

static int sentinel_disconnect(sqlite3_vtab *table) {
    sqlite3_free(table);
    return SQLITE_OK;
}

static int sentinel_best_index(sqlite3_vtab *table, sqlite3_index_info *info) {
    (void)table;
    info->estimatedCost = 1;
    return SQLITE_OK;
}

// The sentinel has no rows: its cursor is at its end from the start.
static int sentinel_open(sqlite3_vtab *table, sqlite3_vtab_cursor **cursor) {
    (void)table;
    *cursor = sqlite3_malloc(sizeof **cursor);
    if (!*cursor) return SQLITE_NOMEM;
    memset(*cursor, 0, sizeof **cursor);
    return SQLITE_OK;
}

static int sentinel_close(sqlite3_vtab_cursor *cursor) {
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int sentinel_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int count, sqlite3_value **values) {
    (void)cursor, (void)number, (void)text, (void)count, (void)values;
    return SQLITE_OK;
}

static int sentinel_next(sqlite3_vtab_cursor *cursor) {
    (void)cursor;
    return SQLITE_OK;
}

static int sentinel_eof(sqlite3_vtab_cursor *cursor) {
    (void)cursor;
    return 1;
}

static int sentinel_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column) {
    (void)cursor, (void)context, (void)column;
    return SQLITE_OK;
}

static int sentinel_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid) {
    (void)cursor;
    *rowid = 0;
    return SQLITE_OK;
}

static int sentinel_update(sqlite3_vtab *table, int count, sqlite3_value **values, sqlite3_int64 *rowid) {
    (void)table, (void)count, (void)values;
    *rowid = 0;
    return SQLITE_OK;
}

static int sentinel_begin(sqlite3_vtab *table) {
    (void)table;
    return SQLITE_OK;
}

// Before the commit: changes that aren't in the log must not reach the disk.
static int sentinel_sync(sqlite3_vtab *table) {
    storage_capture *capture = ((sentinel *)table)->capture;
    if (capture->logged) return SQLITE_OK;
    table->zErrMsg = sqlite3_mprintf("this transaction can be committed by StorageKit only");
    return SQLITE_CONSTRAINT;
}

// From here on a statement would be a transaction of its own without a log. The trace is set again in case it was replaced inside
// the transaction, because in memory the bar depends on it.
static void end_transaction(storage_capture *capture) {
    if (capture->state != CAPTURE_OPEN) return;
    capture->state = CAPTURE_ENDED;
    // A body that rolled back may have replaced the trace and run statements unseen.
    if (!capture->logged) capture->set_pragma = 1;
    sqlite3_trace_v2(capture->database, SQLITE_TRACE_STMT, capture_on_statement, capture);
}

static int sentinel_commit(sqlite3_vtab *table) {
    end_transaction(((sentinel *)table)->capture);
    return SQLITE_OK;
}

static int sentinel_rollback(sqlite3_vtab *table) {
    storage_capture *capture = ((sentinel *)table)->capture;
    storage_capture_reset(capture);
    end_transaction(capture);
    return SQLITE_OK;
}

static int sentinel_savepoint(sqlite3_vtab *table, int number) {
    storage_capture *capture = ((sentinel *)table)->capture;
    if (number >= capture->mark_capacity) {
        int capacity = number * 2 + 16;
        buffer_mark *marks = realloc(capture->marks, sizeof *marks * (size_t)capacity);
        if (!marks) return SQLITE_NOMEM;
        capture->marks = marks;
        capture->mark_capacity = capacity;
    }
    // Savepoints that were open before the sentinel joined began with the transaction's first change.
    while (capture->mark_count < number) capture->marks[capture->mark_count++] = (buffer_mark){0};
    capture->marks[number] = buffer_end(capture);
    capture->mark_count = number + 1;
    return SQLITE_OK;
}

static int sentinel_release(sqlite3_vtab *table, int number) {
    storage_capture *capture = ((sentinel *)table)->capture;
    if (number < capture->mark_count) capture->mark_count = number;
    // The outermost savepoint is the one around the commit.
    if (capture->body.runs && number == 0) capture->body.released = 1;
    return SQLITE_OK;
}

static int sentinel_rollback_to(sqlite3_vtab *table, int number) {
    storage_capture *capture = ((sentinel *)table)->capture;
    if (number < capture->mark_count) {
        truncate_buffer(capture, capture->marks[number]);
        capture->mark_count = number + 1;
        capture->schema_suspicion = capture->schema_undone = 1;
    }
    return SQLITE_OK;
}

const sqlite3_module capture_sentinel_module = {
    .iVersion = 2,
    .xConnect = sentinel_connect,
    .xDisconnect = sentinel_disconnect,
    .xBestIndex = sentinel_best_index,
    .xOpen = sentinel_open,
    .xClose = sentinel_close,
    .xFilter = sentinel_filter,
    .xNext = sentinel_next,
    .xEof = sentinel_eof,
    .xColumn = sentinel_column,
    .xRowid = sentinel_rowid,
    .xUpdate = sentinel_update,
    .xBegin = sentinel_begin,
    .xSync = sentinel_sync,
    .xCommit = sentinel_commit,
    .xRollback = sentinel_rollback,
    .xSavepoint = sentinel_savepoint,
    .xRelease = sentinel_release,
    .xRollbackTo = sentinel_rollback_to,
};
