#ifndef STORAGEKIT_FAULT_INTERNAL_H
#define STORAGEKIT_FAULT_INTERNAL_H

#include "include/FaultSupport.h"

// Whether this call is to fail.
int fault_strikes(uint32_t kind);
int fault_effect(void);

// Held while a call that changes the disk is made and recorded, so that the records have the order of the calls.
void fault_record_lock(void);
void fault_record_unlock(void);
int fault_is_recording(void);
void fault_record_append(uint32_t kind, uint32_t handle, uint64_t offset, const void *bytes, uint64_t size);

// Above 0 while this thread is inside of the system's VFS, whose own calls of the C library aren't recorded again.
extern _Thread_local int fault_depth;

#endif
