#include "include/checkpoints.h"

#include <time.h>

static int64_t nanoseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// Does what SQLite's own hook does, which can't measure the time. A failed checkpoint, for example because the file is locked, is
// tried again after the next commit; no commit fails because of it.
static int committed(void *context, sqlite3 *database, const char *schema, int pages) {
    storage_checkpoints *checkpoints = context;
    checkpoints->pages = pages;
    if (pages < checkpoints->limit) return SQLITE_OK;
    int64_t start = nanoseconds_now();
    sqlite3_wal_checkpoint(database, schema);
    checkpoints->count++;
    checkpoints->nanoseconds += nanoseconds_now() - start;
    return SQLITE_OK;
}

// The function that sets the hook returns the context of the previous one.
int storage_checkpoints_install(sqlite3 *database, storage_checkpoints *checkpoints) {
    return sqlite3_wal_hook(database, committed, checkpoints) == checkpoints;
}
