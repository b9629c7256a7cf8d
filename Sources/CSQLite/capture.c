// The life of a capture, and what the engine asks of it.
#include "capture_internal.h"

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
        free(table->attached);
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
    int code = sqlite3_create_module_v2(database, "storage_sentinel", &capture_sentinel_module, capture, 0);
    if (code == SQLITE_OK) {
        code = sqlite3_create_function_v2(
            database, "storage_engine", 0, SQLITE_UTF8, capture, capture_engine_function, 0, 0, 0);
    }
    if (code == SQLITE_OK) {
        code = sqlite3_create_function_v2(
            database, "storage_identical", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, capture, capture_identical_function, 0, 0, 0);
    }
    if (code == SQLITE_OK) code = sqlite3_trace_v2(database, SQLITE_TRACE_STMT, capture_on_statement, capture);
    if (code != SQLITE_OK) {
        free(capture);
        return 0;
    }
    sqlite3_preupdate_hook(database, capture_on_change, capture);
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
    free(capture->asked);
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
        capture_find_attached(capture, &capture->tables[i]);
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
    truncate_buffer(capture, (buffer_mark){0});
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
