// The pre-update hook: turns row changes into events.
#include "capture_internal.h"

// Whether a text is UTF-8 by RFC 3629: no overlong form, no surrogate, nothing beyond U+10FFFF. ASCII is checked eight bytes at a
// time.
static int is_utf8(const uint8_t *bytes, size_t size) {
    const uint8_t *end = bytes + size;
    while (bytes < end) {
        uint64_t eight;
        while (end - bytes >= 8) {
            memcpy(&eight, bytes, 8);
            if (eight & 0x8080808080808080ull) break;
            bytes += 8;
        }
        if (bytes == end) break;
        uint8_t first = *bytes++;
        if (first < 0x80) continue;
        uint8_t least = 0x80, most = 0xBF;
        int more;
        if (first >= 0xC2 && first <= 0xDF) {
            more = 1;
        } else if (first >= 0xE0 && first <= 0xEF) {
            more = 2;
            if (first == 0xE0) least = 0xA0;
            if (first == 0xED) most = 0x9F;
        } else if (first >= 0xF0 && first <= 0xF4) {
            more = 3;
            if (first == 0xF0) least = 0x90;
            if (first == 0xF4) most = 0x8F;
        } else {
            return 0;
        }
        if (end - bytes < more) return 0;
        if (*bytes < least || *bytes > most) return 0;
        for (int i = 1; i < more; i++) {
            if ((bytes[i] & 0xC0) != 0x80) return 0;
        }
        bytes += more;
    }
    return 1;
}

// Appends a peeked value, copying its bytes. Room for the value itself is reserved by the caller.
static void keep(storage_capture *capture, const captured_table *table, uint32_t column, storage_value value, int fresh) {
    if (value.type == SQLITE_TEXT || value.type == SQLITE_BLOB) {
        const uint8_t *source = (const uint8_t *)(uintptr_t)value.bits;
        uint32_t identifier = table->columns[column];
        if (fresh && value.type == SQLITE_TEXT && value.size && memchr(source, 0, value.size)) {
            fail(capture, STORAGE_CAPTURE_NUL_IN_TEXT, table->entity, identifier);
        }
        if (fresh && value.type == SQLITE_TEXT && !is_utf8(source, value.size)) {
            fail(capture, STORAGE_CAPTURE_INVALID_TEXT, table->entity, identifier);
        }
        if (value.size > capture->limits.value_bytes) {
            fail(capture, STORAGE_CAPTURE_VALUE_TOO_LARGE, table->entity, identifier);
            value.size = 0;
        } else if (capture->byte_count - capture->body.start.bytes + value.size > capture->limits.commit_bytes) {
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
    if (capture->event_count - capture->body.start.events >= capture->limits.commit_events
        || capture->value_count + values > INT32_MAX) {
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
        int added = capture_add_shape(capture, table, (uint32_t)operation, 0);
        if (added >= 0) *shape = (uint32_t)added;
    }
    int known = *shape == UINT32_MAX ? -1 : (int)*shape;
    if (!begin_event(capture, table, known, table->column_count, event)) return;
    for (uint32_t i = 0; i < table->key_count; i++) {
        uint32_t column = table->key_columns[i];
        if (fresh && values[column].type == SQLITE_NULL) {
            fail(capture, STORAGE_CAPTURE_NULL_IN_KEY, table->entity, table->columns[column]);
        }
        keep(capture, table, column, values[column], fresh);
    }
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (table->columns[i] && !table->key_indices[i]) keep(capture, table, i, values[i], fresh);
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
    // A row with a new rowid is captured like one with a new key, because back-links are kept by rowid.
    int key_changed = old_rowid != event.rowid;
    memset(capture->mask, 0, table->words * 8);
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (!table->columns[i] || same(&capture->old_values[i], &capture->new_values[i])) continue;
        if (table->key_indices[i]) {
            key_changed = 1;
            break;
        }
        capture->mask[i / 64] |= 1ull << (i % 64);
        changed++;
    }
    event.previous = position_of(table, capture->old_values);
    event.bound_position = position_of(table, capture->new_values);
    if (key_changed) {
        // A new key is a new row: the old one is deleted, a new one inserted.
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
    int shape = capture_shape_of_update(capture, table);
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
    if (table->attached) capture_attach(capture, table);
    capture->event_count++;
}

// MARK: The hook

static captured_table *find_table(storage_capture *capture, const char *name) {
    // Rows of one table come in sequence.
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

// Records may be too short to hold the last columns: those of rows that are older than a column, and of new rows that SQLite copies
// as they are from a table with such rows. Returns an SQLite result code.
static int read_images(storage_capture *capture, const captured_table *table, int operation) {
    for (uint32_t i = 0; i < table->column_count; i++) {
        sqlite3_value *value = 0;
        if (operation != SQLITE_INSERT) {
            int code = sqlite3_preupdate_old(capture->database, (int)i, &value);
            if (code != SQLITE_OK || !value) return code ? code : SQLITE_NOMEM;
            capture->old_values[i] = peek(value, table->reals[i], capture->is_utf8);
            if (value == capture->absent && table->fallbacks) capture->old_values[i] = table->fallbacks[i];
        }
        if (operation != SQLITE_DELETE) {
            int code = sqlite3_preupdate_new(capture->database, (int)i, &value);
            if (code != SQLITE_OK || !value) return code ? code : SQLITE_NOMEM;
            capture->new_values[i] = peek(value, table->reals[i], capture->is_utf8);
            if (value == capture->absent && table->fallbacks) capture->new_values[i] = table->fallbacks[i];
        }
    }
    return SQLITE_OK;
}

// Whether a commit for which others wait has exceeded its allowance: it must run again alone.
static int is_outgrown(storage_capture *capture) {
    const commit_body *body = &capture->body;
    if (!body->runs || !body->has_allowance) return 0;
    size_t events = capture->event_count - body->start.events;
    if (events <= body->allowance.events && capture->byte_count - body->start.bytes <= body->allowance.bytes) {
        // Reading the clock costs more than capturing a small row.
        if (events % 16 || monotonic_nanoseconds() < body->deadline) return 0;
    }
    fail(capture, STORAGE_CAPTURE_OUTGROWN, 0, 0);
    capture->body.outgrown = 1;
    sqlite3_interrupt(capture->database);
    return 1;
}

// A commit for which others wait may also spend its time reading, of which the hook isn't notified.
int capture_on_progress(void *context) {
    storage_capture *capture = context;
    if (monotonic_nanoseconds() < capture->body.deadline) return 0;
    // The statement is interrupted, and so is each later one, even if the body ignores that.
    capture->body.outgrown = 1;
    return 1;
}

// Only the engine writes its own tables. Projections (2) have tables of their own.
static int is_forbidden(const storage_capture *capture, const captured_table *table, const char *name) {
    if (capture->engine == 1 || (capture->engine == 0 && !capture->body.runs)) return 0;
    if (table) return table->entity <= STORAGE_LAST_RESERVED_ENTITY;
    return strncasecmp(name, "storage_", 8) == 0;
}

void capture_on_change(
    void *context, sqlite3 *database, int operation, const char *schema, const char *name, sqlite3_int64 old_rowid,
    sqlite3_int64 new_rowid
) {
    storage_capture *capture = context;
    if (capture->suppressed || strcmp(schema, "main") != 0) return;
    // Nothing of the commit is kept, so the rest needn't be read.
    if (capture->error == STORAGE_CAPTURE_OUTGROWN) return;
    captured_table *table = find_table(capture, name);
    capture->change_count++;
    if (!table) capture->unrecorded_count++;
    if (is_forbidden(capture, table, name)) fail(capture, STORAGE_CAPTURE_RESERVED_TABLE, table ? table->entity : 0, 0);
    if (!table || is_outgrown(capture)) return;
    if (sqlite3_preupdate_blobwrite(database) >= 0) {
        fail(capture, STORAGE_CAPTURE_BLOB_WRITE, table->entity, 0);
        return;
    }
    if ((uint32_t)sqlite3_preupdate_count(database) != table->column_count) {
        int error = table->column_count ? STORAGE_CAPTURE_UNKNOWN_COLUMNS : STORAGE_CAPTURE_FOREIGN_TABLE;
        fail(capture, error, table->entity, 0);
        return;
    }
    int code = read_images(capture, table, operation);
    if (code != SQLITE_OK) {
        int error = code == SQLITE_NOMEM ? STORAGE_CAPTURE_NO_MEMORY : STORAGE_CAPTURE_UNREADABLE_COLUMN;
        fail(capture, error, table->entity, 0);
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
        if (capture->baseline) {
            event.bound_position = position_of(table, capture->new_values);
            capture_row(capture, table, STORAGE_INSERT, capture->new_values, event);
            break;
        }
        capture_update(capture, table, old_rowid, event);
        break;
    }
}
