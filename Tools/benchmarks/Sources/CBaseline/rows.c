#include "store.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

// Whole tables, copied from one database to C memory and loaded into another.

typedef struct {
    char *definition;
    char *insert;
    sqlite3_value **values;
    size_t count;
    size_t capacity;
    int width;
} table;

struct cb_rows {
    table *tables;
    size_t count;
    size_t capacity;
    size_t row_count;
};

void cb_rows_free(cb_rows *rows) {
    if (!rows) return;
    for (size_t i = 0; i < rows->count; i++) {
        table *one = &rows->tables[i];
        for (size_t j = 0; j < one->count; j++) sqlite3_value_free(one->values[j]);
        free(one->values);
        free(one->definition);
        free(one->insert);
    }
    free(rows->tables);
    free(rows);
}

size_t cb_rows_count(const cb_rows *rows) { return rows->row_count; }

static char *insert_sql(const char *name, int width) {
    char *marks = cb_allocate((size_t)width * 2 + 1);
    for (int i = 0; i < width; i++) memcpy(marks + i * 2, i ? ",?" : " ?", 2);
    marks[width * 2] = 0;
    char *text = sqlite3_mprintf("INSERT INTO \"%w\" VALUES (%s)", name, marks);
    char *copy = cb_copy_text(text);
    sqlite3_free(text);
    free(marks);
    return copy;
}

static bool read_table(cb_store *store, cb_rows *rows, const char *name, const char *definition) {
    rows->tables = cb_grow(rows->tables, rows->count, &rows->capacity, sizeof *rows->tables);
    table *one = &rows->tables[rows->count++];
    memset(one, 0, sizeof *one);
    one->definition = cb_copy_text(definition);
    char *select = sqlite3_mprintf("SELECT * FROM \"%w\" ORDER BY id", name);
    sqlite3_stmt *statement = cb_store_prepare(store, select);
    sqlite3_free(select);
    if (!statement) return false;
    one->width = sqlite3_column_count(statement);
    one->insert = insert_sql(name, one->width);
    int result;
    while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
        rows->row_count++;
        for (int i = 0; i < one->width; i++) {
            one->values = cb_grow(one->values, one->count, &one->capacity, sizeof *one->values);
            one->values[one->count++] = sqlite3_value_dup(sqlite3_column_value(statement, i));
        }
    }
    sqlite3_finalize(statement);
    return result == SQLITE_DONE || cb_store_fail(store, "read a table");
}

cb_rows *cb_rows_read(cb_store *store) {
    cb_rows *rows = cb_allocate(sizeof *rows);
    memset(rows, 0, sizeof *rows);
    sqlite3_stmt *statement = cb_store_prepare(
        store,
        "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'storage\\_%' ESCAPE '\\' "
        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'");
    bool succeeded = statement != NULL;
    while (succeeded && sqlite3_step(statement) == SQLITE_ROW) {
        succeeded = read_table(
            store, rows, (const char *)sqlite3_column_text(statement, 0),
            (const char *)sqlite3_column_text(statement, 1));
    }
    sqlite3_finalize(statement);
    return rows;
}

bool cb_store_create_tables(cb_store *store, const cb_rows *rows) {
    for (size_t i = 0; i < rows->count; i++) {
        if (!cb_store_execute(store, rows->tables[i].definition)) return false;
    }
    return true;
}

static bool insert_table(cb_store *store, const table *one) {
    sqlite3_stmt *statement = cb_store_prepare(store, one->insert);
    if (!statement) return false;
    bool succeeded = true;
    for (size_t first = 0; first < one->count && succeeded; first += (size_t)one->width) {
        for (int i = 0; i < one->width; i++) {
            sqlite3_value *value = one->values[first + (size_t)i];
            // The rows outlive the statement, so SQLite needs no copy of their texts.
            if (sqlite3_value_type(value) == SQLITE_TEXT) {
                const char *text = (const char *)sqlite3_value_text(value);
                sqlite3_bind_text(statement, i + 1, text, sqlite3_value_bytes(value), SQLITE_STATIC);
            } else {
                sqlite3_bind_value(statement, i + 1, value);
            }
        }
        succeeded = cb_store_step(store, statement);
    }
    sqlite3_finalize(statement);
    return succeeded;
}

bool cb_store_insert_rows(cb_store *store, const cb_rows *rows) {
    if (!cb_store_execute(store, "BEGIN IMMEDIATE")) return false;
    bool succeeded = true;
    for (size_t i = 0; i < rows->count && succeeded; i++) succeeded = insert_table(store, &rows->tables[i]);
    return cb_store_end_transaction(store, succeeded);
}
