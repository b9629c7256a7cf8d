#include <stdlib.h>

#include "history.h"
#include "memory.h"
#include "store.h"

/// The prepared statements of one table.
typedef struct {
    sqlite3_stmt *upsert;
    sqlite3_stmt *delete;
} table_statements;

// MARK: SQL

static sqlite3_stmt *prepare_built(cb_store *store, sqlite3_str *builder) {
    char *sql = sqlite3_str_finish(builder);
    sqlite3_stmt *statement = sql ? cb_store_prepare(store, sql) : NULL;
    sqlite3_free(sql);
    return statement;
}

/// Columns have no type, so that every value is stored as it was found.
bool cb_store_create_history_tables(cb_store *store, const cb_history *history) {
    for (size_t i = 0; i < history->table_count; i++) {
        const cb_table *table = &history->tables[i];
        sqlite3_str *sql = sqlite3_str_new(store->connection);
        sqlite3_str_appendf(sql, "CREATE TABLE \"%w\" (\"%w\" TEXT PRIMARY KEY NOT NULL", table->name, table->key);
        for (size_t c = 0; c < table->column_count; c++) sqlite3_str_appendf(sql, ", \"%w\"", table->columns[c]);
        sqlite3_str_appendall(sql, ")");
        if (!cb_store_execute_built(store, sql)) return false;
    }
    return true;
}

static sqlite3_stmt *prepare_upsert(cb_store *store, const cb_table *table) {
    sqlite3_str *sql = sqlite3_str_new(store->connection);
    sqlite3_str_appendf(sql, "INSERT INTO \"%w\" (\"%w\"", table->name, table->key);
    for (size_t c = 0; c < table->column_count; c++) sqlite3_str_appendf(sql, ", \"%w\"", table->columns[c]);
    sqlite3_str_appendall(sql, ") VALUES (?");
    for (size_t c = 0; c < table->column_count; c++) sqlite3_str_appendall(sql, ", ?");
    sqlite3_str_appendf(sql, ") ON CONFLICT (\"%w\") DO ", table->key);
    sqlite3_str_appendall(sql, table->column_count ? "UPDATE SET " : "NOTHING");
    for (size_t c = 0; c < table->column_count; c++) {
        const char *column = table->columns[c];
        sqlite3_str_appendf(sql, "%s\"%w\" = excluded.\"%w\"", c ? ", " : "", column, column);
    }
    return prepare_built(store, sql);
}

static sqlite3_stmt *prepare_delete(cb_store *store, const cb_table *table) {
    sqlite3_str *sql = sqlite3_str_new(store->connection);
    sqlite3_str_appendf(sql, "DELETE FROM \"%w\" WHERE \"%w\" = ?", table->name, table->key);
    return prepare_built(store, sql);
}

// MARK: Applying

static void bind_value(sqlite3_stmt *statement, int index, const cb_value *value) {
    switch (value->kind) {
        case CB_NULL: sqlite3_bind_null(statement, index); break;
        case CB_INTEGER: sqlite3_bind_int64(statement, index, value->integer); break;
        case CB_REAL: sqlite3_bind_double(statement, index, value->real); break;
        case CB_TEXT: sqlite3_bind_text(statement, index, value->text, value->length, SQLITE_STATIC); break;
    }
}

static bool apply_operation(
    cb_store *store, const cb_history *history, const table_statements *statements, const cb_operation *operation) {
    if (operation->is_delete) {
        bind_value(statements->delete, 1, &operation->id);
        return cb_store_step(store, statements->delete);
    }
    // A column that this row doesn't name must not keep the value of the row before.
    if (operation->field_count < history->tables[operation->table].column_count) {
        sqlite3_clear_bindings(statements->upsert);
    }
    bind_value(statements->upsert, 1, &operation->id);
    const cb_field *fields = history->fields + operation->first_field;
    for (size_t i = 0; i < operation->field_count; i++) {
        bind_value(statements->upsert, (int)fields[i].column + 2, &fields[i].value);
    }
    return cb_store_step(store, statements->upsert);
}

/// The operations from `first` that belong into one transaction: whole `tx` groups.
static size_t end_of_transaction(const cb_history *history, size_t first, size_t operations_per_transaction) {
    size_t end = first + operations_per_transaction;
    if (end >= history->operation_count) return history->operation_count;
    while (end < history->operation_count
           && history->operations[end].transaction == history->operations[end - 1].transaction) {
        end++;
    }
    return end;
}

static bool is_first_of_group(const cb_history *history, size_t operation) {
    return operation == 0
        || history->operations[operation].transaction != history->operations[operation - 1].transaction;
}

static bool apply_all(
    cb_store *store, const cb_history *history, const table_statements *statements,
    size_t operations_per_transaction, cb_group *group) {
    size_t next = 0;
    while (next < history->operation_count) {
        size_t end = end_of_transaction(history, next, operations_per_transaction);
        if (!cb_store_execute(store, "BEGIN IMMEDIATE")) return false;
        bool succeeded = true;
        for (; next < end && succeeded; next++) {
            const cb_operation *operation = &history->operations[next];
            if (group && is_first_of_group(history, next)) succeeded = group->begin(group, store);
            succeeded = succeeded && apply_operation(store, history, &statements[operation->table], operation);
            if (succeeded && group && (next + 1 == history->operation_count || is_first_of_group(history, next + 1))) {
                succeeded = group->end(group, store);
            }
        }
        if (!cb_store_end_transaction(store, succeeded)) return false;
    }
    return true;
}

bool cb_store_apply_history(cb_store *store, const cb_history *history, size_t operations_per_transaction) {
    return cb_store_apply_groups(store, history, operations_per_transaction, NULL);
}

bool cb_store_apply_groups(
    cb_store *store, const cb_history *history, size_t operations_per_transaction, cb_group *group) {
    table_statements *statements = cb_allocate(history->table_count * sizeof *statements);
    bool succeeded = true;
    for (size_t i = 0; i < history->table_count && succeeded; i++) {
        statements[i].upsert = prepare_upsert(store, &history->tables[i]);
        statements[i].delete = prepare_delete(store, &history->tables[i]);
        succeeded = statements[i].upsert && statements[i].delete;
    }
    succeeded = succeeded
        && apply_all(store, history, statements, operations_per_transaction ? operations_per_transaction : 1, group);
    for (size_t i = 0; i < history->table_count; i++) {
        sqlite3_finalize(statements[i].upsert);
        sqlite3_finalize(statements[i].delete);
    }
    free(statements);
    return succeeded;
}
