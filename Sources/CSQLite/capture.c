// The lifetime of a capture, and the engine's calls.
#include "capture_internal.h"

static int has_bytes(const storage_value *value) { return value->type == SQLITE_TEXT || value->type == SQLITE_BLOB; }

static void free_fallbacks(storage_value *fallbacks, size_t count) {
    for (size_t i = 0; fallbacks && i < count; i++) {
        if (has_bytes(&fallbacks[i])) free((void *)(uintptr_t)fallbacks[i].bits);
    }
    free(fallbacks);
}

static void free_table(captured_table *table) {
    for (size_t slot = 0; slot < table->update_capacity; slot++) free(table->updates[slot].mask);
    free(table->updates);
    free(table->name);
    free(table->columns);
    free(table->key_indices);
    free(table->reals);
    free_fallbacks(table->fallbacks, table->column_count);
    free(table->key_columns);
    free(table->attached);
}

static void free_tables(captured_table *tables, size_t count) {
    for (size_t i = 0; i < count; i++) free_table(&tables[i]);
    free(tables);
}

static void free_shapes(storage_capture *capture) {
    for (size_t i = 0; i < capture->shape_count; i++) free((void *)capture->shapes[i].columns);
    capture->shape_count = 0;
}

// SQLite uses one value for every missing column; a result without that many columns returns it.
static const sqlite3_value *find_absent(sqlite3 *database) {
    sqlite3_stmt *statement = 0;
    const sqlite3_value *absent = 0;
    if (sqlite3_prepare_v2(database, "SELECT 1", -1, &statement, 0) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        absent = sqlite3_column_value(statement, 1);
    }
    sqlite3_finalize(statement);
    return absent;
}

static int keeps_utf8(sqlite3 *database) {
    sqlite3_stmt *statement = 0;
    int result = 0;
    if (sqlite3_prepare_v2(database, "PRAGMA main.encoding", -1, &statement, 0) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        result = name && strcmp(name, "UTF-8") == 0;
    }
    sqlite3_finalize(statement);
    return result;
}

int storage_capture_register_functions(storage_capture *capture) {
    int code = sqlite3_create_function_v2(
        capture->database, "storage_engine", 0, SQLITE_UTF8, capture, capture_engine_function, 0, 0, 0);
    if (code != SQLITE_OK) return code;
    code = sqlite3_create_function_v2(
        capture->database, STORAGE_WRITE_GUARD, 0, SQLITE_UTF8, 0, capture_write_guard_function, 0, 0, 0);
    if (code != SQLITE_OK) return code;
    return sqlite3_create_function_v2(
        capture->database, "storage_identical", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, capture,
        capture_identical_function, 0, 0, 0);
}

storage_capture *storage_capture_create(sqlite3 *database, storage_limits limits) {
    storage_capture *capture = calloc(1, sizeof *capture);
    if (!capture) return 0;
    capture->database = database;
    capture->limits = limits;
    capture->absent = find_absent(database);
    capture->is_utf8 = keeps_utf8(database);
    int code = sqlite3_create_module_v2(database, "storage_sentinel", &capture_sentinel_module, capture, 0);
    if (code == SQLITE_OK) code = storage_capture_register_functions(capture);
    if (code == SQLITE_OK) code = sqlite3_trace_v2(database, SQLITE_TRACE_STMT, capture_on_statement, capture);
    if (code == SQLITE_OK) code = capture_guard_file(capture);
    if (code != SQLITE_OK) {
        free(capture);
        return 0;
    }
    sqlite3_preupdate_hook(database, capture_on_change, capture);
    return capture;
}

void storage_capture_destroy(storage_capture *capture) {
    if (!capture) return;
    capture_release_file(capture);
    free_tables(capture->tables, capture->table_count);
    free_shapes(capture);
    free(capture->events);
    free(capture->values);
    free(capture->bytes);
    free(capture->touches);
    free(capture->shapes);
    free(capture->requested);
    free(capture->attachments);
    free(capture->attached_bytes);
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

// Copies values with their bytes.
static storage_value *copy_fallbacks(const storage_value *source, size_t count) {
    storage_value *result = calloc(count ? count : 1, sizeof *result);
    for (size_t i = 0; result && i < count; i++) {
        storage_value value = source[i];
        if (has_bytes(&value)) {
            void *bytes = copy((const void *)(uintptr_t)value.bits, value.size);
            if (!bytes) {
                free_fallbacks(result, i);
                return 0;
            }
            value.bits = (uint64_t)(uintptr_t)bytes;
        }
        result[i] = value;
    }
    return result;
}

static int define_table(captured_table *table, const storage_table *source) {
    size_t count = source->column_count;
    table->name = strdup(source->name);
    table->entity = source->entity;
    table->column_count = source->column_count;
    table->columns = copy(source->columns, count * sizeof(uint32_t));
    table->key_indices = copy(source->key_indices, count);
    table->reals = copy(source->reals, count);
    table->fallbacks = source->fallbacks ? copy_fallbacks(source->fallbacks, count) : 0;
    table->key_columns = calloc(count ? count : 1, sizeof(uint32_t));
    table->words = (uint32_t)((count + 63) / 64);
    table->position_column = source->position_column;
    table->insert_shape = table->delete_shape = UINT32_MAX;
    if (!table->name || !table->columns || !table->key_indices || !table->reals || !table->key_columns) return 0;
    if (source->fallbacks && !table->fallbacks) return 0;
    for (uint32_t i = 0; i < count; i++) {
        if (source->key_indices[i]) {
            // The caller has checked the indexes already; a wrong one would write past the end of the array.
            if (source->key_indices[i] > count) return 0;
            table->key_columns[source->key_indices[i] - 1] = i;
            table->key_count++;
        }
    }
    return 1;
}

// Makes room for both images of a row with a number of columns. Keeps the existing memory if there is no more.
static int widen_scratch(storage_capture *capture, size_t columns) {
    if (columns <= capture->scratch_columns) return 1;
    uint64_t *mask = calloc((columns + 63) / 64, sizeof *mask);
    storage_value *old_values = calloc(columns, sizeof *old_values), *new_values = calloc(columns, sizeof *new_values);
    if (!mask || !old_values || !new_values) {
        free(mask);
        free(old_values);
        free(new_values);
        return 0;
    }
    free(capture->mask);
    free(capture->old_values);
    free(capture->new_values);
    capture->mask = mask;
    capture->old_values = old_values;
    capture->new_values = new_values;
    capture->scratch_columns = columns;
    return 1;
}

static captured_table *find_entity(storage_capture *capture, size_t count, uint32_t entity) {
    for (size_t i = 0; i < count; i++) {
        if (capture->tables[i].entity == entity) return &capture->tables[i];
    }
    return 0;
}

int storage_capture_define(storage_capture *capture, const storage_table *tables, size_t count) {
    // The new tables first: if there is no memory for them, capture continues with the old ones.
    captured_table *defined = calloc(count ? count : 1, sizeof *defined);
    if (!defined) return SQLITE_NOMEM;
    size_t widest = 1;
    for (size_t i = 0; i < count; i++) {
        if (!define_table(&defined[i], &tables[i])) {
            free_tables(defined, i + 1);
            return SQLITE_NOMEM;
        }
        capture_find_attached(capture, &defined[i]);
        if (tables[i].column_count > widest) widest = tables[i].column_count;
    }
    size_t known = capture->table_count;
    if (!widen_scratch(capture, widest)
        || !reserve((void **)&capture->tables, &capture->table_capacity, known + count, sizeof *defined)) {
        free_tables(defined, count);
        return SQLITE_NOMEM;
    }
    // Events may refer to the shapes of earlier definitions: emptying the buffer frees them once there are many.
    for (size_t i = 0; i < count; i++) {
        captured_table *table = find_entity(capture, known, defined[i].entity);
        if (table) free_table(table);
        else table = &capture->tables[capture->table_count++];
        *table = defined[i];
    }
    free(defined);
    return SQLITE_OK;
}

void storage_capture_forget(storage_capture *capture, uint32_t entity) {
    captured_table *table = find_entity(capture, capture->table_count, entity);
    if (!table) return;
    free_table(table);
    *table = capture->tables[--capture->table_count];
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

int storage_capture_take_body_changed_schema(storage_capture *capture) {
    int changed = capture->body_changed_schema;
    capture->body_changed_schema = 0;
    return changed;
}

int storage_capture_take_schema_undone(storage_capture *capture) {
    int undone = capture->schema_undone;
    capture->schema_undone = 0;
    return undone;
}

// MARK: Transactions

int storage_capture_begin(storage_capture *capture) {
    if (capture->reads_only) sqlite3_exec(capture->database, "PRAGMA query_only = 0", 0, 0, 0);
    capture->reads_only = 0;
    capture->state = CAPTURE_OPEN;
    sqlite3_trace_v2(capture->database, SQLITE_TRACE_STMT, capture_on_statement, capture);
    return storage_capture_take_hook(capture);
}

// The function that sets the hook returns the context of the previous one.
int storage_capture_take_hook(storage_capture *capture) {
    return sqlite3_preupdate_hook(capture->database, capture_on_change, capture) == capture;
}

void storage_capture_end(storage_capture *capture) {
    capture->state = CAPTURE_BARRED;
    capture->body = (commit_body){0};
}

int storage_capture_ended(const storage_capture *capture) { return capture->state == CAPTURE_ENDED; }

void storage_capture_begin_body(storage_capture *capture, const storage_allowance *allowance) {
    capture->body = (commit_body){.runs = 1, .start = buffer_end(capture)};
    if (!allowance) return;
    capture->body.has_allowance = 1;
    capture->body.allowance = *allowance;
    capture->body.deadline = monotonic_nanoseconds() + allowance->nanoseconds;
    // Statements that only read are checked after a number of SQLite's steps, some ten microseconds.
    sqlite3_progress_handler(capture->database, 1000, capture_on_progress, capture);
}

void storage_capture_end_body(storage_capture *capture) {
    // Also removes a handler that the body has set, which would outlive it.
    sqlite3_progress_handler(capture->database, 0, 0, 0);
    capture->body.runs = 0;
}

int storage_capture_depth(const storage_capture *capture) { return capture->mark_count; }
int storage_capture_released(const storage_capture *capture) { return capture->body.released; }
int storage_capture_outgrown(const storage_capture *capture) { return capture->body.outgrown; }
uint64_t storage_capture_statements(const storage_capture *capture) { return capture->statement_count; }
int storage_capture_set_pragma(const storage_capture *capture) { return capture->set_pragma; }
void storage_capture_forget_pragmas(storage_capture *capture) { capture->set_pragma = capture->parsed_pragma = 0; }

int storage_capture_take_parsed_pragma(storage_capture *capture) {
    int parsed = capture->parsed_pragma;
    capture->parsed_pragma = 0;
    // SQLite opens the temporary database for the first pragma that names it, but asks no file about it.
    return parsed || sqlite3_db_readonly(capture->database, "temp") >= 0;
}

// MARK: The buffer

size_t storage_capture_count(const storage_capture *capture) { return capture->event_count; }
const storage_event *storage_capture_events(const storage_capture *capture) { return capture->events; }
const storage_value *storage_capture_values(const storage_capture *capture) { return capture->values; }
const uint8_t *storage_capture_bytes(const storage_capture *capture) { return capture->bytes; }
uint64_t storage_capture_unrecorded_count(const storage_capture *capture) { return capture->unrecorded_count; }
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

// A buffer that a large commit has grown isn't kept for later small ones.
enum { RETAINED_BYTES = 32 << 20, RETAINED_SHAPES = 4096 };

void storage_capture_reset(storage_capture *capture) {
    truncate_buffer(capture, (buffer_mark){0});
    capture->body.start = (buffer_mark){0};
    capture->change_count = capture->unrecorded_count = 0;
    capture->attaches_no_more = 0;
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
void storage_capture_set_baseline(storage_capture *capture, int baseline) { capture->baseline = baseline; }
void storage_capture_set_engine(storage_capture *capture, int engine) { capture->engine = engine; }
