// Virtual tables whose rows are those of statements.
#include "rows.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    storage_row_source callbacks;
    void *source;
} row_module;

typedef struct {
    sqlite3_vtab base;
    const row_module *module;
    void *table;
} row_table;

typedef struct {
    sqlite3_vtab_cursor base;
    storage_search found;
    int at_end;
} row_cursor;

char *storage_message(const char *text) { return sqlite3_mprintf("%s", text); }

// The first three arguments are names that SQLite knows, the fourth is the table's number, and the others define its columns.
static int declare(sqlite3 *database, int count, const char *const *arguments) {
    sqlite3_str *text = sqlite3_str_new(database);
    sqlite3_str_appendall(text, "CREATE TABLE t(");
    for (int index = 4; index < count; index++) {
        sqlite3_str_appendf(text, "%s%s", index > 4 ? ", " : "", arguments[index]);
    }
    sqlite3_str_appendall(text, ")");
    char *definition = sqlite3_str_finish(text);
    if (!definition) return SQLITE_NOMEM;
    int code = sqlite3_declare_vtab(database, definition);
    sqlite3_free(definition);
    return code;
}

static int row_connect(
    sqlite3 *database, void *context, int count, const char *const *arguments, sqlite3_vtab **out, char **message
) {
    const row_module *module = context;
    if (count < 5) {
        *message = storage_message("a table of history is made by StorageKit only");
        return SQLITE_ERROR;
    }
    int code = declare(database, count, arguments);
    if (code != SQLITE_OK) return code;
    row_table *table = sqlite3_malloc(sizeof *table);
    if (!table) return SQLITE_NOMEM;
    memset(table, 0, sizeof *table);
    table->module = module;
    table->table = module->callbacks.connect(module->source, atoi(arguments[3]));
    if (!table->table) {
        sqlite3_free(table);
        *message = storage_message("a table of history is made by StorageKit only");
        return SQLITE_ERROR;
    }
    *out = &table->base;
    return SQLITE_OK;
}

static int row_disconnect(sqlite3_vtab *base) {
    row_table *table = (row_table *)base;
    table->module->callbacks.disconnect(table->table);
    sqlite3_free(table);
    return SQLITE_OK;
}

static int row_best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
    row_table *table = (row_table *)base;
    return table->module->callbacks.plan(table->table, info, &base->zErrMsg);
}

static int row_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out) {
    (void)table;
    row_cursor *cursor = sqlite3_malloc(sizeof *cursor);
    if (!cursor) return SQLITE_NOMEM;
    memset(cursor, 0, sizeof *cursor);
    *out = &cursor->base;
    return SQLITE_OK;
}

static void release(row_cursor *cursor) {
    if (!cursor->found.owner) return;
    ((row_table *)cursor->base.pVtab)->module->callbacks.release(cursor->found.owner);
    cursor->found = (storage_search){0};
}

static int row_close(sqlite3_vtab_cursor *base) {
    release((row_cursor *)base);
    sqlite3_free(base);
    return SQLITE_OK;
}

static int row_next(sqlite3_vtab_cursor *base) {
    row_cursor *cursor = (row_cursor *)base;
    int code = sqlite3_step(cursor->found.statement);
    cursor->at_end = code != SQLITE_ROW;
    if (code == SQLITE_ROW || code == SQLITE_DONE) return SQLITE_OK;
    base->pVtab->zErrMsg = storage_message(sqlite3_errmsg(sqlite3_db_handle(cursor->found.statement)));
    return code;
}

static int row_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int count, sqlite3_value **values) {
    (void)text;
    row_cursor *cursor = (row_cursor *)base;
    row_table *table = (row_table *)base->pVtab;
    release(cursor);
    int code = table->module->callbacks.search(
        table->table, plan, count, values, &cursor->found, &table->base.zErrMsg
    );
    return code == SQLITE_OK ? row_next(base) : code;
}

static int row_eof(sqlite3_vtab_cursor *cursor) { return ((row_cursor *)cursor)->at_end; }

static int row_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column) {
    sqlite3_result_value(context, sqlite3_column_value(((row_cursor *)cursor)->found.statement, column));
    return SQLITE_OK;
}

static int row_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid) {
    *rowid = sqlite3_column_int64(((row_cursor *)cursor)->found.statement, 0);
    return SQLITE_OK;
}

// Nothing is written, so there is no xUpdate; and tables exist only as long as the connection, so creating is connecting.
static const sqlite3_module row_table_module = {
    .iVersion = 1,
    .xCreate = row_connect,
    .xConnect = row_connect,
    .xBestIndex = row_best_index,
    .xDisconnect = row_disconnect,
    .xDestroy = row_disconnect,
    .xOpen = row_open,
    .xClose = row_close,
    .xFilter = row_filter,
    .xNext = row_next,
    .xEof = row_eof,
    .xColumn = row_column,
    .xRowid = row_rowid,
};

static void row_module_destroy(void *context) {
    row_module *module = context;
    module->callbacks.destroy(module->source);
    free(module);
}

int storage_create_row_module(
    sqlite3 *database, const char *name, const storage_row_source *callbacks, void *source
) {
    row_module *module = malloc(sizeof *module);
    if (!module) {
        callbacks->destroy(source);
        return SQLITE_NOMEM;
    }
    *module = (row_module){.callbacks = *callbacks, .source = source};
    // On failure, it destroys the module itself.
    return sqlite3_create_module_v2(database, name, &row_table_module, module, row_module_destroy);
}
