// The bar: outside of the engine's transactions, SQLite's write lock is refused to the writer connection.
//
// Users have the connection inside a write, and GRDB runs their closures after COMMIT and ROLLBACK, when a statement would be a
// transaction of its own without a log. SQLite begins every transaction that writes to a write-ahead log by locking one byte of
// its index, through a method of the open file. It needs no such lock if it has the whole file for itself, either to leave the
// write-ahead log (journal_mode) or to lock others out (locking_mode), but has to lock the file for that, through another method.
// Both are wrapped, for this connection only, so nothing depends on a callback slot that a documented call could take, and no
// statement is prepared again.
//
// SQLite calls a third method for each pragma that it parses. Most pragmas change the connection at that time, which a trace
// doesn't see if the statement is only prepared or explained. The method isn't called for pragmas of another database, that is
// the temporary one.
#include "capture_internal.h"

typedef struct guarded_file {
    // First, because the file's methods point here.
    sqlite3_io_methods methods;
    const sqlite3_io_methods *original;
    sqlite3_file *file;
    storage_capture *capture;
} guarded_file;

// The byte of WAL_WRITE_LOCK in SQLite's wal.c; part of the file format (https://sqlite.org/walformat.html, 2.3.1).
enum { WRITE_LOCK = 0 };

static int guarded_file_lock(sqlite3_file *file, int level) {
    const guarded_file *guard = (const guarded_file *)file->pMethods;
    if (level >= SQLITE_LOCK_RESERVED && guard->capture->state != CAPTURE_OPEN) return SQLITE_READONLY;
    return guard->original->xLock(file, level);
}

static int guarded_index_lock(sqlite3_file *file, int offset, int count, int flags) {
    const guarded_file *guard = (const guarded_file *)file->pMethods;
    int takes_lock = flags == (SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE);
    if (takes_lock && offset == WRITE_LOCK && guard->capture->state != CAPTURE_OPEN) return SQLITE_READONLY;
    return guard->original->xShmLock(file, offset, count, flags);
}

static int guarded_file_control(sqlite3_file *file, int operation, void *argument) {
    const guarded_file *guard = (const guarded_file *)file->pMethods;
    // The name, and the value if there is one.
    if (operation == SQLITE_FCNTL_PRAGMA && ((char **)argument)[2]) {
        guard->capture->set_pragma = guard->capture->parsed_pragma = 1;
    }
    return guard->original->xFileControl(file, operation, argument);
}

int capture_guard_file(storage_capture *capture) {
    sqlite3_file *file = 0;
    int code = sqlite3_file_control(capture->database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code != SQLITE_OK) return code;
    // A database in memory has no methods, and one without shared memory no write-ahead log.
    if (!file || !file->pMethods || file->pMethods->iVersion < 2 || !file->pMethods->xShmLock) return SQLITE_OK;
    guarded_file *guard = calloc(1, sizeof *guard);
    if (!guard) return SQLITE_NOMEM;
    size_t known = file->pMethods->iVersion >= 3 ? sizeof guard->methods : offsetof(sqlite3_io_methods, xFetch);
    memcpy(&guard->methods, file->pMethods, known);
    guard->methods.xLock = guarded_file_lock;
    guard->methods.xShmLock = guarded_index_lock;
    guard->methods.xFileControl = guarded_file_control;
    guard->original = file->pMethods;
    guard->file = file;
    guard->capture = capture;
    file->pMethods = &guard->methods;
    capture->file = guard;
    return SQLITE_OK;
}

void capture_release_file(storage_capture *capture) {
    guarded_file *guard = capture->file;
    if (!guard) return;
    // A wrapper that was installed later continues to call this one, so the memory has to stay.
    if (guard->file->pMethods == &guard->methods) {
        guard->file->pMethods = guard->original;
        free(guard);
    } else {
        guard->methods.xLock = guard->original->xLock;
        guard->methods.xShmLock = guard->original->xShmLock;
        guard->methods.xFileControl = guard->original->xFileControl;
    }
    capture->file = 0;
}
