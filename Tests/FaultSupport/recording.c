#include "fault_internal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int is_recording;
static _Atomic uint64_t count;
static uint8_t *recorded;
static size_t used;
static size_t capacity;

_Thread_local int fault_depth;

void fault_record_lock(void) { pthread_mutex_lock(&mutex); }
void fault_record_unlock(void) { pthread_mutex_unlock(&mutex); }
int fault_is_recording(void) { return is_recording; }

static void append(const void *bytes, size_t size) {
    if (size == 0) return;
    if (used + size > capacity) {
        capacity = (used + size) * 2;
        recorded = realloc(recorded, capacity);
        // A record with a hole in it would prove nothing.
        if (!recorded) abort();
    }
    memcpy(recorded + used, bytes, size);
    used += size;
}

void fault_record_append(uint32_t kind, uint32_t handle, uint64_t offset, const void *bytes, uint64_t size) {
    if (!is_recording) return;
    fault_record record = {kind, handle, offset, size};
    append(&record, sizeof record);
    append(bytes, size);
    count++;
}

void fault_record_begin(void) {
    fault_record_lock();
    used = 0;
    count = 0;
    is_recording = 1;
    fault_record_unlock();
}

uint64_t fault_record_count(void) {
    fault_record_lock();
    uint64_t result = count;
    fault_record_unlock();
    return result;
}

const uint8_t *fault_record_end(size_t *size) {
    fault_record_lock();
    is_recording = 0;
    *size = used;
    fault_record_unlock();
    return recorded;
}
