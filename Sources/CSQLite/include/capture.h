// Change capture: the only place where events are born.
//
// The pre-update hook of the writer connection appends each row change of an entity table to a growing buffer. A
// virtual table, the sentinel, takes part in every write transaction and hears of savepoints and of statements that
// are undone half-way, neither of which the hook is notified of; it truncates the buffer to what SQLite kept.
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

// The catalog id of the catalog's own table.
enum { STORAGE_CATALOG_ENTITY = 1 };

// What events of one kind have in common: the entity, the operation and the columns they carry, by catalog id.
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
    // The `_position` of the row before the change, 0 where the hook can't know one.
    int64_t previous;
    // The `_position` that the statement itself gave to the row, 0 for a delete.
    int64_t bound_position;
    uint32_t shape;
    uint32_t first_value;
} storage_event;

// A statement that changed nothing of a row but its `_position`: the engine puts back what it was.
typedef struct {
    // How many events were captured before.
    size_t event;
    int64_t rowid;
    int64_t position;
    uint32_t entity;
} storage_touch;

// A value that an update left alone, captured beside its event because the column was requested. `bits` of text and
// blobs is an offset in the attached bytes. Attached values never reach the log.
typedef struct {
    uint32_t event;
    uint32_t column;
    storage_value value;
} storage_attachment;

// How the columns of an entity table map to the catalog. Arrays have `column_count` items; 0 for a table that lacks some and whose
// rows can't be captured.
typedef struct {
    const char *name;
    uint32_t entity;
    uint32_t column_count;
    // The `_position` column; -1 where there is none.
    int32_t position_column;
    // Catalog id by table column; 0 for `_position`, and for columns that the catalog doesn't know.
    const uint32_t *columns;
    // 1-based place in the primary key, 0 for other columns.
    const uint8_t *key_indices;
    // 1 where the column has REAL affinity: SQLite may hand over such a value as an integer.
    const uint8_t *reals;
    // What an absent old value stands for: rows from before `ALTER TABLE … ADD COLUMN … DEFAULT` don't hold the new
    // column, and the hook sees NULL for it. `bits` of text and blobs is an address that must outlive the capture's
    // use of the table. Null where no column needs it.
    const storage_value *fallbacks;
} storage_table;

enum {
    STORAGE_CAPTURE_OK = 0,
    STORAGE_CAPTURE_NO_MEMORY = 1,
    STORAGE_CAPTURE_NUL_IN_TEXT = 2,
    STORAGE_CAPTURE_VALUE_TOO_LARGE = 3,
    STORAGE_CAPTURE_COMMIT_TOO_LARGE = 4,
    // The table's columns aren't the ones that were defined.
    STORAGE_CAPTURE_UNKNOWN_COLUMNS = 5,
    // A row without a whole key: nothing could tell it from another. Tables that were made elsewhere may allow it.
    STORAGE_CAPTURE_NULL_IN_KEY = 6,
    // Text that isn't UTF-8.
    STORAGE_CAPTURE_INVALID_TEXT = 7,
    // sqlite3_blob_write: the hook can't know the bytes that are about to be written.
    STORAGE_CAPTURE_BLOB_WRITE = 8,
    // A column of the row can't be read: a generated one, which no record holds.
    STORAGE_CAPTURE_UNREADABLE_COLUMN = 9,
    // A change of one of the engine's own tables by somebody else.
    STORAGE_CAPTURE_RESERVED_TABLE = 10,
    // The commit has outgrown its allowance beside others; it has to run again alone.
    STORAGE_CAPTURE_OUTGROWN = 11,
    // The table lacks a column that the catalog has: another program has changed it.
    STORAGE_CAPTURE_FOREIGN_TABLE = 12,
};

typedef struct storage_capture storage_capture;

// Of one value, and of one commit.
typedef struct {
    uint64_t value_bytes;
    uint64_t commit_bytes;
    uint64_t commit_events;
} storage_limits;

// What a commit may take while others of its transaction wait for it.
typedef struct {
    uint64_t bytes;
    uint64_t events;
    int64_t nanoseconds;
} storage_allowance;

// Installs the hook, the sentinel module, the SQL functions and the schema watch on a connection.
// Returns null when out of memory or when SQLite refuses.
storage_capture *storage_capture_create(sqlite3 *database, storage_limits limits);
void storage_capture_destroy(storage_capture *capture);

// Replaces the tables that are captured. Returns an SQLite result code.
int storage_capture_define(storage_capture *capture, const storage_table *tables, size_t count);

// Called after a statement that may have changed the schema, before the next statement runs; never from inside the hook,
// where SQLite forbids statements. It may call storage_capture_define. Returns 0 to go on.
typedef int (*storage_schema_callback)(void *context);
void storage_capture_on_schema_change(storage_capture *capture, storage_schema_callback callback, void *context);
// Whether a statement that may change the schema ran since the last call; reading clears it.
int storage_capture_take_schema_suspicion(storage_capture *capture);
// Whether one of them was run by the body of a commit, and not by the engine for it; reading clears it.
int storage_capture_take_body_changed_schema(storage_capture *capture);
// Whether statements were undone since the last call, and with them perhaps changes of the schema; reading clears it.
int storage_capture_take_schema_undone(storage_capture *capture);

// The buffer. Pointers stay valid until the next captured change.
size_t storage_capture_count(const storage_capture *capture);
const storage_event *storage_capture_events(const storage_capture *capture);
const storage_value *storage_capture_values(const storage_capture *capture);
const uint8_t *storage_capture_bytes(const storage_capture *capture);
size_t storage_capture_byte_count(const storage_capture *capture);
size_t storage_capture_touch_count(const storage_capture *capture);
const storage_touch *storage_capture_touches(const storage_capture *capture);
const storage_shape *storage_capture_shapes(const storage_capture *capture);
size_t storage_capture_shape_count(const storage_capture *capture);

// Says of which columns, by catalog id in rising order, updates tell the value also where they left it alone, from the
// next change on. It is for those who follow commits: beyond a small bound, or when out of memory, nothing more is
// attached until the buffer is emptied, and no change fails for it.
void storage_capture_attach(storage_capture *capture, const uint32_t *columns, size_t count);
// What was attached, in the order of the events. Pointers stay valid until the next captured change.
size_t storage_capture_attachment_count(const storage_capture *capture);
const storage_attachment *storage_capture_attachments(const storage_capture *capture);
const uint8_t *storage_capture_attached_bytes(const storage_capture *capture);

// Gives an event its back-link once it is known.
void storage_capture_set_previous(storage_capture *capture, size_t event, int64_t position);

// The first thing that went wrong among the changes that are still in the buffer.
int storage_capture_error(const storage_capture *capture, uint32_t *entity, uint32_t *column);

// Empties the buffer: a new transaction begins, or the old one is over.
void storage_capture_reset(storage_capture *capture);

// MARK: Transactions

// Opens the connection for one transaction of the engine. Until the transaction ends, by whomever, statements may write;
// before and afterwards the connection is barred: the write lock of the write-ahead log is refused to it. A database in
// memory has no such lock; there a bar is put up by the first statement after the end.
//
// Returns whether the pre-update hook was still that of this capture; it is now, and so is the statement trace.
int storage_capture_begin(storage_capture *capture);
// Sets the pre-update hook, and returns whether it was set already.
int storage_capture_take_hook(storage_capture *capture);
void storage_capture_end(storage_capture *capture);
// Whether the transaction is over although storage_capture_end wasn't called.
int storage_capture_ended(const storage_capture *capture);

// Says that the body of a commit runs: it may not write to the engine's own tables, nor end the savepoint around it.
// `allowance` is what it may take, null where nobody waits for it; beyond it its statement is interrupted, and
// storage_capture_outgrown says so. A connection has one progress handler, which is taken for as long.
void storage_capture_begin_body(storage_capture *capture, const storage_allowance *allowance);
void storage_capture_end_body(storage_capture *capture);
// How many savepoints are open.
int storage_capture_depth(const storage_capture *capture);
// Whether the body has released the savepoint around it, so that it can't be undone alone.
int storage_capture_released(const storage_capture *capture);
// Whether the body has taken more than its allowance; it is to run again alone.
int storage_capture_outgrown(const storage_capture *capture);
// How many statements were traced: one that doesn't count shows that somebody else has taken the trace.
uint64_t storage_capture_statements(const storage_capture *capture);
// Whether a pragma with a value was traced or parsed since they were forgotten: only a pragma changes the settings that SQLite prepares
// no other statement again for.
int storage_capture_set_pragma(const storage_capture *capture);
void storage_capture_forget_pragmas(storage_capture *capture);
// Whether a pragma with a value was parsed since this was last asked: it may have set something without being run. Always 0 in memory.
int storage_capture_take_parsed_pragma(storage_capture *capture);
// Registers the SQL functions of the engine again, where somebody else has taken their names. Returns a result code.
int storage_capture_register_functions(storage_capture *capture);

// The function that the triggers of the write guard call. Its name is the message of programs that don't have it.
#define STORAGE_WRITE_GUARD "this table is guarded: write with StorageKit or storagekit exec, or turn the guard off (storagekit guard off)"
// Says that every captured change is in the log now, so that the transaction may commit.
void storage_capture_set_logged(storage_capture *capture, int logged);
// While set, changes aren't captured: the engine writes derived state.
void storage_capture_set_suppressed(storage_capture *capture, int suppressed);
// While set, an update is captured as the insert of the row as it is now: how history begins for rows that are there already.
void storage_capture_set_baseline(storage_capture *capture, int baseline);
// What the SQL function storage_engine() answers: 1 opens the guarded tables to the engine, 2 those of projections to them.
void storage_capture_set_engine(storage_capture *capture, int engine);

#endif
