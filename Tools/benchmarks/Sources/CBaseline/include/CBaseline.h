#ifndef CBASELINE_H
#define CBASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The least that SQLite can be asked to do for the rows of a benchmark, without history and without
// objects: prepared statements, bound and stepped in plain C loops. Everything that isn't the loop itself
// (copying rows, parsing a history, creating tables) has a function of its own, so that it stays untimed.
//
// <sqlite3.h> stays out of this header: the Swift side has its own import of it through GRDB.

#pragma clang assume_nonnull begin

// MARK: Rows

/// Person rows, copied once so that the timed loops only read C memory.
typedef struct cb_people cb_people;

cb_people *cb_people_create(size_t capacity);
void cb_people_free(cb_people *people);

/// Appends a copy of one row.
void cb_people_add(
    cb_people *people, const char *id, const char *name, const char *email, int64_t age, const char *city,
    bool active, double score, int64_t updated_at);

// MARK: Change histories

/// The operations of a change history (JSON Lines), parsed and kept in memory.
typedef struct cb_history cb_history;

/// Reads and parses a file. The result is never null; `cb_history_error` says whether it is usable.
cb_history *cb_history_read(const char *path);
void cb_history_free(cb_history *history);

/// Why the file couldn't be read or parsed, or null.
const char *_Nullable cb_history_error(const cb_history *history);
size_t cb_history_operation_count(const cb_history *history);

// MARK: The store

/// One connection: WAL, synchronous FULL (read back), and the other pragmas that StorageKit sets for itself.
typedef struct cb_store cb_store;

/// Opens or creates a file. The result is never null; `cb_store_error` says whether it is usable.
cb_store *cb_store_open(const char *path);
void cb_store_close(cb_store *store);

/// The first error of this store, or null. Every function below returns false when it has set one.
const char *_Nullable cb_store_error(const cb_store *store);

bool cb_store_create_people(cb_store *store);

/// INSERT ... ON CONFLICT(id) DO UPDATE of every row, in transactions of `rows_per_transaction`.
bool cb_store_upsert_people(cb_store *store, const cb_people *people, size_t rows_per_transaction);

/// Plain INSERT of every row in one transaction: a bulk load.
bool cb_store_insert_people(cb_store *store, const cb_people *people);

/// Steps through all rows and touches every column.
/// `count` receives the number of rows, `checksum` a sum over all columns.
bool cb_store_read_people(cb_store *store, size_t *count, int64_t *checksum);

/// Reads the rows with these keys, a statement each, and touches every column. `found` receives how many there are.
bool cb_store_look_up_people(cb_store *store, const char *const _Nonnull *_Nonnull keys, size_t count, size_t *found);

/// Updates the rows with these keys, each in a transaction of its own, and waits each time until another thread is notified of it by
/// SQLite's hooks. `microseconds` receives for each how long after its commit has returned that thread has the report; 0 where
/// before.
bool cb_store_observe_updates(
    cb_store *store, const char *const _Nonnull *_Nonnull keys, size_t count, double *microseconds);

/// Creates the tables of a history, each with all the columns that appear anywhere in it.
bool cb_store_create_history_tables(cb_store *store, const cb_history *history);

/// Applies all operations as upserts of whole rows and deletes. A transaction ends at the first change of
/// `tx` after `operations_per_transaction` operations.
bool cb_store_apply_history(cb_store *store, const cb_history *history, size_t operations_per_transaction);

/// Adds a table of all versions of each row, kept by triggers as sqlite-history does: the changed columns, a mask of them, a
/// number and a time. The tables of the history are there already.
bool cb_store_keep_row_versions(cb_store *store, const cb_history *history);

/// Adds one table of changes, kept by triggers: the row before and after as JSON.
bool cb_store_keep_json_audit(cb_store *store, const cb_history *history);

/// As `cb_store_apply_history`, and stores a changeset of SQLite's session extension for each `tx`.
bool cb_store_apply_history_with_changesets(
    cb_store *store, const cb_history *history, size_t operations_per_transaction);

// MARK: Clients

/// Threads of which each has a connection of its own to one file.
typedef struct cb_clients cb_clients;

/// The result is never null; `cb_clients_error` says whether it is usable.
cb_clients *cb_clients_open(const char *path, size_t count);
void cb_clients_close(cb_clients *clients);

/// The first error of one of them, or null.
const char *_Nullable cb_clients_error(const cb_clients *clients);

/// As `cb_store_look_up_people`, each client its part of the keys, all at once.
bool cb_clients_look_up_people(
    cb_clients *clients, const char *const _Nonnull *_Nonnull keys, size_t count, size_t *found);

// MARK: Tables of a store

/// All rows of the users' tables of a StorageKit store, in memory in the order of their column `id`.
typedef struct cb_rows cb_rows;

/// The result is never null; `cb_store_error` says whether it is usable.
cb_rows *cb_rows_read(cb_store *store);
void cb_rows_free(cb_rows *_Nullable rows);
size_t cb_rows_count(const cb_rows *rows);

/// Creates the tables as they were, without indexes of their own.
bool cb_store_create_tables(cb_store *store, const cb_rows *rows);

/// Plain INSERT of every row in one transaction: a bulk load.
bool cb_store_insert_rows(cb_store *store, const cb_rows *rows);

// MARK: The process

/// The version of the SQLite library in use.
const char *cb_sqlite_version(void);

/// Gives memory that is freed, but kept by the allocator, back to the system where that is possible.
void cb_release_free_memory(void);

#pragma clang assume_nonnull end

#endif
