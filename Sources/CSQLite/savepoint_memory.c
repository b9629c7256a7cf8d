// Keeps the pages that a savepoint or a statement may have to restore in memory.
//
// SQLite writes them to a temporary file (https://sqlite.org/tempfiles.html#statement_journal_files). Its own setting for keeping them
// in memory, SQLITE_CONFIG_STMTJRNL_SPILL, makes a list of 1 KB pieces, which is walked at the end of each statement that can be undone
// alone: the time of many updates of foreign keys in one commit grew with their number times that of the pages that they change.
#include "include/connection_settings.h"

#include <pthread.h>
#include <string.h>

enum { PIECE_SIZE = 1 << 14 };

typedef struct {
    sqlite3_file base;
    unsigned char **pieces;
    size_t piece_count, capacity;
    sqlite3_int64 size;
} memory_file;

// Appends a piece; returns 0 if there is no memory.
static int append_piece(memory_file *file) {
    if (file->piece_count == file->capacity) {
        size_t capacity = file->capacity ? 2 * file->capacity : 16;
        unsigned char **pieces = sqlite3_realloc64(file->pieces, capacity * sizeof *pieces);
        if (!pieces) return 0;
        file->pieces = pieces;
        file->capacity = capacity;
    }
    unsigned char *piece = sqlite3_malloc64(PIECE_SIZE);
    if (!piece) return 0;
    file->pieces[file->piece_count++] = piece;
    return 1;
}

static void free_pieces(memory_file *file) {
    for (size_t index = 0; index < file->piece_count; index++) sqlite3_free(file->pieces[index]);
    file->piece_count = 0;
    file->size = 0;
}

// How many of the bytes are in the piece that contains the first of them.
static int bytes_in_piece(int count, sqlite3_int64 offset) {
    int left = PIECE_SIZE - (int)(offset % PIECE_SIZE);
    return count < left ? count : left;
}

static int memory_write(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset) {
    memory_file *file = (memory_file *)base;
    // Nothing that was written before is needed: with exclusive locking, the file stays open from one transaction to the next.
    if (offset == 0) free_pieces(file);
    const unsigned char *next = bytes;
    while (count > 0) {
        size_t index = (size_t)(offset / PIECE_SIZE);
        while (index >= file->piece_count) {
            if (!append_piece(file)) return SQLITE_IOERR_NOMEM;
        }
        int part = bytes_in_piece(count, offset);
        memcpy(file->pieces[index] + offset % PIECE_SIZE, next, (size_t)part);
        next += part;
        offset += part;
        count -= part;
        if (offset > file->size) file->size = offset;
    }
    return SQLITE_OK;
}

static int memory_read(sqlite3_file *base, void *bytes, int count, sqlite3_int64 offset) {
    memory_file *file = (memory_file *)base;
    unsigned char *next = bytes;
    while (count > 0 && offset < file->size) {
        int part = bytes_in_piece(count, offset);
        if (part > file->size - offset) part = (int)(file->size - offset);
        memcpy(next, file->pieces[offset / PIECE_SIZE] + offset % PIECE_SIZE, (size_t)part);
        next += part;
        offset += part;
        count -= part;
    }
    if (count == 0) return SQLITE_OK;
    // What is missing has to be zero.
    memset(next, 0, (size_t)count);
    return SQLITE_IOERR_SHORT_READ;
}

// The pieces stay: what is truncated is written again.
static int memory_truncate(sqlite3_file *base, sqlite3_int64 size) {
    memory_file *file = (memory_file *)base;
    if (size < file->size) file->size = size;
    return SQLITE_OK;
}

static int memory_size(sqlite3_file *base, sqlite3_int64 *size) {
    *size = ((memory_file *)base)->size;
    return SQLITE_OK;
}

static int memory_close(sqlite3_file *base) {
    free_pieces((memory_file *)base);
    sqlite3_free(((memory_file *)base)->pieces);
    return SQLITE_OK;
}

// One connection uses the file, and nothing has to outlive it.
static int memory_sync(sqlite3_file *base, int flags) {
    (void)base, (void)flags;
    return SQLITE_OK;
}

static int memory_lock(sqlite3_file *base, int level) {
    (void)base, (void)level;
    return SQLITE_OK;
}

static int memory_is_reserved(sqlite3_file *base, int *is_reserved) {
    (void)base;
    *is_reserved = 0;
    return SQLITE_OK;
}

static int memory_control(sqlite3_file *base, int operation, void *argument) {
    (void)base, (void)operation, (void)argument;
    return SQLITE_NOTFOUND;
}

static int memory_sector_size(sqlite3_file *base) {
    (void)base;
    return 4096;
}

static int memory_characteristics(sqlite3_file *base) {
    (void)base;
    return 0;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = memory_close,
    .xRead = memory_read,
    .xWrite = memory_write,
    .xTruncate = memory_truncate,
    .xSync = memory_sync,
    .xFileSize = memory_size,
    .xLock = memory_lock,
    .xUnlock = memory_lock,
    .xCheckReservedLock = memory_is_reserved,
    .xFileControl = memory_control,
    .xSectorSize = memory_sector_size,
    .xDeviceCharacteristics = memory_characteristics,
};

static sqlite3_vfs own_vfs;
static sqlite3_vfs *system_vfs;

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags) {
    (void)vfs;
    if (!(flags & SQLITE_OPEN_SUBJOURNAL)) return system_vfs->xOpen(system_vfs, name, file, flags, out_flags);
    memset(file, 0, sizeof(memory_file));
    file->pMethods = &methods;
    if (out_flags) *out_flags = flags;
    return SQLITE_OK;
}

static void register_vfs(void) {
    system_vfs = sqlite3_vfs_find(NULL);
    // A VFS of the host's keeps its own ways; those of the system don't look at which VFS they are called through.
    if (!system_vfs || strncmp(system_vfs->zName, "unix", 4) != 0) return;
    own_vfs = *system_vfs;
    own_vfs.pNext = NULL;
    own_vfs.zName = "storagekit";
    own_vfs.xOpen = open_file;
    if (own_vfs.szOsFile < (int)sizeof(memory_file)) own_vfs.szOsFile = (int)sizeof(memory_file);
    sqlite3_vfs_register(&own_vfs, 1);
}

void storage_keep_savepoints_in_memory(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_vfs);
    // sqlite3_shutdown makes the system's the default again.
    if (own_vfs.xOpen && sqlite3_vfs_find(NULL) == system_vfs) sqlite3_vfs_register(&own_vfs, 1);
}
