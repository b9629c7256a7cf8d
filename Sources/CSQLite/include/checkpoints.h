// Copying the write-ahead log into the file after a commit.
#ifndef STORAGEKIT_CHECKPOINTS_H
#define STORAGEKIT_CHECKPOINTS_H

#include <stdint.h>
#include <sqlite3.h>

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

// In place of SQLite's own hook, which PRAGMA wal_autocheckpoint sets. `checkpoints` must outlive it. Returns whether it was in place
// already.
int storage_checkpoints_install(sqlite3 *database, storage_checkpoints *checkpoints);

#endif
