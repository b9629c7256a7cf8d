// Change capture: the only source of events.
//
// The pre-update hook of the writer connection appends each row change of an entity table to a growing buffer. A virtual table,
// the sentinel, takes part in every write transaction and is notified of savepoints and of partially undone statements, unlike
// the hook; it truncates the buffer to the changes that SQLite kept.
//
// A capture belongs to one connection and is used on that connection's thread only.
#ifndef STORAGEKIT_CAPTURE_H
#define STORAGEKIT_CAPTURE_H

#include <stddef.h>
#include <stdint.h>
#include <sqlite3.h>

// One value. `type` is SQLITE_INTEGER … SQLITE_NULL. `bits` holds the integer, the bits of the real, or the offset of
// the text or blob, `size` bytes long, in the buffer's bytes.
typedef struct {
    uint32_t type;
    uint32_t size;
    uint64_t bits;
} storage_value;

enum { STORAGE_INSERT = 1, STORAGE_UPDATE = 2, STORAGE_DELETE = 3 };

// Catalog ids up to this one belong to the store's own entities: the catalog, tags, notes and operations.
enum { STORAGE_LAST_RESERVED_ENTITY = 31 };

// The common properties of events of one kind: the entity, the operation and the columns they carry, by catalog id.
typedef struct {
    uint32_t entity;
    uint32_t operation;
    uint32_t key_count;
    uint32_t column_count;
    const uint32_t *columns;
} storage_shape;

// One row change. Its values lie side by side: the primary key, then the row of an insert or delete, or for an update
// the old values of the changed columns followed by the new ones.
typedef struct {
    int64_t rowid;
    // The `_position` of the row before the change, 0 if the hook can't know it.
    int64_t previous;
    // The `_position` that the statement itself gave to the row, 0 for a delete.
    int64_t bound_position;
    uint32_t shape;
    uint32_t first_value;
} storage_event;

// A statement that changed only the `_position` of a row: the engine restores the old value.
typedef struct {
    // The number of events that were captured before.
    size_t event;
    int64_t rowid;
    int64_t position;
    uint32_t entity;
} storage_touch;

// A value that an update left unchanged, captured beside its event because the column was requested. `bits` of text and blobs is
// an offset in the attached bytes. Attached values are never written to the log.
typedef struct {
    uint32_t event;
    uint32_t column;
    storage_value value;
} storage_attachment;

// How the columns of an entity table map to the catalog. Arrays have `column_count` items; 0 for a table that lacks some of the
// columns and whose rows can't be captured.
typedef struct {
    const char *name;
    uint32_t entity;
    uint32_t column_count;
    // The `_position` column; -1 if there is none.
    int32_t position_column;
    // Catalog id by table column; 0 for `_position`, and for columns that the catalog doesn't know.
    const uint32_t *columns;
    // 1-based index in the primary key, 0 for other columns.
    const uint8_t *key_indices;
    // 1 if the column has REAL affinity: SQLite may pass its value as an integer.
    const uint8_t *reals;
    // The value of a column that a record is too short to hold, and for which the hook sees NULL: that of its default. Rows that are
    // older than `ALTER TABLE … ADD COLUMN … DEFAULT` have such records, and so have new rows that `INSERT … SELECT` copies from
    // them. `bits` of text and blobs is an address. Null if every value is NULL.
    const storage_value *fallbacks;
} storage_table;

enum {
    STORAGE_CAPTURE_OK = 0,
    STORAGE_CAPTURE_NO_MEMORY = 1,
    STORAGE_CAPTURE_NUL_IN_TEXT = 2,
    STORAGE_CAPTURE_VALUE_TOO_LARGE = 3,
    STORAGE_CAPTURE_COMMIT_TOO_LARGE = 4,
    // The table's columns differ from the defined ones.
    STORAGE_CAPTURE_UNKNOWN_COLUMNS = 5,
    // A row without a complete key, which can't be identified. Tables created by other programs may allow it.
    STORAGE_CAPTURE_NULL_IN_KEY = 6,
    // Text that isn't UTF-8.
    STORAGE_CAPTURE_INVALID_TEXT = 7,
    // sqlite3_blob_write: the hook can't know the bytes that are about to be written.
    STORAGE_CAPTURE_BLOB_WRITE = 8,
    // A column of the row can't be read: a generated one, which no record holds.
    STORAGE_CAPTURE_UNREADABLE_COLUMN = 9,
    // A change of one of the engine's own tables by other code.
    STORAGE_CAPTURE_RESERVED_TABLE = 10,
    // The commit has exceeded its allowance beside others; it has to run again alone.
    STORAGE_CAPTURE_OUTGROWN = 11,
    // The table lacks a column that the catalog has: another program has changed it.
    STORAGE_CAPTURE_FOREIGN_TABLE = 12,
};

typedef struct storage_capture storage_capture;

// Limits of one value, and of one commit.
typedef struct {
    uint64_t value_bytes;
    uint64_t commit_bytes;
    uint64_t commit_events;
} storage_limits;

// What a commit may use while others of its transaction wait for it.
typedef struct {
    uint64_t bytes;
    uint64_t events;
    int64_t nanoseconds;
} storage_allowance;

// Installs the hook, the sentinel module, the SQL functions and the schema watch on a connection.
// Returns null when out of memory or when SQLite refuses.
storage_capture *storage_capture_create(sqlite3 *database, storage_limits limits);
void storage_capture_destroy(storage_capture *capture);

// Captures the tables of entities from now on, also in place of their tables from before. Returns an SQLite result code; if there
// is no memory, nothing has changed.
int storage_capture_define(storage_capture *capture, const storage_table *tables, size_t count);
// Stops capturing the table of an entity.
void storage_capture_forget(storage_capture *capture, uint32_t entity);

// Called after a statement that may have changed the schema, before the next statement runs; never from inside the hook, where
// SQLite forbids statements. It may define and forget tables. Returns 0 to continue.
typedef int (*storage_schema_callback)(void *context);
void storage_capture_on_schema_change(storage_capture *capture, storage_schema_callback callback, void *context);
// Calls it now if a statement of a commit's body may have changed the schema, rather than before the next statement.
void storage_capture_look_at_schema(storage_capture *capture);
// Whether a statement that may change the schema ran since the last call; reading clears it.
int storage_capture_take_schema_suspicion(storage_capture *capture);
// Whether one of them was run by the body of a commit, rather than by the engine for it; reading clears it.
int storage_capture_take_body_changed_schema(storage_capture *capture);
// Whether statements were undone since the last call, and with them perhaps changes of the schema; reading clears it.
int storage_capture_take_schema_undone(storage_capture *capture);

// The buffer. Pointers stay valid until the next captured change.
size_t storage_capture_count(const storage_capture *capture);
// The number of changes in tables that aren't entities, since the buffer was last emptied.
uint64_t storage_capture_unrecorded_count(const storage_capture *capture);
const storage_event *storage_capture_events(const storage_capture *capture);
const storage_value *storage_capture_values(const storage_capture *capture);
const uint8_t *storage_capture_bytes(const storage_capture *capture);
size_t storage_capture_byte_count(const storage_capture *capture);
size_t storage_capture_touch_count(const storage_capture *capture);
const storage_touch *storage_capture_touches(const storage_capture *capture);
const storage_shape *storage_capture_shapes(const storage_capture *capture);
size_t storage_capture_shape_count(const storage_capture *capture);

// Sets the columns, by catalog id in rising order, whose values are attached to updates that left them unchanged, from the next
// change on. This is for followers of commits: beyond a small limit, or when out of memory, nothing more is attached until the
// buffer is emptied, and no change fails because of it.
void storage_capture_attach(storage_capture *capture, const uint32_t *columns, size_t count);
// The attached values, in the order of the events. Pointers stay valid until the next captured change.
size_t storage_capture_attachment_count(const storage_capture *capture);
const storage_attachment *storage_capture_attachments(const storage_capture *capture);
const uint8_t *storage_capture_attached_bytes(const storage_capture *capture);

// Sets an event's back-link once it is known.
void storage_capture_set_previous(storage_capture *capture, size_t event, int64_t position);

// The first error of the changes that are still in the buffer.
int storage_capture_error(const storage_capture *capture, uint32_t *entity, uint32_t *column);

// Empties the buffer: a new transaction begins, or the old one is over.
void storage_capture_reset(storage_capture *capture);

// MARK: Transactions

// Opens the connection for one transaction of the engine. Until the transaction ends, however it ends, statements may write;
// before and afterwards the connection is barred: the write lock of the write-ahead log is refused to it. A database in memory
// has no such lock; the first statement after the end bars it instead.
//
// Returns whether the pre-update hook was still set by this capture; it is set again, and so is the statement trace.
int storage_capture_begin(storage_capture *capture);
// Sets the pre-update hook, and returns whether it was set already.
int storage_capture_take_hook(storage_capture *capture);
void storage_capture_end(storage_capture *capture);
// Whether the transaction is over although storage_capture_end wasn't called.
int storage_capture_ended(const storage_capture *capture);

// Marks the beginning of a commit's body: it may not write to the engine's own tables, nor end the savepoint around it.
// `allowance` is what it may use, null if no other commit waits for it; beyond it, its statement is interrupted, and
// storage_capture_outgrown returns true. Uses the connection's only progress handler meanwhile.
void storage_capture_begin_body(storage_capture *capture, const storage_allowance *allowance);
void storage_capture_end_body(storage_capture *capture);
// The number of open savepoints.
int storage_capture_depth(const storage_capture *capture);
// Whether the body has released the savepoint around it, so that it can't be undone alone.
int storage_capture_released(const storage_capture *capture);
// Whether the body has exceeded its allowance; it must run again alone.
int storage_capture_outgrown(const storage_capture *capture);
// The number of traced statements: if a statement doesn't increase it, other code has replaced the trace.
uint64_t storage_capture_statements(const storage_capture *capture);
// Whether a pragma with a value was traced or parsed since storage_capture_forget_pragmas: only a pragma changes the settings for
// which SQLite prepares no other statement again.
int storage_capture_set_pragma(const storage_capture *capture);
void storage_capture_forget_pragmas(storage_capture *capture);
// Whether a pragma with a value was parsed since the last call, or the temporary database is open: a setting may have changed
// without a pragma being run. In memory only the latter is noticed.
int storage_capture_take_parsed_pragma(storage_capture *capture);
// Registers the engine's SQL functions again, if other code has replaced them. Returns a result code.
int storage_capture_register_functions(storage_capture *capture);

// The function that the triggers of the write guard call. Its name is the error message in programs that don't have it.
#define STORAGE_WRITE_GUARD "this table is guarded: write with StorageKit or storagekit exec, or turn the guard off (storagekit guard off)"
// Marks that every captured change is in the log, so that the transaction may commit.
void storage_capture_set_logged(storage_capture *capture, int logged);
// While set, changes aren't captured, because the engine writes derived state.
void storage_capture_set_suppressed(storage_capture *capture, int suppressed);
// While set, an update is captured as the insert of the row as it is now: this begins the history of existing rows.
void storage_capture_set_baseline(storage_capture *capture, int baseline);
// Sets the result of the SQL function storage_engine(): 1 lets the engine write to guarded tables, 2 lets projections write to
// theirs.
void storage_capture_set_engine(storage_capture *capture, int engine);

#endif
