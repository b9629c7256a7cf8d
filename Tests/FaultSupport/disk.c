// The recording and failing VFS: every call goes to the VFS of the system, which does the work.
//
// A file's state hangs on its sqlite3_file and never on `pMethods`, which whoever has the file may replace by methods of its
// own that call these. The methods are of version 2, without xFetch, so that no page is read past the VFS.
#include "fault_internal.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    sqlite3_file base;
    uint32_t handle;
    // The system's file, which lies behind this one; null where it isn't open.
    sqlite3_file *real;
} fault_file;

static sqlite3_vfs disk;
static sqlite3_vfs *real_disk;
static _Atomic uint32_t handles;

static sqlite3_file *real_of(sqlite3_file *file) { return ((fault_file *)file)->real; }

// What the system's VFS returns, called without its own calls of the C library being taken for somebody else's.
#define REAL(call) (fault_depth++, result = (call), fault_depth--, result)

static int disk_close(sqlite3_file *file) {
    int result;
    sqlite3_file *real = real_of(file);
    return real->pMethods ? REAL(real->pMethods->xClose(real)) : SQLITE_OK;
}

static int disk_read(sqlite3_file *file, void *buffer, int size, sqlite3_int64 offset) {
    if (fault_strikes(FAULT_READ)) return SQLITE_IOERR_READ;
    sqlite3_file *real = real_of(file);
    return real->pMethods->xRead(real, buffer, size, offset);
}

static int recorded_write(fault_file *file, const void *bytes, int size, sqlite3_int64 offset) {
    int result;
    fault_record_lock();
    result = REAL(file->real->pMethods->xWrite(file->real, bytes, size, offset));
    if (result == SQLITE_OK && file->handle) {
        fault_record_append(FAULT_RECORD_WRITE, file->handle, (uint64_t)offset, bytes, (uint64_t)size);
    }
    fault_record_unlock();
    return result;
}

static int disk_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset) {
    if (!fault_strikes(FAULT_WRITE)) return recorded_write((fault_file *)file, bytes, size, offset);
    switch (fault_effect()) {
    case FAULT_EFFECT_FULL: return SQLITE_FULL;
    case FAULT_EFFECT_SHORT:
        recorded_write((fault_file *)file, bytes, size / 2, offset);
        return SQLITE_FULL;
    default: return SQLITE_IOERR_WRITE;
    }
}

static int disk_truncate(sqlite3_file *file, sqlite3_int64 size) {
    int result;
    if (fault_strikes(FAULT_TRUNCATE)) return SQLITE_IOERR_TRUNCATE;
    fault_file *own = (fault_file *)file;
    fault_record_lock();
    result = REAL(own->real->pMethods->xTruncate(own->real, size));
    if (result == SQLITE_OK && own->handle) {
        fault_record_append(FAULT_RECORD_TRUNCATE, own->handle, (uint64_t)size, NULL, 0);
    }
    fault_record_unlock();
    return result;
}

static int disk_sync(sqlite3_file *file, int flags) {
    int result;
    if (fault_strikes(FAULT_SYNC)) return SQLITE_IOERR_FSYNC;
    fault_file *own = (fault_file *)file;
    fault_record_lock();
    result = REAL(own->real->pMethods->xSync(own->real, flags));
    if (result == SQLITE_OK && own->handle) fault_record_append(FAULT_RECORD_SYNC, own->handle, 0, NULL, 0);
    fault_record_unlock();
    return result;
}

static int disk_file_size(sqlite3_file *file, sqlite3_int64 *size) {
    return real_of(file)->pMethods->xFileSize(real_of(file), size);
}

static int disk_lock(sqlite3_file *file, int level) { return real_of(file)->pMethods->xLock(real_of(file), level); }
static int disk_unlock(sqlite3_file *file, int level) { return real_of(file)->pMethods->xUnlock(real_of(file), level); }

static int disk_check_reserved(sqlite3_file *file, int *result) {
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), result);
}

static int disk_control(sqlite3_file *file, int operation, void *argument) {
    return real_of(file)->pMethods->xFileControl(real_of(file), operation, argument);
}

static int disk_sector_size(sqlite3_file *file) { return real_of(file)->pMethods->xSectorSize(real_of(file)); }

static int disk_characteristics(sqlite3_file *file) {
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int disk_shm_map(sqlite3_file *file, int region, int size, int extends, void volatile **memory) {
    if (fault_strikes(FAULT_SHARED_MEMORY)) {
        *memory = NULL;
        return SQLITE_IOERR_SHMMAP;
    }
    return real_of(file)->pMethods->xShmMap(real_of(file), region, size, extends, memory);
}

static int disk_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    return real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags);
}

static void disk_shm_barrier(sqlite3_file *file) { real_of(file)->pMethods->xShmBarrier(real_of(file)); }

static int disk_shm_unmap(sqlite3_file *file, int deletes) {
    int result;
    return REAL(real_of(file)->pMethods->xShmUnmap(real_of(file), deletes));
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = disk_close,
    .xRead = disk_read,
    .xWrite = disk_write,
    .xTruncate = disk_truncate,
    .xSync = disk_sync,
    .xFileSize = disk_file_size,
    .xLock = disk_lock,
    .xUnlock = disk_unlock,
    .xCheckReservedLock = disk_check_reserved,
    .xFileControl = disk_control,
    .xSectorSize = disk_sector_size,
    .xDeviceCharacteristics = disk_characteristics,
    .xShmMap = disk_shm_map,
    .xShmLock = disk_shm_lock,
    .xShmBarrier = disk_shm_barrier,
    .xShmUnmap = disk_shm_unmap,
};

static int disk_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags) {
    int result;
    (void)vfs;
    // The pages of savepoints are kept in memory: no disk fails there.
    if (flags & SQLITE_OPEN_SUBJOURNAL) return real_disk->xOpen(real_disk, name, file, flags, out_flags);
    fault_file *own = (fault_file *)file;
    memset(own, 0, sizeof *own);
    if (fault_strikes(FAULT_OPEN)) return SQLITE_CANTOPEN;
    own->real = (sqlite3_file *)(own + 1);
    own->real->pMethods = NULL;
    fault_record_lock();
    int is_new = name && access(name, F_OK) != 0;
    result = REAL(real_disk->xOpen(real_disk, name, own->real, flags, out_flags));
    if (own->real->pMethods) own->base.pMethods = &methods;
    // Files without a name are temporary, and gone after a loss of power whatever was written to them.
    if (result == SQLITE_OK && name) {
        // As the system's VFS has it: the first sync of a journal brings the names in its folder to the disk.
        int journals = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL;
        int syncs_names = (flags & SQLITE_OPEN_CREATE) && (flags & journals);
        own->handle = ++handles;
        fault_record_append(
            FAULT_RECORD_OPEN, own->handle, (uint64_t)(is_new | (syncs_names ? 2 : 0)), name, strlen(name));
    }
    fault_record_unlock();
    return result;
}

static int disk_delete(sqlite3_vfs *vfs, const char *name, int syncs_folder) {
    int result;
    (void)vfs;
    if (fault_strikes(FAULT_DELETE)) return SQLITE_IOERR_DELETE;
    fault_record_lock();
    result = REAL(real_disk->xDelete(real_disk, name, syncs_folder));
    if (result == SQLITE_OK) {
        fault_record_append(FAULT_RECORD_DELETE, 0, syncs_folder ? 1 : 0, name, strlen(name));
    }
    fault_record_unlock();
    return result;
}

int fault_install_disk(void) {
    if (!real_disk) {
        real_disk = sqlite3_vfs_find(NULL);
        if (!real_disk) return SQLITE_ERROR;
        // All other calls are the system's own: they don't look at which VFS they are called through.
        disk = *real_disk;
        disk.pNext = NULL;
        disk.zName = "storagekit-fault";
        disk.szOsFile = (int)sizeof(fault_file) + real_disk->szOsFile;
        disk.xOpen = disk_open;
        disk.xDelete = disk_delete;
    }
    return sqlite3_vfs_register(&disk, 1);
}

int fault_remove_disk(void) { return real_disk ? sqlite3_vfs_register(real_disk, 1) : SQLITE_OK; }
