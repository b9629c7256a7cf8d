// Calls of SQLite that Swift can't express.
#ifndef STORAGEKIT_SUPPORT_H
#define STORAGEKIT_SUPPORT_H

#include <stddef.h>
#include <stdint.h>
#include <sqlite3.h>

// Steps a statement, unless a call below has failed on this thread since the last step: a value that couldn't be bound, for lack of
// memory or because it is too large, would be NULL. Returns what that call returned then.
int storage_step(sqlite3_stmt *statement);

// Binds a copy of the bytes (SQLITE_TRANSIENT is a cast, which Swift doesn't import).
int storage_bind_text(sqlite3_stmt *statement, int index, const void *bytes, size_t size);
int storage_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, size_t size);

// Binds bytes that the caller keeps alive and unchanged until the statement is reset.
int storage_bind_text_borrowed(sqlite3_stmt *statement, int index, const void *bytes, size_t size);
int storage_bind_blob_borrowed(sqlite3_stmt *statement, int index, const void *bytes, size_t size);

// Settings of the whole process, with an effect only before it uses SQLite for the first time: no count of SQLite's
// memory, which takes a lock around every allocation, and memory instead of a temporary file for the pages that a
// savepoint would put back. (A limit above which they go to a file after all makes SQLite 3.40.1 report a full disk.)
void storage_configure_process(void);

// Switches of sqlite3_db_config, which is variadic. Each returns an SQLite result code.
int storage_disable_checkpoint_on_close(sqlite3 *database);
int storage_set_triggers_enabled(sqlite3 *database, int enabled);
// Unlike the pragma, this works inside a transaction. Violations that come about meanwhile aren't counted: who switches
// foreign keys off has to look for them before the transaction ends.
int storage_set_foreign_keys_enabled(sqlite3 *database, int enabled);
int storage_set_trusted_schema(sqlite3 *database, int trusted);
int storage_set_defensive(sqlite3 *database, int defensive);

// How a connection brings its write-ahead log into the file.
typedef struct {
    // Pages in the log from which on a commit does so.
    int limit;
    // Those that were in it after the last commit.
    int pages;
    // How often it was done, and how long that took.
    int64_t count;
    int64_t nanoseconds;
} storage_checkpoints;

// In place of SQLite's own hook, which PRAGMA wal_autocheckpoint sets. `checkpoints` must outlive it.
void storage_checkpoints_install(sqlite3 *database, storage_checkpoints *checkpoints);

// Lets large pieces of memory of this process go back to the system when they are freed. Once one was, glibc would take the next
// ones of its size from heaps that it keeps, of which each thread has another.
void storage_give_back_large_memory(void);

// Asks the system to give this memory in large pages, once it is touched: a page at a time costs more than filling it.
void storage_use_large_pages(void *memory, size_t size);

// Says that memory is going to be read soon.
static inline void storage_prefetch(const void *memory) { __builtin_prefetch(memory); }

#endif
