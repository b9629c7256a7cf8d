#include "history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

static bool fail(cb_history *history, const char *message, size_t line) {
    char text[200];
    snprintf(text, sizeof text, line ? "%s in line %zu" : "%s", message, line);
    if (!history->error) history->error = cb_copy_text(text);
    return false;
}

// MARK: Tables and columns

static size_t find_table(cb_history *history, const char *name) {
    for (size_t i = 0; i < history->table_count; i++) {
        if (strcmp(history->tables[i].name, name) == 0) return i;
    }
    history->tables =
        cb_grow(history->tables, history->table_count, &history->table_capacity, sizeof *history->tables);
    history->tables[history->table_count] = (cb_table){.name = name, .key = "id"};
    return history->table_count++;
}

/// Rows of a table nearly always name their columns in the same order: `guess` is where to look first.
static size_t find_column(cb_table *table, const char *name, size_t guess) {
    for (size_t i = 0; i < table->column_count; i++) {
        size_t column = (guess + i) % table->column_count;
        if (strcmp(table->columns[column], name) == 0) return column;
    }
    table->columns =
        cb_grow(table->columns, table->column_count, &table->column_capacity, sizeof *table->columns);
    table->columns[table->column_count] = name;
    return table->column_count++;
}

// MARK: One line

static bool values_are_equal(const cb_value *a, const cb_value *b) {
    if (a->kind != b->kind) return false;
    if (a->kind != CB_TEXT) return a->kind == CB_NULL || a->integer == b->integer;
    return a->length == b->length && memcmp(a->text, b->text, (size_t)a->length) == 0;
}

/// An `id` in the row that only repeats the key isn't stored twice.
static bool repeats_key(cb_table *table, const cb_operation *operation, const char *name, const cb_value *value) {
    if (strcmp(name, "id") != 0) return false;
    if (values_are_equal(&operation->id, value)) return true;
    table->key = "_id";
    return false;
}

static bool parse_row(cb_history *history, cb_json *json, cb_operation *operation) {
    if (!cb_json_open_object(json)) return false;
    cb_table *table = &history->tables[operation->table];
    size_t guess = 0;
    cb_value name, value;
    while (cb_json_next_member(json, &name)) {
        if (!cb_json_read_value(json, &value)) return false;
        if (repeats_key(table, operation, name.text, &value)) continue;
        size_t column = find_column(table, name.text, guess);
        guess = column + 1;
        history->fields =
            cb_grow(history->fields, history->field_count, &history->field_capacity, sizeof *history->fields);
        history->fields[history->field_count++] = (cb_field){.value = value, .column = column};
        operation->field_count++;
    }
    return !json->fault;
}

/// Members may come in any order, except that the row must follow its table and id.
static bool parse_operation(cb_history *history, cb_json *json, cb_operation *operation) {
    if (!cb_json_open_object(json)) return false;
    bool has_table = false, has_id = false;
    cb_value name, value;
    while (cb_json_next_member(json, &name)) {
        while (*json->at == ' ') json->at++;
        if (strcmp(name.text, "row") == 0 && *json->at == '{') {
            if (!has_table || !has_id) {
                json->fault = "table and id before row";
                return false;
            }
            if (!parse_row(history, json, operation)) return false;
            continue;
        }
        if (!cb_json_read_value(json, &value)) return false;
        if (strcmp(name.text, "tx") == 0 && value.kind == CB_INTEGER) {
            operation->transaction = value.integer;
        } else if (strcmp(name.text, "op") == 0 && value.kind == CB_TEXT) {
            operation->is_delete = strcmp(value.text, "delete") == 0;
        } else if (strcmp(name.text, "table") == 0 && value.kind == CB_TEXT) {
            operation->table = find_table(history, value.text);
            has_table = true;
        } else if (strcmp(name.text, "id") == 0) {
            operation->id = value;
            has_id = true;
        }
    }
    if (!json->fault && !(has_table && has_id)) json->fault = "table and id";
    return !json->fault;
}

static bool parse_line(cb_history *history, char *line, size_t number) {
    cb_json json = {.at = line};
    cb_operation operation = {.first_field = history->field_count};
    if (!parse_operation(history, &json, &operation)) {
        char message[100];
        snprintf(message, sizeof message, "expected %s", json.fault);
        return fail(history, message, number);
    }
    history->operations = cb_grow(
        history->operations, history->operation_count, &history->operation_capacity, sizeof *history->operations);
    history->operations[history->operation_count++] = operation;
    return true;
}

// MARK: The file

static bool read_file(cb_history *history, const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return fail(history, "the history can't be opened", 0);
    bool succeeded = fseek(file, 0, SEEK_END) == 0;
    long size = succeeded ? ftell(file) : -1;
    succeeded = size >= 0 && fseek(file, 0, SEEK_SET) == 0;
    if (succeeded) {
        history->text = cb_allocate((size_t)size + 1);
        succeeded = fread(history->text, 1, (size_t)size, file) == (size_t)size;
    }
    fclose(file);
    return succeeded || fail(history, "the history can't be read", 0);
}

cb_history *cb_history_read(const char *path) {
    cb_history *history = cb_allocate(sizeof *history);
    if (!read_file(history, path)) return history;
    size_t number = 0;
    for (char *line = history->text; *line;) {
        char *end = strchr(line, '\n');
        if (end) *end = '\0';
        number++;
        if (*line && !parse_line(history, line, number)) break;
        if (!end) break;
        line = end + 1;
    }
    return history;
}

void cb_history_free(cb_history *history) {
    for (size_t i = 0; i < history->table_count; i++) free(history->tables[i].columns);
    free(history->tables);
    free(history->operations);
    free(history->fields);
    free(history->text);
    free(history->error);
    free(history);
}

const char *cb_history_error(const cb_history *history) {
    return history->error;
}

size_t cb_history_operation_count(const cb_history *history) {
    return history->operation_count;
}
