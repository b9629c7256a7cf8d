// Copying the write-ahead log into the file after a commit.
#ifndef STORAGEKIT_CHECKPOINTS_H
#define STORAGEKIT_CHECKPOINTS_H

#include <stdint.h>
#include <sqlite3.h>

// How a connection checkpoints its write-ahead log.
typedef struct {
    // The number of pages in the log from which on a commit checkpoints it.
    int limit;
    // The number of pages after the last commit.
    int pages;
    // The number of checkpoints, and their total duration.
    int64_t count;
    int64_t nanoseconds;
} storage_checkpoints;

// Replaces SQLite's own hook, which PRAGMA wal_autocheckpoint sets. `checkpoints` must outlive it. Returns whether it was already
// installed.
int storage_checkpoints_install(sqlite3 *database, storage_checkpoints *checkpoints);

#endif
