// A number in shared memory on which threads of any process sleep until it changes: futex(2), which Swift can't call
// because syscall is variadic.
//
// Only the kernel accesses the number, on our behalf. So if the memory is gone, because its file was truncated, that is an error
// and doesn't end the process.
#ifndef STORAGEKIT_DOORBELL_H
#define STORAGEKIT_DOORBELL_H

#include <stdint.h>

enum {
    // The sleepers were woken, for whatever reason.
    STORAGE_BELL_WOKEN = 0,
    // The number differed from the one that was seen.
    STORAGE_BELL_CHANGED = 1,
    STORAGE_BELL_TIMED_OUT = 2,
    // This memory can't be slept on.
    STORAGE_BELL_FAILED = 3,
};

// Whether this system has the required call.
int storage_bell_is_supported(void);

// Adds one and wakes all sleepers. Never waits. Requires writable memory.
void storage_bell_ring(uint32_t *count);

// Wakes all sleepers without changing the number.
void storage_bell_wake(const uint32_t *count);

// Sleeps while the number equals the one that was seen, at most for the given time. Read-only memory is enough. On unsupported
// systems it sleeps for that time, and returns STORAGE_BELL_TIMED_OUT.
int storage_bell_wait(const uint32_t *count, uint32_t seen, int64_t nanoseconds);

#endif
