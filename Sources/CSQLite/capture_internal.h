// Declarations shared by the files of capture. Not part of the module's interface.
#ifndef STORAGEKIT_CAPTURE_INTERNAL_H
#define STORAGEKIT_CAPTURE_INTERNAL_H

#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#include "include/capture.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

typedef struct {
    size_t events, values, bytes, touches, attachments, attached_bytes;
    // Changes that the hook has seen, including those that weren't appended because of an error.
    uint64_t changes;
    // Those of them in tables that aren't entities.
    uint64_t unrecorded;
} buffer_mark;

// The state of the connection with respect to the engine's transactions.
typedef enum {
    // Nothing may be written.
    CAPTURE_BARRED,
    // The engine's transaction is in progress.
    CAPTURE_OPEN,
    // Its transaction is over, and the engine hasn't noticed yet. Nothing may be written.
    CAPTURE_ENDED,
} capture_state;

// The body of a commit.
typedef struct {
    // Whether it is running, has released the savepoint around it, has exceeded its allowance.
    int runs, released, outgrown;
    // The end of the buffer before it.
    buffer_mark start;
    int has_allowance;
    storage_allowance allowance;
    int64_t deadline;
} commit_body;

struct guarded_file;

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
    uint8_t *key_indices;
    uint8_t *reals;
    storage_value *fallbacks;
    // Column indexes of the key, in key order.
    uint32_t *key_columns;
    // The columns whose values are attached to updates, null if there are none.
    uint64_t *attached;
    uint32_t insert_shape, delete_shape;
    update_shape *updates;
    size_t update_count, update_capacity;
} captured_table;

struct storage_capture {
    sqlite3 *database;
    storage_limits limits;

    captured_table *tables;
    size_t table_count, table_capacity, last_table;

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

    // The requested columns, and the values that were attached.
    uint32_t *requested;
    size_t requested_count;
    storage_attachment *attachments;
    size_t attachment_count, attachment_capacity;
    uint8_t *attached_bytes;
    size_t attached_byte_count, attached_byte_capacity;
    int attaches_no_more;

    buffer_mark *marks;
    int mark_count, mark_capacity;

    int error;
    // The number of the change with the error, and the number of changes so far.
    uint64_t error_change, change_count;
    // How many of them were in tables that aren't entities.
    uint64_t unrecorded_count;
    uint32_t error_entity, error_column;

    // Scratch for one update: the set of changed columns, and the values of both images.
    uint64_t *mask;
    storage_value *old_values, *new_values;
    size_t scratch_columns;

    int suppressed, baseline, engine, logged, schema_suspicion, schema_undone;
    capture_state state;
    commit_body body;
    // The writer's file if it has a write-ahead log; otherwise, whether the connection was made read-only.
    struct guarded_file *file;
    int reads_only;
    uint64_t statement_count;
    // Whether a pragma with a value was traced or parsed since the settings were last checked, and whether one was parsed since
    // the engine last asked.
    int set_pragma, parsed_pragma;
    int looks_at_schema;
    // Whether the body itself has run a statement that may change the schema.
    int body_changed_schema;
    // The value that SQLite returns for a column that the stored record is too short to hold.
    const sqlite3_value *absent;
    // Whether the database's texts are in UTF-8. Its encoding was chosen before its first table was created.
    int is_utf8;
    storage_schema_callback schema_callback;
    void *schema_context;
};

// MARK: Growing arrays

static inline int reserve(void **array, size_t *capacity, size_t needed, size_t item) {
    if (needed <= *capacity) return 1;
    size_t grown = *capacity ? *capacity * 2 : 256;
    while (grown < needed) grown *= 2;
    void *moved = realloc(*array, grown * item);
    if (!moved) return 0;
    *array = moved;
    *capacity = grown;
    return 1;
}

static inline void fail(storage_capture *capture, int error, uint32_t entity, uint32_t column) {
    if (capture->error) return;
    capture->error = error;
    capture->error_change = capture->change_count;
    capture->error_entity = entity;
    capture->error_column = column;
}

static inline void truncate_buffer(storage_capture *capture, buffer_mark mark) {
    if (mark.events > capture->event_count) return;
    capture->event_count = mark.events;
    capture->value_count = mark.values;
    capture->byte_count = mark.bytes;
    capture->touch_count = mark.touches;
    capture->attachment_count = mark.attachments;
    capture->attached_byte_count = mark.attached_bytes;
    // An error of a change that isn't undone remains.
    if (capture->error && capture->error_change > mark.changes) capture->error = STORAGE_CAPTURE_OK;
    capture->change_count = mark.changes;
    capture->unrecorded_count = mark.unrecorded;
}

static inline buffer_mark buffer_end(const storage_capture *capture) {
    return (buffer_mark){
        capture->event_count, capture->value_count, capture->byte_count, capture->touch_count, capture->attachment_count,
        capture->attached_byte_count, capture->change_count, capture->unrecorded_count};
}

static inline int64_t monotonic_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// MARK: Values

// Reads a value without copying its bytes: `bits` of text and blobs is the address. `is_utf8` says that the database stores its
// texts in UTF-8: their bytes are then used directly, while sqlite3_value_text would first copy them to append a NUL.
static inline storage_value peek(sqlite3_value *value, int real, int is_utf8) {
    storage_value result = {(uint32_t)sqlite3_value_type(value), 0, 0};
    switch (result.type) {
    case SQLITE_INTEGER:
        if (real) {
            // A whole number in a REAL column is stored as an integer on disk; its value is a real.
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
        result.bits = (uint64_t)(uintptr_t)(is_utf8 ? sqlite3_value_blob(value) : sqlite3_value_text(value));
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

static inline int same(const storage_value *a, const storage_value *b) {
    if (a->type != b->type) return 0;
    if (a->type == SQLITE_TEXT || a->type == SQLITE_BLOB) {
        return a->size == b->size
            && (a->size == 0 || memcmp((const void *)(uintptr_t)a->bits, (const void *)(uintptr_t)b->bits, a->size) == 0);
    }
    return a->bits == b->bits;
}

// MARK: Between the files

// Interns the shape of an operation; `mask` is the set of changed columns, null for whole rows. -1 when out of memory.
int capture_add_shape(
    storage_capture *capture, const captured_table *table, uint32_t operation, const uint64_t *mask);
// The shape of an update of the columns in the capture's own mask.
int capture_shape_of_update(storage_capture *capture, captured_table *table);

// Finds the requested columns of a table.
void capture_find_attached(const storage_capture *capture, captured_table *table);
// Attaches the requested columns that aren't in the capture's own mask to the update that is captured next.
void capture_attach(storage_capture *capture, const captured_table *table);

// The pre-update hook.
void capture_on_change(
    void *context, sqlite3 *database, int operation, const char *schema, const char *name, sqlite3_int64 old_rowid,
    sqlite3_int64 new_rowid);

// The progress handler while a body with an allowance runs.
int capture_on_progress(void *context);

// Wraps the methods of the writer's file, so that its write lock can be refused. Does nothing for a database that has no such lock.
// Returns an SQLite result code.
int capture_guard_file(storage_capture *capture);
void capture_release_file(storage_capture *capture);

// The virtual table that is notified of savepoints.
extern const sqlite3_module capture_sentinel_module;

// The trace callback that sees statements that may change the schema, and the SQL functions.
int capture_on_statement(unsigned kind, void *context, void *statement, void *text);
void capture_engine_function(sqlite3_context *context, int count, sqlite3_value **arguments);
void capture_write_guard_function(sqlite3_context *context, int count, sqlite3_value **arguments);
void capture_identical_function(sqlite3_context *context, int count, sqlite3_value **arguments);

#endif
