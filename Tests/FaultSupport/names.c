// Names that StorageKit itself gives and takes, past SQLite: a linker takes these definitions before those of the C library.
#define _GNU_SOURCE
#include "fault_internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYSTEM(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int failed(void) {
    errno = EIO;
    return -1;
}

static void record_names(uint32_t kind, const char *first, const char *second) {
    char names[2 * PATH_MAX + 2];
    int size = snprintf(names, sizeof names, "%s%c%s", first, 0, second);
    if (size > 0 && (size_t)size < sizeof names) fault_record_append(kind, 0, 0, names, (uint64_t)size);
}

int rename(const char *from, const char *to) {
    if (fault_depth > 0) return SYSTEM(rename)(from, to);
    if (fault_strikes(FAULT_NAME)) return failed();
    fault_record_lock();
    int result = SYSTEM(rename)(from, to);
    if (result == 0) record_names(FAULT_RECORD_RENAME, from, to);
    fault_record_unlock();
    return result;
}

int link(const char *from, const char *to) {
    if (fault_depth > 0) return SYSTEM(link)(from, to);
    if (fault_strikes(FAULT_NAME)) return failed();
    fault_record_lock();
    int result = SYSTEM(link)(from, to);
    if (result == 0) record_names(FAULT_RECORD_LINK, from, to);
    fault_record_unlock();
    return result;
}

int unlink(const char *name) {
    if (fault_depth > 0) return SYSTEM(unlink)(name);
    if (fault_strikes(FAULT_NAME)) return failed();
    fault_record_lock();
    int result = SYSTEM(unlink)(name);
    if (result == 0) fault_record_append(FAULT_RECORD_DELETE, 0, 0, name, strlen(name));
    fault_record_unlock();
    return result;
}

int fsync(int descriptor) {
    if (fault_depth > 0) return SYSTEM(fsync)(descriptor);
    if (fault_strikes(FAULT_NAME)) return failed();
    char link_name[64], name[PATH_MAX];
    snprintf(link_name, sizeof link_name, "/proc/self/fd/%d", descriptor);
    ssize_t size = readlink(link_name, name, sizeof name);
    fault_record_lock();
    int result = SYSTEM(fsync)(descriptor);
    if (result == 0 && size > 0) fault_record_append(FAULT_RECORD_SYNC_NAME, 0, 0, name, (uint64_t)size);
    fault_record_unlock();
    return result;
}
