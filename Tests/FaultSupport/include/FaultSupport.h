// A disk that records what is asked of it, or that fails, for the tests of what StorageKit promises of power loss and of
// errors of the disk. Linked into the fault worker only: it takes the place of SQLite's default VFS in its whole process.
#ifndef STORAGEKIT_FAULT_SUPPORT_H
#define STORAGEKIT_FAULT_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

// MARK: Setting up

// Makes SQLite's allocations countable. Before anything else of SQLite is called. Returns an SQLite result code.
int fault_install_allocator(void);
// Puts the recording VFS in front of the one of the system, as the default of the process. Returns an SQLite result code.
int fault_install_disk(void);
// Makes the VFS of the system the default again; files that are open stay as they are. Returns an SQLite result code.
int fault_remove_disk(void);

// MARK: Recording

// One call that changed the disk, in the order in which the calls returned.
typedef struct {
    // FAULT_RECORD_…
    uint32_t kind;
    // Of files that SQLite opened: which opening it was.
    uint32_t handle;
    // The place of a write, the size of a truncation, flags of an opening or a deletion.
    uint64_t offset;
    // Of what follows: what was written, or a name, or two names with a NUL between them.
    uint64_t size;
} fault_record;

enum {
    // `offset` is 1 where the file wasn't there, plus 2 where its first sync brings the names in its folder to the disk too.
    FAULT_RECORD_OPEN = 1,
    FAULT_RECORD_WRITE = 2,
    FAULT_RECORD_TRUNCATE = 3,
    FAULT_RECORD_SYNC = 4,
    // `offset` is 1 where the names in the folder are brought to the disk.
    FAULT_RECORD_DELETE = 5,
    FAULT_RECORD_RENAME = 6,
    FAULT_RECORD_LINK = 7,
    // A file or a folder that wasn't opened by SQLite is brought to the disk; its name follows.
    FAULT_RECORD_SYNC_NAME = 8,
};

// Begins to record in memory.
void fault_record_begin(void);
// How many calls have been recorded: what returned before this was asked has a smaller number.
uint64_t fault_record_count(void);
// Ends recording and lends the bytes, records with what follows them, until it begins again.
const uint8_t *fault_record_end(size_t *size);

// MARK: Failing

enum {
    FAULT_READ = 1,
    FAULT_WRITE = 2,
    FAULT_SYNC = 4,
    FAULT_TRUNCATE = 8,
    FAULT_OPEN = 16,
    FAULT_DELETE = 32,
    FAULT_SHARED_MEMORY = 64,
    // rename, link, unlink and fsync outside of SQLite.
    FAULT_NAME = 128,
    FAULT_ALLOCATION = 256,
};

enum {
    // The call does nothing and says that the device failed.
    FAULT_EFFECT_ERROR = 0,
    // A write does nothing and says that the disk is full.
    FAULT_EFFECT_FULL = 1,
    // A write does half of it, then says that the disk is full.
    FAULT_EFFECT_SHORT = 2,
};

// Lets call number `first` of each of these kinds fail, counted from 1 from now on, and all later ones too if `lasts`.
void fault_arm(uint32_t kinds, uint64_t first, int lasts, int effect);
// Ends failing. Returns how many calls have failed.
uint64_t fault_disarm(void);
// How many calls of a kind there were since it was armed; the kind is one bit.
uint64_t fault_call_count(uint32_t kind);

#endif
