#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#include "include/capture.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct {
    size_t events, values, bytes, touches;
} buffer_mark;

// The shape of updates that change one set of columns; the set is the key of a small hash table per entity table.
typedef struct {
    uint64_t *mask;
    uint32_t shape;
} update_shape;

typedef struct {
    char *name;
    uint32_t entity;
    uint32_t column_count;
    uint32_t key_count;
    uint32_t words;
    int position_column;
    uint32_t *columns;
    uint8_t *key_places;
    uint8_t *reals;
    storage_value *fallbacks;
    // Column indexes of the key, in key order.
    uint32_t *key_columns;
    uint32_t insert_shape, delete_shape;
    update_shape *updates;
    size_t update_count, update_capacity;
} captured_table;

struct storage_capture {
    sqlite3 *database;
    storage_limits limits;

    captured_table *tables;
    size_t table_count, last_table;

    storage_event *events;
    size_t event_count, event_capacity;
    storage_value *values;
    size_t value_count, value_capacity;
    uint8_t *bytes;
    size_t byte_count, byte_capacity;
    storage_touch *touches;
    size_t touch_count, touch_capacity;
    storage_shape *shapes;
    size_t shape_count, shape_capacity;

    buffer_mark *marks;
    int mark_count, mark_capacity;

    int error;
    size_t error_event;
    uint32_t error_entity, error_column;

    // Scratch for one update: the set of changed columns, and the values of both images.
    uint64_t *mask;
    storage_value *old_values, *new_values;
    size_t scratch_columns;

    int suppressed, engine, logged, schema_suspicion, schema_undone;
    // Whether a group of commits is under way, whether its transaction was ended by somebody else, and whether the
    // connection was barred from writing because of it.
    int in_group, ended, barred;
    // What SQLite hands over for a column that the record on disk is too short to hold.
    const sqlite3_value *absent;
    storage_schema_callback schema_callback;
    void *schema_context;
};

// MARK: Growing arrays

static int reserve(void **array, size_t *capacity, size_t needed, size_t item) {
    if (needed <= *capacity) return 1;
    size_t grown = *capacity ? *capacity * 2 : 256;
    while (grown < needed) grown *= 2;
    void *moved = realloc(*array, grown * item);
    if (!moved) return 0;
    *array = moved;
    *capacity = grown;
    return 1;
}

static void fail(storage_capture *capture, int error, uint32_t entity, uint32_t column) {
    if (capture->error) return;
    capture->error = error;
    capture->error_event = capture->event_count;
    capture->error_entity = entity;
    capture->error_column = column;
}

static void truncate_buffer(storage_capture *capture, buffer_mark mark) {
    if (mark.events > capture->event_count) return;
    capture->event_count = mark.events;
    capture->value_count = mark.values;
    capture->byte_count = mark.bytes;
    capture->touch_count = mark.touches;
    if (capture->error && capture->error_event >= mark.events) capture->error = STORAGE_CAPTURE_OK;
}

// MARK: Values

// Reads a value without copying its bytes: `bits` of text and blobs is the address.
static storage_value peek(sqlite3_value *value, int real) {
    storage_value result = {(uint32_t)sqlite3_value_type(value), 0, 0};
    switch (result.type) {
    case SQLITE_INTEGER:
        if (real) {
            // A whole number in a REAL column is kept as an integer on disk; its value is a real.
            double number = (double)sqlite3_value_int64(value);
            result.type = SQLITE_FLOAT;
            memcpy(&result.bits, &number, sizeof number);
        } else {
            result.bits = (uint64_t)sqlite3_value_int64(value);
        }
        break;
    case SQLITE_FLOAT: {
        double number = sqlite3_value_double(value);
        memcpy(&result.bits, &number, sizeof number);
        break;
    }
    case SQLITE_TEXT:
        result.bits = (uint64_t)(uintptr_t)sqlite3_value_text(value);
        result.size = (uint32_t)sqlite3_value_bytes(value);
        break;
    case SQLITE_BLOB:
        result.bits = (uint64_t)(uintptr_t)sqlite3_value_blob(value);
        result.size = (uint32_t)sqlite3_value_bytes(value);
        break;
    default:
        break;
    }
    return result;
}

static int same(const storage_value *a, const storage_value *b) {
    if (a->type != b->type) return 0;
    if (a->type == SQLITE_TEXT || a->type == SQLITE_BLOB) {
        return a->size == b->size
            && (a->size == 0 || memcmp((const void *)(uintptr_t)a->bits, (const void *)(uintptr_t)b->bits, a->size) == 0);
    }
    return a->bits == b->bits;
}

// Appends a peeked value, copying its bytes. Room for the value itself is reserved by the caller.
static void keep(storage_capture *capture, const captured_table *table, uint32_t column, storage_value value, int fresh) {
    if (value.type == SQLITE_TEXT || value.type == SQLITE_BLOB) {
        const uint8_t *source = (const uint8_t *)(uintptr_t)value.bits;
        uint32_t identifier = table->columns[column];
        if (fresh && value.type == SQLITE_TEXT && value.size && memchr(source, 0, value.size)) {
            fail(capture, STORAGE_CAPTURE_NUL_IN_TEXT, table->entity, identifier);
        }
        if (value.size > capture->limits.value_bytes) {
            fail(capture, STORAGE_CAPTURE_VALUE_TOO_LARGE, table->entity, identifier);
            value.size = 0;
        } else if (capture->byte_count + value.size > capture->limits.commit_bytes) {
            fail(capture, STORAGE_CAPTURE_COMMIT_TOO_LARGE, table->entity, identifier);
            value.size = 0;
        } else if (!reserve((void **)&capture->bytes, &capture->byte_capacity, capture->byte_count + value.size, 1)) {
            fail(capture, STORAGE_CAPTURE_NO_MEMORY, table->entity, identifier);
            value.size = 0;
        }
        if (value.size) memcpy(capture->bytes + capture->byte_count, source, value.size);
        value.bits = capture->byte_count;
        capture->byte_count += value.size;
    }
    capture->values[capture->value_count++] = value;
}

// MARK: Shapes

static int add_shape(storage_capture *capture, const captured_table *table, uint32_t operation, const uint64_t *mask) {
    if (!reserve((void **)&capture->shapes, &capture->shape_capacity, capture->shape_count + 1, sizeof(storage_shape))) return -1;
    uint32_t count = 0;
    uint32_t *columns = malloc(sizeof(uint32_t) * (table->column_count ? table->column_count : 1));
    if (!columns) return -1;
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (!table->columns[i] || table->key_places[i]) continue;
        if (mask && !(mask[i / 64] >> (i % 64) & 1)) continue;
        columns[count++] = table->columns[i];
    }
    capture->shapes[capture->shape_count] =
        (storage_shape){table->entity, operation, table->key_count, count, columns};
    return (int)capture->shape_count++;
}

static uint64_t mask_hash(const uint64_t *mask, uint32_t words) {
    uint64_t hash = 0;
    for (uint32_t i = 0; i < words; i++) hash = (hash ^ mask[i]) * 0x9E3779B97F4A7C15ull;
    return hash ^ hash >> 32;
}

static int grow_updates(captured_table *table) {
    size_t capacity = table->update_capacity ? table->update_capacity * 2 : 16;
    update_shape *slots = calloc(capacity, sizeof *slots);
    if (!slots) return 0;
    for (size_t i = 0; i < table->update_capacity; i++) {
        if (!table->updates[i].mask) continue;
        size_t slot = mask_hash(table->updates[i].mask, table->words) & (capacity - 1);
        while (slots[slot].mask) slot = (slot + 1) & (capacity - 1);
        slots[slot] = table->updates[i];
    }
    free(table->updates);
    table->updates = slots;
    table->update_capacity = capacity;
    return 1;
}

static int shape_of_update(storage_capture *capture, captured_table *table) {
    if (table->update_count * 2 >= table->update_capacity && !grow_updates(table)) return -1;
    size_t slot = mask_hash(capture->mask, table->words) & (table->update_capacity - 1);
    while (table->updates[slot].mask) {
        if (memcmp(table->updates[slot].mask, capture->mask, table->words * 8) == 0) return (int)table->updates[slot].shape;
        slot = (slot + 1) & (table->update_capacity - 1);
    }
    uint64_t *mask = malloc(table->words * 8);
    if (!mask) return -1;
    int shape = add_shape(capture, table, STORAGE_UPDATE, capture->mask);
    if (shape < 0) {
        free(mask);
        return -1;
    }
    memcpy(mask, capture->mask, table->words * 8);
    table->updates[slot] = (update_shape){mask, (uint32_t)shape};
    table->update_count++;
    return shape;
}

// MARK: Events

static int begin_event(
    storage_capture *capture, const captured_table *table, int shape, size_t values, storage_event event
) {
    if (shape < 0
        || !reserve((void **)&capture->events, &capture->event_capacity, capture->event_count + 1, sizeof(storage_event))
        || !reserve((void **)&capture->values, &capture->value_capacity, capture->value_count + values, sizeof(storage_value))) {
        fail(capture, STORAGE_CAPTURE_NO_MEMORY, table->entity, 0);
        return 0;
    }
    if (capture->event_count >= capture->limits.commit_events || capture->value_count + values > INT32_MAX) {
        fail(capture, STORAGE_CAPTURE_COMMIT_TOO_LARGE, table->entity, 0);
        return 0;
    }
    event.shape = (uint32_t)shape;
    event.first_value = (uint32_t)capture->value_count;
    capture->events[capture->event_count] = event;
    return 1;
}

static int64_t position_of(const captured_table *table, const storage_value *values) {
    if (table->position_column < 0 || values[table->position_column].type != SQLITE_INTEGER) return 0;
    return (int64_t)values[table->position_column].bits;
}

// An insert or a delete: the key, then every other column.
static void capture_row(
    storage_capture *capture, captured_table *table, int operation, const storage_value *values, storage_event event
) {
    int fresh = operation == STORAGE_INSERT;
    uint32_t *shape = fresh ? &table->insert_shape : &table->delete_shape;
    if (*shape == UINT32_MAX) {
        int added = add_shape(capture, table, (uint32_t)operation, 0);
        if (added >= 0) *shape = (uint32_t)added;
    }
    int known = *shape == UINT32_MAX ? -1 : (int)*shape;
    if (!begin_event(capture, table, known, table->column_count, event)) return;
    for (uint32_t i = 0; i < table->key_count; i++) {
        keep(capture, table, table->key_columns[i], values[table->key_columns[i]], fresh);
    }
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (table->columns[i] && !table->key_places[i]) keep(capture, table, i, values[i], fresh);
    }
    capture->event_count++;
}

static void note_touch(storage_capture *capture, const captured_table *table, storage_event event) {
    if (!reserve((void **)&capture->touches, &capture->touch_capacity, capture->touch_count + 1, sizeof(storage_touch))) {
        fail(capture, STORAGE_CAPTURE_NO_MEMORY, table->entity, 0);
        return;
    }
    capture->touches[capture->touch_count++] =
        (storage_touch){capture->event_count, event.rowid, event.previous, table->entity};
}

static void capture_update(storage_capture *capture, captured_table *table, int64_t old_rowid, storage_event event) {
    uint32_t changed = 0;
    // A row that gets another row number is told like one with another key: back-links are kept by row number.
    int key_changed = old_rowid != event.rowid;
    memset(capture->mask, 0, table->words * 8);
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (!table->columns[i] || same(&capture->old_values[i], &capture->new_values[i])) continue;
        if (table->key_places[i]) {
            key_changed = 1;
            break;
        }
        capture->mask[i / 64] |= 1ull << (i % 64);
        changed++;
    }
    event.previous = position_of(table, capture->old_values);
    event.bound_position = position_of(table, capture->new_values);
    if (key_changed) {
        // Another key is another row: the old one ends, a new one begins.
        storage_event ended = event, begun = event;
        ended.rowid = old_rowid;
        ended.bound_position = 0;
        begun.previous = 0;
        capture_row(capture, table, STORAGE_DELETE, capture->old_values, ended);
        capture_row(capture, table, STORAGE_INSERT, capture->new_values, begun);
        return;
    }
    if (!changed) {
        if (event.previous != event.bound_position) note_touch(capture, table, event);
        return;
    }
    int shape = shape_of_update(capture, table);
    if (!begin_event(capture, table, shape, table->key_count + 2 * (size_t)changed, event)) return;
    for (uint32_t i = 0; i < table->key_count; i++) {
        keep(capture, table, table->key_columns[i], capture->new_values[table->key_columns[i]], 0);
    }
    for (int image = 0; image < 2; image++) {
        const storage_value *values = image ? capture->new_values : capture->old_values;
        for (uint32_t i = 0; i < table->column_count; i++) {
            if (capture->mask[i / 64] >> (i % 64) & 1) keep(capture, table, i, values[i], image);
        }
    }
    capture->event_count++;
}

// MARK: The hook

static captured_table *find_table(storage_capture *capture, const char *name) {
    // Rows of one table come in runs.
    if (capture->last_table < capture->table_count && strcasecmp(capture->tables[capture->last_table].name, name) == 0) {
        return &capture->tables[capture->last_table];
    }
    for (size_t i = 0; i < capture->table_count; i++) {
        if (strcasecmp(capture->tables[i].name, name) == 0) {
            capture->last_table = i;
            return &capture->tables[i];
        }
    }
    return 0;
}

static int read_images(storage_capture *capture, const captured_table *table, int operation) {
    for (uint32_t i = 0; i < table->column_count; i++) {
        sqlite3_value *value = 0;
        if (operation != SQLITE_INSERT) {
            if (sqlite3_preupdate_old(capture->database, (int)i, &value) != SQLITE_OK || !value) return 0;
            capture->old_values[i] = peek(value, table->reals[i]);
            if (table->fallbacks && value == capture->absent) capture->old_values[i] = table->fallbacks[i];
        }
        if (operation != SQLITE_DELETE) {
            if (sqlite3_preupdate_new(capture->database, (int)i, &value) != SQLITE_OK || !value) return 0;
            capture->new_values[i] = peek(value, table->reals[i]);
        }
    }
    return 1;
}

static void on_change(
    void *context, sqlite3 *database, int operation, const char *schema, const char *name, sqlite3_int64 old_rowid,
    sqlite3_int64 new_rowid
) {
    storage_capture *capture = context;
    if (capture->suppressed || strcmp(schema, "main") != 0) return;
    if (capture->schema_suspicion && capture->schema_callback && capture->schema_callback(capture->schema_context) != 0) {
        fail(capture, STORAGE_CAPTURE_UNKNOWN_COLUMNS, 0, 0);
        return;
    }
    captured_table *table = find_table(capture, name);
    if (!table) return;
    if ((uint32_t)sqlite3_preupdate_count(database) != table->column_count) {
        fail(capture, STORAGE_CAPTURE_UNKNOWN_COLUMNS, table->entity, 0);
        return;
    }
    if (!read_images(capture, table, operation)) {
        fail(capture, STORAGE_CAPTURE_NO_MEMORY, table->entity, 0);
        return;
    }
    storage_event event = {operation == SQLITE_DELETE ? old_rowid : new_rowid, 0, 0, 0, 0};
    switch (operation) {
    case SQLITE_INSERT:
        event.bound_position = position_of(table, capture->new_values);
        capture_row(capture, table, STORAGE_INSERT, capture->new_values, event);
        break;
    case SQLITE_DELETE:
        event.previous = position_of(table, capture->old_values);
        capture_row(capture, table, STORAGE_DELETE, capture->old_values, event);
        break;
    default:
        capture_update(capture, table, old_rowid, event);
        break;
    }
}

// MARK: The sentinel

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

static int sentinel_rollback(sqlite3_vtab *table) {
    storage_capture *capture = ((sentinel *)table)->capture;
    storage_capture_reset(capture);
    capture->ended = capture->in_group;
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
    while (capture->mark_count < number) capture->marks[capture->mark_count++] = (buffer_mark){0, 0, 0, 0};
    capture->marks[number] =
        (buffer_mark){capture->event_count, capture->value_count, capture->byte_count, capture->touch_count};
    capture->mark_count = number + 1;
    return SQLITE_OK;
}

static int sentinel_release(sqlite3_vtab *table, int number) {
    storage_capture *capture = ((sentinel *)table)->capture;
    if (number < capture->mark_count) capture->mark_count = number;
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

static const sqlite3_module sentinel_module = {
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
    .xCommit = sentinel_begin,
    .xRollback = sentinel_rollback,
    .xSavepoint = sentinel_savepoint,
    .xRelease = sentinel_release,
    .xRollbackTo = sentinel_rollback_to,
};

// MARK: SQL functions and the schema watch

static void engine_function(sqlite3_context *context, int count, sqlite3_value **arguments) {
    (void)count, (void)arguments;
    storage_capture *capture = sqlite3_user_data(context);
    sqlite3_result_int(context, capture->engine);
}

// Whether two values are the same to the bit: IS takes 1 for 1.0 and 0.0 for -0.0.
static void identical_function(sqlite3_context *context, int count, sqlite3_value **arguments) {
    (void)count;
    storage_value a = peek(arguments[0], 0), b = peek(arguments[1], 0);
    sqlite3_result_int(context, same(&a, &b));
}

static const char *skip_comments(const char *sql) {
    for (;;) {
        while (*sql == ' ' || *sql == '\t' || *sql == '\n' || *sql == '\r' || *sql == '\f' || *sql == ';') sql++;
        if (sql[0] == '-' && sql[1] == '-') {
            while (*sql && *sql != '\n') sql++;
        } else if (sql[0] == '/' && sql[1] == '*') {
            const char *end = strstr(sql + 2, "*/");
            if (!end) return "";
            sql = end + 2;
        } else {
            return sql;
        }
    }
}

// Once its transaction is over, a group's next statements would be committed one by one, without the log.
static void bar_writing(storage_capture *capture) {
    capture->barred = 1;
    sqlite3_exec(capture->database, "PRAGMA query_only = 1", 0, 0, 0);
}

static int on_statement(unsigned kind, void *context, void *statement, void *text) {
    (void)kind, (void)text;
    storage_capture *capture = context;
    if (capture->ended && !capture->barred) bar_writing(capture);
    if (sqlite3_stmt_readonly(statement)) return 0;
    const char *sql = sqlite3_sql(statement);
    if (!sql) return 0;
    sql = skip_comments(sql);
    if (strncasecmp(sql, "alter", 5) == 0 || strncasecmp(sql, "create", 6) == 0 || strncasecmp(sql, "drop", 4) == 0) {
        // One change at a time: after two of them nobody could tell a renamed column from a dropped and an added one.
        if (capture->schema_suspicion && !capture->suppressed && capture->schema_callback
            && capture->schema_callback(capture->schema_context) != 0) {
            fail(capture, STORAGE_CAPTURE_UNKNOWN_COLUMNS, 0, 0);
        }
        capture->schema_suspicion = 1;
    }
    return 0;
}

// MARK: Life

static void free_tables(storage_capture *capture) {
    for (size_t i = 0; i < capture->table_count; i++) {
        captured_table *table = &capture->tables[i];
        for (size_t slot = 0; slot < table->update_capacity; slot++) free(table->updates[slot].mask);
        free(table->updates);
        free(table->name);
        free(table->columns);
        free(table->key_places);
        free(table->reals);
        free(table->fallbacks);
        free(table->key_columns);
    }
    free(capture->tables);
    capture->tables = 0;
    capture->table_count = 0;
}

static void free_shapes(storage_capture *capture) {
    for (size_t i = 0; i < capture->shape_count; i++) free((void *)capture->shapes[i].columns);
    capture->shape_count = 0;
}

// SQLite has one value for every column that isn't there; a result without that many columns shows it.
static const sqlite3_value *find_absent(sqlite3 *database) {
    sqlite3_stmt *statement = 0;
    const sqlite3_value *absent = 0;
    if (sqlite3_prepare_v2(database, "SELECT 1", -1, &statement, 0) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        absent = sqlite3_column_value(statement, 1);
    }
    sqlite3_finalize(statement);
    return absent;
}

storage_capture *storage_capture_create(sqlite3 *database, storage_limits limits) {
    storage_capture *capture = calloc(1, sizeof *capture);
    if (!capture) return 0;
    capture->database = database;
    capture->limits = limits;
    capture->absent = find_absent(database);
    int code = sqlite3_create_module_v2(database, "storage_sentinel", &sentinel_module, capture, 0);
    if (code == SQLITE_OK) {
        code = sqlite3_create_function_v2(
            database, "storage_engine", 0, SQLITE_UTF8, capture, engine_function, 0, 0, 0);
    }
    if (code == SQLITE_OK) {
        code = sqlite3_create_function_v2(
            database, "storage_identical", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, capture, identical_function, 0, 0, 0);
    }
    if (code == SQLITE_OK) code = sqlite3_trace_v2(database, SQLITE_TRACE_STMT, on_statement, capture);
    if (code != SQLITE_OK) {
        free(capture);
        return 0;
    }
    sqlite3_preupdate_hook(database, on_change, capture);
    return capture;
}

void storage_capture_destroy(storage_capture *capture) {
    if (!capture) return;
    free_tables(capture);
    free_shapes(capture);
    free(capture->events);
    free(capture->values);
    free(capture->bytes);
    free(capture->touches);
    free(capture->shapes);
    free(capture->marks);
    free(capture->mask);
    free(capture->old_values);
    free(capture->new_values);
    free(capture);
}

static void *copy(const void *source, size_t size) {
    void *result = malloc(size ? size : 1);
    if (result && size) memcpy(result, source, size);
    return result;
}

static int define_table(captured_table *table, const storage_table *source) {
    size_t count = source->column_count;
    table->name = strdup(source->name);
    table->entity = source->entity;
    table->column_count = source->column_count;
    table->columns = copy(source->columns, count * sizeof(uint32_t));
    table->key_places = copy(source->key_places, count);
    table->reals = copy(source->reals, count);
    table->fallbacks = source->fallbacks ? copy(source->fallbacks, count * sizeof(storage_value)) : 0;
    table->key_columns = calloc(count ? count : 1, sizeof(uint32_t));
    table->words = (uint32_t)((count + 63) / 64);
    table->position_column = -1;
    table->insert_shape = table->delete_shape = UINT32_MAX;
    if (!table->name || !table->columns || !table->key_places || !table->reals || !table->key_columns) return 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!source->columns[i]) table->position_column = (int)i;
        if (source->key_places[i]) {
            table->key_columns[source->key_places[i] - 1] = i;
            table->key_count++;
        }
    }
    return 1;
}

int storage_capture_define(storage_capture *capture, const storage_table *tables, size_t count) {
    free_tables(capture);
    // Shapes stay while events refer to them.
    if (capture->event_count == 0) free_shapes(capture);
    capture->tables = calloc(count ? count : 1, sizeof(captured_table));
    if (!capture->tables) return SQLITE_NOMEM;
    size_t widest = 1;
    for (size_t i = 0; i < count; i++) {
        capture->table_count = i + 1;
        if (!define_table(&capture->tables[i], &tables[i])) return SQLITE_NOMEM;
        if (tables[i].column_count > widest) widest = tables[i].column_count;
    }
    if (widest > capture->scratch_columns) {
        free(capture->mask);
        free(capture->old_values);
        free(capture->new_values);
        capture->mask = calloc((widest + 63) / 64, sizeof(uint64_t));
        capture->old_values = calloc(widest, sizeof(storage_value));
        capture->new_values = calloc(widest, sizeof(storage_value));
        capture->scratch_columns = widest;
        if (!capture->mask || !capture->old_values || !capture->new_values) {
            capture->scratch_columns = 0;
            return SQLITE_NOMEM;
        }
    }
    return SQLITE_OK;
}

void storage_capture_on_schema_change(storage_capture *capture, storage_schema_callback callback, void *context) {
    capture->schema_callback = callback;
    capture->schema_context = context;
}

int storage_capture_take_schema_suspicion(storage_capture *capture) {
    int suspicion = capture->schema_suspicion;
    capture->schema_suspicion = 0;
    return suspicion;
}

int storage_capture_take_schema_undone(storage_capture *capture) {
    int undone = capture->schema_undone;
    capture->schema_undone = 0;
    return undone;
}

void storage_capture_set_in_group(storage_capture *capture, int in_group) {
    capture->in_group = in_group;
    capture->ended = 0;
    if (capture->barred) sqlite3_exec(capture->database, "PRAGMA query_only = 0", 0, 0, 0);
    capture->barred = 0;
}

int storage_capture_ended(const storage_capture *capture) { return capture->ended; }

size_t storage_capture_count(const storage_capture *capture) { return capture->event_count; }
const storage_event *storage_capture_events(const storage_capture *capture) { return capture->events; }
const storage_value *storage_capture_values(const storage_capture *capture) { return capture->values; }
const uint8_t *storage_capture_bytes(const storage_capture *capture) { return capture->bytes; }
size_t storage_capture_byte_count(const storage_capture *capture) { return capture->byte_count; }
size_t storage_capture_touch_count(const storage_capture *capture) { return capture->touch_count; }
const storage_touch *storage_capture_touches(const storage_capture *capture) { return capture->touches; }
const storage_shape *storage_capture_shapes(const storage_capture *capture) { return capture->shapes; }
size_t storage_capture_shape_count(const storage_capture *capture) { return capture->shape_count; }

void storage_capture_set_previous(storage_capture *capture, size_t event, int64_t position) {
    if (event < capture->event_count) capture->events[event].previous = position;
}

int storage_capture_error(const storage_capture *capture, uint32_t *entity, uint32_t *column) {
    *entity = capture->error_entity;
    *column = capture->error_column;
    return capture->error;
}

// A buffer that a large commit has grown isn't kept for the small ones that follow.
enum { RETAINED_BYTES = 32 << 20, RETAINED_SHAPES = 4096 };

void storage_capture_reset(storage_capture *capture) {
    truncate_buffer(capture, (buffer_mark){0, 0, 0, 0});
    capture->error = STORAGE_CAPTURE_OK;
    capture->logged = 0;
    capture->mark_count = 0;
    if (capture->byte_capacity > RETAINED_BYTES) {
        free(capture->bytes);
        capture->bytes = 0;
        capture->byte_capacity = 0;
    }
    if (capture->value_capacity * sizeof(storage_value) > RETAINED_BYTES) {
        free(capture->values);
        capture->values = 0;
        capture->value_capacity = 0;
    }
    if (capture->event_capacity * sizeof(storage_event) > RETAINED_BYTES) {
        free(capture->events);
        capture->events = 0;
        capture->event_capacity = 0;
    }
    if (capture->shape_count > RETAINED_SHAPES) {
        for (size_t i = 0; i < capture->table_count; i++) {
            captured_table *table = &capture->tables[i];
            for (size_t slot = 0; slot < table->update_capacity; slot++) free(table->updates[slot].mask);
            free(table->updates);
            table->updates = 0;
            table->update_count = table->update_capacity = 0;
            table->insert_shape = table->delete_shape = UINT32_MAX;
        }
        free_shapes(capture);
    }
}

void storage_capture_set_logged(storage_capture *capture, int logged) { capture->logged = logged; }
void storage_capture_set_suppressed(storage_capture *capture, int suppressed) { capture->suppressed = suppressed; }
void storage_capture_set_engine(storage_capture *capture, int engine) { capture->engine = engine; }
